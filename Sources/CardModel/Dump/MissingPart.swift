// SPDX-License-Identifier: Apache-2.0

/// Something that could have been read but was not, because the card left or the radio failed.
public struct MissingPart: Hashable, Sendable {
    /// The system it belongs to; `nil` when even the list of systems is not complete.
    public var system: SystemCode?
    /// The service; `nil` when the list of the system's nodes is not complete.
    public var service: ServiceCode?
    /// The first block that was not read; `nil` when that is not known.
    public var fromBlock: UInt16?
    /// ISO 7816: the application; `nil` with ``file`` for a file of the master file.
    public var application: AID?
    /// ISO 7816: the file that was not read to its end.
    public var file: FileIdentifier?
    /// Type 2 Tag: the first page that was not read.
    public var fromPage: UInt16?
    /// Why, in one word: `cardLost`, `radioError`, `readerFailed`, `cancelled`.
    public var reason: String
    /// Members of the document that this version does not know.
    public var extra: JSONObject

    /// A part that was not read.
    public init(
        system: SystemCode? = nil, service: ServiceCode? = nil, fromBlock: UInt16? = nil,
        application: AID? = nil, file: FileIdentifier? = nil, fromPage: UInt16? = nil, reason: String,
        extra: JSONObject = JSONObject()
    ) {
        self.system = system
        self.service = service
        self.fromBlock = fromBlock
        self.application = application
        self.file = file
        self.fromPage = fromPage
        self.reason = reason
        self.extra = extra
    }
}
