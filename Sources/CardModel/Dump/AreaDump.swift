// SPDX-License-Identifier: Apache-2.0

/// One FeliCa area of a dump.
public struct AreaDump: Hashable, Sendable {
    /// Its code.
    public var start: AreaCode
    /// The last code that belongs to it: `FFFE` for the root area.
    public var end: AreaCode
    /// The version of its key, or `nil` when the card did not say.
    public var keyVersion: KeyVersion?
    /// Members of the document that this version does not know.
    public var extra: JSONObject

    /// An area of a card.
    public init(start: AreaCode, end: AreaCode, keyVersion: KeyVersion? = nil, extra: JSONObject = JSONObject()) {
        self.start = start
        self.end = end
        self.keyVersion = keyVersion
        self.extra = extra
    }
}
