// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import CardDecoders
public import CardModel
internal import Glibc
internal import SQLiteFiles

/// Why a ledger could not be used. A failed call has not changed the file.
@nonexhaustive
public enum LedgerError: Error, Hashable, Sendable {
    /// The file is not a whole database; it was not changed.
    case damaged(path: String)
    /// A later version of Kazasu wrote the file; it was not changed.
    case newer(path: String, version: Int, supported: Int)
    /// The file is not a ledger; it was not changed.
    case notALedger(path: String)
    /// The file at this path, where SQLite keeps the ledger's journal, is something else, or names a file that SQLite would
    /// delete; nothing was changed.
    case foreignJournal(path: String)
    /// The file or its folder could not be opened, created or written; `code` is an `errno` or, above 1,000, an SQLite code + 1,000.
    case inaccessible(path: String, code: Int32)
    /// The disk, or the size that was set, is full.
    case diskFull(path: String)
    /// Another program has been writing for longer than ``Ledger/Options/patience``.
    case locked(path: String)
    /// The environment names no folder for data: neither `KAZASU_LEDGER`, `XDG_DATA_HOME` nor `HOME` is set.
    case noHome
    /// No card of the ledger has this name, IDm or kind.
    case noSuchCard(String)
    /// Several cards match where one is needed.
    case severalCards(String)
    /// The format holds one currency, and these cards have another.
    case otherCurrency(cards: [LedgerPurse])
    /// Another card has this name.
    case nameInUse(String)
    /// A card cannot continue itself.
    case sameCard
    /// The cards to be linked have no kind of purse in common, so that neither continues the other.
    case otherPurses
    /// Both cards to be linked have a name.
    case severalNames
    /// No station or stop that the ledger has a record of has this name or code.
    case noSuchStation(String)
    /// The section of a commuter pass is not two stations with a hyphen between.
    case notASection(String)
    /// No line that the ledger has a record of has this name or code.
    case noSuchLine(String)
    /// No record of the ledger has this id.
    case noSuchRecord(String)
    /// The ledger has no record of an import with this number.
    case noSuchImport(Int)
    /// There is no change to undo.
    case nothingToUndo
    /// The dump holds no history that a decoder can read.
    case noHistory
    /// A dump is of another card than requested: the one with this index, if there are several.
    case otherCard(dump: Int)
    /// This line of a file of columns is wrong.
    case columns(line: Int, ColumnFault)
    /// The C library has no converter for CP932.
    case noCharacterSet
    /// SQLite failed with another result code.
    case failed(code: Int32)

    /// What is wrong with a line of a file of columns.
    @nonexhaustive
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

    /// The copy that an update has kept of a ledger that is too new now; `nil` if there is none.
    package var keptCopy: String? {
        guard case .newer(let path, _, let supported) = self else { return nil }
        return SQLiteFile.copy(of: path, upTo: supported)
    }

    /// Converts an error of SQLite.
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
            self = error is RowDecodingError ? .damaged(path: path) : .failed(code: SQLITE_ERROR)
            return
        }
        switch error.primaryCode {
        // No statement breaks a constraint of a whole ledger.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_CONSTRAINT, SQLITE_MISMATCH:
            self = .damaged(path: path)
        case SQLITE_FULL: self = .diskFull(path: path)
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: self = .locked(path: path)
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_IOERR, SQLITE_AUTH:
            self = .inaccessible(path: path, code: 1_000 + error.code)
        default: self = .failed(code: error.code)
        }
    }
}

extension LedgerError: SelfDescribing {
    /// One sentence; it repeats no number of a card.
    public var message: LocalizedText {
        switch self {
        case .damaged(let path): LocalizedText("\(path) is damaged", "\(path) は壊れています")
        case .newer(let path, let version, let supported):
            LocalizedText(
                "\(path) was written by a newer version of Kazasu (format \(version), this one knows \(supported)); it was not changed",
                "\(path) はより新しい Kazasu の台帳です（形式 \(version)、対応は \(supported) まで。変更していません）")
        case .notALedger(let path):
            LocalizedText(
                "\(path) is not a ledger of Kazasu; it was not changed", "\(path) は Kazasu の台帳ではありません（変更していません）")
        case .foreignJournal(let path): SQLiteFile.foreignJournal(path)
        case .inaccessible(let path, let code):
            LocalizedText("the ledger \(path) cannot be opened: ", "台帳 \(path) を開けません: ")
                + (code < 1_000 ? SystemMessage.of(code) : SQLiteFile.failure(code - 1_000))
        case .diskFull(let path): LocalizedText("no room left to write \(path)", "空き容量がないため \(path) に書けません")
        case .locked(let path):
            LocalizedText("another program is writing \(path)", "他のプログラムが \(path) に書き込み中です")
        case .noHome: LocalizedText("there is no home directory for the ledger", "台帳を置くホームディレクトリがありません")
        case .noSuchCard:
            LocalizedText("the ledger has no card of this name, kind or number", "台帳にその名前・種類・番号のカードはありません")
        case .severalCards: LocalizedText("several cards match; exactly one is needed", "複数のカードが該当します（必要なのは 1 枚）")
        case .otherCurrency(let cards):
            LocalizedText(
                "the format does not support the currency of "
                    + cards.map { "\($0.name(.english)) (\($0.currency.rawValue))" }.joined(separator: ", "),
                "この形式では " + cards.map { "\($0.name(.japanese)) (\($0.currency.rawValue))" }.joined(separator: "、")
                    + " の通貨を扱えません")
        case .nameInUse: LocalizedText("another card has this name", "別のカードがその名前を使っています")
        case .sameCard: LocalizedText("a card cannot continue itself", "同じカードどうしはまとめられません")
        case .otherPurses:
            LocalizedText("the cards are of different kinds; neither continues the other", "種類の異なるカードはまとめられません")
        case .severalNames:
            LocalizedText("both cards have a name; nothing was changed", "両方のカードに名前が付いています（変更していません）")
        case .noSuchStation(let word):
            LocalizedText("the ledger has no station or stop '\(word)'", "台帳に '\(word)' という駅・停留所はありません")
        case .notASection(let word):
            LocalizedText(
                "--pass takes two stations, A-B, not '\(word)'", "--pass には区間を A-B の形で指定してください（'\(word)'）")
        case .noSuchLine(let word): LocalizedText("the ledger has no line '\(word)'", "台帳に '\(word)' という路線はありません")
        case .noSuchRecord: LocalizedText("the ledger has no record with this id", "台帳にその ID の履歴はありません")
        case .noSuchImport: LocalizedText("the ledger has no records of this import", "台帳にその取り込みの履歴はありません")
        case .nothingToUndo: LocalizedText("there is no change to undo", "取り消せる変更はありません")
        case .noHistory: LocalizedText("there is no readable history to keep", "追加できる履歴がありません")
        case .otherCard: LocalizedText("a file is of another card", "別のカードのファイルがあります")
        case .columns(let line, let fault):
            LocalizedText("line \(line): \(fault.message.english)", "\(line) 行目: \(fault.message.japanese)")
        case .noCharacterSet: LocalizedText("the system cannot write CP932", "このシステムでは CP932 を書けません")
        case .failed(let code): SQLiteFile.failure(code)
        }
    }
}

extension LedgerError.ColumnFault: SelfDescribing {
    /// What is wrong with the line.
    public var message: LocalizedText {
        switch self {
        case .unknownField(let name):
            let fields = LedgerColumns.Field.allCases.map(\.rawValue)
            return LocalizedText(
                "unknown field '\(name)'; one of \(fields.joined(separator: ", "))",
                "不明な項目 '\(name)'。次のどれかです: \(fields.joined(separator: "、"))")
        case .unknownSetting(let text): return LocalizedText("unknown setting '\(text)'", "不明な設定 '\(text)'")
        case .malformed:
            return LocalizedText("expected HEADER = FIELD or @SETTING VALUE", "「見出し = 項目」か「@設定 値」の形で書いてください")
        case .noColumns: return LocalizedText("the file names no column", "列がありません")
        }
    }
}

/// Something unusual about records; all of them were kept.
@nonexhaustive
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
