// SPDX-License-Identifier: Apache-2.0

public import CardModel

// Reports as the commands print them with `--json`, and as any encoder writes them. The documents are described by
// Docs/schemas; encoded reports have their members without `schema` and `card`.

extension BalanceReport: Encodable {
    /// The document `kazasu.balance/1`, as `kazasu balance --json` prints it, with a final newline.
    ///
    /// - Parameters:
    ///   - card: the card with the money.
    ///   - brand: its brand, if it is known.
    ///   - language: the language of names; keys and ids never change.
    public func document(
        of card: CardIdentity, brand: CardBrand? = nil, in language: Language = .english
    ) -> String {
        let card = DecodedCard(identity: card, kind: balances.first?.kind, brand: brand)
        return json(language, card: card).prettyText + "\n"
    }

    /// Encodes `balances` of the document `kazasu.balance/1`.
    public func encode(to encoder: any Encoder) throws {
        let language = Language(of: encoder)
        try JSONValue.object(JSONObject([("balances", .array(balances.map { $0.json(language) }))])).encode(to: encoder)
    }
}

extension BalanceEntry: Encodable {
    /// Encodes an element of `balances` in the document `kazasu.balance/1`.
    public func encode(to encoder: any Encoder) throws { try json(Language(of: encoder)).encode(to: encoder) }
}

extension CardReport: Encodable {
    /// The document `kazasu.history/1`, as `kazasu history --json` prints it, with a final newline; `nil` if the history
    /// was not read.
    ///
    /// - Parameters:
    ///   - card: the card with these records.
    ///   - brand: its brand, if it is known.
    ///   - language: the language of names; keys and ids never change.
    public func document(
        of card: CardIdentity, brand: CardBrand? = nil, in language: Language = .english
    ) -> String? {
        let card = DecodedCard(identity: card, kind: kind, brand: brand)
        return historyReport.map { $0.json(language, card: card).prettyText + "\n" }
    }

    /// Encodes an element of `reports` in the document `kazasu.decode/1`: everything that the report has.
    public func encode(to encoder: any Encoder) throws { try json(Language(of: encoder)).encode(to: encoder) }
}

extension HistoryRecord: Encodable {
    /// The document `kazasu.record/1` on one line, as `kazasu history --format ndjson` prints it, without the line's end.
    ///
    /// - Parameters:
    ///   - card: the card with this record.
    ///   - kind: its kind.
    ///   - brand: its brand, if it is known.
    ///   - currency: the currency of the amounts.
    ///   - language: the language of names; keys and ids never change.
    public func line(
        of card: CardIdentity, kind: CardKind, brand: CardBrand? = nil, currency: Currency = .yen,
        in language: Language = .english
    ) -> String {
        jsonLine(language, currency, card: DecodedCard(identity: card, kind: kind, brand: brand))
    }

    /// Encodes an element of `records` in the document `kazasu.history/1`.
    public func encode(to encoder: any Encoder) throws { try json(Language(of: encoder)).encode(to: encoder) }
}
