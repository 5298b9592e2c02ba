// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// Writes JSON on one line into a buffer of bytes.
///
/// One writer can take many documents one after the other: ``removeAll()`` keeps the room that the buffer has.
public struct JSONWriter: JSONSink {
    /// What was written, UTF-8.
    public private(set) var bytes: [UInt8] = []
    /// Whether a value has ended that the next one or its name must be kept apart from.
    private var needsComma = false

    /// Nothing was written yet.
    public init() {}

    /// What was written.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Forgets what was written.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    // MARK: Outside of values

    /// Adds a line end, after which the next document can begin.
    public mutating func endLine() { raw("\n") }

    mutating func raw(_ byte: UInt8) {
        bytes.append(byte)
        needsComma = false
    }

    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
        needsComma = false
    }

    mutating func raw(_ other: JSONWriter) {
        bytes += other.bytes
        needsComma = false
    }

    mutating func blanks(_ count: Int) {
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: count))
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func word(_ text: StaticString) {
        comma()
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    // MARK: Arrays and objects

    /// `{`
    public mutating func beginObject() { word("{"); needsComma = false }
    /// `}`
    public mutating func endObject() { bytes.append(UInt8(ascii: "}")); needsComma = true }
    /// `[`
    public mutating func beginArray() { word("["); needsComma = false }
    /// `]`
    public mutating func endArray() { bytes.append(UInt8(ascii: "]")); needsComma = true }

    /// The name of the next value; its characters need no escapes.
    public mutating func key(_ name: StaticString) {
        name.withUTF8Buffer { name in
            bytes.append(addingCapacity: name.count + 4) { text in
                if needsComma { text.append(UInt8(ascii: ",")) }
                text.append(UInt8(ascii: "\""))
                for unsafe byte in unsafe name { text.append(byte) }
                text.append(UInt8(ascii: "\""))
                text.append(UInt8(ascii: ":"))
            }
        }
        needsComma = false
    }

    /// The name of the next value.
    public mutating func key(_ name: String) {
        string(name)
        raw(UInt8(ascii: ":"))
    }

    // MARK: Values

    /// `null`
    public mutating func null() { word("null") }

    /// `true` or `false`
    public mutating func bool(_ value: Bool) { word(value ? "true" : "false") }

    /// A number without fraction.
    public mutating func integer(_ value: Int64) {
        comma()
        // The digits of any number of 64 bits and its sign.
        bytes.append(addingCapacity: 20) { text in
            if value < 0 { text.append(UInt8(ascii: "-")) }
            JSONWriter.decimal(value.magnitude, to: &text)
        }
    }

    private static func decimal(_ number: UInt64, to text: inout OutputSpan<UInt8>) {
        var unit: UInt64 = 1
        while number / unit >= 10 { unit *= 10 }
        while unit > 0 {
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
    }

    /// Any other number; one that JSON does not have becomes `null`.
    public mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        comma()
        bytes.append(contentsOf: "\(value)".utf8)
    }

    /// A text that needs no escapes.
    public mutating func plain(_ text: some ASCIIText) {
        let hasComma = needsComma
        bytes.append(addingCapacity: text.longestCount + 3) { bytes in
            if hasComma { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            text.append(to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        needsComma = true
    }

    /// A text; what must be escaped is, everything else stays as it is.
    public mutating func string(_ text: String) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        let utf8 = text.utf8.span
        if JSONWriter.needsEscapes(utf8) {
            for index in utf8.indices { escaped(utf8[index]) }
        } else {
            unsafe utf8.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        }
        bytes.append(UInt8(ascii: "\""))
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
        case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
        case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
        case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
        case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
        case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
        case _ where JSONWriter.mustBeEscaped(byte):
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(addingCapacity: 2) { HexDigits(byte, digits: 2, uppercase: false).append(to: &$0) }
        default: bytes.append(byte)
        }
    }
}
