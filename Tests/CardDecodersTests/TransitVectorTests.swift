// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

@Suite("Published blocks of transit cards")
struct TransitVectorTests {
    @Test("No row of the table is lost")
    func tableIsWhole() {
        #expect(ExpectedRecord.transit.count == 88)
        #expect(ExpectedRecord.edy.count == 9)
    }

    @Test("Every field of every published record", arguments: ExpectedRecord.transit)
    func record(_ expected: ExpectedRecord) throws {
        let blocks = try ExpectedRecord.blocks(of: expected, in: ExpectedRecord.transit)
        let report = try CyberneticsDecoder.transit.decode(Dumps.transit(blocks))
        let history = try #require(report.history)
        #expect(history.count == blocks.count)
        let block = try expected.block()
        let record = try #require(history.first { $0.raw == block })
        #expect(record.date?.description == expected["date"])
        #expect(record.time?.description == expected["time"])
        #expect(record.kind.rawValue == expected["kind"])
        #expect(record.terminal?.hex == expected["terminal"])
        #expect(record.process?.hex == expected["process"])
        #expect(record.payment?.hex == expected["payment"])
        #expect(record.gate?.hex == expected["gate"])
        #expect(record.entry?.code.tableText == expected["entry"])
        #expect(record.exit?.code.tableText == expected["exit"])
        #expect(record.device == expected["device"].flatMap { UInt16($0, radix: 16) })
        #expect(record.balance == expected["balance"].flatMap { Int($0) })
        #expect(record.amount == expected["amount"].flatMap { Int($0) })
        #expect(record.serial == expected["serial"].flatMap { Int($0) })
        #expect(record.warnings.map(\.rawValue) == expected.warnings)
    }

    @Test("Every code of the published records has a name in both languages", arguments: ExpectedRecord.transit)
    func names(_ expected: ExpectedRecord) throws {
        let record = try #require(
            CyberneticsDecoder.transit.decode(Dumps.transit([try expected.block()])).history?.first)
        for value in [record.terminal, record.process, record.payment, record.gate] {
            let name = try #require(value?.name)
            #expect(!name.english.isEmpty)
            #expect(!name.japanese.isEmpty)
        }
    }

    static let attributes = (try? TestFiles.table("Fixtures/blocks/transit-attribute.tsv")) ?? []

    @Test("Published attribute blocks give balance and transaction number")
    func attribute() throws {
        #expect(Self.attributes.count == 4)
        for row in Self.attributes {
            let block = try Dumps.block(row["hex"] ?? "")
            let balance = try #require(row["balance"].flatMap { Int($0) })
            let number = try #require(row["number"].flatMap { UInt16($0) })
            // A made record with the same balance and number: any other would be warned of.
            let record = try Dumps.block("160100021F6C01010102000000000000")
                .with(10, block[11]).with(11, block[12]).with(13, UInt8(number >> 8)).with(14, UInt8(number & 0xFF))
            let report = try CyberneticsDecoder.transit.balance(Dumps.transit([record], attribute: block))
            #expect(report.balances.map(\.amount) == [balance], "\(row["id"] ?? "")")
            #expect(report.warnings.isEmpty, "\(row["id"] ?? "")")
        }
    }

    @Test("An unused slot ends the history, whatever its other bytes and whatever follows")
    func unusedSlot() throws {
        let rows = ExpectedRecord.transit.filter { $0["card"] == "P7" }
        let used = try rows.map { try $0.block() }
        let unused = try Dumps.block("00FFFFFFFFFFFFFFFFFFFFFFFFFFFFFF")
        let history = try CyberneticsDecoder.transit.decode(Dumps.transit(used + [unused] + used)).history
        #expect(history?.count == used.count)
    }
}
