// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// Writes JSON on one line into a buffer of bytes.
///
/// One writer can take many documents one after the other: ``removeAll()`` keeps the room that the buffer has.
public struct JSONWriter: JSONSink {
    @usableFromInline var buffer: [UInt8] = []
    /// Whether a value has ended that the next one or its name must be kept apart from.
    @usableFromInline var needsComma = false

    /// What was written, UTF-8.
    public var bytes: [UInt8] { buffer }

    /// Nothing was written yet.
    public init() {}

    /// What was written.
    public var text: String { String(decoding: buffer, as: UTF8.self) }

    /// Forgets what was written.
    public mutating func removeAll() {
        buffer.removeAll(keepingCapacity: true)
        needsComma = false
    }

    // MARK: Outside of values

    /// Adds a line end, after which the next document can begin.
    public mutating func endLine() { raw("\n") }

    mutating func raw(_ byte: UInt8) {
        buffer.append(byte)
        needsComma = false
    }

    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { unsafe buffer.append(contentsOf: $0) }
        needsComma = false
    }

    mutating func raw(_ other: JSONWriter) {
        buffer += other.buffer
        needsComma = false
    }

    mutating func blanks(_ count: Int) {
        buffer.append(contentsOf: repeatElement(UInt8(ascii: " "), count: count))
    }

    @usableFromInline
    mutating func comma() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    @inlinable
    mutating func word(_ text: StaticString) {
        comma()
        text.withUTF8Buffer { unsafe buffer.append(contentsOf: $0) }
    }

    /// Adds at once a comma where one is due, and what `body` adds: at most `count` bytes.
    @inlinable
    mutating func add(_ count: Int, _ body: (inout OutputSpan<UInt8>) -> Void) {
        let hasComma = needsComma
        buffer.append(addingCapacity: count + 1) { text in
            if hasComma { text.append(UInt8(ascii: ",")) }
            body(&text)
        }
        needsComma = true
    }

    /// Adds at once the name of a member and its value: at most `count` bytes.
    @inlinable
    mutating func add(_ name: StaticString, _ count: Int, _ body: (inout OutputSpan<UInt8>) -> Void) {
        name.withUTF8Buffer { name in
            add(name.count + 3 + count) { text in
                text.append(UInt8(ascii: "\""))
                unsafe text.append(copying: name)
                text.append(UInt8(ascii: "\""))
                text.append(UInt8(ascii: ":"))
                body(&text)
            }
        }
    }

    // MARK: Arrays and objects

    /// `{`
    @inlinable
    public mutating func beginObject() { add(1) { $0.append(UInt8(ascii: "{")) }; needsComma = false }
    /// `}`
    @inlinable
    public mutating func endObject() { buffer.append(UInt8(ascii: "}")); needsComma = true }
    /// `[`
    @inlinable
    public mutating func beginArray() { add(1) { $0.append(UInt8(ascii: "[")) }; needsComma = false }
    /// `]`
    @inlinable
    public mutating func endArray() { buffer.append(UInt8(ascii: "]")); needsComma = true }

    /// The name of the next value; its characters need no escapes.
    @inlinable
    public mutating func key(_ name: StaticString) {
        add(name, 0) { _ in }
        needsComma = false
    }

    /// The name of the next value.
    public mutating func key(_ name: String) {
        string(name)
        raw(UInt8(ascii: ":"))
    }

    // MARK: Values

    /// `null`
    @inlinable
    public mutating func null() { word("null") }

    /// `true` or `false`
    @inlinable
    public mutating func bool(_ value: Bool) { word(value ? "true" : "false") }

    /// A number without fraction.
    public mutating func integer(_ value: Int64) {
        add(JSONWriter.longestInteger) { JSONWriter.append(value, to: &$0) }
    }

    /// A member of an object: its name, then a number without fraction.
    public mutating func member(_ name: StaticString, integer value: Int64) {
        add(name, JSONWriter.longestInteger) { JSONWriter.append(value, to: &$0) }
    }

    /// A member of an object: its name, then `null`.
    public mutating func nullMember(_ name: StaticString) {
        add(name, 4) { text in
            text.append(UInt8(ascii: "n"))
            text.append(UInt8(ascii: "u"))
            text.append(UInt8(ascii: "l"))
            text.append(UInt8(ascii: "l"))
        }
    }

    /// The digits of any number of 64 bits and its sign.
    private static let longestInteger = 20

    private static func append(_ value: Int64, to text: inout OutputSpan<UInt8>) {
        if value < 0 { text.append(UInt8(ascii: "-")) }
        decimal(value.magnitude, to: &text)
    }

    private static func decimal(_ number: UInt64, to text: inout OutputSpan<UInt8>) {
        // Eight digits at a time are collected in one number, the first in its lowest byte.
        let high = number / 100_000_000
        if high > 0 { decimal(high, to: &text) }
        var rest = number % 100_000_000
        var digits: UInt64 = 0
        var count = 0
        repeat {
            digits = digits << 8 | (0x30 + rest % 10)
            rest /= 10
            count += 1
        } while high > 0 ? count < 8 : rest > 0
        for _ in 0..<count {
            text.append(UInt8(truncatingIfNeeded: digits))
            digits >>= 8
        }
    }

    /// Any other number; one that JSON does not have becomes `null`.
    public mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        comma()
        buffer.append(contentsOf: "\(value)".utf8)
    }

    /// A text that needs no escapes.
    @inlinable
    public mutating func plain(_ text: some ASCIIText) {
        add(text.longestCount + 2) { JSONWriter.append(text, to: &$0) }
    }

    /// A member of an object: its name, then a text that needs no escapes.
    @inlinable
    public mutating func member(_ name: StaticString, plain text: some ASCIIText) {
        add(name, text.longestCount + 2) { JSONWriter.append(text, to: &$0) }
    }

    @inlinable
    static func append(_ text: some ASCIIText, to bytes: inout OutputSpan<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        text.append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A text; what must be escaped is, everything else stays as it is.
    public mutating func string(_ text: String) {
        let utf8 = text.utf8.span
        guard !JSONWriter.needsEscapes(utf8) else { return escaped(utf8) }
        unsafe utf8.withUnsafeBufferPointer { utf8 in
            add(utf8.count + 2) { unsafe JSONWriter.append(utf8, to: &$0) }
        }
    }

    /// A member of an object: its name, then a text.
    public mutating func member(_ name: StaticString, string text: String) {
        let utf8 = text.utf8.span
        guard !JSONWriter.needsEscapes(utf8) else {
            key(name)
            return escaped(utf8)
        }
        unsafe utf8.withUnsafeBufferPointer { utf8 in
            add(name, utf8.count + 2) { unsafe JSONWriter.append(utf8, to: &$0) }
        }
    }

    private static func append(_ utf8: UnsafeBufferPointer<UInt8>, to text: inout OutputSpan<UInt8>) {
        text.append(UInt8(ascii: "\""))
        unsafe text.append(copying: utf8)
        text.append(UInt8(ascii: "\""))
    }

    private mutating func escaped(_ utf8: Span<UInt8>) {
        add(1) { $0.append(UInt8(ascii: "\"")) }
        for index in utf8.indices { escaped(utf8[index]) }
        buffer.append(UInt8(ascii: "\""))
    }

    /// Without leaving the loop early, so that many bytes are looked at at once.
    private static func needsEscapes(_ text: Span<UInt8>) -> Bool {
        var found: UInt8 = 0
        for index in text.indices {
            found |= mustBeEscaped(unsafe text[unchecked: index]) ? 1 : 0
        }
        return found != 0
    }

    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): buffer.append(contentsOf: "\\\"".utf8)
        case UInt8(ascii: "\\"): buffer.append(contentsOf: "\\\\".utf8)
        case UInt8(ascii: "\n"): buffer.append(contentsOf: "\\n".utf8)
        case UInt8(ascii: "\r"): buffer.append(contentsOf: "\\r".utf8)
        case UInt8(ascii: "\t"): buffer.append(contentsOf: "\\t".utf8)
        case _ where JSONWriter.mustBeEscaped(byte):
            buffer.append(contentsOf: "\\u00".utf8)
            buffer.append(addingCapacity: 2) { HexDigits(byte, digits: 2, uppercase: false).append(to: &$0) }
        default: buffer.append(byte)
        }
    }
}
