// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The blocks of a cyclic service that are in use: block 0 is the newest, the first unused one ends them.
struct BlockSequence {
    /// One block in use.
    struct Entry {
        /// Its bytes.
        let block: Block
        /// Whether the block with the next number, which is the next older one, was read too.
        let olderWasRead: Bool
    }

    /// The blocks, newest first.
    let entries: [Entry]
    /// Whether one of them, or the end, was not read.
    let isIncomplete: Bool

    /// The blocks of a service up to the first for which `isUnused` holds.
    init(_ service: ServiceDump, isUnused: (Block) -> Bool) {
        let sorted = BlockSequence.sorted(service)
        let used = sorted.prefix { !isUnused($0.block) }
        entries = used.map { number, block in
            let next = number.addingReportingOverflow(1)
            return Entry(block: block, olderWasRead: !next.overflow && service.blocks[next.partialValue] != nil)
        }
        let endWasSeen = used.count < sorted.count || service.state == .read
        let places = sorted.prefix(used.count + 1).enumerated()
        isIncomplete = !endWasSeen || places.contains { Int($0.element.number) != $0.offset }
    }

    /// The blocks in the order of their numbers; nothing needs sorting when none is missing.
    private static func sorted(_ service: ServiceDump) -> [(number: UInt16, block: Block)] {
        var blocks: [(number: UInt16, block: Block)] = []
        blocks.reserveCapacity(service.blocks.count)
        for number in 0..<UInt16(clamping: service.blocks.count) {
            guard let block = service.blocks[number] else { return service.sortedBlocks }
            blocks.append((number, block))
        }
        return blocks.count == service.blocks.count ? blocks : service.sortedBlocks
    }
}
