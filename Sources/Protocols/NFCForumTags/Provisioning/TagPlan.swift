// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import NDEF

/// What an NTAG 424 DNA is set up with: its URL or message, who may do what with its files, and what is permanent.
///
/// A plan has no keys. Source of the settings: NT4H2421Gx data sheet, §10.7.
public struct TagPlan: Hashable, Sendable {
    /// The name and version of the document.
    static let schema = "kazasu.tagPlan/1"

    /// The settings of a file from FileOption on, as they are sent.
    typealias Settings = [UInt8]

    /// The document, for a journal.
    package let json: JSONValue
    /// The message that file 2 gets.
    let message: [UInt8]
    /// The settings that files 2 and 3 get, unless they are permanent.
    let settings: [UInt8: Settings]
    /// The numbers of the keys for PICC data and MAC; `nil` where the URL has none.
    let metaKey, fileKey: UInt8?
    /// Whether the tag's URL is made new each time, and can be verified.
    let isVerifiable: Bool
    /// Whether file 2 is made read-only forever.
    let isReadOnly: Bool
    /// Whether the tag is switched to LRP forever.
    let isLRP: Bool
    /// Whether the tag shows a random UID forever.
    let hasRandomUID: Bool
    /// Whether the factory's state comes back.
    let isReset: Bool

    /// Whether it is ``reset``.
    package var isFactoryState: Bool { isReset }

    /// Whether anything in it can never be undone.
    public var isPermanent: Bool {
        isReadOnly || isLRP || hasRandomUID || settings.values.contains { $0[1] & 0x0F == 0x0F }
    }

    /// The factory's settings by file.
    static let factory: [UInt8: Settings] = [1: [0x00, 0x00, 0xE0], 2: [0x00, 0xE0, 0xEE], 3: [0x03, 0x30, 0x23]]

    /// Everything as it was when the tag was made.
    package static let reset = TagPlan()

    private init() {
        json = ["schema": .string(Self.schema), "chip": "ntag424", "reset": true]
        (message, settings, metaKey, fileKey) = ([], Self.factory.filter { $0.key != 1 }, nil, nil)
        (isVerifiable, isReadOnly, isLRP, hasRandomUID, isReset) = (false, false, false, false, true)
    }

    /// Parses a plan.
    ///
    /// - Parameter bytes: a document `kazasu.tagPlan/1`.
    /// - Throws: `DocumentError`, with the member's name.
    public init(_ bytes: [UInt8]) throws(DocumentError) {
        guard bytes.count <= 1 << 16 else { throw .tooLong(bytes: bytes.count, limit: 1 << 16) }
        try self.init(JSONCursor(try JSONValue(parsing: bytes)))
    }

    /// The members of a plan.
    private static let members = [
        "access", "chip", "comment", "counterKey", "counterLimit", "fileKey", "lrp", "metaKey", "ndef", "randomUID",
        "readOnly", "schema", "url",
    ]

    /// Reads the plan of a journal.
    package static func ofJournal(_ document: JSONCursor) throws(DocumentError) -> TagPlan {
        if case .bool(true)? = try document.optional("reset")?.value { return reset }
        return try TagPlan(document)
    }

    private init(_ document: JSONCursor) throws(DocumentError) {
        let schema = try document.required("schema").text()
        guard schema == Self.schema else { throw .unknownSchema(found: schema, supported: Self.schema) }
        let chip = try document.required("chip")
        guard try chip.text() == "ntag424" else { throw chip.malformed(.oneOf, values: ["desfire", "ntag424"]) }
        for (name, value) in try document.members() where !Self.members.contains(name) {
            throw value.malformed(.knownMember, values: Self.members)
        }
        json = document.value
        isReadOnly = try document.optional("readOnly")?.bool() ?? false
        hasRandomUID = try document.optional("randomUID")?.bool() ?? false
        isLRP = try document.optional("lrp")?.bool() ?? false
        isReset = false

        let url = try document.optional("url")
        let ndef = try document.optional("ndef")
        if url != nil, let ndef { throw ndef.malformed(.form, "url | ndef") }
        guard let content = url ?? ndef else { throw .missing(key: "url") }
        let mode = isLRP
        let template = try url.map { json throws(DocumentError) in try TagTemplate(json, isLRP: mode) }
        var start = 0
        if let template {
            (message, start) = try template.message(content)
        } else {
            message = try content.bytes()
            guard (try? NDEFMessage(decoding: message)) != nil else { throw content.malformed(.form, "NDEF") }
        }
        guard message.count <= Self.longestMessage else {
            throw content.malformed(.atMostBytes, "\(Self.longestMessage)")
        }

        metaKey = try Self.key(document, "metaKey", isNeeded: template?.picc != nil)
        fileKey = try Self.key(document, "fileKey", isNeeded: template?.mac != nil)
        isVerifiable = template?.mac != nil
        var settings = try Self.access(document)
        let dynamic = try Self.dynamicPart(document, template, metaKey, fileKey, offset: start + 2)
        if !dynamic.isEmpty, let own = settings[2] {
            guard own[2] >> 4 == 0x0E || own[1] >> 4 == 0x0E else {
                // Nobody would see the URL.
                throw try document.required("access").malformed(.form, "{\"2\": \"E000\"}")
            }
            settings[2] = [own[0] | 0x40] + own[1...] + dynamic
        }
        self.settings = settings
    }

    /// File 2 has 256 bytes, of which two are the length.
    private static let longestMessage = 254

    private static func key(
        _ document: JSONCursor, _ name: String, isNeeded: Bool
    ) throws(DocumentError) -> UInt8? {
        guard let json = try document.optional(name) else {
            if isNeeded { throw .missing(key: name) }
            return nil
        }
        let number = UInt8(try json.integer(in: 0...4))
        guard isNeeded else { throw json.malformed(.form, name == "metaKey" ? "url {picc}" : "url {mac}") }
        return number
    }

    /// The rights of files 2 and 3, as `read, write, both, change`.
    private static func access(_ document: JSONCursor) throws(DocumentError) -> [UInt8: Settings] {
        // Everybody reads, key 0 does the rest.
        var settings: [UInt8: Settings] = [2: [0x00, 0x00, 0xE0]]
        for (name, value) in try document.optional("access")?.members() ?? [] {
            guard let number = UInt8(name), name == "2" || name == "3" else {
                throw value.malformed(.oneOfNames, values: ["2", "3"])
            }
            let digits = try value.text().utf8.map { $0 }
            let rights = try value.bytes(count: 2)
            let nibbles = [rights[0] >> 4, rights[0] & 0x0F, rights[1] >> 4, rights[1] & 0x0F]
            guard digits.count == 4, nibbles.allSatisfy({ $0 <= 4 || $0 >= 0x0E }), nibbles[3] != 0x0E else {
                throw value.malformed(.form, "0–4, E, F")
            }
            settings[number] = [number == 3 ? 0x03 : 0x00, rights[1], rights[0]]
        }
        return settings
    }

    /// What ChangeFileSettings has behind the rights; empty if the URL does not change.
    ///
    /// - Parameter offset: where the URL's first character would be in the file.
    private static func dynamicPart(
        _ document: JSONCursor, _ template: TagTemplate?, _ metaKey: UInt8?, _ fileKey: UInt8?, offset: Int
    ) throws(DocumentError) -> [UInt8] {
        let limit = try document.optional("counterLimit")
        let counter = try counterKey(document)
        guard let template, template.isDynamic else {
            if let limit { throw limit.malformed(.form, "url {picc}") }
            if counter != nil { throw try document.required("counterKey").malformed(.form, "url {picc}") }
            return []
        }
        let hasCounter = template.picc != nil || template.counter != nil
        var options: UInt8 = 0x01
        if template.picc != nil || template.uid != nil { options |= 0x80 }
        if hasCounter { options |= 0x40 }
        if template.file != nil { options |= 0x10 }
        if limit != nil { options |= 0x20 }
        func place(_ value: Int) -> [UInt8] { (0..<3).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        func place(_ part: TagTemplate.Part?) -> [UInt8] { part.map { place($0.offset + offset) } ?? [] }
        let meta: UInt8 = metaKey ?? 0x0E
        var bytes = [options, 0xF0 | (counter ?? 0x0F), meta << 4 | (fileKey ?? 0x0F)]
        bytes += place(template.uid) + place(template.counter) + place(template.picc)
        if template.mac != nil, let input = template.input { bytes += place(input + offset) }
        if let file = template.file { bytes += place(file) + place(file.length) }
        bytes += place(template.mac)
        if let limit {
            guard hasCounter else { throw limit.malformed(.form, "url {ctr}") }
            bytes += place(try limit.integer(in: 1...0xFF_FFFF))
        }
        return bytes
    }

    /// Who may read the counter; `nil` if the plan does not say.
    private static func counterKey(_ document: JSONCursor) throws(DocumentError) -> UInt8? {
        guard let json = try document.optional("counterKey") else { return nil }
        switch json.value {
        case .string("free"): return 0x0E
        case .string("never"): return 0x0F
        case .string: throw json.malformed(.oneOf, values: ["0", "1", "2", "3", "4", "free", "never"])
        default: return UInt8(try json.integer(in: 0...4))
        }
    }
}
