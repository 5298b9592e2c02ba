// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension BalanceReport {
    /// The document `kazasu.balance/1`.
    ///
    /// - Parameter language: the language of the names; keys and ids never change.
    public func json(_ language: Language) -> JSONValue {
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
    public func json(_ language: Language) -> JSONValue {
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
