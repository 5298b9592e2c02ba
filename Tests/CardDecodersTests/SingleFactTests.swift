// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import NDEF
import Testing

@testable import CardDecoders

/// Single facts of single cards, each of which a small change to a decoder could break.
@Suite("Single facts")
struct SingleFactTests {
    @Test("A purse goes by its id and by the names of its brands, in any case")
    func names() {
        let found = ["transit", "SUICA", "はやかけん", "Rakuten Edy", "edy", "nosuch", ""].map {
            DecoderRegistry.standard.purse(named: $0)?.kind
        }
        #expect(found == ["transit", "transit", "transit", "edy", "edy", nil, nil])
    }

    @Test("Personal bytes are all bytes of all blocks, unless it says otherwise")
    func personalBytes() {
        let bytes = PersonalBytes(system: .transit, service: Dumps.history)
        #expect(bytes.blocks == 0...UInt16.max && bytes.bytes == 0..<16)
    }

    @Test("FeliCa Lite: the data format code and the names of the MAC blocks")
    func lite() throws {
        var blocks = BlockTable()
        blocks[0x82] = Block([UInt8](0..<16))
        blocks[0x91] = Block.zero
        let service = ServiceDump(code: ServiceCode(rawValue: 0x000B), state: .read, blocks: blocks)
        let dump = Dumps.card(.lite, [service])
        #expect(try FeliCaLiteDecoder().decode(dump).fields.first { $0.key == "mac" }?.value == "MAC_A")
        #expect(TagReport(dump)?.lite?.dataFormatCode == 0x0809)
    }

    @Test("A Type 2 Tag is protected where reading ended at its configuration, not where it ended behind it")
    func refusedConfiguration() throws {
        let product = try #require(Type2Product.named("NTAG213"))
        let page = try #require(product.configurationPage)
        for (closed, isProtected) in [(page - 1, true), (page, true), (page + 1, true), (page + 2, false)] {
            var memory = Type2Dump(pages: [3: [0xE1, 0x10, 0x12, 0]])
            memory.product = "NTAG213"
            memory.closedFrom = closed
            #expect((Type2Report(memory).configuration != nil) == isProtected, "\(closed)")
        }
    }

    @Test("An Edy of which only the purse was read has no day of issue")
    func edyWithoutNumber() throws {
        let purse = try Dumps.block("E8030000000000000000000000000000")
        let fields = try EdyDecoder().decode(Dumps.edy([], purse: purse)).fields
        #expect(!fields.contains { $0.key == "issueDate" })
    }

    @Test("Without its purse, the balance is that of the newest record")
    func newestRecords() throws {
        var nanaco = try CardFixture(name: "nanaco").dump()
        nanaco.systems[0].services.removeAll { $0.code == ServiceCode(rawValue: 0x5597) }
        let report = try NanacoDecoder().decode(nanaco)
        #expect(report.balances.first?.amount == report.history?.first?.balance && !report.balances.isEmpty)

        let stamp = (12 * 100 + 24) << 12 | (9 * 100 + 30)
        let record = [UInt8(stamp >> 16), UInt8(stamp >> 8 & 0xFF), UInt8(stamp & 0xFF), 0x10, 0, 0, 1, 0, 1, 0, 0, 1]
        let block = try #require(Block(record + [0x41, 0, 0, 100]))
        let rapica = Dumps.card(
            SystemCode(rawValue: 0x8194), [Dumps.service(ServiceCode(rawValue: 0x008F), [block])])
        let ride = try RapiCaDecoder().decode(rapica)
        #expect(ride.balances.first?.amount == ride.history?.first?.balance && !ride.balances.isEmpty)
    }

    @Test("A RapiCa whose day of issue was not read has the years of its records")
    func rapicaYears() throws {
        let stamp = (5 * 100 + 2) << 12 | (9 * 100 + 30)
        let record = [UInt8(stamp >> 16), UInt8(stamp >> 8 & 0xFF), UInt8(stamp & 0xFF), 0x10, 0, 0, 1, 0, 1, 0, 0, 1]
        let block = try #require(Block(record + [0x41, 0, 0, 100]))
        let attributes = try #require(Block([25, 5, 2, 9, 30] + [UInt8](repeating: 0, count: 11)))
        let dump = Dumps.card(
            SystemCode(rawValue: 0x8194),
            [
                Dumps.service(ServiceCode(rawValue: 0x004B), [attributes, .zero]),
                Dumps.service(ServiceCode(rawValue: 0x008F), [block]),
            ])
        #expect(try RapiCaDecoder().decode(dump).history?.first?.date?.description == "2025-05-02")
    }

    @Test("Rejects hours above 23", arguments: [0x85, 0xC5, 0x65] as [UInt8])
    func regionalHours(_ byte: UInt8) throws {
        let raw = try #require(Block([0x25, 0x21, byte, 0xE0, 0x00] + [UInt8](repeating: 1, count: 11)))
        let record = RegionalBusBlock(raw: raw, layout: .b, system: .transit).record
        #expect(record.time == nil && record.warnings.contains(.invalidTime))
    }

    @Test("A Type 2 Tag of which page 3 was read, and nothing behind it, is not formatted")
    func onlyPage3() {
        var dump = CardDump(card: CardIdentity(technology: .typeA))
        dump.type2 = Type2Dump(pages: [3: [0, 0, 0, 0]])
        #expect(TagReport(dump)?.ndef == .none(.notFormatted))
        dump.type2 = Type2Dump(pages: [4: [0, 0, 0, 0]])
        #expect(TagReport(dump)?.ndef == .none(.notRead))
    }

    @Test("The UID of a tag is in upper-case digits")
    func uid() {
        var dump = CardDump(card: CardIdentity(technology: .typeA))
        dump.type2 = Type2Dump(pages: [0: [0x04, 0xAB, 0xCD, 0xEA], 1: [0xEF, 0x01, 0x02, 0x03]])
        #expect(TagReport(dump)?.fields.first { $0.key == "uid" }?.value == "04ABCDEF010203")
    }

    @Test("Rejects hours above 23 in a nanaco record")
    func nanacoHour() throws {
        // 2011-03-12, hour 41, minute 5.
        let stamp = UInt32(11) << 21 | 3 << 17 | 12 << 12 | 41 << 6 | 5
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: stamp >> UInt32(24 - $0 * 8)) }
        let block = try #require(Block([0x47] + [UInt8](repeating: 0, count: 8) + bytes + [0, 1, 0]))
        let service = Dumps.service(ServiceCode(rawValue: 0x564F), [block])
        let record = try #require(try NanacoDecoder().decode(Dumps.card(.commonArea, [service])).history?.first)
        #expect(record.time == nil && record.date?.description == "2011-03-12")
    }

    @Test("A card without a history has no doubtful values")
    func noDoubt() throws {
        let block = try Dumps.block("0000000000000000000000E803000001")
        let dump = Dumps.card(.transit, [Dumps.service(Dumps.attribute, [block])])
        #expect(try !CyberneticsDecoder.transit.decode(dump).warnings.contains(.doubtfulValues))
    }

    @Test("Shows the part of a license file that was read before the card left")
    func lostLicense() throws {
        var whole = try LicenseVectors.wholeCard()
        for application in whole.applications.indices {
            for file in whole.applications[application].files.indices {
                whole.applications[application].files[file].state = .lost
            }
        }
        let report = try #require(LicenseDecoder.decode(whole))
        #expect(report.warnings.contains { $0.reason == .lost } && !report.fields.isEmpty)
    }

    @Test("A quoted cell may end the file")
    func lastQuote() throws {
        let rows = try StationFile(parsing: Array("0,3,13,JR東,中央,\"新宿\"".utf8)).rows
        #expect(rows.text.hasSuffix("新宿\n") && rows.count == 1)
    }

    @Test("A card without a balance says so of the start of what identifies it")
    func noBalance() {
        let error = #expect(throws: CardDecodingError.self) {
            try FeliCaLiteDecoder().balance(Dumps.card(.lite, []))
        }
        #expect(error?.block == 0x82 && error?.offset == 0)
    }

    @Test("Codes of stops end at 65535")
    func stopCodes() throws {
        let head = "operator\tstop\tcompany\tstop_name\n"
        var table = StationTable()
        table.add(try StationFile(parsing: Array((head + "65535\t65535\ta\tb\n").utf8)).rows)
        #expect(table.busStop(BusStopCode(area: 0, operatorCode: 0xFFFF, stop: 0xFFFF), on: nil)?.name == "b")
        #expect(throws: DocumentError.self) { try StationFile(parsing: Array((head + "1\t65536\ta\tb\n").utf8)) }
    }

    @Test("Records out of order are not told to stand twice")
    func outOfOrder() throws {
        func ride(_ serial: UInt8) throws -> Block {
            try #require(Block([0x16, 1, 0, 0, 0x16, 0x6C, 1, 2, 3, 4, 0x10, 0, 0, 0, serial, 0]))
        }
        let dump = Dumps.card(.transit, [Dumps.service(Dumps.history, [try ride(1), try ride(5)])])
        let report = try CyberneticsDecoder.transit.decode(dump)
        #expect(report.history?.count == 2 && !report.warnings.contains(.duplicateRecord))
    }

    @Test("The gate's machine has four digits in JSON")
    func gateMachine() throws {
        let report = try CyberneticsDecoder.transit.decode(try CardFixture.suica.dump())
        let event = try #require(report.gateEvents.first)
        let text = report.json(.english).compactText
        #expect(text.contains("\"device\":\"\(event.device)\",\"date\""))
    }

    @Test("The PIN that withheld files need is the first that was not presented")
    func missingPIN() {
        func report(_ pin1: CardPINState?, _ pin2: CardPINState?) -> Int? {
            var report = LicenseReport(kind: .license, fields: [], withheldFiles: [.domicile], warnings: [])
            (report.pin1, report.pin2) = (pin1, pin2)
            return report.missingPIN?.number
        }
        let accepted = CardPINState(triesLeft: 3, isVerified: true)
        let open = CardPINState(triesLeft: 3, isVerified: false)
        let refused = CardPINState(triesLeft: 2, isVerified: false, refusal: .wrong)
        #expect(report(nil, nil) == 1 && report(open, open) == 1 && report(accepted, open) == 2)
        #expect(report(accepted, refused) == 2 && report(refused, refused) == 1)
        #expect(LicenseWarning(file: .matters, reason: .lost).offset == 0)
    }

    @Test("Warnings are in their column of CSV, in the language of the table")
    func warnings() {
        let record = HistoryRecord(serial: 1, kind: .rail, warnings: [.serialGap, .invalidDate], raw: .zero)
        #expect(HistoryCSV(language: .english).cells(record, .yen).last == "serialGap; invalidDate")
        let words = [DecodingWarning.serialGap, .invalidDate].map(\.message.japanese).joined(separator: "; ")
        #expect(HistoryCSV(language: .japanese).cells(record, .yen).last == .text(words))
    }

    @Test("Skips a byte order mark; one known station shows the form of the codes")
    func stationTables() throws {
        let marked = try StationFile(parsing: [0xEF, 0xBB, 0xBF] + Array("0,3,13,JR東,中央,新宿\n".utf8))
        #expect(marked.codes == .decimal && marked.evidence == .knownPairs(1) && marked.rows.count == 1)
        let hex = try StationFile(parsing: Array("0,16,03,JR東,総武,浅草橋\n".utf8))
        #expect(hex.codes == .hex && hex.evidence == .knownPairs(1))
    }

    @Test("A nanaco's years have eleven bits")
    func nanacoYears() throws {
        let stamp = UInt32(1024 + 11) << 21 | 3 << 17 | 31 << 12
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: stamp >> UInt32(24 - $0 * 8)) }
        let block = try #require(Block([0x47] + [UInt8](repeating: 0, count: 8) + bytes + [0, 1, 0]))
        let service = Dumps.service(ServiceCode(rawValue: 0x564F), [block])
        let record = try #require(try NanacoDecoder().decode(Dumps.card(.commonArea, [service])).history?.first)
        #expect(record.date?.description == "3035-03-31")
    }

    @Test("On a nice-pass terminal of buses, actions 1 to 3 are rides", arguments: 0...15 as ClosedRange<UInt8>)
    func nicePassRides(_ action: UInt8) throws {
        var bits = RecordBits()
        bits.put(0x50 | Int(action), 80, 8)
        bits.put(100, 104, 16)
        let service = Dumps.service(ServiceCode(rawValue: 0x030F), [bits.block])
        let dump = Dumps.card(SystemCode(rawValue: 0x040F), [service])
        let record = try #require(try NicePassDecoder().decode(dump).history?.first)
        #expect(record.kind == ((1...3).contains(action) ? .bus : .other))
    }

    @Test("Two later entries of one day are in order")
    func entriesOfOneDay() throws {
        let entry = try #require(LicenseDecoder.decode(LicenseVectors.wholeCard())?.laterEntries.first?.field)
        let second = "71" + Hex.encode([UInt8(entry.raw.count)] + entry.raw)
        var files = try LicenseBadInputTests.files("sample")
        files[.laterEntries] = try Hex.decode(
            LicenseVectors.laterEntries.replacing("71007200", with: second + "7200"))
        let report = try LicenseBadInputTests.check(files)
        #expect(report.laterEntries.count == 2 && !report.warnings.contains { $0.reason == .outOfOrder })
    }

    @Test("A first row whose second code is none is a mistake, not a header")
    func noHeader() {
        #expect(throws: DocumentError.self) {
            try StationFile(parsing: Array("0,x,13,JR東,中央,新宿\n0,37,7,JR東,山手,渋谷\n".utf8))
        }
    }

    @Test("Both makers of a license, its version before any year, and what is behind its last item")
    func licenseItems() throws {
        var files = try LicenseBadInputTests.files("sample")
        files[.commonData] = try Hex.decode("450B3030381999060120120701" + "46020102")
        files[.laterEntries] = try Hex.decode(LicenseVectors.laterEntries + "9800")
        let report = try LicenseBadInputTests.check(files)
        #expect(report.edition?.version == "008" && report.edition?.issued?.description == "1999-06-01")
        #expect(
            JSONValue.object(report.json(.english)).compactText.contains(
                "{\"manufacturer\":\"01\",\"cryptographicFunction\":\"02\"}"))
        let unknown = report.warnings.filter { $0.reason.word == "unknownItem" }
        #expect(unknown.map(\.tag) == [0x98] && unknown.map(\.file) == [.laterEntries])
    }
}
