// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Rows of a table in comma-separated (RFC 4180) or tab-separated text, UTF-8 with or without a byte order mark.
///
/// Own code because the CSV packages need the whole of Foundation, which would cost every command its start-up time.
struct DelimitedText {
    /// The bytes after the byte order mark.
    private let bytes: [UInt8]
    /// A tab or a comma, whichever the first line has more of.
    let separator: UInt8

    private static let tab = UInt8(ascii: "\t")
    private static let comma = UInt8(ascii: ",")
    private static let quote = UInt8(ascii: "\"")
    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// - Throws: ``DocumentError/malformedLine(line:expected:)`` for the first line that is not UTF-8.
    init(_ text: [UInt8]) throws(DocumentError) {
        bytes = text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
        let first = bytes.prefix { $0 != DelimitedText.newline }
        let tabs = first.count { $0 == DelimitedText.tab }
        separator = tabs > 0 ? DelimitedText.tab : DelimitedText.comma
        if String(validating: bytes, as: UTF8.self) == nil {
            throw .malformedLine(line: DelimitedText.firstInvalidLine(bytes), expected: "UTF-8")
        }
    }

    /// Calls `row` with the number of each line that is not empty, and its fields.
    ///
    /// - Parameter mostRows: how many rows to stop after.
    /// - Throws: what `row` throws, and ``DocumentError/malformedLine(line:expected:)`` for an open quote.
    func forEachRow(
        mostRows: Int = .max, _ row: (_ line: Int, _ fields: [ArraySlice<UInt8>]) throws(DocumentError) -> Void
    ) throws(DocumentError) {
        var fields: [ArraySlice<UInt8>] = []
        var rows = 0
        var (line, start, index) = (1, 0, 0)
        while index <= bytes.count {
            let byte = index < bytes.count ? bytes[index] : DelimitedText.newline
            if byte == DelimitedText.quote, index == start, separator == DelimitedText.comma {
                let first = line
                guard let (field, end) = quoted(from: index, line: &line) else {
                    throw .malformedLine(line: first, expected: "a closing quote")
                }
                fields.append(field)
                index = end
                if index < bytes.count, bytes[index] == separator {
                    index += 1
                    start = index
                    continue
                }
                start = -1
            }
            let end = index < bytes.count ? bytes[index] : DelimitedText.newline
            if end == separator {
                if start >= 0 { fields.append(bytes[start..<index]) }
                start = index + 1
            } else if end == DelimitedText.newline {
                if start >= 0 {
                    let last = index > start && bytes[index - 1] == DelimitedText.carriageReturn ? index - 1 : index
                    fields.append(bytes[start..<last])
                }
                if fields.count > 1 || !(fields.first?.isEmpty ?? true) {
                    try row(line, fields)
                    rows += 1
                    if rows >= mostRows { return }
                }
                fields.removeAll(keepingCapacity: true)
                line += 1
                start = index + 1
            }
            index += 1
        }
    }

    /// A quoted field that begins at `from`, without its quotes, and the place after it.
    private func quoted(from: Int, line: inout Int) -> (ArraySlice<UInt8>, Int)? {
        var field: [UInt8] = []
        var index = from + 1
        while index < bytes.count {
            let byte = bytes[index]
            if byte == DelimitedText.quote {
                if index + 1 < bytes.count, bytes[index + 1] == DelimitedText.quote {
                    index += 1
                } else {
                    return (field[...], index + 1)
                }
            }
            if byte == DelimitedText.newline { line += 1 }
            field.append(byte)
            index += 1
        }
        return nil
    }

    private static func firstInvalidLine(_ bytes: [UInt8]) -> Int {
        for (index, line) in bytes.split(separator: newline, omittingEmptySubsequences: false).enumerated()
        where String(validating: line, as: UTF8.self) == nil {
            return index + 1
        }
        return 1
    }
}
