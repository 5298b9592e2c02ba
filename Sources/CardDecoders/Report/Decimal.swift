// SPDX-License-Identifier: Apache-2.0

/// Decimal text of fixed width.
enum Decimal {
    /// Adds the last `width` digits of a number that is not negative.
    static func append(_ number: Int, _ width: Int, to text: inout OutputSpan<UInt8>) {
        if width > 1 { append(number / 10, width - 1, to: &text) }
        text.append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }

    /// The last `width` digits of a number that is not negative.
    static func padded(_ number: Int, _ width: Int) -> String {
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: width) { append(number, width, to: &$0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
