// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import CardDecoders
import CardModel
import KazasuCLI
public import KazasuService

extension LedgerCommand {
    /// `kazasu ledger list`
    struct List: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: tr("List records, newest first.", "履歴を新しい順に表示する。"),
            discussion: tr(
                """
                A line marked 'gap' stands where records are lost between two visits, with the money that moved.

                Examples:
                  kazasu ledger list --since 2026-11-01
                  kazasu ledger list --card Suica --kind rail,bus --format csv -o rides.csv
                  kazasu ledger list --json | jq '.records[] | select(.gapBefore != null)'
                """,
                """
                「欠落」の行は、2 回の読み取りの間に失われた履歴と、その間に動いた金額です。

                例:
                  kazasu ledger list --since 2026-11-01
                  kazasu ledger list --card 通勤 --kind rail,bus --format csv -o rides.csv
                  kazasu ledger list --json | jq '.records[] | select(.gapBefore != null)'
                """))

        @OptionGroup var common: CommonOptions
        @OptionGroup var file: LedgerFileOptions
        @OptionGroup var filter: LedgerFilterOptions
        @OptionGroup var answer: LedgerAnswerOptions

        func validate() throws { try answer.check(common) }

        func execute(_ context: Context) throws {
            let output = try answer.file()
            let ledger = try file.open(context)
            let records = try context.ask { () throws(LedgerError) in try ledger.records(filter.filter) }
            if records.isEmpty { context.note(tr("no records to show", "表示する履歴がありません")) }
            if answer.format != .csv, !context.json {
                context.explainCodes(try file.stationOptions.names(), of: records.lazy.map(\.record))
            }
            try answer.write(
                context, to: output, json: { LedgerJSON.records(records, Language.current) },
                text: { List.table(records, width: $0) },
                csv: { Ledger.csv(records, answer.csvLanguage, hasByteOrderMark: false) })
        }

        /// The columns of a history, and the card where there are several.
        private static func table(_ records: [LedgerRecord], width: Int?) -> String {
            guard !records.isEmpty else { return "" }
            let isOneCard = Set(records.map(\.purse.id)).count == 1
            var rows = [HistoryTable.head + (isOneCard ? [] : [tr("CARD", "カード")])]
            for entry in records {
                let card = isOneCard ? [] : [entry.purse.name(Language.current)]
                rows.append(HistoryTable.cells(entry.record, entry.purse.currency) + card)
                guard let gap = entry.gapBefore else { continue }
                let money = gap.amount.map { ($0 > 0 ? "+" : "") + entry.purse.currency.text($0) } ?? "-"
                rows.append(["", "", tr("gap", "欠落"), LedgerWords.missing(gap), "", money, "", ""] + card)
            }
            if let width, Columns.width(rows) > width { for row in rows.indices { rows[row].remove(at: 7) } }
            return Columns.text(rows, rightAligned: [5, 6])
        }
    }

    /// `kazasu ledger sum`
    struct Sum: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "sum",
            abstract: tr("What records come to: by month, kind, station, line or card.", "月・種別・駅・路線・カードごとに集計する。"),
            discussion: tr(
                """
                Records without a known amount are counted, but their money is in no sum. By station, a ride counts at both \
                ends.

                Examples:
                  kazasu ledger sum
                  kazasu ledger sum --by station --month 2026-11
                  kazasu ledger sum --by kind --since 2026-04-01 --format csv
                """,
                """
                金額が不明な履歴は件数だけ数え、金額には入れません。駅ごとの集計では、乗車駅と降車駅の両方で数えます。

                例:
                  kazasu ledger sum
                  kazasu ledger sum --by station --month 2026-11
                  kazasu ledger sum --by kind --since 2026-04-01 --format csv
                """))

        @OptionGroup var common: CommonOptions
        @OptionGroup var file: LedgerFileOptions

        @Option(name: .long, help: help("month, kind, station, line or card.", "month、kind、station、line、card のいずれか。"))
        var by = LedgerGrouping.month

        @OptionGroup var filter: LedgerFilterOptions
        @OptionGroup var answer: LedgerAnswerOptions

        func validate() throws { try answer.check(common) }

        func execute(_ context: Context) throws {
            let output = try answer.file()
            let ledger = try file.open(context)
            let sums = try context.ask { () throws(LedgerError) in try ledger.sum(by: by, filter.filter) }
            if sums.isEmpty { context.note(tr("no records to show", "表示する履歴がありません")) }
            try answer.write(
                context, to: output, json: { LedgerJSON.sums(sums, by: by, Language.current) },
                text: { _ in table(sums) }, csv: { csv(sums) })
        }

        private var head: String {
            switch by {
            case .month: tr("MONTH", "月")
            case .kind: tr("KIND", "種別")
            case .station: tr("STATION", "駅")
            case .line: tr("LINE", "路線")
            case .card: tr("CARD", "カード")
            }
        }

        private func table(_ sums: [LedgerSum]) -> String {
            guard !sums.isEmpty else { return "" }
            let head = [
                head, tr("RECORDS", "件数"), tr("SPENT", "利用額"), tr("RECEIVED", "入金額"), tr("SUM", "差引"),
                tr("CURRENCY", "通貨"), tr("UNKNOWN", "金額不明"),
            ]
            let rows = sums.map { sum in
                let label = sum.label[Language.current]
                let money = [sum.spent, sum.received, sum.amount].map(sum.currency.text)
                return [label.isEmpty ? tr("(none)", "（なし）") : label, "\(sum.records)"] + money + [
                    sum.currency.rawValue, sum.unknown == 0 ? "" : "\(sum.unknown)",
                ]
            }
            return Columns.text([head] + rows, rightAligned: [1, 2, 3, 4, 6])
        }

        private func csv(_ sums: [LedgerSum]) -> String {
            let isJapanese = answer.csvLanguage == .japanese
            let names =
                isJapanese
                ? ["キー", "名前", "件数", "金額不明", "利用額", "入金額", "差引", "通貨"]
                : ["key", "name", "records", "unknown", "spent", "received", "amount", "currency"]
            return CSV.row(names)
                + sums.map { sum in
                    let money = [sum.spent, sum.received, sum.amount].map { CSV.number(sum.currency.text($0)) }
                    let counts = [sum.records, sum.unknown].map { CSV.number("\($0)") }
                    return CSV.row(
                        [CSV.text(sum.key), CSV.text(sum.label[answer.csvLanguage])] + counts + money + [
                            sum.currency.rawValue
                        ])
                }.joined()
        }
    }

    /// `kazasu ledger gaps`
    struct Gaps: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "gaps",
            abstract: tr("Where records are lost, how many, and the money that moved.", "失われた履歴の期間・件数・金額を表示する。"),
            discussion: tr(
                """
                A card keeps its last records only; what it overwrote between two visits is lost. The serial numbers say how \
                many records that were. A ride by rail counts one or two of them, so that the number may be a range.

                Examples:
                  kazasu ledger gaps
                  kazasu ledger gaps --json | jq '.gaps[].missing'
                """,
                """
                カードに残るのは最新の履歴だけで、次に読むまでに上書きされた分は失われます。件数は通番からわかります。鉄道の乗車は
                通番を 1 または 2 進めるため、件数が範囲になることがあります。

                例:
                  kazasu ledger gaps
                  kazasu ledger gaps --json | jq '.gaps[].missing'
                """))

        @OptionGroup var common: CommonOptions
        @OptionGroup var file: LedgerFileOptions
        @OptionGroup var filter: LedgerFilterOptions
        @OptionGroup var answer: LedgerAnswerOptions

        func validate() throws { try answer.check(common) }

        func execute(_ context: Context) throws {
            let output = try answer.file()
            let ledger = try file.open(context)
            let gaps = try context.ask { () throws(LedgerError) in try ledger.gaps(filter.filter) }
            if gaps.isEmpty { context.note(tr("no gaps", "欠落はありません")) }
            try answer.write(
                context, to: output, json: { LedgerJSON.gaps(gaps, Language.current) }, text: { _ in Gaps.table(gaps) },
                csv: { csv(gaps) })
        }

        private static func table(_ gaps: [LedgerGapReport]) -> String {
            guard !gaps.isEmpty else { return "" }
            let head = [
                tr("AFTER", "前の履歴"), tr("BEFORE", "次の履歴"), tr("MISSING", "欠落"), tr("AMOUNT", "金額"), tr("CARD", "カード"),
            ]
            let rows = gaps.map { report in
                let money = report.gap.amount.map {
                    ($0 > 0 ? "+" : "") + report.after.purse.currency.text($0) + (report.gap.coversNext ? "*" : "")
                }
                return [report.before, report.after].map { $0.record.date?.description ?? "-" } + [
                    LedgerWords.missing(report.gap), money ?? "-", report.after.purse.name(Language.current),
                ]
            }
            let note =
                gaps.contains { $0.gap.coversNext && $0.gap.amount != nil }
                ? tr("* with the record after the gap, whose own amount is unknown\n", "* 次の履歴（金額不明）の分を含みます\n") : ""
            return Columns.text([head] + rows, rightAligned: [3]) + note
        }

        private func csv(_ gaps: [LedgerGapReport]) -> String {
            let isJapanese = answer.csvLanguage == .japanese
            let names =
                isJapanese
                ? ["カードID", "カード", "前の履歴", "次の履歴", "欠落件数", "最小", "最大", "金額", "次を含む", "通貨", "理由", "ID"]
                : [
                    "cardId", "card", "after", "before", "missing", "missingAtLeast", "missingAtMost", "amount",
                    "coversNext", "currency", "reason", "id",
                ]
            return CSV.row(names)
                + gaps.map { report in
                    let (gap, purse) = (report.gap, report.after.purse)
                    let counts = [gap.missing, gap.atLeast, gap.atMost].map { CSV.number($0.map { "\($0)" } ?? "") }
                    return CSV.row(
                        [CSV.text("0x" + purse.card), CSV.text(purse.kind)]
                            + [report.before, report.after].map { CSV.text($0.record.date?.description ?? "") } + counts
                            + [
                                CSV.number(gap.amount.map(purse.currency.text) ?? ""), "\(gap.coversNext)",
                                purse.currency.rawValue, gap.reason.rawValue, CSV.text(report.after.uid),
                            ])
                }.joined()
        }
    }

    /// `kazasu ledger cards`
    struct Cards: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "cards",
            abstract: tr("The cards of the ledger.", "台帳にあるカードを表示する。"),
            discussion: tr(
                """
                Examples:
                  kazasu ledger cards
                  kazasu ledger cards --json | jq '.cards[].records'
                """,
                """
                例:
                  kazasu ledger cards
                  kazasu ledger cards --json | jq '.cards[].records'
                """))

        @OptionGroup var common: CommonOptions
        @OptionGroup var file: LedgerFileOptions
        @OptionGroup var answer: LedgerAnswerOptions

        func validate() throws { try answer.check(common) }

        func execute(_ context: Context) throws {
            let output = try answer.file()
            let ledger = try file.open(context)
            let cards = try context.ask { () throws(LedgerError) in try ledger.cards() }
            try answer.write(
                context, to: output, json: { LedgerJSON.cards(cards, Language.current) },
                text: { _ in Cards.table(cards) }, csv: { csv(cards) })
        }

        static func table(_ cards: [LedgerCard]) -> String {
            guard !cards.isEmpty else { return "" }
            let head = [
                tr("NUMBER", "番号"), tr("NAME", "名前"), tr("KIND", "種類"), tr("RECORDS", "件数"), tr("FIRST", "最初"),
                tr("LAST", "最後"), tr("BALANCE", "残高"), tr("GAPS", "欠落"), tr("LINKED", "統合"),
            ]
            let rows = cards.map { card in
                [
                    card.purse.card, card.purse.cardName ?? "-", card.purse.kind, "\(card.records)",
                    card.first?.description ?? "-", card.last?.description ?? "-",
                    card.balance.map(card.purse.currency.text) ?? "-", "\(card.gaps)",
                    card.linked.joined(separator: " "),
                ]
            }
            return Columns.text([head] + rows, rightAligned: [3, 6, 7])
        }

        private func csv(_ cards: [LedgerCard]) -> String {
            let isJapanese = answer.csvLanguage == .japanese
            let names =
                isJapanese
                ? ["カードID", "名前", "カード", "件数", "最初", "最後", "残高", "通貨", "欠落", "統合"]
                : ["cardId", "name", "card", "records", "first", "last", "balance", "currency", "gaps", "linked"]
            return CSV.row(names)
                + cards.map { card in
                    let days = [card.first, card.last].map { CSV.text($0?.description ?? "") }
                    return CSV.row(
                        [
                            CSV.text("0x" + card.purse.card), CSV.text(card.purse.cardName ?? ""),
                            CSV.text(card.purse.kind),
                        ]
                            + [CSV.number("\(card.records)")] + days
                            + [
                                CSV.number(card.balance.map(card.purse.currency.text) ?? ""),
                                card.purse.currency.rawValue, CSV.number("\(card.gaps)"),
                                CSV.text(card.linked.map { "0x" + $0 }.joined(separator: " ")),
                            ])
                }.joined()
        }
    }
}

extension LedgerGrouping: ExpressibleByArgument {}
