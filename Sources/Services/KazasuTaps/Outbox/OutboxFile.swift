// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc
internal import Synchronization
internal import SQLiteFiles

/// The files of an outbox: the database, the lock of its watcher, and a reserve for a full disk.
///
/// SQLite needs room to open a database and to delete from it. The reserve is a file that gives up its room for that; it is
/// made again when there is some.
final class OutboxFile: Sendable {
    private struct State {
        var database: DatabaseQueue?
        var lock: Int32?
        /// Whether the reserve was given up.
        var isReserveUsed = false
        var isClosed = false
    }

    /// `kzob` identifies an outbox among SQLite files.
    private static let format = SQLiteFile.Format(
        application: 0x6B7A_6F62, steps: [Outbox.schema], wholeCheck: 16 << 20)
    /// Sizes of the reserve, largest first; a nearly full disk may only have room for a smaller one.
    private static let reserves: [off_t] = [512 << 10, 256 << 10, 128 << 10, 64 << 10]
    /// A disk with less room is full: SQLite writes pages of 4 and 32 KiB.
    private static let least = 64 << 10

    let path: String
    private let isWatcher: Bool
    private let makesFolders: Bool
    private let state = Mutex(State())

    init(_ path: String, isWatcher: Bool, makesFolders: Bool) {
        (self.path, self.isWatcher, self.makesFolders) = (path, isWatcher, makesFolders)
    }

    /// The open database.
    func database() throws(OutboxError) -> DatabaseQueue {
        try state.withLock { state throws(OutboxError) in
            if let database = state.database { return database }
            guard !state.isClosed else { throw .failed(code: SQLITE_MISUSE) }
            do throws(OutboxError) {
                return try open(&state)
            } catch .full {
                guard giveUpReserve(&state) else { throw .full }
                return try open(&state)
            }
        }
    }

    /// Makes room for something that leaves less than there was.
    ///
    /// - Returns: whether there was a reserve.
    func giveUpReserve() -> Bool { state.withLock { giveUpReserve(&$0) } }

    /// Makes the reserve if there is plenty of room.
    func keepReserve() {
        if Self.room(beside: path) >= 4 * Int(Self.reserves.first ?? 0) { state.withLock { makeReserve(&$0) } }
    }

    deinit { close() }

    /// Closes the database for good.
    func close() {
        state.withLock { state in
            state.database?.close()
            // What SQLite had beside the file is room again.
            if isWatcher && state.database != nil || state.isReserveUsed { makeReserve(&state) }
            if let lock = state.lock { Self.unlock(lock) }
            (state.database, state.lock, state.isClosed) = (nil, nil, true)
        }
    }

    private func open(_ state: inout State) throws(OutboxError) -> DatabaseQueue {
        try Self.checkLink(path)
        // Nothing is left beside a file that is something else.
        try Self.attempt(path) { try SQLiteFile.check(path, Self.format, makesFolders: makesFolders) }
        if isWatcher, state.lock == nil { state.lock = try Self.lock(path) }
        do throws(OutboxError) {
            let database = try Self.database(path)
            state.database = database
            if isWatcher { keepReserve(&state) }
            return database
        } catch {
            if let lock = state.lock { Self.unlock(lock) }
            state.lock = nil
            throw error
        }
    }

    private static func database(_ path: String) throws(OutboxError) -> DatabaseQueue {
        var configuration = DatabaseConfiguration()
        configuration.patience = 10
        configuration.setup = ["PRAGMA synchronous = FULL"]
        let configured = configuration
        return try attempt(path) {
            let database = try SQLiteFile.open(path, format, configured)
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
            // What a watcher begins with; the whole check is left out for a large file.
            _ = try database.read(Outbox.memory)
            return database
        }
    }

    /// A link is not followed: an administrator's outbox in a folder of others could be a link to any file.
    private static func checkLink(_ path: String) throws(OutboxError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
        throw .foreign(path: path)
    }

    /// The lock is on a file of its own: closing a file that SQLite has open would release SQLite's locks.
    private static func lock(_ path: String) throws(OutboxError) -> Int32 {
        let file = unsafe Glibc.open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw error(errno, path + ".lock") }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(file)
            throw .locked(path: path)
        }
        return file
    }

    /// A program that is being started has the file open, too, until it runs: the lock would stay as long.
    private static func unlock(_ file: Int32) {
        flock(file, LOCK_UN)
        Glibc.close(file)
    }

    // MARK: The reserve

    private var reserve: String { path + "-reserve" }

    private func keepReserve(_ state: inout State) {
        if Self.room(beside: path) >= 4 * Int(Self.reserves.first ?? 0) { makeReserve(&state) }
    }

    private func makeReserve(_ state: inout State) {
        let file = unsafe Glibc.open(reserve, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { Glibc.close(file) }
        guard Self.reserves.contains(where: { posix_fallocate(file, 0, $0) == 0 }) else {
            unsafe unlink(reserve)
            return
        }
        state.isReserveUsed = false
    }

    private func giveUpReserve(_ state: inout State) -> Bool {
        guard isReserve, unsafe unlink(reserve) == 0 else { return false }
        state.isReserveUsed = true
        return true
    }

    /// Whether the file of that name is a reserve, and not one that somebody named so.
    private var isReserve: Bool {
        let file = unsafe Glibc.open(reserve, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { Glibc.close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            Self.reserves.contains(status.st_size)
        else { return false }
        var start = [UInt8](repeating: 0, count: 4096)
        let count = unsafe start.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
        return count > 0 && start.prefix(count).allSatisfy { $0 == 0 }
    }

    /// How many bytes the disk has left for the file.
    private static func room(beside path: String) -> Int {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return .max }
        guard status.f_files == 0 || status.f_favail > 0 else { return 0 }
        return Int(clamping: status.f_bavail.multipliedReportingOverflow(by: status.f_frsize).partialValue)
    }

    // MARK: Errors

    static func attempt<Value>(_ path: String, _ body: () throws -> Value) throws(OutboxError) -> Value {
        do {
            return try body()
        } catch let fault as SQLiteFile.Fault {
            switch fault {
            case .foreign: throw .foreign(path: path)
            case .damaged: throw .damaged(path: path)
            case .newer: throw .newer(path: path)
            case .foreignJournal(let path): throw .foreignJournal(path: path)
            case .inaccessible(let errno): throw error(errno, path)
            }
        } catch let error as DatabaseError {
            switch error.primaryCode {
            case SQLITE_FULL: throw .full
            // The memory that connections share is a file, too.
            case SQLITE_IOERR where room(beside: path) < least, SQLITE_CANTOPEN where room(beside: path) < least:
                throw .full
            case SQLITE_READONLY: throw .readOnly
            case SQLITE_CORRUPT, SQLITE_NOTADB: throw .damaged(path: path)
            case let code: throw .failed(code: code)
            }
        } catch is RowDecodingError {
            // A value of another type than its column's.
            throw .damaged(path: path)
        } catch {
            throw .failed(code: -1)
        }
    }

    private static func error(_ errno: Int32, _ path: String) -> OutboxError {
        [ENOSPC, EDQUOT].contains(errno) ? .full : .unusable(path: path, errno: errno)
    }
}
