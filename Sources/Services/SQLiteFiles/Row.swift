// SPDX-License-Identifier: Apache-2.0

/// A row of a result.
package struct Row {
    private enum Source {
        /// The row that the result is at, until its next one.
        case current(RowCursor)
        case copy([DatabaseValue])
    }

    private let source: Source
    private let names: [String]

    fileprivate init(_ cursor: RowCursor) { (source, names) = (.current(cursor), cursor.statement.names) }

    /// The row as it is now.
    fileprivate var copy: Row { Row(copying: self) }

    private init(copying row: Row) { (source, names) = (.copy(row.databaseValues), row.names) }

    /// The values of all columns.
    package var databaseValues: [DatabaseValue] {
        switch source {
        case .current(let cursor): cursor.statement.values
        case .copy(let values): values
        }
    }

    /// A value by its column's number.
    ///
    /// - Throws: `RowDecodingError` where a crafted file has one of another type.
    package func value<Value: DatabaseValueConvertible>(_ index: Int, as type: Value.Type = Value.self) throws -> Value
    {
        guard names.indices.contains(index) else { throw RowDecodingError() }
        let stored =
            switch source {
            case .current(let cursor): cursor.statement.value(index)
            case .copy(let values): values[index]
            }
        guard let value = Value(databaseValue: stored) else { throw RowDecodingError() }
        return value
    }

    /// A value by its column's name.
    ///
    /// - Throws: `RowDecodingError` where a crafted file has one of another type.
    package func value<Value: DatabaseValueConvertible>(_ name: String, as type: Value.Type = Value.self) throws
        -> Value
    {
        guard let index = names.firstIndex(of: name) else { throw RowDecodingError() }
        return try value(index)
    }
}

/// The rows of a result, one after the other.
package final class RowCursor {
    fileprivate let statement: Statement
    private var isAtEnd = false

    fileprivate init(_ statement: Statement, _ arguments: StatementArguments) throws {
        self.statement = statement
        try statement.start(arguments)
    }

    deinit { if !isAtEnd { statement.reset() } }

    /// The next row, which is valid until the one after it; `nil` after the last.
    package func next() throws -> Row? {
        guard !isAtEnd else { return nil }
        isAtEnd = try !statement.step()
        return isAtEnd ? nil : Row(self)
    }
}

extension Row {
    package static func fetchCursor(
        _ database: Database, sql: String, arguments: StatementArguments = []
    ) throws -> RowCursor {
        try RowCursor(database.statement(sql), arguments)
    }

    package static func fetchAll(_ statement: Statement, arguments: StatementArguments = []) throws -> [Row] {
        let cursor = try RowCursor(statement, arguments)
        var rows: [Row] = []
        while let row = try cursor.next() { rows.append(row.copy) }
        return rows
    }

    package static func fetchAll(
        _ database: Database, sql: String, arguments: StatementArguments = []
    ) throws -> [Row] {
        try fetchAll(database.statement(sql), arguments: arguments)
    }

    /// The first row.
    package static func fetchOne(_ statement: Statement, arguments: StatementArguments = []) throws -> Row? {
        try RowCursor(statement, arguments).next()?.copy
    }

    /// The first row.
    package static func fetchOne(
        _ database: Database, sql: String, arguments: StatementArguments = []
    ) throws -> Row? {
        try fetchOne(database.statement(sql), arguments: arguments)
    }
}

extension DatabaseValueConvertible {
    /// The first column of the first row; `nil` if it is NULL, or there is no row.
    package static func fetchOne(_ statement: Statement, arguments: StatementArguments = []) throws -> Self? {
        try RowCursor(statement, arguments).next()?.value(0, as: Self?.self)
    }

    /// The first column of the first row; `nil` if it is NULL, or there is no row.
    package static func fetchOne(
        _ database: Database, sql: String, arguments: StatementArguments = []
    ) throws -> Self? {
        try fetchOne(database.statement(sql), arguments: arguments)
    }

    /// The first column of all rows.
    package static func fetchAll(
        _ database: Database, sql: String, arguments: StatementArguments = []
    ) throws -> [Self] {
        let cursor = try RowCursor(database.statement(sql), arguments)
        var values: [Self] = []
        while let row = try cursor.next() { try values.append(row.value(0)) }
        return values
    }
}
