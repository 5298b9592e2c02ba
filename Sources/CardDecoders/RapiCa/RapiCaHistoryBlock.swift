// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 008F; all numbers are big-endian.
///
/// Twelve bits month × 100 + day, twelve bits hour × 100 + minute, the company, then stop (three bytes), line (two) and
/// device (three): with the Iwasaki group a byte later and a device of two bytes; kind at 12, balance at 13.
struct RapiCaHistoryBlock {
    private static let processes = DecoderTables.localCodes["rapica", .process]

    let raw: Block

    /// The month and the day, which exist in a leap year at least, or `nil`.
    var monthDay: PartialMoment? {
        let packed = Int(raw.uint16(at: 0, .big).bits(4...15))
        return PartialMoment(month: packed / 100, day: packed % 100)
    }

    /// The time, or `nil` when the bytes name none that exists.
    var time: ClockTime? {
        let packed = Int(raw.uint16(at: 1, .big).bits(0...11))
        return ClockTime(hour: packed / 100, minute: packed % 100)
    }

    /// The record, with month and day but without a year, and without its amount.
    var record: HistoryRecord {
        let process = RapiCaHistoryBlock.processes[UInt32(raw[12])]
        let isAlighting = raw[12] == RapiCaHistoryBlock.alighting
        return HistoryRecord(
            serial: nil, time: time, partial: monthDay, kind: process?.kind ?? .other,
            process: CodedValue(code: raw[12], name: process?.name),
            entry: isAlighting ? nil : stop, exit: isAlighting ? stop : nil,
            balance: Int(raw.uint24(at: 13, .big)),
            warnings: (monthDay == nil ? [.invalidDate] : []) + (time == nil ? [.invalidTime] : []), raw: raw)
    }

    private var company: UInt8 { raw[3] >> 4 }

    /// The stop, or `nil` where line and stop are zero, as at a charge.
    private var stop: Place? {
        let offset = company == RapiCaHistoryBlock.iwasaki ? 5 : 4
        let (stop, line) = (raw.uint24(at: offset, .big), raw.uint16(at: offset + 3, .big))
        guard stop != 0 || line != 0 else { return nil }
        return DecoderTables.localStops.place(
            LocalStopCode(
                system: SystemCode(rawValue: 0x8194), operatorCode: UInt16(company), line: line, stop: stop,
                digits: 6))
    }

    private static let iwasaki: UInt8 = 4
    private static let alighting: UInt8 = 0x41
}
