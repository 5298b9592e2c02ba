// SPDX-License-Identifier: Apache-2.0

/// One block that two dumps show differently.
public struct BlockChange: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service.
    public let service: ServiceCode
    /// The block's number.
    public let number: UInt16
    /// What it was; `nil` when the older dump does not have it.
    public let old: Block?
    /// What it is; `nil` when the newer dump does not have it.
    public let new: Block?

    /// The offsets of the bytes that changed; empty when one of the dumps does not have the block.
    public var changedBytes: [Int] {
        guard let old, let new else { return [] }
        return (0..<16).filter { old[$0] != new[$0] }
    }
}
