// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import CardReading
import NFCTransport

/// `kazasu scan`
struct Scan: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: tr(
            "List all systems, areas and services of a FeliCa card.", "FeliCa カードの全システム・エリア・サービスを表示する。"),
        discussion: tr(
            """
            Services marked 'open' need no key; 'kazasu dump' reads them.

            Examples:
              kazasu scan
              kazasu scan --json | jq '.systems[].systemCode'
            """,
            """
            「公開」のサービスは鍵なしで読めます（'kazasu dump'）。

            例:
              kazasu scan
              kazasu scan --json | jq '.systems[].systemCode'
            """))

    @OptionGroup var common: CommonOptions
    @OptionGroup var readerOptions: ReaderOptions

    func execute(_ context: Context) throws {
        let session = try ReaderSession(readerOptions, context)
        let (identity, outcome) = try closing(session) { session in
            let (target, _) = try session.find(CardFinder.anySystem)
            let progress = ProgressLine(context)
            defer { progress.end() }
            let outcome = CardScanner(session: session.card(target), progress: progress.show).scan()
            return (
                CardIdentity(
                    technology: .felica, idm: context.redaction.apply(target.idm), pmm: target.pmm,
                    bitRate: target.bitRate.rawValue), outcome
            )
        }
        let view = ScanView(card: identity, systems: outcome.systems, redaction: context.redaction)
        if context.json { try context.print(view.json) } else { try context.print(view.text) }
        if let interruption = outcome.interruption { throw CommandError(interruption, keepingWhatWasRead: true) }
    }
}
