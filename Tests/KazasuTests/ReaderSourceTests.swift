// SPDX-License-Identifier: Apache-2.0

import KazasuTesting
import Synchronization
import TestSupport
import Testing

/// Taps on readers that the program opens itself.
struct ReaderSourceTests {
    private static let card = "Fixtures/cards/suica-p1/card.json"

    @Test("Cards come and go as the test places and removes them")
    func virtualField() async throws {
        let field = VirtualField()
        let file = try TestFiles.read(Self.card)
        var seen: [Tap] = []
        try field.place(cardFile: file)
        for try await tap in taps(from: [ReaderSource(field, id: "counter")], reading: .balance) {
            seen.append(tap)
            switch seen.count {
            case 1, 3: field.removeCards()
            case 2: try field.place(cardFile: file)
            default: break
            }
            if seen.count == 4 { break }
        }
        #expect(seen.map(\.kind) == [.on, .off, .on, .off])
        #expect(seen.allSatisfy { $0.reader == "counter" })
        #expect(seen[0].balance?.balances.map(\.amount) == [10] && seen[1].balance == nil)
    }

    @Test("Several sources, each with its own reader")
    func severalSources() async throws {
        let fields = ["a": Self.card, "b": "Fixtures/tags/ntag213.json"]
        let sources = try fields.map { id, file in
            ReaderSource(try VirtualField(cardFile: TestFiles.read(file)), id: id)
        }
        var found: [String: Technology] = [:]
        for try await tap in taps(from: sources) {
            found[tap.reader] = tap.card.technology
            if found.count == 2 { break }
        }
        #expect(found == ["a": .felica, "b": .typeA])
    }

    @Test("A reader that cannot be opened is an event, and is opened again")
    func opensAgain() async throws {
        let field = try VirtualField(cardFile: TestFiles.read(Self.card))
        let tries = Mutex(0)
        let source = ReaderSource("mine") { cancellation throws(KazasuError) in
            let count = tries.withLock { tries in
                tries += 1
                return tries
            }
            guard count > 1 else { throw .reader(.readerFailed(detail: .init(.closed)), id: "mine") }
            return InProcessReader(field, cancellation: cancellation)
        }
        var events: [String] = []
        for try await event in taps(from: [source]).events {
            switch event {
            case .reader(let id, .ready): events.append("\(id) ready")
            case .reader(let id, _): events.append("\(id) failed")
            case .tap(let tap): events.append("\(tap.kind)")
            }
            if events.last == "on" { break }
        }
        #expect(events == ["mine failed", "mine ready", "on"])
    }

    @Test func madeTap() {
        let card = CardIdentity.typeA(uid: [4, 1, 2, 3, 4, 5, 6])
        let tap = Tap(.on, card, reader: "counter", isRandom: true, readError: .noCard)
        #expect(tap.card == card && tap.reader == "counter" && tap.isRandom && tap.readError == .noCard)
        #expect(tap.system == nil && tap.balance == nil && tap.history == nil && tap.brand == nil)
    }
}
