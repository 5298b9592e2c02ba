// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A day of the Gregorian calendar as a card wrote it, without a time zone; only days that exist can be made.
public struct CalendarDate: Hashable, Sendable, Comparable {
    /// Year, month and day from the highest bits down: small, since every record has a date.
    private let packed: UInt32

    /// The year, as in 2011.
    public var year: Int { Int(packed >> 16) }
    /// The month, 1 to 12.
    public var month: Int { Int(packed >> 8 & 0xFF) }
    /// The day of the month, 1 to 31.
    public var day: Int { Int(packed & 0xFF) }

    /// A day, or `nil` when the calendar has none like it (`2011-02-29`, month 0, …) or the year is not 1 to 9999.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= CalendarDate.days(inMonth: month, of: year)
        else { return nil }
        self.init(unchecked: year, month, day)
    }

    /// The day `days` after 2000-01-01; no `UInt16` leaves the calendar's years.
    public init(daysSince2000 days: UInt16) {
        var (year, month, left) = (2000, 1, Int(days))
        while left >= CalendarDate.days(inYear: year) {
            left -= CalendarDate.days(inYear: year)
            year += 1
        }
        while left >= CalendarDate.days(inMonth: month, of: year) {
            left -= CalendarDate.days(inMonth: month, of: year)
            month += 1
        }
        self.init(unchecked: year, month, left + 1)
    }

    /// The day in two bytes of seven bits year since 2000, four bits month, five bits day, or `nil` when there is no
    /// such day. Transit cards and many others write days so.
    public init?(packed: UInt16) {
        self.init(year: 2000 + Int(packed.bits(9...15)), month: Int(packed.bits(5...8)), day: Int(packed.bits(0...4)))
    }

    /// The day of two digits each in binary-coded decimal, the year since 2000, or `nil` when there is no such day.
    init?(decimalYear year: UInt8, month: UInt8, day: UInt8) {
        guard let year = BCD.value(year), let month = BCD.value(month), let day = BCD.value(day) else { return nil }
        self.init(year: 2000 + year, month: month, day: day)
    }

    /// The day after, or `nil` after the last day of the year 9999.
    var next: CalendarDate? {
        CalendarDate(year: year, month: month, day: day + 1)
            ?? CalendarDate(year: year, month: month + 1, day: 1)
            ?? CalendarDate(year: year + 1, month: 1, day: 1)
    }

    private init(unchecked year: Int, _ month: Int, _ day: Int) {
        packed = UInt32(truncatingIfNeeded: year << 16 | month << 8 | day)
    }

    private static func days(inYear year: Int) -> Int { isLeap(year) ? 366 : 365 }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    /// By time.
    public static func < (left: CalendarDate, right: CalendarDate) -> Bool {
        left.packed < right.packed
    }
}
