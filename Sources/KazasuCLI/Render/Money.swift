// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// Money for people. Documents count in the smallest unit, as a number without its currency must.
extension BalanceEntry {
    /// The amount with its currency, as in `-14.40 HKD`; `-` when it is not known.
    var text: String { amount.map(text) ?? "-" }

    /// The amounts that are possible, each with its condition, where the card does not say enough.
    var candidateTexts: [String] {
        candidates.map { candidate in
            let condition = candidate.condition[Language.current]
            return text(candidate.amount) + tr(" (\(condition))", "（\(condition)）")
        }
    }

    /// All that is known of the money, in one line.
    var line: String {
        candidates.isEmpty ? text : candidateTexts.joined(separator: tr(" or ", "または"))
    }

    private func text(_ amount: Int) -> String { "\(currency.text(amount)) \(currency.rawValue)" }
}
