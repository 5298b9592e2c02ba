// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import FeliCa

/// What a blank FeliCa Standard card is issued as: its system, areas, services and data, without any key.
public struct StandardProfile: Hashable, Sendable {
    /// An area.
    public struct Area: Hashable, Sendable {
        /// Its first code; the attribute is 00, or 01 for one without areas inside.
        public let code: AreaCode
        /// Its last code.
        public let end: AreaCode
        /// The blocks that it may have; 0 if nothing is reserved.
        public let blocks: UInt16
        /// The version of its key.
        public let keyVersion: KeyVersion
    }

    /// Services that share blocks.
    public struct Service: Hashable, Sendable {
        /// One code for each way to use the blocks.
        public let codes: [ServiceCode]
        /// The number of blocks.
        public let blocks: UInt16
        /// The version of the keys; 0 for codes that need none.
        public let keyVersion: KeyVersion
        /// The first blocks; of a cyclic service, the newest first.
        public let data: [Block]

        /// The code by which the data is written, if there is one.
        package var writable: ServiceCode? {
            let codes = codes.filter { $0.access == .readWrite || $0.access == .direct }
            return codes.first(where: \.requiresAuthentication) ?? codes.first
        }

        /// The data in pieces that one command writes, and the number of the first block of each.
        package var pieces: [(number: UInt16, blocks: [Block])] {
            stride(from: 0, to: data.count, by: StandardProfile.blocksPerWrite).map {
                (UInt16($0), Array(data[$0...].prefix(StandardProfile.blocksPerWrite)))
            }
        }
    }

    /// The system code that the card gets.
    public let system: SystemCode
    /// Its issue ID and issue parameter.
    public let issue: SystemIssue
    /// All areas, each before those inside it; area 0000 is the first.
    public let areas: [Area]
    /// All services, ascending by their first code.
    public let services: [Service]

    /// The schema of profiles.
    public static let schema = "kazasu.standardProfile/1"

    /// The most blocks that one command writes on every card that is known.
    fileprivate static let blocksPerWrite = 8
    private static let firstVersion = KeyVersion(rawValue: 1)
    private static let lastCode = AreaCode(rawValue: 0xFFFE)

    /// Reads a document `kazasu.standardProfile/1` and checks codes, nesting and numbers of blocks.
    ///
    /// - Throws: `DocumentError` with the place of the error.
    public init(parsing bytes: [UInt8]) throws(DocumentError) {
        try self.init(JSONCursor(JSONValue(parsing: bytes)))
    }

    package init(_ json: JSONCursor) throws(DocumentError) {
        try json.allow(["schema", "comment", "system", "issueId", "issueParameter", "areas", "services"])
        let schema = try json.required("schema").text()
        guard schema == Self.schema else { throw .unknownSchema(found: schema, supported: Self.schema) }
        let system: SystemCode = try json.required("system").code()
        guard system.rawValue != 0, system.rawValue >> 8 != 0xFF, system.rawValue & 0xFF != 0xFF else {
            throw try json.required("system").malformed(.ownSystemCode)
        }
        self.system = system
        let issue = SystemIssue(
            id: try json.required("issueId").bytes(count: 8),
            parameter: try json.required("issueParameter").bytes(count: 8))
        guard let issue else { throw try json.required("issueId").malformed(.hexDigits, "16") }
        self.issue = issue
        let listed =
            try json.optional("areas")?.list { json throws(DocumentError) in (json, try Self.area(json)) } ?? []
        areas = try Self.nested(listed)
        let services = try json.required("services").list { json throws(DocumentError) in
            (json, try Self.service(json))
        }
        var groups: Set<UInt16> = []
        for (json, service) in services {
            guard groups.insert(service.codes[0].overlapGroup).inserted else {
                throw try json.required("codes").malformed(.uniqueNode)
            }
        }
        self.services = services.map(\.1).sorted { $0.codes[0] < $1.codes[0] }
        for (json, area) in listed where area.code != .root || area.blocks > 0 {
            let needed = Self.blocks(in: area, areas, self.services)
            guard area.blocks == 0 || Int(area.blocks) >= needed else {
                throw try json.required("blocks").malformed(.enoughBlocks, "\(needed)")
            }
        }
        guard blocks <= 0xFFFF else { throw try json.required("services").malformed(.blocksInAll) }
    }

    private static func area(_ json: JSONCursor) throws(DocumentError) -> Area {
        try json.allow(["code", "end", "blocks", "keyVersion", "comment"])
        let code: AreaCode = try json.required("code").code()
        guard code.rawValue & 0x3F <= 1 else { throw try json.required("code").malformed(.form, "xx00, xx01, xx40, …") }
        let end: AreaCode? = try json.optional("end")?.code()
        if code == .root, end ?? lastCode != lastCode { throw try json.required("end").malformed(.form, "FFFE") }
        guard let end = code == .root ? lastCode : end else { throw try json.required("end").malformed(.code) }
        guard end.rawValue & 0x3F >= 0x3E else {
            throw try json.required("end").malformed(.form, "xx3F, xx7F, xxBF, xxFF")
        }
        return Area(
            code: code, end: end, blocks: UInt16(try json.optional("blocks")?.integer(in: 0...0xFFFF) ?? 0),
            keyVersion: try version(json))
    }

    /// A key's version, of which FFFF would say that there is none.
    private static func version(_ json: JSONCursor) throws(DocumentError) -> KeyVersion {
        guard let value = try json.optional("keyVersion") else { return firstVersion }
        let version: KeyVersion = try value.code()
        guard version.rawValue != 0xFFFF else { throw value.malformed(.form, "0000–FFFE") }
        return version
    }

    /// The areas in the order in which they are registered, with area 0000.
    private static func nested(_ listed: [(json: JSONCursor, area: Area)]) throws(DocumentError) -> [Area] {
        var areas = listed.map(\.area)
        if !areas.contains(where: { $0.code == .root }) {
            areas.append(Area(code: .root, end: lastCode, blocks: 0, keyVersion: firstVersion))
        }
        for (place, (json, area)) in listed.enumerated()
        where listed[..<place].contains(where: { $0.area.code == area.code }) {
            throw try json.required("code").malformed(.uniqueNode)
        }
        for (json, area) in listed where area.code != .root {
            let own = area.code.rawValue...max(area.code.rawValue, area.end.rawValue)
            var around: [Area] = []
            for other in areas where other.code != area.code {
                let range = other.code.rawValue...max(other.code.rawValue, other.end.rawValue)
                if range.contains(own.lowerBound), range.contains(own.upperBound) {
                    around.append(other)
                } else if range.overlaps(own), !own.contains(range.upperBound) || !own.contains(range.lowerBound) {
                    throw try json.required("end").malformed(.areaInArea)
                }
            }
            guard area.end.rawValue > area.code.rawValue, around.allSatisfy({ $0.code.rawValue & 1 == 0 }) else {
                throw try json.required("end").malformed(.areaInArea)
            }
            // A session lists the whole path, of at most eight areas.
            guard around.count < StandardScheme.des.nodesPerSession else {
                throw try json.required("code").malformed(.shallowArea)
            }
        }
        return areas.sorted { ($0.code.rawValue, $1.end.rawValue) < ($1.code.rawValue, $0.end.rawValue) }
    }

    private static func service(_ json: JSONCursor) throws(DocumentError) -> Service {
        try json.allow(["codes", "blocks", "keyVersion", "data", "comment"])
        let list = try json.required("codes")
        var codes: [ServiceCode] = []
        for element in try list.elements() {
            let code: ServiceCode = try element.code()
            guard code.kind != nil, !code.requiresPIN, code.attribute < 0x20,
                code.overlapGroup == codes.first?.overlapGroup ?? code.overlapGroup
            else { throw element.malformed(.codeOfOneGroup) }
            guard !codes.contains(code) else { throw element.malformed(.uniqueNode) }
            codes.append(code)
        }
        guard !codes.isEmpty else { throw list.malformed(.form, "[\"1008\"]") }
        let blocks = try json.required("blocks").integer(in: 1...0xFFFF)
        var data: [Block] = []
        if let json = try json.optional("data") {
            for element in try json.elements() {
                guard let block = Block(try element.bytes(count: 16)) else { throw element.malformed(.bytes, "16") }
                data.append(block)
            }
            guard data.count <= blocks else { throw json.malformed(.atMostBlocks, "\(blocks)") }
        }
        let service = Service(
            codes: codes.sorted(), blocks: UInt16(blocks), keyVersion: try version(json), data: data)
        guard !data.isEmpty else { return service }
        guard let writable = service.writable else { throw try json.required("data").malformed(.writableService) }
        // A card does not store an entry again that equals its newest blocks.
        let pieces = service.pieces.map(\.blocks)
        if writable.kind == .cyclic, zip(pieces, pieces.dropFirst()).contains(where: { $0 == $1 }) {
            throw try json.required("data").malformed(.differentRecords)
        }
        return service
    }

    // MARK: Blocks

    /// The blocks that it takes on a card: one for each area and code, and those of the data.
    package var blocks: Int { areas.first.map { Self.blocks(in: $0, areas, services) } ?? 0 }

    private static func blocks(in area: Area, _ areas: [Area], _ services: [Service]) -> Int {
        let codes = area.code.rawValue...max(area.code.rawValue, area.end.rawValue)
        let inside = areas.count { $0.code != area.code && codes.contains($0.code.rawValue) }
        return services.filter { codes.contains($0.codes[0].rawValue) }.reduce(inside) {
            $0 + $1.codes.count + Int($1.blocks)
        }
    }

    // MARK: Nodes

    /// The codes that need a key.
    package var keyedNodes: [NodeCode] {
        areas.map(\.code.node) + services.flatMap(\.codes).filter(\.requiresAuthentication).map(\.node)
    }

    /// The versions that the nodes have in the end; those of services without keys are 0.
    package var versions: [NodeCode: KeyVersion] {
        var versions: [NodeCode: KeyVersion] = [:]
        for area in areas { versions[area.code.node] = area.keyVersion }
        for service in services {
            for code in service.codes {
                versions[code.node] = code.requiresAuthentication ? service.keyVersion : KeyVersion(rawValue: 0)
            }
        }
        return versions
    }

    /// The areas around a node, the outermost first; of an area, with itself.
    package func path(to node: NodeCode) -> [NodeCode] {
        areas.filter { AreaRange(start: $0.code, end: $0.end).contains(node) }.map(\.code.node)
    }

    // MARK: Document

    /// The document `kazasu.standardProfile/1`.
    package var json: JSONValue {
        func version(_ version: KeyVersion) -> JSONValue { .string(version.description) }
        return [
            "schema": .string(Self.schema), "system": .string(system.description), "issueId": .string(issue.idText),
            "issueParameter": .string(issue.parameterText),
            "areas": .array(
                areas.map { area in
                    [
                        "code": .string(area.code.description), "end": .string(area.end.description),
                        "blocks": .int(Int(area.blocks)), "keyVersion": version(area.keyVersion),
                    ]
                }),
            "services": .array(
                services.map { service in
                    [
                        "codes": .array(service.codes.map { .string($0.description) }),
                        "blocks": .int(Int(service.blocks)), "keyVersion": version(service.keyVersion),
                        "data": .array(service.data.map { .string($0.hexadecimal) }),
                    ]
                }),
        ]
    }
}

extension JSONCursor {
    /// Refuses members that are not among these.
    fileprivate func allow(_ names: [String]) throws(DocumentError) {
        for (name, value) in try members() where !names.contains(name) {
            throw value.malformed(.knownMember, values: names.sorted())
        }
    }
}
