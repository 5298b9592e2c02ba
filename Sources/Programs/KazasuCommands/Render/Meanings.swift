// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// The decoders' results for a dump, to look up the meaning of its blocks.
struct Meanings {
    /// The balances by card.
    let balances: [BalanceEntry]
    /// The other values that the decoders read, by card and key.
    let fields: [Field]
    private let records: [Block: (record: HistoryRecord, currency: Currency)]
    private let lines: [Block: String]

    /// One field of one card.
    struct Field {
        let kind: CardKind
        let cardName: LocalizedText
        let field: CardField
    }

    init(_ dump: CardDump, _ names: any StationNames) {
        var balances: [BalanceEntry] = []
        var fields: [Field] = []
        var records: [Block: (record: HistoryRecord, currency: Currency)] = [:]
        var lines: [Block: String] = [:]
        for report in dump.decode(stations: names).cards {
            balances += report.balances
            fields += report.fields.map { Field(kind: report.kind, cardName: report.name, field: $0) }
            for (block, line) in GateView(report: report).lines { lines[block] = line }
            for record in report.history ?? [] where records[record.raw] == nil {
                records[record.raw] = (record, report.currency)
                lines[record.raw] = HistoryTable.line(record, report.currency)
            }
        }
        (self.balances, self.fields, self.records, self.lines) = (balances, fields, records, lines)
    }

    /// The record that a block holds, and the currency of its amounts.
    func record(_ block: Block?) -> (record: HistoryRecord, currency: Currency)? {
        block.flatMap { records[$0] }
    }

    /// One line about a block, or nothing.
    func line(_ block: Block?) -> String {
        block.flatMap { lines[$0] } ?? ""
    }
}

/// The card's report about a PIN, for display.
enum PINWords {
    static func state(_ state: CardPINState) -> String {
        switch (state.isVerified, state.triesLeft) {
        case (true, let tries?):
            tr("verified (\(tries) \(tries == 1 ? "try was" : "tries were") left before)", "照合済み（照合前の残り \(tries) 回）")
        case (true, nil): tr("verified", "照合済み")
        case (false, 0?): tr("locked", "閉塞")
        case (false, 1?): tr("1 try left", "残り 1 回")
        case (false, let tries?): tr("\(tries) tries left", "残り \(tries) 回")
        case (false, nil): tr("number of tries left unknown", "残り回数は不明")
        }
    }

    /// The beginning of the line that names the unread data.
    ///
    /// - Parameters:
    ///   - pin: the PIN that is needed; `nil` where none was given at all.
    ///   - refusal: why that PIN opened nothing.
    static func withheld(_ pin: String?, _ refusal: CardPINState.Reason?) -> String {
        guard let pin else { return tr("Not read without a PIN: ", "暗証番号がないため読んでいない項目: ") }
        return switch refusal {
        case nil: tr("Not read without \(pin): ", "\(pin)がないため読んでいない項目: ")
        case .wrong: tr("Not read, as \(pin) was wrong: ", "\(pin)が違うため読んでいない項目: ")
        case .locked: tr("Not read, as \(pin) is locked: ", "\(pin)が閉塞しているため読んでいない項目: ")
        case .lastTry:
            tr(
                "Not read, as \(pin) was not sent for what may be the last try: ",
                "\(pin)を送っていない（最後の 1 回のおそれがある）ため読んでいない項目: ")
        case .form:
            tr("Not read, as \(pin) has the wrong form and was not sent: ", "\(pin)を送っていない（形式が違う）ため読んでいない項目: ")
        case .refused: tr("Not read, as the card did not accept \(pin): ", "カードが\(pin)を受け付けないため読んでいない項目: ")
        }
    }
}
