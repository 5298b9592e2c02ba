// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

@Suite("E-money")
struct PurseTests {
    private func card(_ services: [(UInt16, [String])]) throws -> CardDump {
        Dumps.card(
            .commonArea,
            try services.map { code, blocks in
                Dumps.service(ServiceCode(rawValue: code), try blocks.map { try Dumps.block($0) })
            })
    }

    @Test("A nanaco's balance is little-endian (P9-2)")
    func nanacoBalance() throws {
        let dump = try card([(0x5597, ["E8030000000000000000000000000000"])])
        #expect(try NanacoDecoder().balance(dump).balances.map(\.amount) == [1000])
    }

    @Test("A WAON's balance is little-endian (P9-3)")
    func waonBalance() throws {
        let dump = try card([(0x6817, ["10270000000000000000000000000000"])])
        #expect(try WaonDecoder().balance(dump).balances.map(\.amount) == [10_000])
    }

    @Test("Only the pairs in blocks 0 to 5 of a WAON are its history (P9-4)")
    func waonPairs() throws {
        let pair = ["00000000000000110000000000000000", "08000000000000000000000000000000"]
        let service = ServiceDump(
            code: ServiceCode(rawValue: 0x680B), state: .read,
            blocks: BlockTable(try zip([0, 1, 6, 7], pair + pair).map { (UInt16($0), try Dumps.block($1)) }))
        let report = try WaonDecoder().decode(Dumps.card(.commonArea, [service]))
        #expect(report.history?.count == 1)
        #expect(report.warnings.contains(.historyIncomplete))
        let record = try #require(report.history?.first)
        #expect(record.date == nil && record.warnings.contains(.invalidDate) && record.kind == .other)
    }

    @Test("Unknown kinds of nanaco, WAON and Co-op keep their record, without an amount (defect 4)")
    func unknownKinds() throws {
        for (folder, kind) in [("nanaco", CardKind.nanaco), ("coop", .universityCoop)] {
            let decoder = try #require(DecoderRegistry.standard.decoder(of: kind))
            let history = try #require(try decoder.decode(try CardFixture(name: folder).dump()).history)
            let unknown = try #require(history.first { $0.process?.name == nil })
            #expect(unknown.kind == .other && unknown.amount == nil && unknown.balance != nil && unknown.date != nil)
        }
        var dump = try CardFixture(name: "waon").dump()
        let place = try #require(
            dump.systems[0].services.firstIndex { $0.code == ServiceCode(rawValue: 0x680B) })
        let block = try #require(dump.systems[0].services[place].blocks[3])
        dump.systems[0].services[place].blocks[3] = block.with(1, 0x44)
        let history = try #require(try WaonDecoder().decode(dump).history)
        #expect(history.count == 3)
        #expect(history.first?.process == CodedValue(code: 0x44, name: nil))
        #expect(history.first?.amount == nil && history.first?.balance == 500)
    }

    @Test(
        "Kinds whose direction no source gives have an amount only where one stands alone",
        arguments: [0x08, 0x28, 0x7C] as [UInt8])
    func waonUnsigned(_ kind: UInt8) throws {
        var dump = try CardFixture(name: "waon").dump()
        let place = try #require(
            dump.systems[0].services.firstIndex { $0.code == ServiceCode(rawValue: 0x680B) })
        for number in [1, 3, 5] as [UInt16] {
            let block = try #require(dump.systems[0].services[place].blocks[number])
            dump.systems[0].services[place].blocks[number] = block.with(1, kind)
        }
        let history = try #require(try WaonDecoder().decode(dump).history)
        #expect(history.map(\.amount) == [nil, nil, 20_000])
        #expect(history.allSatisfy { $0.process?.name != nil })
    }

    @Test("WAON's records are ordered by serial with its wrap, not by place; a ring without an order says so")
    func waonOrder() throws {
        let history = try #require(try WaonDecoder().decode(try CardFixture(name: "waon").dump()).history)
        #expect(history.map(\.serial) == [1, 0, 65_535])
        let serials: [UInt8] = [0x00, 0x60, 0xC0]
        let blocks = serials.flatMap {
            ["00000000000000000000000000\(hex($0))0000", "00040000000000000000000000000000"]
        }
        let report = try WaonDecoder().decode(try card([(0x680B, blocks)]))
        #expect(report.warnings.contains(.serialOrder))
        #expect(report.history?.count == 3)
        #expect(report.balances.isEmpty)
        // Half the range apart, either could be the newer one.
        let apart = try WaonDecoder().decode(
            try card([(0x680B, ["00000000000000000000000000800000", blocks[1], blocks[0], blocks[1]])]))
        #expect(apart.warnings.contains(.serialOrder) && apart.history?.count == 2)
    }

    private func hex(_ byte: UInt8) -> String { CodedValue(code: byte, name: nil).hex }

    @Test("A WAON's amounts and balance reach to their last bit")
    func waonWidths() throws {
        // Years 31, month 12, day 31, 23:59, then eighteen, eighteen and seventeen ones.
        let report = try WaonDecoder().decode(
            try card([(0x680B, ["31323334353637383930313233FFFF00", "0010FE7EFBFFFFFFFFFFFFFC00000000"])]))
        let record = try #require(report.history?.first)
        #expect(record.serial == 65_535 && record.terminalID == "1234567890123")
        #expect(record.balance == 0x3FFFF)
        #expect(record.amount == 0x1FFFF - 0x3FFFF)
        #expect(record.rawHead != nil)
    }

    /// An Octopus whose chip does not decide the offset.
    private func octopus(_ block: String) throws -> CardDump {
        var dump = Dumps.card(.octopus, [Dumps.service(ServiceCode(rawValue: 0x0117), [try Dumps.block(block)])])
        dump.systems[0].idm = IDm(rawValue: 0)
        dump.systems[0].pmm = PMm(rawValue: 0x0332_4282_8247_AAFF)
        return dump
    }

    @Test("An Octopus has no one balance where the chip does not decide (P9-0, defect 4)")
    func octopus() throws {
        let dump = try octopus("00000164000000000000000000000021")
        let balance = try #require(try OctopusDecoder.octopus.balance(dump).balances.first)
        #expect(balance.amount == nil && balance.currency == .hongKongDollar)
        #expect(balance.candidates.map(\.amount) == [60, -1440])
        #expect(balance.candidates.first?.condition.english.contains("-35.00") == true)
    }

    @Test("A physical Octopus read in 2026 holds 57.00: offset 350 (N8)")
    func octopus2026() throws {
        let dump = try octopus("00000398000000000000000000000003")
        let candidates = try #require(try OctopusDecoder.octopus.balance(dump).balances.first?.candidates)
        #expect(candidates.map { Currency.hongKongDollar.text($0.amount) } == ["57.00", "42.00"])
    }

    @Test("Limits of an Octopus' number", arguments: [("00000000", -3500), ("FFFFFFFF", 42_949_669_450)])
    func octopusLimits(_ raw: String, _ expected: Int) throws {
        let dump = try octopus(raw + "000000000000000000000000")
        let candidates = try OctopusDecoder.octopus.balance(dump).balances.first?.candidates
        #expect(candidates?.first?.amount == expected)
    }

    @Test("The name of a QUICPay's holder is in no document")
    func holder() throws {
        let dump = try CardFixture(name: "quicpay").dump()
        for decoder in DecoderRegistry.standard.recognizing(dump) {
            let report = try decoder.decode(dump)
            #expect(!report.json(.japanese).compactText.lowercased().contains("hanako"))
            #expect(!report.json(.japanese).compactText.contains("4b415a415355"))
            #expect(throws: CardDecodingError.self) { try decoder.balance(dump) }
        }
    }

    @Test("Personal values pass one gate in a report")
    func redaction() throws {
        for (folder, number) in [
            ("nanaco", "7600123456789012"), ("waon", "6900123456789012"), ("coop", "012345678901"),
        ] {
            let dump = try CardFixture(name: folder).dump()
            let report = try #require(DecoderRegistry.standard.recognizing(dump).first).decode(dump)
            #expect(report.json(.english).compactText.contains(number))
            #expect(!report.json(.english, redact: { _ in "…" }).compactText.contains(number))
        }
    }
}
