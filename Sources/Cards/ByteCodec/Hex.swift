// SPDX-License-Identifier: Apache-2.0

/// Conversion between bytes and hexadecimal text.
@usableFromInline
package enum Hex {
    /// Encodes bytes as hexadecimal digits, most significant nibble first.
    ///
    /// - Parameters:
    ///   - bytes: the bytes, in output order.
    ///   - uppercase: `A`–`F` instead of `a`–`f`.
    ///   - separator: text between two bytes; none by default.
    package static func encode(
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

    /// Encodes the low `digits` nibbles of a number, most significant first.
    ///
    /// - Parameter digits: the number of digits, 0 to 16.
    package static func encode(_ value: some BinaryInteger, digits: Int, uppercase: Bool = true) -> String {
        HexDigits(value, digits: digits, uppercase: uppercase).text
    }

    /// Decodes hexadecimal text in the usual notations.
    ///
    /// Digits can be packed or have spaces, colons or hyphens between bytes, in any case, with or without `0x` before a
    /// byte or before the whole. A digit must follow directly after `0x`.
    ///
    /// - Throws: ``HexError`` with the position of the error (counted in UTF-8 bytes from 0).
    package static func decode(_ text: some StringProtocol) throws(HexError) -> [UInt8] {
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

    /// Returns whether `index` is at `0x` and a digit.
    private static func isPrefix(_ utf8: [UInt8], at index: Int) -> Bool {
        guard utf8.element(at: index) == 0x30, let letter = utf8.element(at: index + 1), letter | 0x20 == 0x78 else {
            return false
        }
        return utf8.element(at: index + 2).flatMap(value) != nil
    }

    /// Decodes one to sixteen digits, in any case, without separators; otherwise `nil`.
    @inlinable
    package static func number(_ digits: Span<UInt8>) -> UInt64? {
        guard digits.count > 0, digits.count <= 16 else { return nil }
        var (number, faults): (UInt64, UInt64) = (0, 0)
        var place = 0
        while place < digits.count {
            // Eight at a time and without branches: the mix of digits and letters defeats branch prediction.
            let count = Swift.min(digits.count - place, 8)
            let word: UInt64
            if count == 8 {
                word = unsafe digits.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self).bigEndian
            } else {
                var few: UInt64 = 0x3030_3030_3030_3030
                for index in place..<place + count { few = few << 8 | UInt64(digits[index]) }
                word = few
            }
            let (nibbles, fault) = eightNibbles(word)
            number = number << UInt64(count * 4) | nibbles
            faults |= fault
            place += count
        }
        return faults == 0 ? number : nil
    }

    /// Decodes eight ASCII hexadecimal digits, the first of which is the highest byte.
    ///
    /// - Returns: 32 bits, and a number that is 0 when all eight are digits.
    @inlinable @inline(__always)
    static func eightNibbles(_ word: UInt64) -> (nibbles: UInt64, fault: UInt64) {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high = ones &* 0x80
        let lower = word | (ones &* 0x20)
        // Bytes below 80 do not carry into the next one: the high bit of a sum is set from a bound on.
        let plain = word & ~high
        let letter = lower & ~high
        let isDigit = (plain &+ ones &* 0x50) & ~(plain &+ ones &* 0x46)
        let isLetter = (letter &+ ones &* 0x1F) & ~(letter &+ ones &* 0x19) & high
        let fault = (~(isDigit | isLetter) | word) & high
        var nibbles = (word & (ones &* 0x0F)) &+ (isLetter >> 7) &* 9
        nibbles = (nibbles | nibbles >> 4) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles >> 8) & 0x0000_FFFF_0000_FFFF
        return ((nibbles | nibbles >> 16) & 0xFFFF_FFFF, fault)
    }

    /// Returns the value of one ASCII hexadecimal digit, or `nil`.
    @inlinable
    package static func value(of character: UInt8) -> UInt8? {
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

/// An error in hexadecimal text; `offset` counts UTF-8 bytes from 0.
@nonexhaustive
package enum HexError: Error, Hashable, Sendable {
    /// A character that is neither a digit nor a separator.
    case notADigit(offset: Int)
    /// A byte with only one digit, at this offset.
    case oddDigits(offset: Int)
}

/// A number as hexadecimal digits, most significant first.
@usableFromInline
package struct HexDigits: ASCIIText {
    @usableFromInline let bits: UInt64
    @usableFromInline let count: Int
    @usableFromInline let isUppercase: Bool

    /// Creates text from the low `digits` nibbles of a number.
    ///
    /// - Parameter digits: the number of digits, 0 to 16.
    @inlinable
    package init(_ value: some BinaryInteger, digits: Int, uppercase: Bool = true) {
        bits = UInt64(truncatingIfNeeded: value)
        count = Swift.max(0, Swift.min(digits, 16))
        isUppercase = uppercase
    }

    /// Appends the digits.
    @inlinable
    package func append(to text: inout ByteBuffer) {
        if count > 8 { HexDigits.append(UInt32(truncatingIfNeeded: bits >> 32), count - 8, isUppercase, to: &text) }
        HexDigits.append(UInt32(truncatingIfNeeded: bits), Swift.min(count, 8), isUppercase, to: &text)
    }

    @inlinable @inline(__always)
    static func append(_ bits: UInt32, _ count: Int, _ isUppercase: Bool, to text: inout ByteBuffer) {
        text.append(eightDigits(bits, isUppercase).byteSwapped >> UInt64((8 - count) * 8), count: count)
    }

    /// Returns the eight digits of 32 bits, the most significant in the highest byte.
    @inlinable
    static func eightDigits(_ bits: UInt32, _ uppercase: Bool) -> UInt64 {
        // One nibble per byte.
        var nibbles = UInt64(bits)
        nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 in each byte whose nibble is a letter: adding 6 to 10 or more reaches 16.
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return nibbles &+ 0x3030_3030_3030_3030 &+ letters &* (uppercase ? 0x07 : 0x27)
    }
}
