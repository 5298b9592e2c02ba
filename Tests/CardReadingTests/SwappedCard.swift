// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import VirtualReader

/// A card whose place another one takes.
final class SwappedCard: VirtualPacketCard, @unchecked Sendable {
    private let first, second: VirtualFeliCaCard
    /// The commands that the first card still gets; `nil` for all.
    var left: Int?

    init(_ first: VirtualFeliCaCard, _ second: VirtualFeliCaCard) { (self.first, self.second) = (first, second) }

    func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        guard let left else { return first.answer(frame, at: bitRate) }
        guard left > 0 else { return second.answer(frame, at: bitRate) }
        self.left = left - 1
        let answer = first.answer(frame, at: bitRate)
        if left == 1 { first.losePower() }
        return answer
    }

    func losePower() { if left == 0 { second.losePower() } else { first.losePower() } }
}
