// SPDX-License-Identifier: Apache-2.0

import KazasuCards
import TestSupport
import Testing

/// The product without C libraries, by one import.
struct KazasuCardsTests {
    @Test func aDumpIsDecoded() throws {
        let dumps = try readDumps(TestFiles.read("Fixtures/cards/suica-p1/card.json"))
        let report = try #require(dumps.first?.reports().first)
        #expect(report.card == "transit")
        #expect(report.balances.map(\.amount) == [10])
        #expect(report.history?.count == 20)
    }

    @Test(arguments: ["", "{", "card", "{\"schema\":\"kazasu.dump/1\"}"]) func somethingElseIsAnError(_ text: String) {
        #expect(throws: DocumentError.self) { try readDumps(Array(text.utf8)) }
    }
}
