// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// Reads Type 2 Tags from `kazasu.card/1` and from dumps.
enum Type2CardFile {
    private static let keys: Set<String> = ["schema", "comment", "type2", "virtual"]
    private static let tagKeys: Set<String> = [
        "model", "uid", "atqa", "sak", "pages", "data", "signature", "counters", "password", "passwordAnswer",
        "key", "keys", "wrongPasswords",
    ]
    private static let models = Dictionary(uniqueKeysWithValues: Type2Model.allCases.map { ($0.rawValue, $0) })

    static func load(_ root: JSONCursor) throws(DocumentError) -> VirtualType2Tag {
        try root.allowOnly(keys)
        try root.optional("virtual")?.allowOnly(["faults", "quirks"])
        let quirks = try CardQuirks(root.optional("virtual")?.optional("quirks"), Type2Quirks.names)
        let json = try root.required("type2")
        try json.allowOnly(tagKeys)
        let model = try json.required("model").word(models)
        let uid = try json.required("uid")
        guard var memory = Type2Memory(model, uid: try uid.bytes()) else { throw uid.malformed(.bytes, "7") }
        if let data = try json.optional("data") {
            let bytes = try data.bytes(atMost: (model.layout.pages - 4) * 4)
            for start in stride(from: 0, to: bytes.count, by: 4) {
                memory.write(4 + start / 4, Array(bytes[start..<min(start + 4, bytes.count)]))
            }
        }
        for (key, value) in try json.optional("pages")?.members() ?? [] {
            guard let page = FileIdentifier(key), Int(page.rawValue) < model.layout.pages else {
                throw value.malformed(.pageName)
            }
            memory.write(Int(page.rawValue), try value.bytes(count: 4))
        }
        try readSecrets(json, &memory)
        let identity = try TypeAIdentity(json: json, sak: 0x00)
        return VirtualType2Tag(memory, atqa: identity.atqa, sak: identity.sak, quirks)
    }

    private static func readSecrets(_ json: JSONCursor, _ memory: inout Type2Memory) throws(DocumentError) {
        if let signature = try json.optional("signature") {
            memory.signature = try signature.bytes(count: memory.signature.count)
        }
        for (key, value) in try json.optional("counters")?.members() ?? [] {
            guard let number = Int(key), memory.counters.indices.contains(number) else {
                throw value.malformed(.oneOfNames, "0", "1", "2")
            }
            memory.counters[number] = UInt32(clamping: try value.integer(in: 0...0xFF_FFFF))
        }
        if let value = try json.optional("wrongPasswords") {
            guard memory.layout.config != nil else { throw value.malformed(.noPassword) }
            memory.wrongPasswords = try value.integer(in: 0...(memory.model == .mf0aes20 ? 0x3FF : 7))
        }
        if let value = try json.optional("keys") {
            guard memory.model == .mf0aes20 else { throw value.malformed(.noKey) }
            let keys = try value.list { key throws(DocumentError) in try key.bytes(count: 16) }
            guard (1...2).contains(keys.count) else { throw value.malformed(.bytes, "16") }
            for (number, key) in keys.enumerated() { memory.aesKeys[number] = key }
        }
        if let value = try json.optional("key") {
            guard memory.model == .ultralightC else { throw value.malformed(.noKey) }
            memory.write(key: try value.bytes(count: 16))
        }
        for (key, offset, count) in [("password", 2, 4), ("passwordAnswer", 3, 2)] {
            guard let value = try json.optional(key) else { continue }
            guard let config = memory.layout.config, memory.model != .mf0aes20 else {
                throw value.malformed(.noPassword)
            }
            memory.write(config + offset, try value.bytes(count: count))
        }
    }

    /// Creates the tag of a dump; pages missing from the dump have their factory content.
    static func card(of dump: CardDump, _ tag: Type2Dump, _ virtual: JSONCursor?) throws(DocumentError)
        -> VirtualType2Tag
    {
        try virtual?.allowOnly(["faults", "model", "quirks"])
        let quirks = try CardQuirks(virtual?.optional("quirks"), Type2Quirks.names)
        let count = (tag.pages.keys.max().map { Int($0) } ?? 0) + 1
        let named = try virtual?.optional("model")?.word(models)
        guard let model = named ?? Type2Model.of(version: tag.version, pages: count) else {
            throw .malformed(key: "type2.version", expected: .init(.simulatedTag))
        }
        let page = { (number: UInt16) in tag.pages[number] ?? [0, 0, 0, 0] }
        let uid = dump.card.uid ?? Array(page(0).prefix(3) + page(1))
        guard var memory = Type2Memory(model, uid: uid) else {
            throw .malformed(key: "card.uid", expected: .init(.bytes, "7"))
        }
        for (number, data) in tag.pages { memory.write(Int(number), data) }
        if let signature = tag.signature, signature.count == memory.signature.count { memory.signature = signature }
        for (number, value) in tag.counters where memory.counters.indices.contains(Int(number)) {
            memory.counters[Int(number)] = value
        }
        return VirtualType2Tag(memory, atqa: dump.card.atqa ?? 0x0044, sak: dump.card.sak ?? 0x00, quirks)
    }
}

extension TypeAIdentity {
    /// Reads `uid`, `atqa` and `sak`.
    package init(json: JSONCursor, sak: UInt8) throws(DocumentError) {
        let uid = try json.required("uid")
        let atqa: NodeCode? = try json.optional("atqa")?.code()
        let sak = try json.optional("sak")?.bytes(count: 1).first ?? sak
        if uid.value == .string("random") {
            self = .random(atqa: atqa?.rawValue, sak: sak)
            return
        }
        let identity = TypeAIdentity(uid: try uid.bytes(), atqa: atqa?.rawValue, sak: sak)
        guard let identity else { throw uid.malformed(.uidOrRandom) }
        self = identity
    }
}
