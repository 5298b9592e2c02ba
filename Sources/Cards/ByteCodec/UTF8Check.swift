// SPDX-License-Identifier: Apache-2.0

/// Whether bytes are UTF-8, and where they cease to be; `UTF8Span` answers the same on the newest systems only.
package enum UTF8Check {
    /// The offset of the first byte of the first sequence that is not well-formed (Unicode 16, table 3-7); `nil` if all are.
    @inlinable
    package static func firstFault(_ bytes: Span<UInt8>) -> Int? {
        var at = 0
        while at < bytes.count {
            let lead = bytes[at]
            if lead < 0x80 {
                at += 1
                continue
            }
            let length: Int
            // What the second byte may be: narrower after some, so that nothing has two spellings and no surrogates occur.
            var second: ClosedRange<UInt8> = 0x80...0xBF
            switch lead {
            case 0xC2...0xDF: length = 2
            case 0xE0: (length, second) = (3, 0xA0...0xBF)
            case 0xED: (length, second) = (3, 0x80...0x9F)
            case 0xE1...0xEF: length = 3
            case 0xF0: (length, second) = (4, 0x90...0xBF)
            case 0xF4: (length, second) = (4, 0x80...0x8F)
            case 0xF1...0xF3: length = 4
            default: return at
            }
            guard at + length <= bytes.count, second.contains(bytes[at + 1]) else { return at }
            for offset in 2..<max(2, length) where bytes[at + offset] & 0xC0 != 0x80 { return at }
            at += length
        }
        return nil
    }
}

extension String {
    /// Calls `body` with the text's bytes in UTF-8, without a copy where the text is stored so, as literals are.
    @inlinable
    package func withUTF8Span<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        var text = self
        return text.withUTF8 { unsafe body($0.span) }
    }
}
