// SPDX-License-Identifier: Apache-2.0

/// The memory of a Type 2 Tag in a dump.
public struct Type2Dump: Hashable, Sendable {
    /// The pages that were read, by number from 0, four bytes each; 256 pages are one sector.
    public var pages: [UInt16: [UInt8]]
    /// The answer to GET_VERSION, eight bytes; `nil` when the tag does not know the command.
    public var version: [UInt8]?
    /// The answer to READ_SIG, 32 bytes; `nil` when the tag does not know the command.
    public var signature: [UInt8]?
    /// The counters that were read, by number; 24 bits each.
    public var counters: [UInt8: UInt32]
    /// Members of the document that this version does not know.
    public var extra: JSONObject

    /// The memory of a tag.
    public init(
        pages: [UInt16: [UInt8]], version: [UInt8]? = nil, signature: [UInt8]? = nil, counters: [UInt8: UInt32] = [:],
        extra: JSONObject = JSONObject()
    ) {
        self.pages = pages
        self.version = version
        self.signature = signature
        self.counters = counters
        self.extra = extra
    }
}
