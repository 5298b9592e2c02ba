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
        #expect(CyberneticsEntryRecord.record(one)?.code.station == 1)
        let line = Dumps.service(ServiceCode(rawValue: 0x10CB), [Block.zero.with(0, 1)])
        #expect(CyberneticsEntryRecord.record(line)?.code.line == 1)
    }

    @Test("A certificate on a My Number card may be of any length but 0")
    func certificateLengths() throws {
        func faults(_ bytes: [UInt8]) -> Int? {
            let file = FileDump(id: MyNumberFile.authenticationCertificate.id, state: .read, data: bytes)
            let application = MyNumberFile.authenticationCertificate.application
            let dump = CardDump(
                card: .typeB(pupi: nil), applications: [ApplicationDump(aid: application.aid, files: [file])])
            return MyNumberDecoder.decode(dump)?.warnings.count
        }
        #expect(faults([0x30, 0x01, 0x05]) == 0 && faults([0x30, 0x00]) == 1)
    }

    @Test("Years run from 1 to 9999")
    func years() {
        let valid = [0, 1, 9999, 10_000].map { CalendarDate(year: $0, month: 1, day: 1) != nil }
        #expect(valid == [false, true, true, false])
    }

    @Test("The items of a license that identify nobody")
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

    @Test("An Edy's record has its day in fifteen bits, too")
    func edyRecord() throws {
        let stamp = UInt32(0x4000 + 1) << 17
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: stamp >> UInt32(24 - $0 * 8)) }
        let block = Block([0x20, 0, 0, 1] + bytes + [UInt8](repeating: 0, count: 8)) ?? .zero
        let record = try #require(try EdyDecoder().decode(Dumps.edy([block])).history?.first)
        #expect(record.date == CalendarDate(daysSince2000: 0x4001))
    }

    @Test("FeliCa Lite has fourteen user blocks; the IC tells Lite-S, where it is known")
    func lite() {
        func report(_ icType: UInt64, _ numbers: [UInt16]) -> LiteReport? {
            let blocks = BlockTable(numbers.map { ($0, Block.zero) })
            let service = ServiceDump(code: ServiceCode(rawValue: 0x000B), state: .read, blocks: blocks)
            var dump = Dumps.card(.lite, [service])
            dump.card.pmm = PMm(rawValue: icType << 48)
            return TagReport(dump)?.lite
        }
        #expect(report(0x00F0, [12, 13, 14])?.userBlocks == [12, 13])
        let types: [UInt64] = [0x00F0, 0x00F1, 0x00F2, 0x00F3]
        #expect(types.map { report($0, [0])?.isLiteS } == [false, true, true, false])
        #expect(types.map { report($0, [0, 0x90])?.isLiteS } == [false, true, true, true])
    }

    @Test("The version of a card key is in upper-case digits; who issued the card is not personal")
    func liteFields() throws {
        let id = Block([UInt8](repeating: 0, count: 8) + [0x00, 0x78] + [UInt8](repeating: 0, count: 6)) ?? .zero
        let version = Block([0xAB, 0xCD] + [UInt8](repeating: 0, count: 14)) ?? .zero
        let service = ServiceDump(
            code: ServiceCode(rawValue: 0x000B), state: .read, blocks: [0x82: id, 0x86: version])
        let fields = try FeliCaLiteDecoder().decode(Dumps.card(.lite, [service])).fields
        #expect(fields.first { $0.key == "keyVersion" }?.value == "ABCD")
        let issuer = try #require(fields.first { $0.key == "issuer" })
        #expect(issuer.value == "Aime" && !issuer.isPersonal)
    }

    @Test("RapiCa's month and day have twelve bits")
    func rapicaMonth() throws {
        let packed = 2048 + 101
        let block = Block([UInt8(packed >> 4), UInt8(packed & 0xF) << 4] + [UInt8](repeating: 0, count: 14))
        #expect(RapiCaHistoryBlock(raw: try #require(block)).monthDay == nil)
    }

    @Test("WAON's records are in order whatever their numbers", arguments: [0, 0x5000, 0x7FFF, 0xFFFE] as [UInt16])
    func waonOrder(_ start: UInt16) throws {
        let numbers = [start &+ 1, start &+ 2, start]
        let blocks = numbers.flatMap { number -> [Block] in
            var (first, second) = (RecordBits(), RecordBits())
            first.put(0x41, 0, 8)
            first.put(Int(number), 104, 16)
            second.put(0x04, 8, 8)
            return [first.block, second.block]
        }
        let service = Dumps.service(ServiceCode(rawValue: 0x680B), blocks)
        let report = try WaonDecoder().decode(Dumps.card(.commonArea, [service]))
        #expect(report.history?.map(\.serial) == [2, 1, 0].map { Int(start &+ $0) })
        #expect(!report.warnings.contains(.serialOrder))
    }

    @Test("A message of a Type 3 Tag may reach to block 65535")
    func longestType3() throws {
        var attributes: [UInt8] = [0x10, 4, 1, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1, 0x0F, 0xFF, 0xF0]
        let sum = attributes.reduce(0) { $0 + Int($1) }
        attributes += [UInt8(sum >> 8), UInt8(sum & 0xFF)]
        let first = try #require(Block(attributes))
        let blocks = BlockTable((0...UInt16.max).map { ($0, $0 == 0 ? first : Block.zero) })
        let service = ServiceDump(code: ServiceCode(rawValue: 0x000B), state: .read, blocks: blocks)
        guard case .message(let bytes, _, _)? = TagReport(Dumps.card(.ndef, [service]))?.ndef else {
            Issue.record("there is no message")
            return
        }
        #expect(bytes.count == 0xFFFF * 16)
    }

    @Test("A hole in the gate log ends it for the rides: the passage behind it may not be the next")
    func gateLogHole() throws {
        let rides = try ["16010002166CE33BE6210A000001E300", "16010002166BE336E338AA000001E100"].map {
            try Dumps.block($0)
        }
        let exit = try Dumps.block("2000E6212005166C1252A00000000000")
        let entry = try Dumps.block("A000E33B2012166C1242000000000000")
        func times(_ log: BlockTable) throws -> [ClockTime?] {
            let gates = ServiceDump(code: ServiceCode(rawValue: 0x108F), state: .lost, blocks: log)
            let dump = Dumps.card(.transit, [Dumps.service(Dumps.history, rides), gates])
            let ride = try #require(try CyberneticsDecoder.transit.decode(dump).history?.first)
            return [ride.entryTime, ride.time]
        }
        let (at, before) = (ClockTime(hour: 12, minute: 52), ClockTime(hour: 12, minute: 42))
        #expect(try times([0: exit, 1: entry]) == [before, at] && times([0: exit, 2: entry]) == [nil, at])
    }

    @Test("Dates of nines, and warnings of both date and time")
    func nines() {
        #expect(CalendarDate("1999-09-29") == CalendarDate(year: 1999, month: 9, day: 29))
        #expect(DecodingWarning.invalid(nil, nil) == [.invalidDate, .invalidTime])
    }

    @Test("Only the highest bit of its kind makes a passage an entry", arguments: [0x01, 0x21, 0x7F, 0x80, 0xFF])
    func entries(_ kind: UInt8) throws {
        let block = try Dumps.block("2000E6212005166C1252A00000000000").with(0, kind)
        let report = try Self.report(CyberneticsDecoder.transit, [(0x090F, []), (0x108F, [block])])
        #expect(report.gateEvents.map(\.isEntry) == [kind >= 0x80])
    }

    @Test("On a My Number card a category is held with 01, not with 00, and unknown with anything else")
    func heldCategories() throws {
        var files = try LicenseBadInputTests.files("my-number-licence")
        let matters = files[.myNumberMatters] ?? []
        func held(_ byte: UInt8) throws -> Bool?? {
            let item = LicenseRecordList(matters, of: .myNumberMatters).records.first { $0.tag == 0xEC }
            let place = try #require(item?.offset) + 2
            files[.myNumberMatters]?[place] = byte
            return try LicenseBadInputTests.check(files).categories.first { $0.id == "large" }?.isHeld
        }
        #expect(try held(1) == .some(true) && held(0) == .some(false))
        #expect(try held(2) == .some(nil) && held(0xFF) == .some(nil))
    }
}
