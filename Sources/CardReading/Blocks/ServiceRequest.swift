// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Which blocks of which service are to be read.
public struct ServiceRequest: Hashable, Sendable {
    /// The service.
    public var code: ServiceCode
    /// Which of its blocks.
    public var blocks: Blocks

    /// Which blocks of a service.
    public enum Blocks: Hashable, Sendable {
        /// All, to the end of the service. `expected` is how many there usually are; it only saves commands.
        case all(expected: Int?)
        /// The first ones, as far as they exist.
        case first(Int)
        /// These, each if it exists.
        case these([UInt16])
    }

    /// A request for blocks of a service.
    public init(_ code: ServiceCode, _ blocks: Blocks) {
        self.code = code
        self.blocks = blocks
    }
}
