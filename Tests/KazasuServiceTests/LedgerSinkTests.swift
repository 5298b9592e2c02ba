// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import ReaderCore
import LedgerSupport
import TapSupport
import TestSupport
import Testing

@testable import Kazasu
@testable import KazasuReading
@testable import KazasuService
@testable import KazasuLedger
@testable import KazasuTaps

@Suite("The ledger as a sink")
struct LedgerSinkTests {
    /// The event of a card whose history was read.
    private static func event(_ dump: CardDump, _ decoder: any CardDecoder, key: IdentityKey? = nil) throws
        -> StoredEvent
    {
        let target = FeliCaTarget(
            idm: try #require(dump.card.idm), pmm: PMm(rawValue: 0x0120_2204_2767_4EFF), requestData: nil,
            bitRate: .kbps212)
        let report = try decoder.decode(dump)
        let tap = Tap(
            .on, FoundCard(picc: .felica(target), request: .felica(.transit, requestCode: 1)), reader: "door",
            time: .now,
            .init(balance: report.balanceReport, history: report))
        var journal = TapJournal(TapJournal.Settings(site: "here"))
        journal.settings.key = key
        let event = journal.event(for: .tap(tap, reader: "door"))
        return StoredEvent(try #require(event))
    }

    /// What is kept of a card, without what says when and how it came.
    private static func records(_ ledger: Ledger) throws -> [HistoryRecord] { try ledger.records().map(\.record) }

    @Test("An event brings what a dump of the card brings", arguments: LedgerCardMaker.Kind.allCases)
    func same(kind: LedgerCardMaker.Kind) async throws {
        var maker = LedgerCardMaker(kind, idm: 0x0101_0312_0000_0001, seed: 7)
        maker.live(records: 40, from: 8_705)
        let decoder = try #require(DecoderRegistry.standard.decoder(of: CardKind(rawValue: kind.decoder)))
        let (folder, other) = (try LedgerFolder(), try LedgerFolder())
        let (watched, imported) = (try folder.open(), try other.open())
        let sink = LedgerSink(watched)
        for count in [kind.window, kind.window + 1, 40] {
            let dump = maker.dump(after: count)
            #expect(await sink.deliver([try Self.event(dump, decoder)]) == [.delivered])
            try imported.keep(dump)
        }
        #expect(try Self.records(watched) == Self.records(imported))
        #expect(try watched.gaps().map(\.gap) == imported.gaps().map(\.gap))
        #expect(try watched.cards().map(\.purse.card) == imported.cards().map(\.purse.card))
        let before = try watched.records()
        #expect(await sink.deliver([try Self.event(maker.dump(after: 40), decoder)]) == [.delivered])
        #expect(try watched.records() == before)
    }

    @Test("A card that is replaced by a key is one card, and its number is nowhere")
    func keyed() async throws {
        let maker = LedgerCardMaker.transit(30)
        let decoder = try #require(DecoderRegistry.standard.decoder(of: "transit"))
        let folder = try LedgerFolder()
        let key = IdentityKey([1, 2, 3])
        let ledger = try folder.open { $0.cardKey = { key.tag(of: $0.bytes) } }
        let events = try [20, 25, 30].map { try Self.event(maker.dump(after: $0), decoder, key: key) }
        #expect(await LedgerSink(ledger).deliver(events) == [.delivered, .delivered, .delivered])
        #expect(try ledger.cards().map(\.purse.card) == [events[0].card?.tag ?? ""])
        // An event from before there was a key has the number, which the ledger replaces.
        #expect(await LedgerSink(ledger).deliver([try Self.event(maker.dump(after: 30), decoder)]) == [.delivered])
        #expect(try ledger.cards().map(\.records) == [30])
    }

    static let others = [
        "", #""card":null,"records":[]"#, #""card":{"kind":"toaster"},"records":[{}]"#, #""card":7,"records":[7]"#,
        #""card":{"kind":"transit","idm":"01"},"records":[{"raw":"00","kind":"rail"}]"#,
    ]

    @Test("Events without a history are delivered, and nothing is kept", arguments: others)
    func other(members: String) async throws {
        let folder = try LedgerFolder()
        let ledger = try folder.open()
        let event = try StoredEvent(
            parsing: TapEvent.made(1).line.dropLast() + (members.isEmpty ? "" : ",") + members + "}")
        #expect(await LedgerSink(ledger).deliver([event]) == [.delivered])
        #expect(try ledger.cards().isEmpty)
    }

    @Test("While the ledger cannot be written, events wait in their order")
    func full() async throws {
        let folder = try LedgerFolder()
        try folder.open().keep(LedgerCardMaker.transit(20, idm: 5).dump(after: 20))
        let pages = try TestFiles.read(folder.path).count / 4_096
        let ledger = try folder.open { $0.pageLimit = pages + 1 }
        let maker = LedgerCardMaker.transit(400)
        let decoder = try #require(DecoderRegistry.standard.decoder(of: "transit"))
        var results: [DeliveryResult] = []
        for count in stride(from: 20, through: 400, by: 20) {
            results += await LedgerSink(ledger).deliver([try Self.event(maker.dump(after: count), decoder)])
        }
        #expect(results.last == .retry("diskFull"))
    }
}
