// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Rows of a table in text separated by tabs, commas (RFC 4180) or semicolons, UTF-8 with or without a byte order mark.
///
/// Implemented here because the CSV packages need all of Foundation, which would cost every command its start-up time.
struct DelimitedText {
    /// The bytes after the byte order mark.
    private let bytes: [UInt8]
    /// A tab, a comma or a semicolon: the first of these found in the first line.
    let separator: UInt8

    private static let tab = UInt8(ascii: "\t")
    private static let comma = UInt8(ascii: ",")
    private static let semicolon = UInt8(ascii: ";")
    private static let newline = UInt8(ascii: "\n")

    /// - Throws: ``DocumentError/malformedLine(line:expected:)`` for the first line that is not UTF-8.
    init(_ text: [UInt8]) throws(DocumentError) {
        bytes = text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
        let first = bytes.prefix { $0 != DelimitedText.newline }
        separator =
            [DelimitedText.tab, DelimitedText.comma, DelimitedText.semicolon].first { first.contains($0) }
            ?? DelimitedText.comma
        if let fault = UTF8Check.firstFault(bytes.span) {
            let before = bytes.prefix(fault)
            throw .malformedLine(line: before.count { $0 == DelimitedText.newline } + 1, expected: .init(.utf8))
        }
    }

    /// Calls `body` with each non-empty line.
    ///
    /// - Parameter mostRows: the number of rows to stop after.
    /// - Throws: any error of `body`, and ``DocumentError/malformedLine(line:expected:)`` for an unterminated quote.
    func forEachRow(
        mostRows: Int = .max, _ body: (DelimitedRow) throws(DocumentError) -> Void
    ) throws(DocumentError) {
        var scan = DelimitedScan(bytes, separator)
        var rows = 0
        while rows < mostRows, try scan.nextRow() {
            rows += 1
            try body(scan.row)
        }
    }
}

/// One row of a ``DelimitedText``, as ranges of its fields in the text, so that fields are copied only on demand.
struct DelimitedRow {
    /// The line number, from 1.
    var line = 0
    /// The text, followed by the unescaped contents of quoted fields whose bytes differ from those in the text.
    var bytes: [UInt8]
    var fields: [Range<Int>] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The number of fields.
    var count: Int { fields.count }

    /// Returns whether a field is present and not empty.
    func has(_ column: Int) -> Bool { fields.element(at: column).map { !$0.isEmpty } ?? false }

    /// The bytes of a field, or `nil` when it is missing.
    func field(_ column: Int) -> ArraySlice<UInt8>? { fields.element(at: column).map { bytes[$0] } }

    /// The text of a field, or `nil` when it is missing or empty.
    func text(_ column: Int) -> String? {
        guard let field = field(column), !field.isEmpty else { return nil }
        return String(decoding: field, as: UTF8.self)
    }

    /// Returns whether two fields, of any rows of this text, are equal.
    func isEqual(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        guard one.count == other.count else { return false }
        let distance = other.lowerBound - one.lowerBound
        for index in one where bytes[index] != bytes[index + distance] { return false }
        return true
    }

    /// The number in a field, at most 65535; `nil` when it is not a number. Hexadecimal digits can follow 0x.
    func number(_ column: Int, _ codes: StationFile.Codes) -> UInt32? {
        guard var range = fields.element(at: column) else { return nil }
        if codes == .hex, range.count > 2, bytes[range.lowerBound] == UInt8(ascii: "0"),
            bytes[range.lowerBound + 1] | 0x20 == UInt8(ascii: "x")
        {
            range = range.lowerBound + 2..<range.upperBound
        }
        guard (1...5).contains(range.count) else { return nil }
        var value: UInt32 = 0
        for index in range {
            guard let nibble = Hex.value(of: bytes[index]) else { return nil }
            switch codes {
            case .hex: value = value << 4 | UInt32(nibble)
            case .decimal:
                guard nibble < 10 else { return nil }
                value = value * 10 + UInt32(nibble)
            }
        }
        return value <= 0xFFFF ? value : nil
    }

    /// The number in a field if it is at most 255.
    func byte(_ column: Int, _ codes: StationFile.Codes) -> UInt8? {
        number(column, codes).flatMap { UInt8(exactly: $0) }
    }
}

/// Iterates over a text row by row.
struct DelimitedScan {
    /// The row found last.
    private(set) var row: DelimitedRow
    /// The end of the text, where the unescaped contents of quoted fields begin.
    private let end: Int
    private let separator: UInt8
    private var index = 0
    private var line = 1

    private static let quote = UInt8(ascii: "\"")
    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    init(_ bytes: [UInt8], _ separator: UInt8) {
        row = DelimitedRow(bytes)
        row.fields.reserveCapacity(16)
        end = bytes.count
        self.separator = separator
    }

    /// Finds the next non-empty row.
    ///
    /// - Returns: whether there was one.
    /// - Throws: ``DocumentError/malformedLine(line:expected:)`` for an unterminated quote.
    mutating func nextRow() throws(DocumentError) -> Bool {
        while index < end {
            row.fields.removeAll(keepingCapacity: true)
            row.line = line
            var isLast = false
            while !isLast { isLast = try takeField() }
            if row.count > 1 || row.has(0) { return true }
        }
        return false
    }

    /// Consumes a field and the separator or line end after it.
    ///
    /// - Returns: whether it was the last field of the row.
    private mutating func takeField() throws(DocumentError) -> Bool {
        let start = index
        if separator != UInt8(ascii: "\t"), index < end, row.bytes[index] == DelimitedScan.quote {
            row.fields.append(try quotedField())
            // Text after the closing quote belongs to no field.
            skipToFieldEnd()
        } else {
            skipToFieldEnd()
            let isReturn = index > start && row.bytes[index - 1] == DelimitedScan.carriageReturn && isAtLineEnd
            row.fields.append(start..<(isReturn ? index - 1 : index))
        }
        let isLast = isAtLineEnd
        if isLast { line += 1 }
        index += 1
        return isLast
    }

    private var isAtLineEnd: Bool { index >= end || row.bytes[index] == DelimitedScan.newline }

    private mutating func skipToFieldEnd() {
        while index < end, row.bytes[index] != separator, row.bytes[index] != DelimitedScan.newline { index += 1 }
    }

    /// Returns the contents of the quoted field that begins here, and advances past its closing quote.
    private mutating func quotedField() throws(DocumentError) -> Range<Int> {
        let first = line
        var meaning: [UInt8] = []
        index += 1
        while index < end {
            let byte = row.bytes[index]
            index += 1
            if byte == DelimitedScan.quote {
                guard index < end, row.bytes[index] == DelimitedScan.quote else {
                    let start = row.bytes.count
                    row.bytes += meaning
                    return start..<row.bytes.count
                }
                index += 1
            }
            if byte == DelimitedScan.newline { line += 1 }
            meaning.append(byte)
        }
        throw .malformedLine(line: first, expected: .init(.closingQuote))
    }
}

/// Texts in Shift_JIS as written by Japanese Windows (code page 932).
enum ShiftJIS {
    /// Returns the text in UTF-8, or `nil` when it already is UTF-8 or is not Shift_JIS either.
    ///
    /// A UTF-8 file with one damaged byte could also be read as Shift_JIS, with different characters. So the first
    /// non-ASCII byte must be one that cannot occur there in UTF-8.
    static func utf8(_ bytes: [UInt8]) -> [UInt8]? {
        guard let fault = UTF8Check.firstFault(bytes.span), bytes.firstIndex(where: { $0 >= 0x80 }) == fault else {
            return nil
        }
        return CP932.utf8(bytes)
    }
}
