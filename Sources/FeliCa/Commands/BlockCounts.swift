// SPDX-License-Identifier: Apache-2.0

/// The blocks of a node, in the answer to Request Block Information Ex.
public struct BlockCounts: Hashable, Sendable {
    /// Blocks that are assigned.
    public let assigned: UInt16
    /// Blocks that are free.
    public let free: UInt16

    /// The blocks of a node.
    public init(assigned: UInt16, free: UInt16) {
        self.assigned = assigned
        self.free = free
    }
}
