// SPDX-License-Identifier: Apache-2.0

public import CardModel

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
