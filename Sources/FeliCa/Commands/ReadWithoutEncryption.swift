// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Read Without Encryption (06): blocks of services that need no key. Every FeliCa product knows it.
///
/// 1 to 16 services; 1 to 15 blocks, because an answer of 13 bytes and 16 a block must fit into LEN. What the card
/// and the reader can do may be less (``ICProfile/blocksPerRead``).
package struct ReadWithoutEncryption: FeliCaCommand, Hashable, Sendable {
    /// `06`.
    package static let code = CommandCode.readWithoutEncryption
    /// How many services one command may name.
    package static let allowedServices = 1...16
    /// How many blocks one answer has room for.
    package static let allowedBlocks = 1...15

    /// The Service Code List.
    package var services: [ServiceCode]
    /// The Block List; its elements name services by their place in the list.
    package var blocks: BlockList

    /// A read of these blocks.
    package init(services: [ServiceCode], blocks: BlockList) {
        self.services = services
        self.blocks = blocks
    }

    /// The counts, and that each element names a service of the list.
    package func validate() throws(FeliCaError) {
        try services.validateCount(.services, Self.allowedServices)
        try blocks.validate(serviceCount: services.count, allowed: Self.allowedBlocks)
    }

    /// Both lists, each after its count.
    package var parameters: [UInt8] {
        var bytes = ByteWriter(services.countedWireBytes)
        bytes.write(UInt8(truncatingIfNeeded: blocks.count))
        bytes.write(blocks.bytes)
        return bytes.bytes
    }

    /// The blocks in the order asked. A success with fewer bytes than the blocks need is refused.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [Block] {
        try answer.expectSuccess()
        try answer.expectCount(blocks.count)
        return try answer.list(blocks.count) { (answer) throws(FeliCaError) in
            guard let block = Block(try answer.bytes(16)) else { throw answer.flaw(.tooShort(missing: 16)) }
            return block
        }
    }

    /// The read class, one unit a block.
    package func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.read, units: blocks.count)
    }
}

extension FeliCaSystem {
    /// Reads 1 to 15 blocks of 1 to 16 services that need no key.
    ///
    /// - Throws: ``FeliCaError``; ``FeliCaError/status(_:)`` with `A8` past the end of a service.
    package func readWithoutEncryption(
        services: [ServiceCode], blocks: BlockList
    ) throws(FeliCaError) -> [Block] {
        try send(ReadWithoutEncryption(services: services, blocks: blocks))
    }
}
