// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

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
    public func aid() throws(DocumentError) -> AID {
        guard let aid = AID(try bytes()) else { throw malformed("2 to 32 hexadecimal digits") }
        return aid
    }
}
