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
    public var blocks: BlockTable
    /// Members of the document that this version does not know.
    public var extra: JSONObject

    /// A service of a card.
    public init(
        code: ServiceCode, keyVersion: KeyVersion? = nil, state: ReadState, blocks: BlockTable = [:],
        extra: JSONObject = JSONObject()
    ) {
        self.code = code
        self.keyVersion = keyVersion
        self.state = state
        self.blocks = blocks
        self.extra = extra
    }
}
