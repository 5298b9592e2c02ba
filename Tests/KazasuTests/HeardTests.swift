// SPDX-License-Identifier: Apache-2.0

import KazasuTesting
import TestSupport
import Testing

@testable import Kazasu
@testable import KazasuReading

/// "No card came in time" is said only when nothing at all was heard, by readers that hear failures and by those that must
/// look more closely.
struct HeardTests {
    private static func reader(_ card: String, hears: Bool, faults: InjectedFaults = []) throws -> CardReader {
        let field = try VirtualField(cardFile: Array(card.utf8))
        field.plan(faults)
        var information = ReaderInformation(
            id: "test", name: "test", feliCaBitRates: [.kbps212], technologies: [.felica, .typeA, .typeB])
        information.hearsFailures = hears
        return CardReader(InProcessReader(field, information: information), cancellation: CancellationToken())
    }

    private static func file(_ name: String, _ virtual: String) throws -> String {
        let text = String(decoding: try TestFiles.read(name), as: UTF8.self)
        let end = try #require(text.lastIndex(of: "}"))
        return text[..<end] + ",\"virtual\":\(virtual)}"
    }

    private static func wallet() throws -> String {
        try file("Fixtures/cards/suica-p1/card.json", #"{"quirks":["two-cards"]}"#)
    }

    private static let withoutATS = ["dep-rats-nak", "dep-rats-mute"].map {
        #"{"schema":"kazasu.card/1","typeA":{"uid":"01020304","sak":"28"},"virtual":{"quirks":["\#($0)"]}}"#
    }
    private static let withoutISODEP =
        #"{"schema":"kazasu.card/1","typeB":{"pupi":"e8253eec"},"virtual":{"quirks":["b-not-iso"]}}"#

    private static let queries: [CardQuery] = [
        .any, .first(), .feliCa, .purse, .isoDEP, .license, .myNumber, .tag, .classic, .phones(wildcard: false),
    ]

    @Test(arguments: [false, true]) func listsTwoCardsInOneWallet(hears: Bool) throws {
        let reader = try Self.reader(Self.wallet(), hears: hears)
        let cards = try reader.waitForCards(.any, CardWait(.zero))
        #expect(Set(cards.compactMap { $0.feliCa?.idm }).count == 2)
        #expect(cards.areSeveral)
    }

    @Test(arguments: queries, [false, true]) func saysThatThereAreTwoCards(_ query: CardQuery, hears: Bool) throws {
        let reader = try Self.reader(Self.wallet(), hears: hears)
        let error = #expect(throws: KazasuError.self) { try reader.waitForCard(query, timeout: .zero) }
        guard case .severalCards(let names)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // A tag is looked for by systems that name no brand.
        #expect(names.map { $0?.english } == (query == .tag ? [nil, nil] : ["Suica", "Suica"]))
        #expect(error?.foundNoCard == true)
    }

    /// One card alone, at every moment of its arrival, is never two.
    @Test(arguments: 0..<40, [false, true]) func oneCardIsNeverTwo(_ exchange: Int, hears: Bool) throws {
        let card = String(decoding: try TestFiles.read("Fixtures/cards/suica-p1/card.json"), as: UTF8.self)
        let reader = try Self.reader(
            card, hears: hears, faults: [InjectedFaultRule(.absent, .during(1...max(1, exchange)))])
        do {
            let found = try reader.waitForCard(.any, timeout: .zero)
            #expect(found.feliCa?.idm == IDm(rawValue: 0x0101_0312_3456_7890))
        } catch {
            #expect(error == .noCard)
        }
    }

    @Test(arguments: withoutATS, [false, true]) func findsACardThatDoesNotStartISODEP(_ card: String, hears: Bool)
        throws
    {
        for query in [CardQuery.any, .first(), .classic] {
            let found = try Self.reader(card, hears: hears).waitForCard(query, timeout: .zero)
            guard case .typeA(let target) = found.picc else {
                Issue.record("\(found.picc)")
                continue
            }
            #expect(target.uid == [1, 2, 3, 4] && target.sak == 0x28 && !target.isISODEP)
        }
        for query in [CardQuery.license, .isoDEP, .purse] {
            let error = #expect(throws: KazasuError.self) {
                try Self.reader(card, hears: hears).waitForCard(query, timeout: .zero)
            }
            guard case .wrongCard(let wrong)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(wrong.card.technology == .typeA)
        }
    }

    @Test(arguments: [false, true]) func aCardOfTypeBWithoutISODEPIsAnotherKind(hears: Bool) throws {
        let found = try Self.reader(Self.withoutISODEP, hears: hears).waitForCard(.any, timeout: .zero)
        #expect(found.technology == .typeB && !found.picc.isISODEP)
        for query in [CardQuery.license, .myNumber, .purse] {
            let error = #expect(throws: KazasuError.self) {
                try Self.reader(Self.withoutISODEP, hears: hears).waitForCard(query, timeout: .zero)
            }
            guard case .wrongCard? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test(arguments: queries) func saysWhatWasHeard(_ query: CardQuery) throws {
        let card = String(decoding: try TestFiles.read("Fixtures/cards/suica-p1/card.json"), as: UTF8.self)
        let damaged = InjectedFaults([InjectedFaultRule(.damaged(status: 0x02), .during(1...Int.max))])
        let reader = try Self.reader(card, hears: true, faults: damaged)
        #expect(throws: KazasuError.heard(.damaged(.felica))) { try reader.waitForCard(query, timeout: .zero) }
    }

    /// The answer of generation 0 is malformed: nothing is invented.
    @Test(arguments: queries, [false, true]) func findsNoCardOfGeneration0(_ query: CardQuery, hears: Bool) throws {
        let card = try Self.file("Fixtures/cards/suica-p1/card.json", #"{"quirks":["fel-seac"]}"#)
        #expect(throws: hears ? KazasuError.heard(.unstarted(.felica)) : .noCard) {
            try Self.reader(card, hears: hears).waitForCard(query, timeout: .zero)
        }
    }

    /// ATQB of Calypso in type B.
    @Test(arguments: [false, true]) func findsCalypso(hears: Bool) throws {
        let card =
            #"{"schema":"kazasu.card/1","typeB":{"pupi":"e8253eec","applicationData":"00b37171"}}"#
        let found = try Self.reader(card, hears: hears).waitForCard(.any, timeout: .zero)
        guard case .typeB(let target) = found.picc else {
            Issue.record("\(found.picc)")
            return
        }
        #expect(target.isISODEP && target.applicationData == [0x00, 0xB3, 0x71, 0x71])
    }

    @Test(arguments: queries, [false, true]) func saysNothingOfAnEmptyField(_ query: CardQuery, hears: Bool) throws {
        let card = String(decoding: try TestFiles.read("Fixtures/cards/suica-p1/card.json"), as: UTF8.self)
        let reader = try Self.reader(card, hears: hears, faults: .cardAway(from: 1))
        #expect(throws: KazasuError.noCard) { try reader.waitForCard(query, timeout: .zero) }
    }
}
