// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import SimulatedChips
import Testing
import VirtualReader
import USBTransport

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

    /// The kind of reader, the speeds that the card hears, and the one that is used: an RC-S300 is not asked for another
    /// than 212 kbit/s by itself.
    static let cards: [(SimulatedPaSoRi, Set<FeliCaBitRate>, FeliCaBitRate?)] = [
        (.rcs380, [.kbps212, .kbps424], .kbps424), (.rcs380, [.kbps212], .kbps212), (.rcs380, [.kbps424], .kbps424),
        (.rcs300, [.kbps212, .kbps424], .kbps212), (.rcs300, [.kbps212], .kbps212), (.rcs300, [.kbps424], nil),
    ]

    @Test(arguments: cards)
    func findsTheCommonBitRate(
        _ model: SimulatedPaSoRi, _ heard: Set<FeliCaBitRate>, _ used: FeliCaBitRate?
    ) throws {
        let chip = model.chip(VirtualField(cards: [try Self.card(heard)]), InjectedUSBFaults())
        let reader = try model.open(VirtualUSBLink(chip), CancellationToken())
        defer { reader.close() }
        let target = try reader.activateFeliCa(systems: [.transit])
        #expect(target?.bitRate == used)
        #expect(chip.statistics.complaints == [])
        guard let target else { return }
        #expect(
            try reader.transceive([0x0A, 0x0C] + target.idm.bytes, timeout: .milliseconds(10))
                == Port100Bench.systemCodes)
    }

    /// The code for 424 kbit/s is derived: a real RC-S300 may refuse it, in whatever words.
    @Test(arguments: [UInt16(0x6A80), 0x6A81, 0x6985, 0x6301, 0x6401, 0x6300, 0x698A, 0x6F00])
    func neverRequestsARefusedSpeedAgain(_ status: UInt16) throws {
        var behavior = Port400Behavior()
        behavior.speeds = [0x89]
        behavior.statusOfUnknownSpeed = status
        let bench = try Port400Bench(behavior: behavior)
        for expected in [1, 0] {
            _ = bench.link.takeLog()
            let bitRates: [FeliCaBitRate] = [.kbps424, .kbps212]
            #expect(
                try bench.reader.activateFeliCa(systems: [.transit], bitRates: bitRates)?.bitRate == .kbps212)
            #expect(bench.link.takeLog().count { $0.contains("ff6e03050192") } == expected)
        }
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
        #expect(bench.chip.statistics.complaints == [])
    }
}
