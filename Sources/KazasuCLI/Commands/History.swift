// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders
import CardModel
import Kazasu

/// `kazasu history`
struct History: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: tr("List journeys and payments, newest first.", "乗車と支払いの履歴を新しい順に表示する。"),
        discussion: tr(
            """
            Amounts are the differences between successive balances; '-' means unknown.

            Examples:
              kazasu history
              kazasu history --since 2026-11-01 --kind rail,bus
              kazasu history --format csv > history.csv
              kazasu history --format ndjson | jq 'select(.kind == "rail")'
            """,
            """
            金額は残高の差です。不明なものは '-' です。

            例:
              kazasu history
              kazasu history --since 2026-11-01 --kind rail,bus
              kazasu history --format csv > history.csv
              kazasu history --format ndjson | jq 'select(.kind == "rail")'
            """))

    @OptionGroup var common: CommonOptions
    @OptionGroup var readerOptions: ReaderOptions

    @Option(name: .long, help: help("Only this kind of card.", "この種類のカードだけ。", value: "kind"))
    var card: CardKind?

    @Option(name: .long, help: help("table, csv, json or ndjson.", "table、csv、json、ndjson のいずれか。"))
    var format: HistoryFormat?

    @OptionGroup var filter: HistoryFilter
    @OptionGroup var stationOptions: StationOptions

    func execute(_ context: Context) throws {
        let names = try stationOptions.names()
        let session = try ReaderSession(readerOptions, context)
        let report = try closing(session) { session in
            let found = try session.find(.decoders(CardKind.decoders(card)))
            do throws(KazasuError) {
                return try found.history(kinds: card.map { [$0.id] }, stations: names)
            } catch {
                throw CommandError(error)
            }
        }
        guard var history = report.historyReport else {
            throw CommandError(
                .otherCard, "noHistory", tr("this card has no readable history", "このカードには読める履歴がありません"),
                hint: tr("'kazasu dump -o card.json' saves its contents", "'kazasu dump -o card.json' で中身を保存できます"))
        }
        for warning in report.warnings { context.warn(warning.words) }
        history.records = history.records.filter(filter.wants)
        let view = HistoryView(report: history)
        switch format ?? (context.json ? .json : .table) {
        case .json: try context.print(history.json(Language.current))
        case .ndjson: try context.print(view.ndjson)
        case .csv: try context.print(escaped: view.csv)
        case .table: try view.table.write { text throws(CommandError) in try context.print(text) }
        }
    }
}
