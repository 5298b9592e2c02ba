// SPDX-License-Identifier: Apache-2.0

import ByteCodec
public import CardModel

/// What `hf felica dump` of Proxmark3 writes.
///
/// Facts: Proxmark3 `client/src/cmdhffelica.c`. The codes of areas and services stand **in the order of the wire**, low
/// byte first: `0F09` is 090F, `00963F97` is the area 9600 to 973F. Codes of systems are the same in both orders.
public struct ProxmarkFeliCaFormat: WritableDumpFormat {
    /// The format.
    public init() {}
    /// `proxmark`.
    public var id: String { "proxmark" }
    /// Its name.
    public var name: LocalizedText { LocalizedText("Proxmark3 FeliCa dump", "Proxmark3 の FeliCa ダンプ") }

    /// Systems in an array, each with its code and its nodes.
    public func recognises(_ source: DumpSource) -> Bool {
        guard let json = source.json, let systems = json.member("systems"), systems.isArray,
            !FelicaToolFormat.isNamed(in: json)
        else { return false }
        guard let first = (try? systems.elements())?.first else {
            return json.objectIfAny?["container_issue_information"] != nil
        }
        return first.member("code") != nil && first.member("nodes") != nil
    }

    /// One card.
    public func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let root = source.json else { throw .notJSON(reason: source.kind) }
        var card = ImportedCard()
        for json in try root.required("systems").elements() {
            var system = ImportedSystem(
                code: try json.required("code").code(), idm: try json.optional("idm")?.idm(),
                pmm: try json.optional("pmm")?.pmm())
            for node in try json.required("nodes").elements() { try read(node, &system) }
            if let assumed = json.member("assumed"), assumed.isArray { system.extra["assumed"] = assumed.value }
            let rest = try json.object().without(["code", "idm", "pmm", "nodes", "assumed"])
            if !rest.members.isEmpty { system.extra["proxmark"] = .object(rest) }
            card.systems.append(system)
        }
        let rest = try root.object().without(["systems"])
        if !rest.members.isEmpty { card.extra["proxmark"] = .object(rest) }
        return [try card.dump()]
    }

    private func read(_ node: JSONCursor, _ system: inout ImportedSystem) throws(DocumentError) {
        let keyVersion = try (node.member("des_key_version") ?? node.member("aes_key_version"))?.keyVersion()
        let rest = try node.object().without(["type", "code", "des_key_version", "data"])
        let extra =
            rest.members.contains { $0.value != .null } ? JSONObject([("proxmark", .object(rest))]) : JSONObject()
        let type = try node.required("type")
        switch try type.text() {
        case "system": break
        case "area":
            let area = try node.required("code").wireArea()
            system.areas.append(
                AreaDump(start: area.start, end: area.end, keyVersion: keyVersion, extra: extra))
        case "service":
            let code: ServiceCode = try node.required("code").wireCode()
            system.note(code, keyVersion: keyVersion, extra: extra)
            guard let data = try node.optional("data") else { return }
            for (number, block) in try data.blocks(radix: 16) where !system.add(block, at: number, of: code) {
                throw data.malformed("blocks that stand once")
            }
        default: throw type.malformed("system, area or service")
        }
    }

    /// Everything but key versions of systems, what was refused, and who read it when.
    public func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        try dump.checkFeliCa()
        try dump.checkCodesAreUnique(systems: false)
        let systems = dump.systems.map { system in JSONValue.object(object(of: system, in: dump.card)) }
        let document = JSONValue.object(
            JSONObject([
                ("specification_version", .null), ("product_information", .null),
                ("container_issue_information", .null),
                ("systems", .array(systems)),
            ]))
        return Array((document.prettyText + "\n").utf8)
    }

    /// A system. What is assumed from the card's IDm and PMm is written, since Proxmark3 needs it to simulate the card,
    /// and marked in a member that it passes over.
    private func object(of system: SystemDump, in card: CardIdentity) -> JSONObject {
        let hasIDm = card.idm != nil || !system.isAssumed("idm")
        let hasPMm = card.pmm != nil || !system.isAssumed("pmm")
        var object = JSONObject([
            ("code", .string(system.systemCode.description)),
            ("idm", .text(hasIDm ? system.idm.description.uppercased() : nil)),
            ("pmm", .text(hasPMm ? system.pmm.description.uppercased() : nil)),
            ("encryption_identifier", .null), ("nodes", .array(nodes(of: system))),
        ])
        object["assumed"] = system.extra["assumed"]
        return object
    }

    private func nodes(of system: SystemDump) -> [JSONValue] {
        let areas = system.areas.map { area in
            node("area", area.start.wireDigits + area.end.wireDigits, area.keyVersion, [])
        }
        let services = system.services.map { service in
            let blocks = service.blocks.map { number, block in
                (Hex.encode(number, digits: 4), JSONValue.string(block.description))
            }
            return node(
                "service", service.code.wireDigits, service.keyVersion, [("data", .object(JSONObject(blocks)))])
        }
        return areas + services
    }

    private func node(
        _ type: String, _ code: String, _ keyVersion: KeyVersion?, _ more: [(String, JSONValue)]
    ) -> JSONValue {
        let members: [(String, JSONValue)] = [
            ("type", .string(type)), ("code", .string(code)),
            ("des_key_version", .text(keyVersion?.description)), ("aes_key_version", .null),
        ]
        return .object(JSONObject(members + more))
    }
}
