// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI
import KazasuService

/// Adds histories to a ledger and reports what was new: `--keep`, and `ledger import`.
final class LedgerKeeper: HistoryKeeper {
    private let ledger: Ledger
    private let context: Context
    /// The only card that is kept; any for `nil`.
    private let card: String?
    /// Whether nothing is kept, as for a preview.
    private let isTrial: Bool
    /// Dumps that are kept together: a transaction takes longer than a dump.
    private var waiting: [(dump: CardDump, kind: CardKind?, place: String)] = []

    /// What was kept so far.
    private(set) var total = LedgerAddition()
    /// How many dumps there were, also without a history.
    private(set) var dumps = 0

    /// How many dumps are one transaction; for a preview, all of them, since later ones must know of earlier ones.
    private var batch: Int { isTrial ? .max : 1_000 }

    init(_ ledger: Ledger, _ context: Context, of card: String? = nil, isTrial: Bool = false) {
        (self.ledger, self.context, self.card, self.isTrial) = (ledger, context, card, isTrial)
    }

    func keep(_ history: KeptHistory) throws(CommandError) {
        switch history {
        case .card(let report, let identity):
            guard let idm = identity.idm else { return }
            try add { () throws(LedgerError) in
                try ledger.keep(
                    report, of: idm, source: LedgerSource(.card), readAt: Timestamp.now.text(.local, .seconds))
            }
        case .dump(let dump, let kind, let place):
            dumps += 1
            waiting.append((dump, kind, place))
            if waiting.count >= batch { try keepWaiting() }
        }
    }

    func finish() throws(CommandError) {
        try keepWaiting()
        context.note(tr("ledger: ", "台帳: ") + LedgerWords.added(total))
        tell()
        if let pace = total.pace { context.note(LedgerWords.pace(pace)) }
    }

    /// Reports notices, and the gaps beside what is new.
    func tell() {
        for notice in total.notices { context.warn(LedgerWords.notice(notice)) }
        for gap in total.gaps.prefix(5) { context.warn(LedgerWords.gap(gap)) }
        let rest = total.gaps.count - 5
        guard rest > 0 else { return }
        context.note(
            tr("\(Words.count(rest, "more gap")): kazasu ledger gaps", "ほかに \(rest) か所の欠落があります: kazasu ledger gaps"))
    }

    /// Keeps the dumps that wait, all or none of them.
    func keepWaiting() throws(CommandError) {
        guard let first = waiting.first else { return }
        let dumps = waiting.map(\.dump)
        let source = LedgerSource(.file, name: waiting.count == 1 ? first.place : nil)
        waiting = []
        try add { () throws(LedgerError) in
            try ledger.keep(
                dumps, source: source, of: card, kind: first.kind,
                batch: LedgerBatch(after: total.change, isTrial: isTrial))
        }
    }

    private func add(_ keep: () throws(LedgerError) -> LedgerAddition) throws(CommandError) {
        do {
            total.add(try keep())
        } catch .noHistory {
            return
        } catch {
            throw CommandError(error, kept: total.added)
        }
    }
}

extension LedgerKeeper {
    /// Opens the ledger of `--keep`.
    static let open: ServiceExtension.OpenKeeper = { path, context throws(CommandError) in
        LedgerKeeper(
            try LedgerFileOptions.open(LedgerFileOptions.path(path), isRedacted: context.redaction.isOn), context)
    }
}
