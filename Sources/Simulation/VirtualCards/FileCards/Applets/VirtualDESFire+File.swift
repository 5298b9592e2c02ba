// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The member `desfire` of a card file.
extension VirtualDESFire {
    package init(json: JSONCursor, of card: JSONCursor) throws(DocumentError) {
        try json.allowOnly([
            "version", "uid", "freeMemory", "deletedMemory", "signature", "settings", "keyType", "keys", "versions",
            "applications",
            "comment",
        ])
        let generations = Dictionary(uniqueKeysWithValues: Generation.allCases.map { ($0.rawValue, $0) })
        self.init(
            try json.required("version").word(generations), uid: try json.required("uid").bytes(count: 7),
            card: try Application(json, id: [0, 0, 0], keys: 1...1))
        if let free = try json.optional("freeMemory") { freeMemory = try free.integer(in: 0...0xFF_FFFF) }
        if let lost = try json.optional("deletedMemory") { deletedMemory = try lost.integer(in: 0...0xFF_FFFF) }
        if let signature = try json.optional("signature") { self.signature = try signature.bytes(count: 56) }
        isUIDHidden = try card.optional("typeA")?.optional("uid")?.value == .string("random")
        applications =
            try json.optional("applications")?.list { application throws(DocumentError) in
                try application.allowOnly([
                    "aid", "settings", "keyType", "keys", "versions", "name", "files", "fileNames", "comment",
                ])
                return try Application(application, id: application.required("aid").bytes(count: 3), keys: 1...14)
            } ?? []
    }

    /// The members that differ since a card was read from a file.
    func members(since before: VirtualDESFire) -> [(name: String, value: JSONValue)] {
        var members: [(name: String, value: JSONValue)] = []
        if freeMemory != before.freeMemory { members.append(("freeMemory", .int(freeMemory))) }
        if deletedMemory != before.deletedMemory { members.append(("deletedMemory", .int(deletedMemory))) }
        if card.settings != before.card.settings {
            members.append(("settings", .string(Hex.encode([card.settings]))))
        }
        if card.keys.first?.kind != before.card.keys.first?.kind {
            members.append(("keyType", .string(card.keys.first?.kind.rawValue ?? "des")))
        }
        if card.keys != before.card.keys {
            members.append(("keys", .array(card.keys.map { .string(Hex.encode($0.bytes)) })))
        }
        if card.versions != before.card.versions {
            members.append(("versions", .array(card.versions.map { .int(Int($0)) })))
        }
        if applications != before.applications { members.append(("applications", .array(applications.map(\.json)))) }
        return members
    }
}

extension VirtualDESFire.Application {
    fileprivate init(_ json: JSONCursor, id: [UInt8], keys: ClosedRange<Int>) throws(DocumentError) {
        let kinds = Dictionary(uniqueKeysWithValues: DESFireChipKey.Kind.allCases.map { ($0.rawValue, $0) })
        let kind = try json.required("keyType").word(kinds)
        let values = try json.required("keys")
        let list = try values.list { key throws(DocumentError) in
            DESFireChipKey(kind, try key.bytes(count: kind.length))
        }
        guard keys.contains(list.count) else { throw values.malformed(.bytes, "\(kind.length)") }
        self.init(
            id: id, settings: try json.optional("settings")?.bytes(count: 1).first ?? 0x0F, keys: list,
            versions: try json.optional("versions")?.list { version throws(DocumentError) in
                UInt8(try version.integer(in: 0...255))
            } ?? [])
        if let name = try json.optional("name") { self.name = try name.bytes(atMost: 16) }
        hasFileNames = try json.optional("fileNames")?.bool() ?? false
        for file in try json.optional("files")?.list({ file throws(DocumentError) in file }) ?? [] {
            let number = UInt8(try file.required("number").integer(in: 0...31))
            files[number] = try VirtualDESFire.File(file)
        }
    }

    fileprivate var json: JSONValue {
        var object = JSONObject([
            ("aid", .string(Hex.encode(id, uppercase: true))), ("settings", .string(Hex.encode([settings]))),
            ("keyType", .string(keys.first?.kind.rawValue ?? "aes")),
            ("keys", .array(keys.map { .string(Hex.encode($0.bytes)) })),
            ("versions", .array(versions.map { .int(Int($0)) })),
        ])
        if !name.isEmpty { object["name"] = .string(Hex.encode(name)) }
        if hasFileNames { object["fileNames"] = .bool(true) }
        object["files"] = .array(files.sorted { $0.key < $1.key }.map { $0.value.json($0.key) })
        return .object(object)
    }
}

extension VirtualDESFire.File {
    private static let kinds: [(String, Kind)] = [
        ("standard", .standard), ("backup", .backup), ("value", .value), ("linear", .linear), ("cyclic", .cyclic),
    ]
    private static let modes: [(String, UInt8)] = [("plain", 0), ("mac", 1), ("full", 3)]

    fileprivate init(_ json: JSONCursor) throws(DocumentError) {
        try json.allowOnly([
            "number", "type", "mode", "access", "data", "size", "value", "lower", "upper", "limitedCredit",
            "recordSize", "maxRecords", "records", "name", "comment",
        ])
        let kind = try json.required("type").word(Dictionary(uniqueKeysWithValues: Self.kinds))
        // Four digits as people write them: read, write, both, change.
        let rights = try json.required("access").bytes(count: 2)
        self.init(
            kind: kind, mode: try json.optional("mode")?.word(Dictionary(uniqueKeysWithValues: Self.modes)) ?? 0,
            rights: rights.reversed())
        if let name = try json.optional("name") {
            self.name = try name.bytes(count: 2).reduce(0) { $0 << 8 | UInt16($1) }
        }
        switch kind {
        case .standard, .backup:
            bytes = try json.optional("data")?.bytes(atMost: 8192) ?? []
            let size = try json.optional("size")?.integer(in: bytes.count...8192) ?? bytes.count
            bytes += [UInt8](repeating: 0, count: size - bytes.count)
        case .value:
            let range = Int(Int32.min)...Int(Int32.max)
            lower = Int32(try json.optional("lower")?.integer(in: range) ?? 0)
            upper = Int32(try json.optional("upper")?.integer(in: range) ?? Int(Int32.max))
            value = Int32(try json.optional("value")?.integer(in: range) ?? 0)
            limitedCredit = try json.optional("limitedCredit")?.bool() ?? false
        case .linear, .cyclic:
            let size = try json.required("recordSize").integer(in: 1...4096)
            recordSize = size
            maxRecords = try json.required("maxRecords").integer(in: 1...4096)
            records =
                try json.optional("records")?.list { record throws(DocumentError) in try record.bytes(count: size) }
                ?? []
            records = records.suffix(kind == .cyclic ? maxRecords - 1 : maxRecords)
        }
    }

    fileprivate func json(_ number: UInt8) -> JSONValue {
        var object = JSONObject([
            ("number", .int(Int(number))),
            ("type", .string(Self.kinds.first { $0.1 == kind }?.0 ?? "standard")),
            ("mode", .string(Self.modes.first { $0.1 == mode }?.0 ?? "plain")),
            ("access", .string(Hex.encode(rights.reversed(), uppercase: true))),
        ])
        if name != 0 { object["name"] = .string(Hex.encode([UInt8(name >> 8), UInt8(name & 0xFF)], uppercase: true)) }
        switch kind {
        case .standard, .backup: object["data"] = .string(Hex.encode(bytes))
        case .value:
            object.merge(
                JSONObject([
                    ("value", .int(Int(value))), ("lower", .int(Int(lower))), ("upper", .int(Int(upper))),
                    ("limitedCredit", .bool(limitedCredit)),
                ]))
        case .linear, .cyclic:
            object.merge(
                JSONObject([
                    ("recordSize", .int(recordSize)), ("maxRecords", .int(maxRecords)),
                    ("records", .array(records.map { .string(Hex.encode($0)) })),
                ]))
        }
        return .object(object)
    }
}
