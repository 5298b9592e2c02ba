// SPDX-License-Identifier: Apache-2.0

/// Looks at eight bytes of a text at once, the first of which is the lowest of a word.
///
/// What is found is marked by the highest bit of its byte. Only the lowest mark is sure to be right, since a match may
/// borrow from the byte above it; whether there is any is always right.
enum EightBytes {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    static let marks: UInt64 = 0x8080_8080_8080_8080

    /// Marks the bytes that are this letter of ASCII.
    @inline(__always)
    static func matches(_ word: UInt64, _ letter: Unicode.Scalar) -> UInt64 {
        matches(word, byte: UInt8(ascii: letter))
    }

    /// Marks the bytes that are `byte`.
    @inline(__always)
    static func matches(_ word: UInt64, byte: UInt8) -> UInt64 {
        let difference = word ^ (ones &* UInt64(byte))
        return (difference &- ones) & ~difference & marks
    }

    /// Marks the bytes below 20, which stand in no text of JSON.
    @inline(__always)
    static func controls(_ word: UInt64) -> UInt64 { (word &- ones &* 0x20) & ~word & marks }

    /// Marks what ends a text of JSON or begins an escape, or may not stand there.
    @inline(__always)
    static func textEnds(_ word: UInt64) -> UInt64 { controls(word) | matches(word, "\"") | matches(word, "\\") }

    /// Which byte carries the lowest mark, 0 to 7; 8 when none does.
    @inline(__always)
    static func first(_ marks: UInt64) -> Int { marks.trailingZeroBitCount / 8 }
}
