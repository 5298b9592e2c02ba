// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The answer to Get Area Information.
public struct AreaInformation: Hashable, Sendable {
    /// The node that the card names.
    public let node: NodeCode
    /// Two bytes of unknown meaning, as they came.
    public let data: [UInt8]
}
