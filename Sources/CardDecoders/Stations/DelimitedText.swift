// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Rows of a table in tab-separated text or in text separated by commas (RFC 4180) or semicolons, UTF-8 with or without a byte order mark.
///
/// Own code because the CSV packages need the whole of Foundation, which would cost every command its start-up time.
struct DelimitedText {
    /// The bytes after the byte order mark.
    private let bytes: [UInt8]
    /// A tab, a comma or a semicolon, the first of these that the first line has.
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
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            let before = bytes.prefix(error.byteOffsets.lowerBound)
            throw .malformedLine(line: before.count { $0 == DelimitedText.newline } + 1, expected: "UTF-8")
        }
    }

    /// Calls `body` with each line that is not empty.
    ///
    /// - Parameter mostRows: how many rows to stop after.
    /// - Throws: what `body` throws, and ``DocumentError/malformedLine(line:expected:)`` for an open quote.
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
