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
        report.records.map { $0.jsonLine(Language.current, report.currency) + "\n" }.joined()
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

    /// The name of a place, or its codes when no table names it, those of a bus stop after the company where that is known;
    /// `?` when it is not certain.
    static func place(_ place: Place) -> String {
        let doubt = place.doubt == nil ? "" : tr("?", "？")
        if let name = place.name?.name {
            let former = place.name?.formerNames ?? []
            guard !former.isEmpty else { return name + doubt }
            let names = former.map(words).joined(separator: tr(", ", "、"))
            return tr("\(name) (formerly \(names))", "\(name)（旧\(names)）") + doubt
        }
        let codes =
            switch place.code {
            case .station(let code): "\(code.area)-\(code.line)-\(code.station)"
            case .busStop(let code):
                (place.name?.company.map { "\($0) " } ?? "") + "\(code.operatorHex)-\(code.stopHex)"
            case .local(let code): [code.lineHex, code.stopHex].compactMap { $0 }.joined(separator: "-")
            }
        return codes + doubt
    }

    /// A former name, with its last day where that is known.
    static func words(_ former: FormerName) -> String {
        guard let until = former.until else { return former.name }
        return tr("\(former.name) until \(until)", "\(former.name)・\(until)まで")
    }

    /// The name of a code, or the code when no source names it; `?` when the name is not certain.
    static func name(_ value: CodedValue) -> String {
        (value.name?[Language.current] ?? value.hex) + (value.doubt == nil ? "" : tr("?", "？"))
    }
}
