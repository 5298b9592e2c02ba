// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
package import KazasuCLI
package import KazasuLedger

extension LedgerError: CommandFailure {
    package var commandError: CommandError { CommandError(self) }
}

extension CommandError {
    /// Why a ledger could not be used.
    ///
    /// - Parameter kept: how many records the command has added before, which stay.
    init(_ error: LedgerError, kept: Int = 0) {
        let changes =
            kept == 0
            ? tr("; nothing was changed", "（変更していません）")
            : tr(
                "; \(Words.count(kept, "new record")) \(kept == 1 ? "is" : "are") already kept",
                "（新しい履歴 \(kept) 件は追加済みです）")
        let cards = Caller.current.command("ledger cards")
        switch error {
        case .damaged(let path):
            self.init(
                .badFile, "ledgerDamaged", error, suffix: changes,
                hint: tr(
                    "restore a copy, or save what is left with: sqlite3 \(ShellWord.quoted(path)) .recover",
                    "バックアップを戻すか、sqlite3 \(ShellWord.quoted(path)) .recover で残りを取り出してください"))
        case .newer:
            let copy = error.keptCopy.map { ShellWord.quoted($0) }
            self.init(
                .badFile, "ledgerNewer", error,
                hint: copy.map {
                    tr(
                        "update Kazasu, or use the copy that the update kept: --ledger \($0)",
                        "Kazasu を更新するか、更新時に残した控えを --ledger \($0) で使ってください")
                } ?? tr("update Kazasu", "Kazasu を更新してください"))
        case .notALedger:
            self.init(
                .badFile, "notALedger", error,
                hint: tr("check --ledger and KAZASU_LEDGER", "--ledger と KAZASU_LEDGER を確かめてください"))
        case .foreignJournal: self = .foreignJournal(error)
        case .inaccessible:
            self.init(
                .cannotWrite, "cannotWrite", error,
                hint: tr(
                    "the file and its folder must be writable, because reading locks it",
                    "ファイルとフォルダーに書き込み権限が必要です（参照だけでもロックします）"))
        case .diskFull:
            self.init(
                .cannotWrite, "diskFull", error, suffix: changes,
                hint: tr("free some space and run the command again", "空き容量を増やして、もう一度実行してください"))
        case .locked:
            self.init(
                .cannotWrite, "locked", error, suffix: changes,
                hint: tr("run the command again when it is done", "終わってから、もう一度実行してください"))
        case .noHome:
            self.init(
                .cannotWrite, "cannotWrite", error,
                hint: tr("set KAZASU_LEDGER, XDG_DATA_HOME or HOME", "KAZASU_LEDGER、XDG_DATA_HOME、HOME のいずれかを設定してください"))
        case .noSuchCard:
            self.init(
                .usage, "unknownCard", error,
                hint: tr("\(cards) lists them", "\(cards) で確認できます"))
        case .severalCards:
            self.init(
                .usage, "severalCards", error,
                hint: tr(
                    "choose one with a name or the last digits that \(cards) shows",
                    "\(cards) に出る名前か番号の末尾で 1 枚を選んでください"))
        case .otherCurrency:
            self.init(
                .usage, "otherCurrency", error,
                hint: tr(
                    "choose other cards with --card, or a format such as csv, ofx, hledger or beancount",
                    "--card で別のカードを選ぶか、csv、ofx、hledger、beancount などの形式を使ってください"))
        case .nameInUse:
            self.init(
                .usage, "nameInUse", error,
                hint: tr("\(cards) lists the names", "\(cards) で確認できます"))
        case .sameCard:
            self.init(
                .usage, "sameCard", error,
                hint: tr("\(cards) lists the cards", "\(cards) で確認できます"))
        case .otherPurses:
            self.init(
                .usage, "otherPurses", error,
                hint: tr("\(cards) shows the kinds", "\(cards) で種類を確認できます"))
        case .severalNames:
            let remove = Caller.current.command("ledger name", .shell(tr("CARD", "カード")), "remove")
            self.init(
                .usage, "severalNames", error,
                hint: tr("remove the other name first: \(remove)", "残さないほうの名前を先に消してください: \(remove)"))
        case .noSuchStation:
            let sum = Caller.current.command("ledger sum", .option("by", "station"), .shell("--format csv"))
            self.init(
                .usage, "unknownStation", error,
                hint: tr(
                    "\(sum) has the names and codes",
                    "\(sum) に名前とコードがあります"))
        case .notASection:
            self.init(
                .usage, "usage", error,
                hint: tr("as in --pass Ueno-Shibuya", "例: --pass 上野-渋谷"))
        case .noSuchLine:
            let sum = Caller.current.command("ledger sum", .option("by", "line"), .shell("--format csv"))
            self.init(
                .usage, "unknownLine", error,
                hint: tr(
                    "\(sum) has the names and codes",
                    "\(sum) に名前とコードがあります"))
        case .noSuchRecord:
            self.init(
                .usage, "unknownRecord", error,
                hint: tr("the last column of an export has the ids", "ID は書き出したファイルの最後の列にあります"))
        case .noSuchImport:
            let list = Caller.current.command("ledger forget", "list")
            self.init(
                .usage, "unknownImport", error,
                hint: tr("\(list) lists the imports", "\(list) で確認できます"))
        case .nothingToUndo:
            self.init(
                .usage, "nothingToUndo", error,
                hint: tr("only the last change can be undone", "取り消せるのは最後の変更だけです"))
        case .noHistory:
            let decode = Caller.current.command("decode", .file)
            self.init(
                .otherCard, "noHistory", error,
                hint: tr("\(decode) shows what a dump contains", "\(decode) で中身を確認できます"))
        case .otherCard:
            self.init(
                .otherCard, "otherCard", error, suffix: changes,
                hint: tr("leave --card out to keep all cards", "--card を外すと、すべてのカードを追加します"))
        case .columns:
            let help = Caller.current.command("ledger export", "help")
            self.init(
                .badFile, "badFile", error,
                hint: tr(
                    "\(help) lists fields and settings",
                    "\(help) に項目と設定の一覧があります"))
        case .noCharacterSet:
            self.init(
                .cannotWrite, "noCharacterSet", error,
                hint: tr("install the C library's character sets", "C ライブラリの文字コード変換を入れてください"))
        case .failed: self = .bug(error.words)
        }
    }

    /// No ride of the ledger is from or to such a station; the hint is the name that was probably meant.
    init(noStation word: String, in ledger: Ledger) throws(LedgerError) {
        self.init(.noSuchStation(word))
        guard let nearest = NearestName.of(word, among: try ledger.placeNames()) else { return }
        hint = tr("did you mean '\(nearest)'?", "'\(nearest)' のことですか？")
    }

    /// What SQLite would take for the journal of a ledger, an outbox or a database of events is something else.
    static func foreignJournal(_ error: some SelfDescribing) -> CommandError {
        CommandError(
            .badFile, "foreignJournal", error,
            hint: tr(
                "find out its origin; move it away to continue without it. SQLite may delete files that it names",
                "入手元を確かめ、使わない場合は別の場所に移してください。sqlite3 で開くと、そこに書かれた別のファイルが消えることがあります"))
    }
}

/// What a command says about records that were kept.
enum LedgerWords {
    /// How soon a card must be read again.
    static func pace(_ pace: LedgerPace) -> String {
        pace.days < 1
            ? tr(
                "\(pace.records) records last less than a day at your pace; read the card every day",
                "このペースでは \(pace.records) 件の履歴が 1 日もちません。毎日読み取ってください")
            : tr(
                "\(pace.records) records last about \(Words.count(pace.days, "day")) at your pace; read the card again by \(day(after: pace.days))",
                "このペースでは \(pace.records) 件の履歴は約 \(pace.days) 日分です。\(day(after: pace.days)) までにもう一度読み取ってください")
    }

    /// The day that comes after so many from now.
    private static func day(after days: Int) -> String {
        String(
            Timestamp(milliseconds: Timestamp.now.milliseconds + days * 86_400_000).text(.local, .seconds).prefix(10))
    }

    /// One line about what was added.
    static func added(_ addition: LedgerAddition) -> String {
        let completed = addition.completed
        let more =
            completed == 0
            ? ""
            : tr(
                ", the amount of \(completed == 1 ? "one more" : "\(completed) more") is known now",
                "、金額が判明 \(completed) 件")
        let known = addition.read - addition.added
        return tr(
            "\(Words.count(addition.added, "new record")), \(known) known already",
            "新しい履歴 \(addition.added) 件、既知 \(known) 件")
            + more
    }

    /// What is missing, in one line.
    static func gap(_ report: LedgerGapReport) -> String {
        let name = report.after.purse.name(Language.current)
        let days = [report.before, report.after].map { $0.record.date?.description ?? "?" }
        let currency = report.after.purse.currency
        let money = report.gap.amount.map { ($0 > 0 ? "+" : "") + currency.words($0) }
        let missing = missing(report.gap)
        return tr(
            "\(name): gap between \(days[0]) and \(days[1]): \(missing)",
            "\(name): \(days[0]) と \(days[1]) の間に欠落: \(missing)")
            + (money.map { tr(", together \($0)", "、合計 \($0)") } ?? "")
    }

    /// How many records are missing.
    static func missing(_ gap: LedgerGap) -> String { gap.words[Language.current] }

    /// What the owner should know. Cards are named by the last digits of their number.
    static func notice(_ notice: LedgerNotice) -> String {
        switch notice {
        case .serialsWentBack(let card):
            tr(
                "…\(card.suffix(4)): the card's serial numbers began again; all records are kept",
                "…\(card.suffix(4)): カードの通番が振り直されています。履歴はすべて残しました")
        case .sameSerial(let card, let count):
            tr(
                "…\(card.suffix(4)): \(Words.count(count, "record")) with a serial number that another record has; all are kept",
                "…\(card.suffix(4)): 通番が重複する履歴が \(count) 件あります。すべて残しました")
        case .otherBytes(let card, let count):
            tr(
                "…\(card.suffix(4)): \(Words.count(count, "known record")) with other bytes; both forms are kept",
                "…\(card.suffix(4)): 既知の履歴と内容のバイトが違うものが \(count) 件あります。両方残しました")
        case .futureDates(let card, let count):
            tr(
                "…\(card.suffix(4)): \(Words.count(count, "record")) with a date in the future",
                "…\(card.suffix(4)): 未来の日付の履歴が \(count) 件あります")
        case .sameHistory(let card, let other):
            tr(
                "…\(card.suffix(4)): this new card begins with records of …\(other.suffix(4)); if it is its successor: kazasu ledger link \(card.suffix(4)) \(other.suffix(4))",
                "…\(card.suffix(4)): …\(other.suffix(4)) と同じ履歴で始まります。引き継いだカードなら: kazasu ledger link \(card.suffix(4)) \(other.suffix(4))"
            )
        }
    }
}
