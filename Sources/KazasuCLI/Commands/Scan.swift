// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Kazasu

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

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    func execute(_ context: Context) throws {
        let session = try ReaderSession(readerOptions, context)
        let (identity, result) = try closing(session) { session in
            let card = try session.find(.feliCa)
            let progress = ProgressLine(context)
            defer { progress.end() }
            return (context.redaction.apply(card.identity), try card.scan(progress: progress.show))
        }
        let view = ScanView(card: identity, systems: result.systems, redaction: context.redaction)
        if context.json { try context.print(view.json) } else { try context.print(view.text) }
        if let error = result.error { throw CommandError(error, keepingWhatWasRead: true) }
    }
}
