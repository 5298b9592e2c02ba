// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// A time of day as `HH:MM`.
public struct HourAndMinute: ASCIIText {
    private let hour: Int
    private let minute: Int

    init(_ time: ClockTime) {
        hour = time.hour
        minute = time.minute
    }

    /// Five.
    public var longestCount: Int { 5 }

    /// Adds the digits.
    public func append(to text: inout OutputSpan<UInt8>) {
        Decimal.append(hour, 2, to: &text)
        text.append(UInt8(ascii: ":"))
        Decimal.append(minute, 2, to: &text)
    }
}
