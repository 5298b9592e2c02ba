// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

/// Records that are written here field by field, from the published tables of their bits, and read by the decoders.
///
/// Every field gets any value, so that each of its bits is seen at its place and with its weight.
@Suite("The fields of a record are where the tables say")
struct LayoutTests {
    private static func low(_ value: Int, _ bits: Int) -> Int { max(1, value & (1 << bits - 1)) }

    /// Calls `check` for many records with the newest record that a decoder makes of a block.
    private func each(
        _ decoder: any CardDecoder, _ service: UInt16, _ write: (RecordValues, inout RecordBits) -> Void,
        _ check: (RecordValues, HistoryRecord) -> Void
    ) throws {
        var random = SeededGenerator(seed: UInt64(service))
        for _ in 0..<60 {
            let values = RecordValues(&random)
            var bits = RecordBits()
            write(values, &bits)
            let service = Dumps.service(ServiceCode(rawValue: service), [bits.block])
            let report = try decoder.decode(Dumps.card(decoder.system, [service]), stations: NoStationNames())
            let record = try #require(report.history?.first)
            #expect(record.raw == bits.block)
            check(values, record)
        }
    }

    private static func local(_ record: Place?) -> LocalStopCode? {
        if case .local(let code)? = record?.code { code } else { nil }
    }

    @Test func edy() throws {
        try each(EdyDecoder(), 0x170F) { values, bits in
            bits.put(0x20, 0, 8)
            bits.put(values.one, 8, 24)
            bits.put(values.days, 32, 15)
            bits.put(values.seconds, 47, 17)
            bits.put(values.two, 64, 32)
            bits.put(values.three, 96, 32)
        } _: { values, record in
            #expect(record.serial == values.one & 0xFF_FFFF && record.kind == .purchase)
            #expect(record.date == values.date)
            #expect(record.time == ClockTime(hour: values.hour, minute: values.minute, second: values.second))
            #expect(record.amount == -values.two && record.balance == values.three)
        }
    }

    @Test func nanaco() throws {
        try each(NanacoDecoder(), 0x564F) { values, bits in
            bits.put(0x47, 0, 8)
            bits.put(values.one, 8, 32)
            bits.put(values.two, 40, 32)
            bits.put(values.year - 2000, 72, 11)
            bits.put(values.month, 83, 4)
            bits.put(values.day, 87, 5)
            bits.put(values.hour, 92, 6)
            bits.put(values.minute, 98, 6)
            bits.put(values.three, 104, 16)
        } _: { values, record in
            #expect(record.amount == -values.one && record.balance == values.two && record.kind == .purchase)
            #expect(record.date == values.date && record.time == values.time)
            #expect(record.serial == values.three & 0xFFFF)
        }
    }

    @Test func waon() throws {
        var random = SeededGenerator(seed: 0x680B)
        for _ in 0..<60 {
            let values = RecordValues(&random)
            var (first, second) = (RecordBits(), RecordBits())
            for (place, letter) in "TERMINAL-0123".utf8.enumerated() { first.put(Int(letter), place * 8, 8) }
            first.put(values.one, 104, 16)
            second.put(0x04, 8, 8)
            second.put(values.year - 2005, 16, 5)
            second.put(values.month, 21, 4)
            second.put(values.day, 25, 5)
            second.put(values.hour, 30, 5)
            second.put(values.minute, 35, 6)
            second.put(values.two, 41, 18)
            second.put(values.three, 59, 18)
            second.put(values.four, 77, 17)
            let service = Dumps.service(ServiceCode(rawValue: 0x680B), [first.block, second.block])
            let report = try WaonDecoder().decode(Dumps.card(.commonArea, [service]))
            let record = try #require(report.history?.first)
            #expect(record.serial == values.one & 0xFFFF && record.terminalID == "TERMINAL-0123")
            #expect(record.date == values.date && record.time == values.time && record.kind == .purchase)
            #expect(record.balance == values.two & 0x3FFFF)
            #expect(record.amount == values.four & 0x1FFFF - values.three & 0x3FFFF)
        }
    }

    @Test func universityCoop() throws {
        try each(UniversityCoopDecoder(), 0x50CF) { values, bits in
            bits.putDecimal(values.year * 10_000 + values.month * 100 + values.day, byte: 0, 4)
            bits.putDecimal(values.hour * 10_000 + values.minute * 100 + values.second, byte: 4, 3)
            bits.put(0x05, 56, 8)
            bits.putDecimal(values.one % 1_000_000, byte: 8, 3)
            bits.putDecimal(values.two % 1_000_000, byte: 11, 3)
        } _: { values, record in
            #expect(record.date == values.date)
            #expect(record.time == ClockTime(hour: values.hour, minute: values.minute, second: values.second))
            #expect(record.amount == -(values.one % 1_000_000) && record.balance == values.two % 1_000_000)
        }
    }

    @Test func transitRail() throws {
        try each(CyberneticsDecoder.transit, 0x090F) { values, bits in
            bits.put(0x16, 0, 8)
            bits.put(0x01, 8, 8)
            bits.put(values.four, 16, 16)
            bits.put(values.packedDate, 32, 16)
            bits.put(Self.low(values.one, 16), 48, 16)
            bits.put(Self.low(values.two, 16), 64, 16)
            bits.putLittle(values.three, byte: 10, 2)
            bits.put(values.one >> 8, 96, 24)
            bits.put(values.two >> 28, 120, 4)
        } _: { values, record in
            let areas = (UInt8(values.two >> 30 & 3), UInt8(values.two >> 28 & 3))
            let (entry, exit) = (Self.low(values.one, 16), Self.low(values.two, 16))
            let codes = [(areas.0, entry), (areas.1, exit)].map { area, code in
                PlaceCode.station(StationCode(area: area, line: UInt8(code >> 8), station: UInt8(code & 0xFF)))
            }
            #expect([record.entry?.code, record.exit?.code] == codes)
            #expect(record.terminal?.code == 0x16 && record.process?.code == 0x01 && record.kind == .rail)
            #expect(record.payment.map { Int($0.code) } == values.four >> 8 & 0xFF)
            #expect(record.gate.map { Int($0.code) } == values.four & 0xFF)
            #expect(record.date == values.date && record.time == nil && record.device == nil)
            #expect(record.balance == values.three & 0xFFFF && record.serial == values.one >> 8 & 0xFF_FFFF)
        }
    }

    @Test func transitPurchase() throws {
        try each(CyberneticsDecoder.transit, 0x090F) { values, bits in
            bits.put(0xC7, 0, 8)
            bits.put(0x46, 8, 8)
            bits.put(values.packedDate, 32, 16)
            bits.put(values.hour, 48, 5)
            bits.put(values.minute, 53, 6)
            bits.put(values.four, 59, 5)
            bits.put(values.two, 64, 16)
            bits.putLittle(values.three, byte: 10, 2)
            bits.put(values.one, 96, 24)
        } _: { values, record in
            #expect(record.date == values.date && record.time == values.time && record.kind == .purchase)
            #expect(record.device.map { Int($0.rawValue) } == values.two & 0xFFFF)
            #expect(record.entry == nil && record.exit == nil)
        }
    }

    @Test func transitGatesTicketsAndEntry() throws {
        var random = SeededGenerator(seed: 0x108F)
        for _ in 0..<60 {
            let values = RecordValues(&random)
            var (gate, ticket, entry, passage) = (RecordBits(), RecordBits(), RecordBits(), RecordBits())
            gate.put(0xA0, 0, 8)
            gate.put(values.one, 8, 24)
            gate.put(values.two, 32, 16)
            gate.put(values.packedDate, 48, 16)
            gate.putDecimal(values.hour * 100 + values.minute, byte: 8, 2)
            gate.putLittle(values.three, byte: 10, 2)
            ticket.put(Self.low(values.one, 32), 0, 32)
            ticket.put(values.packedDate, 32, 16)
            ticket.put(values.hour, 48, 5)
            ticket.put(values.minute, 53, 6)
            ticket.put(values.two, 64, 16)
            ticket.put(values.three, 80, 32)
            entry.put(Self.low(values.one, 16), 0, 16)
            passage.put(values.packedDate, 0, 16)
            passage.putDecimal(values.hour * 100 + values.minute, byte: 2, 2)
            passage.put(values.two, 32, 16)
            passage.putDecimal(values.minute % 24 * 100 + values.second, byte: 7, 2)
            passage.put(values.three, 72, 16)
            let services = [
                (0x108F, [gate.block]), (0x10CB, [entry.block, passage.block]), (0x184B, [.zero, ticket.block]),
            ].map { Dumps.service(ServiceCode(rawValue: $0), $1) }
            let dump = Dumps.card(.transit, services + [Dumps.service(Dumps.attribute, [.zero])])
            let report = try CyberneticsDecoder.transit.decode(dump)
            let event = try #require(report.gateEvents.first)
            #expect(event.kind.code == 0xA0 && Int(event.intermediate) == values.one >> 16 & 0xFF)
            #expect(Int(event.code.line) << 8 | Int(event.code.station) == values.one & 0xFFFF)
            #expect(Int(event.device.rawValue) == values.two & 0xFFFF && event.amount == values.three & 0xFFFF)
            #expect(event.date == values.date && event.time == values.time)
            let paid = try #require(report.tickets.first)
            #expect(Int(paid.from.rawValue) << 16 | Int(paid.to.rawValue) == Self.low(values.one, 32))
            #expect(paid.expiry == values.date && paid.issued == values.time)
            #expect(Int(paid.kind) == values.two >> 8 & 0xFF && paid.price == (values.two & 0xFF) * 10)
            #expect(Int(paid.device.rawValue) << 16 | Int(paid.checkedAt.rawValue) == values.three)
            let record = try #require(report.entryRecord)
            #expect(Int(record.code.line) << 8 | Int(record.code.station) == Self.low(values.one, 16))
            #expect(record.intermediate?.date == values.date && record.intermediate?.entryTime == values.time)
            #expect(record.intermediate.map { Int($0.entryStation.rawValue) } == values.two & 0xFFFF)
            #expect(record.intermediate?.exitTime == ClockTime(hour: values.minute % 24, minute: values.second))
            #expect(record.intermediate.map { Int($0.exitStation.rawValue) } == values.three & 0xFFFF)
        }
    }

    @Test func okica() throws {
        try each(OkicaDecoder(), 0x028F) { values, bits in
            bits.put(0x16, 0, 8)
            bits.put(0x01, 8, 8)
            bits.put(values.packedDate, 32, 16)
            bits.put(Self.low(values.one, 16), 48, 16)
            bits.put(Self.low(values.two, 16), 64, 16)
            bits.putLittle(values.three, byte: 10, 3)
            bits.put(values.four, 104, 16)
            bits.put(values.four >> 28, 120, 4)
        } _: { values, record in
            #expect(record.serial == values.four & 0xFFFF && record.balance == values.three & 0xFF_FFFF)
            #expect(record.date == values.date)
            let (entry, exit) = (Self.local(record.entry), Self.local(record.exit))
            #expect([entry?.area, exit?.area] == [UInt8(values.four >> 30 & 3), UInt8(values.four >> 28 & 3)])
            #expect([entry?.stop, exit?.stop] == [values.one, values.two].map { UInt32(Self.low($0, 16)) })
        }
    }

    @Test func regionalBuses() throws {
        try each(ToyamaDecoder(), 0x898F) { values, bits in
            bits.put(values.packedDate, 0, 16)
            bits.put(values.minute % 24, 16, 6)
            bits.put(values.second, 22, 6)
            bits.put(values.hour, 28, 6)
            bits.put(values.minute, 34, 6)
            bits.put(Self.low(values.one, 16), 40, 16)
            bits.put(Self.low(values.two, 16), 56, 16)
            bits.put(0x52, 72, 8)
            bits.put(values.three, 80, 16)
            bits.put(values.four, 112, 16)
        } _: { values, record in
            #expect(record.date == values.date && record.time == values.time && record.kind == .bus)
            #expect(record.entryTime == ClockTime(hour: values.minute % 24, minute: values.second))
            let stops = [record.entry, record.exit].map { Self.local($0)?.stop }
            #expect(stops == [values.one, values.two].map { UInt32(Self.low($0, 16)) })
            #expect(record.amount == -(values.three & 0xFFFF) && record.balance == values.four & 0xFFFF)
            #expect(record.terminal?.code == 5 && record.process?.code == 2)
        }
        try each(AyucaDecoder(), 0x898F) { values, bits in
            bits.put(values.packedDate, 0, 16)
            bits.put(values.hour, 16, 6)
            bits.put(values.minute, 22, 6)
            bits.put(Self.low(values.one, 16), 32, 16)
            bits.put(Self.low(values.two, 16), 48, 16)
            bits.put(0x53, 64, 8)
            bits.put(values.three, 72, 16)
            bits.put(values.four, 88, 16)
        } _: { values, record in
            #expect(record.date == values.date && record.time == values.time && record.kind == .bus)
            let stops = [record.entry, record.exit].map { Self.local($0)?.stop }
            #expect(stops == [values.one, values.two].map { UInt32(Self.low($0, 16)) })
            #expect(record.amount == -(values.three & 0xFFFF) && record.balance == values.four & 0xFFFF)
            #expect(record.terminal?.code == 5 && record.process?.code == 3)
        }
    }

    @Test(arguments: [1, 4]) func rapica(_ company: Int) throws {
        // Iwasaki's stops begin a byte later.
        let bit = company == 4 ? 40 : 32
        try each(RapiCaDecoder(), 0x008F) { values, bits in
            bits.put(values.month * 100 + values.day, 0, 12)
            bits.put(values.hour * 100 + values.minute, 12, 12)
            bits.put(company, 24, 4)
            bits.put(Self.low(values.one, 24), bit, 24)
            bits.put(values.two, bit + 24, 16)
            bits.put(0x41, 96, 8)
            bits.put(values.three, 104, 24)
        } _: { values, record in
            #expect(record.partial == PartialMoment(month: values.month, day: values.day))
            #expect(record.time == values.time && record.kind == .bus && record.balance == values.three & 0xFF_FFFF)
            let stop = Self.local(record.exit)
            #expect(stop?.stop == UInt32(Self.low(values.one, 24)) && stop?.operatorCode == UInt16(company))
            #expect(stop?.line == UInt16(values.two & 0xFFFF) && record.entry == nil)
        }
    }

    @Test func nicePass() throws {
        try each(NicePassDecoder(), 0x030F) { values, bits in
            bits.put(values.packedDate, 0, 16)
            bits.put(values.hour * 6 + values.minute / 10, 16, 8)
            bits.put(values.one, 24, 16)
            bits.put(Self.low(values.two, 20), 40, 20)
            bits.put(Self.low(values.three, 20), 60, 20)
            bits.put(0x52, 80, 8)
            bits.put(values.four, 104, 16)
        } _: { values, record in
            #expect(record.date == values.date && record.kind == .bus)
            #expect(record.time == ClockTime(hour: values.hour, minute: values.minute / 10 * 10))
            #expect(
                record.device.map { Int($0.rawValue) } == values.one & 0xFFFF && record.balance == values.four & 0xFFFF)
            let stops = [record.entry, record.exit].map { Self.local($0)?.stop }
            #expect(stops == [values.two, values.three].map { UInt32(Self.low($0, 20)) })
            #expect(record.terminal?.code == 5 && record.process?.code == 2)
        }
    }

    @Test func kmt() throws {
        try each(KMTDecoder(), 0x200F) { values, bits in
            bits.put(values.days * 86_400 + values.seconds, 0, 32)
            bits.put(values.one, 32, 32)
            bits.put(Self.low(values.two, 16), 64, 16)
            bits.put(1, 96, 8)
            bits.put(values.three, 104, 24)
        } _: { values, record in
            #expect(record.date == values.date && record.kind == .rail)
            #expect(record.time == ClockTime(hour: values.hour, minute: values.minute, second: values.second))
            #expect(record.amount == -values.one && record.serial == values.three & 0xFF_FFFF)
            #expect(Self.local(record.exit)?.stop == UInt32(Self.low(values.two, 16)) && record.entry == nil)
        }
    }

    @Test func dhaka() throws {
        try each(DhakaDecoder(), 0x220F) { values, bits in
            bits.put(0x0852_1000, 0, 32)
            bits.put(values.packedDate, 32, 16)
            bits.put(values.hour, 48, 5)
            bits.put(Self.low(values.one, 8), 64, 8)
            bits.put(Self.low(values.two, 8), 80, 8)
            bits.putLittle(values.three, byte: 11, 3)
        } _: { values, record in
            #expect(record.date == values.date && record.partial == PartialMoment(hour: values.hour))
            #expect(record.kind == .rail && record.balance == (values.three & 0xFF_FFFF) * 100)
            let stops = [record.entry, record.exit].map { Self.local($0)?.stop }
            #expect(stops == [values.one, values.two].map { UInt32(Self.low($0, 8)) })
        }
    }
}
