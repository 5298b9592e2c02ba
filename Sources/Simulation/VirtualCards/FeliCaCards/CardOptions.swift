// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import ReaderCore

/// The member `virtual` of a card file: the differences from the card's IC.
struct VirtualOptions {
    private static let keys: Set<String> = [
        "also", "answerTime", "bitRates", "blocksPerRead", "blocksPerWrite", "commands", "containerID",
        "containerIssue", "containerProperties", "echoLimit", "encryption", "faults", "knownAttributes", "overLimit",
        "productInformation", "quirks", "refusal", "requestCodes", "silent", "specificationVersion", "startup",
        "statusStyle",
        "systemStatus", "trailingBytes", "unlistedSystems", "visits",
    ]

    private let json: JSONCursor?

    init(_ json: JSONCursor?) throws(DocumentError) {
        try json?.allowOnly(VirtualOptions.keys)
        self.json = json
    }

    /// Returns the profile with these options.
    func applied(to profile: CardProfile) throws(DocumentError) -> CardProfile {
        guard let json else { return profile }
        var profile = profile
        try applyCommands(json, to: &profile)
        try applyLimits(json, to: &profile)
        try applyAnswers(json, to: &profile)
        try applyQuirks(json, to: &profile)
        try applyProduct(json, to: &profile.product)
        return profile
    }

    /// Removes the systems that Request System Code must not name from its list.
    func hide(in systems: inout [VirtualSystem]) throws(DocumentError) {
        for element in try json?.optional("unlistedSystems")?.elements() ?? [] {
            let code: SystemCode = try element.code()
            guard let place = systems.firstIndex(where: { $0.code == code }) else {
                throw element.malformed(.systemOfCard)
            }
            systems[place].isListed = false
        }
    }

    private func applyCommands(_ json: JSONCursor, to profile: inout CardProfile) throws(DocumentError) {
        if let list = try json.optional("commands") { profile.commands = try list.commands() }
        if let list = try json.optional("also") { profile.commands.formUnion(try list.commands()) }
        if let list = try json.optional("silent") { profile.commands.subtract(try list.commands()) }
        guard let trailing = try json.optional("trailingBytes") else { return }
        if case .array = trailing.value {
            profile.strictCommands = try trailing.commands()
        } else {
            let silent = try trailing.word(["ignored": false, "silent": true])
            profile.strictCommands = silent ? Set(CommandCode.allCases) : []
        }
    }

    private func applyLimits(_ json: JSONCursor, to profile: inout CardProfile) throws(DocumentError) {
        if let value = try json.optional("blocksPerRead") { profile.blocksPerRead = try value.integer(in: 1...15) }
        if let value = try json.optional("blocksPerWrite") { profile.blocksPerWrite = try value.integer(in: 1...13) }
        if let value = try json.optional("echoLimit") { profile.echoLimit = try value.integer(in: 0...252) }
        if let value = try json.optional("answerTime") { profile.answerTimePercent = try value.integer(in: 0...1000) }
        if let value = try json.optional("startup") {
            profile.startupTime = .milliseconds(try value.integer(in: 0...60_000))
        }
        if let list = try json.optional("bitRates") {
            profile.bitRates = try list.list { rate throws(DocumentError) in
                guard let known = FeliCaBitRate(rawValue: try rate.integer()) else {
                    throw rate.malformed(.oneOf, "212", "424")
                }
                return known
            }
        }
    }

    private func applyAnswers(_ json: JSONCursor, to profile: inout CardProfile) throws(DocumentError) {
        if let word = try json.optional("statusStyle") {
            profile.statusStyle = try word.word(
                Dictionary(uniqueKeysWithValues: StatusStyle.allCases.map { ($0.rawValue, $0) }))
        }
        if let word = try json.optional("overLimit") {
            profile.overLimitStatus = try word.word(["A1": 0xA1, "A2": 0xA2])
        }
        if let word = try json.optional("refusal") {
            profile.refusalStatus = try word.word(["A4": 0xA4, "A5": 0xA5, "A8": 0xA8])
        }
        if let word = try json.optional("knownAttributes") {
            profile.knowsStandardAttributesOnly = try word.word(["all": false, "standard": true])
        }
        if let list = try json.optional("requestCodes") {
            profile.requestCodes = try list.list { code throws(DocumentError) in
                UInt8(clamping: try code.integer(in: 1...2))
            }
        }
        if let word = try json.optional("encryption") {
            profile.encryption = try word.word(["4F": 0x4F, "41": 0x41, "43": 0x43, "3F": 0x3F, "2F": 0x2F])
        }
    }

    private func applyQuirks(_ json: JSONCursor, to profile: inout CardProfile) throws(DocumentError) {
        let quirks = try CardQuirks(
            json.optional("quirks"), CardProfile.quirks)
        try profile.apply(quirks)
        if let factor = try quirks.number(.slow, usual: 1.2) { profile.answerTimePercent = Int(factor * 100) }
        if quirks.has(.countAfterRefusal) { profile.countsAfterRefusal = true }
        if quirks.has(.doubledSystem) { profile.doublesSystem = true }
        if quirks.has(.mute) { profile.isMute = true }
        if let index = try quirks.number(.searchEnds, usual: 2) { profile.silentSearchIndex = Int(index) }
    }

    private func applyProduct(_ json: JSONCursor, to product: inout ProductData) throws(DocumentError) {
        if let data = try json.optional("productInformation") {
            product.productInformation = try data.bytes(atMost: 242)
        }
        if let data = try json.optional("specificationVersion") {
            product.specificationVersion = try data.bytes(atMost: 243)
        }
        if let data = try json.optional("systemStatus") { product.systemStatus = try data.bytes(atMost: 243) }
        if let data = try json.optional("containerIssue") { product.containerIssue = try data.bytes(count: 16) }
        if let data = try json.optional("containerID") { product.containerID = try data.bytes(count: 8) }
        for (key, value) in try json.optional("containerProperties")?.members() ?? [] {
            guard let index = NodeCode(key) else { throw value.malformed(.hexName, "4") }
            product.containerProperties[index.rawValue] = try value.bytes(atMost: 253)
        }
    }
}

extension VirtualSystem {
    /// Creates the system of a dump: services that need a key refuse, services that were refused according to the dump
    /// give the same status flags again, overlapped services open the blocks of the one that was read.
    ///
    /// A key version that the dump does not contain is 0000.
    init(_ dump: SystemDump) {
        let areas = dump.areas.map { area in
            VirtualNode(area: area.start, end: area.end, keyVersion: area.keyVersion ?? .unknown)
        }
        let services = dump.services.map { service in
            var node = VirtualNode(service: service.code, keyVersion: service.keyVersion ?? .unknown)
            if case .refused(let status) = service.state {
                node.refusal = status.map { .status($0) } ?? .silence
            }
            return node
        }
        var memory: [UInt16: BlockTable] = [:]
        for service in dump.services {
            memory[service.code.overlapGroup, default: [:]].add(missing: service.blocks)
        }
        let root = dump.areas.first { $0.start == .root }
        self.init(
            code: dump.systemCode, idm: dump.idm, pmm: dump.pmm,
            keyVersion: root?.keyVersion ?? .unknown,
            nodes: VirtualNode.merged(areas: areas, services: services), memory: memory.mapValues { BlockStore($0) })
    }
}

extension KeyVersion {
    /// The key version of a virtual card whose file gives none.
    package static let unknown = KeyVersion(rawValue: 0)
}

extension VirtualNode {
    /// Areas and services in one list by their codes, which is the order of the tree; each list keeps its own order.
    static func merged(areas: [VirtualNode], services: [VirtualNode]) -> [VirtualNode] {
        var merged: [VirtualNode] = []
        var waiting = areas[...]
        for service in services {
            while let area = waiting.first, area.code <= service.code {
                merged.append(area)
                waiting = waiting.dropFirst()
            }
            merged.append(service)
        }
        return merged + waiting
    }
}

extension LiteMemory {
    /// The kind of FeliCa Lite that a PMm names by its IC: F0 Lite, F1 and F2 Lite-S; `nil` for all others.
    package static func kind(of pmm: PMm) -> Kind? {
        switch pmm.icType {
        case 0xF0: .lite
        case 0xF1, 0xF2: .liteS
        default: nil
        }
    }

    /// The blocks of a dump, regardless of the system and service they were read through.
    static func blocks(in dump: CardDump) -> BlockTable {
        var blocks: BlockTable = [:]
        for service in dump.systems.flatMap(\.services) {
            blocks.add(missing: service.blocks)
        }
        return blocks
    }
}
