// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Blocks that a decoder wants, as data: the reader merges the requests of a job into few commands.
public struct ReadRequest: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service; readable without a key.
    public let service: ServiceCode
    /// The numbers of the blocks; a service that ends earlier is no error.
    public let blocks: Range<UInt16>
    /// Whether the answer is worth nothing without them; when a card refuses others, what is left is decoded.
    public let isRequired: Bool

    /// A wish for blocks.
    public init(system: SystemCode, service: ServiceCode, blocks: Range<UInt16>, isRequired: Bool = true) {
        self.system = system
        self.service = service
        self.blocks = blocks
        self.isRequired = isRequired
    }
}
