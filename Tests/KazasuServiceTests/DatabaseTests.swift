// SPDX-License-Identifier: Apache-2.0

import CSQLite
import TestSupport
import Testing

@testable import SQLiteFiles

@Suite("Statements of SQLite")
struct DatabaseTests {
    private static func code(_ body: () throws -> Void) -> Int32? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DatabaseError)?.primaryCode
        }
    }

    @Test(
        "A value comes back as it was stored",
        arguments: [
            .null, .integer(.min), .integer(0), .integer(.max), .real(0.5), .text(""), .text("日本\0語"),
            .text(String(repeating: "x", count: 100_000)), .blob([]), .blob([0, 0xFF]),
        ] as [DatabaseValue])
    func values(_ value: DatabaseValue) throws {
        struct Stored: DatabaseValueConvertible {
            let databaseValue: DatabaseValue
        }
        try DatabaseQueue().read { database in
            let row = try Row.fetchOne(database, sql: "SELECT ? AS a", arguments: [Stored(databaseValue: value)])
            #expect(row?.databaseValues == [value])
        }
    }

    @Test("A value of another type, and a column that is not there, are errors")
    func types() throws {
        try DatabaseQueue().read { database in
            let row = try #require(try Row.fetchOne(database, sql: "SELECT 'x' AS a, 1.5 AS b, NULL AS c, 2.0 AS d"))
            #expect(throws: RowDecodingError.self) { try row.value("a", as: Int.self) }
            #expect(throws: RowDecodingError.self) { try row.value("a", as: [UInt8].self) }
            #expect(throws: RowDecodingError.self) { try row.value(1, as: Int?.self) }
            #expect(throws: RowDecodingError.self) { try row.value(2, as: String.self) }
            #expect(throws: RowDecodingError.self) { try row.value(4, as: String?.self) }
            #expect(throws: RowDecodingError.self) { try row.value("e", as: String?.self) }
            #expect(try row.value("c", as: String?.self) == nil)
            #expect(try row.value(3) == 2)
            #expect(throws: RowDecodingError.self) {
                try Int32.fetchOne(database, sql: "SELECT 1 << 40")
            }
        }
    }

    @Test("Arguments are counted, over all statements of a text")
    func arguments() throws {
        try DatabaseQueue().write { database in
            try database.execute(
                sql: "CREATE TABLE t (a, b); -- a comment\nINSERT INTO t VALUES (?, ?); INSERT INTO t VALUES (?, 4);",
                arguments: [1, nil as Int?, "three"])
            #expect(
                try Row.fetchAll(database, sql: "SELECT a, b FROM t").map(\.databaseValues) == [
                    [.integer(1), .null], [.text("three"), .integer(4)],
                ])
            for arguments in [[1], [1, 2, 3]] {
                let code = Self.code {
                    try database.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: StatementArguments(arguments))
                }
                #expect(code == SQLITE_MISUSE)
            }
            #expect(Self.code { _ = try database.makeStatement(sql: "SELECT 1; SELECT 2") } == SQLITE_MISUSE)
            #expect(Self.code { _ = try database.makeStatement(sql: " -- nothing") } == SQLITE_MISUSE)
            #expect(Self.code { try database.execute(sql: "SELECT \"a text\"") } == SQLITE_ERROR)
        }
    }

    @Test("An error takes a transaction back, and nothing is written after SQLite has done that itself")
    func transactions() throws {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a UNIQUE)") }
        let code = Self.code {
            try queue.write { database in
                try database.execute(sql: "INSERT INTO t VALUES (1)")
                try database.execute(sql: "INSERT INTO t VALUES (1)")
            }
        }
        #expect(code == SQLITE_CONSTRAINT)
        let lost = Self.code {
            try queue.write { database in
                try database.execute(sql: "INSERT INTO t VALUES (1)")
                try? database.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)")
                try database.execute(sql: "INSERT INTO t VALUES (2)")
            }
        }
        #expect(lost == SQLITE_ABORT)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
        // And the connection goes on.
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [3])
    }

    @Test("A read cannot write, and a closed connection is an error")
    func access() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: "\(folder.path)/a")
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect(Self.code { try queue.read { try $0.execute(sql: "INSERT INTO t VALUES (1)") } } == SQLITE_READONLY)
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        queue.close()
        queue.close()
        #expect(Self.code { try queue.read { _ in } } == SQLITE_MISUSE)
        var readOnly = DatabaseConfiguration()
        readOnly.isReadOnly = true
        let other = try DatabaseQueue(path: "\(folder.path)/a", readOnly)
        #expect(try other.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(
            Self.code { try other.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM t") } } == SQLITE_READONLY)
        #expect(Self.code { _ = try DatabaseQueue(path: "\(folder.path)/b", readOnly) } == SQLITE_CANTOPEN)
        let text = try folder.write(Array("not a database, but a text of some length".utf8), as: "c")
        #expect(Self.code { _ = try DatabaseQueue(path: text) } == SQLITE_NOTADB)
    }

    @Test("A result that is left before its end gives up its lock")
    func cursor() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: "\(folder.path)/a")
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)") }
        try queue.writeWithoutTransaction { database in
            let first = try Row.fetchCursor(database, sql: "SELECT a FROM t").next().map {
                try $0.value(0, as: Int.self)
            }
            #expect(first == 1)
            // A lock that is left would let this fail.
            let other = try DatabaseQueue(path: "\(folder.path)/a")
            try other.write { try $0.execute(sql: "DELETE FROM t") }
        }
    }
}
