// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import VirtualReader

/// A card whose answers somebody changes on the way; used from the thread of its test only.
final class TamperedCard: VirtualPacketCard, @unchecked Sendable {
    private let card: VirtualFeliCaCard
    private let change: (_ command: [UInt8], _ answer: CardAnswer?) -> CardAnswer?
    private(set) var exchanges = 0

    init(
        _ card: VirtualFeliCaCard, _ change: @escaping (_ command: [UInt8], _ answer: CardAnswer?) -> CardAnswer?
    ) {
        self.card = card
        self.change = change
    }

    func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        exchanges += 1
        return change(frame, card.answer(frame, at: bitRate))
    }

    func losePower() { card.losePower() }
}
