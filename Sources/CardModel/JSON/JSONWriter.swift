// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// Writes JSON on one line into a buffer of bytes.
///
/// One writer can take many documents one after the other: ``removeAll()`` keeps the room that the buffer has.
public struct JSONWriter: JSONSink, ~Copyable {
    @usableFromInline var buffer = ByteBuffer(capacity: 256)
    /// Whether a value has ended that the next one or its name must be kept apart from.
    @usableFromInline var needsComma = false

    /// What was written, UTF-8.
    public var bytes: [UInt8] { buffer.bytes }

    /// How many bytes were written.
    public var count: Int { buffer.count }

    /// Nothing was written yet.
    public init() {}

    /// What was written.
    public var text: String { buffer.text }

    /// Calls `body` with what was written, UTF-8.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try buffer.withBytes(body)
    }

    /// Forgets what was written.
    public mutating func removeAll() {
        buffer.removeAll()
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
    public mutating func beginObject() { comma(); buffer.append(UInt8(ascii: "{")); needsComma = false }
    /// `}`
    @inlinable
    public mutating func endObject() { buffer.append(UInt8(ascii: "}")); needsComma = true }
    /// `[`
    @inlinable
    public mutating func beginArray() { comma(); buffer.append(UInt8(ascii: "[")); needsComma = false }
    /// `]`
    @inlinable
    public mutating func endArray() { buffer.append(UInt8(ascii: "]")); needsComma = true }

    /// The name of the next value; its characters need no escapes.
    @inlinable @inline(__always)
    public mutating func key(_ name: StaticString) {
        buffer.append(key: name, afterComma: needsComma)
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
    public mutating func null() { comma(); buffer.append("null") }

    /// `true` or `false`
    @inlinable
    public mutating func bool(_ value: Bool) {
        comma()
        if value { buffer.append("true") } else { buffer.append("false") }
    }

    /// A number without fraction.
    public mutating func integer(_ value: Int64) {
        comma()
        DecimalDigits(value).append(to: &buffer)
    }

    /// Any other number; one that JSON does not have becomes `null`.
    public mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        comma()
        buffer.append(contentsOf: "\(value)".utf8.span)
    }

    /// A text that needs no escapes.
    @inlinable
    public mutating func plain(_ text: some ASCIIText) {
        comma()
        buffer.append(UInt8(ascii: "\""))
        text.append(to: &buffer)
        buffer.append(UInt8(ascii: "\""))
    }

    /// A text. What must be escaped is, and whatever is not seen (``HiddenCharacters``): a document may be shown on a
    /// terminal. Everything else stays as it is.
    public mutating func string(_ text: String) {
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
