// SPDX-License-Identifier: Apache-2.0

import KazasuTesting
import Synchronization
import TestSupport
import Testing

@testable import Kazasu
@testable import KazasuReading

/// A card that was waited for is selected, whatever it was waited for by: its first exchange works.
struct SelectionTests {
    /// What may be the first that is asked of a card: whether the answer is right.
    struct First: Sendable {
        let name: String
        let work: @Sendable (Card) throws -> Bool

        init(_ name: String, _ work: @escaping @Sendable (Card) throws -> Bool) {
            (self.name, self.work) = (name, work)
        }
    }

    /// A kind of card, and the queries that find it.
    struct Kind: CustomTestStringConvertible, Sendable {
        let name: String
        let file: String
        let queries: [CardQuery]
        let first: [First]

        var testDescription: String { name }
    }

    private static let select: [UInt8] = [0x00, 0xA4, 0x00, 0x00, 0x02, 0x3F, 0x00]
    private static let polling = First("transceive") {
        try $0.transceive([0x06, 0x00, 0xFF, 0xFF, 0x01, 0x00])[1] == 0x01
    }
    private static let dump = First("dump") { try $0.dump().get().isComplete }
    private static let files = First("dump") { try !$0.dump().get().applications.isEmpty }
    private static let message = First("NDEF") { try !$0.readNDEF().records.isEmpty }
    private static let apdus = [
        First("APDU") { try $0.apdus().transmit(CommandAPDU(decoding: select)).encoded().count >= 2 },
        First("frame") { try $0.transceive(select).count >= 2 },
    ]

    static let kinds: [Kind] = [
        Kind(
            name: "Suica", file: "Fixtures/cards/suica-p1/card.json",
            queries: [.any, .first(), .feliCa, .purse, .feliCa(systems: [.transit]), .phones(wildcard: true)],
            first: [
                polling, dump, First("balance") { try $0.balance().balances.map(\.amount) == [10] },
                First("system") { try $0.feliCaSystem?.requestResponse() == .initial },
            ]),
        Kind(
            name: "Lite-S", file: "Fixtures/felica/lite-s.json", queries: [.any, .first(), .feliCa, .lite, .tag],
            first: [
                polling, First("lite") { try $0.lite().information().isLiteS },
                First("dump") { try !$0.dump().get().systems.isEmpty },
            ]),
        Kind(
            name: "license", file: "Fixtures/iso7816/license/sample.json",
            queries: [.any, .first(), .isoDEP, .license, .tag, .phones(wildcard: false)],
            first: apdus + [files, First("license") { try $0.license().error == nil }]),
        Kind(
            name: "My Number", file: "Fixtures/iso7816/mynumber/card.json",
            queries: [.any, .first(), .isoDEP, .myNumber, .tag],
            first: apdus + [files, First("myNumber") { try $0.myNumber().error == nil }]),
        Kind(
            name: "Type 4", file: "Fixtures/virtual/type4.json", queries: [.any, .first(), .isoDEP, .tag],
            first: apdus + [files, message]),
        Kind(
            name: "NTAG213", file: "Fixtures/virtual/ntag213.json", queries: [.any, .first(), .tag],
            first: [First("transceive") { try $0.transceive([0x30, 0x04]).count == 16 }, message, dump]),
    ]

    private func reader(_ kind: Kind) throws -> CardReader {
        try virtualReader(cards: try TestFiles.read(kind.file))
    }

    @Test("The first exchange with a card works", arguments: kinds)
    func synchronous(_ kind: Kind) throws {
        for query in kind.queries {
            for first in kind.first {
                let card = try reader(kind).waitForCard(query, timeout: .zero)
                #expect(try first.work(card), "\(query) \(first.name)")
            }
        }
    }

    @Test("The same with await", arguments: kinds)
    func asynchronous(_ kind: Kind) async throws {
        for query in kind.queries {
            for first in kind.first {
                let field = try VirtualField(cardFile: try TestFiles.read(kind.file))
                let reader = try await AsyncCardReader.open { cancellation in
                    InProcessReader(field, cancellation: cancellation)
                }
                let card = try await reader.waitForCard(query, timeout: .zero)
                let isRight = try await card.run { card in try first.work(card) }
                #expect(isRight, "\(query) \(first.name)")
                await reader.close()
            }
        }
    }

    @Test("A program goes on with the card of a tap", arguments: kinds)
    func taps(_ kind: Kind) throws {
        for query in kind.queries {
            for first in kind.first {
                let reader = try reader(kind)
                var results: [Bool] = []
                var watch = CardWatch(reader, query, .id, NoStationNames()) { card throws(KazasuError) in
                    results.append((try? first.work(card)) ?? false)
                }
                #expect(try watch.next().kind == .on)
                #expect(results == [true], "\(query) \(first.name)")
            }
        }
    }

    /// A decoder of one's own, with `await`.
    @Test func ownDecoder() async throws {
        let field = try VirtualField(cardFile: KazasuTests.canteenCard)
        let reader = try await AsyncCardReader.open { cancellation in InProcessReader(field, cancellation: cancellation)
        }
        let card = try await reader.waitForCard(.decoders([CanteenDecoder()]))
        let report = try await card.report(with: [CanteenDecoder()])
        #expect(report.kind == "canteen" && report.history?.count == 1)
        #expect(try await card.balance(with: [CanteenDecoder()]).balances == report.balances)
    }

    /// The card leaves between the search and its selection: the wait goes on.
    @Test func cardsThatLeaveAtOnce() throws {
        let field = try VirtualField(cardFile: try TestFiles.read("Fixtures/virtual/ntag213.json"))
        let reader = CardReader(InProcessReader(field), cancellation: CancellationToken())
        _ = try reader.waitForCards(.any, .once)
        let exchanges = field.statistics.exchanges
        let other = try VirtualField(cardFile: try TestFiles.read("Fixtures/virtual/ntag213.json"))
        other.plan(.cardAway(from: exchanges + 1))
        let left = CardReader(InProcessReader(other), cancellation: CancellationToken())
        #expect(throws: KazasuError.noCard) { _ = try left.waitForCard(timeout: .zero) }
    }
}
