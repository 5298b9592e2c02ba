// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Goes through a text row by row.
struct DelimitedScan {
    /// The row that was found last.
    private(set) var row: DelimitedRow
    /// Where the text ends and the meanings of quoted fields begin.
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

    /// Looks for the next row that is not empty.
    ///
    /// - Returns: whether there was one.
    /// - Throws: ``DocumentError/malformedLine(line:expected:)`` for an open quote.
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

    /// Takes a field and the separator or line end after it.
    ///
    /// - Returns: whether it was the last of the row.
    private mutating func takeField() throws(DocumentError) -> Bool {
        let start = index
        if separator != UInt8(ascii: "\t"), index < end, row.bytes[index] == DelimitedScan.quote {
            row.fields.append(try quotedField())
            // What stands behind the closing quote belongs to no field.
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

    /// What a field means that begins with a quote here; the place is behind its closing quote then.
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
        throw .malformedLine(line: first, expected: "a closing quote")
    }
}
