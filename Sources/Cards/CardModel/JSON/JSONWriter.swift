// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// Writes JSON on one line into a byte buffer.
///
/// One writer can be used for many documents in turn: ``removeAll()`` keeps the buffer's capacity.
@usableFromInline
package struct JSONWriter: JSONSink, ~Copyable {
    @usableFromInline var buffer = ByteBuffer(capacity: 256)
    /// Whether a comma must separate the last value from the next value or its name.
    @usableFromInline var needsComma = false

    /// The bytes written, UTF-8.
    package var bytes: [UInt8] { buffer.bytes }

    /// The number of bytes written.
    package var count: Int { buffer.count }

    package init() {}

    /// The text written.
    package var text: String { buffer.text }

    /// Calls `body` with the bytes written, UTF-8.
    package func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try buffer.withBytes(body)
    }

    /// Discards everything written.
    package mutating func removeAll() {
        buffer.removeAll()
        needsComma = false
    }

    // MARK: Outside values

    /// Appends a newline, after which the next document can begin.
    package mutating func endLine() { raw("\n") }

    mutating func raw(_ byte: UInt8) {
        buffer.append(byte)
        needsComma = false
    }

    mutating func raw(_ text: StaticString) {
        buffer.append(text)
        needsComma = false
    }

    mutating func raw(_ bytes: [UInt8]) {
        buffer.append(contentsOf: bytes.span)
        needsComma = false
    }

    mutating func raw(_ other: borrowing JSONWriter) {
        other.withBytes { buffer.append(contentsOf: $0) }
        needsComma = false
    }

    mutating func blanks(_ count: Int) {
        for _ in 0..<max(0, count) { buffer.append(UInt8(ascii: " ")) }
    }

    @inlinable @inline(__always)
    mutating func comma() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    // MARK: Arrays and objects

    /// `{`
    @inlinable
    package mutating func beginObject() { comma(); buffer.append(UInt8(ascii: "{")); needsComma = false }
    /// `}`
    @inlinable
    package mutating func endObject() { buffer.append(UInt8(ascii: "}")); needsComma = true }
    /// `[`
    @inlinable
    package mutating func beginArray() { comma(); buffer.append(UInt8(ascii: "[")); needsComma = false }
    /// `]`
    @inlinable
    package mutating func endArray() { buffer.append(UInt8(ascii: "]")); needsComma = true }

    /// Writes the name of the next value; its characters need no escapes.
    @inlinable @inline(__always)
    package mutating func key(_ name: StaticString) {
        buffer.append(key: name, afterComma: needsComma)
        needsComma = false
    }

    /// Writes the name of the next value.
    @usableFromInline
    package mutating func key(_ name: String) {
        string(name)
        raw(UInt8(ascii: ":"))
    }

    // MARK: Values

    /// `null`
    @inlinable
    package mutating func null() { comma(); buffer.append("null") }

    /// `true` or `false`
    @usableFromInline
    package mutating func bool(_ value: Bool) {
        comma()
        if value { buffer.append("true") } else { buffer.append("false") }
    }

    /// Writes an integer.
    @inlinable
    package mutating func integer(_ value: Int64) {
        comma()
        DecimalDigits(value).append(to: &buffer)
    }

    /// Writes any other number; one that JSON cannot represent becomes `null`.
    @usableFromInline
    package mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        comma()
        let text = Array("\(value)".utf8)
        buffer.append(contentsOf: text.span)
    }

    /// Writes a string that needs no escapes.
    @inlinable
    package mutating func plain(_ text: some ASCIIText) {
        comma()
        buffer.append(UInt8(ascii: "\""))
        text.append(to: &buffer)
        buffer.append(UInt8(ascii: "\""))
    }

    /// Writes a string, escaping what JSON requires and everything invisible (``HiddenCharacters``).
    ///
    /// A document may be shown on a terminal. Everything else is written unchanged.
    @usableFromInline
    package mutating func string(_ text: String) {
        comma()
        if !buffer.append(quoted: text) { escaped(text) }
    }

    private mutating func escaped(_ text: String) {
        buffer.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": buffer.append("\\\"")
            case "\\": buffer.append("\\\\")
            case "\n": buffer.append("\\n")
            case "\r": buffer.append("\\r")
            case "\t": buffer.append("\\t")
            case _ where HiddenCharacters.contains(scalar):
                for unit in UTF16.encode(scalar) ?? .init() {
                    buffer.append("\\u")
                    HexDigits(unit, digits: 4, uppercase: false).append(to: &buffer)
                }
            default:
                for byte in UTF8.encode(scalar) ?? .init() { buffer.append(byte) }
            }
        }
        buffer.append(UInt8(ascii: "\""))
    }
}

extension ByteBuffer {
    /// Appends a member name in quotes and a colon, after a comma if one is due.
    ///
    /// The name is a literal in the program, so that its bytes, quotes and colon become a few word-sized stores.
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

    /// Appends a string in quotes, unless part of it must be escaped.
    ///
    /// - Returns: whether it was appended; if not, nothing was.
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
                // The last eight bytes, some of which were examined before.
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

    /// Returns nonzero if one of eight bytes is a quote, a backslash or a control character, or may begin a hidden one.
    ///
    /// Here, hidden characters are those beyond ASCII.
    @inline(__always)
    private static func mustBeEscaped(_ word: UInt64) -> UInt64 {
        EightBytes.textEnds(word) | EightBytes.matches(word, "\u{7F}") | HiddenCharacters.mayBegin(in: word)
    }
}
