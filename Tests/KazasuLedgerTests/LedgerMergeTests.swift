// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import SQLiteFiles
import KazasuLedger
import LedgerSupport
import TestSupport
import Testing

/// The first day of the invented cards, 2023-11-01, in days since 2000.
private let start = 8_705

@Suite("What a ledger keeps")
struct LedgerMergeTests {
    typealias Maker = LedgerCardMaker

    /// How many records were new at each visit, as lengths that overlap, touch and miss the card's window.
    static func visits(_ maker: Maker, _ random: inout SeededGenerator) -> [Int] {
        var counts: [Int] = []
        var count = 0
        while count < maker.entries.count {
            count = min(maker.entries.count, count + Int.random(in: 1...min(30, maker.kind.window * 2), using: &random))
            counts.append(count)
        }
        return counts
    }

    /// The records that some visit saw.
    static func seen(_ maker: Maker, _ visits: [Int]) -> [Int] {
        let indices = visits.flatMap { max(0, $0 - maker.kind.window)..<$0 }
        return Array(Set(indices)).sorted()
    }

    @Test("Three years: each record once, every gap with its money", arguments: Maker.Kind.allCases)
    func threeYears(_ kind: Maker.Kind) throws {
        var random = SeededGenerator(seed: 20_261_121)
        var maker = Maker(kind, idm: 0x0101_0312_3456_7890, seed: 7)
        maker.live(records: kind == .transit ? 2_200 : 440, from: start)
        let visits = LedgerMergeTests.visits(maker, &random)
        let dumps = (visits + visits.filter { $0 % 3 == 0 }).map { maker.dump(after: $0) }.shuffled(using: &random)
        let folder = try LedgerFolder()
        let ledger = try folder.open()
        for dump in dumps { try ledger.keep(dump) }

        let seen = LedgerMergeTests.seen(maker, visits)
        let kept = try ledger.records(LedgerFilter(cards: [kind.decoder])).reversed().map(\.self)
        try #require(kept.count == seen.count)
        #expect(Set(kept.map(\.uid)).count == kept.count)
        var expected: Set<Int> = []
        for (record, index) in zip(kept, seen) {
            let entry = maker.entries[index]
            #expect(record.record.balance == entry.balance)
            let isFirst = index == seen.first
            let isAfterGap = !isFirst && !seen.contains(index - 1)
            // Where the card does not write amounts, only a record after a gap and the first of all have none.
            if let amount = record.record.amount {
                #expect(amount == entry.amount)
            } else {
                #expect(isAfterGap || isFirst)
            }
            guard isAfterGap else {
                #expect(record.gapBefore == nil, "\(index)")
                continue
            }
            expected.insert(index)
            let before = try #require(seen.last { $0 < index })
            let gap = try #require(record.gapBefore, "\(index) after \(before)")
            let lost = index - before - 1
            let covered = maker.entries[(before + 1)..<(gap.coversNext ? index + 1 : index)]
            #expect(gap.amount == covered.reduce(0) { $0 + $1.amount })
            #expect(gap.coversNext == (record.record.amount == nil))
            switch kind {
            case .coop: #expect(gap.atMost == nil && gap.reason == .noOverlap)
            case .transit:
                let (least, most) = (gap.atLeast, try #require(gap.atMost))
                #expect((least...most).contains(lost) && most <= 2 * least + 1)
            default: #expect(gap.missing == lost)
            }
        }
        #expect(try ledger.gaps().count == expected.count)
        #expect(!expected.isEmpty)
    }

    @Test("Everything imported again, in any order, leaves the file as it is", arguments: Maker.Kind.allCases)
    func again(_ kind: Maker.Kind) throws {
        var random = SeededGenerator(seed: 3)
        var maker = Maker(kind, idm: 0x0101_0312_3456_7891, seed: 9)
        maker.live(records: 200, from: start)
        let visits = LedgerMergeTests.visits(maker, &random)
        let dumps = visits.map { maker.dump(after: $0) }
        let folder = try LedgerFolder()
        let ledger = try folder.open()
        try ledger.keep(dumps.shuffled(using: &random), source: LedgerSource(.file))
        let (records, bytes) = (try ledger.records(), try TestFiles.read(folder.path))
        for dump in dumps.shuffled(using: &random) {
            let addition = try ledger.keep(dump)
            #expect(addition.added == 0 && addition.completed == 0 && addition.read > 0)
        }
        #expect(try ledger.records() == records)
        #expect(try TestFiles.read(folder.path) == bytes)
    }

    @Test("The order of the visits changes neither records, amounts, gaps nor ids", arguments: Maker.Kind.allCases)
    func order(_ kind: Maker.Kind) throws {
        var random = SeededGenerator(seed: 5)
        var maker = Maker(kind, idm: 0x0101_0312_3456_7892, seed: 11)
        maker.live(records: 150, from: start)
        let visits = LedgerMergeTests.visits(maker, &random)
        var results: [[String]] = []
        for _ in 0..<3 {
            let folder = try LedgerFolder()
            let ledger = try folder.open()
            for visit in visits.shuffled(using: &random) { try ledger.keep(maker.dump(after: visit)) }
            results.append(
                try ledger.records(LedgerFilter(cards: [kind.decoder])).map {
                    "\($0.uid) \($0.record.amount ?? -1) \(String(describing: $0.gapBefore))"
                })
        }
        #expect(results[0] == results[1] && results[1] == results[2])
    }

    @Test("After the first visit the amount of every record is known")
    func oldestAmount() throws {
        var maker = Maker(.transit, idm: 0x0101_0312_3456_7893, seed: 13)
        maker.live(records: 60, from: start)
        let ledger = try LedgerFolder().open()
        let first = try ledger.keep(maker.dump(after: 20))
        #expect((first.read, first.added) == (20, 20))
        #expect(try ledger.records().count { $0.record.amount == nil } == 1)
        let second = try ledger.keep(maker.dump(after: 40))
        #expect((second.read, second.added) == (20, 20))
        let kept = try ledger.records()
        #expect(kept.count { $0.record.amount == nil } == 1)
        #expect(kept.prefix(20).allSatisfy { $0.record.amount != nil })
        #expect(kept[19].hasDerivedAmount && kept[19].record.amount == maker.entries[20].amount)
    }

    @Test("An older visit that comes later fills the first amount")
    func olderVisitLater() throws {
        var maker = Maker(.transit, idm: 0x0101_0312_3456_7894, seed: 17)
        maker.live(records: 40, from: start)
        let ledger = try LedgerFolder().open()
        try ledger.keep(maker.dump(after: 40))
        let addition = try ledger.keep(maker.dump(after: 25))
        #expect((addition.added, addition.completed) == (15, 1))
        #expect(try ledger.gaps().isEmpty)
    }

    @Test("A counter that turns goes on", arguments: [Maker.Kind.nanaco, .waon], [false, true])
    func turn(_ kind: Maker.Kind, backwards: Bool) throws {
        var maker = Maker(kind, idm: 0x0101_0312_3456_7895, seed: 19, serial: 65_535 - 12)
        maker.live(records: 12, from: start)
        maker.setCounter(-1)
        maker.live(records: 12, from: start)
        let ledger = try LedgerFolder().open()
        let visits = stride(from: 2, through: 24, by: 2)
        for visit in backwards ? visits.reversed() : Array(visits) { try ledger.keep(maker.dump(after: visit)) }
        let kept = try ledger.records(LedgerFilter(cards: [kind.decoder]))
        #expect(kept.map(\.record.serial) == maker.entries.reversed().map(\.serial))
        #expect(try ledger.gaps().isEmpty)
        #expect(Set(kept.map(\.uid)).count == 24)
    }

    @Test("A card whose serials began again keeps both lives", arguments: [false, true])
    func reset(backwards: Bool) throws {
        var maker = Maker(.transit, idm: 0x0101_0312_3456_7896, seed: 23, serial: 900)
        maker.live(records: 20, from: start)
        maker.setCounter(899)
        maker.live(records: 30, from: start + 200)
        let ledger = try LedgerFolder().open()
        let dumps = [maker.dump(after: 20), maker.dump(after: 50)]
        var notices: [LedgerNotice] = []
        for dump in backwards ? dumps.reversed() : dumps { notices += try ledger.keep(dump).notices }
        let kept = try ledger.records(LedgerFilter(cards: ["transit"]))
        #expect(kept.count == 40)
        let balances = (maker.entries[..<20] + maker.entries[30...]).map(\.balance)
        #expect(kept.reversed().map(\.record.balance) == balances)
        #expect(notices.contains(.serialsWentBack(card: "0101031234567896")) != backwards)
        #expect(try ledger.gaps().map(\.gap.reason) == [.serialsWentBack])
        #expect(Set(kept.map(\.uid)).count == 40)
    }

    @Test("A file with the oldest record first gives what one with the newest first gives", arguments: [20, 2_000])
    func oldestFirst(_ count: Int) throws {
        var maker = Maker(.edy, idm: 0x0101_0312_3456_789C, seed: 43)
        maker.live(records: count, from: start)
        let (rising, falling) = (try LedgerFolder().open(), try LedgerFolder().open())
        #expect(try rising.keep(maker.dump(maker.entries)).added == count)
        #expect(try falling.keep(maker.dump(maker.entries.reversed())).added == count)
        let kept = try rising.records(LedgerFilter(cards: ["edy"]))
        #expect(kept.map(\.uid) == (try falling.records(LedgerFilter(cards: ["edy"])).map(\.uid)))
        #expect(kept.reversed().map(\.record.balance) == maker.entries.map(\.balance))
        #expect(try rising.gaps().isEmpty)
        #expect(try rising.keep(maker.dump(maker.entries.reversed())).added == 0)
    }

    @Test("Where no further era has room, records join the first, and the file stays sound")
    func noRoomForEras() throws {
        var maker = Maker(.edy, idm: 0x0101_0312_3456_789D, seed: 47)
        maker.live(records: 3, from: start)
        let folder = try LedgerFolder()
        try folder.open().keep(maker.dump([maker.entries[2]]))
        // As if many eras had gone before it.
        try DatabaseQueue(path: folder.path).write {
            try $0.execute(sql: "UPDATE record SET ord = 1 << 40 | ord & 65535")
        }
        let ledger = try folder.open()
        var entry = maker.entries[0]
        (entry.serial, entry.day) = (1_000, start - 100)
        #expect(try ledger.keep(maker.dump([entry])).added == 1)
        #expect(try folder.open().records().count == 2)
    }

    @Test("Equal records without serials keep ids of their own, also beside those that have such ids")
    func equalRecords() throws {
        var maker = Maker(.coop, idm: 0x0101_0312_3456_789E, seed: 53)
        maker.live(records: 1, from: start)
        let ledger = try LedgerFolder().open()
        let entry = try #require(maker.entries.first)
        for count in [3, 300, 600] { try ledger.keep(maker.dump(Array(repeating: entry, count: count))) }
        let ids = try ledger.records().map(\.uid)
        #expect(Set(ids).count == 600)
        let first = try #require(ids.min { $0.utf8.count < $1.utf8.count })
        #expect(Set(ids) == Set([first] + (2...600).map { "\(first)-\($0)" }))
    }

    @Test("A card whose serials have 24 bits is not taken for one whose 16 bits turned")
    func wideSerials() throws {
        let ledger = try LedgerFolder().open()
        for (serial, day) in [(70_000, "2024-05-01"), (4_500, "2024-06-01")] {
            let record = try ExampleCard.record(serial, day, .rail, -3_500, 40_000)
            let report = CardReport(kind: "kmt", name: LocalizedText("KMT", "KMT"), history: [record])
            try ledger.keep(report, of: ExampleCard.idm, source: LedgerSource(.card))
        }
        #expect(try ledger.gaps().map(\.gap.reason) == [.serialsWentBack])
    }

    @Test("Records with equal serials and different content are both kept and reported")
    func conflict() throws {
        var maker = Maker(.transit, idm: 0x0101_0312_3456_7897, seed: 29)
        maker.live(records: 20, from: start)
        let ledger = try LedgerFolder().open()
        try ledger.keep(maker.dump(after: 20))
        var window = Array(maker.entries.reversed())
        window[4].balance += 10
        let addition = try ledger.keep(maker.dump(window))
        #expect(addition.added == 1)
        #expect(addition.notices == [.sameSerial(card: "0101031234567897", count: 1)])
        let kept = try ledger.records()
        #expect(kept.count == 21)
        #expect(Set(kept.map(\.uid)).count == 21)
        #expect(try ledger.keep(maker.dump(window)).added == 0)
    }

    @Test("Equal records with different bytes are one record, reported once")
    func otherBytes() throws {
        var maker = Maker(.transit, idm: 0x0101_0312_3456_7898, seed: 31)
        maker.live(records: 20, from: start)
        let ledger = try LedgerFolder().open()
        try ledger.keep(maker.dump(after: 20))
        var dump = maker.dump(after: 20)
        var blocks = dump.systems[0].services[0].blocks
        let block = try #require(blocks[3])
        var bytes = block.bytes
        bytes[15] = 0x10
        _ = blocks.updateValue(try #require(Block(bytes)), forKey: 3)
        dump.systems[0].services[0].blocks = blocks
        #expect(try ledger.keep(dump).notices == [.otherBytes(card: "0101031234567898", count: 1)])
        let again = try ledger.keep(dump)
        #expect(again.added == 0 && again.notices.isEmpty)
    }

    @Test("Dates in the future are kept and reported, and reorder nothing")
    func future() throws {
        var maker = Maker(.transit, idm: 0x0101_0312_3456_7899, seed: 37)
        maker.live(records: 40, from: start)
        var window = Array(maker.entries[5..<25].reversed())
        window[7].day = 14_000
        let ledger = try LedgerFolder().open()
        let addition = try ledger.keep(maker.dump(window))
        #expect(addition.notices == [.futureDates(card: "0101031234567899", count: 1)])
        try ledger.keep(maker.dump(after: 40))
        let kept = try ledger.records(LedgerFilter(cards: ["transit"]))
        #expect(kept.map(\.record.serial) == maker.entries[5...].reversed().map(\.serial))
        #expect(try ledger.gaps().isEmpty)
    }

    @Test("Blocks that were not read leave a gap until a later visit reads them")
    func missingBlocks() throws {
        var maker = Maker(.transit, idm: 0x0101_0312_3456_789A, seed: 41)
        maker.live(records: 20, from: start)
        var dump = maker.dump(after: 20)
        dump.systems[0].services[0].blocks = dump.systems[0].services[0].blocks.filter { !(5...8).contains($0.number) }
        let ledger = try LedgerFolder().open()
        try ledger.keep(dump)
        let gap = try #require(try ledger.gaps().first)
        #expect(gap.gap.atLeast <= 4 && gap.gap.atMost ?? 0 >= 4)
        #expect(gap.gap.amount == maker.entries[11...15].reduce(0) { $0 + $1.amount })
        let addition = try ledger.keep(maker.dump(after: 20))
        #expect((addition.added, addition.completed) == (4, 1))
        #expect(try ledger.gaps().isEmpty)
        #expect(try ledger.records().dropLast().allSatisfy { $0.record.amount != nil })
    }

    @Test("A file that does not say its IDm joins the card whose records it has")
    func withoutIDm() throws {
        var maker = Maker(.transit, idm: 0x0101_0312_3456_789B, seed: 43)
        maker.live(records: 30, from: start)
        func lines(_ entries: some Sequence<Maker.Entry>) -> [UInt8] {
            Array(entries.flatMap(maker.blocks).map { $0.hexadecimal + "\n" }.joined().utf8)
        }
        let ledger = try LedgerFolder().open()
        try ledger.keep(maker.dump(after: 20))
        let result = try ledger.import(lines(maker.entries[10..<30].reversed()), name: "lines.txt")
        guard case .kept(let addition) = result else {
            Issue.record("\(result)")
            return
        }
        #expect((addition.read, addition.added, addition.cards) == (20, 10, ["010103123456789b"]))
        // Alone it is a card of its own, the same each time.
        let other = try LedgerFolder().open()
        _ = try other.import(lines(maker.entries[10..<30].reversed()), name: nil)
        _ = try other.import(lines(maker.entries[5..<25].reversed()), name: nil)
        #expect(try other.cards().map(\.records) == [25])
        #expect(try other.import(Array("no dump".utf8), name: nil) != result)
    }
}
