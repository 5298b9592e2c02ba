// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Histories as CSV for spreadsheets and databases; `Docs/cards.md` lists the columns.
///
/// The values are the words of the JSON documents and do not change with the language of the run, only with `--header`.
package struct HistoryCSV {
    /// The language of column names and values.
    package var language: Language

    package init(language: Language) { self.language = language }

    /// The row of column names.
    package var head: String { CSV().row(columns + latinColumns) }

    /// The names of all columns but the last.
    package var columns: [CSV.Cell] { HistoryCSV.columns.map { .text($0[language]) } }

    /// The names of the last columns; a ledger has its own before them.
    package var latinColumns: [CSV.Cell] {
        (language == .japanese ? ["入場駅ローマ字", "出場駅ローマ字"] : ["entryStationEn", "exitStationEn"]).map { .text($0) }
    }

    /// One row for each record.
    package func rows(_ report: HistoryReport, _ card: DecodedCard) -> String {
        let start = start(
            cardID: card.identity.idm?.description
                ?? (card.identity.uid ?? card.identity.pupi).map { Hex.encode($0) }, kind: report.kind, card.brand)
        return report.records.map { CSV().row(start + cells($0, report.currency) + latinCells($0)) }.joined()
    }

    /// The cells before `serial`.
    ///
    /// - Parameters:
    ///   - cardID: what identifies the card, in hexadecimal digits.
    ///   - kind: the kind of card.
    package func start(cardID: String?, kind: CardKind, _ brand: CardBrand? = nil) -> [CSV.Cell] {
        let name = DecoderRegistry.standard.decoder(of: kind)?.name.japanese ?? kind.rawValue
        return [
            .text(HistoryCSV.hex(cardID)), .text(language == .japanese ? name : kind.rawValue),
            .text(language == .japanese ? brand?.name.japanese : brand?.id),
        ]
    }

    private static let columns: [LocalizedText] = [
        ("cardId", "カードID"), ("card", "カード"), ("brand", "ブランド"), ("serial", "通番"), ("date", "日付"), ("time", "時刻"),
        ("kind", "種別"), ("entryCode", "入場コード"), ("entryCompany", "入場会社"), ("entryLine", "入場路線"),
        ("entryStation", "入場駅"), ("exitCode", "出場コード"), ("exitCompany", "出場会社"), ("exitLine", "出場路線"),
        ("exitStation", "出場駅"), ("amount", "金額"), ("balance", "残高"), ("currency", "通貨"), ("terminal", "端末"),
        ("process", "処理"), ("payment", "支払方法"), ("terminalId", "端末ID"), ("warnings", "注意"),
    ].map { LocalizedText($0.0, $0.1) }

    /// The names in Latin script.
    package func latinCells(_ record: HistoryRecord) -> [CSV.Cell] {
        [record.entry, record.exit].map { place in
            .text(place?.name.flatMap { $0.latin.name == nil ? nil : $0.label(.english) })
        }
    }

    /// The cells from `serial` to `warnings`.
    package func cells(_ record: HistoryRecord, _ currency: Currency) -> [CSV.Cell] {
        let moment: [CSV.Cell] = [
            .number(record.serial), .text(record.date?.description), .text(record.time?.hourAndMinute),
            .text(language == .japanese ? record.kind.name.japanese : record.kind.rawValue),
        ]
        let money: [CSV.Cell] = [record.amount, record.balance].map { .number($0.map(currency.text)) }
        let codes: [CSV.Cell] = [record.terminal, record.process, record.payment].map { .text($0.map(name)) }
        let warnings = (record.warnings + (record.hasDoubt ? [.doubtfulValues] : []))
            .map { language == .japanese ? $0.message.japanese : $0.rawValue }
        let machine = record.terminalID ?? record.device?.description
        return moment + place(record.entry) + place(record.exit) + money + [.text(currency.rawValue)] + codes + [
            .text(HistoryCSV.hex(machine)), .text(warnings.joined(separator: "; ")),
        ]
    }

    /// The code, the company, the line and the name of a place, as people call them; names are empty without a table.
    private func place(_ place: Place?) -> [CSV.Cell] {
        let name = place?.name
        return [
            place?.code.key, name?.company(in: .japanese), name?.line(in: .japanese),
            name?.names(.japanese).map { name?.withFormerNames($0, language) ?? $0 },
        ].map { .text($0) }
    }

    /// The name of a code, or `0x16` when no source names it.
    private func name(_ value: CodedValue) -> String { value.name?[language] ?? "0x\(value.hex)" }

    /// Hexadecimal digits with a prefix, so that no spreadsheet rounds them or drops a zero.
    private static func hex(_ digits: String?) -> String? { digits.map { "0x\($0)" } }
}
