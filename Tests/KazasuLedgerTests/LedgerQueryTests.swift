// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import KazasuLedger
import LedgerSupport
import TestSupport
import Testing

@Suite("Questions to a ledger")
struct LedgerQueryTests {
    @Test(
        "Sums over parts of months are the sums of the records",
        arguments: [
            LedgerFilter(), LedgerFilter(since: CalendarDate("2023-11-15")),
            LedgerFilter(since: CalendarDate("2023-12-01"), until: CalendarDate("2024-01-31")),
            LedgerFilter(since: CalendarDate("2023-12-05"), until: CalendarDate("2023-12-20")),
            LedgerFilter(
                since: CalendarDate("2023-12-05"), until: CalendarDate("2024-02-20"), kinds: [.rail, .charge]),
            LedgerFilter(cards: ["edy"], until: CalendarDate("2023-12-30")),
            LedgerFilter(month: "2024-02") ?? LedgerFilter(),
        ])
    func sums(_ filter: LedgerFilter) throws {
        let ledger = try LedgerFolder().open()
        for kind in [LedgerCardMaker.Kind.transit, .edy] {
            var maker = LedgerCardMaker(kind, idm: 0x0101_0312_0000_0200, seed: 5)
            maker.live(records: 400, from: 8_705)
            for visit in stride(from: 4, through: 400, by: kind == .edy ? 7 : 23) {
                try ledger.keep(maker.dump(after: visit))
            }
        }
        let records = try ledger.records(filter)
        #expect(!records.isEmpty)
        for grouping in [LedgerGrouping.month, .kind, .card] {
            let sums = try ledger.sum(by: grouping, filter)
            #expect(sums.reduce(0) { $0 + $1.records } == records.count)
            #expect(sums.reduce(0) { $0 + $1.amount } == records.reduce(0) { $0 + ($1.record.amount ?? 0) })
            #expect(sums.reduce(0) { $0 + $1.unknown } == records.count { $0.record.amount == nil })
        }
        let months = try ledger.sum(by: .month, filter)
        let days = records.compactMap { $0.record.date?.description }
        #expect(months.map(\.key) == Set(days.map { String($0.prefix(7)) }).sorted())
        let stations = try ledger.sum(by: .station, filter).filter { !$0.key.isEmpty }
        #expect(stations.isEmpty == !records.contains { $0.record.entry != nil })
    }

    @Test("A ride counts at both stations, and once on its line")
    func stations() throws {
        let ledger = try ExampleCard.ledger(visits: 1)
        let stations = try ledger.sum(by: .station, LedgerFilter(kinds: [.rail]))
        #expect(stations.map(\.label.japanese) == ["六本木一丁目", "後楽園"])
        #expect(stations.map(\.records) == [3, 3] && stations.map(\.spent) == [-390, -390])
        let lines = try ledger.sum(by: .line, LedgerFilter(kinds: [.rail]))
        #expect(lines.map(\.label.japanese) == ["メトロ 南北線"] && lines.map(\.records) == [3])
    }

    @Test("Cards are found by name, IDm, last digits and kind")
    func cards() throws {
        let ledger = try ExampleCard.ledger()
        var edy = LedgerCardMaker(.edy, idm: 0x0114_B34D_AA01_2345, seed: 3)
        edy.live(records: 5, from: 8_705)
        try ledger.keep(edy.dump(after: 5))
        try ledger.name("0114b34daa012345", as: "Mine")
        for word in ["Mine", "0114B34DAA012345", "01 14 B3 4D AA 01 23 45", "2345", "12345", "A01-2345"] {
            #expect(try ledger.records(LedgerFilter(cards: [word])).count == 14, "\(word)")
        }
        #expect(try ledger.records(LedgerFilter(cards: ["edy"])).count == 5)
        #expect(try ledger.records(LedgerFilter(cards: ["edy", "TRANSIT"])).count == 14)
        #expect(throws: LedgerError.noSuchCard("Yours")) { try ledger.records(LedgerFilter(cards: ["Yours"])) }
        try ledger.keep(LedgerCardMaker.transit(20).dump(after: 20))
        #expect(throws: LedgerError.severalCards("transit")) { try ledger.name("transit", as: "Both") }
        #expect(throws: LedgerError.nameInUse("Mine")) { try ledger.name("0101031200000001", as: "Mine") }
        #expect(try ledger.cards().map(\.purse.kind) == ["transit", "edy", "transit"])
    }

    @Test("A phone's new IDm goes on where the old one ended", arguments: [false, true])
    func link(sharesHistory: Bool) throws {
        let (folder, old) = (try LedgerFolder(), LedgerCardMaker.transit(60, idm: 0x0101_0312_0000_0300))
        let ledger = try folder.open()
        try ledger.keep(old.dump(after: 30))
        let ids = try ledger.records().map(\.uid)
        var dump = old.dump(after: sharesHistory ? 40 : 60)
        let idm = IDm(rawValue: 0x0101_0312_0000_0301)
        (dump.card.idm, dump.systems[0].idm) = (idm, idm)
        let notice = LedgerNotice.sameHistory(card: "0101031200000301", as: "0101031200000300")
        #expect(try ledger.keep(dump).notices == (sharesHistory ? [notice] : []))
        let newIDs = Set(try ledger.records().map(\.uid))
        #expect(try ledger.link("0101031200000301", to: "0101031200000300") == (sharesHistory ? 10 : 0))
        let kept = try ledger.records()
        #expect(kept.count == (sharesHistory ? 30 : 40))
        #expect(Set(kept.map(\.uid)).isSubset(of: newIDs) && Set(kept.map(\.uid)).isSuperset(of: ids))
        #expect(try ledger.gaps().count == (sharesHistory ? 0 : 1))
        #expect(try ledger.cards().map(\.linked) == [["0101031200000301"]])
        // What the new phone brings from now on goes to the same history.
        (dump.systems[0].services) = old.dump(after: 60).systems[0].services
        try ledger.keep(dump)
        #expect(try ledger.cards().count == 1)
        #expect(try ledger.records().first?.record.serial == old.entries.last?.serial)
    }

    /// The names of the newer and the older card, and what becomes of them: one name, or a refusal.
    static let names: [(new: String?, old: String?, name: String??)] = [
        (nil, nil, .some(nil)), ("New", nil, "New"), (nil, "Old", "Old"), ("New", "Old", nil),
    ]

    @Test("Cards that become one keep the name that one of them has", arguments: names)
    func linkedNames(_ row: (new: String?, old: String?, name: String??)) throws {
        let ledger = try LedgerFolder().open()
        let (new, old) = ("0101031200000301", "0101031200000300")
        try ledger.keep(LedgerCardMaker.transit(20, idm: 0x0101_0312_0000_0300).dump(after: 20))
        try ledger.keep(LedgerCardMaker.transit(20, idm: 0x0101_0312_0000_0301).dump(after: 20))
        if let name = row.new { try ledger.name(new, as: name) }
        if let name = row.old { try ledger.name(old, as: name) }
        let before = try ledger.cards()
        guard let name = row.name else {
            #expect(throws: LedgerError.severalNames) { try ledger.link(new, to: old) }
            #expect(try ledger.cards() == before)
            return
        }
        try ledger.link(new, to: old)
        #expect(try ledger.cards().map(\.purse.cardName) == [name])
        // The name is free again when it is taken away.
        if let name {
            try ledger.name(name, as: nil)
            try ledger.name(old, as: name)
        }
    }

    @Test("A card continues neither itself nor a card of another kind")
    func notLinked() throws {
        let ledger = try LedgerFolder().open()
        var edy = LedgerCardMaker(.edy, idm: 0x0114_B34D_AA01_2345, seed: 5)
        edy.live(records: 5, from: 8_705)
        try ledger.keep(edy.dump(after: 5))
        try ledger.keep(LedgerCardMaker.transit(20).dump(after: 20))
        let before = try ledger.cards()
        #expect(throws: LedgerError.sameCard) { try ledger.link("edy", to: "2345") }
        #expect(throws: LedgerError.otherPurses) { try ledger.link("transit", to: "edy") }
        #expect(throws: LedgerError.otherPurses) { try ledger.link("edy", to: "transit") }
        #expect(try ledger.cards() == before)
    }

    @Test("Decoding the bytes again changes nothing with the same decoders", arguments: LedgerCardMaker.Kind.allCases)
    func redecode(_ kind: LedgerCardMaker.Kind) throws {
        var maker = LedgerCardMaker(kind, idm: 0x0101_0312_0000_0400, seed: 21)
        maker.live(records: 90, from: 8_705)
        let ledger = try LedgerFolder().open()
        for visit in stride(from: 10, through: 90, by: 13) { try ledger.keep(maker.dump(after: visit)) }
        let records = try ledger.records()
        let result = try ledger.redecode()
        #expect((result.records, result.changed, result.unreadable) == (records.count, 0, 0))
        #expect(try ledger.records() == records)
    }

    @Test("Tomorrow's decoder reads the old bytes, and nothing known is lost")
    func redecodeOther() throws {
        let (folder, maker) = (try LedgerFolder(), LedgerCardMaker.transit(30))
        try { _ = try folder.open().keep(maker.dump(after: 30)) }()
        let before = try folder.open().records()
        let ledger = try folder.open { $0.decoders = DecoderRegistry([RenamingDecoder()]) }
        let result = try ledger.redecode()
        #expect(result.changed == result.records && result.unreadable == 0)
        let after = try ledger.records()
        #expect(after.allSatisfy { $0.record.kind == .other && $0.record.terminalID == "new" })
        #expect(after.map(\.record.amount) == before.map(\.record.amount))
        #expect(after.map(\.uid) == before.map(\.uid))
    }

    /// A decoder of the future, which knows the machine but no kind.
    struct RenamingDecoder: CardDecoder {
        let old = CyberneticsDecoder.transit
        var kind: CardKind { old.kind }
        var name: LocalizedText { old.name }
        var balanceRead: ReadRequest { old.balanceRead }
        var historyReads: [ReadRequest] { old.historyReads }
        var serials: SerialNumbers? { old.serials }
        func recognizes(_ dump: CardDump) -> Bool { old.recognizes(dump) }
        func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport { try old.balance(dump) }
        func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
            var report = try old.decode(dump, stations: stations)
            report.history = report.history?.map { record in
                var record = record
                (record.kind, record.terminalID, record.amount) = (.other, "new", nil)
                return record
            }
            return report
        }
    }

    @Test("The documents name their schema, currency and gaps")
    func json() throws {
        let ledger = try ExampleCard.ledger()
        let (kept, missing) = (try ledger.records(), try ledger.missing())
        let list = JSONCursor(
            JSONValue { $0.object { LedgerJSON.write(to: &$0, .english, missing: missing) { kept.forEach($0) } } })
        #expect(try list.required("schema").text() == "kazasu.ledger/1")
        let records = try list.required("records").elements()
        #expect(records.count == 9)
        let after = records[3]
        #expect(try after.required("id").text() == "0003.b34daa012345.00001e")
        #expect(try after.required("card").required("idm").text() == "0114b34daa012345")
        #expect(try after.required("currency").text() == "JPY")
        #expect(try after.optional("amount") == nil)
        let gap = try after.required("gapBefore")
        #expect(
            gap.value.compactText
                == #"{"missing":null,"missingAtLeast":6,"missingAtMost":12,"amount":-2835,"coversNext":true,"reason":"recordsLost"}"#
        )
        let gaps = JSONCursor(LedgerAnswers.gaps.json(try ledger.gaps(), .english))
        #expect(try gaps.required("gaps").elements().count == 1)
        #expect(
            try JSONCursor(LedgerAnswers.cards.json(try ledger.cards(), .japanese)).required("schema").text()
                == "kazasu.ledgerCards/1")
    }

    @Test("The page has no script, nothing from outside, and every text escaped", arguments: Language.allCases)
    func report(_ language: Language) throws {
        let ledger = try ExampleCard.ledger()
        try ledger.name("2345", as: "<script>alert(1)</script>")
        let page = String(decoding: try ledger.report(language), as: UTF8.self)
        #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"\(language.rawValue)\">"))
        for outside in ["<script", "http://", "https://", "url("] { #expect(!page.contains(outside)) }
        for inside in ["&lt;script&gt;", "<svg", "六本木一丁目"] { #expect(page.contains(inside)) }
        #expect(page.contains(language == .japanese ? "1,215円" : "¥1,215"))
        let empty = String(decoding: try LedgerFolder().open().report(language), as: UTF8.self)
        #expect(empty.hasSuffix("</html>\n"))
    }

    @Test("Sums by day, week and year; the total has each ride once")
    func periods() throws {
        let ledger = try ExampleCard.ledger()
        #expect(
            try ledger.sum(by: .day).map(\.key) == [
                "2018-11-13", "2018-11-14", "2018-11-15", "2019-01-27", "2019-01-28", "2019-01-31",
            ])
        let weeks = try ledger.sum(by: .week)
        #expect(weeks.first?.key == "2018-W46" && weeks.last?.key == "2019-W05")
        // Every week within the gap has a row.
        #expect(weeks.count == 12 && weeks.allSatisfy { $0.gaps == 1 || $0.key == "2019-W05" })
        let years = try ledger.sum(by: .year)
        #expect(
            years.map(\.key) == ["2018", "2019"] && years.map(\.gaps) == [1, 1] && years.map(\.records) == [5, 4])
        let total = try ledger.total()
        #expect(total.map(\.records) == [9] && total.map(\.spent) == [-1_215] && total.map(\.gaps) == [1])
        for grouping in LedgerGrouping.allCases where grouping != .station && grouping != .line {
            #expect(try ledger.sum(by: grouping).reduce(0) { $0 + $1.spent } == -1_215)
        }
        let part = LedgerFilter(since: CalendarDate("2018-12-10"), until: CalendarDate("2019-01-27"))
        #expect(try ledger.sum(by: .month, part).map(\.key) == ["2018-12", "2019-01"])
    }

    @Test("Bars are as long as the numbers beside them, and stations count rides alone", arguments: Language.allCases)
    func honestReport(_ language: Language) throws {
        let page = String(decoding: try ExampleCard.ledger().report(language), as: UTF8.self)
        // The charges, 6,000, are more than anything that was spent.
        let charges = try #require(
            page.split(separator: "\n").first { $0.contains(">\(RecordKind.charge.name[language])</th>") })
        #expect(charges.contains("class=\"received\"") && charges.contains("width=\"100\""), "\(charges)")
        let station = try #require(page.split(separator: "\n").first { $0.contains(">六本木一丁目<") })
        #expect(station.contains(language == .japanese ? "<td>4回</td>" : "<td>4</td>"), "\(station)")
        // Months without records stay, those with gaps are marked, and each part has a text.
        let december = language == .japanese ? "2018年12月" : "Dec 2018"
        #expect(page.contains("<title>\(december): "))
        #expect(page.contains(language == .japanese ? "履歴の欠落" : "records are missing"))
        #expect(page.contains("class=\"lost\"") && page.contains("class=\"target\""))
        // The balance now is the first tile.
        #expect(page.contains("<dl class=\"figures\"><div class=\"now\">"))
        #expect(page.contains(language == .japanese ? "2026年11月18日（UTC" : "Made on 18 Nov 2026 (UTC"))
        // The gap covers the record after it, as the note says; the thin line has a key.
        #expect(page.contains(language == .japanese ? "2,835円*</td>" : "¥2,835*</td>"))
        #expect(page.contains(language == .japanese ? "* 次の履歴" : "* with the record after the gap"))
        #expect(page.contains(language == .japanese ? "週末時点" : "end of the week"))
    }

    /// Shibuya on the Ginza Line and on the Hanzomon Line.
    @Test("Stations of one name are told apart by their lines")
    func stationsOfOneName() throws {
        let folder = try TemporaryFolder()
        let ledger = try Ledger.open("\(folder.path)/ledger.sqlite")
        _ = try ledger.import(try TestFiles.read("Fixtures/cards/suica-p1/card.json"), name: nil)
        let sums = try ledger.sum(by: .station)
        #expect(sums.count { $0.label.japanese == "渋谷" } > 1, "scripts tell them apart by their keys")
        for (language, names) in [
            (Language.japanese, ["渋谷（東京メトロ 銀座線）", "新中野"]),
            (.english, ["Shibuya (Tokyo Metro Ginza Line)", "Shin-nakano"]),
        ] {
            let titles = LedgerAnswers.sums(by: .station).table(sums, language).cells.map(\.[0])
            #expect(names.allSatisfy(titles.contains), "\(titles)")
            #expect(Set(titles).count == titles.count)
        }
    }

    @Test(
        "Several cards have tiles of their own before the sums, and axes with round values",
        arguments: Language.allCases)
    func cardsOfReport(_ language: Language) throws {
        let page = String(decoding: try LedgerExportTests.currencies().report(language), as: UTF8.self)
        let groups = page.split(separator: "<dl class=\"figures\">").dropFirst()
        #expect(groups.count == 2)
        #expect(groups.first?.contains("340.00 BDT") == true && groups.last?.contains("class=\"now\"") == false)
        #expect(page.contains(">500 BDT</span>") && !page.contains("%\">500.00 BDT</span>"))
    }

    @Test("A balance stays until the next record: no slope crosses a long time without one")
    func sparseReport() throws {
        let ledger = try LedgerFolder().open()
        let days = [("2018-01-10", 1_000), ("2018-06-20", 900), ("2018-12-01", 800)]
        let records = try days.enumerated().map { index, row in
            try ExampleCard.record(10 + index, row.0, .purchase, -100, row.1)
        }
        try ExampleCard.keep(records, ledger)
        let page = String(decoding: try ledger.report(.english), as: UTF8.self)
        let drawn = try #require(
            page.split(separator: "<path class=\"line thin\" d=\"").last?.split(separator: "\"").first)
        // From one record to the next: along, then up or down.
        #expect(drawn.wholeMatch(of: /M0 [0-9.]+(H[0-9.]+L[0-9.]+ [0-9.]+){2}/) != nil, "\(drawn)")
        let slopes = drawn.matches(of: #/H([0-9.]+)L([0-9.]+) /#)
        #expect(slopes.count == 2 && slopes.allSatisfy { $0.1 == $0.2 }, "\(drawn)")
    }

    @Test("A period without records says which it is, and that records are missing")
    func emptyReport() throws {
        let filter = try #require(LedgerFilter(month: "2018-12"))
        let ledger = try ExampleCard.ledger()
        let english = String(decoding: try ledger.report(.english, filter), as: UTF8.self)
        #expect(english.contains("There are no records from 1 Dec 2018 to 31 Dec 2018."))
        #expect(english.contains("records are lost"))
        let japanese = String(decoding: try ledger.report(.japanese, filter), as: UTF8.self)
        #expect(japanese.contains("2018年12月1日～2018年12月31日の記録はありません。"))
    }

    @Test("A report of a month shows its days")
    func monthReport() throws {
        let filter = try #require(LedgerFilter(month: "2018-11"))
        let page = String(decoding: try ExampleCard.ledger().report(.english, filter), as: UTF8.self)
        #expect(page.contains("<h2>Days</h2>") && !page.contains("<h2>Months</h2>"))
        #expect(page.contains("<title>14 Nov 2018: spent ¥480</title>"))
    }
}
