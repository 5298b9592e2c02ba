// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The blocks behind one service, or behind several that overlap.
public struct BlockStore: Hashable, Sendable {
    /// The blocks by number. A number below ``count`` that is not here is a hole, as a dump that was broken off
    /// leaves it; the card answers as if the service ended there.
    public private(set) var blocks: BlockTable
    /// How many blocks are allocated.
    public let count: Int

    /// Blocks with these numbers; as many are allocated as the highest number says.
    public init(_ blocks: BlockTable = [:]) {
        self.blocks = blocks
        count = blocks.last.map { Int($0.number) + 1 } ?? 0
    }

    /// Blocks in order from 0; those after 65 536 are dropped.
    public init(_ blocks: some Sequence<Block>) {
        var numbered: BlockTable = [:]
        for (number, block) in zip(UInt16.min...UInt16.max, blocks) { numbered[number] = block }
        self.init(numbered)
    }

    /// The block with this number, or `nil` when there is none.
    public subscript(number: UInt16) -> Block? { blocks[number] }

    /// Replaces a block that is there.
    mutating func replace(_ number: UInt16, with block: Block) {
        if blocks[number] != nil { blocks[number] = block }
    }

    /// Puts a block in front of all others, as a write to a cyclic service does; the oldest falls off.
    mutating func push(_ block: Block) {
        guard count > 0 else { return }
        var moved: BlockTable = [0: block]
        for (number, old) in blocks where Int(number) + 1 < count { moved[number + 1] = old }
        blocks = moved
    }
}
