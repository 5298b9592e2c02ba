// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import NDEF
import Testing

@testable import CardDecoders

/// Values at the edges of their fields: highest bits, highest digits, all zeros.
@Suite("Edges of fields")
struct EdgeTests {
    private static func report(
        _ decoder: any CardDecoder, _ services: [(code: UInt16, blocks: [Block])]
    ) throws -> CardReport {
        let services = services.map { Dumps.service(ServiceCode(rawValue: $0.code), $0.blocks) }
        return try decoder.decode(Dumps.card(decoder.system, services))
    }

    @Test("Half of all running numbers are ahead, the other half behind")
    func halfOfAllNumbers() throws {
        func okica(_ newer: UInt8, _ older: UInt8) throws -> [DecodingWarning]? {
            let block = try Dumps.block("160100023A6EDC01DC1F010000000000")
            let blocks = [block.with(13, newer).with(14, older), block]
            return try Self.report(OkicaDecoder(), [(0x028F, blocks)]).history?.first?.warnings
        }
        #expect(try okica(0x7F, 0xFF) == [.serialGap] && okica(0x80, 0x00) == [.serialOrder])

        func transit(_ bytes: [UInt8]) throws -> [DecodingWarning]? {
            let block = try Dumps.block("16010002166CE33BE6210A0000000000")
            let newer = block.with(12, bytes[0]).with(13, bytes[1]).with(14, bytes[2])
            return try Self.report(CyberneticsDecoder.transit, [(0x090F, [newer, block])]).history?.first?.warnings
        }
        #expect(try transit([0x7F, 0xFF, 0xFF]) == [.serialGap] && transit([0x80, 0x00, 0x00]) == [.serialOrder])
    }

    @Test("Digits on a campus card are decimal, and not all of them are zero")
    func campusDigits() throws {
        func digits(_ hex: String) throws -> String? {
            let report = try Self.report(CampusCardDecoder.fcf, [(0x1A8B, [try Dumps.block("0000\(hex)")])])
            return report.fields.first { $0.key == "digits0" }?.value
        }
        let rest = "0000000000000000"
        #expect(try digits("393939393939" + rest) == "999999" && digits("313131313131" + rest) == "111111")
        #expect(try digits("3A3939393939" + rest) == nil && digits("303030303030" + rest) == nil)
    }

    @Test("A card of Dhaka keeps a record whose date is invalid, and says so")
    func dhakaDate() throws {
        let block = try Dumps.block("08420200FFFF28000100020064000000")
        let record = try #require(DhakaHistoryBlock(Block(block.bytes) ?? .zero)).record
        #expect(record.date == nil && record.warnings.contains(.invalidDate))
        #expect(DhakaHistoryBlock(block.with(4, 0x26).with(5, 0x21)) == nil)
    }

    @Test("An Edy's day of issue has fifteen bits")
    func edyIssue() {
        let stamp = UInt32(0x4000 + 1) << 17
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: stamp >> UInt32(24 - $0 * 8)) }
        let block = Block([UInt8](repeating: 0, count: 10) + bytes + [0, 0]) ?? .zero
        let fields = EdyCardInformation(Dumps.service(Dumps.edyNumber, [block])).fields
        #expect(fields.map(\.value) == [CalendarDate(daysSince2000: 0x4001).description])
    }

    @Test("The sum of a Type 3 Tag's attributes has two bytes, which it does not count")
    func attributeSum() {
        let sum = Block([UInt8](repeating: 0x20, count: 14) + [0x01, 0xC0]) ?? .zero
        #expect(NDEFAttributes(sum).isChecksumRight && !NDEFAttributes(sum.with(15, 0xC1)).isChecksumRight)
    }

    @Test("A nice-pass amount has twelve bits with a sign", arguments: [0, 1, 0x7FF, 0x800, 0x801, 0xFFF])
    func nicePassAmount(_ bits: Int) throws {
        var record = RecordBits()
        record.put(0xF000 | bits, 88, 16)
        let size = NicePassHistoryBlock(raw: record.block).size
        #expect(size == (bits < 0x800 ? bits : 0x1000 - bits) * 10)
    }

    @Test("OKICA: of a record without a time, only the warning of the time is dropped")
    func okicaWarnings() throws {
        let block = try Dumps.block("C7460000FFFFFFFF0000102700000100")
        let record = try #require(try Self.report(OkicaDecoder(), [(0x028F, [block])]).history?.first)
        #expect(record.warnings == [.invalidDate])
    }

    @Test("The second time of a bus ride has an hour of six bits, too")
    func secondHour() throws {
        var bits = RecordBits()
        bits.put(0x2521, 0, 16)
        bits.put(8, 16, 6)
        bits.put(33, 28, 6)
        bits.put(0x52, 72, 8)
        let record = RegionalBusBlock(raw: bits.block, layout: .a, system: .transit).record
        #expect(record.time == nil && record.entryTime == ClockTime(hour: 8, minute: 0))
        #expect(record.warnings == [.invalidTime])
    }

    @Test("The balance of a Co-op card without its purse is that of the newest record; an unused record has none")
    func coopBalance() throws {
        var card = try CardFixture(name: "coop").dump()
        let read = UniversityCoopDecoder().balanceRead
        card.systems[0].services.removeAll { $0.code == read.service }
        let report = try UniversityCoopDecoder().decode(card)
        #expect(report.balances.first?.amount == report.history?.first?.balance && !report.balances.isEmpty)
        let unused = try Self.report(UniversityCoopDecoder(), [(0x50CF, [.zero])])
        #expect(unused.balances.isEmpty)
    }

    @Test("An entry record without a station is none")
    func noEntryRecord() {
        let service = Dumps.service(ServiceCode(rawValue: 0x10CB), [.zero, .zero])
        #expect(CyberneticsEntryRecord.record(service) == nil)
        let one = Dumps.service(ServiceCode(rawValue: 0x10CB), [Block.zero.with(1, 1)])
        #expect(CyberneticsEntryRecord.record(one)?.station == 1)
    }

    @Test("A certificate on a My Number card may be of any length but 0")
    func certificateLengths() throws {
        func faults(_ bytes: [UInt8]) -> Int? {
            let file = FileDump(id: MyNumberFile.authenticationCertificate.id, state: .read, data: bytes)
            let application = MyNumberFile.authenticationCertificate.application
            let dump = CardDump(
                card: .typeB(pupi: nil), applications: [ApplicationDump(aid: application.aid, files: [file])])
            return MyNumberDecoder.decode(dump)?.faults.count
        }
        #expect(faults([0x30, 0x01, 0x05]) == 0 && faults([0x30, 0x00]) == 1)
    }

    @Test("Years run from 1 to 9999")
    func years() {
        let valid = [0, 1, 9999, 10_000].map { CalendarDate(year: $0, month: 1, day: 1) != nil }
        #expect(valid == [false, true, true, false])
    }

    @Test("The items of a licence that identify nobody")
    func impersonalItems() {
        let items = LicenseItem.allCases.filter { !$0.isPersonal }
        #expect(
            items == [
                .edition, .makers, .pinSetting, .characterSet, .issueDate, .colorClass, .expiryDate, .conditions,
                .commission, .categories, .laterEntriesFlag, .newCommission, .newCondition, .conditionLifted,
                .historyDate, .driverClass,
            ])
    }

    @Test("Memory configuration of FeliCa Lite is in block 88")
    func liteConfiguration() throws {
        func report(_ number: UInt16) -> LiteReport? {
            var blocks: BlockTable = [0: .zero]
            blocks[number] = Block([0xFE, 0xFF, 0xFF, 0x01] + [UInt8](repeating: 0, count: 12))
            let service = ServiceDump(code: ServiceCode(rawValue: 0x000B), state: .read, blocks: blocks)
            return TagReport(Dumps.card(.lite, [service]))?.lite
        }
        #expect(report(0x88)?.configuration?.readOnlyBlocks == [0] && report(0x89)?.configuration == nil)
    }

    @Test("A message that ends in pages behind the protection is not readable; before it, it was not read")
    func protectedMessage() {
        func state(_ pages: Int) -> TagReport.NDEFState? {
            var memory = Type2Dump(pages: [3: [0xE1, 0x10, 0x12, 0], 4: [3, 100, 0xD1, 1]])
            for page in 5..<UInt16(5 + pages) { memory.pages[page] = [0, 0, 0, 0] }
            memory.product = "NTAG213"
            memory.closedFrom = 20
            var dump = CardDump(card: CardIdentity(technology: .typeA))
            dump.type2 = memory
            return TagReport(dump)?.ndef
        }
        #expect(state(1) == .none(.notRead) && state(15) == .none(.notReadable))
    }
}
