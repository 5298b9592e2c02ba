// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

/// What terminal and process make of a transit record, as the project's facts list them.
@Suite("Codes of transit records")
struct RecordKindTests {
    private func record(_ terminal: UInt8, _ process: UInt8, payment: UInt8 = 0, gate: UInt8 = 0) throws
        -> HistoryRecord
    {
        let bytes: [UInt8] = [
            terminal, process, payment, gate, 0x2D, 0x64, 0x8F, 0x43, 0xD9, 0x52, 1, 0, 0, 0, 1, 0xA0,
        ]
        let block = Block(bytes)
        let dump = Dumps.transit([try #require(block)])
        return try #require(try CyberneticsDecoder.transit.decode(dump).history?.first)
    }

    struct Row: Sendable {
        let terminal: UInt8
        let process: UInt8
        let kind: RecordKind
    }

    /// Terminal and process, one byte each, and the kind that they make.
    static let codes: [RecordKind: [UInt16]] = [
        .rail: [0x1601, 0x1A06, 0x1613],
        .charge: [0x0802, 0x1614, 0x1615, 0x051F, 0xC749, 0x1610, 0x1617],
        .ticket: [0x0803, 0x0523],
        .adjustment: [0x0304, 0x0305, 0x0384, 0x0385, 0x1A08, 0x1609, 0x1619, 0x161A, 0x051B],
        .issue: [0x1207, 0x1211],
        .bus: [0x050C, 0x050D, 0x050F, 0x160D, 0x0501, 0x0566, 0x161C, 0x161D],
        .purchase: [0xC746, 0xC8C6, 0xC74A, 0xC74B, 0xC7CB, 0xC901, 0xCA01, 0x1646],
        .point: [0x1B48],
        .other: [0x1666, 0x7700, 0x1633],
    ]

    static let rows: [Row] = RecordKind.allCases.flatMap { kind in
        (codes[kind] ?? []).map { code in
            Row(terminal: UInt8(code >> 8), process: UInt8(code & 0xFF), kind: kind)
        }
    }

    @Test("No kind is left out")
    func everyKind() {
        #expect(Set(Self.codes.keys) == Set(RecordKind.allCases))
    }

    @Test("Kinds of records", arguments: rows)
    func kind(_ row: Row) throws {
        #expect(try record(row.terminal, row.process).kind == row.kind)
    }

    @Test("Purchases and bus rides have no stations although their bytes look like some")
    func noStation() throws {
        let purchase = try record(0xC7, 0x46)
        #expect(purchase.entry == nil && purchase.exit == nil && purchase.device?.rawValue == 0xD952)
        let bus = try record(0x05, 0x0F)
        #expect(bus.entry?.code == .busStop(BusStopCode(area: 2, operatorCode: 0x8F43, stop: 0xD952)))
        #expect(bus.exit == nil && bus.device == nil && bus.time == nil)
    }

    static let terminals: [UInt8] = [
        0x03, 0x04, 0x05, 0x07, 0x08, 0x09, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1D,
        0x1F,
        0x20, 0x21, 0x22, 0x23, 0x24, 0x34, 0x35, 0x36, 0x46, 0x48, 0xC7, 0xC8, 0xC9,
    ]
    static let processes: [UInt8] = [
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0C, 0x0D, 0x0F, 0x10, 0x11, 0x13, 0x14, 0x15, 0x17,
        0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x1F, 0x23, 0x33, 0x46, 0x48, 0x49, 0x4A, 0x4B,
    ]
    static let payments: [UInt8] = [0x00, 0x02, 0x0B, 0x0C, 0x0D, 0x13, 0x1E, 0x3F]
    static let gates: [UInt8] = [
        0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x0E, 0x0F, 0x12, 0x17, 0x1D, 0x21, 0x22, 0x25, 0x26,
    ]

    @Test("Exactly the listed codes have names, in both languages", arguments: UInt8.min...UInt8.max)
    func names(_ code: UInt8) throws {
        let byProcess = try record(0x16, code, payment: code, gate: code)
        #expect(complete(byProcess.process, code) == Self.processes.contains(code & 0x7F))
        #expect(complete(byProcess.payment, code) == Self.payments.contains(code))
        #expect(complete(byProcess.gate, code) == Self.gates.contains(code))
        guard code != 0 else { return }
        #expect(complete(try record(code, 0x01).terminal, code) == Self.terminals.contains(code))
    }

    /// Whether the value has the code and a name in two languages.
    private func complete(_ value: CodedValue?, _ code: UInt8) -> Bool {
        #expect(value?.code == code)
        guard let name = value?.name else { return false }
        return !name.english.isEmpty && name.japanese.unicodeScalars.contains { $0.value > 0x7F }
            || name.english == name.japanese
    }

    @Test(
        "Codes that sources read differently, or that one source names, say so",
        arguments: [
            (0x12, Doubt.disputed), (0x1C, .disputed), (0x20, .disputed), (0x22, .disputed), (0x23, .disputed),
            (0x24, .oneSource), (0x34, .oneSource), (0x35, .oneSource), (0xC8, .disputed), (0xC9, .oneSource),
            (0x16, nil), (0x1B, nil), (0xC7, nil),
        ] as [(UInt8, Doubt?)])
    func doubt(_ terminal: UInt8, _ doubt: Doubt?) throws {
        let record = try record(terminal, 0x13)
        #expect(record.terminal?.doubt == doubt && record.hasDoubt == (doubt != nil))
        let terminal = String(record.json(.english).compactText.split(separator: "\"process\"").first ?? "")
        #expect(terminal.contains("\"doubt\":\"\(doubt?.rawValue ?? "")\"") == (doubt != nil))
        let dump = Dumps.transit([record.raw])
        #expect(try CyberneticsDecoder.transit.decode(dump).warnings.contains(.doubtfulValues) == (doubt != nil))
    }

    @Test("Gates 03 and 04 are mirror images: a pass at one end, a fare at the other")
    func mirror() throws {
        #expect(try record(0x16, 0x01, gate: 0x03).gate?.name?.english == "pass entry, fare exit")
        #expect(try record(0x16, 0x01, gate: 0x04).gate?.name?.english == "fare entry, pass exit")
    }

    @Test("A bus process that raises the balance redeems points, according to one source")
    func redemption() throws {
        func newest(_ balance: UInt8, _ older: UInt8) throws -> HistoryRecord {
            let block = try record(0x05, 0x0D).raw
            let blocks = [block.with(10, balance).with(14, 2), block.with(10, older)]
            return try #require(try CyberneticsDecoder.transit.decode(Dumps.transit(blocks)).history?.first)
        }
        let points = try newest(90, 40)
        #expect(points.kind == .point && points.amount == 50 && points.process?.doubt == .oneSource)
        #expect(try newest(41, 40).kind == .point)
        let ride = try newest(40, 90)
        #expect(ride.kind == .bus && ride.amount == -50 && !ride.hasDoubt)
        #expect(try newest(40, 40).kind == .bus)
    }

    @Test("A flagged process has its own name where one is listed")
    func flagged() throws {
        let pairs: [(UInt8, UInt8)] = [(0x84, 0x04), (0x85, 0x05), (0xC6, 0x46), (0xCB, 0x4B)]
        for (flagged, plain) in pairs {
            #expect(try record(0x16, flagged).process?.name != record(0x16, plain).process?.name)
        }
        #expect(try record(0x16, 0x81).process?.name == record(0x16, 0x01).process?.name)
    }
}
