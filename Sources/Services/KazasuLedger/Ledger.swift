// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
internal import SQLiteFiles
internal import Glibc
internal import Synchronization

/// Every journey and payment ever read, of any number of cards, in one SQLite file.
///
/// A record is kept once, however often it is read, in whatever order and from whatever source. What is lost between two visits
/// is known as a gap.
///
/// ```swift
/// let ledger = try Ledger.open(try Ledger.defaultPath(environment: ProcessInfo.processInfo.environment))
/// try ledger.keep(dump)
/// for record in try ledger.records(LedgerFilter()) { print(record.uid, record.record.amount ?? "?") }
/// ```
public final class Ledger: Sendable {
    /// How a ledger is used.
    public struct Options: Sendable {
        /// Where names of stations are looked up.
        public var stations: any StationNames = ShippedStations()
        /// The decoders that read histories.
        public var decoders: DecoderRegistry = .standard
        /// The key of a card: its IDm, or a keyed hash if no IDm may be stored. Hexadecimal digits only.
        public var cardKey: @Sendable (IDm) -> String = { $0.description }
        /// Whether cards are masked in everything that is read, as for a bug report: their numbers, and the names that the
        /// owner gave. The file keeps them.
        public var isRedacted = false
        /// How many seconds to wait for another program that writes.
        public var patience = 10
        /// The current time in seconds since 1970.
        public var clock: @Sendable () -> Int = { time(nil) }
        /// Reports how many histories of an import are merged, before the transaction commits.
        public var progress: @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
        /// How much memory SQLite may use for pages, in KiB.
        public var cacheSize = 32_768
        /// How many pages of 4,096 bytes the file may have; `nil` for as many as the disk holds.
        public var pageLimit: Int?

        /// The defaults: plain IDms, the station names that come with Kazasu.
        public init() {}
    }

    /// Where the file is.
    public let path: String
    package let options: Options
    let store: LedgerStore
    private let listeners = Mutex<[Int: AsyncStream<LedgerRecord>.Continuation]>([:])

    /// Opens a ledger; makes it if there is none. One of an earlier version is brought up to date, after a copy was made.
    ///
    /// - Throws: ``LedgerError/damaged(path:)``, ``LedgerError/newer(path:version:supported:)`` and
    ///   ``LedgerError/notALedger(path:)`` for a file that is left untouched; others when it cannot be opened.
    public static func open(_ path: String, options: Options = Options()) throws(LedgerError) -> Ledger {
        try Ledger(path: path, options: options)
    }

    /// The copy of the file as an earlier version of Kazasu left it, if opening has just brought the file up to date.
    public var olderCopy: String? { store.olderCopy }

    private init(path: String, options: Options) throws(LedgerError) {
        self.path = path
        self.options = options
        store = try LedgerStore(path: path, options)
    }

    /// `KAZASU_LEDGER`, else `kazasu/ledger.sqlite` in `XDG_DATA_HOME` or `~/.local/share`.
    public static func defaultPath(environment: [String: String]) throws(LedgerError) -> String {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let path = value("KAZASU_LEDGER") { return path }
        if let folder = value("XDG_DATA_HOME"), folder.hasPrefix("/") { return folder + "/kazasu/ledger.sqlite" }
        guard let home = value("HOME") else { throw .noHome }
        return home + "/.local/share/kazasu/ledger.sqlite"
    }

    /// Checks the whole file, which takes a second for each 200 MB or so; small files are checked each time they are opened.
    public func verify() throws(LedgerError) {
        let answer = try store.read { db in try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") }
        guard answer == "ok" else { throw .damaged(path: path) }
    }

    // MARK: New records

    /// The records that this object keeps from now on, each once, as soon as they are safe in the file.
    public func additions() -> AsyncStream<LedgerRecord> {
        let (stream, continuation) = AsyncStream.makeStream(of: LedgerRecord.self)
        let number = listeners.withLock { listeners in
            let number = (listeners.keys.max() ?? 0) + 1
            listeners[number] = continuation
            return number
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.listeners.withLock { $0.removeValue(forKey: number) }
        }
        return stream
    }

    /// The records of a change that are to be announced, read within its transaction: nothing can fail after the commit.
    func additions(_ ids: [Int64], _ db: Database) throws -> [LedgerRecord] {
        guard !ids.isEmpty, listeners.withLock({ !$0.isEmpty }) else { return [] }
        let reader = try LedgerRecordReader(db, options)
        let select = try db.makeStatement(
            sql: "SELECT \(LedgerRecordReader.columns) FROM \(LedgerRecordReader.source) WHERE r.id = ?")
        return try ids.compactMap { try Row.fetchOne(select, arguments: [$0]).flatMap(reader.record) }
    }

    func announce(_ records: [LedgerRecord]) {
        for continuation in listeners.withLock({ Array($0.values) }) {
            for record in records { continuation.yield(record) }
        }
    }

    deinit {
        for continuation in listeners.withLock({ $0.values.map { $0 } }) { continuation.finish() }
    }

    // MARK: Time

    /// The day after today in Japan.
    var tomorrow: CalendarDate {
        let days = (options.clock() + 9 * 3600) / 86_400 - 10_957 + 1
        return CalendarDate(daysSince2000: UInt16(clamping: days))
    }
}
