// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import CardReading

/// Where answers get damaged, fewer blocks are requested at a time.
struct FrameLossTests {
    private static let time = ExchangeTime(PMm(rawValue: 0x0120_2204_2767_4EFF), at: .kbps212)

    @Test func asksForFewerBlocksTheMoreIsLost() {
        func best(_ damaged: Int, of exchanges: Int) -> Int {
            var losses = FrameLosses()
            for number in 0..<exchanges { losses.add(200, isDamaged: number < damaged) }
            return losses.best(upTo: 12, Self.time)
        }
        let counts = [0, 1, 2, 5, 10, 20, 40].map { best($0, of: 50) }
        #expect(counts.prefix(2) == [12, 12])
        #expect(counts == counts.sorted(by: >) && counts[6] < 8, "\(counts)")
        #expect(counts.contains { (2...11).contains($0) }, "\(counts)")
    }

    /// A card in a weak field: each answer of more than eight blocks is damaged.
    private final class WeakCard: VirtualPacketCard, @unchecked Sendable {
        let card: any VirtualPacketCard
        init(_ card: some VirtualPacketCard) { self.card = card }

        func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
            var answer = card.answer(frame, at: bitRate)
            if let length = answer?.frame.count, length > 13 + 8 * 16 { answer?.isDamaged = true }
            return answer
        }

        func losePower() { card.losePower() }
    }

    /// Four tries of the same long command would fail: shorter ones are read.
    @Test func readsWhatLongAnswersDoNotBring() throws {
        let file = try TestFiles.read("Fixtures/cards/suica-p1/card.json")
        let card = try VirtualCardFile.load(file)
        let reader = InProcessReader(VirtualField(cards: [WeakCard(card)]))
        guard case .felica(let target)? = try reader.activate(.felica(.transit, requestCode: 1)) else {
            throw Fixture.NoCard()
        }
        let session = CardSession(reader: reader, target: target)
        let system = SystemHandle(code: .transit, idm: target.idm, pmm: target.pmm)
        let result = session.read([ServiceBlocks(ServiceCode(rawValue: 0x090F), .first(20))], of: system)
        #expect(result.interruption == nil)
        #expect(result.services.first?.blocks.count == 20)
    }
}
