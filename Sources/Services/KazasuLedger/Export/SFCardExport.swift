// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel

extension LedgerFormat {
    /// The CSV of Sony's SFCard Viewer, which Japanese expense programs read; CP932.
    public static let sfcard = LedgerFormat(
        "sfcard",
        LocalizedText("SFCard Viewer, which Japanese expense systems read", "SFCard Viewer。多くの経費精算システムが読めます"),
        features: [.cardLine], language: .japanese, money: .yen, write: SFCardExport.write)
}

/// The CSV of Sony's SFCard Viewer: CP932, CRLF, ten columns, oldest first.
///
/// Spending is written without a sign, charges negative. The memo is one of the words that readers of the format accept.
enum SFCardExport {
    static let header = "利用年月日,定期,鉄道会社名,入場駅/事業者名,定期,鉄道会社名,出場駅/降車場所,利用額(円),残額(円),メモ"

    static func write(_ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink) throws {
        guard chains.count <= 1 else { throw LedgerError.severalCards(options.filter.cards.first ?? "") }
        let chain = chains.first
        try sink.useCP932()
        if options.hasCardLine, let chain { sink.write("カードID=\(chain.purse.card.uppercased())\r\n") }
        sink.write(header + "\r\n")
        try chain?.forEachItem(to: sink) { item in
            switch item {
            case .record(let record, let amount, let date), .late(let record, let amount, let date, _):
                sink.write(CSV().row(row(record.record, amount, date)))
            case .gap(let gap, _, let date):
                sink.write(
                    CSV().row([
                        day(date), "", "", .text(ExportText.title(gap, .japanese)), "", "", "",
                        .number(gap.amount.map { 0 &- $0 }), "", "",
                    ]))
            case .opening: break
            }
        }
    }

    private static func row(_ record: HistoryRecord, _ amount: Int, _ date: CalendarDate) -> [CSV.Cell] {
        let (day, money): (CSV.Cell, [CSV.Cell]) = (day(date), [.number(0 &- amount), .number(record.balance)])
        switch record.kind {
        case .rail:
            let entry: [CSV.Cell] = [.text(company(record.entry)), .text(record.entry?.label(.japanese)), ""]
            let exit: [CSV.Cell] = [.text(company(record.exit)), .text(record.exit?.label(.japanese))]
            return [day, ""] + entry + exit + money + [memo(record)]
        case .bus:
            let entry: [CSV.Cell] = ["", .text(company(record.entry)), "", "", .text(record.entry?.name?.name)]
            return [day, ""] + entry + money + ["ﾊﾞｽ/路面等"]
        case .purchase: return [day, "", "", "", "", "", ""] + money + ["物販"]
        default:
            let place: [CSV.Cell] = [.text(company(record.entry)), .text(record.entry?.label(.japanese))]
            return [day, ""] + place + ["", "", ""] + money + [memo(record)]
        }
    }

    private static func day(_ date: CalendarDate) -> CSV.Cell { .text(ExportText.date(date, "/")) }

    private static func company(_ place: Place?) -> String? { place?.name?.company }

    /// Auto-charges (process 14 and 15) and exits at the window (06); the format has no word for other charges.
    private static func memo(_ record: HistoryRecord) -> CSV.Cell {
        switch record.process?.code {
        case 0x14, 0x15: "ｵｰﾄﾁｬｰｼﾞ"
        case 0x06: "窓出"
        default: ""
        }
    }
}
