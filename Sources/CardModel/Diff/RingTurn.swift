// SPDX-License-Identifier: Apache-2.0

/// A cyclic service that got new blocks in front, so that every other block moved on by as many places.
public struct RingTurn: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service.
    public let service: ServiceCode
    /// The new blocks, newest first.
    public let added: [Block]
    /// The blocks that fell out at the end, newest first.
    public let dropped: [Block]

    /// The turn that makes one ring of the other; `nil` when none does.
    init?(_ system: SystemCode, _ service: ServiceCode, _ old: BlockTable, _ new: BlockTable) {
        guard let before = RingTurn.list(old), let after = RingTurn.list(new), !before.isEmpty,
            after.count >= before.count
        else { return nil }
        for turn in 1..<max(after.count, 2) {
            let kept = after.dropFirst(turn)
            guard kept.count <= before.count, kept.elementsEqual(before.prefix(kept.count)), !kept.isEmpty else {
                continue
            }
            self.system = system
            self.service = service
            added = Array(after.prefix(turn))
            dropped = Array(before.dropFirst(kept.count))
            return
        }
        return nil
    }

    /// The blocks in order, if none is missing.
    private static func list(_ blocks: BlockTable) -> [Block]? {
        let list = (0..<blocks.count).compactMap { blocks[UInt16(truncatingIfNeeded: $0)] }
        return list.count == blocks.count ? list : nil
    }
}
