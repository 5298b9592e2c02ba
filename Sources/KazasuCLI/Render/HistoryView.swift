// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel

/// A history as a table, as CSV (RFC 4180) and as one JSON object a line.
struct HistoryView {
    var report: HistoryReport

    /// Made to fit the terminal when it goes to one.
    var table: HistoryTable {
        HistoryTable(records: report.records, currency: report.currency, width: Output.lineWidth)
    }

    var ndjson: String {
        report.records.map { $0.jsonLine(Language.current) + "\n" }.joined()
    }

    /// Column names do not change with the language. The byte order mark makes Excel read the text as UTF-8.
    ///
    /// Amounts are written as people write them, since a table for people has no column for the currency's unit. A day
    /// without its year stands in numbers of its own: a programme for tables would make up a year for `03-09`.
    var csv: String {
        let head = [
            "serial", "date", "time", "entryTime", "partialMonth", "partialDay", "partialHour", "kind", "terminal",
            "terminalId", "process", "payment", "gate", "entry", "exit", "amount", "balance", "warnings", "raw",
        ]
        let rows = report.records.map { record in
            zip(head, HistoryView.fields(record, report.currency)).map { column, field in
                HistoryView.numbers.contains(column) ? CSV.number(field) : CSV.text(field)
            }
        }
        return "\u{FEFF}" + ([head] + rows).map(CSV.row).joined()
    }

    /// The columns of numbers.
    private static let numbers: Set<String> = [
        "serial", "partialMonth", "partialDay", "partialHour", "amount", "balance",
    ]

    private static func fields(_ record: HistoryRecord, _ currency: Currency) -> [String] {
        let codes = [record.process, record.payment, record.gate].map { $0.map(name) ?? "" }
        let terminal = [
            record.terminal.map(name) ?? "", record.terminalID ?? record.device.map { Hex.encode($0, digits: 4) } ?? "",
        ]
        let places = [record.entry, record.exit].map { $0.map(place) ?? "" }
        let amounts = [record.amount, record.balance].map { $0.map(currency.text) ?? "" }
        let partial = [record.partial?.month, record.partial?.day, record.partial?.hour]
        let start = [
            record.serial.map { String($0) }, record.date?.description, record.time?.hourAndMinute,
            record.entryTime?.hourAndMinute,
        ]
        let moment = (start + partial.map { $0.map { String($0) } }).map { $0 ?? "" }
        let end = [
            record.warnings.map(\.rawValue).joined(separator: " "),
            (record.rawHead?.description ?? "") + record.raw.description,
        ]
        return moment + [record.kind.rawValue] + terminal + codes + places + amounts + end
    }

    /// The name of a place, or its codes when no table names it.
    static func place(_ place: Place) -> String {
        if let name = place.name?.name {
            guard let former = place.name?.formerName else { return name }
            return tr("\(name) (formerly \(former))", "\(name)（旧\(former)）")
        }
        return switch place.code {
        case .station(let code): "\(code.area)-\(code.line)-\(code.station)"
        case .busStop(let code): "\(code.operatorHex)-\(code.stopHex)"
        case .local(let code): [code.lineHex, code.stopHex].compactMap { $0 }.joined(separator: "-")
        }
    }

    static func name(_ value: CodedValue) -> String {
        value.name?[Language.current] ?? value.hex
    }
}
