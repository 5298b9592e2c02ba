// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension BalanceReport {
    /// The document `kazasu.balance/1`.
    ///
    /// - Parameter language: the language of the names; keys and ids never change.
    public func json(_ language: Language) -> JSONValue {
        [
            "schema": .string(BalanceReport.schema),
            "balances": .array(balances.map { $0.json(language) }),
        ]
    }
}

extension BalanceEntry {
    /// An element of `balances` in `kazasu.balance/1`; `candidates` stands there only when there are some.
    public func json(_ language: Language) -> JSONValue {
        var object = JSONObject([
            ("card", .string(card)),
            ("name", .string(name[language])),
            ("amount", .optional(amount)),
            ("currency", .string(currency.rawValue)),
        ])
        if !candidates.isEmpty {
            object["candidates"] = .array(
                candidates.map { ["amount": .int($0.amount), "condition": .string($0.condition[language])] })
        }
        return .object(object)
    }
}
