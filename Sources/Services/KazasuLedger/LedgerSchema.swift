// SPDX-License-Identifier: Apache-2.0

internal import SQLiteFiles

/// The tables of a ledger, and which numbers they can hold.
enum LedgerSchema {
    /// "KZLG"; a check of 16 MB takes some milliseconds.
    static let format = SQLiteFile.Format(
        application: 0x4B5A_4C47, steps: [first, second, LedgerUndo.schema, fourth], wholeCheck: 16 << 20,
        isSound: isInRange)

    /// Above what any ledger counts to; numbers below have room for the next one.
    private static let mostNumber: Int64 = 1 << 53

    /// The number after the highest that a query finds.
    static func next(_ query: String, _ db: Database) throws -> Int64 {
        let last = try Int64.fetchOne(db, sql: query) ?? 0
        guard (0..<mostNumber).contains(last) else { throw SQLiteFile.Fault.damaged }
        return last + 1
    }

    /// The number of the change that a transaction makes.
    static func nextChange(_ db: Database) throws -> Int { Int(try next("SELECT number FROM change", db)) }

    /// Whether the numbers are such as cards give and ``WindowMerge`` makes, so that no sum of them is too great.
    ///
    /// No card counts money above 2^44; sums of that over 2^18 records are below 2^63.
    @Sendable private static func isInRange(_ db: Database) throws -> Bool {
        let money = "NOT BETWEEN -(1 << 44) AND 1 << 44"
        let sums = "NOT BETWEEN -(1 << 62) AND 1 << 62"
        let count = "NOT BETWEEN 0 AND 1 << 32"
        let day = "NOT BETWEEN 0 AND 99991231"
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM record WHERE ord NOT BETWEEN 0 AND (1 << 62) - 1 OR serial \(count)
                        OR amount \(money) OR balance \(money) OR id NOT BETWEEN 0 AND \(mostNumber) OR date \(day))
                    OR EXISTS (SELECT 1 FROM gap WHERE atLeast \(count) OR atMost \(count) OR amount \(money))
                    OR EXISTS (SELECT 1 FROM tally WHERE spent \(sums) OR received \(sums) OR records \(count)
                        OR unknown \(count) OR month NOT BETWEEN 0 AND 999912)
                    OR EXISTS (SELECT 1 FROM sqlite_sequence WHERE seq NOT BETWEEN 0 AND \(mostNumber))
                    OR (SELECT sum(number BETWEEN 0 AND \(mostNumber - 1)) * count(*) FROM change) IS NOT 1
                """) == false
    }

    /// - `card.owner` is the card itself, or the older one that it was linked to.
    /// - `record.ord` orders the records of a purse: era of the serials << 40 | serial << 8 | tie.
    /// - `record.date` is year * 10000 + month * 100 + day; `time` is the second of the day * 2 + 1 if seconds are kept.
    /// - `record.added`, `record.completed`: the number of the change that brought the record, and its amount.
    /// - `tally` has the sums that every question about months needs, so that none goes through all records.
    private static let first = """
        CREATE TABLE card (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, owner INTEGER NOT NULL, name TEXT UNIQUE) STRICT;
        CREATE TABLE purse (
            id INTEGER PRIMARY KEY, card INTEGER NOT NULL REFERENCES card(id), kind TEXT NOT NULL, system INTEGER NOT NULL,
            english TEXT NOT NULL, japanese TEXT NOT NULL, currency TEXT NOT NULL,
            single INTEGER NOT NULL DEFAULT 0, double INTEGER NOT NULL DEFAULT 0, UNIQUE (card, kind)) STRICT;
        CREATE TABLE place (
            id INTEGER PRIMARY KEY, code TEXT NOT NULL, doubt TEXT NOT NULL, company TEXT, line TEXT, name TEXT,
            UNIQUE (code, doubt)) STRICT;
        CREATE TABLE coded (
            id INTEGER PRIMARY KEY, code INTEGER NOT NULL, english TEXT NOT NULL, japanese TEXT NOT NULL,
            doubt TEXT NOT NULL, UNIQUE (code, english, japanese, doubt)) STRICT;
        CREATE TABLE source (
            id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT, readAt TEXT, keptAt INTEGER NOT NULL) STRICT;
        CREATE TABLE record (
            id INTEGER PRIMARY KEY AUTOINCREMENT, purse INTEGER NOT NULL REFERENCES purse(id), ord INTEGER NOT NULL,
            uid TEXT NOT NULL, serial INTEGER, date INTEGER, time INTEGER, entryTime INTEGER, partial INTEGER,
            kind TEXT NOT NULL, terminal INTEGER, terminalID TEXT, process INTEGER, payment INTEGER, gate INTEGER,
            device INTEGER, entry INTEGER NOT NULL DEFAULT 0, exit INTEGER NOT NULL DEFAULT 0, amount INTEGER,
            balance INTEGER, gateLog TEXT, warnings TEXT NOT NULL DEFAULT '', service INTEGER, raw BLOB NOT NULL,
            joined INTEGER NOT NULL DEFAULT 0, derived INTEGER NOT NULL DEFAULT 0,
            added INTEGER NOT NULL, completed INTEGER, source INTEGER NOT NULL) STRICT;
        CREATE INDEX record_order ON record (purse, ord);
        CREATE INDEX record_date ON record (date, purse, kind);
        CREATE TABLE variant (
            record INTEGER NOT NULL REFERENCES record(id) ON DELETE CASCADE, raw BLOB NOT NULL, UNIQUE (record, raw)) STRICT;
        CREATE TABLE gap (
            record INTEGER PRIMARY KEY REFERENCES record(id) ON DELETE CASCADE, atLeast INTEGER NOT NULL, atMost INTEGER,
            amount INTEGER, coversNext INTEGER NOT NULL, reason TEXT NOT NULL) STRICT;
        CREATE TABLE change (number INTEGER NOT NULL) STRICT;
        INSERT INTO change VALUES (0);
        CREATE TABLE exported (
            format TEXT NOT NULL, selection TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (format, selection)) STRICT;
        CREATE TABLE tally (
            purse INTEGER NOT NULL, month INTEGER NOT NULL, kind TEXT NOT NULL, entry INTEGER NOT NULL,
            exit INTEGER NOT NULL, records INTEGER NOT NULL, unknown INTEGER NOT NULL, spent INTEGER NOT NULL,
            received INTEGER NOT NULL, PRIMARY KEY (purse, month, kind, entry, exit)) STRICT, WITHOUT ROWID;
        CREATE TRIGGER record_added AFTER INSERT ON record BEGIN \(count("new", 1)) END;
        CREATE TRIGGER record_removed AFTER DELETE ON record BEGIN \(count("old", -1)) END;
        CREATE TRIGGER record_changed AFTER UPDATE OF purse, date, kind, entry, exit, amount ON record BEGIN
            \(count("old", -1)) \(count("new", 1)) END;
        """

    /// The brand of a card, where a dump tells it; and `records_view`, for people who ask with SQL: days and times as text, money in the main
    /// unit of its currency, codes as in CSV. No part of Kazasu reads it.
    private static let second = """
        ALTER TABLE purse ADD COLUMN brand TEXT;
        CREATE VIEW records_view AS SELECT
            r.uid AS id, card.key AS cardId, card.name AS cardName, purse.kind AS card, purse.brand AS brand, r.serial AS serial,
            CASE WHEN r.date IS NOT NULL
                THEN printf('%04d-%02d-%02d', r.date / 10000, r.date / 100 % 100, r.date % 100) END AS date,
            CASE WHEN r.time IS NOT NULL THEN printf('%02d:%02d', r.time / 7200, r.time / 120 % 60) END AS time,
            r.kind AS kind, replace(replace(ltrim(entry.code, 'bl_'), '__', '_'), '__', '_') AS entryCode,
            replace(replace(ltrim(exit.code, 'bl_'), '__', '_'), '__', '_') AS exitCode,
            r.amount / unit.size AS amount, r.balance / unit.size AS balance, purse.currency AS currency,
            CASE terminal.english WHEN '' THEN printf('0x%02X', terminal.code) ELSE terminal.english END AS terminal,
            CASE process.english WHEN '' THEN printf('0x%02X', process.code) ELSE process.english END AS process,
            gap.atLeast AS gapAtLeast, gap.atMost AS gapAtMost, gap.amount / unit.size AS gapAmount
        FROM record r JOIN purse ON purse.id = r.purse JOIN card ON card.id = purse.card
            JOIN (SELECT id, CASE WHEN currency IN ('HKD', 'CNY', 'BDT') THEN 100.0 ELSE 1 END AS size FROM purse) unit
                ON unit.id = purse.id
            LEFT JOIN place entry ON entry.id = r.entry LEFT JOIN place exit ON exit.id = r.exit
            LEFT JOIN coded terminal ON terminal.id = r.terminal LEFT JOIN coded process ON process.id = r.process
            LEFT JOIN gap ON gap.record = r.id;
        """

    /// The ids of the rides that were in a claim. They outlast the removal of a record, which may come back.
    private static let fourth = "CREATE TABLE claimed (uid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;"

    /// Adds a record to its row of the tally, or takes it out.
    private static func count(_ row: String, _ sign: Int) -> String {
        """
        INSERT INTO tally VALUES (\(row).purse, coalesce(\(row).date / 100, 0), \(row).kind, \(row).entry, \(row).exit,
            \(sign), \(sign) * (\(row).amount IS NULL), \(sign) * min(coalesce(\(row).amount, 0), 0),
            \(sign) * max(coalesce(\(row).amount, 0), 0))
        ON CONFLICT DO UPDATE SET records = records + excluded.records, unknown = unknown + excluded.unknown,
            spent = spent + excluded.spent, received = received + excluded.received;
        """
    }
}
