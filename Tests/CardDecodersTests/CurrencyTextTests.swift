// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import Testing

@Suite("Money for people")
struct CurrencyTextTests {
    @Test(
        "Amounts have the decimal places of their currency",
        arguments: [
            (Currency.yen, 1440, "1440"), (.yen, -160, "-160"), (.rupiah, 0, "0"), (.dong, 33_000, "33000"),
            (.hongKongDollar, -1440, "-14.40"), (.hongKongDollar, 60, "0.60"), (.hongKongDollar, -5, "-0.05"),
            (.yuan, 12_340, "123.40"), (.taka, 0, "0.00"), (.taka, .max, "92233720368547758.07"),
            (.taka, .min, "-92233720368547758.08"),
        ])
    func text(_ currency: Currency, _ amount: Int, _ expected: String) {
        #expect(currency.text(amount) == expected)
    }
}
