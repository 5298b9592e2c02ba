// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The money on a card: the document `kazasu.balance/1`.
public struct BalanceReport: Hashable, Sendable {
    /// The value of the document's `schema` member.
    package static let schema = "kazasu.balance/1"

    /// The purses, in decoder order.
    public var balances: [BalanceEntry]
    /// The inconsistencies found; not part of the document.
    public var warnings: [DecodingWarning]

    /// Creates a report of these purses.
    public init(balances: [BalanceEntry], warnings: [DecodingWarning] = []) {
        self.balances = balances
        self.warnings = warnings
    }
}

extension BalanceReport {
    /// The document `kazasu.balance/1`.
    ///
    /// - Parameters:
    ///   - language: the language of the names; keys and ids never change.
    ///   - card: the card that holds the money.
    package func json(_ language: Language, card: DecodedCard) -> JSONValue {
        JSONValue { sink in
            sink.object {
                $0.member("schema", BalanceReport.schema)
                $0.member("card") { card.write(to: &$0) }
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

    /// Writes an element of `balances`; `candidates` and `basis` are included only when there are some.
    func write(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        sink.object { entry in
            entry.member("kind", kind.rawValue)
            entry.member("name", name[language])
            entry.member("amount", amount)
            currency.write(to: &entry)
            if let basis {
                entry.member("basis") {
                    $0.object {
                        $0.member("code", basis.rawValue)
                        $0.member("text", basis.text[language])
                    }
                }
            }
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
    /// Creates a report of a card with a single purse.
    ///
    /// - Parameters:
    ///   - newest: the balance in the newest history record, `nil` when it was not read or has none; a difference is a
    ///     warning.
    ///   - warnings: further warnings.
    init(
        kind: CardKind, name: LocalizedText, amount: Int, newest: Int? = nil, currency: Currency = .yen,
        warnings: [DecodingWarning] = []
    ) {
        let differs = newest.map { $0 != amount } ?? false
        self.init(
            balances: [BalanceEntry(kind: kind, name: name, amount: amount, currency: currency)],
            warnings: differs ? warnings + [.balanceDiffersFromHistory] : warnings)
    }
}

/// One purse of a card and the money in it.
public struct BalanceEntry: Hashable, Sendable {
    /// The kind of card.
    public let kind: CardKind
    /// The purse's name.
    public let name: LocalizedText
    /// The money in the currency's smallest unit, or `nil` when the card does not determine it.
    public let amount: Int?
    /// The currency of the money.
    public let currency: Currency
    /// The possible amounts when the card does not determine one; otherwise empty.
    public let candidates: [BalanceCandidate]
    /// Why the amount is this one where the purse alone does not say it; otherwise `nil`.
    public let basis: BalanceBasis?

    /// Creates a purse.
    public init(
        kind: CardKind, name: LocalizedText, amount: Int?, currency: Currency = .yen,
        candidates: [BalanceCandidate] = [],
        basis: BalanceBasis? = nil
    ) {
        self.kind = kind
        self.name = name
        self.amount = amount
        self.currency = currency
        self.candidates = candidates
        self.basis = basis
    }
}

/// Why an amount is known that the purse alone does not say; the raw values are those of `basis` in documents.
@nonexhaustive
public enum BalanceBasis: String, Hashable, Sendable, CaseIterable {
    /// The purse was not read; the amount is that of the newest history record.
    case newestRecord
    /// The IC code of the PMm occurs only on cards of one kind.
    case icCode
    /// Another system on the card occurs only on cards of one kind.
    case secondSystem
    /// The IDm dates the chip to a time when there was only one kind of card.
    case manufactured

    /// The reason in both languages.
    public var text: LocalizedText {
        switch self {
        case .newestRecord: LocalizedText("from the newest history record", "最新の履歴による残高")
        case .icCode:
            LocalizedText("all known cards with this IC code store it this way", "このICコードのカードはすべてこの形式")
        case .secondSystem:
            LocalizedText("cards for Hong Kong and Shenzhen store it this way", "香港・深圳共用のカードはこの形式")
        case .manufactured:
            LocalizedText("the chip was made before the other form was introduced", "もう一方の形式が始まる前に製造されたチップ")
        }
    }
}

/// One of several possible amounts.
public struct BalanceCandidate: Hashable, Sendable {
    /// The money in the currency's smallest unit.
    public let amount: Int
    /// The condition under which this amount applies.
    public let condition: LocalizedText

    /// Creates a possible amount.
    public init(amount: Int, condition: LocalizedText) {
        self.amount = amount
        self.condition = condition
    }
}

/// The currency of an amount; the raw values are ISO 4217 codes.
///
/// Amounts are whole numbers of the smallest unit in use; ``minorDigits`` is its number of decimal places.
@nonexhaustive
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
    /// Returns an amount in its usual notation: `-14.40` for -1440 cents and `1440` for 1440 yen.
    ///
    /// - Parameter amount: in the smallest unit in use.
    public func text(_ amount: Int) -> String {
        guard minorDigits > 0 else { return String(amount) }
        let digits = String(amount.magnitude)
        let padded = String(repeating: "0", count: max(0, minorDigits + 1 - digits.count)) + digits
        return (amount < 0 ? "-" : "") + padded.dropLast(minorDigits) + "." + padded.suffix(minorDigits)
    }

    /// An amount with its currency for people, as in `-HK$14.40` or `1,230円`; the sign is first.
    package func localizedText(_ amount: Int) -> LocalizedText {
        let text = text(amount)
        let sign = text.hasPrefix("-") ? "-" : ""
        let number = Self.grouped(text.dropFirst(sign.count))
        return switch self {
        case .yen: LocalizedText("\(sign)¥\(number)", "\(sign)\(number)円")
        case .hongKongDollar: LocalizedText("\(sign)HK$\(number)", "\(sign)\(number)香港ドル")
        case .yuan: LocalizedText("\(sign)CN¥\(number)", "\(sign)\(number)元")
        case .rupiah: LocalizedText("\(sign)Rp \(number)", "\(sign)\(number)ルピア")
        case .taka: LocalizedText("\(sign)Tk \(number)", "\(sign)\(number)タカ")
        case .dong: LocalizedText("\(sign)\(number) ₫", "\(sign)\(number)ドン")
        }
    }

    /// Digits with a comma between thousands; what follows a point stays.
    private static func grouped(_ number: Substring) -> String {
        let digits = number.prefix { $0 != "." }
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text + number[digits.endIndex...]
    }
}

extension CardDecoder {
    /// Returns the money in a dump: that of its purse or, if only a history was read, that of the newest record.
    ///
    /// - Throws: the error of ``balance(_:)`` when the dump has neither.
    package func balanceOrNewest(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        do throws(CardDecodingError) {
            return try balance(dump)
        } catch {
            let balances = (try? decode(dump))?.balances ?? []
            guard balances.contains(where: { $0.basis == .newestRecord }) else { throw error }
            return BalanceReport(balances: balances, warnings: [.balanceFromHistory])
        }
    }
}

extension CardReport {
    /// Adopts the balance returned by `read`, or that of the newest history record if its block was not read.
    ///
    /// The second case adds a warning.
    ///
    /// - Parameter newest: the balance in block 0 of the history, or `nil` when that block was not read or is unused.
    /// - Throws: any error of `read`, when there is no history either.
    mutating func takeBalance(
        orFrom newest: Int?, _ read: () throws(CardDecodingError) -> BalanceReport
    ) throws(CardDecodingError) {
        try takeBalance(orElse: history != nil, read)
        guard balances.isEmpty, let newest else { return }
        balances = [BalanceEntry(kind: kind, name: name, amount: newest, basis: .newestRecord)]
        warnings.append(.balanceFromHistory)
    }

    /// Adopts the balance returned by `read`.
    ///
    /// - Parameter hasMore: whether the report has other contents.
    /// - Throws: any error of `read`, unless the report has other contents.
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
