// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// A history as a table, as CSV (RFC 4180) and as one JSON object a line.
struct HistoryView {
    var report: HistoryReport

    var table: String {
        let head = [
            tr("DATE", "日付"), tr("TIME", "時刻"), tr("KIND", "種別"), tr("FROM", "入"), tr("TO", "出"),
            tr("AMOUNT", "金額"), tr("BALANCE", "残高"), tr("WHAT", "内容"),
        ]
        let rows = report.records.map { record in
            [
                record.date.map { $0.description } ?? "-", record.time.map { $0.description } ?? "",
                Words.kind(record.kind), record.entry.map(HistoryView.place) ?? "", record.exit.map(HistoryView.place) ?? "",
                record.amount.map(HistoryView.signed) ?? "-", record.balance.map { String($0) } ?? "-",
                [record.terminal, record.process].compactMap { $0 }.map(HistoryView.name).joined(separator: " / "),
            ]
        }
        return Columns.text([head] + rows, rightAligned: [5, 6])
    }

    var ndjson: String {
        report.records.map { $0.json(Language.current).compactText + "\n" }.joined()
    }

    /// Column names do not change with the language.
    var csv: String {
        let head = [
            "serial", "date", "time", "kind", "terminal", "process", "payment", "gate", "entry", "exit", "amount",
            "balance", "warnings", "raw",
        ]
        let rows = report.records.map { record in
            [
                String(record.serial), record.date.map { $0.description } ?? "", record.time.map { $0.description } ?? "",
                record.kind.rawValue, record.terminal.map(HistoryView.name) ?? "",
                record.process.map(HistoryView.name) ?? "", record.payment.map(HistoryView.name) ?? "",
                record.gate.map(HistoryView.name) ?? "", record.entry.map(HistoryView.place) ?? "",
                record.exit.map(HistoryView.place) ?? "", record.amount.map { String($0) } ?? "",
                record.balance.map { String($0) } ?? "", record.warnings.map(\.rawValue).joined(separator: " "),
                record.raw.description,
            ]
        }
        return ([head] + rows).map { $0.map(HistoryView.quoted).joined(separator: ",") + "\r\n" }.joined()
    }

    /// The name of a place, or its codes when no table names it.
    static func place(_ place: Place) -> String {
        place.name?.text ?? place.code.description
    }

    private static func name(_ value: CodedValue) -> String {
        value.name?[Language.current] ?? value.hex
    }

    private static func signed(_ amount: Int) -> String {
        amount > 0 ? "+\(amount)" : String(amount)
    }

    private static func quoted(_ field: String) -> String {
        guard field.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return field }
        return "\"" + field.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }
}
