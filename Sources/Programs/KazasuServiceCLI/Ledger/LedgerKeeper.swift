// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import KazasuCLI
import KazasuLedger

/// Adds histories to a ledger and reports what was new: `--keep`, and `ledger import`.
///
/// A ledger that does not exist is made for the first history: what fails before leaves no empty one.
final class LedgerKeeper: HistoryKeeper {
    private let path: String
    private let context: Context
    private var opened: Ledger?
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

    init(_ path: String, _ context: Context, of card: String? = nil, isTrial: Bool = false) throws(CommandError) {
        (self.path, self.context, self.card, self.isTrial) = (path, context, card, isTrial)
        if access(path, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR { _ = try ledger() }
    }

    private func ledger() throws(CommandError) -> Ledger {
        if let opened { return opened }
        let ledger = try LedgerFileOptions.open(path, isRedacted: context.redaction.isOn)
        opened = ledger
        return ledger
    }

    func keep(_ history: KeptHistory) throws(CommandError) {
        switch history {
        case .card(let report, let card):
            guard let idm = card.identity.idm, report.history?.isEmpty == false else { return }
            let ledger = try ledger()
            try add { () throws(LedgerError) in
                try ledger.keep(
                    report, of: idm, brand: card.brand, source: LedgerSource(.card),
                    readAt: Timestamp.now.text(.local, .seconds))
            }
        case .dump(let dump, let kind, let place):
            dumps += 1
            guard opened != nil || !waiting.isEmpty || LedgerKeeper.hasHistory(dump) else { return }
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
        let (dumps, places) = (waiting.map(\.dump), waiting.map(\.place))
        let ledger = try ledger()
        let source = LedgerSource(.file, name: waiting.count == 1 ? first.place : nil)
        waiting = []
        try add(places) { () throws(LedgerError) in
            try ledger.keep(
                dumps, source: source, of: card, kind: first.kind,
                batch: LedgerBatch(after: total.change, isTrial: isTrial))
        }
    }

    /// Whether a decoder finds records in a dump.
    private static func hasHistory(_ dump: CardDump) -> Bool {
        dump.decode(stations: NoStationNames()).cards.contains { $0.history?.isEmpty == false }
    }

    /// - Parameter places: the files of the dumps that are kept, by their index.
    private func add(
        _ places: [String] = [], _ keep: () throws(LedgerError) -> LedgerAddition
    ) throws(CommandError) {
        do {
            total.add(try keep())
        } catch .noHistory {
            return
        } catch .otherCard(let dump) {
            var failure = CommandError(.otherCard(dump: dump), kept: total.added)
            if places.indices.contains(dump) {
                let name = places[dump]
                failure.message = failure.message.replacing(
                    LedgerError.otherCard(dump: dump).words,
                    with: tr("\(name) is of another card", "\(name) は別のカードのものです"))
            }
            throw failure
        } catch {
            throw CommandError(error, kept: total.added)
        }
    }
}

extension LedgerKeeper {
    /// Opens the ledger of `--keep`.
    static let open: ServiceExtension.OpenKeeper = { path, context throws(CommandError) in
        try LedgerKeeper(LedgerFileOptions.path(path), context)
    }
}
