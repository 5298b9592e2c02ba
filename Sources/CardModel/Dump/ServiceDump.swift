// SPDX-License-Identifier: Apache-2.0

/// One FeliCa service of a dump.
public struct ServiceDump: Hashable, Sendable {
    /// Its code.
    public var code: ServiceCode
    /// The version of its key, or `nil` when the card did not say.
    public var keyVersion: KeyVersion?
    /// What became of it.
    public var state: ReadState
    /// The blocks that were read, by block number from 0.
    public var blocks: [UInt16: Block]
    /// Members of the document that this version does not know.
    public var extra: JSONObject

    /// A service of a card.
    public init(
        code: ServiceCode, keyVersion: KeyVersion? = nil, state: ReadState, blocks: [UInt16: Block] = [:],
        extra: JSONObject = JSONObject()
    ) {
        self.code = code
        self.keyVersion = keyVersion
        self.state = state
        self.blocks = blocks
        self.extra = extra
    }

    /// The blocks in the order of their numbers.
    public var sortedBlocks: [(number: UInt16, block: Block)] {
        blocks.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
