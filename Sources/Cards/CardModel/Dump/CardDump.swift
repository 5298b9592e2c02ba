// SPDX-License-Identifier: Apache-2.0

/// Everything that was read from one card: the document `kazasu.dump/1`, the interface between reading and decoding.
///
/// Members that are unknown to this version are kept in the `extra` of their level and written back.
public struct CardDump: Hashable, Sendable {
    /// The value of the document's `schema` member.
    public static let schema = "kazasu.dump/1"

    /// The program that read the card, such as `kazasu 0.1.0`; `nil` if the document does not contain it.
    public var tool: String?
    /// When the card was read, ISO 8601 with the offset from UTC; `nil` if the document does not contain it.
    public var readAt: String?
    /// The reader's ID; `nil` if the document does not contain it.
    public var reader: String?
    /// Whether everything that can be read without a key was read.
    public var isComplete: Bool
    /// The parts that could have been read but were not.
    public var missing: [MissingPart]
    /// The identity of the card, from its answers when the reader found it.
    public var card: CardIdentity
    /// The FeliCa systems in the card's order; empty for other cards.
    public var systems: [SystemDump]
    /// The applications of an ISO 7816 card in the order in which they were read; empty for other cards.
    public var applications: [ApplicationDump]
    /// The memory of a Type 2 Tag; `nil` for other cards.
    public var type2: Type2Dump?
    /// The memory of a MIFARE Classic; `nil` for other cards.
    public var classic: ClassicDump?
    /// Applications and files of a MIFARE DESFire; `nil` for other cards.
    package var desfire: DESFireMemory?
    /// Members of the document that are unknown to this version.
    package var extra: JSONObject

    package init(
        tool: String? = nil, readAt: String? = nil, reader: String? = nil, complete: Bool = true,
        missing: [MissingPart] = [], card: CardIdentity, systems: [SystemDump] = [],
        applications: [ApplicationDump] = [], type2: Type2Dump? = nil, classic: ClassicDump? = nil,
        extra: JSONObject = JSONObject()
    ) {
        self.tool = tool
        self.readAt = readAt
        self.reader = reader
        self.isComplete = complete
        self.missing = missing
        self.card = card
        self.systems = systems
        self.applications = applications
        self.type2 = type2
        self.classic = classic
        self.extra = extra
    }

    /// Makes a dump of what a program has in memory, such as blocks that another library has read.
    ///
    /// - Parameters:
    ///   - card: the identity of the card.
    ///   - systems: the FeliCa systems in the card's order.
    ///   - applications: the applications of an ISO 7816 card.
    ///   - type2: the memory of a Type 2 Tag.
    ///   - classic: the memory of a MIFARE Classic.
    ///   - complete: whether everything that can be read without a key is in it.
    public init(
        card: CardIdentity, systems: [SystemDump] = [], applications: [ApplicationDump] = [], type2: Type2Dump? = nil,
        classic: ClassicDump? = nil, complete: Bool = true
    ) {
        self.init(
            tool: nil, complete: complete, card: card, systems: systems, applications: applications, type2: type2,
            classic: classic)
    }

    /// Makes a dump of blocks of a FeliCa card, such as those that a phone or another library has read.
    ///
    /// ```swift
    /// let dump = CardDump(idm: idm, pmm: pmm, systems: [.transit: [history: blocks]])
    /// print(try dump.history())
    /// ```
    ///
    /// It is not complete (``isComplete``): what else is on the card is unknown. Areas, key versions, blocks that do not
    /// begin at 0, and an IDm for each system are for ``init(card:systems:applications:type2:classic:complete:)``.
    ///
    /// - Parameters:
    ///   - idm: the IDm with which the card answered; each system has it.
    ///   - pmm: the PMm.
    ///   - systems: the blocks of each service from block 0, by service and system; the dump has them by code.
    public init(idm: IDm, pmm: PMm, systems: [SystemCode: [ServiceCode: [Block]]]) {
        let systems = systems.sorted { $0.key < $1.key }.map { code, services in
            SystemDump(
                systemCode: code, idm: idm, pmm: pmm,
                services: services.sorted { $0.key < $1.key }.map { ServiceDump(code: $0.key, blocks: $0.value) })
        }
        self.init(card: .felica(idm: idm, pmm: pmm), systems: systems, complete: false)
    }

    /// Makes a dump of files of an ISO 7816 card; it is not complete.
    ///
    /// - Parameters:
    ///   - card: the identity, such as ``CardIdentity/typeB(pupi:applicationData:protocolInfo:bitRate:)``.
    ///   - files: the contents of each transparent EF from its first byte, by file and application.
    public init(card: CardIdentity, files: [AID: [FileIdentifier: [UInt8]]]) {
        let applications = files.sorted { $0.key.description < $1.key.description }.map { aid, files in
            ApplicationDump(
                aid: aid, files: files.sorted { $0.key < $1.key }.map { FileDump(id: $0.key, data: $0.value) })
        }
        self.init(card: card, applications: applications, complete: false)
    }

    /// Makes a dump of the memory of a Type 2 Tag; it is not complete.
    ///
    /// - Parameters:
    ///   - card: the identity, such as ``CardIdentity/typeA(uid:atqa:sak:ats:bitRate:)``.
    ///   - memory: the bytes from page 0, four for each page; an incomplete last page is left out.
    public init(card: CardIdentity, memory: [UInt8]) {
        let pages = (0..<min(memory.count / 4, 0x10000)).map { page in
            (UInt16(truncatingIfNeeded: page), Array(memory[(page * 4)...].prefix(4)))
        }
        self.init(card: card, type2: Type2Dump(pages: Dictionary(pages) { first, _ in first }), complete: false)
    }

    /// Returns the first system with this code.
    public func system(_ code: SystemCode) -> SystemDump? {
        systems.first { $0.systemCode == code }
    }

    /// Returns the first application with this AID; `nil` stands for the master file.
    public func application(_ aid: AID?) -> ApplicationDump? {
        applications.first { $0.aid == aid }
    }

    /// Returns the blocks that were read from a service, by number; `nil` if the service is not in the dump.
    package func blocks(_ system: SystemCode, _ service: ServiceCode) -> BlockTable? {
        self.system(system)?.service(service)?.blocks
    }
}

extension CardDump {
    /// The longest document that is accepted, in bytes; no card's dump comes near it.
    public static let longestDocument = 8 << 20

    /// Reads the document `kazasu.dump/1`.
    ///
    /// - Throws: ``DocumentError`` with the path of the faulty value.
    public init(parsing bytes: [UInt8]) throws(DocumentError) {
        try self.init(parsing: bytes[...])
    }

    /// Reads part of a text, such as one line of NDJSON.
    ///
    /// - Throws: ``DocumentError`` with the path of the faulty value.
    public init(parsing bytes: ArraySlice<UInt8>) throws(DocumentError) {
        guard bytes.count <= CardDump.longestDocument else {
            throw .tooLong(bytes: bytes.count, limit: CardDump.longestDocument)
        }
        // A faulty text is parsed again as a tree, which knows the path of the error.
        if let tape = try? JSONTape(parsing: bytes), let dump = try? CardDump(root: JSONCursor(tape)) {
            self = dump
        } else {
            try self.init(json: JSONValue(parsing: bytes))
        }
    }

    /// Makes a dump from the document as a JSON value.
    ///
    /// - Throws: ``DocumentError`` with the path of the faulty value.
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
            classic: try root.optional("classic").map { classic throws(DocumentError) in
                try ClassicDump(json: classic)
            },
            extra: try root.members(without: CardDump.keys))
        desfire = try root.optional("desfire").map { part throws(DocumentError) in try DESFireMemory(json: part) }
        if let iso7816 = try root.optional("iso7816")?.members(without: ["applications"]), !iso7816.members.isEmpty {
            extra["iso7816"] = .object(iso7816)
        }
        if let felica = try root.optional("felica")?.members(without: ["systems"]), !felica.members.isEmpty {
            extra["felica"] = .object(felica)
        }
    }

    private static let keys: [StaticString] = [
        "schema", "tool", "readAt", "reader", "complete", "missing", "card", "felica", "iso7816", "type2",
        "classic", "desfire",
    ]

    /// The document `kazasu.dump/1`, indented, with a final newline; ``init(parsing:)-([UInt8])`` reads it again.
    public var document: String { json.prettyText + "\n" }

    /// The document `kazasu.dump/1`.
    package var json: JSONValue {
        var document = JSONObject([("schema", .string(CardDump.schema))])
        document["tool"] = tool.map { .string($0) }
        document["readAt"] = readAt.map { .string($0) }
        document["reader"] = reader.map { .string($0) }
        document["complete"] = .bool(isComplete)
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
        document["classic"] = classic?.json
        document["desfire"] = desfire?.json
        document.merge(extra.without(["felica", "iso7816"]))
        return .object(document)
    }
}

/// A part that could have been read but was not, because the card left or the radio failed.
public struct MissingPart: Hashable, Sendable {
    /// The system it belongs to; `nil` if even the list of systems is incomplete.
    public var system: SystemCode?
    /// The service; `nil` if the list of the system's nodes is incomplete.
    public var service: ServiceCode?
    /// The first block that was not read; `nil` if unknown.
    public var fromBlock: UInt16?
    /// ISO 7816: the application; `nil` with ``file`` for a file of the master file.
    public var application: AID?
    /// ISO 7816: the file that was not read to the end.
    public var file: FileIdentifier?
    /// Type 2 Tag: the first page that was not read.
    public var fromPage: UInt16?
    /// Why it was not read.
    public var reason: Reason
    /// Members of the document that are unknown to this version.
    package var extra: JSONObject

    package init(
        system: SystemCode? = nil, service: ServiceCode? = nil, fromBlock: UInt16? = nil,
        application: AID? = nil, file: FileIdentifier? = nil, fromPage: UInt16? = nil, reason: Reason,
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

    /// Why a part was not read; a dump may have a reason that this version does not know.
    public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The word in the document.
        public let rawValue: String

        /// Makes a reason from the word in a document.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The card left the reader.
        public static let cardLost = Reason(rawValue: "cardLost")
        /// The card's answers were damaged.
        public static let radioError = Reason(rawValue: "radioError")
        /// An answer of the card violates the protocol.
        public static let badAnswer = Reason(rawValue: "badAnswer")
        /// The card gave no answer that shows what it contains.
        public static let cardSilent = Reason(rawValue: "cardSilent")
        /// The reader failed.
        public static let readerFailed = Reason(rawValue: "readerFailed")
        /// Reading was cancelled.
        public static let cancelled = Reason(rawValue: "cancelled")

        /// The word in the document.
        public var description: String { rawValue }
    }
}

extension JSONCursor {
    /// Returns this value as an IDm of 16 digits.
    package func idm() throws(DocumentError) -> IDm {
        guard let idm = IDm(try bytes(count: 8)) else { throw malformed(.hexDigits, "16") }
        return idm
    }

    /// Returns this value as a PMm of 16 digits.
    package func pmm() throws(DocumentError) -> PMm {
        guard let pmm = PMm(try bytes(count: 8)) else { throw malformed(.hexDigits, "16") }
        return pmm
    }

    /// Returns the elements of this array, each read by `read`.
    package func list<Element>(
        _ read: (JSONCursor) throws(DocumentError) -> Element
    ) throws(DocumentError) -> [Element] {
        var list: [Element] = []
        for element in try elements() { list.append(try read(element)) }
        return list
    }
}
