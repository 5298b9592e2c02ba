// SPDX-License-Identifier: Apache-2.0

extension CardDump {
    /// The longest document that is read, in bytes; no card's dump comes near it.
    public static let longestDocument = 8 << 20

    /// Reads the document `kazasu.dump/1`.
    ///
    /// - Throws: ``DocumentError`` with the path of what is wrong.
    public init(parsing bytes: [UInt8]) throws(DocumentError) {
        try self.init(parsing: bytes[...])
    }

    /// Reads a part of a text, as one line of ndjson.
    ///
    /// - Throws: ``DocumentError`` with the path of what is wrong.
    public init(parsing bytes: ArraySlice<UInt8>) throws(DocumentError) {
        guard bytes.count <= CardDump.longestDocument else {
            throw .tooLong(bytes: bytes.count, limit: CardDump.longestDocument)
        }
        // A text with anything wrong in it is read again as a tree, which can say where.
        if let tape = try? JSONTape(parsing: bytes), let dump = try? CardDump(root: JSONCursor(tape)) {
            self = dump
        } else {
            try self.init(json: JSONValue(parsing: bytes))
        }
    }

    /// Takes a dump from the document as a JSON value.
    ///
    /// - Throws: ``DocumentError`` with the path of what is wrong.
    public init(json: JSONValue) throws(DocumentError) {
        try self.init(root: JSONCursor(json))
    }

    private init(root: JSONCursor) throws(DocumentError) {
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
            applications: try root.optional("iso7816")?.required("applications").list {
                application throws(DocumentError) in try ApplicationDump(json: application)
            } ?? [],
            type2: try root.optional("type2").map { type2 throws(DocumentError) in try Type2Dump(json: type2) },
            extra: try root.members(without: CardDump.keys))
        if let iso7816 = try root.optional("iso7816")?.members(without: ["applications"]), !iso7816.members.isEmpty {
            extra["iso7816"] = .object(iso7816)
        }
        if let felica = try root.optional("felica")?.members(without: ["systems"]), !felica.members.isEmpty {
            extra["felica"] = .object(felica)
        }
    }

    private static let keys: [StaticString] = [
        "schema", "tool", "readAt", "reader", "complete", "missing", "card", "felica", "iso7816", "type2",
    ]

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
        if !applications.isEmpty || extra["iso7816"] != nil {
            var iso7816 = JSONObject([("applications", .array(applications.map(\.json)))])
            if case .object(let more)? = extra["iso7816"] { iso7816.merge(more) }
            document["iso7816"] = .object(iso7816)
        }
        document["type2"] = type2?.json
        document.merge(extra.without(["felica", "iso7816"]))
        return .object(document)
    }
}
