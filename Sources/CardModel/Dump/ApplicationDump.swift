// SPDX-License-Identifier: Apache-2.0

/// One application of an ISO 7816 card in a dump.
public struct ApplicationDump: Hashable, Sendable {
    /// Its name; `nil` for the master file, whose own files stand here.
    public var aid: AID?
    /// What the card answered to SELECT, when it told something.
    public var selectAnswer: [UInt8]?
    /// Its files in the order in which they were read.
    public var files: [FileDump]
    /// Members of the document that this version does not know.
    public var extra: JSONObject

    /// An application of a card.
    public init(
        aid: AID?, selectAnswer: [UInt8]? = nil, files: [FileDump] = [], extra: JSONObject = JSONObject()
    ) {
        self.aid = aid
        self.selectAnswer = selectAnswer
        self.files = files
        self.extra = extra
    }

    /// The first file with this identifier.
    public func file(_ id: FileIdentifier) -> FileDump? {
        files.first { $0.id == id }
    }
}
