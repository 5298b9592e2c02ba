// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// One application of an ISO 7816 card in a dump.
public struct ApplicationDump: Hashable, Sendable {
    /// Its name; `nil` for the files of the master file.
    public var aid: AID?
    /// The data of the card's answer to SELECT, if there was any.
    public var selectAnswer: [UInt8]?
    /// Its files in the order in which they were read.
    public var files: [FileDump]
    /// Members of the document that this version does not know.
    package var extra: JSONObject

    /// An application of a card.
    package init(
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

/// One elementary file of an application in a dump.
public struct FileDump: Hashable, Sendable {
    /// Its identifier.
    public var id: FileIdentifier
    /// Whether it was read.
    public var state: ReadState
    /// What was read of it, from its first byte on.
    public var data: [UInt8]
    /// Members of the document that this version does not know.
    package var extra: JSONObject

    /// A file of a card.
    package init(id: FileIdentifier, state: ReadState, data: [UInt8] = [], extra: JSONObject = JSONObject()) {
        self.id = id
        self.state = state
        self.data = data
        self.extra = extra
    }
}

extension ApplicationDump {
    init(json: JSONCursor) throws(DocumentError) {
        let aid = try json.optional("aid")
        self.init(
            aid: try aid?.aid(),
            selectAnswer: try json.optional("selectAnswer")?.bytes(),
            files: try json.optional("files")?.list { file throws(DocumentError) in try FileDump(json: file) } ?? [],
            extra: try json.members(without: ["aid", "selectAnswer", "files"]))
    }

    var json: JSONValue {
        var object = JSONObject([("aid", .text(aid?.description))])
        object["selectAnswer"] = selectAnswer.map { .string(Hex.encode($0)) }
        object["files"] = .array(files.map(\.json))
        object.merge(extra)
        return .object(object)
    }
}

extension FileDump {
    init(json: JSONCursor) throws(DocumentError) {
        let state = try ReadState(json: json)
        self.init(
            id: try json.required("id").code(), state: state, data: try json.optional("data")?.bytes() ?? [],
            extra: try json.members(without: ["id", "state", "data"] + (state.isRefused ? ["status"] : [])))
    }

    var json: JSONValue {
        var object = JSONObject([("id", .string(id.description)), ("state", .string(state.word))])
        object["status"] = state.statusMember
        object["data"] = .string(Hex.encode(data))
        object.merge(extra)
        return .object(object)
    }
}

extension JSONCursor {
    /// This as the name of an application, 1 to 16 bytes.
    package func aid() throws(DocumentError) -> AID {
        guard let aid = AID(try bytes()) else { throw malformed(.hexDigits, "2–32") }
        return aid
    }
}
