// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel

extension LedgerFormat {
    /// Quicken Interchange Format, one currency a file; days are written year first.
    public static let qif = LedgerFormat(
        "qif", LocalizedText("Quicken Interchange Format", "Quicken Interchange Format"), money: .one,
        write: QIFExport.write)
}

/// Quicken Interchange Format; days are year/month/day, charges are transfers. It names no currency, so a file has one.
enum QIFExport {
    static func write(_ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink) throws {
        for chain in chains {
            let name = ExportText.line(chain.purse.name(options.language))
            sink.write(["!Account", "N\(name)", "TBank", "^", "!Type:Bank"])
            try chain.forEachItem(to: sink) { item in
                sink.write(lines(item, name, chain.purse.currency, options) + ["^"])
            }
        }
    }

    private static func lines(
        _ item: ExportChain.Item, _ name: String, _ currency: Currency, _ options: LedgerExportOptions
    ) -> [String] {
        let day = "D\(ExportText.date(item.date, "/"))"
        switch item {
        case .opening(let balance, _):
            return [day, "T\(currency.text(balance))", "POpening Balance", "L[\(name)]"]
        case .gap(let gap, let record, _):
            return [
                day, "T\(currency.text(gap.amount ?? 0))", "P\(ExportText.title(gap, options.language))",
                "M\(ExportText.id(of: record))",
            ]
        case .record(let record, let amount, _), .late(let record, let amount, _, _):
            let serial = record.record.serial.map { ["N\($0)"] } ?? []
            let memo = ExportText.line(record.uid + " " + ExportText.memo(record, options.language))
            let charges = "L[\(options.language == .japanese ? "チャージ" : "Charges")]"
            return [day, "T\(currency.text(amount))"] + serial
                + ["P\(ExportText.line(ExportText.title(record, options.language)))", "M\(memo)"]
                + (record.record.kind == .charge ? [charges] : [])
        }
    }
}
