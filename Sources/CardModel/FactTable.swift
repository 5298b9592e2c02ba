// SPDX-License-Identifier: Apache-2.0

/// A table of facts as text: one row a line, a tab between two fields.
///
/// The first line names the columns; lines that begin with `#` are comments and say where the facts come from; empty
/// lines do not count, empty fields at the end of a line may be left out, and there is no quoting. A line that is no row is left out and named in ``faults``: a table never
/// stops the program, its tests see to it that the tables of a release have no faults.
package struct FactTable<Row: Sendable>: Sendable {
    /// The rows in order.
    package let rows: [Row]
    /// What is wrong with the lines that are no rows.
    package let faults: [FactTableError]

    /// Reads a table.
    ///
    /// - Parameters:
    ///   - bytes: the text, UTF-8.
    ///   - columns: the names of the columns, as its first line must have them.
    ///   - key: columns that together tell one row from every other; of two rows with the same the first counts.
    ///   - row: what makes a value of a row.
    package init(_ bytes: [UInt8], columns: [String], key: [String], row: (FactRow) throws(FactTableError) -> Row) {
        var rows: [Row] = []
        var faults: [FactTableError] = []
        var headerWasSeen = false
        var keys: Set<[String?]> = []
        for (place, bytes) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let line = place + 1
            let bytes = bytes.last == 0x0D ? bytes.dropLast() : bytes
            guard !bytes.isEmpty, bytes.first != UInt8(ascii: "#") else { continue }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                faults.append(FactTableError(line: line, reason: .notUTF8))
                continue
            }
            let fields = text.split(separator: "\t", omittingEmptySubsequences: false)
            if !headerWasSeen {
                headerWasSeen = true
                if fields.map(String.init) != columns {
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

/// A table of facts whose rows are found by a key; of two rows with the same key the first counts.
package struct LookupTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What is wrong with the lines that are no rows.
    package let faults: [FactTableError]
    private let values: [Key: Value]

    /// Reads a table, as ``FactTable`` does.
    package init(
        _ bytes: [UInt8], columns: [String], key: [String],
        row: (FactRow) throws(FactTableError) -> (key: Key, value: Value)
    ) {
        let table = FactTable(bytes, columns: columns, key: key, row: row)
        values = Dictionary(table.rows.map { ($0.key, $0.value) }) { first, _ in first }
        faults = table.faults
    }

    /// Reads a table whose rows belong to groups: the codes of one card, for one.
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

/// One row of a table: the fields of a line by the names of their columns.
package struct FactRow: Hashable, Sendable {
    /// The number of the line, from 1.
    package let line: Int
    private let columns: [String]
    private let fields: [Substring]

    init(line: Int, columns: [String], fields: [Substring]) {
        self.line = line
        self.columns = columns
        self.fields = fields
    }

    /// The text of a column, or `nil` when the field is empty.
    ///
    /// - Throws: ``FactTableError`` when the table has no such column.
    package func text(_ column: String) throws(FactTableError) -> String? {
        guard let place = columns.firstIndex(of: column) else {
            throw fault(column, .noSuchColumn)
        }
        guard place < fields.count, !fields[place].isEmpty else { return nil }
        return String(fields[place])
    }

    /// The text of a column that is never empty.
    ///
    /// - Throws: ``FactTableError``.
    package func required(_ column: String) throws(FactTableError) -> String {
        guard let text = try text(column) else { throw fault(column, .empty) }
        return text
    }

    /// The text of the columns `english` and `japanese`, or `nil` when both are empty; one alone is a fault.
    ///
    /// - Throws: ``FactTableError``.
    package func name() throws(FactTableError) -> LocalizedText? {
        let texts = [try text("english"), try text("japanese")]
        if texts == [nil, nil] { return nil }
        return LocalizedText(try required("english"), try required("japanese"))
    }

    /// The text of the columns `english` and `japanese`, which are not empty.
    ///
    /// - Throws: ``FactTableError``.
    package func requiredName() throws(FactTableError) -> LocalizedText {
        guard let name = try name() else { throw fault("english", .empty) }
        return name
    }

    /// A number in hexadecimal digits without `0x`.
    ///
    /// - Throws: ``FactTableError``.
    package func hex<Number: FixedWidthInteger>(_ column: String) throws(FactTableError) -> Number {
        try number(try required(column), column, radix: 16)
    }

    /// Numbers in hexadecimal digits with a space between two; none when the field is empty.
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

    /// A decimal number, or `nil` when the field is empty.
    ///
    /// - Throws: ``FactTableError``.
    package func decimal(_ column: String) throws(FactTableError) -> Int? {
        guard let text = try text(column) else { return nil }
        return try number(text, column, radix: 10)
    }

    /// A word that stands for a value, or `nil` when the field is empty.
    ///
    /// - Throws: ``FactTableError`` when it stands for none.
    package func word<Value: RawRepresentable>(
        _ column: String, _: Value.Type = Value.self
    ) throws(FactTableError) -> Value? where Value.RawValue == String {
        guard let text = try text(column) else { return nil }
        guard let value = Value(rawValue: text) else { throw fault(column, .unknownWord) }
        return value
    }

    /// A word that stands for a value, in a column that is never empty.
    ///
    /// - Throws: ``FactTableError``.
    package func requiredWord<Value: RawRepresentable>(
        _ column: String, _: Value.Type = Value.self
    ) throws(FactTableError) -> Value where Value.RawValue == String {
        guard let value = try word(column, Value.self) else { throw fault(column, .empty) }
        return value
    }

    /// The texts of some columns.
    func texts(_ columns: [String]) throws(FactTableError) -> [String?] {
        var texts: [String?] = []
        for column in columns { texts.append(try text(column)) }
        return texts
    }

    /// A fault in a column of this row.
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

/// Why a line of a table is no row.
package struct FactTableError: Error, Hashable, Sendable {
    /// The number of the line, from 1.
    package let line: Int
    /// The column, or `nil` when the line as a whole is wrong.
    package let column: String?
    /// What is wrong.
    package let reason: Reason

    /// What is wrong with a line.
    @nonexhaustive
    package enum Reason: String, Hashable, Sendable {
        /// The line is no UTF-8.
        case notUTF8
        /// The first line that is no comment does not name the columns.
        case wrongHeader
        /// The line has more fields than the table has columns.
        case tooManyFields
        /// The table has no such column.
        case noSuchColumn
        /// The field is empty.
        case empty
        /// The field is no number in the base of its column, or one that is too large.
        case notANumber
        /// The field is none of the words of its column.
        case unknownWord
        /// An earlier row has the same key.
        case duplicate
    }

    /// A fault in a line.
    package init(line: Int, column: String? = nil, reason: Reason) {
        self.line = line
        self.column = column
        self.reason = reason
    }
}

extension FactTableError: CustomStringConvertible {
    /// As in `line 12, code: notANumber`.
    package var description: String {
        "line \(line)\(column.map { ", \($0)" } ?? ""): \(reason.rawValue)"
    }
}
