// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu scan`
struct Scan: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: tr(
            "List all systems, areas and services of a FeliCa card.", "FeliCa カードの全システム・エリア・サービスを表示する。"),
        discussion: tr(
            """
            Services marked 'open' need no key; 'kazasu dump' reads them. Kazasu predicts the list from known cards, then \
            verifies that it is complete; --walk asks the card for every entry instead, with the same result. -v shows how each system was read. Lists \
            of unknown cards are kept for the next card of the same kind. --probe adds which commands the card answers; it sends \
            none that authenticates, writes or changes a setting.

            Examples:
              kazasu scan
              kazasu scan --walk -v
              kazasu scan --no-cache
              kazasu scan --probe
              kazasu scan --json | jq '.systems[].systemCode'
            """,
            """
            「公開」のサービスは鍵なしで読めます（'kazasu dump'）。一覧は既知のカードから予測し、カードに確かめて証明します。
            --walk では 1 件ずつカードに問い合わせます（結果は同じ）。-v でシステムごとの読み方を表示します。
            未知のカードの一覧は、次に同じ種類のカードを読むときのために保存します。--probe では、カードが応答するコマンドも
            調べます。認証、書き込み、設定変更のコマンドは送りません。

            例:
              kazasu scan
              kazasu scan --walk -v
              kazasu scan --no-cache
              kazasu scan --probe
              kazasu scan --json | jq '.systems[].systemCode'
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "card.scan", .get("scan"), schema: "scan",
            LocalizedText("All systems, areas and services of a FeliCa card.", "FeliCa カードのすべてのシステム、エリア、サービス。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var cacheOptions: CacheOptions

    @Flag(
        reach: .network, name: .long,
        help: help(
            "Ask the card for every entry of its list instead of proving a prediction.", "予測を証明せず、一覧を 1 件ずつカードに問い合わせる。")
    )
    var walk = false

    @Flag(
        reach: .network, name: .long,
        help: help("Show which commands the card answers.", "カードが応答するコマンドを調べる。"))
    var probe = false

    func execute(_ context: Context) throws {
        let session = try ReaderSession(readerOptions, context)
        let cache = LayoutCache(cacheOptions, session)
        let (identity, phone, result, aes, probed) = try closing(session) { session in
            let card = try session.find(.feliCa)
            let phone = card.phoneModel()
            let progress = ProgressLine(context)
            defer { progress.end() }
            let layouts = walk ? .none : cache.layouts
            let result = try card.scan(layouts: layouts, progress: progress.show)
            let aes = try card.aesKeyVersions(of: result.error == nil ? result.systems : [])
            let probed = try probe && (result.error ?? aes.error) == nil ? card.probe() : nil
            return (context.redaction.apply(card.identity), phone, result, aes, probed)
        }
        ScanView.explain(result.systems, context)
        let view = ScanView(
            card: identity, phone: phone, systems: result.systems, aesKeyVersions: aes.versions,
            commands: probe ? probed?.commands ?? [] : nil, redaction: context.redaction)
        if context.json { try context.print(view.json) } else { try context.print(view.text) }
        if let error = result.error ?? aes.error ?? probed?.error {
            throw CommandError(error, keepingWhatWasRead: true)
        }
        cache.keep(result.systems, of: result.systems.map(\.system.code), context)
    }
}
