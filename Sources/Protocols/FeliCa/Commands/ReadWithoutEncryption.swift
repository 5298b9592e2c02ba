// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Read Without Encryption (06): blocks of services that need no key. Every FeliCa product supports it.
///
/// 1 to 16 services; 1 to 15 blocks, because an answer of 13 bytes and 16 per block must fit into LEN. The card and the
/// reader may support fewer (``ICProfile/blocksPerRead``).
package struct ReadWithoutEncryption: FeliCaCommand, Hashable, Sendable {
    /// `06`.
    package static let code = CommandCode.readWithoutEncryption
    /// The number of services that one command can name.
    package static let allowedServices = 1...16
    /// The number of blocks that fit into one answer.
    package static let allowedBlocks = 1...15

    /// The Service Code List.
    package var services: [ServiceCode]
    /// The Block List; its elements refer to services by their index in the list.
    package var blocks: BlockList

    package init(services: [ServiceCode], blocks: BlockList) {
        self.services = services
        self.blocks = blocks
    }

    /// Checks the counts, and that each element refers to a service of the list.
    package func validate() throws(FeliCaError) {
        try services.validateCount(.services, Self.allowedServices)
        try blocks.validate(serviceCount: services.count, allowed: Self.allowedBlocks)
    }

    /// Both lists, each preceded by its count.
    package var parameters: [UInt8] {
        var bytes = ByteWriter(services.countedWireBytes)
        bytes.write(UInt8(truncatingIfNeeded: blocks.count))
        bytes.write(blocks.bytes)
        return bytes.bytes
    }

    /// Reads the blocks in the requested order. A success with fewer bytes than the blocks need is refused.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [Block] {
        try answer.expectSuccess()
        try answer.expectCount(blocks.count)
        return try answer.list(blocks.count) { (answer) throws(FeliCaError) in
            guard let block = Block(try answer.bytes(16)) else { throw answer.flaw(.tooShort(missing: 16)) }
            return block
        }
    }

    /// The read class, one unit per block.
    package func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.read, units: blocks.count)
    }
}

extension FeliCaSystem {
    /// Reads blocks of several services that need no key, with one command (06).
    ///
    /// ```swift
    /// let blocks = try system.readWithoutEncryption(
    ///     services: [attributes, history],
    ///     blocks: [.init(number: 0), .init(serviceIndex: 1, number: 0), .init(serviceIndex: 1, number: 1)])
    /// ```
    ///
    /// - Parameters:
    ///   - services: the Service Code List, 1 to 16.
    ///   - blocks: 1 to 15. Cards answer 8 to 15 at most, FeliCa Lite and Lite-S 4, and readers may pass on fewer
    ///     (`ReaderInformation.blocksPerRead`).
    /// - Returns: the blocks in the order of the list.
    /// - Throws: ``FeliCaError``; ``FeliCaError/status(_:)`` with `A8` past the end of a service, `A6` for a service that
    ///   the card does not have, `A5` for one that needs a key.
    public func readWithoutEncryption(
        services: [ServiceCode], blocks: BlockList
    ) throws(FeliCaError) -> [Block] {
        try send(ReadWithoutEncryption(services: services, blocks: blocks))
    }

    /// Reads 1 to 15 blocks of a service that needs no key, with one command (06).
    ///
    /// - Throws: ``FeliCaError``; ``FeliCaError/status(_:)`` with `A8` past the end of the service.
    public func readWithoutEncryption(
        _ service: ServiceCode, blocks: some Sequence<UInt16>
    ) throws(FeliCaError) -> [Block] {
        try readWithoutEncryption(services: [service], blocks: BlockList(numbers: blocks))
    }
}
