// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 030F; all numbers are big-endian.
///
/// Date, time of alighting in tens of minutes, device (3, 4), stops of boarding and alighting in twenty bits each
/// (5 to 9), machine and kind (10), kind of amount in four bits and amount in tens of yen in twelve (11, 12), balance.
struct NicePassHistoryBlock {
    let raw: Block

    /// Yen after the record.
    var balance: Int { Int(raw.uint16(at: 13, .big)) }

    /// The amount without its sign: twelve bits, two's complement, tens of yen.
    var size: Int {
        let bits = Int(raw.uint16(at: 11, .big).bits(0...11))
        return abs(bits >= 0x800 ? bits - 0x1000 : bits) * 10
    }

    /// The record but for its amount.
    var record: HistoryRecord {
        let date = CalendarDate(packed: raw.uint16(at: 0, .big))
        let time = ClockTime(hour: Int(raw[2]) / 6, minute: Int(raw[2]) % 6 * 10)
        return HistoryRecord(
            serial: nil, date: date, time: time, kind: kind,
            terminal: CodedValue(code: machine, name: NicePassHistoryBlock.machines[machine]),
            process: CodedValue(code: action, name: NicePassHistoryBlock.actions[action]),
            device: raw.uint16(at: 3, .big), entry: stop(bits: 20), exit: stop(bits: 0), balance: balance,
            warnings: (date == nil ? [.invalidDate] : []) + (time == nil ? [.invalidTime] : [.tenMinuteTime]), raw: raw)
    }

    private var machine: UInt8 { raw[10] >> 4 }
    private var action: UInt8 { raw[10] & 0xF }

    private var kind: RecordKind {
        switch (machine, action) {
        case (0x1, 0x1...0x3), (0x2, 0x1...0x3): .rail
        case (0x5, 0x1...0x3): .bus
        case (0xA, _): .charge
        default: .other
        }
    }

    /// Twenty bits of bytes 5 to 9; 00000 is no stop.
    private func stop(bits shift: UInt64) -> Place? {
        let stop = UInt32(truncatingIfNeeded: raw.number(at: 5, count: 5, .big) >> shift & 0xF_FFFF)
        guard stop != 0 else { return nil }
        return DecoderTables.localStops.place(
            LocalStopCode(system: SystemCode(rawValue: 0x040F), stop: stop, digits: 5))
    }

    private static let machines: [UInt8: LocalizedText] = [
        0x1: LocalizedText("railway, entry", "鉄道(入場)"),
        0x2: LocalizedText("railway", "鉄道"),
        0x5: LocalizedText("bus", "バス"),
        0x7: LocalizedText("window", "窓口"),
        0x8: LocalizedText("machine", "券売機等"),
        0xA: LocalizedText("charge machine", "入金機"),
    ]

    private static let actions: [UInt8: LocalizedText] = [
        0x1: LocalizedText("entry", "入場・乗車"),
        0x2: LocalizedText("fare", "運賃支払"),
        0x3: LocalizedText("stored fare", "SF"),
        0x7: LocalizedText("at the window", "窓口処理"),
        0x8: LocalizedText("at a machine", "機器処理"),
    ]
}
