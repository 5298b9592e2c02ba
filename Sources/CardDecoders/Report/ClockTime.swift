// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A time of day as a card wrote it; only times that exist can be made.
public struct ClockTime: Hashable, Sendable {
    /// The second of the day, and whether the card keeps seconds at all: small, since every record may have a time.
    private let secondOfDay: Int32
    private let hasSecond: Bool

    /// The hour, 0 to 23.
    public var hour: Int { Int(secondOfDay / 3600) }
    /// The minute, 0 to 59.
    public var minute: Int { Int(secondOfDay / 60 % 60) }
    /// The second, 0 to 59, or `nil` when the card keeps none.
    public var second: Int? { hasSecond ? Int(secondOfDay % 60) : nil }

    /// A time, or `nil` when the clock has none like it.
    public init?(hour: Int, minute: Int, second: Int? = nil) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second ?? 0) else { return nil }
        secondOfDay = Int32(truncatingIfNeeded: hour * 3600 + minute * 60 + (second ?? 0))
        hasSecond = second != nil
    }

    /// The time `seconds` after midnight, or `nil` when a day is not that long.
    public init?(secondsSinceMidnight seconds: UInt32) {
        guard seconds < 86_400 else { return nil }
        self.init(hour: Int(seconds / 3600), minute: Int(seconds / 60 % 60), second: Int(seconds % 60))
    }

    /// The time of an hour and a minute in binary-coded decimal, or `nil` when they are none.
    init?(decimalHour hour: UInt8, minute: UInt8) {
        guard let hour = BCD.value(hour), let minute = BCD.value(minute) else { return nil }
        self.init(hour: hour, minute: minute)
    }

    /// `HH:MM`, for writing without a string in between.
    public var minutes: HourAndMinute { HourAndMinute(self) }

    /// `HH:MM`.
    public var hourAndMinute: String { minutes.text }
}

extension ClockTime: CustomStringConvertible {
    /// `HH:MM:SS`, or `HH:MM` when there is no second.
    public var description: String {
        hourAndMinute + (second.map { ":\(DecimalDigits($0, width: 2).text)" } ?? "")
    }
}
