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

    /// Adds the five characters.
    public func append(to text: inout ByteBuffer) {
        DecimalDigits(hour, width: 2).append(to: &text)
        text.append(UInt8(ascii: ":"))
        DecimalDigits(minute, width: 2).append(to: &text)
    }
}
