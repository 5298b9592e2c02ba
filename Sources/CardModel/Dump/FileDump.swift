// SPDX-License-Identifier: Apache-2.0

/// One elementary file of an application in a dump.
public struct FileDump: Hashable, Sendable {
    /// Its identifier.
    public var id: FileIdentifier
    /// What became of it.
    public var state: ReadState
    /// What was read of it, from its first byte on.
    public var data: [UInt8]
    /// Members of the document that this version does not know.
    public var extra: JSONObject

    /// A file of a card.
    public init(id: FileIdentifier, state: ReadState, data: [UInt8] = [], extra: JSONObject = JSONObject()) {
        self.id = id
        self.state = state
        self.data = data
        self.extra = extra
    }
}
