// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Glibc

/// The SQLite file of a ledger: opened with care, migrated, read and written in transactions.
///
/// The file keeps SQLite's rollback journal, so that it is one file when nothing writes, and a killed program leaves a
/// journal that the next one rolls back.
struct LedgerStore: Sendable {
    let path: String
    let queue: DatabaseQueue

    /// Four characters at a fixed place of the file, "KZLG".
    static let applicationID: UInt32 = 0x4B5A_4C47

    /// Files up to this size are checked as a whole each time they are opened, which takes some milliseconds.
    private static let wholeCheck: Int64 = 16 << 20

    init(path: String, _ options: Ledger.Options) throws(LedgerError) {
        let (patience, pageLimit, cacheSize) = (options.patience, options.pageLimit, options.cacheSize)
        self.path = path
        let isRecovering = LedgerStore.size(of: path + "-journal") ?? 0 > 0
        if !isRecovering { try LedgerStore.examine(path) }
        try LedgerStore.make(path)
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(Double(patience))
            configuration.label = "ledger"
            configuration.prepareDatabase { db in
                try db.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(max(0, cacheSize))")
                if let pageLimit { try db.execute(sql: "PRAGMA max_page_count = \(pageLimit)") }
            }
            queue = try DatabaseQueue(path: path, configuration: configuration)
        } catch {
            throw LedgerError(error, path: path)
        }
        // The first read rolls back what a killed program left.
        try read { db in _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") }
        if isRecovering { try LedgerStore.examine(path) }
        try checkWhole()
        try write { db in try LedgerSchema.migrate(db) }
    }

    /// Runs a reading transaction.
    func read<Value>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        do {
            return try queue.read(body)
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    /// Runs a writing transaction, which ends whole or not at all.
    func write<Value>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        do {
            return try queue.write(body)
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    private func checkWhole() throws(LedgerError) {
        guard let size = LedgerStore.size(of: path), size > 0, size <= LedgerStore.wholeCheck else { return }
        let answer = try read { db in try String.fetchOne(db, sql: "PRAGMA quick_check(1)") }
        guard answer == "ok" else { throw .damaged(path: path) }
    }

    /// Looks at the header without SQLite, so that a file that is no ledger, or a later one, is left as it is.
    private static func examine(_ path: String) throws(LedgerError) {
        guard let size = size(of: path), size > 0 else { return }
        guard let header = head(of: path) else { throw .inaccessible(path: path, code: errno) }
        guard header.count == 100 else { throw .damaged(path: path) }
        guard header.starts(with: Array("SQLite format 3\0".utf8)) else { throw .notALedger(path: path) }
        func number(_ offset: Int) -> UInt32 {
            header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        guard number(68) == applicationID else { throw .notALedger(path: path) }
        let version = Int(number(60))
        guard version <= LedgerSchema.version else {
            throw .newer(path: path, version: version, supported: LedgerSchema.version)
        }
        let stored = Int64(number(16) >> 16)
        let pageSize = stored == 1 ? 65_536 : stored
        // The count of pages is valid when the two change counters agree.
        if number(24) == number(92), Int64(number(28)) * pageSize > size { throw .damaged(path: path) }
    }

    private static func head(of path: String) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var header = [UInt8](repeating: 0, count: 100)
        let count = unsafe header.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, 100) }
        return count < 0 ? nil : Array(header.prefix(count))
    }

    static func size(of path: String) -> Int64? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Makes the file, readable by its owner alone, and the folders above it. SQLite gives its journal the same mode.
    private static func make(_ path: String) throws(LedgerError) {
        let folders = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        var folder = ""
        for part in folders {
            folder += part
            if !folder.isEmpty, unsafe mkdir(folder, 0o700) != 0, ![EEXIST, EROFS, EACCES].contains(errno) {
                throw .inaccessible(path: path, code: errno)
            }
            folder += "/"
        }
        let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            if errno == ENOSPC || errno == EDQUOT { throw .diskFull(path: path) }
            throw .inaccessible(path: path, code: errno)
        }
        close(file)
    }
}
