// SPDX-License-Identifier: Apache-2.0

extension CardReport {
    /// Takes the balance that `read` gives; when its block was not read, that of the newest history record, with a
    /// warning.
    ///
    /// - Parameter newest: the balance in block 0 of the history, or `nil` when that block was not read or is unused.
    /// - Throws: what `read` throws, when there is no history either.
    mutating func takeBalance(
        orFrom newest: Int?, _ read: () throws(DecodingFailure) -> BalanceReport
    ) throws(DecodingFailure) {
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
        orElse hasMore: Bool, _ read: () throws(DecodingFailure) -> BalanceReport
    ) throws(DecodingFailure) {
        do {
            let money = try read()
            balances = money.balances
            warnings += money.warnings
        } catch {
            guard hasMore else { throw error }
        }
    }
}
