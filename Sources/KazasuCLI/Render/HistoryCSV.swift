// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardDecoders
package import CardModel

/// Histories as CSV for spreadsheets and databases; `Docs/cards.md` lists the columns.
///
/// The values are the words of the JSON documents and do not change with the language of the run, only with `--header`.
package struct HistoryCSV {
    /// The language of column names and values.
    package var language: Language

    /// The row of column names.
    package var head: String {
        CSV.row(Column.allCases.map { language == .japanese ? $0.japanese : $0.rawValue })
    }

    /// One row for each record.
    package func rows(_ report: HistoryReport, _ card: DecodedCard) -> String {
        let kind = DecoderRegistry.standard.decoder(id: report.card)?.name.japanese ?? report.card
        let start = [
            HistoryCSV.hex(card.identity.idm?.description ?? (card.identity.uid ?? card.identity.pupi)?.hexadecimal),
            CSV.text(language == .japanese ? kind : report.card),
            CSV.text((language == .japanese ? card.brand?.name.japanese : card.brand?.id) ?? ""),
        ]
        return report.records.map { CSV.row(start + cells($0, report.currency)) }.joined()
    }

    private enum Column: String, CaseIterable {
        case cardId, card, brand, serial, date, time, kind, entryCode, entryCompany, entryLine, entryStation, exitCode,
            exitCompany, exitLine, exitStation, amount, balance, currency, terminal, process, payment, terminalId,
            warnings

        var japanese: String {
            switch self {
            case .cardId: "カードID"
            case .card: "カード"
            case .brand: "ブランド"
            case .serial: "通番"
            case .date: "日付"
            case .time: "時刻"
            case .kind: "種別"
            case .entryCode: "入場コード"
            case .entryCompany: "入場会社"
            case .entryLine: "入場路線"
            case .entryStation: "入場駅"
            case .exitCode: "出場コード"
            case .exitCompany: "出場会社"
            case .exitLine: "出場路線"
            case .exitStation: "出場駅"
            case .amount: "金額"
            case .balance: "残高"
            case .currency: "通貨"
            case .terminal: "端末"
            case .process: "処理"
            case .payment: "支払方法"
            case .terminalId: "端末ID"
            case .warnings: "注意"
            }
        }
    }

    /// The cells from `serial` on.
    private func cells(_ record: HistoryRecord, _ currency: Currency) -> [String] {
        let moment = [
            CSV.number(record.serial.map { "\($0)" } ?? ""), CSV.text(record.date?.description ?? ""),
            CSV.text(record.time?.hourAndMinute ?? ""),
            CSV.text(language == .japanese ? record.kind.name.japanese : record.kind.rawValue),
        ]
        let money = [record.amount, record.balance].map { CSV.number($0.map(currency.text) ?? "") }
        let codes = [record.terminal, record.process, record.payment].map { CSV.text($0.map(name) ?? "") }
        let warnings = (record.warnings + (record.hasDoubt ? [.doubtfulValues] : []))
            .map { language == .japanese ? $0.message.japanese : $0.rawValue }
        let machine = record.terminalID ?? record.device.map { Hex.encode($0, digits: 4) }
        return moment + place(record.entry) + place(record.exit) + money + [currency.rawValue] + codes + [
            HistoryCSV.hex(machine), CSV.text(warnings.joined(separator: "; ")),
        ]
    }

    /// The code, the company, the line and the name of a place; names are empty without a table.
    private func place(_ place: Place?) -> [String] {
        [place.map { code($0.code) }, place?.name?.company, place?.name?.line, place?.name?.name]
            .map { CSV.text($0 ?? "") }
    }

    /// The numbers of a place, joined so that no spreadsheet reads a date or a number: decimal for a station, hexadecimal
    /// as in the documents for other places.
    private func code(_ code: PlaceCode) -> String {
        let parts =
            switch code {
            case .station(let code): ["\(code.area)", "\(code.line)", "\(code.station)"]
            case .busStop(let code): ["\(code.area)", code.operatorHex, code.stopHex]
            case .local(let code):
                [code.system.description, code.area.map { "\($0)" }, code.operatorHex, code.lineHex, code.stopHex]
                    .compactMap { $0 }
            }
        return parts.joined(separator: "_")
    }

    /// The name of a code, or `0x16` when no source names it.
    private func name(_ value: CodedValue) -> String { value.name?[language] ?? HistoryCSV.hex(value.hex) }

    /// Hexadecimal digits with a prefix, so that no spreadsheet rounds them or drops a zero.
    private static func hex(_ digits: String?) -> String { CSV.text(digits.map { "0x\($0)" } ?? "") }
}
