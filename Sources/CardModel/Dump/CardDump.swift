// SPDX-License-Identifier: Apache-2.0

/// All that was read from one card: the document `kazasu.dump/1`, the waist between reading and decoding.
///
/// Members that this version does not know are kept in the `extra` of their level and written again.
public struct CardDump: Hashable, Sendable {
    /// The value of the document's `schema` member.
    public static let schema = "kazasu.dump/1"

    /// The program that read the card, as in `kazasu 0.1.0`; `nil` when the document does not say.
    public var tool: String?
    /// When the card was read, ISO 8601 with the offset from UTC; `nil` when the document does not say.
    public var readAt: String?
    /// The reader's ID; `nil` when the document does not say.
    public var reader: String?
    /// Whether everything was read that can be read without a key.
    public var complete: Bool
    /// What was not read although it could have been.
    public var missing: [MissingPart]
    /// What the reader learnt of the card when it found it.
    public var card: CardIdentity
    /// The FeliCa systems in the card's order; empty for other cards.
    public var systems: [SystemDump]
    /// The applications of an ISO 7816 card in the order in which they were read; empty for other cards.
    public var applications: [ApplicationDump]
    /// The memory of a Type 2 Tag; `nil` for other cards.
    public var type2: Type2Dump?
    /// Members of the document that this version does not know.
    package var extra: JSONObject

    /// A dump of a card.
    package init(
        tool: String? = nil, readAt: String? = nil, reader: String? = nil, complete: Bool = true,
        missing: [MissingPart] = [], card: CardIdentity, systems: [SystemDump] = [],
        applications: [ApplicationDump] = [], type2: Type2Dump? = nil, extra: JSONObject = JSONObject()
    ) {
        self.tool = tool
        self.readAt = readAt
        self.reader = reader
        self.complete = complete
        self.missing = missing
        self.card = card
        self.systems = systems
        self.applications = applications
        self.type2 = type2
        self.extra = extra
    }

    /// The first system with this code.
    public func system(_ code: SystemCode) -> SystemDump? {
        systems.first { $0.systemCode == code }
    }

    /// The first application with this name; the master file for `nil`.
    public func application(_ aid: AID?) -> ApplicationDump? {
        applications.first { $0.aid == aid }
    }

    /// The blocks that were read of a service, by block number; `nil` when the service is not in the dump.
    package func blocks(_ system: SystemCode, _ service: ServiceCode) -> BlockTable? {
        self.system(system)?.service(service)?.blocks
    }
}

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
    package init(json: JSONValue) throws(DocumentError) {
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

    /// The document `kazasu.dump/1`, indented, with a line feed at the end; ``init(parsing:)-([UInt8])`` reads it again.
    public var document: String { json.prettyText + "\n" }

    /// The document `kazasu.dump/1`.
    package var json: JSONValue {
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
    package var extra: JSONObject

    /// A part that was not read.
    package init(
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

extension JSONCursor {
    /// This as an IDm of 16 digits.
    package func idm() throws(DocumentError) -> IDm {
        guard let idm = IDm(try bytes(count: 8)) else { throw malformed(.hexDigits, "16") }
        return idm
    }

    /// This as a PMm of 16 digits.
    package func pmm() throws(DocumentError) -> PMm {
        guard let pmm = PMm(try bytes(count: 8)) else { throw malformed(.hexDigits, "16") }
        return pmm
    }

    /// The elements of this array, each read by `read`.
    package func list<Element>(
        _ read: (JSONCursor) throws(DocumentError) -> Element
    ) throws(DocumentError) -> [Element] {
        var list: [Element] = []
        for element in try elements() { list.append(try read(element)) }
        return list
    }
}
