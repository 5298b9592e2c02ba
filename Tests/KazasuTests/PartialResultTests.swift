// SPDX-License-Identifier: Apache-2.0

import KazasuTesting
import TestSupport
import Testing

@testable import Kazasu
@testable import KazasuReading

/// Calls that read many things fail in one way: what was read comes with the error that ended it, and where nothing was read, the
/// error is thrown.
struct PartialResultTests {
    enum Call: CaseIterable, Sendable {
        case dump, scan, probe, read, pages, tagDump, license, myNumber, residence

        var file: String {
            switch self {
            case .dump, .scan, .probe, .read: "Fixtures/cards/suica-p1/card.json"
            case .pages, .tagDump: "Fixtures/virtual/ntag213.json"
            case .license: "Fixtures/iso7816/license/plain.json"
            case .myNumber: "Fixtures/iso7816/mynumber/card.json"
            case .residence: "Fixtures/iso7816/residence/second.json"
            }
        }

        var query: CardQuery {
            switch self {
            case .dump, .scan, .probe, .read: .feliCa(systems: [.transit])
            case .pages, .tagDump: .tag
            case .license: .license
            case .myNumber: .myNumber
            case .residence: .isoDEP
            }
        }

        /// - Returns: the result's error, and whether it has anything of the card.
        func run(_ card: Card) throws(KazasuError) -> (error: KazasuError?, isEmpty: Bool) {
            func outcome(_ result: some PartialResult) -> (error: KazasuError?, isEmpty: Bool) {
                (result.error, result.isEmpty)
            }
            switch self {
            case .dump, .tagDump: return outcome(try card.dump())
            case .scan: return outcome(try card.scan())
            case .probe: return outcome(try card.probeCommands())
            case .read: return outcome(try card.read([0x008B, 0x090F].map { ServiceCode(rawValue: $0) }))
            case .pages: return outcome(try card.forumTag().readPages([4, 5, 6, 7, 8]))
            case .license: return (try card.license().error, false)
            case .myNumber: return (try card.myNumber().error, false)
            case .residence: return (try card.residence().error, false)
            }
        }
    }

    /// A card that leaves at each exchange, the first after it was found included.
    @Test(arguments: Call.allCases) func emptyPartsAreNil(_ call: Call) throws {
        var outcomes: Set<String> = []
        for exchange in 0..<60 {
            let field = try VirtualField(cardFile: TestFiles.read(call.file))
            let reader = CardReader(InProcessReader(field), cancellation: CancellationToken())
            let card = try reader.waitForCard(call.query, timeout: .zero)
            field.plan(.cardAway(from: field.statistics.exchanges + exchange))
            do {
                let result = try call.run(card)
                #expect(result.error == nil || !result.isEmpty)
                outcomes.insert(result.error == nil ? "whole" : "part")
            } catch {
                outcomes.insert("thrown")
            }
        }
        #expect(outcomes.contains("thrown"))
        #expect(outcomes.contains(call == .probe ? "part" : "whole") || outcomes.contains("part"))
    }

    /// The card is still found, and answers nothing else.
    @Test func aSilentCardIsAnError() throws {
        let field = try VirtualField(cardFile: TestFiles.read(Call.scan.file))
        let reader = CardReader(InProcessReader(field), cancellation: CancellationToken())
        let card = try reader.waitForCard(Call.scan.query, timeout: .zero)
        field.plan([InjectedFaultRule(.silence, .during(1...Int.max))])
        #expect(throws: KazasuError.self) { _ = try card.scan() }
    }
}
