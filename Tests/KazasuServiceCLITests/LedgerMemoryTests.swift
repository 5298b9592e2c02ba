// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A ledger of 300,000 records is listed and exported in at most 100 MiB. A debug build would take minutes for so many, so it gets a fifth, and
/// less memory: holding all of these at once takes 30 to 150 MiB more.
@Suite("Memory for a ledger of many years", .waits, .disabled(if: Service.isSanitized))
struct LedgerMemoryTests {
    private static let limit = 80
    private static let records = 60_000
    private static let cards = 400

    /// Copies the oldest record of a ledger, with a gap before each three-hundredth copy.
    private static let fill = """
        import sqlite3, sys
        db = sqlite3.connect(sys.argv[1])
        db.execute(f'''
            WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < {sys.argv[2]}),
                own AS (SELECT * FROM record ORDER BY ord LIMIT 1)
            INSERT INTO record (purse, ord, uid, serial, date, kind, terminal, process, entry, exit, amount, balance, raw,
                added, completed, source)
            SELECT own.purse, own.ord - (65536 << 8) + (i.n << 8), substr(own.uid, 1, 18) || printf('%06x', i.n), i.n,
                (2000 + i.n / 12000) * 10000 + (1 + i.n / 1000 % 12) * 100 + 1 + i.n / 36 % 28,
                CASE i.n % 5 WHEN 0 THEN 'purchase' ELSE 'rail' END, own.terminal, own.process, own.entry, own.exit,
                CASE i.n % 50 WHEN 7 THEN NULL ELSE -160 - i.n % 7 * 10 END, 5000, own.raw, own.added, own.added, own.source
            FROM i, own''')
        db.execute('''
            INSERT OR IGNORE INTO gap SELECT id, 2, 9, -400, 0, 'recordsLost' FROM record WHERE serial % 300 = 7''')
        for n in range(int(sys.argv[3])):
            card = db.execute('INSERT INTO card (key, owner) VALUES (?, 0)', (f'{0x0101070000000000 + n:016x}',)).lastrowid
            db.execute('UPDATE card SET owner = id WHERE id = ?', (card,))
            purse = db.execute('''
                INSERT INTO purse (card, kind, system, english, japanese, currency)
                SELECT ?, kind, system, english, japanese, currency FROM purse LIMIT 1''', (card,)).lastrowid
            db.execute('UPDATE record SET purse = ? WHERE id = (SELECT max(id) FROM record WHERE serial = ?)', (purse, n * 3 + 1))
        db.commit()
        print(db.execute('SELECT count(*) FROM record').fetchone()[0])
        """

    /// Runs a command line, and prints the most memory that it had.
    private static let program = """
        import resource, subprocess, sys
        status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
        sys.exit(status)
        """

    private static func python(_ program: String, _ arguments: [String], _ data: TemporaryFolder) throws -> ChildResult
    {
        try ChildProcess.run(
            "/usr/bin/env", ["python3", "-c", program] + arguments,
            environment: Service.environment.merging(["XDG_DATA_HOME": data.path]) { $1 }, limit: .seconds(900))
    }

    /// One of each way to read the records; `make bench-ledger` measures every command and format.
    static let commands = ["list --json", "export csv", "export hledger", "export --claim --gaps"]

    @Test("Lists, exports and the report")
    func memory() throws {
        let data = try TemporaryFolder()
        let kept = try Service.run(["ledger", "import", LedgerCommandTests.card], data: data)
        try #require(kept.end == .exited(0), "\(kept.errors)")
        let filled = try Self.python(
            Self.fill, [data.path + "/kazasu/ledger.sqlite", "\(Self.records)", "\(Self.cards)"],
            data)
        try #require(filled.output == "\(Self.records + 20)\n", "\(filled.errors)")
        for command in Self.commands {
            let words = command.split(separator: " ").map(String.init)
            let result = try Self.python(Self.program, [Service.path, "ledger"] + words, data)
            #expect(result.end == .exited(0), "\(command)")
            let mebibytes = try #require(Int(result.output.split(separator: "\n").last ?? ""))
            #expect(mebibytes <= Self.limit, "\(command): \(mebibytes) MiB")
        }
    }
}
