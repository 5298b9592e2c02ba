// SPDX-License-Identifier: Apache-2.0

/// A time of day as a card wrote it; only times that exist can be made.
public struct ClockTime: Hashable, Sendable {
    /// The hour, 0 to 23.
    public let hour: Int
    /// The minute, 0 to 59.
    public let minute: Int
    /// The second, 0 to 59, or `nil` when the card keeps none.
    public let second: Int?

    /// A time, or `nil` when the clock has none like it.
    public init?(hour: Int, minute: Int, second: Int? = nil) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second ?? 0) else { return nil }
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// The time `seconds` after midnight, or `nil` when a day is not that long.
    public init?(secondsSinceMidnight seconds: UInt32) {
        guard seconds < 86_400 else { return nil }
        self.init(hour: Int(seconds / 3600), minute: Int(seconds / 60 % 60), second: Int(seconds % 60))
    }

    /// `HH:MM`.
    public var hourAndMinute: String { "\(Decimal.padded(hour, 2)):\(Decimal.padded(minute, 2))" }
}

extension ClockTime: CustomStringConvertible {
    /// `HH:MM:SS`, or `HH:MM` when there is no second.
    public var description: String {
        hourAndMinute + (second.map { ":\(Decimal.padded($0, 2))" } ?? "")
    }
}
