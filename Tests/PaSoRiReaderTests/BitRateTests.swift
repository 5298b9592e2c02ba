// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport
import Testing
import VirtualReader

@testable import PaSoRiReader

/// Which speed FeliCa cards are spoken to at.
struct BitRateTests {
    private static func card(_ bitRates: Set<FeliCaBitRate>) throws -> any VirtualCard {
        let card = try #require(try Port100Bench.suica() as? VirtualFeliCaCard)
        return OneSpeedCard(card, bitRates)
    }

    /// The transit card of the fixtures, as far as it hears a speed.
    private final class OneSpeedCard: VirtualCard {
        private let card: VirtualFeliCaCard
        private let bitRates: Set<FeliCaBitRate>

        init(_ card: VirtualFeliCaCard, _ bitRates: Set<FeliCaBitRate>) {
            (self.card, self.bitRates) = (card, bitRates)
        }

        func answer(_ frame: RadioFrame) -> CardAnswer? {
            guard case .felica(let rate) = frame.technology, bitRates.contains(rate) else { return nil }
            return card.answer(frame)
        }

        func losePower() { card.losePower() }
    }

    static let cards: [(Set<FeliCaBitRate>, FeliCaBitRate)] = [
        ([.kbps212, .kbps424], .kbps424), ([.kbps212], .kbps212), ([.kbps424], .kbps424),
    ]

    @Test(arguments: SimulatedPaSoRi.allCases, cards)
    func theFasterWhenTheCardAnswersAtIt(
        _ model: SimulatedPaSoRi, _ heard: (Set<FeliCaBitRate>, FeliCaBitRate)
    ) throws {
        let chip = model.chip(VirtualField(cards: [try Self.card(heard.0)]), USBFaultPlan())
        let reader = try model.open(VirtualUSBLink(chip), CancellationToken())
        defer { reader.close() }
        let target = try #require(try reader.activateFeliCa(systems: [.transit]))
        #expect(target.bitRate == heard.1)
        #expect(
            try reader.transceive([0x0A, 0x0C] + target.idm.bytes, timeout: .milliseconds(10))
                == Port100Bench.systemCodes)
        #expect(chip.statistics.complaints == [])
    }

    /// The code for 424 kbit/s is derived: a real RC-S300 may refuse it.
    @Test func aSpeedThatIsRefusedIsNotAskedForAgain() throws {
        let bench = try Port400Bench()
        bench.link.refuses = "ff6e03050112"
        for expected in [1, 1] {
            #expect(try bench.reader.activateFeliCa(systems: [.transit])?.bitRate == .kbps212)
            #expect(bench.link.refusals == expected)
        }
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
    }
}
