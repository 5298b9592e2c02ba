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
        switch error {
        case .damaged(let path): self.init(.ledgerDamaged, error, suffix: changes, values: [ShellWord.quoted(path)])
        case .newer:
            let copy = error.keptCopy.map { ShellWord.quoted($0) }
            self.init(copy == nil ? .ledgerNewer : .ledgerNewerWithCopy, error, values: copy.map { [$0] } ?? [])
        case .notALedger: self.init(.ledgerNotALedger, error)
        case .foreignJournal: self = .foreignJournal(error)
        case .inaccessible: self.init(.ledgerInaccessible, error)
        case .diskFull: self.init(.ledgerDiskFull, error, suffix: changes)
        case .locked: self.init(.ledgerLocked, error, suffix: changes)
        case .noHome: self.init(.ledgerNoHome, error)
        case .noSuchCard: self.init(.ledgerNoSuchCard, error)
        case .severalCards: self.init(.ledgerSeveralCards, error)
        case .otherCurrency: self.init(.ledgerOtherCurrency, error)
        case .nameInUse: self.init(.ledgerNameInUse, error)
        case .sameCard: self.init(.ledgerSameCard, error)
        case .otherPurses: self.init(.ledgerOtherPurses, error)
        case .severalNames: self.init(.ledgerSeveralNames, error)
        case .noSuchStation: self.init(.ledgerNoSuchStation, error)
        case .notASection: self.init(.ledgerNotASection, error)
        case .noSuchLine: self.init(.ledgerNoSuchLine, error)
        case .noSuchRecord: self.init(.ledgerNoSuchRecord, error)
        case .noSuchImport: self.init(.ledgerNoSuchImport, error)
        case .nothingToUndo: self.init(.ledgerNothingToUndo, error)
        case .noHistory: self.init(.ledgerNoHistory, error)
        case .otherCard: self.init(.ledgerOtherCard, error, suffix: changes)
        case .columns: self.init(.ledgerColumns, error)
        case .noCharacterSet: self.init(.ledgerNoCharacterSet, error)
        case .failed: self = .bug(error.words)
        }
    }

    /// No ride of the ledger is from or to such a station; the hint is the name that was probably meant.
    init(noStation word: String, in ledger: Ledger) throws(LedgerError) {
        self.init(.noSuchStation(word))
        guard let nearest = NearestName.of(word, among: try ledger.placeNames()) else { return }
        hint = Remedy.didYouMean.text(nearest)
    }

    /// What SQLite would take for the journal of a ledger, an outbox or a database of events is something else.
    static func foreignJournal(_ error: some SelfDescribing) -> CommandError {
        CommandError(.ledgerForeignJournal, error)
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
