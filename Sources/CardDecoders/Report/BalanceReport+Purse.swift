// SPDX-License-Identifier: Apache-2.0

internal import CardModel

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
