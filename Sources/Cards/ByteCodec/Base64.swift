// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648, section 4), for files that hold bytes so: Foundation, which has it too, is not on every system.
package enum Base64 {
    /// Returns the bytes, or `nil` for anything but whole groups of four characters with their padding.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 4) else { return nil }
        let padding = digits.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var (bits, count): (UInt32, Int) = (0, 0)
        for digit in digits.dropLast(padding) {
            guard let value = value(of: digit) else { return nil }
            (bits, count) = (bits << 6 | value, count + 6)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    /// Whether a byte means something in Base64: a digit or the padding.
    package static func isDigit(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "=") || value(of: byte) != nil }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
