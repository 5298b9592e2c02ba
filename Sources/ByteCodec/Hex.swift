// SPDX-License-Identifier: Apache-2.0

/// Hexadecimal text and bytes, both ways.
public enum Hex {
    /// Writes bytes as hexadecimal digits, most significant nibble first.
    ///
    /// - Parameters:
    ///   - bytes: the bytes, in the order they are to be printed.
    ///   - uppercase: `A`–`F` instead of `a`–`f`.
    ///   - separator: text between two bytes; none by default.
    public static func encode(
        _ bytes: some Sequence<UInt8>, uppercase: Bool = false, separator: String = ""
    ) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount * (2 + separator.utf8.count))
        for byte in bytes {
            if !text.isEmpty { text.append(contentsOf: separator.utf8) }
            text.append(digit(byte >> 4, uppercase))
            text.append(digit(byte & 0x0F, uppercase))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes the low `digits` nibbles of a number, most significant first.
    ///
    /// - Parameter digits: how many digits to print, 0 to 16.
    public static func encode(_ value: some BinaryInteger, digits: Int, uppercase: Bool = true) -> String {
        HexDigits(value, digits: digits, uppercase: uppercase).text
    }

    /// Reads hexadecimal text as people write it: packed or with spaces, colons or hyphens between bytes,
    /// in any case, with or without `0x` before a byte or before the whole. A digit must follow right after `0x`.
    ///
    /// - Throws: ``HexError`` with the place (counted in UTF-8 bytes from 0) of what is wrong.
    public static func decode(_ text: some StringProtocol) throws(HexError) -> [UInt8] {
        var bytes: [UInt8] = []
        let utf8 = Array(text.utf8)
        var index = 0
        while let character = utf8.element(at: index) {
            if isSeparator(character) {
                index += 1
                continue
            }
            if isPrefix(utf8, at: index) { index += 2 }
            guard let high = utf8.element(at: index).flatMap(value) else { throw .notADigit(offset: index) }
            guard let next = utf8.element(at: index + 1), !isSeparator(next) else { throw .oddDigits(offset: index) }
            guard let low = value(of: next) else { throw .notADigit(offset: index + 1) }
            bytes.append(high << 4 | low)
            index += 2
        }
        return bytes
    }

    /// Whether `0x` and a digit stand at `index`.
    private static func isPrefix(_ utf8: [UInt8], at index: Int) -> Bool {
        guard utf8.element(at: index) == 0x30, let letter = utf8.element(at: index + 1), letter | 0x20 == 0x78 else {
            return false
        }
        return utf8.element(at: index + 2).flatMap(value) != nil
    }

    /// The number that one to sixteen digits write, in any case, with nothing between them; else `nil`.
    @inlinable
    public static func number(_ digits: Span<UInt8>) -> UInt64? {
        guard digits.count > 0, digits.count <= 16 else { return nil }
        var number: UInt64 = 0
        // Without a branch for each digit: digits and letters come as they like, and no processor foresees them.
        var faults: UInt8 = 0
        for index in digits.indices {
            let digit = digits[index] &- 0x30
            let letter = (digits[index] | 0x20) &- 0x61
            let nibble = digit < 10 ? digit : letter < 6 ? letter &+ 10 : 0x80
            faults |= nibble
            number = number << 4 | UInt64(nibble)
        }
        return faults & 0x80 == 0 ? number : nil
    }

    /// The value of one ASCII hexadecimal digit, or `nil`.
    @inlinable public static func value(of character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46: character - 0x41 + 10
        case 0x61...0x66: character - 0x61 + 10
        default: nil
        }
    }

    private static func isSeparator(_ character: UInt8) -> Bool {
        switch character {
        case 0x20, 0x09, 0x0A, 0x0D, 0x3A, 0x2D: true
        default: false
        }
    }

    private static func digit(_ nibble: UInt8, _ uppercase: Bool) -> UInt8 {
        let letters: UInt8 = uppercase ? 0x41 : 0x61
        return nibble < 10 ? 0x30 + nibble : letters + nibble - 10
    }
}
