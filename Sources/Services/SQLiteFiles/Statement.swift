// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// A prepared statement.
@safe package final class Statement {
    private let handle: OpaquePointer
    private unowned let database: Database
    /// The names of its columns.
    private(set) lazy var names: [String] = (0..<columnCount).map { index in
        unsafe sqlite3_column_name(handle, Int32(index)).map { unsafe String(cString: $0) } ?? ""
    }

    init(_ handle: OpaquePointer, _ database: Database) {
        (unsafe self.handle, self.database) = (unsafe handle, database)
    }

    deinit { unsafe sqlite3_finalize(handle) }

    var parameterCount: Int { unsafe Int(sqlite3_bind_parameter_count(handle)) }

    /// Runs it to its end.
    package func execute(arguments: StatementArguments = []) throws {
        try start(arguments)
        while try step() {}
    }

    /// Binds its arguments, before the first step.
    func start(_ arguments: StatementArguments) throws {
        guard !database.hasLostTransaction else { throw DatabaseError(SQLITE_ABORT, "the transaction was taken back") }
        reset()
        guard arguments.values.count == parameterCount else {
            throw DatabaseError(SQLITE_MISUSE, "another number of arguments than of parameters")
        }
        for (index, value) in arguments.values.enumerated() {
            let code = bind(value, Int32(index) + 1)
            guard code == SQLITE_OK else { throw database.lastError(code) }
        }
    }

    private func bind(_ value: DatabaseValue, _ index: Int32) -> Int32 {
        switch value {
        case .null: return unsafe sqlite3_bind_null(handle, index)
        case .integer(let number): return unsafe sqlite3_bind_int64(handle, index, number)
        case .real(let number): return unsafe sqlite3_bind_double(handle, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) {
                    unsafe kazasu_sqlite_bind_text(handle, index, $0.baseAddress, UInt64($0.count))
                }
            }
        case .blob(let bytes):
            return unsafe bytes.withUnsafeBytes {
                unsafe kazasu_sqlite_bind_blob(handle, index, $0.baseAddress, UInt64($0.count))
            }
        }
    }

    /// Goes to the next row.
    ///
    /// - Returns: whether there is one; after the last it is ready to be run again.
    func step() throws -> Bool {
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        defer { reset() }
        guard code == SQLITE_DONE else { throw database.lastError(code) }
        return false
    }

    /// Gives up its locks, and the row that it is at.
    func reset() { unsafe sqlite3_reset(handle) }

    // MARK: The row that it is at

    var columnCount: Int { unsafe Int(sqlite3_column_count(handle)) }

    var values: [DatabaseValue] { (0..<columnCount).map(value) }

    /// The value of a column.
    func value(_ index: Int) -> DatabaseValue {
        let column = Int32(truncatingIfNeeded: index)
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return unsafe .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT:
            let start = unsafe sqlite3_column_text(handle, column)
            let count = unsafe Int(sqlite3_column_bytes(handle, column))
            return .text(unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            let start = unsafe sqlite3_column_blob(handle, column)
            let count = unsafe Int(sqlite3_column_bytes(handle, column))
            return .blob(unsafe Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)))
        default: return .null
        }
    }
}
