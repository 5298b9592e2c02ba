// SPDX-License-Identifier: Apache-2.0

/// One row of a table: the fields of a line by the names of their columns.
public struct FactRow: Hashable, Sendable {
    /// The number of the line, from 1.
    public let line: Int
    private let columns: [String]
    private let fields: [Substring]

    init(line: Int, columns: [String], fields: [Substring]) {
        self.line = line
        self.columns = columns
        self.fields = fields
    }

    /// The text of a column, or `nil` when the field is empty.
    ///
    /// - Throws: ``TableFault`` when the table has no such column.
    public func text(_ column: String) throws(TableFault) -> String? {
        guard let place = columns.firstIndex(of: column) else {
            throw fault(column, .noSuchColumn)
        }
        guard place < fields.count, !fields[place].isEmpty else { return nil }
        return String(fields[place])
    }

    /// The text of a column that is never empty.
    ///
    /// - Throws: ``TableFault``.
    public func required(_ column: String) throws(TableFault) -> String {
        guard let text = try text(column) else { throw fault(column, .empty) }
        return text
    }

    /// The text of the columns `english` and `japanese`, or `nil` when both are empty; one alone is a fault.
    ///
    /// - Throws: ``TableFault``.
    public func name() throws(TableFault) -> LocalizedText? {
        let texts = [try text("english"), try text("japanese")]
        if texts == [nil, nil] { return nil }
        return LocalizedText(try required("english"), try required("japanese"))
    }

    /// A number in hexadecimal digits without `0x`.
    ///
    /// - Throws: ``TableFault``.
    public func hex<Number: FixedWidthInteger>(_ column: String) throws(TableFault) -> Number {
        try number(try required(column), column, radix: 16)
    }

    /// Numbers in hexadecimal digits with a space between two; none when the field is empty.
    ///
    /// - Throws: ``TableFault``.
    public func hexList<Number: FixedWidthInteger>(_ column: String) throws(TableFault) -> [Number] {
        var numbers: [Number] = []
        let words = try text(column)?.split(separator: " ") ?? []
        for word in words {
            numbers.append(try number(word, column, radix: 16))
        }
        return numbers
    }

    /// A decimal number, or `nil` when the field is empty.
    ///
    /// - Throws: ``TableFault``.
    public func decimal(_ column: String) throws(TableFault) -> Int? {
        guard let text = try text(column) else { return nil }
        return try number(text, column, radix: 10)
    }

    /// A word that stands for a value, or `nil` when the field is empty.
    ///
    /// - Throws: ``TableFault`` when it stands for none.
    public func word<Value: RawRepresentable>(
        _ column: String, _: Value.Type = Value.self
    ) throws(TableFault) -> Value? where Value.RawValue == String {
        guard let text = try text(column) else { return nil }
        guard let value = Value(rawValue: text) else { throw fault(column, .unknownWord) }
        return value
    }

    /// The texts of some columns.
    func texts(_ columns: [String]) throws(TableFault) -> [String?] {
        var texts: [String?] = []
        for column in columns { texts.append(try text(column)) }
        return texts
    }

    /// A fault in a column of this row.
    public func fault(_ column: String, _ reason: TableFault.Reason) -> TableFault {
        TableFault(line: line, column: column, reason: reason)
    }

    private func number<Number: FixedWidthInteger>(
        _ text: some StringProtocol, _ column: String, radix: Int
    ) throws(TableFault) -> Number {
        guard let number = Number(text, radix: radix) else { throw fault(column, .notANumber) }
        return number
    }
}
