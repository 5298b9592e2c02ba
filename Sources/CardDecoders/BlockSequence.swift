// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The blocks of a cyclic service in the card's order, block 0 the newest, and whether some are missing.
struct BlockSequence {
    /// One block.
    struct Entry {
        /// Its number.
        let number: UInt16
        /// Its bytes.
        let block: Block
        /// Whether the block with the next number, which is the next older one, was read too.
        let olderWasRead: Bool
    }

    /// The blocks, newest first.
    let blocks: [Entry]

    init(_ blocks: [UInt16: Block]) {
        self.blocks = blocks.sorted { $0.key < $1.key }.map { number, block in
            let next = number.addingReportingOverflow(1)
            return Entry(
                number: number, block: block, olderWasRead: !next.overflow && blocks[next.partialValue] != nil)
        }
    }

    /// Whether a block before the last one that was read is missing.
    var isIncomplete: Bool {
        guard let last = blocks.last else { return false }
        return Int(last.number) + 1 != blocks.count
    }
}
