// SPDX-License-Identifier: Apache-2.0

/// A table of facts as text: one row per line, with tabs between fields.
///
/// The first line names the columns. Lines that begin with `#` are comments and name the sources of the facts. Empty
/// lines are ignored, empty fields at the end of a line can be omitted, and there is no quoting. A malformed line is
/// skipped and listed in ``faults``: a table never stops the program, and tests ensure that the tables of a release
/// have no faults.
package struct FactTable<Row: Sendable>: Sendable {
    /// The rows in order.
    package let rows: [Row]
    /// The faults of the malformed lines.
    package let faults: [FactTableError]

    /// Reads a table.
    ///
    /// - Parameters:
    ///   - bytes: the text, UTF-8.
    ///   - columns: the names of the columns, as its first line must list them.
    ///   - key: columns that together identify a row; of two rows with the same key, the first counts.
    ///   - row: converts a row to a value.
    package init(_ bytes: [UInt8], columns: [String], key: [String], row: (FactRow) throws(FactTableError) -> Row) {
        var rows: [Row] = []
        var faults: [FactTableError] = []
        var headerWasSeen = false
        var keys: Set<[String?]> = []
        for (place, bytes) in bytes[...].parts(between: 0x0A).enumerated() {
            let line = place + 1
            let bytes = bytes.last == 0x0D ? bytes.dropLast() : bytes
            guard !bytes.isEmpty, bytes.first != UInt8(ascii: "#") else { continue }
            // A line is UTF-8 if what stands between its tabs is.
            let parts = bytes.parts(between: 0x09)
            let fields = parts.compactMap { String(validating: $0, as: UTF8.self) }
            if fields.count != parts.count {
                faults.append(FactTableError(line: line, reason: .notUTF8))
                continue
            }
            if !headerWasSeen {
                headerWasSeen = true
                if fields != columns {
                    faults.append(FactTableError(line: line, reason: .wrongHeader))
                }
            } else if fields.count > columns.count {
                faults.append(FactTableError(line: line, reason: .tooManyFields))
            } else {
                do throws(FactTableError) {
                    let fields = FactRow(line: line, columns: columns, fields: fields)
                    guard keys.insert(try fields.texts(key)).inserted else {
                        throw FactTableError(line: line, reason: .duplicate)
                    }
                    rows.append(try row(fields))
                } catch {
                    faults.append(error)
                }
            }
        }
        if !headerWasSeen { faults.append(FactTableError(line: 1, reason: .wrongHeader)) }
        self.rows = rows
        self.faults = faults
    }
}

extension ArraySlice<UInt8> {
    /// What stands between separators, also nothing. Tables are read when a program starts, so it looks at bytes and not at
    /// characters, in a loop that is quick without the optimizer, too.
    fileprivate func parts(between separator: UInt8) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var (start, index) = (startIndex, startIndex)
        while index < endIndex {
            if self[index] == separator {
                parts.append(self[start..<index])
                start = index + 1
            }
            index += 1
        }
        parts.append(self[start...])
        return parts
    }
}

/// A table of facts whose rows are found by key; of two rows with the same key, the first counts.
package struct LookupTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The faults of the malformed lines.
    package let faults: [FactTableError]
    private let values: [Key: Value]

    /// Reads a table in the same way as ``FactTable``.
    package init(
        _ bytes: [UInt8], columns: [String], key: [String],
        row: (FactRow) throws(FactTableError) -> (key: Key, value: Value)
    ) {
        let table = FactTable(bytes, columns: columns, key: key, row: row)
        values = Dictionary(table.rows.map { ($0.key, $0.value) }) { first, _ in first }
        faults = table.faults
    }

    /// Reads a table whose rows belong to groups, such as the codes of one card.
    package init<Code: Hashable & Sendable, Fact: Sendable>(
        _ bytes: [UInt8], columns: [String], key: [String],
        groups row: (FactRow) throws(FactTableError) -> (group: Key, code: Code, fact: Fact)
    ) where Value == [Code: Fact] {
        let table = FactTable(bytes, columns: columns, key: key, row: row)
        var values: [Key: Value] = [:]
        for row in table.rows { values[row.group, default: [:]][row.code] = row.fact }
        self.values = values
        faults = table.faults
    }

    /// The value of a key, or `nil`.
    package subscript(key: Key) -> Value? { values[key] }
}

/// One row of a table: the fields of a line by column name.
package struct FactRow: Hashable, Sendable {
    /// The line number, from 1.
    package let line: Int
    private let columns: [String]
    private let fields: [String]

    init(line: Int, columns: [String], fields: [String]) {
        self.line = line
        self.columns = columns
        self.fields = fields
    }

    /// Returns the text of a column; `nil` if the field is empty.
    ///
    /// - Throws: ``FactTableError`` if the table has no such column.
    package func text(_ column: String) throws(FactTableError) -> String? {
        guard let place = columns.firstIndex(of: column) else {
            throw fault(column, .noSuchColumn)
        }
        guard place < fields.count, !fields[place].isEmpty else { return nil }
        return fields[place]
    }

    /// Returns the text of a column that is never empty.
    ///
    /// - Throws: ``FactTableError``.
    package func required(_ column: String) throws(FactTableError) -> String {
        guard let text = try text(column) else { throw fault(column, .empty) }
        return text
    }

    /// Returns the text of the columns `english` and `japanese`; `nil` if both are empty. One alone is a fault.
    ///
    /// - Throws: ``FactTableError``.
    package func name() throws(FactTableError) -> LocalizedText? {
        let texts = [try text("english"), try text("japanese")]
        if texts == [nil, nil] { return nil }
        return LocalizedText(try required("english"), try required("japanese"))
    }

    /// Returns the text of the columns `english` and `japanese`, which must not be empty.
    ///
    /// - Throws: ``FactTableError``.
    package func requiredName() throws(FactTableError) -> LocalizedText {
        guard let name = try name() else { throw fault("english", .empty) }
        return name
    }

    /// Returns a number in hexadecimal digits without `0x`.
    ///
    /// - Throws: ``FactTableError``.
    package func hex<Number: FixedWidthInteger>(_ column: String) throws(FactTableError) -> Number {
        try number(try required(column), column, radix: 16)
    }

    /// Returns numbers in hexadecimal digits, separated by spaces; none if the field is empty.
    ///
    /// - Throws: ``FactTableError``.
    package func hexList<Number: FixedWidthInteger>(_ column: String) throws(FactTableError) -> [Number] {
        var numbers: [Number] = []
        let words = try text(column)?.split(separator: " ") ?? []
        for word in words {
            numbers.append(try number(word, column, radix: 16))
        }
        return numbers
    }

    /// Returns a decimal number; `nil` if the field is empty.
    ///
    /// - Throws: ``FactTableError``.
    package func decimal(_ column: String) throws(FactTableError) -> Int? {
        guard let text = try text(column) else { return nil }
        return try number(text, column, radix: 10)
    }

    /// Returns the value of a keyword; `nil` if the field is empty.
    ///
    /// - Throws: ``FactTableError`` if the keyword is unknown.
    package func word<Value: RawRepresentable>(
        _ column: String, _: Value.Type = Value.self
    ) throws(FactTableError) -> Value? where Value.RawValue == String {
        guard let text = try text(column) else { return nil }
        guard let value = Value(rawValue: text) else { throw fault(column, .unknownWord) }
        return value
    }

    /// Returns the value of a keyword in a column that is never empty.
    ///
    /// - Throws: ``FactTableError``.
    package func requiredWord<Value: RawRepresentable>(
        _ column: String, _: Value.Type = Value.self
    ) throws(FactTableError) -> Value where Value.RawValue == String {
        guard let value = try word(column, Value.self) else { throw fault(column, .empty) }
        return value
    }

    /// Returns the texts of some columns.
    func texts(_ columns: [String]) throws(FactTableError) -> [String?] {
        var texts: [String?] = []
        for column in columns { texts.append(try text(column)) }
        return texts
    }

    /// Returns a fault in a column of this row.
    package func fault(_ column: String, _ reason: FactTableError.Reason) -> FactTableError {
        FactTableError(line: line, column: column, reason: reason)
    }

    private func number<Number: FixedWidthInteger>(
        _ text: some StringProtocol, _ column: String, radix: Int
    ) throws(FactTableError) -> Number {
        guard let number = Number(text, radix: radix) else { throw fault(column, .notANumber) }
        return number
    }
}

/// Why a line of a table is malformed.
package struct FactTableError: Error, Hashable, Sendable {
    /// The line number, from 1.
    package let line: Int
    /// The column; `nil` if the line as a whole is wrong.
    package let column: String?
    /// The fault.
    package let reason: Reason

    /// The faults of a line.
    @nonexhaustive
    package enum Reason: String, Hashable, Sendable {
        /// The line is not UTF-8.
        case notUTF8
        /// The first line that is not a comment does not name the columns.
        case wrongHeader
        /// The line has more fields than the table has columns.
        case tooManyFields
        /// The table has no such column.
        case noSuchColumn
        /// The field is empty.
        case empty
        /// The field is not a number in the base of its column, or the number is too large.
        case notANumber
        /// The field is not one of the keywords of its column.
        case unknownWord
        /// An earlier row has the same key.
        case duplicate
    }

    package init(line: Int, column: String? = nil, reason: Reason) {
        self.line = line
        self.column = column
        self.reason = reason
    }
}

extension FactTableError: CustomStringConvertible {
    /// The fault, such as `line 12, code: notANumber`.
    package var description: String {
        "line \(line)\(column.map { ", \($0)" } ?? ""): \(reason.rawValue)"
    }
}
