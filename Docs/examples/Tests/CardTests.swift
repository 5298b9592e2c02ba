// SPDX-License-Identifier: Apache-2.0

import KazasuTesting
import Testing

/// Tests of a program that uses Kazasu: cards without a reader, cards that leave too early, and a reader of one's own.
struct CardTests {
    /// The card file of a transit card with 10,000 or 10 yen: the amount is bytes 11 and 12 of the attributes.
    private static func card(_ amount: String) -> [UInt8] {
        Array(
            """
            { "schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "0120220427674eff",
              "systems": [{ "code": "0003",
                "blocks": { "008B": ["0000000000000000200000\(amount)0001e3"], "090F": 2, "108F": 1 } }] }
            """.utf8)
    }

    /// What the program under test says of a card.
    private func verdict(_ card: Card) throws -> String {
        let amount = try card.balance().balances.first?.amount ?? 0
        return amount < 1000 ? "top it up" : "\(amount) yen"
    }

    @Test(arguments: [("1027", "10000 yen"), ("0a00", "top it up")])
    func richAndPoor(_ amount: String, _ expected: String) throws {
        let reader = try virtualReader(cards: Self.card(amount))
        #expect(try verdict(reader.waitForCard(.purse)) == expected)
    }

    @Test func nobody() throws {
        let reader = CardReader(InProcessReader(VirtualField()), cancellation: CancellationToken())
        #expect(throws: KazasuError.noCard) { try reader.waitForCard(.purse, timeout: .zero) }
    }

    @Test("However early a card leaves, the program gets an error or the amount, never another one", arguments: 1...12)
    func leaves(at exchange: Int) throws {
        let field = try VirtualField(cardFile: Self.card("1027"))
        field.plan(.cardAway(from: exchange))
        let reader = CardReader(InProcessReader(field), cancellation: CancellationToken())
        do {
            #expect(try verdict(reader.waitForCard(.purse, timeout: .zero)) == "10000 yen")
        } catch let error as KazasuError {
            #expect(error == .noCard || error == .reading(.cardLost))
        }
    }

    @Test func incompleteDump() throws {
        let field = try VirtualField(cardFile: Self.card("1027"))
        let reader = CardReader(InProcessReader(field), cancellation: CancellationToken())
        let card = try reader.waitForCard(.feliCa)
        field.plan(.cardAway(from: field.statistics.exchanges + 3))
        #expect(throws: KazasuError.reading(.cardLost)) {
            let result = try card.dump()
            if let error = result.error { print("incomplete:", error) }
            let dump = try card.dump().get()
            print(dump.isComplete)
        }
    }

    @Test func closedReader() throws {
        let reader = try virtualReader(cards: Self.card("1027"))
        let card = try reader.waitForCard(.purse)
        reader.close()
        #expect(throws: KazasuError.self) { try verdict(card) }
    }

    @Test func ownReaderConforms() throws {
        let report = try ReaderConformance.check { field, cancellation in
            BridgeReader(cancellation: cancellation) { packet, time in
                try? field.transceive(packet, at: .kbps212, timeout: time)
            }
        }
        #expect(report.breaches == [])
    }
}
