// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

@Suite("Published blocks of Rakuten Edy")
struct EdyVectorTests {
    @Test("Every field of every published record", arguments: ExpectedRecord.edy)
    func record(_ expected: ExpectedRecord) throws {
        let blocks = try ExpectedRecord.blocks(of: expected, in: ExpectedRecord.edy)
        let history = try #require(try EdyDecoder().decode(Dumps.edy(blocks)).history)
        #expect(history.count == blocks.count)
        let block = try expected.block()
        let record = try #require(history.first { $0.raw == block })
        #expect(record.date?.description == expected["date"])
        #expect(record.time?.description == expected["time"])
        #expect(record.kind.rawValue == expected["kind"])
        #expect(record.process?.hex == expected["process"])
        #expect(record.process?.name != nil)
        #expect(record.balance == expected["balance"].flatMap { Int($0) })
        #expect(record.amount == expected["amount"].flatMap { Int($0) })
        #expect(record.serial == expected["serial"].flatMap { Int($0) })
        #expect(record.warnings.isEmpty)
        #expect(record.terminal == nil && record.payment == nil && record.gate == nil)
        #expect(record.entry == nil && record.exit == nil)
    }

    @Test("The published number block gives bytes 2 to 9, and says that it is not decimal (P8-S0)")
    func number() throws {
        let block = try Dumps.block("0123456789ABCDEF0123456789ABCDEF")
        let report = try EdyDecoder().decode(Dumps.edy([], number: block))
        let number = try #require(report.fields.first { $0.key == "number" })
        #expect(number.value == "456789ABCDEF0123" && number.isPersonal)
        #expect(report.warnings == [.numberNotDecimal])
    }

    /// Two limits in block 1, big-endian; zero means no limit.
    @Test(
        "Limits are told where there are any",
        arguments: [
            ("0000000000000000", []), ("0000000100000000", ["chargeLimit 1"]), ("0000000000000001", ["balanceLimit 1"]),
            ("000061A80000C350", ["chargeLimit 25000", "balanceLimit 50000"]),
        ])
    func limits(_ head: String, _ expected: [String]) throws {
        let blocks = [try Dumps.block("00001122334455667788000000000000"), try Dumps.block(head + "0000000100000002")]
        let dump = Dumps.card(
            .commonArea, [Dumps.service(Dumps.edyNumber, blocks), Dumps.service(Dumps.edyHistory, [])])
        let fields = try EdyDecoder().decode(dump).fields
        #expect(fields.filter { $0.key.hasSuffix("Limit") }.map { "\($0.key) \($0.value)" } == expected)
        #expect(!fields.contains { $0.key == "issueDate" })
    }

    @Test("A card whose block of limits was not read has none")
    func noLimits() throws {
        let number = try Dumps.block("00001122334455667788000000000000")
        let fields = try EdyDecoder().decode(Dumps.edy([], number: number)).fields
        #expect(fields.map(\.key) == ["number"])
    }

    @Test("Balance and amount are read with all their bytes")
    func wideNumbers() throws {
        let purse = try Dumps.block("FEFFFFFF000000000000000000000000")
        let record = try Dumps.block("020000010000000000FFFFFFFFFFFFFE")
        let report = try EdyDecoder().decode(Dumps.edy([record], purse: purse))
        #expect(report.balances.map(\.amount) == [0xFFFF_FFFE])
        #expect(report.history?.first?.amount == 0x00FF_FFFF)
        #expect(report.warnings.isEmpty)
    }

    @Test("An unknown kind stays in the history, without an amount")
    func unknownKind() throws {
        let block = try #require(ExpectedRecord.edy.first).block().with(0, 0x35)
        let record = try #require(try EdyDecoder().decode(Dumps.edy([block])).history?.first)
        #expect(record.kind == .other)
        #expect(record.process == CodedValue(code: 0x35, name: nil))
        #expect(record.amount == nil)
        #expect(record.balance == 10_814)
    }

    @Test("A stamp with more seconds than a day has no time, but its day")
    func impossibleTime() throws {
        let block = try Dumps.block("20000001000151800000000100000001")
        let record = try #require(try EdyDecoder().decode(Dumps.edy([block])).history?.first)
        #expect(record.date?.description == "2000-01-01")
        #expect(record.time == nil)
        #expect(record.warnings == [.invalidTime])
    }

    @Test("An unused slot ends the history although its other bytes are not zero")
    func unusedSlot() throws {
        let used = try #require(ExpectedRecord.edy.first).block()
        let history = try EdyDecoder().decode(Dumps.edy([used, used.with(0, 0), used])).history
        #expect(history?.count == 1)
    }

    @Test("Ignores a common area without Edy's services")
    func onlyCommonArea() throws {
        let suica = try CardFixture.suica.dump()
        #expect(suica.system(.commonArea) != nil)
        #expect(!EdyDecoder().recognizes(suica))
        #expect(DecoderRegistry.standard.recognizing(suica).map(\.kind) == ["transit"])
        let refused = Dumps.card(.commonArea, [ServiceDump(code: Dumps.edyPurse, state: .refused(status: 0x01A6))])
        #expect(!EdyDecoder().recognizes(refused))
    }

    @Test("The number is a field of the report, and nowhere in balance or history")
    func numberIsPersonal() throws {
        let report = try EdyDecoder().decode(try CardFixture.edy.dump())
        let number = try #require(report.fields.first)
        #expect(number.value == "1234567890123456" && number.isPersonal && number.key == "number")
        #expect(!report.historyReport.debugText.contains(number.value))
        #expect(!report.balanceReport.json(.english, card: .invented).compactText.contains(number.value))
    }
}

extension HistoryReport? {
    fileprivate var debugText: String { self?.json(.english, card: .invented).compactText ?? "" }
}
