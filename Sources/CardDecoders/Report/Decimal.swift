// SPDX-License-Identifier: Apache-2.0

/// Decimal text of fixed width.
enum Decimal {
    /// A number of at least `width` digits, filled up with zeros.
    static func padded(_ number: Int, _ width: Int) -> String {
        if width == 2, (0...99).contains(number) {
            return String(decoding: [0x30 + UInt8(number / 10), 0x30 + UInt8(number % 10)], as: UTF8.self)
        }
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
