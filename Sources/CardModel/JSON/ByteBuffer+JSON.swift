// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

extension ByteBuffer {
    /// Adds the name of a member in quotes and a colon, after a comma where one is due.
    ///
    /// The name stands in the program, so that its bytes, quotes and colon become a few words that are stored.
    @inlinable @inline(__always)
    mutating func append(key name: StaticString, afterComma hasComma: Bool) {
        unsafe append(atMost: 4 + name.utf8CodeUnitCount) { end in
            let count = name.utf8CodeUnitCount
            unsafe end.pointee = UInt8(ascii: ",")
            let start = unsafe end + (hasComma ? 1 : 0)
            unsafe start.pointee = UInt8(ascii: "\"")
            unsafe (start + 1).update(from: name.utf8Start, count: count)
            unsafe start[count + 1] = UInt8(ascii: "\"")
            unsafe start[count + 2] = UInt8(ascii: ":")
            return count + 3 + (hasComma ? 1 : 0)
        }
    }

    /// Adds a text in quotes, unless some of it must be escaped.
    ///
    /// - Returns: whether it was added; if not, nothing was.
    mutating func append(quoted text: String) -> Bool {
        unsafe text.utf8.withContiguousStorageIfAvailable { unsafe append(quoted: UnsafeRawBufferPointer($0)) } ?? false
    }

    private mutating func append(quoted text: UnsafeRawBufferPointer) -> Bool {
        var isPlain = true
        unsafe append(atMost: text.count + 2) { end in
            unsafe end.pointee = UInt8(ascii: "\"")
            let start = unsafe UnsafeMutableRawPointer(end + 1)
            var place = 0
            var found: UInt64 = 0
            while place + 8 <= text.count {
                let word = unsafe text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                found |= ByteBuffer.mustBeEscaped(word)
                unsafe start.storeBytes(of: word, toByteOffset: place, as: UInt64.self)
                place += 8
            }
            if place < text.count, text.count >= 8 {
                // The last eight, some of which were looked at before.
                place = text.count - 8
                let word = unsafe text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                found |= ByteBuffer.mustBeEscaped(word)
                unsafe start.storeBytes(of: word, toByteOffset: place, as: UInt64.self)
                place += 8
            } else if place < text.count {
                var word: UInt64 = 0x2020_2020_2020_2020
                while place < text.count {
                    let byte = unsafe text[place]
                    word = word << 8 | UInt64(byte)
                    unsafe start.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
                    place += 1
                }
                found |= ByteBuffer.mustBeEscaped(word)
            }
            unsafe start.storeBytes(of: UInt8(ascii: "\""), toByteOffset: place, as: UInt8.self)
            isPlain = found == 0
            return isPlain ? place + 2 : 0
        }
        return isPlain
    }

    /// Not zero when one of eight bytes is a quote, a backslash, or a control character, or when a hidden character
    /// beyond ASCII may begin there.
    @inline(__always)
    private static func mustBeEscaped(_ word: UInt64) -> UInt64 {
        EightBytes.textEnds(word) | EightBytes.matches(word, "\u{7F}") | HiddenCharacters.mayBegin(in: word)
    }
}
