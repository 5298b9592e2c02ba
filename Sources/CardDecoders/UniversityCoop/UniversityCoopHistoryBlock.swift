// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 50CF, in binary-coded decimal: year (two bytes), month, day, hour, minute, second, then the kind,
/// amount and balance (three bytes each). There is no serial.
struct UniversityCoopHistoryBlock {
    private static let kinds = DecoderTables.purseKinds["coop"]

    let raw: Block

    /// Yen, or `nil` when a digit is above 9.
    var balance: Int? { raw.decimal(at: 11, count: 3) }

    var record: HistoryRecord {
        let date = day
        let time = time
        let kind = Self.kinds[raw[7]]
        return HistoryRecord(
            serial: nil,
            date: date,
            time: time,
            kind: kind?.recordKind ?? .other,
            process: kind?.value ?? CodedValue(code: raw[7], name: nil),
            amount: raw.decimal(at: 8, count: 3).flatMap { kind?.signed($0) },
            balance: balance,
            warnings: DecodingWarning.invalid(date, time),
            raw: raw)
    }

    private var day: CalendarDate? {
        guard let year = raw.decimal(at: 0, count: 2), let month = BCD.value(raw[2]), let day = BCD.value(raw[3])
        else { return nil }
        return CalendarDate(year: year, month: month, day: day)
    }

    private var time: ClockTime? {
        guard let hour = BCD.value(raw[4]), let minute = BCD.value(raw[5]), let second = BCD.value(raw[6])
        else { return nil }
        return ClockTime(hour: hour, minute: minute, second: second)
    }
}
