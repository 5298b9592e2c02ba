// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Glibc
import TestSupport
import Testing

/// A commuter's year, read every four days: two rides on each working day, a charge when the money runs low.
struct Commuter {
    struct Record {
        var day: UInt16
        var serial: Int
        var amount: Int
        var balance: Int
        /// From home to the office, back, or `nil` for a charge.
        var isOut: Bool?
    }

    private(set) var records: [Record] = []
    static let fare = 220

    /// - Parameter start: the first day, in days since 2000, a Monday.
    init(days: Int, from start: Int) {
        var (balance, serial) = (1_000, 10)
        for day in 0..<days where day % 7 < 5 {
            let date = UInt16(start + day)
            if balance < 2 * Commuter.fare {
                balance += 3_000
                serial += 1
                records.append(Record(day: date, serial: serial, amount: 3_000, balance: balance))
            }
            for isOut in [true, false] {
                balance -= Commuter.fare
                serial += 2
                records.append(
                    Record(day: date, serial: serial, amount: -Commuter.fare, balance: balance, isOut: isOut))
            }
        }
    }

    /// The dump of the card on the evening of a day.
    func dump(onDay day: UInt16) -> CardDump {
        let blocks = records.filter { $0.day <= day }.suffix(20).reversed().map(Commuter.block)
        let service = ServiceDump(
            code: ServiceCode(rawValue: 0x090F), state: .read, blocks: BlockTable(zip(UInt16(0)..., blocks)))
        let (idm, pmm) = (IDm(rawValue: 0x0101_0312_0000_2026), PMm(rawValue: 0x0120_2204_2767_4EFF))
        let system = SystemDump(systemCode: SystemCode(rawValue: 3), idm: idm, pmm: pmm, services: [service])
        return CardDump(card: CardIdentity(technology: .felica, idm: idm, pmm: pmm), systems: [system])
    }

    private static func block(_ record: Record) -> Block {
        let date = CalendarDate(daysSince2000: record.day)
        let packed = (date.year - 2000) << 9 | date.month << 5 | date.day
        func low(_ value: Int, _ shift: Int) -> UInt8 { UInt8(truncatingIfNeeded: value >> shift) }
        let (home, office): ([UInt8], [UInt8]) = ([0xE3, 0x3B], [0xE6, 0x21])
        let places = record.isOut.map { $0 ? home + office : office + home } ?? home + [0, 0]
        var bytes: [UInt8] = record.isOut == nil ? [0x08, 0x02, 0, 0] : [0x16, 0x01, 0, 0]
        bytes += [low(packed, 8), low(packed, 0)] + places + [low(record.balance, 0), low(record.balance, 8)]
        bytes += [low(record.serial, 16), low(record.serial, 8), low(record.serial, 0), 0]
        return Block(bytes) ?? .zero
    }
}

@Suite("A commuter's year", .waits)
struct CommuterYearTests {
    /// 2026-01-05, a Monday, in days since 2000.
    private static let start = 9_501

    @Test("From the first history --keep to the claim and the page")
    func year() throws {
        let (data, commuter) = (try TemporaryFolder(), Commuter(days: 364, from: Self.start))
        var dumps: [String] = []
        for day in stride(from: 4, through: 364, by: 4) {
            let document = commuter.dump(onDay: UInt16(Self.start + day)).json.compactText
            dumps.append(document)
        }
        let week = commuter.records.count { $0.day <= UInt16(Self.start + 4) }
        // The first visit as a file, the rest with a dump a line.
        let first = try data.write(Array(dumps[0].utf8), as: "first.json")
        let visit = try Service.run(["history", first, "--keep"], data: data)
        #expect(visit.end == .exited(0) && visit.errors.contains("\(week) new records"), "\(visit.errors)")
        let rest = try data.write(Array((dumps.joined(separator: "\n") + "\n").utf8), as: "visits.jsonl")
        let kept = try Service.run(["ledger", "import", rest, "--lang", "ja"], data: data)
        #expect(kept.end == .exited(0), "\(kept.errors)")
        #expect(kept.output.hasPrefix("新しい履歴 \(commuter.records.count - week) 件"), "\(kept.output)")
        #expect(!kept.errors.contains("欠落"))
        // Every amount is known but that of the very first record.
        let table = try Service.run(["ledger", "sum", "--by", "kind", "--format", "csv"], data: data)
        let rides = commuter.records.count { $0.isOut != nil }
        #expect(table.output.contains("rail,rail,\(rides),1,\(-(rides - 1) * Commuter.fare),0,"), "\(table.output)")
        let named = try Service.run(["ledger", "name", "transit", "通勤"], data: data)
        #expect(named.output.contains("通勤"))
        // A month for the office: one line a working day, both ways.
        let path = data.path + "/claim.csv"
        let claim = try Service.run(
            ["ledger", "export", "--claim", "--month", "2026-06", "-o", path, "--header", "ja"], data: data)
        #expect(claim.end == .exited(0), "\(claim.errors)")
        let lines = String(decoding: try TestFiles.read(path), as: UTF8.self).split(separator: "\r\n")
        #expect(lines.first == "\u{FEFF}日付,路線,出発,到着,片道・往復,片道運賃,金額,通貨,カード,備考,ID")
        #expect(lines.count == 1 + 22)
        #expect(lines.dropFirst().allSatisfy { $0.contains(",青山一丁目,渋谷,往復,220,440,JPY,通勤,,") }, "\(lines[1])")
        // The page of the whole year.
        let page = try Service.run(["ledger", "report", "--lang", "ja"], data: data)
        #expect(page.output.contains("<html lang=\"ja\">") && page.output.contains("欠落はありません"))
        #expect(!page.output.contains("<script"))
    }

    @Test("A month without a visit is a gap with its count and money")
    func gap() throws {
        let (data, commuter) = (try TemporaryFolder(), Commuter(days: 60, from: Self.start))
        let before = try data.write(Array(commuter.dump(onDay: UInt16(Self.start + 4)).json.compactText.utf8), as: "1")
        let after = try data.write(Array(commuter.dump(onDay: UInt16(Self.start + 59)).json.compactText.utf8), as: "2")
        _ = try Service.run(["history", before, "--keep"], data: data)
        let kept = try Service.run(["history", after, "--keep"], data: data)
        #expect(kept.errors.contains("gap between 2026-01-09 and "), "\(kept.errors)")
        let gaps = try Service.run(["ledger", "gaps", "--json"], data: data)
        let report = JSONCursor(try JSONValue(parsing: Array(gaps.output.utf8)))
        let found = try report.required("gaps").list { gap throws(DocumentError) in
            (
                try gap.required("missingAtLeast").integer(in: 0...10_000),
                try gap.required("missingAtMost").integer(in: 0...10_000),
                try gap.required("amount").integer(in: -100_000...100_000)
            )
        }
        #expect(found.count == 1)
        let (least, most, amount) = try #require(found.first)
        // The window of the second visit begins with a record whose own amount is unknown: the money covers it.
        let old = try #require(commuter.records.last { $0.day <= UInt16(Self.start + 4) })
        let window = commuter.records.suffix(20)
        let missing =
            commuter.records.count - window.count - commuter.records.count { $0.day <= UInt16(Self.start + 4) }
        #expect((least...most).contains(missing))
        #expect(amount == window.first.map { $0.balance - old.balance })
    }
}
