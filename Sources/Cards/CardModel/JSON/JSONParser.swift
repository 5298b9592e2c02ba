// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Parses JSON (RFC 8259) from bytes in a single pass.
///
/// Kazasu has its own parser because FoundationEssentials' decoder reports no positions, does not keep the order of
/// members, mistakes texts with NUL bytes for UTF-16, takes time quadratic in the nesting depth, and needs 9 µs for
/// each block of a dump.
struct JSONParser<Target: JSONTarget> {
    private let bytes: ArraySlice<UInt8>
    private var index: Int
    private var depth = 0
    /// Whether member names may be unquoted integers, as some programs write them.
    private let allowsNumbersAsNames: Bool
    private var values = 0
    /// Receives the parts of the text.
    private(set) var target: Target

    init(_ bytes: ArraySlice<UInt8>, _ target: Target, allowsNumbersAsNames: Bool = false) {
        self.bytes = bytes
        self.allowsNumbersAsNames = allowsNumbersAsNames
        self.target = target
        index = bytes.startIndex
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index += 3 }
    }

    /// Parses the single value of the text.
    mutating func document() throws(JSONError) {
        skipBlanks()
        try value()
        skipBlanks()
        guard index == bytes.endIndex else { throw fault() }
    }

    private func fault(_ kind: DocumentError.Reason = .syntax) -> JSONError { JSONError(kind: kind, index: index) }

    private var next: UInt8? { index < bytes.endIndex ? bytes[index] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func value() throws(JSONError) {
        values += 1
        guard values <= JSONValue.mostValues else { throw fault(.tooManyValues) }
        switch next {
        case UInt8(ascii: "\""): try string(isKey: false)
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "t"): try word("true", .bool(true))
        case UInt8(ascii: "f"): try word("false", .bool(false))
        case UInt8(ascii: "n"): try word("null", .null)
        default: try number()
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) {
        for scalar in word.description.unicodeScalars {
            guard take(scalar) else { throw fault() }
        }
        target.scalar(value)
    }

    // MARK: Arrays and objects

    private mutating func enter() throws(JSONError) {
        guard depth < JSONValue.deepestNesting else { throw fault(.tooDeep) }
        depth += 1
        index += 1
        skipBlanks()
    }

    private mutating func array() throws(JSONError) {
        try enter()
        defer { depth -= 1 }
        target.beginArray()
        if take("]") { return target.endArray() }
        while true {
            try value()
            skipBlanks()
            if take("]") { return target.endArray() }
            guard take(",") else { throw fault() }
            skipBlanks()
        }
    }

    private mutating func object() throws(JSONError) {
        try enter()
        defer { depth -= 1 }
        target.beginObject()
        if take("}") { return target.endObject() }
        while true {
            try name()
            skipBlanks()
            guard take(":") else { throw fault() }
            skipBlanks()
            try value()
            skipBlanks()
            if take("}") { return target.endObject() }
            guard take(",") else { throw fault() }
            skipBlanks()
        }
    }

    private mutating func name() throws(JSONError) {
        if next == UInt8(ascii: "\"") { return try string(isKey: true) }
        guard allowsNumbersAsNames else { throw fault() }
        let start = index
        try digits()
        target.plainText(start..<index, in: bytes, isKey: true)
    }

    // MARK: Strings

    private mutating func string(isKey: Bool) throws(JSONError) {
        index += 1
        let start = index
        let isASCII = skipPlainText()
        if next == UInt8(ascii: "\"") {
            if !isASCII { try checkUTF8(start..<index) }
            target.plainText(start..<index, in: bytes, isKey: isKey)
            index += 1
            return
        }
        target.text(try stringWithEscapes(text(start..<index)), isKey: isKey)
    }

    /// Advances to the end of a string or to the next special character in it.
    ///
    /// - Returns: whether everything skipped was ASCII.
    private mutating func skipPlainText() -> Bool {
        let bytes = bytes
        let text = bytes.span
        var place = index - bytes.startIndex
        defer { index = bytes.startIndex + place }
        var all: UInt64 = 0
        while place + 8 <= text.count {
            let word = unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian
            let ends = EightBytes.textEnds(word)
            guard ends == 0 else {
                let count = EightBytes.first(ends)
                place += count
                return (all | word & ((1 << UInt64(count * 8)) &- 1)) & EightBytes.marks == 0
            }
            all |= word
            place += 8
        }
        while place < text.count {
            let byte = text[place]
            if EightBytes.textEnds(UInt64(byte) | 0x2020_2020_2020_2000) != 0 { break }
            all |= UInt64(byte)
            place += 1
        }
        return all & EightBytes.marks == 0
    }

    /// Parses the rest of a string, from its first escape.
    private mutating func stringWithEscapes(_ beginning: String) throws(JSONError) -> String {
        var text = beginning
        while let byte = next, byte >= 0x20 {
            if take("\"") { return text }
            if take("\\") {
                text.unicodeScalars.append(try escape())
            } else {
                let start = index
                while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\\"), byte != UInt8(ascii: "\"") {
                    index += 1
                }
                text += try self.text(start..<index)
            }
        }
        throw fault()
    }

    private func text(_ range: Range<Int>) throws(JSONError) -> String {
        try checkUTF8(range)
        return String(decoding: bytes[range], as: UTF8.self)
    }

    private func checkUTF8(_ range: Range<Int>) throws(JSONError) {
        if let fault = UTF8Check.firstFault(bytes[range].span) {
            throw JSONError(kind: .notUTF8, index: range.lowerBound + fault)
        }
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        guard let byte = next else { throw fault() }
        index += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default:
            index -= 1
            throw fault()
        }
    }

    /// Parses four digits, or two groups of four for a surrogate pair.
    private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let first = try fourDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take("\\"), take("u") else { throw fault() }
        let second = try fourDigits()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x1_0000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw fault() }
        return scalar
    }

    private mutating func fourDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Hex.value(of: byte) else { throw fault() }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }

    // MARK: Numbers

    private mutating func number() throws(JSONError) {
        let start = index
        _ = take("-")
        if !take("0") { try digits() }
        var isWhole = true
        if take(".") {
            isWhole = false
            try digits()
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            try digits()
        }
        let digits = String(decoding: bytes[start..<index], as: UTF8.self)
        if isWhole, let value = Int64(digits) { return target.scalar(.integer(value)) }
        guard let value = Double(digits), value.isFinite else {
            throw JSONError(kind: .numberTooLarge, index: start)
        }
        // 1e3 is as integral as 1000.
        if let whole = Int64(exactly: value), abs(value) < 0x1p53 { return target.scalar(.integer(whole)) }
        target.scalar(.number(value))
    }

    private mutating func digits() throws(JSONError) {
        let start = index
        while let byte = next, byte >= 0x30, byte <= 0x39 { index += 1 }
        guard index > start else { throw fault() }
    }
}

/// Examines eight bytes of a text at a time; the first is the lowest byte of a word.
///
/// A match is marked by the highest bit of its byte. Only the lowest mark is reliable, since a match may borrow from
/// the byte above it; whether there is a match at all is always reliable.
enum EightBytes {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    static let marks: UInt64 = 0x8080_8080_8080_8080

    /// Marks the bytes equal to this ASCII letter.
    @inline(__always)
    static func matches(_ word: UInt64, _ letter: Unicode.Scalar) -> UInt64 {
        matches(word, byte: UInt8(ascii: letter))
    }

    /// Marks the bytes equal to `byte`.
    @inline(__always)
    static func matches(_ word: UInt64, byte: UInt8) -> UInt64 {
        let difference = word ^ (ones &* UInt64(byte))
        return (difference &- ones) & ~difference & marks
    }

    /// Marks the bytes below 20, which are not allowed in a JSON string.
    @inline(__always)
    static func controls(_ word: UInt64) -> UInt64 { (word &- ones &* 0x20) & ~word & marks }

    /// Marks the bytes that end a JSON string, begin an escape, or are not allowed in a string.
    @inline(__always)
    static func textEnds(_ word: UInt64) -> UInt64 { controls(word) | matches(word, "\"") | matches(word, "\\") }

    /// Returns the index of the byte with the lowest mark, 0 to 7; 8 if there is none.
    @inline(__always)
    static func first(_ marks: UInt64) -> Int { marks.trailingZeroBitCount / 8 }
}

/// Receives the parts of a text from a ``JSONParser``, which keeps the grammar separate from what is built.
protocol JSONTarget {
    mutating func beginObject()
    mutating func endObject()
    mutating func beginArray()
    mutating func endArray()
    /// A name or string without escapes, by its position in the text; it is UTF-8.
    mutating func plainText(_ range: Range<Int>, in bytes: ArraySlice<UInt8>, isKey: Bool)
    /// A name or string that had escapes.
    mutating func text(_ text: String, isKey: Bool)
    /// A number, `true`, `false` or `null`.
    mutating func scalar(_ value: JSONValue)
}

/// A fault in a JSON text, and its position.
struct JSONError: Error {
    let kind: DocumentError.Reason
    /// The index of the first byte that is not valid JSON at its position.
    let index: Int

    /// Returns the error with line and byte.
    func documentError(in bytes: ArraySlice<UInt8>) -> DocumentError {
        let before = bytes[..<min(max(index, bytes.startIndex), bytes.endIndex)]
        let newline = UInt8(ascii: "\n")
        let line = before.count { $0 == newline } + 1
        let start = before.lastIndex(of: newline).map { $0 + 1 } ?? bytes.startIndex
        let reason = kind == .syntax && index >= bytes.endIndex ? .endsEarly : kind
        return .notJSON(reason, line: line, byte: before.endIndex - start + 1)
    }
}
