// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Reads `kazasu.card/1`.
enum HandWrittenCard {
    private static let keys: Set<String> = ["schema", "comment", "idm", "pmm", "systems", "lite", "virtual"]
    private static let systemKeys: Set<String> = [
        "code", "idm", "pmm", "keyVersion", "keyVersions", "nodes", "blocks", "properties", "comment", "keys",
        "aesKeys",
        "aesKeyVersions", "issueId", "issueParameter", "individualKey", "freeBlocks",
    ]

    static func load(_ root: JSONCursor, _ options: VirtualOptions) throws(DocumentError) -> VirtualFeliCaCard {
        try root.allowOnly(keys)
        let idm = try root.required("idm").idm()
        let pmm = try root.required("pmm").pmm()
        if let lite = try root.optional("lite") {
            let memory = try liteMemory(lite, idm: idm, pmm: pmm)
            return VirtualFeliCaCard(lite: memory, profile: try options.applied(to: .lite))
        }
        let list = try root.required("systems")
        let elements = try list.elements()
        guard (1...16).contains(elements.count) else { throw list.malformed(.systemCount, "1–16") }
        var systems: [VirtualSystem] = []
        for (number, element) in elements.enumerated() {
            let own = idm.inSystem(UInt8(truncatingIfNeeded: number))
            systems.append(try system(element, idm: own, pmm: pmm))
        }
        try options.hide(in: &systems)
        return VirtualFeliCaCard(systems: systems, profile: try options.applied(to: CardProfile(pmm: pmm)))
    }

    private static func liteMemory(_ json: JSONCursor, idm: IDm, pmm: PMm) throws(DocumentError) -> LiteMemory {
        try json.allowOnly(["kind", "blocks"])
        let kinds = Dictionary(uniqueKeysWithValues: LiteMemory.Kind.allCases.map { ($0.rawValue, $0) })
        let kind = try json.optional("kind")?.word(kinds) ?? LiteMemory.kind(of: pmm) ?? .liteS
        return LiteMemory(kind: kind, idm: idm, pmm: pmm, blocks: try numbered(json.optional("blocks")))
    }

    /// Blocks by number, as in `{"0000": "…"}`.
    private static func numbered(_ json: JSONCursor?) throws(DocumentError) -> BlockTable {
        var blocks: BlockTable = [:]
        for (key, value) in try json?.members() ?? [] {
            guard let number = NodeCode(key) else {
                throw value.malformed(.hexName, "1–4")
            }
            blocks[number.rawValue] = try block(value)
        }
        return blocks
    }

    private static func block(_ json: JSONCursor) throws(DocumentError) -> Block {
        guard let block = Block(try json.bytes(count: 16)) else { throw json.malformed(.bytes, "16") }
        return block
    }

    private static func system(_ json: JSONCursor, idm: IDm, pmm: PMm) throws(DocumentError) -> VirtualSystem {
        try json.allowOnly(systemKeys)
        let code: SystemCode = try json.required("code").code()
        let keyVersion: KeyVersion = try json.optional("keyVersion")?.code() ?? .unknown
        var memory: [UInt16: BlockStore] = [:]
        var opened: [VirtualNode] = []
        for (key, value) in try json.optional("blocks")?.members() ?? [] {
            guard let service = ServiceCode(key), service.kind != nil else {
                throw value.malformed(.serviceName)
            }
            guard memory[service.overlapGroup] == nil else {
                throw value.malformed(.unsharedBlocks)
            }
            memory[service.overlapGroup] = try store(value)
            opened.append(VirtualNode(service: service, keyVersion: keyVersion))
        }
        var nodes =
            try json.optional("nodes")?.list { element throws(DocumentError) in
                try node(element, keyVersion: keyVersion)
            } ?? []
        for node in opened where !nodes.contains(where: { $0.code == node.code }) {
            let place = nodes.firstIndex { $0.code > node.code } ?? nodes.endIndex
            nodes.insert(node, at: place)
        }
        // The root area is there even where nobody lists it, and has a key and a version of its own.
        if !nodes.contains(where: { $0.code == AreaCode.root.node }) {
            nodes.insert(VirtualNode(area: .root, end: AreaCode(rawValue: 0xFFFE), keyVersion: keyVersion), at: 0)
        }
        try apply(json.optional("keyVersions"), json.optional("properties"), to: &nodes)
        var system = VirtualSystem(
            code: code, idm: try json.optional("idm")?.idm() ?? idm, pmm: try json.optional("pmm")?.pmm() ?? pmm,
            keyVersion: keyVersion, nodes: nodes, memory: memory)
        system.keys = try keys(json, of: system)
        if let free = try json.optional("freeBlocks") {
            system.freeBlocks = UInt16(clamping: try free.integer(in: 0...65_535))
        }
        if let version = try json.optional("keyVersions")?.optional("FFFF") { system.keyVersion = try version.code() }
        return system
    }

    /// Parses a node: `"0048"` is a service, `"1000-17FF"` an area.
    private static func node(_ json: JSONCursor, keyVersion: KeyVersion) throws(DocumentError) -> VirtualNode {
        let parts = try json.text().split(separator: "-", omittingEmptySubsequences: false)
        switch (parts.element(at: 0).flatMap { NodeCode($0) }, parts.element(at: 1).flatMap { AreaCode($0) }) {
        case (let code?, nil) where parts.count == 1 && ServiceCode(rawValue: code.rawValue).kind != nil:
            return VirtualNode(service: ServiceCode(rawValue: code.rawValue), keyVersion: keyVersion)
        case (let code?, let end?) where parts.count == 2 && end.rawValue >= code.rawValue:
            return VirtualNode(area: AreaCode(rawValue: code.rawValue), end: end, keyVersion: keyVersion)
        default:
            throw json.malformed(.serviceOrArea)
        }
    }

    /// The keys of a system, which are test data; `nil` if it has none.
    private static func keys(_ json: JSONCursor, of system: VirtualSystem) throws(DocumentError) -> VirtualKeys? {
        func byNode<Value>(
            _ key: String, _ read: (JSONCursor) throws(DocumentError) -> Value
        ) throws(DocumentError) -> [UInt16: Value] {
            var values: [UInt16: Value] = [:]
            for (name, value) in try json.optional(key)?.members() ?? [] {
                guard let code = NodeCode(name), system.keyVersion(of: code.rawValue) != nil else {
                    throw value.malformed(.nodeName)
                }
                values[code.rawValue] = try read(value)
            }
            return values
        }
        var keys = VirtualKeys()
        keys.des = try byNode("keys") { value throws(DocumentError) in try value.bytes(count: 8) }
        keys.aes = try byNode("aesKeys") { value throws(DocumentError) in try value.bytes(count: 16) }
        keys.aesVersions = try byNode("aesKeyVersions") { value throws(DocumentError) in try value.code() }
        if let bytes = try json.optional("issueId") { keys.issueID = try bytes.bytes(count: 8) }
        if let bytes = try json.optional("issueParameter") { keys.issueParameter = try bytes.bytes(count: 8) }
        if let bytes = try json.optional("individualKey") { keys.individual = try bytes.bytes(count: 16) }
        return keys.des.isEmpty && keys.aes.isEmpty ? nil : keys
    }

    private static func apply(
        _ versions: JSONCursor?, _ properties: JSONCursor?, to nodes: inout [VirtualNode]
    ) throws(DocumentError) {
        for (key, value) in try versions?.members() ?? [] where NodeCode(key) != .system {
            nodes[try place(of: key, value, in: nodes)].keyVersion = try value.code()
        }
        for (key, value) in try properties?.members() ?? [] {
            let place = try place(of: key, value, in: nodes)
            try value.allowOnly(["purse", "mac", "area"])
            if let data = try value.optional("purse") { nodes[place].properties[0] = try data.bytes(count: 10) }
            if let data = try value.optional("mac") { nodes[place].properties[1] = try data.bytes(count: 1) }
            if let data = try value.optional("area") { nodes[place].information = try data.bytes(count: 2) }
        }
    }

    private static func place(
        of key: String, _ value: JSONCursor, in nodes: [VirtualNode]
    ) throws(DocumentError) -> Int {
        guard let code = NodeCode(key), let place = nodes.firstIndex(where: { $0.code == code }) else {
            throw value.malformed(.nodeName)
        }
        return place
    }

    /// A number of blocks of zeros, a list of blocks, or `{"count": …, "data": {"0000": …}}`.
    private static func store(_ json: JSONCursor) throws(DocumentError) -> BlockStore {
        switch json.value {
        case .integer: return zeros(try json.integer(in: 0...65_536), [:])
        case .object:
            try json.allowOnly(["count", "data"])
            let data = try numbered(json.optional("data"))
            return zeros(try json.optional("count")?.integer(in: 0...65_536) ?? 0, data)
        default:
            return BlockStore(try json.list { element throws(DocumentError) in try block(element) })
        }
    }

    private static func zeros(_ count: Int, _ data: BlockTable) -> BlockStore {
        let all = max(count, data.last.map { Int($0.number) + 1 } ?? 0)
        return BlockStore((0..<all).map { data[UInt16(truncatingIfNeeded: $0)] ?? .zero })
    }
}
