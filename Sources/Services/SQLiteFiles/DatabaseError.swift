// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// What SQLite answered when it did not do what it was asked.
package struct DatabaseError: Error {
    /// The extended result code; https://sqlite.org/rescode.html
    package let code: Int32
    /// SQLite's words about it, in English.
    package let message: String

    /// - Parameter message: by default what the code means.
    init(_ code: Int32, _ message: String? = nil) {
        (self.code, self.message) = unsafe (code, message ?? String(cString: sqlite3_errstr(code)))
    }

    /// The primary result code, such as `SQLITE_BUSY`.
    package var primaryCode: Int32 { code & 0xFF }
}

/// A column has a value of another type, or there is no such column.
package struct RowDecodingError: Error {}
