// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import Glibc
internal import SQLiteFiles

/// The last change of a ledger, and how to take it back.
///
/// Beside each table that changes lies one that holds its rows as they were before the last change, the first image of each. Temporary
/// triggers fill them within the transaction of the change, so that neither exists without the other.
enum LedgerUndo {
    private struct Table {
        let name: String
        let key: [String]
        let others: [String]

        var columns: [String] { key + others }
        var log: String { "undo_" + name }
    }

    /// The tables that changes touch. `place` and `coded` only grow, `tally` follows from the triggers of `record`; `change` and `exported`
    /// never go back, so that an export with `skipsExported` misses nothing afterwards.
    private static let tables = [
        Table(name: "card", key: ["id"], others: ["key", "owner", "name"]),
        Table(
            name: "purse", key: ["id"],
            others: ["card", "kind", "system", "english", "japanese", "currency", "single", "double", "brand"]),
        Table(name: "source", key: ["id"], others: ["kind", "name", "readAt", "keptAt"]),
        Table(
            name: "record", key: ["id"],
            others: [
                "purse", "ord", "uid", "serial", "date", "time", "entryTime", "partial", "kind", "terminal",
                "terminalID", "process", "payment", "gate", "device", "entry", "exit", "amount", "balance", "gateLog",
                "warnings", "service", "raw", "joined", "derived", "added", "completed", "source",
            ]),
        Table(name: "variant", key: ["record", "raw"], others: []),
        Table(name: "gap", key: ["record"], others: ["atLeast", "atMost", "amount", "coversNext", "reason"]),
    ]

    /// The tables of the log.
    static let schema =
        (["CREATE TABLE undo (number INTEGER NOT NULL, what TEXT NOT NULL, at INTEGER NOT NULL) STRICT;"]
        + tables.map { table in
            "CREATE TABLE \(table.log) (existed INTEGER NOT NULL, \(table.columns.joined(separator: ", ")), "
                + "PRIMARY KEY (\(table.key.joined(separator: ", "))));"
        }).joined(separator: "\n")

    /// Begins a change: from now on, until the end of the transaction and after it, rows are logged before they change.
    ///
    /// - Parameters:
    ///   - number: that of the change.
    ///   - earlier: the number of a change that this one continues, so that both are taken back together.
    static func begin(_ what: LedgerChange.Kind, number: Int, after earlier: Int?, now: Int, _ db: Database) throws {
        let last = try Int.fetchOne(db, sql: "SELECT number FROM undo")
        if earlier == nil || earlier != last { try clear(db) }
        try db.execute(sql: "DELETE FROM undo")
        try db.execute(sql: "INSERT INTO undo VALUES (?, ?, ?)", arguments: [number, what.rawValue, now])
        for table in tables {
            func trigger(_ event: String, _ values: [String], _ columns: [String]) throws {
                try db.execute(
                    sql: """
                        CREATE TEMP TRIGGER IF NOT EXISTS \(table.log)_\(event) AFTER \(event) ON main.\(table.name) BEGIN
                            INSERT INTO \(table.log) (\((["existed"] + columns).joined(separator: ", ")))
                            VALUES (\(values.joined(separator: ", "))) ON CONFLICT DO NOTHING;
                        END
                        """)
            }
            let old = ["1"] + table.columns.map { "old.\($0)" }
            try trigger("INSERT", ["0"] + table.key.map { "new.\($0)" }, table.key)
            try trigger("UPDATE", old, table.columns)
            try trigger("DELETE", old, table.columns)
        }
    }

    private static func clear(_ db: Database) throws {
        for table in tables { try db.execute(sql: "DELETE FROM \(table.log)") }
    }

    /// Restores every row, within a transaction without foreign keys.
    ///
    /// - Returns: the change, or `nil` if there is none to undo.
    static func takeBack(_ db: Database) throws -> LedgerChange? {
        guard let row = try Row.fetchOne(db, sql: "SELECT what, at FROM undo") else { return nil }
        let change = try LedgerChange(
            kind: LedgerChange.Kind(rawValue: row.value(0)) ?? .keep, time: Timestamp(seconds: row.value(1)))
        for table in tables {
            let key = "(\(table.key.joined(separator: ", ")))"
            try db.execute(
                sql: """
                    DELETE FROM \(table.name)
                    WHERE \(key) IN (SELECT \(table.key.joined(separator: ", ")) FROM \(table.log))
                    """)
        }
        for table in tables {
            let columns = table.columns.joined(separator: ", ")
            try db.execute(
                sql: """
                    INSERT INTO \(table.name) (\(columns)) SELECT \(columns) FROM \(table.log) WHERE existed
                    """)
        }
        try clear(db)
        try db.execute(sql: "DELETE FROM undo")
        guard try Row.fetchOne(db, sql: "PRAGMA foreign_key_check") == nil else { throw SQLiteFile.Fault.damaged }
        return change
    }
}

/// A change of a ledger that was, or can be, taken back.
public struct LedgerChange: Hashable, Sendable {
    /// What changes a ledger.
    @nonexhaustive
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Records were added: of a card, or of dumps.
        case keep
        /// The records of another ledger were added.
        case merge
        /// A card got a name, or lost it.
        case name
        /// Two cards became one.
        case link
        /// All records were decoded again.
        case redecode
        /// A card, or the records of an import, were removed.
        case forget
    }

    /// The kind of change.
    public let kind: Kind
    /// When it was made.
    public let time: Timestamp
}

extension Ledger {
    /// Takes back the last change; there is one step only.
    ///
    /// Marks of exports stay, so that ``LedgerExportOptions/skipsExported`` neither repeats nor misses a record.
    ///
    /// - Throws: ``LedgerError/nothingToUndo``.
    @discardableResult
    public func undo() throws(LedgerError) -> LedgerChange {
        try store.writeWithoutForeignKeys { db in
            guard let change = try LedgerUndo.takeBack(db) else { throw LedgerError.nothingToUndo }
            return change
        }
    }

    /// Writes a copy of the ledger, whole and as of one moment, to a new file that its owner alone can read.
    ///
    /// - Throws: ``LedgerError/inaccessible(path:code:)`` with `EEXIST` for a file that is there already.
    public func backUp(to path: String) throws(LedgerError) {
        // SQLite writes into an empty file, too, which is private before anything is in it.
        let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .inaccessible(path: path, code: errno) }
        close(file)
        do throws(LedgerError) {
            try store.withoutTransaction { db in try db.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        } catch {
            unsafe unlink(path)
            throw error
        }
    }
}
