// SPDX-License-Identifier: Apache-2.0

public import CommandDescription
import Kazasu
import KazasuCLI
public import KazasuLedger
import KazasuTaps

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

        static let programAccess = CommandAccess.method(
            .plain(
                "ledger.list", .get("ledger/records"), needs: .ledger, schema: "ledger",
                LocalizedText("The records of the ledger, newest first.", "台帳の履歴。新しい順。")))

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions
        @OptionGroup var filter: LedgerFilterOptions
        @OptionGroup var answer: LedgerAnswerOptions

        @Flag(
            reach: .never, name: .long,
            help: help("A column with the ids that --except takes.", "--except で使う ID の列を加える。"))
        var ids = false

        @Option(
            reach: .network, name: .joined("n"),
            help: help("Only so many of these, the newest.", "新しいものから、この件数だけ。", value: "count", bounds: 1...Int.max))
        var limit: Int?

        func validate() throws {
            try answer.check(common)
            if let limit, limit < 1 {
                let name = Caller.current.option("limit")
                throw ValidationError(tr("\(name) takes 1 or more", "\(name) は 1 以上です"))
            }
        }

        func execute(_ context: Context) throws {
            let output = try answer.file()
            let ledger = try file.open(context)
            var (failure, count): ((any Error)?, Int) = (nil, 0)
            let filter = try filter.filter(ledger, context)
            let missing = try ledger.missing(filter)
            try ledger.select(filter, limit: limit) { records in
                do {
                    count = records.count
                    if count == 0 { context.note(tr("no records to show", "表示する履歴がありません")) }
                    try write(records, missing, to: LedgerStream(output), context)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            if let output { output.tell(records: count, context) }
            context.warn(
                ofIncomplete: missing, LocalizedText("the list is incomplete", "一覧には抜けがあります"))
        }

        private func write(
            _ records: LedgerSelection, _ missing: LedgerMissing, to stream: LedgerStream, _ context: Context
        ) throws {
            switch answer.form(context) {
            case .json:
                var failure: LedgerError?
                func write<Sink: JSONSink & ~Copyable>(to sink: inout Sink) {
                    sink.object { document in
                        LedgerJSON.write(to: &document, Language.current, missing: missing) { write in
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
                }
                if context.answer != nil {
                    try context.print(JSONValue(writing: { write(to: &$0) }))
                } else {
                    var writer = JSONPrettyWriter { span in
                        var bytes: [UInt8] = []
                        for index in span.indices { bytes.append(span[index]) }
                        _ = stream.write(bytes)
                    }
                    write(to: &writer)
                    writer.finish()
                }
                if let failure { throw failure }
            case .csv:
                let csv = LedgerCSV(answer.csvLanguage)
                _ = stream.write(answer.csvOptions.text(csv.head, isFile: answer.output != nil))
                try records.forEach { stream.write(csv.row($0)) }
            case .text: try writeTable(records, to: stream, context)
            }
            try stream.finish()
        }

        /// The columns of a history, the currency where there is another than yen, and the card where there are several.
        private func writeTable(
            _ records: LedgerSelection, to stream: LedgerStream, _ context: Context
        ) throws {
            guard records.count > 0 else { return }
            // With and without the machines that precede what was done.
            var (whole, short) = (ColumnLayout(rightAligned: [5, 6]), ColumnLayout(rightAligned: [5, 6]))
            var (purses, currencies): (Set<Int64>, Set<Currency>) = ([], [])
            let head = HistoryTable.head + [tr("CURRENCY", "通貨"), tr("CARD", "カード"), "ID"]
            whole.measure(head)
            short.measure(head)
            try records.forEach { entry in
                for row in List.rows(entry, hasMachine: true) { whole.measure(row) }
                for row in List.rows(entry, hasMachine: false) { short.measure(row) }
                purses.insert(entry.purse.id)
                currencies.insert(entry.purse.currency)
                return true
            }
            var columns = Array(0..<7)
            if !currencies.isSubset(of: [.yen]) { columns.append(8) }
            columns.append(7)
            if purses.count > 1 { columns.append(9) }
            if ids { columns.append(10) }
            let width = answer.output == nil ? Output.lineWidth : nil
            let hasMachine = width.map { whole.width(of: columns) <= $0 } ?? true
            var layout = hasMachine ? whole : short
            if let width {
                // What was done is cut, then places and the names of cards.
                layout.narrow([7], of: columns, to: width, least: 8)
                layout.narrow([3, 4, 9], of: columns, to: width, least: 8)
                for column in [7, 1, 2, 6] where layout.width(of: columns) > width {
                    columns.removeAll { $0 == column }
                }
                layout.narrow([3, 4, 9], of: columns, to: width, least: 6)
            }
            _ = stream.write(layout.line(head, of: columns))
            try records.forEach { entry in
                List.rows(entry, hasMachine: hasMachine).enumerated().allSatisfy { place, row in
                    stream.write(
                        layout.line(row, of: columns) { column, cell in
                            guard answer.output == nil, Color.isOnOutput else { return nil }
                            // What is lost stands out, as do top-ups.
                            if place > 0 { return column == 2 && !cell.isEmpty ? .yellow : nil }
                            return column == 5 && cell.hasPrefix("+") ? .green : nil
                        })
                }
            }
        }

        /// The row of a record, and that of the gap before it.
        private static func rows(_ entry: LedgerRecord, hasMachine: Bool) -> [[String]] {
            let currency = entry.purse.currency
            let end = [currency.rawValue, entry.purse.name(Language.current), entry.uid]
            let row = HistoryTable.cells(entry.record, currency, hasMachine: hasMachine) + end
            guard let gap = entry.gapBefore else { return [row] }
            let money = gap.amount.map { ($0 > 0 ? "+" : "") + currency.text($0) } ?? "-"
            // In the column of the kind: a wide text in that of a place would widen every row.
            let lost =
                gap.missing.map { "\($0)" } ?? gap.atMost.map { "\(gap.atLeast)\(tr("-", "～"))\($0)" } ?? "?"
            let words = LedgerWords.missing(gap)
            return [row, ["", "", tr("gap ", "欠落 ") + lost, "", "", money, "", words] + end.dropLast() + [""]]
        }
    }

    /// `kazasu ledger sum`
    struct Sum: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "sum",
            abstract: tr(
                "Totals by day, week, month, year, kind, station, line or card.", "日・週・月・年・種別・駅・路線・カードごとに集計する。"),
            discussion: tr(
                """
                Records without a known amount are counted, but not included in totals. A period or card with gaps has lost \
                records, so its totals are incomplete. By station, a ride counts at both ends, but once in the total.

                Examples:
                  kazasu ledger sum
                  kazasu ledger sum --by station --month 2026-11
                  kazasu ledger sum --by kind --since 2026-04-01 --format csv
                """,
                """
                金額が不明な履歴は件数だけ数え、金額には入れません。欠落のある期間やカードは履歴が足りないため、実際の金額より少なく
                なります。駅ごとの集計では乗車駅と降車駅の両方で数えますが、合計には 1 回だけ入れます。

                例:
                  kazasu ledger sum
                  kazasu ledger sum --by station --month 2026-11
                  kazasu ledger sum --by kind --since 2026-04-01 --format csv
                """))

        static let programAccess = CommandAccess.method(
            .plain(
                "ledger.sum", .get("ledger/sum"), needs: .ledger, schema: "ledgerSum",
                LocalizedText(
                    "Totals of the ledger by day, week, month, year, kind, station, line or card.",
                    "台帳の合計。日・週・月・年・種類・駅・路線・カードごと。")))

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions

        @Option(
            reach: .network, name: .long,
            help: help(
                "day, week, month, year, kind, station, line or card.",
                "day、week、month、year、kind、station、line、card のいずれか。"))
        var by = LedgerGrouping.month

        @OptionGroup var filter: LedgerFilterOptions
        @OptionGroup var answer: LedgerAnswerOptions

        func validate() throws { try answer.check(common) }

        func execute(_ context: Context) throws {
            let output = try answer.file()
            let ledger = try file.open(context)
            let filter = try filter.filter(ledger, context)
            let (sums, totals, missing) = try ledger.summary(by: by, filter)
            if sums.isEmpty { context.note(tr("no records to show", "表示する履歴がありません")) }
            let table = LedgerAnswers.sums(by: by)
            try answer.write(
                context, to: output,
                json: { LedgerJSON.sums(sums, by: by, totals: totals, missing: missing, Language.current) },
                text: { Context.text(table.table(sums + (sums.isEmpty ? [] : totals), Language.current), width: $0) },
                csv: { table.csv(sums, answer.csvLanguage) })
            context.warn(
                ofIncomplete: missing, LocalizedText("the sums are incomplete", "集計に含まれていません"))
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
                カードに残るのは最新の履歴だけで、次に読むまでに上書きされた分は失われます。件数は通番から分かります。鉄道の乗車は
                通番を 1 または 2 進めるため、件数が範囲になることがあります。

                例:
                  kazasu ledger gaps
                  kazasu ledger gaps --json | jq '.gaps[].missing'
                """))

        static let programAccess = CommandAccess.method(
            .plain(
                "ledger.gaps", .get("ledger/gaps"), needs: .ledger, schema: "ledgerGaps",
                LocalizedText(
                    "Where the ledger lacks records, how many, and the money that moved.", "台帳の欠落の場所、件数と、その間に動いた金額。")))

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions
        @OptionGroup var filter: LedgerFilterOptions
        @OptionGroup var answer: LedgerAnswerOptions

        func validate() throws { try answer.check(common) }

        func execute(_ context: Context) throws {
            let output = try answer.file()
            let ledger = try file.open(context)
            let gaps = try ledger.gaps(filter.filter(ledger, context))
            if gaps.isEmpty { context.note(tr("no gaps", "欠落はありません")) }
            let table = LedgerAnswers.gaps
            let note =
                gaps.contains { $0.gap.coversNext && $0.gap.amount != nil }
                ? tr("* with the record after the gap, whose own amount is unknown\n", "* 次の履歴（金額不明）の分を含みます\n") : ""
            try answer.write(
                context, to: output, json: { table.json(gaps, Language.current) },
                text: { Context.text(table.table(gaps, Language.current), width: $0) + note },
                csv: { table.csv(gaps, answer.csvLanguage) })
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

        static let programAccess = CommandAccess.method(
            .plain(
                "ledger.cards", .get("ledger/cards"), needs: .ledger, schema: "ledgerCards",
                LocalizedText("The cards of the ledger.", "台帳のカード。")))

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions
        @OptionGroup var answer: LedgerAnswerOptions

        func validate() throws { try answer.check(common) }

        func execute(_ context: Context) throws {
            let output = try answer.file()
            let ledger = try file.open(context)
            let cards = try ledger.cards()
            let table = LedgerAnswers.cards
            try answer.write(
                context, to: output, json: { table.json(cards, Language.current) },
                text: { Context.text(table.table(cards, Language.current), width: $0) },
                csv: { table.csv(cards, answer.csvLanguage) })
        }
    }
}

extension Context {
    /// The columns of an answer as text. Where a terminal is too narrow, these give way in turn: columns that say nothing or
    /// the same in every row, long words, and the columns that say least.
    static func text(_ table: AnswerTable, width: Int? = nil) -> String {
        guard let head = table.cells.first else { return "" }
        var layout = ColumnLayout(rightAligned: table.rightAligned)
        for row in table.cells { layout.measure(row) }
        var shown = Array(head.indices)
        if let width {
            let body = table.cells.dropFirst()
            func leaveOut(_ column: Int) {
                if layout.width(of: shown) > width { shown.removeAll { $0 == column } }
            }
            for column in head.indices.dropFirst() where !table.stays.contains(column) {
                let cells = Set(body.map { $0[column] })
                if cells.isSubset(of: ["", "-"]) || body.count > 1 && cells.count == 1 { leaveOut(column) }
            }
            layout.narrow(Set(head.indices).subtracting(table.rightAligned), of: shown, to: width, least: 16)
            for column in table.givesWay.sorted() { leaveOut(column) }
            if layout.width(of: shown) > width {
                let right = shown.indices.filter { table.rightAligned.contains(shown[$0]) }
                return Columns.text(
                    table.cells.map { row in shown.map { row[$0] } }, rightAligned: Set(right), width: width)
            }
        }
        return table.cells.map { layout.line($0, of: shown) }.joined()
    }
}

extension LedgerGrouping: ExpressibleByArgument {}
