// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Write Without Encryption (08): blocks of services that need no key.
///
/// 1 to 16 services; at most 13 blocks fit into LEN with one service, 11 with sixteen and three-byte elements. The card
/// may support fewer (``ICProfile/blocksPerWrite``).
package struct WriteWithoutEncryption: FeliCaCommand, Hashable, Sendable {
    /// `08`.
    package static let code = CommandCode.writeWithoutEncryption
    /// The number of blocks that the Block List can name before the length of the packet is checked.
    package static let allowedBlocks = 1...13

    /// The Service Code List.
    package var services: [ServiceCode]
    /// The Block List; its elements refer to services by their index in the list.
    package var blocks: BlockList
    /// The data to write, one block for each element.
    package var data: [Block]

    package init(services: [ServiceCode], blocks: BlockList, data: [Block]) {
        self.services = services
        self.blocks = blocks
        self.data = data
    }

    /// Checks the counts, and that each element refers to a service of the list and has its data.
    package func validate() throws(FeliCaError) {
        try services.validateCount(.services, ReadWithoutEncryption.allowedServices)
        try blocks.validate(serviceCount: services.count, allowed: Self.allowedBlocks)
        guard data.count == blocks.count else {
            throw .invalidArgument(.count(.blockData, data.count, allowed: blocks.count...blocks.count))
        }
    }

    /// Both lists, each preceded by its count, and the data.
    package var parameters: [UInt8] {
        var bytes = ByteWriter(services.countedWireBytes)
        bytes.write(UInt8(truncatingIfNeeded: blocks.count))
        bytes.write(blocks.bytes)
        for block in data { bytes.write(block.bytes) }
        return bytes.bytes
    }

    /// Reads the flags of a successful write: 00 00, or the warning `71` that the memory is wearing out.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> StatusFlags {
        let flags = try answer.statusFlags()
        try answer.expectEnd()
        guard flags.isSuccess || flags.isWarning else { throw .status(flags) }
        return flags
    }

    /// The write class, one unit per block.
    package func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.write, units: blocks.count)
    }
}

extension FeliCaSystem {
    /// Writes blocks of services that need no key, with one command (08); nothing is read back.
    ///
    /// When no answer comes, it is unknown whether the card wrote: read the blocks.
    ///
    /// ```swift
    /// try system.writeWithoutEncryption(services: [scratch], blocks: [.init(number: 0)], data: [block])
    /// ```
    ///
    /// - Parameters:
    ///   - services: the Service Code List, 1 to 16.
    ///   - blocks: 1 to 13, fewer with many services. Cards take 8 to 13 at most, FeliCa Lite and Lite-S 1.
    ///   - data: one block for each element of `blocks`.
    /// - Returns: the flags: 00 00, or a warning (``StatusFlags/isWarning``) although the data was written.
    /// - Throws: ``FeliCaError``; ``FeliCaError/status(_:)`` if the card refused.
    @discardableResult
    public func writeWithoutEncryption(
        services: [ServiceCode], blocks: BlockList, data: [Block]
    ) throws(FeliCaError) -> StatusFlags {
        try send(WriteWithoutEncryption(services: services, blocks: blocks, data: data))
    }
}
