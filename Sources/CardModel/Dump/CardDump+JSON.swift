// SPDX-License-Identifier: Apache-2.0

extension CardDump {
    /// The longest document that is read, in bytes; no card's dump comes near it.
    public static let longestDocument = 8 << 20

    /// Reads the document `kazasu.dump/1`.
    ///
    /// - Throws: ``DocumentError`` with the path of what is wrong.
    public init(parsing bytes: [UInt8]) throws(DocumentError) {
        guard bytes.count <= CardDump.longestDocument else {
            throw .tooLong(bytes: bytes.count, limit: CardDump.longestDocument)
        }
        try self.init(json: JSONValue(parsing: bytes))
    }

    /// Takes a dump from the document as a JSON value.
    ///
    /// - Throws: ``DocumentError`` with the path of what is wrong.
    public init(json: JSONValue) throws(DocumentError) {
        let root = JSONCursor(json)
        let schema = try root.required("schema").text()
        guard schema == CardDump.schema else {
            throw .unknownSchema(found: schema, supported: CardDump.schema)
        }
        self.init(
            tool: try root.optional("tool")?.text(),
            readAt: try root.optional("readAt")?.text(),
            reader: try root.optional("reader")?.text(),
            complete: try root.optional("complete")?.bool() ?? true,
            missing: try root.optional("missing")?.list { part throws(DocumentError) in try MissingPart(json: part) }
                ?? [],
            card: try CardIdentity(json: root.required("card")),
            systems: try root.optional("felica")?.required("systems").list { system throws(DocumentError) in
                try SystemDump(json: system)
            } ?? [],
            extra: try root.object().without(CardDump.keys))
        if let felica = try root.optional("felica")?.object().without(["systems"]), !felica.members.isEmpty {
            extra["felica"] = .object(felica)
        }
    }

    private static let keys = ["schema", "tool", "readAt", "reader", "complete", "missing", "card", "felica"]

    /// The document `kazasu.dump/1`.
    public var json: JSONValue {
        var document = JSONObject([("schema", .string(CardDump.schema))])
        document["tool"] = tool.map { .string($0) }
        document["readAt"] = readAt.map { .string($0) }
        document["reader"] = reader.map { .string($0) }
        document["complete"] = .bool(complete)
        document["missing"] = .array(missing.map(\.json))
        document["card"] = card.json
        if card.technology == .felica || !systems.isEmpty || extra["felica"] != nil {
            var felica = JSONObject([("systems", .array(systems.map(\.json)))])
            if case .object(let more)? = extra["felica"] { felica.merge(more) }
            document["felica"] = .object(felica)
        }
        document.merge(extra)
        return .object(document)
    }
}

extension CardIdentity {
    init(json: JSONCursor) throws(DocumentError) {
        let word = try json.required("technology")
        guard let technology = Technology(rawValue: try word.text()) else {
            throw word.malformed(Technology.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self.init(
            technology: technology,
            idm: try json.optional("idm")?.idm(),
            pmm: try json.optional("pmm")?.pmm(),
            bitRate: try json.optional("bitRate")?.integer(in: 0...10_000),
            extra: try json.object().without(["technology", "idm", "pmm", "bitRate"]))
    }

    /// `card` of the documents `kazasu.dump/1`, `kazasu.scan/1` and `kazasu.poll/1`.
    public var json: JSONValue {
        var object = JSONObject([("technology", .string(technology.rawValue))])
        object["idm"] = idm.map { .string($0.description) }
        object["pmm"] = pmm.map { .string($0.description) }
        object["bitRate"] = bitRate.map { .int($0) }
        object.merge(extra)
        return .object(object)
    }
}
