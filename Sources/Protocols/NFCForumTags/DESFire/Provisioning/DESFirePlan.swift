// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
internal import NDEF

/// What a DESFire is set up with: applications with their keys' type and their files, a message for phones, and settings.
///
/// A plan has no keys.
public struct DESFirePlan: Hashable, Sendable {
    /// The name and version of the document.
    static let schema = "kazasu.tagPlan/1"
    /// The chip that a document names.
    package static let chip = "desfire"

    /// An application as it is made.
    struct Application: Hashable, Sendable {
        let id: DESFireApplicationID
        let keyType: DESFireKeyType
        let keyCount: Int
        /// The settings that it has in the end.
        let settings: UInt8
        /// The DF name of ISO 7816; empty without one.
        let name: [UInt8]
        /// The identifier of ISO 7816; `nil` for an application whose files have none.
        let isoID: UInt16?
        let files: [File]
    }

    /// A file as it is made.
    struct File: Hashable, Sendable {
        let number: UInt8
        let mode: DESFireMode
        /// Two bytes as they are sent: both and change, read and write.
        let rights: [UInt8]
        let kind: Kind
        /// What is written to it; empty to leave it as it was made.
        let data: [UInt8]
        /// The identifier of ISO 7816.
        let isoID: UInt16?

        enum Kind: Hashable, Sendable {
            case standard(size: Int)
            case backup(size: Int)
            case value(lower: Int32, upper: Int32, value: Int32)
            case linear(size: Int, maximum: Int)
            case cyclic(size: Int, maximum: Int)
        }
    }

    /// The document, for a journal.
    package let json: JSONValue
    let applications: [Application]
    /// The settings that the card itself gets; `nil` to leave them.
    let cardSettings: UInt8?
    /// The URI of the message for phones; `nil` without one.
    let uri: String?
    /// The key that writes the message; `nil` if everybody may, or without a message.
    let writeKey: DESFireKeyID?
    /// What a reset deletes; `nil` for a setup.
    let deletion: Deletion?

    struct Deletion: Hashable, Sendable {
        let applications: [DESFireApplicationID]
        /// Whether the card is formatted.
        let isFormat: Bool
    }

    /// Whether the card is to be as it was made.
    package var isReset: Bool { deletion != nil }

    /// The settings of a card, and of an application, as they are made: key 0 may do everything, and everybody may list.
    static let factorySettings: UInt8 = 0x0F

    /// Whether anything in it can never be undone but by deleting the application.
    public var isPermanent: Bool {
        func isFrozen(_ settings: UInt8) -> Bool { settings & 0x09 != 0x09 }
        return applications.contains { application in
            isFrozen(application.settings) || application.settings >> 4 == 0x0F
                || application.files.contains { $0.rights[0] & 0x0F == 0x0F }
        } || cardSettings.map(isFrozen) ?? false
    }

    /// Deletes applications, or formats the card, and gives it the factory's settings and key.
    package static func reset(deleting applications: [DESFireApplicationID], formats: Bool) -> DESFirePlan {
        DESFirePlan(Deletion(applications: applications, isFormat: formats))
    }

    private init(_ deletion: Deletion) {
        json = [
            "schema": .string(Self.schema), "chip": .string(Self.chip), "reset": true,
            "applications": .array(deletion.applications.map { .string($0.description) }),
            "format": .bool(deletion.isFormat),
        ]
        (applications, cardSettings, uri, writeKey) = ([], Self.factorySettings, nil, nil)
        self.deletion = deletion
    }

    /// Parses a plan.
    ///
    /// - Parameter bytes: a document `kazasu.tagPlan/1` with the chip `desfire`.
    /// - Throws: `DocumentError`, with the member's name.
    public init(_ bytes: [UInt8]) throws(DocumentError) {
        guard bytes.count <= 1 << 16 else { throw .tooLong(bytes: bytes.count, limit: 1 << 16) }
        try self.init(JSONCursor(try JSONValue(parsing: bytes)))
    }

    /// Reads the plan of a journal.
    package static func ofJournal(_ document: JSONCursor) throws(DocumentError) -> DESFirePlan {
        guard case .bool(true)? = try document.optional("reset")?.value else { return try DESFirePlan(document) }
        var applications: [DESFireApplicationID] = []
        for json in try document.required("applications").elements() { applications.append(try id(json)) }
        return reset(deleting: applications, formats: try document.required("format").bool())
    }

    private static func only(_ json: JSONCursor, _ members: [String]) throws(DocumentError) {
        for (name, value) in try json.members() where !(members + ["comment"]).contains(name) {
            throw value.malformed(.knownMember, values: members)
        }
    }

    private init(_ document: JSONCursor) throws(DocumentError) {
        let schema = try document.required("schema").text()
        guard schema == Self.schema else { throw .unknownSchema(found: schema, supported: Self.schema) }
        let chip = try document.required("chip")
        guard try chip.text() == Self.chip else { throw chip.malformed(.oneOf, values: [Self.chip]) }
        try Self.only(document, ["applications", "chip", "ndef", "piccSettings", "schema"])
        json = document.value
        deletion = nil
        var applications: [Application] = []
        for json in try document.optional("applications")?.elements() ?? [] {
            let application = try Application(json)
            guard !applications.contains(where: { $0.id == application.id }) else {
                throw try json.required("aid").malformed(.uniqueKey)
            }
            applications.append(application)
        }
        (uri, writeKey) = (try document.optional("ndef")?.optional("uri")?.text(), try Self.writer(document))
        if let json = try document.optional("ndef") {
            let application = try Application(ndef: json, writer: writeKey)
            guard !applications.contains(where: { $0.id == application.id }) else { throw json.malformed(.uniqueKey) }
            applications.append(application)
        }
        self.applications = applications
        cardSettings = try document.optional("piccSettings").map { json throws(DocumentError) in
            let settings = try json.bytes(count: 1)[0]
            guard settings <= 0x0F else { throw json.malformed(.form, "00–0F") }
            return settings
        }
        guard !applications.isEmpty || cardSettings != nil else { throw .missing(key: "applications") }
    }

    private static func writer(_ document: JSONCursor) throws(DocumentError) -> DESFireKeyID? {
        guard let json = try document.optional("ndef")?.optional("writeKey") else { return nil }
        return DESFireKeyID(.ndef, UInt8(try json.integer(in: 0...13)))
    }

    fileprivate static func id(_ json: JSONCursor) throws(DocumentError) -> DESFireApplicationID {
        guard let id = DESFireApplicationID(try json.text()), id != .card else { throw json.malformed(.form, "F5A1C0") }
        return id
    }
}

extension DESFireApplicationID {
    /// The application with the message for phones (AN11004, mapping 2).
    static let ndef = DESFireApplicationID(rawValue: 1) ?? .card
}

extension DESFirePlan.Application {
    private static let keyTypes = ["aes": DESFireKeyType.aes, "3k3des": .threeKeyTripleDES, "des": .des]

    private static func keyType(_ json: JSONCursor) throws(DocumentError) -> DESFireKeyType { try json.word(keyTypes) }

    fileprivate init(_ json: JSONCursor) throws(DocumentError) {
        for (name, value) in try json.members()
        where !["aid", "comment", "files", "keyType", "keys", "name", "settings"].contains(name) {
            throw value.malformed(.knownMember, values: ["aid", "files", "keyType", "keys", "name", "settings"])
        }
        id = try DESFirePlan.id(json.required("aid"))
        keyType = try Self.keyType(json.required("keyType"))
        keyCount = try json.required("keys").integer(in: 1...14)
        let count = keyCount
        settings =
            try json.optional("settings").map { json throws(DocumentError) in
                let settings = try json.bytes(count: 1)[0]
                guard settings >> 4 >= 0x0E || settings >> 4 < count else {
                    throw json.malformed(.form, "0…\(count - 1), E, F")
                }
                return settings
            } ?? DESFirePlan.factorySettings
        name =
            try json.optional("name").map { json throws(DocumentError) in
                let name = try json.bytes(atMost: 16)
                guard !name.isEmpty else { throw json.malformed(.form, "1–16") }
                return name
            } ?? []
        isoID = nil
        var files: [DESFirePlan.File] = []
        for json in try json.optional("files")?.elements() ?? [] {
            let file = try DESFirePlan.File(json, keys: keyCount)
            guard !files.contains(where: { $0.number == file.number }) else {
                throw try json.required("number").malformed(.uniqueKey)
            }
            files.append(file)
        }
        self.files = files
    }

    /// The message for phones: a Capability Container and a file that everybody reads.
    ///
    /// Source: NXP AN11004, mapping 2.
    fileprivate init(ndef json: JSONCursor, writer: DESFireKeyID?) throws(DocumentError) {
        for (name, value) in try json.members() where !["comment", "keyType", "size", "uri", "writeKey"].contains(name)
        {
            throw value.malformed(.knownMember, values: ["keyType", "size", "uri", "writeKey"])
        }
        let size = try json.required("size").integer(in: 16...8192)
        var message: [UInt8] = []
        if let uri = try json.optional("uri") {
            do {
                message = try NDEFMessage([NDEFRecord(.uri(NDEFURI(try uri.text())))]).encoded()
            } catch let error as DocumentError {
                throw error
            } catch {
                throw uri.malformed(.form, "URI")
            }
            guard message.count <= size - 2 else { throw uri.malformed(.atMostBytes, "\(size - 2)") }
        }
        id = .ndef
        keyType = try json.optional("keyType").map { json throws(DocumentError) in try Self.keyType(json) } ?? .aes
        keyCount = Int(writer?.number ?? 0) + 1
        settings = DESFirePlan.factorySettings
        name = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
        isoID = 0xE110
        let fields = { (number: Int) in [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)] }
        let capability: [UInt8] = [0x00, 0x0F, 0x20, 0x00, 0x3B, 0x00, 0x34, 0x04, 0x06, 0xE1, 0x04]
        let key = writer.map { $0.number }
        files = [
            DESFirePlan.File(
                number: 1, mode: .plain, rights: [0x00, 0xE0], kind: .standard(size: 15),
                data: capability + fields(size) + [0x00, key == nil ? 0x00 : 0xFF], isoID: 0xE103),
            DESFirePlan.File(
                number: 2, mode: .plain, rights: key.map { [$0 << 4, 0xE0 | $0] } ?? [0xE0, 0xEE],
                kind: .standard(size: size), data: fields(message.count) + message, isoID: 0xE104),
        ]
    }
}

extension DESFirePlan.File {
    private static let members = [
        "access", "data", "lower", "maxRecords", "mode", "number", "recordSize", "size", "type", "upper", "value",
    ]
    private static let modes = ["plain": DESFireMode.plain, "mac": .mac, "full": .full]

    /// What belongs to a type besides number, type, mode and access.
    private static let own = [
        "standard": ["data", "size"], "backup": ["data", "size"], "value": ["lower", "upper", "value"],
        "linear": ["maxRecords", "recordSize"], "cyclic": ["maxRecords", "recordSize"],
    ]

    fileprivate init(_ json: JSONCursor, keys: Int) throws(DocumentError) {
        let typeJSON = try json.required("type")
        let type = try typeJSON.text()
        guard let own = Self.own[type] else { throw typeJSON.malformed(.oneOf, values: Self.own.keys.sorted()) }
        let known = own + ["access", "comment", "mode", "number", "type"]
        for (name, value) in try json.members() where !known.contains(name) {
            throw value.malformed(.knownMember, values: Self.members.filter { known.contains($0) })
        }
        number = UInt8(try json.required("number").integer(in: 0...31))
        mode = try json.optional("mode").map { json throws(DocumentError) in try json.word(Self.modes) } ?? .plain
        let access = try json.required("access")
        let digits = try access.bytes(count: 2)
        let nibbles = digits.flatMap { [$0 >> 4, $0 & 0x0F] }
        guard nibbles.allSatisfy({ $0 >= 0x0E || $0 < keys }) else {
            throw access.malformed(.form, "0–\(keys - 1), E, F")
        }
        rights = [digits[1], digits[0]]
        isoID = nil
        var data: [UInt8] = []
        switch type {
        case "standard", "backup":
            let size = try json.required("size").integer(in: 1...32_640)
            data = try json.optional("data").map { json throws(DocumentError) in try json.bytes(atMost: size) } ?? []
            kind = type == "backup" ? .backup(size: size) : .standard(size: size)
            guard data.isEmpty || nibbles[1] != 0x0F || nibbles[2] != 0x0F else {
                // Nobody could write it.
                throw access.malformed(.form, "write, both")
            }
        case "value":
            let range = Int(Int32.min)...Int(Int32.max)
            let lower = try json.optional("lower")?.integer(in: range) ?? 0
            let upperJSON = try json.required("upper")
            let upper = try upperJSON.integer(in: range)
            guard lower <= upper else { throw upperJSON.malformed(.form, "\(lower)…") }
            let value = try json.optional("value")?.integer(in: lower...upper) ?? lower
            kind = .value(lower: Int32(lower), upper: Int32(upper), value: Int32(value))
        default:
            let isCyclic = type == "cyclic"
            let size = try json.required("recordSize").integer(in: 1...4096)
            // One record of a cyclic file is the reserve.
            let maximum = try json.required("maxRecords").integer(in: (isCyclic ? 2 : 1)...4096)
            kind = isCyclic ? .cyclic(size: size, maximum: maximum) : .linear(size: size, maximum: maximum)
        }
        self.data = data
    }

    /// The command that makes the file, and its data.
    var creation: (command: DESFireCommand, data: [UInt8]) {
        func field(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let id = isoID.map { field(Int($0), 2) } ?? []
        let head = [number] + id + [mode.rawValue] + rights
        switch kind {
        case .standard(let size): return (.createStandardFile, head + field(size, 3))
        case .backup(let size): return (.createBackupFile, head + field(size, 3))
        case .value(let lower, let upper, let value):
            return (
                .createValueFile, head + field(Int(lower), 4) + field(Int(upper), 4) + field(Int(value), 4) + [0x00]
            )
        case .linear(let size, let maximum):
            return (.createLinearFile, head + field(size, 3) + field(maximum, 3))
        case .cyclic(let size, let maximum):
            return (.createCyclicFile, head + field(size, 3) + field(maximum, 3))
        }
    }

    /// The bytes that it takes on the card, in blocks of 32.
    var room: Int {
        func blocks(_ bytes: Int) -> Int { (bytes + 31) / 32 * 32 }
        switch kind {
        case .standard(let size): return blocks(size)
        case .backup(let size): return 2 * blocks(size)
        case .value: return 32
        case .linear(let size, let maximum), .cyclic(let size, let maximum): return blocks(size * maximum)
        }
    }

    /// Whether a file on the card has these settings.
    func fits(_ file: DESFireFile) -> Bool {
        let found = [file.readWrite.nibble << 4 | file.change.nibble, file.read.nibble << 4 | file.write.nibble]
        guard file.number == number, file.mode == mode, found == rights else { return false }
        switch (kind, file.extent) {
        case (.standard(let size), .bytes(let found)): return file.type == .standard && size == found
        case (.backup(let size), .bytes(let found)): return file.type == .backup && size == found
        case (.value(let lower, let upper, _), .value(let low, let high, let limited)):
            return lower == low && upper == high && !limited
        case (.linear(let size, let maximum), .records(let found, let most, _)):
            return file.type == .linear && size == found && maximum == most
        case (.cyclic(let size, let maximum), .records(let found, let most, _)):
            return file.type == .cyclic && size == found && maximum == most
        default: return false
        }
    }
}

extension JSONCursor {
    /// One of several words.
    fileprivate func word<Value>(_ meanings: [String: Value]) throws(DocumentError) -> Value {
        guard let value = meanings[try text()] else { throw malformed(.oneOf, values: meanings.keys.sorted()) }
        return value
    }

    fileprivate func bytes(atMost limit: Int) throws(DocumentError) -> [UInt8] {
        let bytes = try bytes()
        guard bytes.count <= limit else { throw malformed(.atMostBytes, "\(limit)") }
        return bytes
    }
}
