// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
internal import CardModel

extension LedgerFormat {
    /// A journal of hledger, with balance assertions.
    public static let hledger = LedgerFormat(
        "hledger", LocalizedText("a journal of hledger", "hledger の仕訳帳"), features: [.account], needsDay: false,
        hasOwnGaps: true, write: JournalExport.hledger)
    /// A file of beancount, with balance assertions.
    public static let beancount = LedgerFormat(
        "beancount", LocalizedText("a file of beancount", "beancount のファイル"), features: [.account], needsDay: false,
        hasOwnGaps: true, write: JournalExport.beancount)
}

/// The journals of plain-text accounting: each balance of the card is stated, so that the program checks it.
enum JournalExport {
    // MARK: hledger

    /// The first file declares every account that later ones may use, so that `hledger check --strict` passes for all of them.
    static func hledger(_ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink) throws {
        let accounts = accounts(chains, options)
        if !chains.contains(where: \.isContinued) {
            for currency in currencies(chains) {
                sink.write(
                    "commodity 1000.\(String(repeating: "0", count: currency.minorDigits)) \(currency.rawValue)\n")
            }
            for account in others { sink.write("account \(account)\n") }
        }
        for (chain, account) in zip(chains, accounts) where !chain.isContinued { sink.write("account \(account)\n") }
        sink.write("\n")
        for (chain, account) in zip(chains, accounts) {
            let unit = chain.purse.currency.rawValue
            func money(_ amount: Int) -> String { "\(chain.purse.currency.text(amount)) \(unit)" }
            func check(_ balance: Int?) -> String {
                chain.isChecked ? balance.map { " = \(money($0))" } ?? "" : ""
            }
            try chain.forEachItem(to: sink) { item in
                switch item {
                case .opening(let amount, let date):
                    sink.write(["\(date) Opening balance", "    \(account)  \(money(amount))\(check(amount))"])
                    sink.write(["    \(opening)", ""])
                case .gap(let gap, let record, let date):
                    let after = gap.coversNext ? record.record.balance : record.balanceBefore
                    sink.write([
                        "\(date) \(ExportText.title(gap, options.language))",
                        "    ; kazasu-id: \(ExportText.id(of: record))",
                        "    \(account)  \(money(gap.amount ?? 0))\(check(after))", "    \(unknown)", "",
                    ])
                case .record(let record, let amount, let date):
                    sink.write(head(record, date, options))
                    sink.write(["    \(account)  \(money(amount))\(check(record.record.balance))"])
                    sink.write(["    \(counterpart(record.record.kind))", ""])
                case .late(let record, let amount, let date, let wasInGap):
                    sink.write(head(record, date, options))
                    sink.write([
                        "    \(wasInGap ? unknown : opening)  \(money(amount))",
                        "    \(counterpart(record.record.kind))", "",
                    ])
                }
            }
        }
    }

    private static func head(_ record: LedgerRecord, _ date: CalendarDate, _ options: LedgerExportOptions) -> [String] {
        // A semicolon begins a comment, a bar divides payee and note.
        let title = ExportText.line(ExportText.title(record, options.language), blanking: [";", "|"])
        let code = record.record.serial.map { "(\($0)) " } ?? ""
        return ["\(date) \(code)\(title)", "    ; kazasu-id: \(record.uid)"]
    }

    // MARK: beancount

    /// A `balance` holds at the start of its day, so the last balance is stated for the day after. The first file opens every account that
    /// later ones may use.
    static func beancount(_ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink) throws {
        let accounts = accounts(chains, options)
        let first = chains.compactMap(\.days?.lowerBound).min()
        if let first, !chains.contains(where: \.isContinued) {
            sink.write(currencies(chains).map { "option \"operating_currency\" \"\($0.rawValue)\"" } + [""])
            let cards = zip(chains, accounts).compactMap { chain, account in
                chain.days.map { (day: $0.lowerBound, account: account) }
            }
            let opened = cards + others.map { (day: first, account: $0) }
            sink.write(
                opened.sorted { ($0.day, $0.account) < ($1.day, $1.account) }.map { "\($0.day) open \($0.account)" })
        } else {
            for (chain, account) in zip(chains, accounts) where !chain.isContinued {
                if let days = chain.days { sink.write("\(days.lowerBound) open \(account)\n") }
            }
        }
        sink.write("\n")
        for (chain, account) in zip(chains, accounts) {
            let unit = chain.purse.currency.rawValue
            func money(_ amount: Int) -> String { "\(chain.purse.currency.text(amount)) \(unit)" }
            func write(
                _ date: CalendarDate, _ title: String, _ id: String?, _ from: String, _ amount: Int, _ to: String
            ) {
                sink.write(["\(date) * \"\(escaped(title))\"" + (id.map { " ^\($0)" } ?? "")])
                if let id { sink.write(["  kazasu-id: \"\(id)\""]) }
                sink.write(["  \(from)  \(money(amount))", "  \(to)", ""])
            }
            try chain.forEachItem(to: sink) { item in
                switch item {
                case .opening(let amount, let date): write(date, "Opening balance", nil, account, amount, opening)
                case .gap(let gap, let record, let date):
                    let title = ExportText.title(gap, options.language)
                    write(date, title, ExportText.id(of: record), account, gap.amount ?? 0, unknown)
                case .record(let record, let amount, let date):
                    let title = ExportText.title(record, options.language)
                    write(date, title, record.uid, account, amount, counterpart(record.record.kind))
                case .late(let record, let amount, let date, let wasInGap):
                    let title = ExportText.title(record, options.language)
                    write(
                        date, title, record.uid, wasInGap ? unknown : opening, amount, counterpart(record.record.kind))
                }
            }
            if chain.isChecked, let days = chain.days, let closing = chain.closing,
                let day = max(days.upperBound, closing.date).next
            {
                sink.write(["\(day) balance \(account)  \(money(closing.balance))", ""])
            }
        }
    }

    private static func escaped(_ text: String) -> String {
        ExportText.line(text).unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }

    private static func currencies(_ chains: [ExportChain]) -> [Currency] {
        Set(chains.map(\.purse.currency)).sorted { $0.rawValue < $1.rawValue }
    }

    // MARK: Accounts

    private static let opening = "Equity:Opening-Balances"
    private static let unknown = "Expenses:Unknown"
    /// Every account but those of the cards.
    private static let others = (Set(RecordKind.allCases.map(counterpart)).union([opening, unknown])).sorted()

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
            let base = options.account.map { ExportText.line($0) } ?? "Assets:Transit:\(name)"
            let isAlone = options.account == nil ? names.count { $0 == name } == 1 : chains.count == 1
            if isAlone { return base }
            let hasTwin = chains.count { $0.purse.kind == chain.purse.kind } > 1
            return base + ":" + component(chain.purse.kind) + (hasTwin ? "-\(chain.purse.card.suffix(4))" : "")
        }
    }

    /// A part of an account's name: a capital letter or digit first, then letters, digits and hyphens. Marks belong to the letter before
    /// them.
    private static func component(_ name: String) -> String {
        let scalars = name.unicodeScalars.map { scalar -> Unicode.Scalar in
            let properties = scalar.properties
            let isMark = properties.generalCategory == .nonspacingMark || properties.generalCategory == .spacingMark
            return properties.isAlphabetic || properties.numericType != nil || isMark ? scalar : "-"
        }
        let text = String(String.UnicodeScalarView(scalars))
        let start = text.drop { $0.unicodeScalars.first == "-" }
        return start.isEmpty ? "Card" : start.prefix(1).uppercased() + start.dropFirst()
    }
}
