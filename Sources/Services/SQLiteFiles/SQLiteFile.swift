// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
package import CardModel
internal import Glibc

/// Opens SQLite files that may be untrusted, and so may the files beside them.
///
/// New and existing files become readable by their owner alone. Nothing is written to a file, and nothing in it runs, until its
/// tables are known to be those of its format.
package enum SQLiteFile {
    /// What a kind of file contains.
    package struct Format: Sendable {
        /// SQLite's `application_id`.
        let application: Int32
        /// The statements that make the tables; `user_version` counts them. A step that was released never changes.
        package let steps: [String]
        /// Files up to this size are checked as a whole each time they are opened.
        let wholeCheck: Int64
        /// Whether the rows are valid for the format; part of the whole check.
        let isSound: @Sendable (Database) throws -> Bool

        package init(
            application: Int32, steps: [String], wholeCheck: Int64 = 0,
            isSound: @escaping @Sendable (Database) throws -> Bool = { _ in true }
        ) {
            (self.application, self.steps, self.wholeCheck, self.isSound) = (application, steps, wholeCheck, isSound)
        }
    }

    /// Why a file is not used. It was not changed.
    package enum Fault: Error, Hashable {
        /// It has another format.
        case foreign
        /// It has the format, but is incomplete or has other tables.
        case damaged
        /// A later version wrote it.
        case newer(version: Int)
        /// The file at this path, where SQLite keeps a journal, is not a journal of this file, or names other files.
        case foreignJournal(path: String)
        /// It could not be opened or made: an `errno`.
        case inaccessible(Int32)
    }

    /// The sentence about ``Fault/foreignJournal(path:)``.
    package static func foreignJournal(_ path: String) -> LocalizedText {
        LocalizedText(
            "\(path) is not a journal of the file beside it; nothing was opened or changed",
            "\(path) は隣のファイルのジャーナルではありません（どのファイルも変更していません）")
    }

    /// The sentence about any other result code of SQLite.
    package static func failure(_ code: Int32) -> LocalizedText {
        LocalizedText("SQLite error \(code)", "SQLite エラー \(code)")
    }

    /// Opens a file of a format, or makes it. One of an earlier version is brought up to date, after a copy of it was made.
    ///
    /// - Parameter copied: gets the path of that copy.
    /// - Throws: ``Fault``, or an error of SQLite.
    package static func open(
        _ path: String, _ format: Format, _ configuration: DatabaseConfiguration, copied: (String) -> Void = { _ in }
    ) throws -> DatabaseQueue {
        let path = try prepare(path)
        try examine(path, format)
        let queue: DatabaseQueue
        do {
            queue = try self.queue(path, configuration)
            // The first read rolls back an unfinished transaction.
            let isCurrent = try queue.read { db in try self.isCurrent(db, format) }
            if let size = status(path)?.st_size, size > 0, size <= format.wholeCheck {
                let isSound = try queue.read { db in
                    try String.fetchOne(db, sql: "PRAGMA quick_check(1)") == "ok" && format.isSound(db)
                }
                guard isSound else { throw Fault.damaged }
            }
            makePrivate(path)
            if isCurrent { return queue }
        } catch let error as DatabaseError where error.primaryCode == SQLITE_ERROR {
            // The tables are described in a way that SQLite does not understand.
            throw Fault.damaged
        }
        var copy: String?
        do {
            try queue.write { db in
                guard try !isCurrent(db, format) else { return }
                let present = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                if present > 0 { copy = try self.copy(of: path, version: present) }
                for step in format.steps.dropFirst(present) { try db.execute(sql: step) }
                try db.execute(
                    sql: "PRAGMA application_id = \(format.application); PRAGMA user_version = \(format.steps.count)")
            }
        } catch {
            // The file itself is unchanged.
            if let copy { unsafe unlink(copy) }
            throw error
        }
        if let copy { copied(copy) }
        return queue
    }

    /// The newest copy of a file that an update has kept, as an earlier version left it; `nil` if there is none.
    ///
    /// - Parameter version: the newest that the caller can use.
    package static func copy(of path: String, upTo version: Int) -> String? {
        for version in stride(from: version, to: 0, by: -1) {
            let copies = (1...1000).lazy.map { name(ofCopy: $0, of: path, version: version) }
            if let last = copies.prefix(while: { unsafe access($0, F_OK) == 0 }).reversed().first { return last }
        }
        return nil
    }

    private static func name(ofCopy number: Int, of path: String, version: Int) -> String {
        path + ".version-\(version)" + (number == 1 ? "" : "-\(number)")
    }

    /// Copies the file as an earlier version left it to `….version-1`, or that with a number where that is taken. The caller
    /// has begun a transaction, so that nobody else writes meanwhile.
    private static func copy(of path: String, version: Int) throws -> String {
        for number in 1...1000 {
            let copy = name(ofCopy: number, of: path, version: version)
            let file = unsafe Glibc.open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else {
                if errno == EEXIST { continue }
                throw Fault.inaccessible(errno)
            }
            close(file)
            do {
                var readOnly = DatabaseConfiguration()
                readOnly.isReadOnly = true
                let source = try queue(path, readOnly)
                let target = try DatabaseQueue(path: copy)
                try source.copy(to: target)
                target.close()
                source.close()
                return copy
            } catch {
                for suffix in [""] + companions { unsafe unlink(copy + suffix) }
                throw error
            }
        }
        throw Fault.inaccessible(EEXIST)
    }

    /// A connection on which functions and virtual tables that reach outside of the database do not run from its schema.
    package static func queue(_ path: String, _ configuration: DatabaseConfiguration) throws -> DatabaseQueue {
        var careful = configuration
        careful.setup.append("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        return try DatabaseQueue(path: path, careful)
    }

    // MARK: Before SQLite

    /// Makes the file if it is missing, and checks what SQLite would find, without opening it.
    package static func check(_ path: String, _ format: Format, makesFolders: Bool = true) throws(Fault) {
        try examine(try prepare(path, makesFolders: makesFolders), format)
    }

    /// Makes the file and, unless told otherwise, the folders above it; checks the files beside it.
    ///
    /// - Returns: the path without links, beside which SQLite looks for journals.
    package static func prepare(_ path: String, makesFolders: Bool = true) throws(Fault) -> String {
        var folder = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropLast() where makesFolders {
            folder += part
            if !folder.isEmpty, unsafe mkdir(folder, 0o700) != 0, errno != EEXIST {
                let reason = errno
                guard unsafe access(folder, F_OK) == 0 else { throw .inaccessible(reason) }
            }
            folder += "/"
        }
        // A FIFO or a device is not opened: that alone may wait, or do something.
        if let known = status(path), known.st_mode & S_IFMT != S_IFREG {
            guard known.st_mode & S_IFMT != S_IFDIR else { throw .inaccessible(EISDIR) }
            throw .foreign
        }
        let file = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw .inaccessible(errno) }
        close(file)
        guard let resolved = unsafe realpath(path, nil) else { throw .inaccessible(errno) }
        defer { unsafe free(resolved) }
        let real = unsafe String(cString: resolved)
        for suffix in companions { try examineCompanion(real, suffix) }
        return real
    }

    /// The files that SQLite keeps beside a database.
    private static let companions = ["-journal", "-wal", "-shm"]

    /// The magic bytes of a rollback journal; https://sqlite.org/fileformat.html#the_rollback_journal
    private static let journalStart: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    /// The magic number of a write-ahead log without its last bit; https://sqlite.org/fileformat.html#the_write_ahead_log
    private static let logStart: [UInt8] = [0x37, 0x7F, 0x06]

    /// Refuses a journal that no transaction on this file alone can have left.
    ///
    /// A rollback journal may end with the name of a super-journal and the eight bytes that it begins with. SQLite deletes
    /// the file of that name when it rolls back, whatever it is (https://sqlite.org/atomiccommit.html#multi_file_commit).
    /// Only transactions on several files have one; Kazasu makes none.
    private static func examineCompanion(_ path: String, _ suffix: String) throws(Fault) {
        let path = path + suffix
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .foreignJournal(path: path) }
        let size = Int(status.st_size)
        guard suffix != "-shm", size > 0 else { return }
        guard let start = bytes(of: path, 8) else { throw .inaccessible(errno) }
        let isKnown = start.first == 0 || start.starts(with: suffix == "-wal" ? logStart : journalStart)
        guard isKnown else { throw .foreignJournal(path: path) }
        guard suffix == "-journal", size > 8 else { return }
        guard let end = bytes(of: path, 8, from: size - 8) else { throw .inaccessible(errno) }
        guard end != journalStart else { throw .foreignJournal(path: path) }
    }

    /// Looks at the header (https://sqlite.org/fileformat.html#the_database_header) without SQLite, which would already
    /// write beside a file that is something else.
    private static func examine(_ path: String, _ format: Format) throws(Fault) {
        guard let size = status(path).map({ Int64($0.st_size) }), size > 0 else { return }
        guard let header = bytes(of: path, 100) else { throw .inaccessible(errno) }
        // The tables may be in any state until SQLite has rolled back an unfinished transaction.
        let isWhole = ["-journal", "-wal"].allSatisfy { (status(path + $0)?.st_size ?? 0) == 0 }
        let isDatabase = header.starts(with: Array("SQLite format 3\0".utf8))
        guard isDatabase || !isWhole && header.allSatisfy({ $0 == 0 }) else { throw .foreign }
        guard header.count == 100 else { throw .damaged }
        func number(_ offset: Int) -> UInt32 { header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        guard number(68) == UInt32(bitPattern: format.application) else {
            // A database without tables may become one of the format.
            guard number(68) == 0, number(40) == 0 else { throw .foreign }
            return
        }
        guard number(60) <= format.steps.count else { throw .newer(version: Int(number(60))) }
        let stored = Int64(number(16) >> 16)
        let pageSize = stored == 1 ? 65_536 : stored
        // The count of pages is valid when the two change counters agree.
        if isWhole, number(24) == number(92), Int64(number(28)) * pageSize > size { throw .damaged }
    }

    // MARK: Tables

    /// Whether the file has the tables of the newest version; `false` for one without tables and for an older version.
    private static func isCurrent(_ db: Database, _ format: Format) throws -> Bool {
        let application = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let found = try objects(db)
        if application == 0, version == 0, found.isEmpty { return false }
        guard application == format.application else { throw Fault.foreign }
        guard version <= format.steps.count else { throw Fault.newer(version: version) }
        guard version >= 0 else { throw Fault.damaged }
        let expected = try DatabaseQueue().write { db in
            for step in format.steps.prefix(version) { try db.execute(sql: step) }
            return try objects(db)
        }
        guard found == expected else { throw Fault.damaged }
        return version == format.steps.count
    }

    /// The tables, indexes and triggers of a database with their definitions.
    ///
    /// Left out are views, which run only when they are asked for, and what `ANALYZE` keeps for SQLite.
    private static func objects(_ db: Database) throws -> Set<[String]> {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT CAST(type AS TEXT), CAST(name AS TEXT), CAST(tbl_name AS TEXT), CAST(sql AS TEXT)
                FROM sqlite_master WHERE NOT (type = 'view' AND name NOT LIKE 'sqlite%')
                AND NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))
                """)
        return Set(
            rows.map { row in
                row.databaseValues.map { value in
                    let words = String(databaseValue: value)?.split(whereSeparator: \.isWhitespace) ?? []
                    return words.joined(separator: " ")
                }
            })
    }

    // MARK: Files

    /// Makes the file and those beside it private; another user's file keeps its mode.
    private static func makePrivate(_ path: String) {
        for name in [path] + companions.map({ path + $0 }) {
            guard let status = status(name), status.st_mode & 0o077 != 0 else { continue }
            unsafe chmod(name, status.st_mode & 0o700)
        }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    private static func bytes(of path: String, _ count: Int, from offset: Int = 0) -> [UInt8]? {
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, count, off_t(offset)) }
        return got < 0 ? nil : Array(bytes.prefix(got))
    }
}
