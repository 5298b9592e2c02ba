// SPDX-License-Identifier: Apache-2.0

/// What a tag holds by way of NDEF, and what room there is.
public struct NDEFArea: Hashable, Sendable {
    /// The bytes of the message; empty when there is a place for one and none in it.
    public var message: [UInt8]
    /// The longest message that there is room for.
    public var capacity: Int
    /// Why it cannot be written; `nil` when it can.
    public var obstacle: TagError.WriteObstacle?

    /// A message and its room.
    public init(message: [UInt8], capacity: Int, obstacle: TagError.WriteObstacle?) {
        self.message = message
        self.capacity = capacity
        self.obstacle = obstacle
    }
}
