// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
internal import FeliCa

/// What to write to a service of a FeliCa Standard: blocks in a row, or a change of a purse.
public struct BlockWrite: Hashable, Sendable {
    /// What to write.
    @nonexhaustive
    public enum Content: Hashable, Sendable {
        /// Blocks from ``BlockWrite/number`` on, all with one command. Of a cyclic service, they are one entry, the first
        /// its newest block.
        case blocks([Block])
        /// Takes an amount from a purse.
        case decrement(UInt32)
        /// Gives a purse back a part of what was taken last.
        case cashback(UInt32)
    }

    /// The service.
    public let service: ServiceCode
    /// The number of the block, or of the first one; 0 for a cyclic service.
    public let number: UInt16
    /// What to write.
    public let content: Content

    /// Makes a write; nothing is checked before ``StandardCard/plan(_:)``.
    public init(_ service: ServiceCode, block: UInt16 = 0, _ content: Content) {
        (self.service, number, self.content) = (service, block, content)
    }

    /// The numbers of the blocks that change, in order.
    package var numbers: [UInt16] {
        (0..<count).compactMap { UInt16(exactly: Int(number) + $0) }
    }

    private var count: Int { if case .blocks(let blocks) = content { blocks.count } else { 1 } }

    /// Checks what the service's code alone decides.
    func check() throws(BlockWriteError) {
        let access = service.access
        let isAllowed =
            switch content {
            case .blocks: access == .readWrite || access == .direct
            case .decrement: access == .decrement || access == .cashback
            case .cashback: access == .cashback
            }
        guard isAllowed, !service.requiresPIN else { throw .notAllowed(service, content.need) }
        guard count > 0 else { throw .tooManyBlocks(0, most: 12) }
        guard numbers.count == count else { throw .noSuchBlock(service, .max) }
        if service.kind == .cyclic, number != 0 { throw .notNewest(service) }
    }

    /// The Block List of the command.
    func list(serviceIndex: Int) -> BlockList {
        BlockList(
            numbers.map { number in
                BlockListElement(
                    serviceIndex: serviceIndex, number: service.kind == .cyclic ? 0 : number,
                    accessMode: content.need == .cashback ? .cashback : .normal)
            })
    }

    /// The blocks after the write.
    func after(_ before: [Block]) throws(BlockWriteError) -> [Block] {
        guard let block = before.first else { throw .noSuchBlock(service, number) }
        let value = block.uint32(at: 0, .little)
        switch content {
        case .blocks(let blocks): return blocks
        case .decrement(let amount):
            guard amount <= value else { throw .purseRange(value: value, last: block.uint32(at: 4, .little)) }
            return [Self.purse(block, value - amount, taken: amount)]
        case .cashback(let amount):
            let last = block.uint32(at: 4, .little)
            let (result, overflow) = value.addingReportingOverflow(amount)
            guard amount <= last, !overflow else { throw .purseRange(value: value, last: last) }
            return [Self.purse(block, result, taken: 0)]
        }
    }

    /// A purse after a change.
    ///
    /// The execution ID is the last four bytes or, in other sources, the last two: only these differ from the stored ones,
    /// which is right in both.
    private static func purse(_ old: Block, _ value: UInt32, taken: UInt32) -> Block {
        var bytes = ByteWriter()
        bytes.write(value, .little)
        bytes.write(taken, .little)
        bytes.write(old.bytes[8..<14])
        bytes.write(old.uint16(at: 14, .big) &+ 1, .big)
        return Block(bytes.bytes) ?? old
    }

    /// The data of the command: of a purse, the amount in place of the value. Bytes 4 to 11 do not count.
    func data(after: [Block]) -> [Block] {
        switch content {
        case .blocks(let blocks): return blocks
        case .decrement(let amount), .cashback(let amount):
            return after.compactMap { block in
                var bytes = ByteWriter()
                bytes.write(amount, .little)
                bytes.write([0, 0, 0, 0])
                bytes.write(block.bytes[8...])
                return Block(bytes.bytes)
            }
        }
    }
}

extension BlockWrite.Content {
    /// The access that it needs.
    var need: BlockWriteError.Need {
        switch self {
        case .blocks: .write
        case .decrement: .decrement
        case .cashback: .cashback
        }
    }
}

/// A write as it was checked on a card, with the blocks as they are and as they will be.
public struct PlannedWrite: Hashable, Sendable {
    /// What to write.
    public let write: BlockWrite
    /// The system with the service.
    public let system: SystemHandle
    /// The cipher of the keys that opened the service; `nil` for a service that needs none.
    public let opened: StandardScheme?
    /// The blocks that change, in the order of their numbers.
    public let blocks: [ChangedBlock]

    /// A block before and after the write.
    public struct ChangedBlock: Hashable, Sendable {
        /// The number in the service.
        public let number: UInt16
        /// What it holds.
        public let before: Block
        /// What it will hold. Of a purse, the last two bytes are an execution ID that makes the change happen only once.
        public let after: Block
    }

    /// Whether the card already has all of it, so that nothing will be sent.
    public var isDone: Bool { before == after }

    var before: [Block] { blocks.map(\.before) }
    var after: [Block] { blocks.map(\.after) }
}
