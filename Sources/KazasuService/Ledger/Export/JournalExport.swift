// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
internal import CardModel

/// The journals of plain-text accounting: each balance of the card is stated, so that the program checks it.
enum JournalExport {
    // MARK: hledger

    static func hledger(_ chains: [ExportChain], _ options: LedgerExportOptions) -> [UInt8] {
        var lines: [String] = []
        for (chain, account) in zip(chains, accounts(chains, options)) {
            let unit = chain.purse.currency.rawValue
            func money(_ amount: Int) -> String { "\(chain.purse.currency.text(amount)) \(unit)" }
            if !chain.isContinued { lines += ["account \(account)", ""] }
            func check(_ balance: Int?) -> String {
                chain.isChecked ? balance.map { " = \(money($0))" } ?? "" : ""
            }
            for item in chain.items {
                switch item {
                case .opening(let amount, let date):
                    lines += ["\(date) Opening balance", "    \(account)  \(money(amount))\(check(amount))"]
                    lines += ["    \(opening)", ""]
                case .gap(let gap, let record, let date):
                    let after = gap.coversNext ? record.record.balance : record.balanceBefore
                    lines += [
                        "\(date) \(ExportText.title(gap, options.language))",
                        "    ; kazasu-id: \(ExportText.id(of: record))",
                    ]
                    lines += ["    \(account)  \(money(gap.amount ?? 0))\(check(after))", "    \(unknown)", ""]
                case .record(let record, let amount, let date):
                    lines += head(record, date, options)
                    lines += ["    \(account)  \(money(amount))\(check(record.record.balance))"]
                    lines += ["    \(counterpart(record.record.kind))", ""]
                case .late(let record, let amount, let date, let wasInGap):
                    lines += head(record, date, options)
                    lines += [
                        "    \(wasInGap ? unknown : opening)  \(money(amount))",
                        "    \(counterpart(record.record.kind))", "",
                    ]
                }
            }
        }
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    private static func head(_ record: LedgerRecord, _ date: CalendarDate, _ options: LedgerExportOptions) -> [String] {
        // A semicolon begins a comment, a bar divides payee and note.
        let title = ExportText.title(record, options.language).map { ";|\n\r".contains($0) ? " " : String($0) }.joined()
        let code = record.record.serial.map { "(\($0)) " } ?? ""
        return ["\(date) \(code)\(title)", "    ; kazasu-id: \(record.uid)"]
    }

    // MARK: beancount

    /// A `balance` holds at the start of its day, so the last balance is stated for the day after.
    static func beancount(_ chains: [ExportChain], _ options: LedgerExportOptions) -> [UInt8] {
        var (lines, opened): ([String], [String: CalendarDate]) = ([], [:])
        let currencies = Set(chains.map(\.purse.currency.rawValue)).sorted()
        let isContinued = chains.contains(where: \.isContinued)
        if !isContinued { lines += currencies.map { "option \"operating_currency\" \"\($0)\"" } }
        var entries: [String] = []
        for (chain, account) in zip(chains, accounts(chains, options)) {
            let unit = chain.purse.currency.rawValue
            func money(_ amount: Int) -> String { "\(chain.purse.currency.text(amount)) \(unit)" }
            func open(_ account: String, _ date: CalendarDate) { opened[account] = min(opened[account] ?? date, date) }
            func entry(
                _ date: CalendarDate, _ title: String, _ id: String?, _ from: String, _ amount: Int, _ to: String
            ) {
                if !chain.isContinued { open(account, date) }
                open(to, date)
                if from != account { open(from, date) }
                entries.append("\(date) * \"\(escaped(title))\"" + (id.map { " ^\($0)" } ?? ""))
                if let id { entries.append("  kazasu-id: \"\(id)\"") }
                entries += ["  \(from)  \(money(amount))", "  \(to)", ""]
            }
            for item in chain.items {
                switch item {
                case .opening(let amount, let date): entry(date, "Opening balance", nil, account, amount, opening)
                case .gap(let gap, let record, let date):
                    let title = ExportText.title(gap, options.language)
                    entry(date, title, ExportText.id(of: record), account, gap.amount ?? 0, unknown)
                case .record(let record, let amount, let date):
                    let title = ExportText.title(record, options.language)
                    entry(date, title, record.uid, account, amount, counterpart(record.record.kind))
                case .late(let record, let amount, let date, let wasInGap):
                    let title = ExportText.title(record, options.language)
                    entry(
                        date, title, record.uid, wasInGap ? unknown : opening, amount, counterpart(record.record.kind))
                }
            }
            let last = (chain.items.map(\.date) + [chain.closing?.date].compactMap(\.self)).max()
            if chain.isChecked, !chain.items.isEmpty, let closing = chain.closing, let last, let day = dayAfter(last) {
                entries += ["\(day) balance \(account)  \(money(closing.balance))", ""]
            }
        }
        // Accounts that every export uses are opened by the first one; a later one cannot know which were.
        if !isContinued {
            lines +=
                [""] + opened.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { "\($0.value) open \($0.key)" }
                + [""]
        }
        return Array((lines + entries).map { $0 + "\n" }.joined().utf8)
    }

    private static func escaped(_ text: String) -> String {
        text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : $0.isNewline ? " " : String($0) }.joined()
    }

    private static func dayAfter(_ date: CalendarDate) -> CalendarDate? {
        CalendarDate(year: date.year, month: date.month, day: date.day + 1)
            ?? CalendarDate(year: date.year, month: date.month + 1, day: 1)
            ?? CalendarDate(year: date.year + 1, month: 1, day: 1)
    }

    // MARK: Accounts

    private static let opening = "Equity:Opening-Balances"
    private static let unknown = "Expenses:Unknown"

    private static func counterpart(_ kind: RecordKind) -> String {
        switch kind {
        case .rail: "Expenses:Transport:Rail"
        case .bus: "Expenses:Transport:Bus"
        case .ticket: "Expenses:Transport:Tickets"
        case .adjustment: "Expenses:Transport:Adjustments"
        case .purchase: "Expenses:Shopping"
        case .charge, .issue: "Equity:Transfers:Charges"
        case .point: "Income:Points"
        case .other: "Expenses:Other"
        }
    }

    /// An account for each purse; two purses never share one.
    private static func accounts(_ chains: [ExportChain], _ options: LedgerExportOptions) -> [String] {
        let names = chains.map { component($0.purse.cardName ?? "Card-\($0.purse.card.suffix(4))") }
        return zip(chains, names).map { chain, name in
            let base = options.account ?? "Assets:Transit:\(name)"
            let isAlone = options.account == nil ? names.count { $0 == name } == 1 : chains.count == 1
            if isAlone { return base }
            let hasTwin = chains.count { $0.purse.kind == chain.purse.kind } > 1
            return base + ":" + component(chain.purse.kind) + (hasTwin ? "-\(chain.purse.card.suffix(4))" : "")
        }
    }

    /// A part of an account's name: a capital letter or digit first, then letters, digits and hyphens.
    private static func component(_ name: String) -> String {
        let text = name.map { $0.isLetter || $0.isNumber ? String($0) : "-" }.joined()
        let start = text.drop { $0 == "-" }
        return start.isEmpty ? "Card" : start.prefix(1).uppercased() + start.dropFirst()
    }
}
