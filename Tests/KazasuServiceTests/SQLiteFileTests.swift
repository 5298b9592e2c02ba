// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import LedgerSupport
import TapSupport
import TestSupport
import Testing

@testable import Collect
@testable import KazasuLedger
@testable import KazasuTaps
@testable import SQLiteFiles

@Suite("SQLite files from somebody else")
struct SQLiteFileTests {
    /// What opens such a file.
    enum Kind: String, CaseIterable, Sendable {
        case ledger, outbox, events

        /// Opens a file, and closes it again.
        func use(_ path: String) async throws {
            switch self {
            case .ledger:
                do throws(LedgerError) { _ = try Ledger.open(path).cards() } catch { throw Refusal(error) }
            case .outbox:
                do throws(OutboxError) {
                    let outbox = try Outbox(path, isWatcher: false)
                    do throws(OutboxError) { _ = try await outbox.status() } catch {
                        await outbox.close()
                        throw error
                    }
                    await outbox.close()
                } catch { throw Refusal(error) }
            case .events:
                do throws(EventStoreError) {
                    let database = try SQLiteDatabase(path: path)
                    defer { database.close() }
                    _ = try database.transaction { session throws(EventStoreError) in try session.rows("SELECT 1", []) }
                } catch { throw Refusal(error) }
            }
        }

        /// A file with something in it.
        func make(_ path: String) async throws {
            switch self {
            case .ledger: try Ledger.open(path).keep(LedgerCardMaker.transit(20).dump(after: 20))
            case .outbox: try await use(path)
            case .events:
                try await use(path)
                try SQLiteFileTests.change(path, "CREATE TABLE other (x)")
            }
        }
    }

    /// Why a file is refused, whatever opens it.
    enum Refusal: Error, Equatable {
        case foreign, foreignJournal, damaged, other

        init(_ error: LedgerError) {
            self =
                switch error {
                case .notALedger: .foreign
                case .foreignJournal: .foreignJournal
                case .damaged: .damaged
                default: .other
                }
        }

        init(_ error: OutboxError) {
            self =
                switch error {
                case .foreign: .foreign
                case .foreignJournal: .foreignJournal
                case .damaged: .damaged
                default: .other
                }
        }

        init(_ error: EventStoreError) {
            self =
                switch error {
                case .foreign: .foreign
                case .foreignJournal: .foreignJournal
                default: .other
                }
        }
    }

    /// Changes a file as anybody can.
    static func change(_ path: String, _ statements: String) throws {
        var configuration = DatabaseConfiguration()
        configuration.checksForeignKeys = false
        let queue = try DatabaseQueue(path: path, configuration)
        try queue.writeWithoutTransaction { db in try db.execute(sql: statements) }
        queue.close()
    }

    // MARK: Beside the file

    /// A journal that "rolls back" nothing and names a file, which SQLite deletes then.
    private static func journal(naming path: String, pages: Int) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        let name = Array(path.utf8)
        let header = magic + [0, 1, pages, 512, 4096].flatMap(number)
        return header + [UInt8](repeating: 0, count: 512 - header.count) + number(0) + name + number(name.count)
            + number(name.reduce(0) { $0 + Int($1) }) + magic
    }

    @Test("A journal that names another file deletes nothing", arguments: Kind.allCases)
    func superJournal(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try await kind.make(path)
        let victim = try folder.write(Array("precious".utf8), as: "victim")
        let before = try TestFiles.read(path)
        let journal = Self.journal(naming: victim, pages: before.count / 4096)
        _ = try folder.write(journal, as: "file-journal")
        await #expect(throws: Refusal.foreignJournal) { try await kind.use(path) }
        #expect(try TestFiles.read(victim) == Array("precious".utf8))
        #expect(try TestFiles.read(path) == before)
        #expect(try TestFiles.read(path + "-journal") == journal)
    }

    @Test("The journal is looked for where SQLite does, behind a link")
    func linked() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try await Kind.ledger.make(path)
        let victim = try folder.write([1], as: "victim")
        let pages = try TestFiles.read(path).count / 4096
        _ = try folder.write(Self.journal(naming: victim, pages: pages), as: "file-journal")
        try #require(symlink(path, folder.path + "/link") == 0)
        await #expect(throws: Refusal.foreignJournal) { try await Kind.ledger.use(folder.path + "/link") }
        #expect(access(victim, F_OK) == 0)
    }

    @Test("A file of the user that only has a journal's name stays", arguments: Kind.allCases, ["-journal", "-wal"])
    func named(kind: Kind, suffix: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try await kind.make(path)
        for isLink in [false, true] {
            let notes = try folder.write(Array("notes, and more notes".utf8), as: isLink ? "notes" : "file" + suffix)
            if isLink {
                try #require(unlink(path + suffix) == 0)
                try #require(symlink(notes, path + suffix) == 0)
            }
            await #expect(throws: Refusal.foreignJournal) { try await kind.use(path) }
            #expect(try TestFiles.read(notes) == Array("notes, and more notes".utf8))
        }
    }

    // MARK: The file

    @Test("A FIFO is not waited for", arguments: Kind.allCases)
    func fifo(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        try #require(mkfifo(folder.path + "/fifo", 0o600) == 0)
        await #expect(throws: Refusal.foreign) { try await kind.use(folder.path + "/fifo") }
        #expect(folder.names == ["fifo"])
    }

    @Test(
        "It becomes its owner's alone, also when it was made by others", arguments: [Kind.ledger, .outbox],
        [true, false])
    func mode(kind: Kind, isEmpty: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([], as: "file")
        if !isEmpty { try await kind.make(path) }
        try #require(chmod(path, 0o666) == 0)
        try await kind.use(path)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    static let otherDatabases: [String] = [
        "CREATE TABLE theirs (x)", "CREATE TABLE record (x); CREATE TABLE events (x)", "PRAGMA application_id = 7",
        "PRAGMA user_version = 1; CREATE VIEW v AS SELECT 1",
    ]

    @Test("A database of another program stays as it is", arguments: [Kind.ledger, .outbox], otherDatabases)
    func foreign(kind: Kind, statements: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try Self.change(path, statements)
        try #require(chmod(path, 0o644) == 0)
        let before = try TestFiles.read(path)
        await #expect(throws: Refusal.foreign) { try await kind.use(path) }
        #expect(try TestFiles.read(path) == before)
        #expect(folder.names == ["file"])
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o644)
    }

    /// What somebody may do to the tables of a good ledger.
    static let tables: [String] = [
        "DROP TABLE tally", "DROP TRIGGER record_removed", "DROP INDEX record_date", "CREATE INDEX i ON record (raw)",
        "CREATE TABLE extra (x)", "ALTER TABLE card ADD COLUMN extra TEXT", "PRAGMA user_version = 0",
        "CREATE TRIGGER renames AFTER INSERT ON record BEGIN UPDATE card SET name = 'x'; END",
        "CREATE TRIGGER writes BEFORE UPDATE ON change BEGIN SELECT writefile('/tmp/kazasu', 'x'); END",
        """
        DROP TABLE record; CREATE VIEW record AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
        SELECT x AS id, 1 AS purse, x AS ord FROM n
        """,
        "DROP TABLE card; CREATE VIEW card AS SELECT 1 AS id, hex(zeroblob(400000000)) AS key, 1 AS owner, NULL AS name",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'STRICT, WITHOUT', 'WITHOUT')",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE tally (' WHERE name = 'tally'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET tbl_name = x'FF' WHERE name = 'tally'",
    ]

    /// What somebody may write into them.
    static let rows: [String] = [
        "UPDATE change SET number = 9223372036854775807", "UPDATE change SET number = -1", "DELETE FROM change",
        "UPDATE record SET ord = 9223372036854775807 WHERE id = 20", "UPDATE record SET ord = -1 WHERE id = 1",
        "UPDATE record SET serial = 9223372036854775807", "UPDATE record SET balance = -9223372036854775808",
        "UPDATE record SET amount = 9223372036854775807 WHERE id = 3", "UPDATE tally SET spent = -9223372036854775807",
        "UPDATE record SET id = 9223372036854775807 WHERE id = 20", "UPDATE sqlite_sequence SET seq = 1 << 62",
        "INSERT INTO gap VALUES (20, 9223372036854775807, NULL, NULL, 0, 'recordsLost')",
        "UPDATE record SET date = -9223372036854775808 WHERE id = 3",
        "UPDATE tally SET month = 92233720368547759 WHERE kind = 'rail'",
    ]

    @Test("A ledger that was tampered with is refused, and stays as it is", arguments: tables + rows)
    func tampered(statements: String) async throws {
        let folder = try LedgerFolder()
        try await Kind.ledger.make(folder.path)
        try Self.change(folder.path, statements)
        let before = try TestFiles.read(folder.path)
        await #expect(throws: Refusal.damaged) { try await Kind.ledger.use(folder.path) }
        #expect(try TestFiles.read(folder.path) == before)
    }

    static let outboxTables: [String] = [
        "DROP TABLE readers", "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM memory; END",
        "DROP TABLE deliveries; CREATE VIEW deliveries AS SELECT 1", "PRAGMA user_version = 0",
    ]

    @Test("So is an outbox", arguments: outboxTables)
    func tamperedOutbox(statements: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try await Kind.outbox.make(path)
        try Self.change(path, statements)
        await #expect(throws: Refusal.damaged) { try await Kind.outbox.use(path) }
    }

    @Test("Numbers in a ledger that is too large for the whole check stop no import", arguments: rows.prefix(9))
    func large(statements: String) async throws {
        let folder = try LedgerFolder()
        try await Kind.ledger.make(folder.path)
        try Self.change(
            folder.path, statements + "; INSERT INTO source VALUES (9, 'file', hex(zeroblob(9000000)), NULL, 0)")
        let ledger = try folder.open()
        for work in [
            { _ = try ledger.keep(LedgerCardMaker.transit(30).dump(after: 30)) }, { _ = try ledger.redecode() },
        ] {
            do {
                try work()
            } catch {
                #expect(error as? LedgerError == .damaged(path: folder.path))
            }
        }
    }

    /// A value of another type than its column's, or none where there must be one. A schema that SQLite enforces keeps such values out, so
    /// it is taken away meanwhile.
    static let values: [String] = [
        "record SET purse = 'x'", "record SET ord = 'x'", "record SET uid = NULL", "record SET serial = 'x'",
        "record SET date = 'x'", "record SET time = x'FF'", "record SET partial = 'x'", "record SET kind = NULL",
        "record SET terminal = 'x'", "record SET device = 'x'", "record SET entry = NULL", "record SET entry = 'x'",
        "record SET amount = 'x'", "record SET balance = 'x'", "record SET gateLog = x'FF'",
        "record SET warnings = NULL", "record SET service = 'x'", "record SET raw = NULL", "record SET joined = NULL",
        "record SET derived = 'x'", "record SET added = NULL", "record SET source = 'x'", "gap SET atLeast = NULL",
        "gap SET atLeast = 'x'", "gap SET atMost = 'x'", "gap SET coversNext = NULL", "gap SET reason = NULL",
        "purse SET kind = NULL", "purse SET system = 'x'", "purse SET currency = NULL", "purse SET single = NULL",
        "purse SET english = NULL", "card SET key = NULL", "card SET owner = 'x'", "place SET code = NULL",
        "place SET doubt = NULL", "coded SET code = 'x'", "coded SET english = NULL", "coded SET doubt = NULL",
        "tally SET spent = 'x'", "tally SET month = 'x'", "tally SET records = NULL",
        "tally SET month = -9223372036854775807 + records", "record SET date = -9223372036854775807 + id",
        "exported SET number = 'x'", "exported SET selection = NULL", "change SET number = 'x'",
    ]

    @Test("Values of a wrong type in a large ledger stop no command", arguments: values)
    func wrongType(change: String) throws {
        let folder = try LedgerFolder()
        let maker = LedgerCardMaker.transit(90)
        try {
            let ledger = try Ledger.open(folder.path)
            for count in [20, 60] { try ledger.keep(maker.dump(after: count)) }
            var options = LedgerExportOptions()
            options.skipsExported = true
            try ledger.didWrite(try ledger.export(.csv, options).export)
        }()
        try Self.change(
            folder.path,
            """
            INSERT INTO source VALUES (9, 'file', hex(zeroblob(9000000)), NULL, 0);
            CREATE TEMP TABLE old AS SELECT name, sql FROM sqlite_master; PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(replace(sql, 'NOT NULL', ''), 'STRICT, WITHOUT', 'WITHOUT')
                WHERE type = 'table' AND name NOT LIKE 'sqlite%';
            UPDATE sqlite_master SET sql = substr(sql, 1, length(sql) - 6) WHERE type = 'table' AND sql LIKE '%STRICT';
            PRAGMA writable_schema = RESET; DROP TRIGGER record_changed; UPDATE \(change);
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_master SELECT 'trigger', name, 'record', 0, sql FROM old WHERE name = 'record_changed';
            UPDATE sqlite_master SET sql = (SELECT sql FROM old WHERE old.name = sqlite_master.name);
            """)
        let ledger = try folder.open()
        let formats = LedgerFormat.allCases.map { format in { _ = try ledger.export(format, LedgerExportOptions()) } }
        var newClaim = LedgerExportOptions()
        (newClaim.isClaim, newClaim.skipsExported, newClaim.hasGaps) = (true, true, true)
        let sums = LedgerGrouping.allCases.map { grouping in { _ = try ledger.sum(by: grouping) } }
        let others: [() throws -> Void] = [
            { _ = try ledger.records() }, { _ = try ledger.gaps() }, { _ = try ledger.cards() },
            { _ = try ledger.missing() }, { _ = try ledger.claim() }, { _ = try ledger.report(.english) },
            { _ = try ledger.export(.csv, newClaim) }, { _ = try ledger.keep(maker.dump(after: 90)) },
            { _ = try ledger.redecode() }, { try ledger.name("transit", as: "x") },
        ]
        for work in formats + sums + others {
            do {
                try work()
            } catch {
                let error = error as? LedgerError
                #expect(error == .damaged(path: folder.path) || error == .noSuchCard("transit"))
            }
        }
    }

    @Test("Serials at both ends of the integers in another ledger stop no merge")
    func farSerials() throws {
        let folder = try LedgerFolder()
        _ = try { try folder.open().keep(LedgerCardMaker.transit(20).dump(after: 20)) }()
        try Self.change(
            folder.path,
            """
            UPDATE record SET serial = (id % 2 * 2 - 1) * 9223372036854775807;
            INSERT INTO source VALUES (9, 'file', hex(zeroblob(9000000)), NULL, 0)
            """)
        #expect(try LedgerFolder().open().merge(folder.open()).added > 0)
    }

    /// The same for an outbox.
    static let outboxValues: [String] = [
        "readers SET sequence = NULL", "readers SET sequence = 'x'", "readers SET sequence = 9223372036854775807",
        "readers SET visit = x'FF'", "events SET id = NULL WHERE sequence = 1", "events SET line = NULL",
        "events SET line = x'FF'", "events SET time = 'x'", "events SET confirmed = NULL",
        "deliveries SET attempts = 'x'", "deliveries SET attempts = NULL", "deliveries SET error = x'FF'",
        "deliveries SET reader = NULL", "deliveries SET state = 'x'", "memory SET value = NULL WHERE name = 'lastID'",
    ]

    @Test("Values of a wrong type in a large outbox stop no watcher", arguments: outboxValues)
    func wrongTypeInOutbox(change: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        let made = try Outbox(path, isWatcher: true)
        let events = (1...3).map { StoredEvent.made($0, reader: "a") }
        try await made.store(events, for: ["s"])
        try await made.record([.init(event: events[0], result: .dead("no"))], at: "s")
        await made.close()
        try Self.change(
            path,
            """
            INSERT INTO memory VALUES ('large', hex(zeroblob(9000000)));
            CREATE TEMP TABLE old AS SELECT name, sql FROM sqlite_master; PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(replace(sql, 'NOT NULL', ''), 'STRICT, WITHOUT', 'WITHOUT')
                WHERE type = 'table' AND name NOT LIKE 'sqlite%';
            UPDATE sqlite_master SET sql = substr(sql, 1, length(sql) - 6) WHERE type = 'table' AND sql LIKE '%STRICT';
            PRAGMA writable_schema = RESET; UPDATE \(change); PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = (SELECT sql FROM old WHERE old.name = sqlite_master.name);
            """)
        let outbox = Outbox(unopened: path, isWatcher: true)
        try await outbox.open { _ in }
        // What a watcher begins with is read while another file can still be made.
        #expect((access(path + ".damaged-1", F_OK) == 0) == change.hasPrefix("readers"))
        let works: [() async throws -> Void] = [
            { _ = try await outbox.memory() }, { _ = try await outbox.status() }, { _ = try await outbox.sinks() },
            { _ = try await outbox.deadLetters() }, { _ = try await outbox.events(after: nil, limit: 9) },
            { _ = try await outbox.readersWaiting(for: "s") },
            { _ = try await outbox.waiting(for: "s", of: "a", limit: 9) },
            { _ = try await outbox.tidy(.init(days: 0), now: 10_000) },
        ]
        for work in works {
            do {
                try await work()
            } catch {
                #expect(error as? OutboxError == .damaged(path: path))
            }
        }
        await outbox.close()
    }

    @Test("Views of the owner, and what ANALYZE leaves, harm nothing")
    func views() async throws {
        let folder = try LedgerFolder()
        try await Kind.ledger.make(folder.path)
        try Self.change(folder.path, "CREATE VIEW rides AS SELECT * FROM record WHERE kind = 'rail'; ANALYZE")
        let ledger = try folder.open()
        #expect(try ledger.keep(LedgerCardMaker.transit(30).dump(after: 30)).added == 10)
    }

    // MARK: Earlier versions

    /// What turns a ledger of this version into one of 0.1.0, which had neither brands nor a log for undo.
    private static let asOf010 =
        (["DROP TABLE claimed", "DROP VIEW records_view", "DROP TABLE undo", "ALTER TABLE purse DROP COLUMN brand"]
        + ["card", "purse", "source", "record", "variant", "gap"].map { "DROP TABLE undo_\($0)" }
        + ["PRAGMA user_version = 1"]).joined(separator: ";")

    @Test("A ledger of 0.1.0 is brought up to date once, and a private copy from before is kept")
    func upgrade() throws {
        let folder = try LedgerFolder()
        let records = try {
            let ledger = try folder.open()
            try ledger.keep(LedgerCardMaker.transit(20).dump(after: 20))
            return try ledger.records()
        }()
        try Self.change(folder.path, Self.asOf010)
        let taken = try folder.folder.write(Array("mine".utf8), as: "ledger.sqlite.version-1")
        let ledger = try folder.open()
        #expect(ledger.olderCopy == taken + "-2")
        #expect(try ledger.records() == records)
        #expect(try folder.open().olderCopy == nil)
        // The copy is whole, of the earlier version, and can be used in its turn; a file of that name stays.
        #expect(try TestFiles.read(taken) == Array("mine".utf8))
        var status = stat()
        #expect(stat(taken + "-2", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try TestFiles.read(taken + "-2")[60..<64] == [0, 0, 0, 1])
        #expect(try Ledger.open(taken + "-2").records().count == records.count)
    }

    @Test("A ledger of 0.2.0 is brought up to date, too")
    func upgradeOf020() throws {
        let folder = try LedgerFolder()
        _ = try { try folder.open().keep(LedgerCardMaker.transit(20).dump(after: 20)) }()
        try Self.change(folder.path, "DROP TABLE claimed; PRAGMA user_version = 3")
        let ledger = try folder.open()
        #expect(ledger.olderCopy == folder.path + ".version-3")
        #expect(try ledger.records().count == 20)
    }

    @Test("A ledger that cannot be brought up to date stays as it is, and no copy is left")
    func failedUpgrade() throws {
        let folder = try LedgerFolder()
        _ = try { try folder.open().keep(LedgerCardMaker.transit(20).dump(after: 20)) }()
        try Self.change(folder.path, Self.asOf010 + "; VACUUM")
        let before = try TestFiles.read(folder.path)
        #expect(throws: LedgerError.diskFull(path: folder.path)) {
            try folder.open { $0.pageLimit = before.count / 4_096 }
        }
        #expect(try TestFiles.read(folder.path) == before)
        #expect(access(folder.path + ".version-1", F_OK) != 0)
        #expect(try folder.open().records().count == 20)
    }
}
