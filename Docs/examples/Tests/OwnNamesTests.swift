// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuTesting
import Testing

/// A type of the app's own, with a name that the library has as well; the library's is `Kazasu.Card`.
private struct Card: Equatable {
    var yen: Int

    init(_ card: Kazasu.Card) throws(KazasuError) {
        yen = try card.balance().balances.first?.amount ?? 0
    }
}

struct OwnNamesTests {
    @Test func bothNamesAreUsable() throws {
        let file = """
            { "schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "0120220427674eff",
              "systems": [{ "code": "0003",
                "blocks": { "008B": ["000000000000000020000010270001e3"], "090F": 2, "108F": 1 } }] }
            """
        let card: Kazasu.Card = try virtualReader(cards: Array(file.utf8)).waitForCard(.purse)
        #expect(try Card(card).yen == 10_000)
    }
}
