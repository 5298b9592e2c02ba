// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The blocks of a cyclic service that are in use: block 0 is the newest, the first unused one ends them.
struct BlockSequence {
    /// One block in use.
    struct Entry {
        /// Its bytes.
        let block: Block
        /// Whether the block with the next number, which is the next older one, was read too.
        var olderWasRead: Bool
    }

    /// The blocks, newest first.
    let entries: [Entry]
    /// Whether one of them, or the end, was not read.
    let isIncomplete: Bool

    /// The blocks of a service up to the first for which `isUnused` holds.
    init(_ service: ServiceDump, isUnused: (Block) -> Bool) {
        var entries: [Entry] = []
        entries.reserveCapacity(service.blocks.count)
        var before: UInt16 = 0
        var hasGap = false
        var endWasSeen = service.state == .read
        for (number, block) in service.blocks {
            if Int(number) != entries.count { hasGap = true }
            if let last = entries.indices.last { entries[last].olderWasRead = number == before &+ 1 }
            if isUnused(block) {
                endWasSeen = true
                break
            }
            before = number
            entries.append(Entry(block: block, olderWasRead: false))
        }
        self.entries = entries
        isIncomplete = !endWasSeen || hasGap
    }
}
