// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The money on a card: the document `kazasu.balance/1`.
public struct BalanceReport: Hashable, Sendable {
    /// The value of the document's `schema` member.
    package static let schema = "kazasu.balance/1"

    /// The purses, in the order of the decoders.
    public var balances: [BalanceEntry]
    /// What does not fit together; not part of the document.
    public var warnings: [DecodingWarning]

    /// A report of these purses.
    public init(balances: [BalanceEntry], warnings: [DecodingWarning] = []) {
        self.balances = balances
        self.warnings = warnings
    }
}

extension BalanceReport {
    /// The document `kazasu.balance/1`.
    ///
    /// - Parameter language: the language of the names; keys and ids never change.
    package func json(_ language: Language) -> JSONValue {
        JSONValue { sink in
            sink.object {
                $0.member("schema", BalanceReport.schema)
                $0.member("balances") { $0.array(of: balances) { $1.write(to: &$0, language) } }
            }
        }
    }
}

extension BalanceEntry {
    /// An element of `balances` in `kazasu.balance/1`.
    package func json(_ language: Language) -> JSONValue {
        JSONValue { write(to: &$0, language) }
    }

    /// Writes an element of `balances`; `candidates` stands there only when there are some.
    func write(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        sink.object { entry in
            entry.member("card", card)
            entry.member("name", name[language])
            entry.member("amount", amount)
            currency.write(to: &entry)
            guard !candidates.isEmpty else { return }
            entry.member("candidates") {
                $0.array(of: candidates) { sink, candidate in
                    sink.object {
                        $0.member("amount", candidate.amount)
                        $0.member("condition", candidate.condition[language])
                    }
                }
            }
        }
    }
}

extension Currency {
    /// Writes `currency` and `exponent`: an amount of 5700 with the exponent 2 is 57.00.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.member("currency", rawValue)
        sink.member("exponent", minorDigits)
    }
}

extension BalanceReport {
    /// The balance of a card's one purse.
    ///
    /// - Parameters:
    ///   - newest: what the newest history record says, `nil` when that was not read or says nothing; a difference is
    ///     a warning.
    ///   - warnings: what is to be said anyway.
    init(
        card: String, name: LocalizedText, amount: Int, newest: Int? = nil, currency: Currency = .yen,
        warnings: [DecodingWarning] = []
    ) {
        let differs = newest.map { $0 != amount } ?? false
        self.init(
            balances: [BalanceEntry(card: card, name: name, amount: amount, currency: currency)],
            warnings: differs ? warnings + [.balanceDiffersFromHistory] : warnings)
    }
}

/// One purse of a card and the money in it.
public struct BalanceEntry: Hashable, Sendable {
    /// The decoder's id, as in `transit`.
    public let card: String
    /// The purse's name.
    public let name: LocalizedText
    /// The money in the currency's smallest unit, or `nil` when the card does not say enough.
    public let amount: Int?
    /// What the money is counted in.
    public let currency: Currency
    /// The amounts that are possible where the card does not say enough; else empty.
    public let candidates: [BalanceCandidate]

    /// What is known of a purse.
    public init(
        card: String, name: LocalizedText, amount: Int?, currency: Currency = .yen, candidates: [BalanceCandidate] = []
    ) {
        self.card = card
        self.name = name
        self.amount = amount
        self.currency = currency
        self.candidates = candidates
    }
}

/// One of several amounts that a card may mean.
public struct BalanceCandidate: Hashable, Sendable {
    /// The money in the currency's smallest unit.
    public let amount: Int
    /// When it is this one.
    public let condition: LocalizedText

    /// A possible amount.
    public init(amount: Int, condition: LocalizedText) {
        self.amount = amount
        self.condition = condition
    }
}

/// The money that an amount is counted in; the raw values are the codes of ISO 4217.
///
/// Amounts are whole numbers of the smallest unit in use, which is ``minorDigits`` decimal places of the currency.
public enum Currency: String, Hashable, Sendable, CaseIterable {
    /// Japanese yen; amounts are yen.
    case yen = "JPY"
    /// Hong Kong dollar; amounts are cents.
    case hongKongDollar = "HKD"
    /// Chinese yuan renminbi; amounts are fen.
    case yuan = "CNY"
    /// Indonesian rupiah; amounts are rupiah, since the sen that ISO 4217 names is no longer in use.
    case rupiah = "IDR"
    /// Bangladeshi taka; amounts are poisha.
    case taka = "BDT"
    /// Vietnamese dong; amounts are dong.
    case dong = "VND"

    /// The number of digits after the decimal point when an amount is displayed: 0 or 2.
    public var minorDigits: Int {
        switch self {
        case .yen, .rupiah, .dong: 0
        case .hongKongDollar, .yuan, .taka: 2
        }
    }
}

extension Currency {
    /// An amount as people write it, as `-14.40` for -1440 cents and `1440` for 1440 yen.
    ///
    /// - Parameter amount: in the smallest unit in use.
    public func text(_ amount: Int) -> String {
        guard minorDigits > 0 else { return String(amount) }
        let digits = String(amount.magnitude)
        let padded = String(repeating: "0", count: max(0, minorDigits + 1 - digits.count)) + digits
        return (amount < 0 ? "-" : "") + padded.dropLast(minorDigits) + "." + padded.suffix(minorDigits)
    }
}

extension CardReport {
    /// Takes the balance that `read` gives; when its block was not read, that of the newest history record, with a
    /// warning.
    ///
    /// - Parameter newest: the balance in block 0 of the history, or `nil` when that block was not read or is unused.
    /// - Throws: what `read` throws, when there is no history either.
    mutating func takeBalance(
        orFrom newest: Int?, _ read: () throws(CardDecodingError) -> BalanceReport
    ) throws(CardDecodingError) {
        try takeBalance(orElse: history != nil, read)
        guard balances.isEmpty, let newest else { return }
        balances = [BalanceEntry(card: card, name: name, amount: newest)]
        warnings.append(.balanceFromHistory)
    }

    /// Takes the balance that `read` gives.
    ///
    /// - Parameter hasMore: whether the report says something without it.
    /// - Throws: what `read` throws, unless there is more.
    mutating func takeBalance(
        orElse hasMore: Bool, _ read: () throws(CardDecodingError) -> BalanceReport
    ) throws(CardDecodingError) {
        do {
            let money = try read()
            balances = money.balances
            warnings += money.warnings
        } catch {
            guard hasMore else { throw error }
        }
    }
}
