// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import Recordings

@Suite("A course that ends early")
struct EarlyEndTests {
    /// A reader that does something before one of its requests.
    private final class Interrupted: Reader {
        private let reader: any Reader
        private let last: Int
        private let act: () throws(TransportError) -> Void
        private(set) var requests = 0

        init(_ reader: any Reader, before last: Int, _ act: @escaping () throws(TransportError) -> Void) {
            (self.reader, self.last, self.act) = (reader, last, act)
        }

        var information: ReaderInformation { reader.information }

        private func count() throws(TransportError) {
            requests += 1
            if requests >= last { try act() }
        }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            try count()
            return try reader.activate(request)
        }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            try count()
            return try reader.transceive(frame, timeout: timeout)
        }

        func cyclePower() throws(TransportError) -> Bool { try reader.cyclePower() }
        func close() { reader.close() }
    }

    private static func reader(_ card: String) throws -> (reader: InProcessReader, field: VirtualField) {
        let field = try VirtualField(cardFile: TestFiles.read(card))
        return (InProcessReader(field), field)
    }

    private static func requests(_ card: String) throws -> Int {
        let counted = Interrupted(try reader(card).reader, before: .max) {}
        _ = Made(counted)
        return counted.requests
    }

    private static let cards = [
        "Fixtures/cards/edy/card.json", "Fixtures/virtual/ntag213.json", "Fixtures/virtual/type4-b.json",
    ]

    private func expectMasked(_ made: Made) {
        #expect(RecordingCheck(made.bytes, name: made.name).faults == [])
        if case .end(let isComplete, _)? = made.items.last {
            #expect(isComplete == (made.ending == .complete))
        } else {
            Issue.record("no end")
        }
    }

    @Test("A card that leaves at any request leaves a masked recording up to there", arguments: cards)
    func cardLeaves(card: String) throws {
        for last in 1...(try Self.requests(card)) {
            let (reader, field) = try Self.reader(card)
            let made = Made(Interrupted(reader, before: last) { field.removeCards() })
            expectMasked(made)
            switch made.ending {
            case .complete, .noCard, .failed(.cardLost), .failed(.cardSilent), .failed(.radio): break
            default: Issue.record("\(last): \(made.ending)")
            }
        }
    }

    @Test("So does a reader that is pulled", arguments: cards)
    func readerIsPulled(card: String) throws {
        for last in 1...(try Self.requests(card)) {
            let failure = TransportError.readerUnavailable(reason: .absent, detail: .init(.unplugged))
            let reader = Interrupted(try Self.reader(card).reader, before: last) { () throws(TransportError) in
                throw failure
            }
            let made = Made(reader)
            expectMasked(made)
            #expect(reader.requests < last || made.ending == .failed(.reader(failure)), "\(last)")
        }
    }

    @Test("And Ctrl-C", arguments: cards)
    func cancelled(card: String) throws {
        for last in 1...(try Self.requests(card)) {
            let token = CancellationToken()
            let reader = Interrupted(try Self.reader(card).reader, before: last) { () throws(TransportError) in
                token.cancel()
                throw .cancelled
            }
            let made = Made(reader, cancellation: token)
            expectMasked(made)
            guard reader.requests >= last else { continue }
            #expect(made.ending == .failed(.cancelled), "\(last)")
            let outcome = made.outcomes.last
            #expect(outcome == nil || outcome == Recording.Outcome(status: 130, reason: "cancelled"))
        }
    }

    @Test("An empty field, and the person who does not answer")
    func nothing() throws {
        let empty = try Made(nil)
        #expect(empty.ending == .complete)
        expectMasked(empty)
        let waiting = Made(InProcessReader(VirtualField(cards: [])), hasCard: true)
        #expect(waiting.ending == .noCard)
        expectMasked(waiting)
    }

    @Test("A card that is taken away and put back")
    func away() throws {
        let field = try VirtualField(cardFile: TestFiles.read(Self.cards[0]))
        let cards = field.cards
        var time = 0
        let recorder = CourseRecorder(InProcessReader(field)) {
            time += 125
            return .microseconds(time)
        }
        let course = ReaderCourse(recorder) { request in
            switch request {
            case .takeCardAway: field.removeCards()
            case .putCardBack: for card in cards { field.place(card) }
            }
            return true
        }
        #expect(course.run(wait: Made.quick) == .complete)
        let items = recorder.lines(isComplete: true)
        let start = try #require(items.firstIndex(of: .section("away")))
        let found = items[start...].compactMap { item -> Bool? in
            guard case .exchange(let entry) = item, case .activate(let request, let result) = entry.event,
                request.technology == .felica
            else { return nil }
            return (try? result.get()) != nil
        }
        // Edy has no transit system, so half of the looks find it.
        #expect(found.prefix(6).allSatisfy { !$0 })
        #expect(found.suffix(6).count { $0 } == 3)
    }

    @Test("Only harmless frames reach the card")
    func harmless() throws {
        let (reader, field) = try Self.reader(Self.cards[0])
        let recorder = CourseRecorder(reader) { .zero }
        guard case .felica(let card)? = try recorder.activate(.felica(.any)) else {
            Issue.record("no card")
            return
        }
        let before = field.statistics
        for frame in [
            [0x10, 0x06] + card.idm.bytes + [1, 0x0F, 0x09, 1, 0x80, 0], [0x0A, 0x10] + card.idm.bytes,
            [0x10, 0x08] + card.idm.bytes + [1, 0xFF, 0xFF, 1, 0x80, 0], [0x0B, 0x3E] + card.idm.bytes + [0],
        ] as [[UInt8]] {
            #expect(throws: TransportError.self) { try recorder.transceive(frame, timeout: .seconds(1)) }
        }
        #expect(field.statistics == before)
        #expect(!RecordingMask.isHarmless([0x00, 0x20, 0x00, 0x82], to: nil))
    }
}
