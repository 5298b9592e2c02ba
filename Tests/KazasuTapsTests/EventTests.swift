// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing

@testable import Kazasu
@testable import KazasuReading
@testable import KazasuTaps

@Suite("Events")
struct EventTests {
    /// Moments of a clock that is set forward and back.
    static let moments: [[Int]] = [
        [1_700_000_000_000], [1000, 1000, 1000], [2000, 1000, 1500, 2001], [0, -1, Int.max], [5, 4, 3, 2, 1],
    ]

    @Test("Ids grow even if the clock goes back", arguments: moments)
    func idsGrow(moments: [Int]) {
        var ids = EventIDs()
        var last = ""
        for moment in moments + moments {
            let id = ids.next(at: moment)
            #expect(id > last)
            #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
            last = id
        }
        var next = EventIDs(after: last)
        #expect(next.next(at: 0) > last)
    }

    @Test("An id begins with its time")
    func idTime() {
        var ids = EventIDs()
        #expect(ids.next(at: 0x0123_4567_89AB).hasPrefix("01234567-89ab-7"))
    }

    @Test("The last id of a millisecond is followed by the next millisecond's")
    func carry() {
        var ids = EventIDs(after: "00000000-0001-7fff-bfff-ffffffffffff")
        #expect(ids.next(at: 0).hasPrefix("00000000-0002-7000-8000-0000"))
    }

    @Test("HMAC-SHA256 as in RFC 4231, test case 2")
    func authentication() {
        let code = MessageAuthentication.sha256(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(code.prefix(8) == [0x5B, 0xDC, 0xC1, 0x46, 0xBF, 0x60, 0x75, 0x4E])
        #expect(IdentityKey(Array("Jefe".utf8)).tag(of: [1, 2]).utf8.count == 32)
    }

    // MARK: The journal

    private static let clock = EventClock { .init(wall: 1_700_000_000_000, boot: 5000, isSynchronized: true) }
    private static let idm = "0101031234567890"

    private static func card(_ idm: UInt64 = 0x0101_0312_3456_7890) -> FoundCard {
        let target = FeliCaTarget(
            idm: IDm(rawValue: idm), pmm: PMm(rawValue: 0x0120_2204_2767_4EFF), requestData: 0x0003, bitRate: .kbps212)
        return FoundCard(picc: .felica(target), request: .felica(.transit, requestCode: 1))
    }

    private static func tap(_ kind: Tap.Kind, _ card: FoundCard, after time: Duration) -> ReaderWatch.Event {
        .tap(Tap(kind, card, reader: "virtual:x", time: start + time), reader: "virtual:x")
    }

    private static let start = ContinuousClock.now - .seconds(1000)

    private static func journal(debounce: Duration = .zero, _ memory: OutboxMemory = OutboxMemory()) -> TapJournal {
        var settings = TapJournal.Settings(site: "here")
        settings.names = ["virtual:x": "door"]
        settings.debounce = debounce
        return TapJournal(settings, after: memory, clock: clock)
    }

    private static func object(_ event: TapEvent) throws -> JSONObject {
        try JSONCursor(JSONValue(parsing: Array(event.line.utf8))).object()
    }

    @Test("A visit is an on and an off that names it")
    func visit() throws {
        var journal = Self.journal()
        let card = Self.card()
        let on = try #require(journal.events(for: Self.tap(.on, card, after: .seconds(1))).first)
        let off = try #require(journal.events(for: Self.tap(.off, card, after: .milliseconds(3500))).first)
        #expect((on.sequence, off.sequence, on.reader, on.card?.tag) == (1, 2, "door", Self.idm))
        let event = try Self.object(off)
        #expect(event["on"] == .string(on.id))
        #expect(event["dwellMs"] == 2500)
        #expect(event["reason"] == nil)
        #expect(event["tag"] == .string(Self.idm))
        #expect(try Self.object(on)["system"] == "0003")
        #expect(journal.close(.shutdown).isEmpty)
    }

    @Test("A visit whose end nobody saw has a reason")
    func unseen() throws {
        var journal = Self.journal()
        let card = Self.card()
        _ = journal.event(for: Self.tap(.on, card, after: .zero))
        let lost = try #require(journal.events(for: Self.tap(.lost, card, after: .seconds(1))).first)
        #expect(try Self.object(lost)["reason"] == "reader")
        let on = try #require(journal.events(for: Self.tap(.on, card, after: .seconds(2))).first)
        var next = Self.journal(
            OutboxMemory(lastID: on.id, readers: ["door": .init(sequence: on.sequence, visit: on)]))
        let off = try #require(next.close(.restart).first)
        #expect(off.sequence == on.sequence + 1)
        #expect(off.id > on.id)
        let event = try Self.object(off)
        #expect(event["reason"] == "restart")
        #expect(event["on"] == .string(on.id))
        #expect(event["dwellMs"] == .some(.null))
    }

    @Test("A card that is back within the debounce time gives no events")
    func debounce() throws {
        var journal = Self.journal(debounce: .seconds(5))
        let (card, other) = (Self.card(), Self.card(0x0102_0304_0506_0708))
        let visits: [(FoundCard, Double, Double, Int)] = [
            (card, 0, 1, 2), (card, 2, 3, 0), (card, 4, 5, 0), (card, 6.1, 7, 2), (other, 8, 9, 2), (card, 10, 11, 2),
        ]
        for (card, on, off, expected) in visits {
            let events = [
                journal.event(for: Self.tap(.on, card, after: .seconds(on))),
                journal.event(for: Self.tap(.off, card, after: .seconds(off))),
            ]
            #expect(events.count { $0 != nil } == expected, "\(on)")
        }
    }

    @Test("With a key, the number of the card is nowhere in the event")
    func key() throws {
        var journal = Self.journal()
        journal.settings.key = IdentityKey([1, 2, 3])
        let on = try #require(journal.events(for: Self.tap(.on, Self.card(), after: .zero)).first)
        #expect(!on.line.contains(Self.idm.dropFirst(2)))
        #expect(on.card?.tag?.utf8.count == 32)
    }

    @Test(
        "The brand that was read is in the event, also with a key",
        arguments: ["suica", nil], [false, true])
    func brand(_ brand: String?, hasKey: Bool) throws {
        var journal = Self.journal()
        if hasKey { journal.settings.key = IdentityKey([1, 2, 3]) }
        let entry = BalanceEntry(kind: "transit", name: LocalizedText("a", "b"), amount: 1)
        let read = brand.map { CardBrand(id: $0, name: LocalizedText("a", "b")) }
        let report = Tap.Report(balance: BalanceReport(balances: [entry]), brand: read)
        let tap = Tap(.on, Self.card(), reader: "virtual:x", time: Self.start, report)
        let on = try #require(journal.events(for: .tap(tap, reader: "virtual:x")).first)
        let card = try JSONCursor(try #require(Self.object(on)["card"])).object()
        #expect(card["kind"] == "transit" && card["brand"] == .text(brand))
        #expect((card["idm"] == nil) == hasKey)
    }

    /// What a tap reads of a card whose newest record has this number; without numbers, of a card that has none.
    private static func history(newest: Int, hasSerials: Bool = true) -> ReaderWatch.Event {
        let records = stride(from: newest, to: newest - 20, by: -1).map {
            HistoryRecord(serial: hasSerials ? $0 : nil, kind: .rail, raw: .zero)
        }
        let report = CardReport(kind: "transit", name: LocalizedText("a", "b"), history: records)
        let tap = Tap(.on, card(), reader: "virtual:x", time: start, Tap.Report(history: report))
        return .tap(tap, reader: "virtual:x")
    }

    @Test("Of a card that was read before, an event has what is new, a few before it, and where the rest is")
    func newRecords() throws {
        var journal = Self.journal()
        journal.settings.omitsKnownRecords = true
        func next(_ event: ReaderWatch.Event) throws -> (id: String, serials: [JSONValue], since: String?) {
            let event = try #require(journal.events(for: event).first)
            guard case .on(_, let content) = event.kind, let records = content.records else {
                return (event.id, [], nil)
            }
            #expect(try TapEvent(parsing: event.line) == event)
            let serials = try records.map { try JSONCursor($0).required("serial").value }
            return (event.id, serials, content.since)
        }
        let first = try next(Self.history(newest: 100))
        #expect(first.serials.count == 20 && first.since == nil)
        let second = try next(Self.history(newest: 102))
        #expect(second.serials == [102, 101, 100, 99, 98] && second.since == first.id)
        let same = try next(Self.history(newest: 102))
        #expect(same.serials == [102, 101, 100] && same.since == second.id)
        // So many rides that the last known one is no longer on the card.
        let much = try next(Self.history(newest: 140))
        #expect(much.serials.count == 20 && much.since == nil)
        // Somebody who is new wants all of it.
        journal.settings.site = "elsewhere"
        #expect(try next(Self.history(newest: 140)).serials.count == 20)
    }

    @Test("Nothing is left out of a card whose records have no numbers, and nothing unless it is wanted")
    func allRecords() throws {
        for (isWanted, hasSerials) in [(true, false), (false, true)] {
            var journal = Self.journal()
            journal.settings.omitsKnownRecords = isWanted
            for _ in 1...2 {
                let event = try #require(
                    journal.events(for: Self.history(newest: 100, hasSerials: hasSerials)).first)
                guard case .on(_, let content) = event.kind else { continue }
                #expect(content.records?.count == 20 && content.since == nil)
            }
        }
    }

    @Test("A card that is seen again after its reader was opened again is a new visit, however soon")
    func reopened() throws {
        var journal = Self.journal(debounce: .seconds(60))
        let card = Self.card()
        _ = journal.event(for: Self.tap(.on, card, after: .zero))
        #expect(journal.close(.shutdown, on: "back").isEmpty)
        #expect(journal.close(.shutdown, on: "door").count == 1)
        #expect(journal.events(for: Self.tap(.on, card, after: .seconds(1))).map(\.kind.word) == ["on"])
    }

    @Test("A reader that is not watched any more is gone, once")
    func forgotten() throws {
        var journal = Self.journal(OutboxMemory(readers: ["old": .init(sequence: 4)]))
        _ = journal.event(for: .reader("virtual:x", .ready))
        #expect(journal.forget(except: nil).isEmpty)
        #expect(journal.forget(except: ["door"]).isEmpty)
        let gone = journal.forget(except: ["back"])
        #expect(try gone.map { try Self.object($0)["state"] } == ["gone"])
        #expect(journal.forget(except: []).isEmpty)
    }

    @Test("A card with a name has it in both events; others get no number where they are hidden")
    func names() throws {
        var journal = Self.journal()
        try journal.settings.known.add("41010312 34567890", name: "山田")
        journal.settings.hidesOthers = true
        let stranger = Self.card(0x0102_0304_0506_0708)
        let events = [(Self.card(), Tap.Kind.on), (Self.card(), .off), (stranger, .on), (stranger, .off)].compactMap {
            journal.event(for: Self.tap($0.1, $0.0, after: .zero))
        }
        #expect(events.map(\.card?.name) == ["山田", "山田", nil, nil])
        #expect(events.map(\.sequence) == [1, 2, 0, 0])
        #expect(journal.events(for: .reader("virtual:x", .gone)).map(\.sequence) == [3])
    }

    @Test("A reader's state is reported once")
    func readers() {
        var journal = Self.journal()
        let states: [ReaderWatch.ReaderState] = [.ready, .gone, .gone, .error(.noCard), .error(.noCard), .ready]
        let events = states.compactMap { journal.event(for: .reader("virtual:x", $0)) }
        #expect(events.map(\.sequence) == [1, 2, 3, 4])
        #expect(events.allSatisfy { $0.kind.word == "reader" })
    }
}

extension TapJournal {
    /// The event that follows from what happened, if one does.
    mutating func events(for event: ReaderWatch.Event) -> [TapEvent] { self.event(for: event).map { [$0] } ?? [] }
}
