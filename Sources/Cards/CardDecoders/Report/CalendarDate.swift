// SPDX-License-Identifier: Apache-2.0

public import ByteCodec
package import CardModel

/// A day of the Gregorian calendar as written on a card, without a time zone; always a valid date.
public struct CalendarDate: Hashable, Sendable, Comparable {
    /// Year, month and day from the most significant bits down; kept small because every record has a date.
    private let packed: UInt32

    /// The year, as in 2011.
    public var year: Int { Int(packed >> 16) }
    /// The month, 1 to 12.
    public var month: Int { Int(packed >> 8 & 0xFF) }
    /// The day of the month, 1 to 31.
    public var day: Int { Int(packed & 0xFF) }

    /// Creates a day, or `nil` for an invalid date (`2011-02-29`, month 0, …) or a year outside 1 to 9999.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= CalendarDate.days(inMonth: month, of: year)
        else { return nil }
        self.init(unchecked: year, month, day)
    }

    /// Creates the day `days` after 2000-01-01; every `UInt16` gives a valid date.
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

    /// Unpacks a two-byte day, or `nil` for an invalid date.
    ///
    /// The layout is seven bits year since 2000, four bits month and five bits day, as on transit cards and many
    /// others.
    public init?(packed: UInt16) {
        self.init(year: 2000 + Int(packed.bits(9...15)), month: Int(packed.bits(5...8)), day: Int(packed.bits(0...4)))
    }

    /// Creates a day from two binary-coded decimal digits each, the year since 2000, or `nil` for an invalid date.
    init?(decimalYear year: UInt8, month: UInt8, day: UInt8) {
        guard let year = BCD.value(year), let month = BCD.value(month), let day = BCD.value(day) else { return nil }
        self.init(year: 2000 + year, month: month, day: day)
    }

    /// The next day, or `nil` after the last day of the year 9999.
    package var next: CalendarDate? {
        CalendarDate(year: year, month: month, day: day + 1)
            ?? CalendarDate(year: year, month: month + 1, day: 1)
            ?? CalendarDate(year: year + 1, month: 1, day: 1)
    }

    /// The day before, or `nil` before the first day that this type can hold.
    var previous: CalendarDate? {
        if day > 1 { return CalendarDate(year: year, month: month, day: day - 1) }
        if month == 1 { return CalendarDate(year: year - 1, month: 12, day: 31) }
        return CalendarDate(
            year: year, month: month - 1, day: CalendarDate.days(inMonth: month - 1, of: year))
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

    /// Compares chronologically.
    public static func < (left: CalendarDate, right: CalendarDate) -> Bool {
        left.packed < right.packed
    }
}

extension CalendarDate {
    /// Parses `YYYY-MM-DD`; `nil` for anything else, including invalid dates.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, zip(parts, [4, 2, 2]).allSatisfy({ $0.utf8.count == $1 }),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let year = Int(parts[0]),
            let month = Int(parts[1]), let day = Int(parts[2])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }
}

extension CalendarDate: ASCIIText {
    /// Appends the ten characters.
    @usableFromInline
    package func append(to text: inout ByteBuffer) {
        let digits = DecimalDigits.eightDigits(UInt32(truncatingIfNeeded: year * 10_000 + month * 100 + day))
        let hyphen = UInt64(UInt8(ascii: "-"))
        text.append(digits & 0xFFFF_FFFF | hyphen << 32 | (digits >> 32 & 0xFFFF) << 40 | hyphen << 56, count: 8)
        text.append(digits >> 48, count: 2)
    }
}

extension CalendarDate: CustomStringConvertible {
    /// `YYYY-MM-DD`.
    public var description: String { text }
}

/// A time of day as written on a card; always a valid time.
public struct ClockTime: Hashable, Sendable {
    /// The second of the day, and whether the card keeps seconds; kept small because every record can have a time.
    private let secondOfDay: Int32
    private let hasSecond: Bool

    /// The hour, 0 to 23.
    public var hour: Int { Int(secondOfDay / 3600) }
    /// The minute, 0 to 59.
    public var minute: Int { Int(secondOfDay / 60 % 60) }
    /// The second, 0 to 59, or `nil` when the card keeps none.
    public var second: Int? { hasSecond ? Int(secondOfDay % 60) : nil }

    /// Creates a time, or `nil` when it is not valid.
    public init?(hour: Int, minute: Int, second: Int? = nil) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second ?? 0) else { return nil }
        secondOfDay = Int32(truncatingIfNeeded: hour * 3600 + minute * 60 + (second ?? 0))
        hasSecond = second != nil
    }

    /// Creates the time `seconds` after midnight, or `nil` when that is beyond the end of the day.
    public init?(secondsSinceMidnight seconds: UInt32) {
        guard seconds < 86_400 else { return nil }
        self.init(hour: Int(seconds / 3600), minute: Int(seconds / 60 % 60), second: Int(seconds % 60))
    }

    /// Creates a time from an hour and a minute in binary-coded decimal, or `nil` when they are not valid.
    init?(decimalHour hour: UInt8, minute: UInt8) {
        guard let hour = BCD.value(hour), let minute = BCD.value(minute) else { return nil }
        self.init(hour: hour, minute: minute)
    }

    /// Creates a time from tens of minutes since midnight, or `nil` when that is beyond the end of the day.
    init?(tensOfMinutes tens: UInt8) {
        self.init(hour: Int(tens) / 6, minute: Int(tens) % 6 * 10)
    }

    /// `HH:MM`, for writing without an intermediate string.
    package var minutes: HourAndMinute { HourAndMinute(self) }

    /// `HH:MM`.
    package var hourAndMinute: String { minutes.text }
}

extension ClockTime: CustomStringConvertible {
    /// `HH:MM:SS`, or `HH:MM` when there is no second.
    public var description: String {
        hourAndMinute + (second.map { ":\(DecimalDigits($0, width: 2).text)" } ?? "")
    }
}

/// A time of day as `HH:MM`.
package struct HourAndMinute: ASCIIText {
    private let hour: Int
    private let minute: Int

    init(_ time: ClockTime) {
        hour = time.hour
        minute = time.minute
    }

    /// Appends the five characters.
    package func append(to text: inout ByteBuffer) {
        DecimalDigits(hour, width: 2).append(to: &text)
        text.append(UInt8(ascii: ":"))
        DecimalDigits(minute, width: 2).append(to: &text)
    }
}

/// The recorded part of a day or time when it is not enough for a complete date or time.
public struct PartialMoment: Hashable, Sendable {
    /// The month, 1 to 12.
    public var month: Int?
    /// The day of the month, 1 to 31.
    public var day: Int?
    /// The hour, 0 to 23, on a card that keeps no minutes.
    public var hour: Int?

    /// Creates a month and a day without a year, or `nil` when they are valid in no year.
    public init?(month: Int, day: Int) {
        // A leap year, so that 29 February is accepted.
        guard CalendarDate(year: 2000, month: month, day: day) != nil else { return nil }
        self.month = month
        self.day = day
    }

    /// Creates an hour without a minute, or `nil` when it is out of range.
    public init?(hour: Int) {
        guard (0...23).contains(hour) else { return nil }
        self.hour = hour
    }

    /// The day without its year, as in `--03-09`, or `nil`.
    package var dayText: String? {
        guard let month, let day else { return nil }
        return "--\(DecimalDigits(month, width: 2).text)-\(DecimalDigits(day, width: 2).text)"
    }

    /// The hour without its minute, as in `09:--`, or `nil`.
    package var hourText: String? { hour.map { "\(DecimalDigits($0, width: 2).text):--" } }

    /// `partial` in `kazasu.history/1`, with the known members only.
    package var json: JSONValue { JSONValue { write(to: &$0) } }
}
