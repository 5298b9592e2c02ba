// SPDX-License-Identifier: Apache-2.0

public import CardModel

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
