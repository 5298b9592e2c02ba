// SPDX-License-Identifier: Apache-2.0

// The money on the card that is put on the first reader that is ready.
import Kazasu

let reader = try openReader()
let card = try reader.waitForCard(.purse)
for purse in try card.balance().balances {
    print(purse.name[.english], purse.amount.map(String.init) ?? "unknown", purse.currency)
}
