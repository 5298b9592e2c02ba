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
            var failure: CommandError?
            try context.ask { () throws(LedgerError) in
                try ledger.select(filter.filter) { records in
                    do throws(CommandError) {
                        if records.count == 0 { context.note(tr("no records to show", "表示する履歴がありません")) }
                        try write(records, to: LedgerStream(output), context)
                    } catch {
                        failure = error
                    }
                }
            }
            if let failure { throw failure }
        }

        private func write(
            _ records: LedgerSelection, to stream: LedgerStream, _ context: Context
        ) throws(CommandError) {
            switch answer.form(context) {
            case .json:
                var failure: LedgerError?
                var writer = JSONPrettyWriter { span in
                    var bytes: [UInt8] = []
                    for index in span.indices { bytes.append(span[index]) }
                    _ = stream.write(bytes)
                }
                writer.object { document in
                    LedgerJSON.write(to: &document, Language.current) { write in
                        do throws(LedgerError) {
                            try records.forEach { record in
                                write(record)
                                return !stream.isStopped
                            }
                        } catch {
                            failure = error
                        }
                    }
                    context.redaction.mark(&document)
                }
                writer.finish()
                if let failure { throw CommandError(failure) }
            case .csv:
                let csv = LedgerCSV(answer.csvLanguage)
                _ = stream.write(answer.csvOptions.text(csv.head, isFile: answer.output != nil))
                try context.ask { () throws(LedgerError) in try records.forEach { stream.write(csv.row($0)) } }
            case .text: try writeTable(records, to: stream, context)
            }
            try stream.finish()
        }

        /// The columns of a history, the currency where there is another than yen, and the card where there are several.
        private func writeTable(
            _ records: LedgerSelection, to stream: LedgerStream, _ context: Context
        ) throws(CommandError) {
            guard records.count > 0 else { return }
            var layout = ColumnLayout(rightAligned: [5, 6])
            var (purses, currencies): (Set<Int64>, Set<Currency>) = ([], [])
            let head = HistoryTable.head + [tr("CURRENCY", "通貨"), tr("CARD", "カード")]
            layout.measure(head)
            try context.ask { () throws(LedgerError) in
                try records.forEach { entry in
                    for row in List.rows(entry) { layout.measure(row) }
                    purses.insert(entry.purse.id)
                    currencies.insert(entry.purse.currency)
                    return true
                }
            }
            var columns = Array(0..<7)
            if !currencies.isSubset(of: [.yen]) { columns.append(8) }
            columns.append(7)
            if purses.count > 1 { columns.append(9) }
            let width = answer.output == nil ? Output.lineWidth : nil
            if let width, layout.width(of: columns) > width { columns.removeAll { $0 == 7 } }
            _ = stream.write(layout.line(head, of: columns))
            try context.ask { () throws(LedgerError) in
                try records.forEach { entry in
                    List.rows(entry).allSatisfy { stream.write(layout.line($0, of: columns)) }
                }
            }
        }

        /// The row of a record, and that of the gap before it.
        private static func rows(_ entry: LedgerRecord) -> [[String]] {
            let currency = entry.purse.currency
            let end = [currency.rawValue, entry.purse.name(Language.current)]
            let row = HistoryTable.cells(entry.record, currency) + end
            guard let gap = entry.gapBefore else { return [row] }
            let money = gap.amount.map { ($0 > 0 ? "+" : "") + currency.text($0) } ?? "-"
            return [row, ["", "", tr("gap", "欠落"), LedgerWords.missing(gap), "", money, "", ""] + end]
        }
    }

    /// `kazasu ledger sum`
    struct Sum: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "sum",
            abstract: tr("Totals by month, kind, station, line or card.", "月・種別・駅・路線・カードごとに集計する。"),
            discussion: tr(
                """
                Records without a known amount are counted, but their money is in no sum. A month or a card with gaps has lost \
                records, so its sums are too low. By station, a ride counts at both ends.

                Examples:
                  kazasu ledger sum
                  kazasu ledger sum --by station --month 2026-11
                  kazasu ledger sum --by kind --since 2026-04-01 --format csv
                """,
                """
                金額が不明な履歴は件数だけ数え、金額には入れません。欠落のある月やカードは履歴が足りないため、実際の金額より少なく
                なります。駅ごとの集計では、乗車駅と降車駅の両方で数えます。

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
            let missing = try context.ask { () throws(LedgerError) in try ledger.missing(filter.filter) }
            if sums.isEmpty { context.note(tr("no records to show", "表示する履歴がありません")) }
            try answer.write(
                context, to: output, json: { LedgerJSON.sums(sums, by: by, missing: missing, Language.current) },
                text: { _ in table(sums) }, csv: { csv(sums) })
            guard missing.gaps > 0 else { return }
            context.warn(
                tr(
                    "\(Words.count(missing.gaps, "gap")) in the period, \(LedgerWords.missing(missing)): the sums are incomplete; 'kazasu ledger gaps' shows where",
                    "期間内に欠落が \(missing.gaps) か所（\(LedgerWords.missing(missing))）あり、集計に含まれていません。詳しくは 'kazasu ledger gaps'"
                ))
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
                tr("CURRENCY", "通貨"), tr("UNKNOWN", "金額不明"), tr("GAPS", "欠落"),
            ]
            let rows = sums.map { sum in
                let label = sum.label[Language.current]
                let money = [sum.spent, sum.received, sum.amount].map(sum.currency.text)
                return [label.isEmpty ? tr("(none)", "（なし）") : label, "\(sum.records)"] + money + [
                    sum.currency.rawValue, sum.unknown == 0 ? "" : "\(sum.unknown)",
                    sum.gaps.flatMap { $0 > 0 ? "\($0)" : nil } ?? "",
                ]
            }
            // A column that is empty but for its name says nothing.
            let hasGaps = sums.contains { $0.gaps ?? 0 > 0 }
            return Columns.text(
                ([head] + rows).map { hasGaps ? $0 : Array($0.dropLast()) }, rightAligned: [1, 2, 3, 4, 6, 7])
        }

        private func csv(_ sums: [LedgerSum]) -> String {
            let isJapanese = answer.csvLanguage == .japanese
            let names: [CSV.Cell] =
                isJapanese
                ? ["キー", "名前", "件数", "金額不明", "利用額", "入金額", "差引", "通貨", "欠落"]
                : ["key", "name", "records", "unknown", "spent", "received", "amount", "currency", "gaps"]
            return CSV().row(names)
                + sums.map { sum in
                    let money: [CSV.Cell] = [sum.spent, sum.received, sum.amount].map { .number(sum.currency.text($0)) }
                    return CSV().row(
                        [
                            .text(sum.key), .text(sum.label[answer.csvLanguage]), .number(sum.records),
                            .number(sum.unknown),
                        ] + money + [.text(sum.currency.rawValue), .number(sum.gaps)])
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
            let names: [CSV.Cell] =
                isJapanese
                ? ["カードID", "カード", "前の履歴", "次の履歴", "欠落件数", "最小", "最大", "金額", "次を含む", "通貨", "理由", "ID"]
                : [
                    "cardId", "card", "after", "before", "missing", "missingAtLeast", "missingAtMost", "amount",
                    "coversNext", "currency", "reason", "id",
                ]
            return CSV().row(names)
                + gaps.map { report in
                    let (gap, purse) = (report.gap, report.after.purse)
                    let days: [CSV.Cell] = [report.before, report.after].map { .text($0.record.date?.description) }
                    let counts: [CSV.Cell] = [gap.missing, gap.atLeast, gap.atMost].map { .number($0) }
                    return CSV().row(
                        [.text("0x" + purse.card), .text(purse.kind)] + days + counts + [
                            .number(gap.amount.map(purse.currency.text)), .text("\(gap.coversNext)"),
                            .text(purse.currency.rawValue), .text(gap.reason.rawValue), .text(report.after.uid),
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
            let isYen = cards.allSatisfy { $0.purse.currency == .yen }
            let head =
                [
                    tr("NUMBER", "番号"), tr("NAME", "名前"), tr("KIND", "種類"), tr("RECORDS", "件数"), tr("FIRST", "最初"),
                    tr("LAST", "最後"), tr("BALANCE", "残高"), tr("GAPS", "欠落"),
                ] + (isYen ? [] : [tr("CURRENCY", "通貨")]) + [tr("LINKED", "統合")]
            let rows = cards.map { card in
                [
                    card.purse.card, card.purse.cardName ?? "-", card.purse.title[Language.current], "\(card.records)",
                    card.first?.description ?? "-", card.last?.description ?? "-",
                    card.balance.map(card.purse.currency.text) ?? "-", "\(card.gaps)",
                ] + (isYen ? [] : [card.purse.currency.rawValue]) + [card.linked.joined(separator: " ")]
            }
            return Columns.text([head] + rows, rightAligned: [3, 6, 7])
        }

        private func csv(_ cards: [LedgerCard]) -> String {
            let isJapanese = answer.csvLanguage == .japanese
            let names: [CSV.Cell] =
                isJapanese
                ? ["カードID", "名前", "カード", "件数", "最初", "最後", "残高", "通貨", "欠落", "統合"]
                : ["cardId", "name", "card", "records", "first", "last", "balance", "currency", "gaps", "linked"]
            return CSV().row(names)
                + cards.map { card in
                    let kind = isJapanese ? card.purse.title.japanese : card.purse.kind
                    return CSV().row([
                        .text("0x" + card.purse.card), .text(card.purse.cardName), .text(kind), .number(card.records),
                        .text(card.first?.description), .text(card.last?.description),
                        .number(card.balance.map(card.purse.currency.text)), .text(card.purse.currency.rawValue),
                        .number(card.gaps), .text(card.linked.map { "0x" + $0 }.joined(separator: " ")),
                    ])
                }.joined()
        }
    }
}

extension LedgerGrouping: ExpressibleByArgument {}
