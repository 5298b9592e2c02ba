// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// What a card says of the day or the hour of a record when it does not say enough for a date or a time.
public struct PartialMoment: Hashable, Sendable {
    /// The month, 1 to 12.
    public var month: Int?
    /// The day of the month, 1 to 31.
    public var day: Int?
    /// The hour, 0 to 23, of a card that keeps no minutes.
    public var hour: Int?

    /// A month and a day without a year, or `nil` when no year has such a day.
    public init?(month: Int, day: Int) {
        // A leap year, so that 29 February can be told.
        guard CalendarDate(year: 2000, month: month, day: day) != nil else { return nil }
        self.month = month
        self.day = day
    }

    /// An hour without its minute, or `nil` when a day has no such hour.
    public init?(hour: Int) {
        guard (0...23).contains(hour) else { return nil }
        self.hour = hour
    }

    /// The day without its year, as in `--03-09`, or `nil`.
    public var dayText: String? {
        guard let month, let day else { return nil }
        return "--\(DecimalDigits(month, width: 2).text)-\(DecimalDigits(day, width: 2).text)"
    }

    /// The hour without its minute, as in `09:--`, or `nil`.
    public var hourText: String? { hour.map { "\(DecimalDigits($0, width: 2).text):--" } }

    /// `partial` in `kazasu.history/1`: what is known, and nothing else.
    public var json: JSONValue { JSONValue { write(to: &$0) } }
}
