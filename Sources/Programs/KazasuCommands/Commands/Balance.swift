// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu balance`
struct Balance: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "balance",
        abstract: tr("Print the card's balance: one number.", "カードの残高を数字だけで表示する。"),
        discussion: tr(
            """
            Known cards are tried in a fixed order, transit first; --card picks one.

            Examples:
              kazasu balance
              b=$(kazasu balance) && [ "$b" -lt 1000 ] && notify-send "Top up your card"
              kazasu balance --all --json
              kazasu balance card.json
              kazasu balance --keep          # read the history as well, for the ledger
            """,
            """
            交通系から順に、対応するカードを調べます。--card で指定できます。

            例:
              kazasu balance
              b=$(kazasu balance) && [ "$b" -lt 1000 ] && notify-send "チャージしてください"
              kazasu balance --all --json
              kazasu balance card.json
              kazasu balance --keep          # 履歴も読んで台帳に追加する
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "card.balance", .get("balance"), schema: "balance",
            LocalizedText("The balance, and which card it is.", "カードの残高と、カードの種類。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var purse: PurseOptions

    @Flag(
        reach: .network, name: .long,
        help: help("Every balance on the card: KIND AMOUNT CURRENCY.", "カードの全残高を 種類 金額 通貨 で表示する。"))
    var all = false

    @OptionGroup var keepOptions: KeepOptions

    func execute(_ context: Context) throws {
        let keeper = try keepOptions.keeper(context)
        let keyring = try purse.keyOptions.keyring(context)
        let report: BalanceReport
        let card: DecodedCard
        var kept: KeptHistory?
        switch try purse.open(context) {
        case .card(let found, let session):
            defer {
                found.noteAuthentication(context)
                session.close()
            }
            report = try found.balance(kinds: purse.kinds, all: all, keys: keyring)
            let kind = report.balances.first?.kind
            let brand = try purse.brand(of: found, as: kind, isUseful: context.json || keeper != nil, context)
            // The balance is an answer even if the card leaves before its history is read.
            if keeper != nil {
                do throws(KazasuError) {
                    let history = try found.history(
                        kinds: purse.kinds, stations: ShippedStations(), keys: keyring)
                    // The first purse with a history may be another one than the first with money.
                    let own = history.kind == kind ? brand : (try? found.brand(of: history.kind))
                    kept = .card(history, DecodedCard(identity: found.identity, kind: history.kind, brand: own))
                } catch {
                    context.late.add(CommandError(error))
                }
            }
            card = DecodedCard(identity: context.redaction.apply(found.identity), kind: kind, brand: brand)
        case .dump(let dump):
            report = try dump.balance(kinds: purse.kinds, all: all)
            card = dump.decoded(as: report.balances.first?.kind, context.redaction)
            try purse.check(card.brand, context)
            kept = purse.kept(dump)
        }
        if let kept { context.keep([kept], in: keeper) }
        for warning in report.warnings { context.warn(warning.words) }
        for balance in report.balances {
            guard let basis = balance.basis, basis != .newestRecord else { continue }
            context.note("\(balance.name[Language.current]) \(balance.text): \(basis.text[Language.current])")
        }
        if context.json {
            try context.print(report.json(Language.current, card: card))
        } else if all {
            try context.print(
                report.balances.map { balance in
                    "\(balance.kind) \(balance.amount.map(balance.currency.text) ?? "-") \(balance.currency.rawValue)\n"
                }.joined())
        } else if let balance = report.balances.first, let amount = balance.amount {
            try context.print("\(balance.currency.text(amount))\n")
        } else {
            throw Balance.undecided(report.balances.first)
        }
    }

    /// The command knows the card, but the card does not say which of several amounts it holds.
    private static func undecided(_ balance: BalanceEntry?) -> CommandError {
        let name = balance?.name[Language.current] ?? tr("card", "カード")
        let amounts = balance.flatMap { $0.candidates.isEmpty ? nil : ": \($0.line)" } ?? ""
        return CommandError(.balanceUnknown, values: [name, amounts])
    }
}
