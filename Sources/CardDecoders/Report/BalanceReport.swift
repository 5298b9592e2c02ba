// SPDX-License-Identifier: Apache-2.0

/// The money on a card: the document `kazasu.balance/1`.
public struct BalanceReport: Hashable, Sendable {
    /// The value of the document's `schema` member.
    public static let schema = "kazasu.balance/1"

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
