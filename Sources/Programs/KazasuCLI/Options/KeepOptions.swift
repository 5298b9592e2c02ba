// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
package import Kazasu

/// A history that is to be added to the ledger.
package enum KeptHistory: Sendable {
    /// Of a card on a reader.
    case card(CardReport, DecodedCard)
    /// The histories of a dump, or only that of one kind of card.
    case dump(CardDump, kind: CardKind?, place: String)
}

/// The ledger of `--keep`. Only `kazasud` has one, since SQLite takes longer to load than a card to read.
package protocol HistoryKeeper {
    /// Adds a history; a dump without one is left out.
    func keep(_ history: KeptHistory) throws(CommandError)

    /// Reports on standard error how many records were new and what is missing between them.
    func finish() throws(CommandError)
}

package struct LedgerPath: ParsableArguments {
    package init() {}

    @Option(
        reach: .local, name: .long,
        help: help(
            "The ledger's file. Default: KAZASU_LEDGER, else kazasu/ledger.sqlite in the data folder.",
            "台帳のファイル。省略時は KAZASU_LEDGER、なければデータフォルダーの kazasu/ledger.sqlite。", value: "file"),
        completion: .file())
    package var ledger: String?
}

/// Options of the commands whose records can be kept.
package struct KeepOptions: ParsableArguments {
    package init() {}

    @Flag(
        reach: .local, name: .long,
        help: help(
            "Add the records to the ledger; see 'kazasu ledger'.", "履歴を台帳に追加する（'kazasu ledger' を参照）。",
            programs: LocalizedText(
                "Add the records to the ledger, which ledger.list and the others read.",
                "履歴を台帳に追加する。台帳は ledger.list などで読む。")))
    package var keep = false

    @OptionGroup package var place: LedgerPath

    package func validate() throws {
        guard place.ledger != nil, !keep else { return }
        throw KeepOptions.ledgerAlone
    }

    /// A ledger is named, but nothing is kept.
    package static var ledgerAlone: ValidationError {
        let (ledger, keep) = (Caller.current.option("ledger"), Caller.current.option("keep"))
        return ValidationError(tr("\(ledger) needs \(keep)", "\(ledger) は \(keep) と一緒に指定してください"))
    }

    /// Opens the ledger; `nil` without `--keep`, and when it cannot be used: the command still gives its own answer,
    /// and it ends with the ledger's status.
    package func keeper(_ context: Context) throws(CommandError) -> (any HistoryKeeper)? {
        guard keep else { return nil }
        guard let open = ServiceExtension.current?.keeper else { throw ServiceProgram.isMissing }
        do throws(CommandError) {
            return try open(place.ledger, context)
        } catch {
            guard error.status != .usage else { throw error }
            context.late.add(error)
            return nil
        }
    }
}

extension Context {
    /// Adds what a command read to the ledger and reports it. The command still gives its own answer.
    package func keep(_ histories: [KeptHistory], in keeper: (any HistoryKeeper)?) {
        guard let keeper else { return }
        attempt { () throws(CommandError) in
            for history in histories { try keeper.keep(history) }
            try keeper.finish()
        }
    }
}
