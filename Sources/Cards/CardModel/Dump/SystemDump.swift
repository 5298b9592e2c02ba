// SPDX-License-Identifier: Apache-2.0

/// One FeliCa system in a dump.
public struct SystemDump: Hashable, Sendable {
    /// Its code.
    public var systemCode: SystemCode
    /// Its IDm.
    public var idm: IDm
    /// The PMm in its answer.
    public var pmm: PMm
    /// Its areas in the card's order.
    public var areas: [AreaDump]
    /// Its services in the card's order.
    public var services: [ServiceDump]
    /// The parts that the source file did not contain and that were filled in.
    package var assumed: [AssumedPart]
    /// Whether the program that read the card left this system out.
    package var isSkipped = false
    /// The numbers that it was issued with; `nil` unless its keys were proved.
    public var issue: SystemIssue?
    /// Members of the document that are unknown to this version.
    package var extra: JSONObject

    package init(
        systemCode: SystemCode, idm: IDm, pmm: PMm, areas: [AreaDump] = [], services: [ServiceDump] = [],
        assumed: [AssumedPart] = [], extra: JSONObject = JSONObject()
    ) {
        self.systemCode = systemCode
        self.idm = idm
        self.pmm = pmm
        self.areas = areas
        self.services = services
        self.assumed = assumed
        self.extra = extra
    }

    /// Makes a system of what a program has in memory.
    public init(
        systemCode: SystemCode, idm: IDm, pmm: PMm, areas: [AreaDump] = [], services: [ServiceDump] = []
    ) {
        self.init(systemCode: systemCode, idm: idm, pmm: pmm, areas: areas, services: services, assumed: [])
    }

    /// Returns the service with this code.
    public func service(_ code: ServiceCode) -> ServiceDump? {
        services.first { $0.code == code }
    }
}

/// The parts of a system or service that other programs' files do not always contain.
///
/// The raw values are the identifiers in the member `assumed`.
package enum AssumedPart: String, Hashable, Sendable {
    /// The IDm of a system.
    case idm
    /// The PMm of a system.
    case pmm
    case systemCode
    /// The code of a service.
    case code
    /// The numbers of a service's blocks.
    case blocks
}

/// One FeliCa area in a dump.
public struct AreaDump: Hashable, Sendable {
    /// Its code.
    public var start: AreaCode
    /// The last code that belongs to it: `FFFE` for the root area.
    public var end: AreaCode
    /// The version of its key; `nil` if the card did not report it.
    public var keyVersion: KeyVersion?
    /// Members of the document that are unknown to this version.
    package var extra: JSONObject

    package init(start: AreaCode, end: AreaCode, keyVersion: KeyVersion? = nil, extra: JSONObject = JSONObject()) {
        self.start = start
        self.end = end
        self.keyVersion = keyVersion
        self.extra = extra
    }

    /// Makes an area.
    public init(start: AreaCode, end: AreaCode, keyVersion: KeyVersion? = nil) {
        self.init(start: start, end: end, keyVersion: keyVersion, extra: JSONObject())
    }
}

/// One FeliCa service in a dump.
public struct ServiceDump: Hashable, Sendable {
    /// Its code.
    public var code: ServiceCode
    /// The version of its key; `nil` if the card did not report it.
    public var keyVersion: KeyVersion?
    /// Whether it was read.
    public var state: ReadState
    /// The blocks that were read, by block number from 0.
    package var blocks: BlockTable
    /// The node that opens the same blocks and was read instead of this one.
    package var sameAs: SameBlocks?
    /// The parts that the source file did not contain and that were filled in.
    package var assumed: [AssumedPart] = []
    /// The cipher whose keys opened it; `nil` for a service that was not opened with keys.
    public var opened: StandardScheme?
    /// Why keys did not open it.
    public var keyRefusal: KeyRefusal?
    /// Whether the program that read the card masked some of the blocks.
    package var isMasked = false
    /// Members of the document that are unknown to this version.
    package var extra: JSONObject

    package init(
        code: ServiceCode, keyVersion: KeyVersion? = nil, state: ReadState, blocks: BlockTable = [:],
        sameAs: SameBlocks? = nil, extra: JSONObject = JSONObject()
    ) {
        self.code = code
        self.keyVersion = keyVersion
        self.state = state
        self.blocks = blocks
        self.sameAs = sameAs
        self.extra = extra
    }

    /// Makes a service with the blocks that were read, by their numbers.
    public init(code: ServiceCode, keyVersion: KeyVersion? = nil, state: ReadState = .read, blocks: [UInt16: Block]) {
        self.init(
            code: code, keyVersion: keyVersion, state: state, blocks: BlockTable(blocks.map { ($0.key, $0.value) }),
            sameAs: nil)
    }

    /// Makes a service with its first blocks; what lies behind the last possible number is left out.
    public init(code: ServiceCode, keyVersion: KeyVersion? = nil, blocks: [Block]) {
        let numbered = zip(UInt16.min...UInt16.max, blocks).map { ($0, $1) }
        self.init(code: code, keyVersion: keyVersion, blocks: Dictionary(numbered) { first, _ in first })
    }

    /// The block with this number, counted from 0; `nil` if it was not read.
    public subscript(number: UInt16) -> Block? { blocks[number] }
}

/// The node that opens the same blocks as a service.
///
/// It is another service, or, for every service of a twin system (FeliCa Lite has 88B4 and 12FC), the other system. The
/// document contains only the code.
package struct SameBlocks: FourDigitCode {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Refers to the blocks of a service.
    package init(_ service: ServiceCode) { self.init(rawValue: service.rawValue) }
    /// Refers to the blocks of a system.
    package init(_ system: SystemCode) { self.init(rawValue: system.rawValue) }
}

/// Whether a part of a card was read, and if not, why.
@nonexhaustive
public enum ReadState: Hashable, Sendable {
    /// All of it was read.
    case read
    /// It cannot be read without a key.
    case keyRequired
    /// The card refused with these status flags (FeliCa: SF1 SF2) or status word; `nil` if it only failed to answer.
    case refused(status: UInt16?)
    /// The card left, or the radio failed, before all of it was read.
    case lost
    /// It was not requested, or it is identical to another part that was read.
    case skipped

    /// The identifier in `kazasu.dump/1`.
    package var word: String {
        switch self {
        case .read: "read"
        case .keyRequired: "keyRequired"
        case .refused: "refused"
        case .lost: "lost"
        case .skipped: "skipped"
        }
    }
}

extension SystemDump {
    init(json: JSONCursor) throws(DocumentError) {
        self.init(
            systemCode: try json.required("systemCode").code(),
            idm: try json.required("idm").idm(),
            pmm: try json.required("pmm").pmm(),
            areas: try json.optional("areas")?.list { area throws(DocumentError) in try AreaDump(json: area) } ?? [],
            services: try json.optional("services")?.list { service throws(DocumentError) in
                try ServiceDump(json: service)
            } ?? [],
            extra: try json.members(without: SystemDump.keys))
        assumed = extra.take("assumed") { $0.fromTexts(AssumedPart.init) } ?? []
        isSkipped = extra.takeFlag("skipped")
        issue = SystemIssue.take(from: &extra)
    }

    private static let keys: [StaticString] = ["systemCode", "idm", "pmm", "areas", "services"]

    var json: JSONValue {
        var object = JSONObject([
            ("systemCode", .string(systemCode.description)),
            ("idm", .string(idm.description)),
            ("pmm", .string(pmm.description)),
            ("areas", .array(areas.map(\.json))),
            ("services", .array(services.map(\.json))),
        ])
        object["assumed"] = JSONValue.list(assumed.map(\.rawValue))
        if isSkipped { object["skipped"] = true }
        issue?.write(to: &object)
        object.merge(extra)
        return .object(object)
    }
}

extension AreaDump {
    init(json: JSONCursor) throws(DocumentError) {
        self.init(
            start: try json.required("start").code(),
            end: try json.required("end").code(),
            keyVersion: try json.optional("keyVersion")?.code(),
            extra: try json.members(without: AreaDump.keys))
    }

    private static let keys: [StaticString] = ["start", "end", "keyVersion"]

    var json: JSONValue {
        var object = JSONObject([
            ("start", .string(start.description)),
            ("end", .string(end.description)),
            ("keyVersion", .text(keyVersion?.description)),
        ])
        object.merge(extra)
        return .object(object)
    }
}

extension ServiceDump {
    private static let keys: [StaticString] = ["code", "keyVersion", "state", "blocks"]

    init(json: JSONCursor) throws(DocumentError) {
        var blocks: BlockTable = [:]
        try json.optional("blocks")?.forEachMember { name, member throws(DocumentError) in
            guard let number = BlockNumber(digits: name) else {
                throw member.malformed(.hexName, "4")
            }
            // `000a` and `000A` are two names for one block.
            guard blocks.updateValue(try member.block(), forKey: number.rawValue) == nil else {
                throw member.malformed(.uniqueBlock)
            }
        }
        let state = try ReadState(json: json)
        self.init(
            code: try json.required("code").code(),
            keyVersion: try json.optional("keyVersion")?.code(),
            state: state,
            blocks: blocks,
            extra: try json.members(without: state.isRefused ? ServiceDump.keys + ["status"] : ServiceDump.keys))
        sameAs = extra.take("sameAs") { $0.fromText { SameBlocks($0) } }
        assumed = extra.take("assumed") { $0.fromTexts(AssumedPart.init) } ?? []
        isMasked = extra.takeFlag("masked")
        opened = extra.take("opened") { $0.fromText(StandardScheme.init) }
        keyRefusal = extra.take("reason") { $0.fromText(KeyRefusal.init) }
    }

    /// An element of `services` in `kazasu.dump/1` and `kazasu.read/1`.
    package var json: JSONValue {
        var object = JSONObject([
            ("code", .string(code.description)),
            ("keyVersion", .text(keyVersion?.description)),
            ("state", .string(state.word)),
        ])
        object["status"] = state.statusMember
        object["blocks"] = .object(
            JSONObject(
                blocks.map {
                    (BlockNumber(rawValue: $0.number).description, .string($0.block.hexadecimal))
                }))
        object["sameAs"] = sameAs.map { .string($0.description) }
        object["assumed"] = JSONValue.list(assumed.map(\.rawValue))
        if isMasked { object["masked"] = true }
        object["opened"] = opened.map { .string($0.rawValue) }
        object["reason"] = keyRefusal.map { .string($0.rawValue) }
        object.merge(extra)
        return .object(object)
    }
}

extension ReadState {
    var isRefused: Bool {
        if case .refused = self { true } else { false }
    }

    /// The member `status` of a refused part, which may be null; `nil` for the other states, which have none.
    var statusMember: JSONValue? {
        guard case .refused(let status) = self else { return nil }
        return .text(status.map { StatusCode(rawValue: $0).description })
    }

    init(json: JSONCursor) throws(DocumentError) {
        let word = try json.required("state")
        switch try word.text() {
        case "read": self = .read
        case "keyRequired": self = .keyRequired
        case "refused":
            let status: StatusCode? = try json.optional("status")?.code()
            self = .refused(status: status?.rawValue)
        case "lost": self = .lost
        case "skipped": self = .skipped
        default: throw word.malformed(.oneOf, "read", "keyRequired", "refused", "lost", "skipped")
        }
    }
}

extension MissingPart {
    init(json: JSONCursor) throws(DocumentError) {
        let block: BlockNumber? = try json.optional("fromBlock")?.code()
        let page: BlockNumber? = try json.optional("fromPage")?.code()
        self.init(
            system: try json.optional("system")?.code(),
            service: try json.optional("service")?.code(),
            fromBlock: block?.rawValue,
            application: try json.optional("application")?.aid(),
            file: try json.optional("file")?.code(),
            fromPage: page?.rawValue,
            reason: MissingPart.Reason(rawValue: try json.required("reason").text()),
            extra: try json.members(without: [
                "system", "service", "fromBlock", "application", "file", "fromPage", "reason",
            ]))
    }

    var json: JSONValue {
        var object = JSONObject()
        object["system"] = system.map { .string($0.description) }
        object["service"] = service.map { .string($0.description) }
        object["fromBlock"] = fromBlock.map { .string(BlockNumber(rawValue: $0).description) }
        object["application"] = application.map { .string($0.description) }
        object["file"] = file.map { .string($0.description) }
        object["fromPage"] = fromPage.map { .string(Type2Dump.name(of: $0)) }
        object["reason"] = .string(reason.rawValue)
        object.merge(extra)
        return .object(object)
    }
}

/// A block number written as four digits in a document.
private struct BlockNumber: FourDigitCode {
    let rawValue: UInt16
}

/// Status flags written as four digits in a document.
private struct StatusCode: FourDigitCode {
    let rawValue: UInt16
}
