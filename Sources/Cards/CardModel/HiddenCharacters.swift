// SPDX-License-Identifier: Apache-2.0

/// Characters that affect how a text is displayed without being visible.
///
/// They are control characters (C0, DEL, C1), the marks of the bidirectional algorithm, line separators, invisible
/// format characters and tags.
///
/// Source: Unicode 16, general categories Cc, Cf, Zl and Zp. The joiners U+200B to U+200D, which some scripts and emoji
/// need, are excluded.
package enum HiddenCharacters {
    /// Returns whether it is one of them; line feed and tab are included.
    package static func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F: true
        case 0xAD, 0x61C, 0x180E, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB: true
        case 0xE0000...0xE007F: true
        default: false
        }
    }

    /// Returns whether the UTF-8 of one of them may begin with this byte.
    ///
    /// That of kana and kanji does not, so this alone decides most texts.
    package static func mayBegin(with byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7F, 0xC2, 0xD8, 0xE1, 0xE2, 0xEF, 0xF3: true
        default: false
        }
    }

    /// Returns a text with the hidden characters written as `\u{202E}`.
    ///
    /// - Parameter keepingLineEnds: whether line feeds stay.
    package static func escaped(_ text: String, keepingLineEnds: Bool) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "\n") ? keepingLineEnds : !mayBegin(with: byte)
        }
        if isPlain { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\n", keepingLineEnds {
                result.append(scalar)
            } else if contains(scalar) {
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns nonzero if a hidden character beyond ASCII may begin in these eight bytes.
    @inline(__always)
    static func mayBegin(in word: UInt64) -> UInt64 {
        guard word & EightBytes.marks != 0 else { return 0 }
        return EightBytes.matches(word, byte: 0xC2) | EightBytes.matches(word, byte: 0xD8)
            | EightBytes.matches(word, byte: 0xE1) | EightBytes.matches(word, byte: 0xE2)
            | EightBytes.matches(word, byte: 0xEF) | EightBytes.matches(word, byte: 0xF3)
    }
}
