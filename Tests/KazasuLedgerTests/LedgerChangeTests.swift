// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Glibc
import KazasuLedger
import LedgerSupport
import TestSupport
import Testing

@Suite("Changes of a ledger: previews, removals, merges, backups, undo")
struct LedgerChangeTests {
    /// Everything that a ledger answers, for comparison.
    private static func contents(_ ledger: Ledger) throws -> [String] {
        let records = try ledger.records().map {
            "\($0.id) \($0.uid) \($0.purse.name(.english)) \($0.record) \($0.gapBefore as LedgerGap?)"
        }
        let gaps = try ledger.gaps().map { "\($0.gap) \($0.before.uid) \($0.after.uid)" }
        let cards = try ledger.cards().map { "\($0)" }
        let sums = try ledger.sum(by: .month).map { "\($0)" }
        return records + gaps + cards + sums + (try ledger.imports().map { "\($0)" })
    }

    /// A ledger with two visits to one card and one to another.
    private static func filled() throws -> (Ledger, LedgerCardMaker) {
        let (ledger, maker) = (try LedgerFolder().open(), LedgerCardMaker.transit(80))
        for count in [20, 60] { try ledger.keep(maker.dump(after: count)) }
        try ledger.keep(LedgerCardMaker.transit(10, idm: 0x0101_0312_0000_0002).dump(after: 10))
        return (ledger, maker)
    }

    static let changes: [LedgerChange.Kind] = [.keep, .name, .link, .forget, .merge]

    private static func make(_ kind: LedgerChange.Kind, _ ledger: Ledger, _ maker: LedgerCardMaker) throws {
        switch kind {
        case .keep: try ledger.keep(maker.dump(after: 70))
        case .name: try ledger.name("0001", as: "Work")
        case .link: try ledger.link("0002", to: "0001")
        case .forget: _ = try ledger.forget("0001")
        case .merge:
            let other = try LedgerFolder().open()
            try other.keep(maker.dump(after: 45))
            try other.name("0001", as: "Home")
            _ = try ledger.merge(other)
        case .redecode: _ = try ledger.redecode()
        }
    }

    @Test("The last change of any kind is undone to the last bit, and once", arguments: changes)
    func undoes(_ kind: LedgerChange.Kind) throws {
        let (ledger, maker) = try Self.filled()
        let before = try Self.contents(ledger)
        try Self.make(kind, ledger, maker)
        #expect(try Self.contents(ledger) != before)
        #expect(try ledger.undo().kind == kind)
        #expect(try Self.contents(ledger) == before)
        #expect(throws: LedgerError.nothingToUndo) { try ledger.undo() }
        // What was undone can be done again.
        try Self.make(kind, ledger, maker)
        #expect(try Self.contents(ledger) != before)
        try ledger.verify()
    }

    @Test("Parts of one import are undone together; a change that changes nothing leaves the one before")
    func undoesParts() throws {
        let (ledger, maker) = try Self.filled()
        let before = try Self.contents(ledger)
        let first = try ledger.keep([maker.dump(after: 65)], source: LedgerSource(.file))
        let second = try ledger.keep(
            [maker.dump(after: 75)], source: LedgerSource(.file), batch: LedgerBatch(after: first.change))
        #expect(second.added == 10)
        #expect(try ledger.keep(maker.dump(after: 75)).added == 0)
        try ledger.undo()
        #expect(try Self.contents(ledger) == before)
    }

    @Test("After an undo, --new neither repeats nor misses a record")
    func undoBesideExports() throws {
        let (ledger, maker) = try Self.filled()
        var options = LedgerExportOptions()
        options.skipsExported = true
        try ledger.keep(maker.dump(after: 70))
        try ledger.didWrite(try ledger.export(.csv, options).export)
        try ledger.undo()
        try ledger.keep(maker.dump(after: 70))
        #expect(try ledger.export(.csv, options).export.records == 10)
    }

    @Test("A preview counts, names new cards and gaps, and changes nothing")
    func preview() throws {
        let (ledger, maker) = try Self.filled()
        let (before, bytes) = (try Self.contents(ledger), try TestFiles.read(ledger.path))
        let other = LedgerCardMaker.transit(30, idm: 0x0101_0312_0000_0003)
        let addition = try ledger.keep(
            [maker.dump(after: 80), other.dump(after: 30)], source: LedgerSource(.file),
            batch: LedgerBatch(isTrial: true))
        #expect((addition.read, addition.added) == (40, 40))
        #expect(addition.newCards == ["0101031200000003"])
        #expect(try Self.contents(ledger) == before)
        #expect(try TestFiles.read(ledger.path) == bytes)
        let kept = try ledger.keep([maker.dump(after: 80), other.dump(after: 30)], source: LedgerSource(.file))
        #expect((kept.read, kept.added, kept.gaps.count) == (addition.read, addition.added, addition.gaps.count))
    }

    @Test("A card is forgotten with its records, gaps and sums; the others stay")
    func forgetsCard() throws {
        let (ledger, _) = try Self.filled()
        let removal = try ledger.forget("0001")
        #expect((removal.records, removal.cards) == (40, ["0101031200000001"]))
        #expect(try ledger.cards().map(\.purse.card) == ["0101031200000002"])
        #expect(try ledger.sum(by: .card).map(\.records) == [10])
        #expect(try ledger.gaps().isEmpty)
        try ledger.verify()
    }

    @Test("An import is forgotten with the records that it brought, and leaves a gap")
    func forgetsImport() throws {
        let (ledger, maker) = (try LedgerFolder().open(), LedgerCardMaker.transit(60))
        for count in [20, 40, 60] { try ledger.keep(maker.dump(after: count)) }
        #expect(try ledger.gaps().isEmpty)
        let imports = try ledger.imports()
        #expect(imports.map(\.records) == [20, 20, 20])
        #expect(try ledger.forgetImport(imports[1].id).records == 20)
        #expect(try ledger.records().count == 40)
        #expect(try ledger.gaps().count == 1)
        #expect(throws: LedgerError.noSuchImport(imports[1].id)) { try ledger.forgetImport(imports[1].id) }
        // Read again, the card is whole again.
        try ledger.keep(maker.dump(after: 40))
        #expect(try ledger.gaps().isEmpty && ledger.records().count == 60)
    }

    @Test(
        "Two ledgers become one: what both have is kept once, gaps close, names come along",
        arguments: LedgerCardMaker.Kind.allCases)
    func merges(_ kind: LedgerCardMaker.Kind) throws {
        var maker = LedgerCardMaker(kind, idm: 0x0101_0312_0000_0007, seed: 5)
        maker.live(records: 200, from: 8_705)
        let (whole, one, other) = (try LedgerFolder().open(), try LedgerFolder().open(), try LedgerFolder().open())
        for (index, count) in stride(from: 2, through: 200, by: max(1, kind.window / 2)).enumerated() {
            try whole.keep(maker.dump(after: count))
            try (index / 3 % 2 == 0 ? one : other).keep(maker.dump(after: count))
        }
        try other.name("0007", as: "Home")
        let before = try Self.contents(other)
        let addition = try one.merge(other)
        #expect(addition.added > 0)
        #expect(try Self.contents(other) == before)
        #expect(try one.records().map(\.uid) == whole.records().map(\.uid))
        #expect(try one.records().map(\.record.amount) == whole.records().map(\.record.amount))
        #expect(try one.records().map(\.hasDerivedAmount) == whole.records().map(\.hasDerivedAmount))
        #expect(try one.gaps().map(\.gap) == whole.gaps().map(\.gap))
        #expect(try one.cards().map(\.purse.cardName) == ["Home"])
        #expect(try one.merge(other).added == 0)
    }

    // MARK: Ids

    /// Records without serials, of which some have the same bytes.
    private static func keep(_ days: [Int], of card: UInt64, _ ledger: Ledger) throws {
        let records = try days.map { day in
            var record = try ExampleCard.record(day, "2026-10-0\(day)", .purchase, -100, 1_000)
            record.serial = nil
            return record
        }
        let report = CardReport(kind: "coop", name: LocalizedText("Co-op", "生協"), history: records.reversed())
        try ledger.keep(report, of: IDm(rawValue: card), source: LedgerSource(.card))
    }

    @Test("Records with the same bytes keep their own ids when cards are linked and ledgers merged", arguments: [1, 2])
    func equalBytes(known: Int) throws {
        let (ledger, other) = (try LedgerFolder().open(), try LedgerFolder().open())
        try Self.keep([1, 1, 1, 2], of: 0x0101_0312_0000_0008, ledger)
        let ids = try ledger.records().map(\.uid)
        #expect(Set(ids).count == 4)
        _ = try other.merge(ledger)
        #expect(try other.records().map(\.uid) == ids)
        // The ledger has some of them already.
        let third = try LedgerFolder().open()
        try Self.keep(Array(repeating: 1, count: known), of: 0x0101_0312_0000_0008, third)
        _ = try third.merge(ledger)
        #expect(try third.records().map(\.uid) == ids)
        try Self.keep(Array(repeating: 1, count: known), of: 0x0101_0312_0000_0009, ledger)
        let older = Set(try ledger.records().map(\.uid)).subtracting(ids)
        #expect(try ledger.link("0008", to: "0009") == known)
        let linked = Set(try ledger.records().map(\.uid))
        // Newest first: the other record, then those with the same bytes, of which the oldest were known.
        #expect(linked == older.union(ids.prefix(4 - known)))
    }

    @Test("After an import is forgotten, no record gets the id of another")
    func idsAfterForgetting() throws {
        let ledger = try LedgerFolder().open()
        for days in [[1], [1, 1]] { try Self.keep(days, of: 0x0101_0312_0000_0008, ledger) }
        let ids = Set(try ledger.records().map(\.uid))
        _ = try ledger.forgetImport(try #require(ledger.imports().last).id)
        try Self.keep([1, 1], of: 0x0101_0312_0000_0008, ledger)
        #expect(Set(try ledger.records().map(\.uid)) == ids)
    }

    @Test("Two records with one serial do not get one id in a merge")
    func idsOfConflict() throws {
        let (one, other, maker) = (try LedgerFolder().open(), try LedgerFolder().open(), LedgerCardMaker.transit(20))
        var window = Array(maker.entries.reversed())
        window[4].balance += 10
        try one.keep(maker.dump(after: 20))
        try other.keep(maker.dump(window))
        #expect(try one.merge(other).added == 1)
        #expect(try Set(one.records().map(\.uid)).count == 21)
    }

    @Test("A backup is the whole ledger, its owner's alone, and replaces nothing")
    func backsUp() throws {
        let ((ledger, _), folder) = (try Self.filled(), try TemporaryFolder())
        let path = folder.path + "/copy.sqlite"
        try ledger.backUp(to: path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try Self.contents(Ledger.open(path)) == Self.contents(ledger))
        let bytes = try TestFiles.read(path)
        #expect(throws: LedgerError.inaccessible(path: path, code: EEXIST)) { try ledger.backUp(to: path) }
        #expect(try TestFiles.read(path) == bytes)
    }

    @Test("The pace of a card is that of its records and those lost")
    func pace() throws {
        let (ledger, _) = try Self.filled()
        var records: [HistoryRecord] = []
        for day in 1...20 {
            let text = "2026-10-\(day < 10 ? "0" : "")\(day)"
            records.append(try ExampleCard.record(day * 2, text, .rail, -100, 5_000 - day * 100))
        }
        let report = CardReport(
            kind: "transit", name: LocalizedText("Transit IC", "交通系IC"), history: records.reversed())
        let pace = try #require(try ledger.keep(report, of: ExampleCard.idm, source: LedgerSource(.card)).pace)
        #expect((pace.records, pace.days) == (20, 19))
    }
}
