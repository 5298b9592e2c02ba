// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// The texts about numbers and FeliCa nodes, for display.
package enum Words {
    /// A count with its noun in English.
    package static func count(_ number: Int, _ thing: String) -> String {
        "\(number) \(thing)\(number == 1 ? "" : "s")"
    }

    /// Words with commas, and `or` before the last one.
    package static func choice(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    /// Ascending numbers with each run as one range: `0-3 15`.
    static func ranges<Number: FixedWidthInteger>(_ numbers: [Number], _ name: (Number) -> String) -> String {
        var runs: [(first: Number, last: Number)] = []
        for number in numbers {
            let isNext = runs.last.map { $0.last &+ 1 == number } ?? false
            if isNext { runs[runs.count - 1].last = number } else { runs.append((number, number)) }
        }
        return runs.map { $0 == $1 ? name($0) : "\(name($0))-\(name($1))" }.joined(separator: " ")
    }

    package static func kind(_ kind: ServiceKind) -> String {
        switch kind {
        case .random: tr("random", "ランダム")
        case .cyclic: tr("cyclic", "サイクリック")
        case .purse: tr("purse", "パース")
        }
    }

    package static func access(_ access: ServiceAccess) -> String {
        switch access {
        case .readWrite: tr("read-write", "読み書き")
        case .readOnly: tr("read-only", "読み出し")
        case .direct: tr("direct", "ダイレクト")
        case .cashback: tr("cashback", "戻入")
        case .decrement: tr("decrement", "減算")
        }
    }
}

/// The decoders' results for a dump, to look up the meaning of its blocks.
package struct Meanings {
    /// The balances by card.
    package let balances: [BalanceEntry]
    /// The other values that the decoders read, by card and key.
    package let fields: [Field]
    private let records: [Block: (record: HistoryRecord, currency: Currency)]
    private let lines: [Block: String]

    /// One field of one card.
    package struct Field {
        package let kind: CardKind
        package let cardName: LocalizedText
        package let field: CardField
    }

    package init(_ dump: CardDump, _ names: any StationNames) {
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
    package func record(_ block: Block?) -> (record: HistoryRecord, currency: Currency)? {
        block.flatMap { records[$0] }
    }

    /// One line about a block, or nothing.
    package func line(_ block: Block?) -> String {
        block.flatMap { lines[$0] } ?? ""
    }
}

/// The card's report about a PIN, for display.
package enum PINWords {
    package static func state(_ state: CardPINState) -> String {
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
    package static func withheld(_ pin: String?, _ refusal: CardPINState.Reason?) -> String {
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
