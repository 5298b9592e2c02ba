// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Glibc

/// Why a ledger could not be used. A failed call has changed nothing in the file.
public enum LedgerError: Error, Hashable, Sendable {
    /// The file is not a whole database; it was not changed.
    case damaged(path: String)
    /// A later version of Kazasu wrote the file; it was not changed.
    case newer(path: String, version: Int, supported: Int)
    /// The file is something else than a ledger; it was not changed.
    case notALedger(path: String)
    /// The file at this path, where SQLite keeps the ledger's journal, is something else, or names a file that SQLite would
    /// delete; nothing was changed.
    case foreignJournal(path: String)
    /// The file or its folder could not be opened, made or written; `code` is an `errno` or, above 1,000, an SQLite code + 1,000.
    case inaccessible(path: String, code: Int32)
    /// There is no room left for what was to be kept.
    case diskFull(path: String)
    /// Another program has been writing for longer than ``Ledger/Options/patience``.
    case locked(path: String)
    /// The environment names no folder for data: neither `KAZASU_LEDGER`, `XDG_DATA_HOME` nor `HOME` is set.
    case noHome
    /// No card of the ledger has this name, IDm or kind.
    case noSuchCard(String)
    /// The name or IDm of one card was wanted, and several fit.
    case severalCards(String)
    /// The format that was asked for holds one currency, and these cards have another.
    case otherCurrency(cards: [LedgerPurse])
    /// Another card has this name.
    case nameInUse(String)
    /// A card cannot continue itself.
    case sameCard
    /// Cards that are to be one have no kind of purse in common, so that neither continues the other.
    case otherPurses
    /// Both cards that are to be one have a name.
    case severalNames
    /// No station or stop that the ledger has a record of has this name or code.
    case noSuchStation(String)
    /// No line that the ledger has a record of has this name or code.
    case noSuchLine(String)
    /// No record of the ledger has this id.
    case noSuchRecord(String)
    /// The ledger has no record of an import with this number.
    case noSuchImport(Int)
    /// There is no change that could be taken back.
    case nothingToUndo
    /// The dump holds no history that a decoder can read.
    case noHistory
    /// The dump is of another card than the one that was asked for.
    case otherCard
    /// A file of columns has something unknown in this line.
    case columns(line: Int, ColumnFault)
    /// The C library has no converter for CP932.
    case noCharacterSet
    /// SQLite failed with this result code for a reason that is none of the others.
    case failed(code: Int32)

    /// What is wrong with a line of a file of columns.
    public enum ColumnFault: Hashable, Sendable {
        /// No such field.
        case unknownField(String)
        /// No such setting.
        case unknownSetting(String)
        /// The line is neither `HEADER = FIELD` nor `@SETTING VALUE`.
        case malformed
        /// The file names no column.
        case noColumns
    }

    /// What an error of SQLite means for a ledger.
    init(_ error: any Error, path: String) {
        if let own = error as? LedgerError {
            self = own
            return
        }
        if let fault = error as? SQLiteFile.Fault {
            switch fault {
            case .foreign: self = .notALedger(path: path)
            case .damaged: self = .damaged(path: path)
            case .newer(let version):
                self = .newer(path: path, version: version, supported: LedgerSchema.format.steps.count)
            case .foreignJournal(let path): self = .foreignJournal(path: path)
            case .inaccessible(ENOSPC), .inaccessible(EDQUOT): self = .diskFull(path: path)
            case .inaccessible(let code): self = .inaccessible(path: path, code: code)
            }
            return
        }
        guard let error = error as? DatabaseError else {
            // A value of another type than its column's.
            self = error is RowDecodingError ? .damaged(path: path) : .failed(code: ResultCode.SQLITE_ERROR.rawValue)
            return
        }
        switch error.resultCode {
        // No statement breaks a constraint of a whole ledger.
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
            self = .damaged(path: path)
        case .SQLITE_FULL: self = .diskFull(path: path)
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: self = .locked(path: path)
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_IOERR, .SQLITE_AUTH:
            self = .inaccessible(path: path, code: 1_000 + error.extendedResultCode.rawValue)
        default: self = .failed(code: error.extendedResultCode.rawValue)
        }
    }
}

/// Something unusual about records that were kept; none of them was refused.
public enum LedgerNotice: Hashable, Sendable {
    /// The serials of the card begin again below those that the ledger has, on a later day.
    case serialsWentBack(card: String)
    /// Records with the serial of another record, but another day or balance; all are kept.
    case sameSerial(card: String, count: Int)
    /// Records that the ledger has, but with other bytes; both forms are kept.
    case otherBytes(card: String, count: Int)
    /// Records that are dated later than tomorrow.
    case futureDates(card: String, count: Int)
    /// A new card begins with records of a card that the ledger knows, as a phone does after a change of model: ``Ledger/link(_:to:)``.
    case sameHistory(card: String, as: String)

    /// The notice with masked cards.
    func masked(_ options: Ledger.Options) -> LedgerNotice {
        func shown(_ card: String) -> String { LedgerPurse.shown(card, options) }
        return switch self {
        case .serialsWentBack(let card): .serialsWentBack(card: shown(card))
        case .sameSerial(let card, let count): .sameSerial(card: shown(card), count: count)
        case .otherBytes(let card, let count): .otherBytes(card: shown(card), count: count)
        case .futureDates(let card, let count): .futureDates(card: shown(card), count: count)
        case .sameHistory(let card, let other): .sameHistory(card: shown(card), as: shown(other))
        }
    }
}
