// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

extension DumpFileFormat {
    /// The JSON of a Proxmark3.
    public static let proxmark = DumpFileFormat(known: "proxmark")
}

/// The files written by `hf felica dump` of Proxmark3.
///
/// Source: Proxmark3 `client/src/cmdhffelica.c`. The codes of areas and services are **in wire order**, low byte first:
/// `0F09` is 090F, `00963F97` is the area 9600 to 973F. System codes are the same in both orders.
package struct ProxmarkFeliCaFormat: WritableDumpFormat {
    package init() {}
    package var id: String { "proxmark" }
    package var name: LocalizedText { LocalizedText("Proxmark3 FeliCa dump", "Proxmark3 の FeliCa ダンプ") }

    /// Recognizes an array of systems, each with its code and its nodes.
    package func recognizes(_ source: DumpSource) -> Bool {
        guard let json = source.json, let systems = json.member("systems"), systems.isArray,
            !FelicaToolFormat.isNamed(in: json)
        else { return false }
        guard let first = (try? systems.elements())?.first else {
            return json.objectIfAny?["container_issue_information"] != nil
        }
        return first.member("code") != nil && first.member("nodes") != nil
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let root = source.json else { throw .unknownFormat }
        var card = ImportedCard()
        for json in try root.required("systems").elements() {
            var system = ImportedSystem(
                code: try json.required("code").code(), idm: try json.optional("idm")?.idm(),
                pmm: try json.optional("pmm")?.pmm())
            for node in try json.required("nodes").elements() { try read(node, &system) }
            system.assumed = json.member("assumed")?.value.fromTexts(AssumedPart.init) ?? []
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
            system.note(code, keyVersion: keyVersion) { $0.extra.merge(extra) }
            guard let data = try node.optional("data") else { return }
            for (number, block) in try data.blocksByHexNumber() {
                try system.add(block, at: number, of: code, or: data.malformed(.uniqueBlock))
            }
        default: throw type.malformed(.oneOf, "system", "area", "service")
        }
    }

    /// Writes everything except key versions of systems, refusals, and the reader and time.
    ///
    /// A MIFARE Classic becomes the file of `hf mf dump`, see ``ProxmarkMemoryFormat``.
    package func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        if let memory = dump.classic {
            return Array((ProxmarkClassic.file(memory, dump.card).prettyText + "\n").utf8)
        }
        guard dump.card.technology == .felica else { throw .notSupported(dump.card.technology) }
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

    /// Returns a system.
    ///
    /// An IDm and PMm assumed from the card's are written, since Proxmark3 needs them to simulate the card, and are
    /// marked in a member that it ignores.
    private func object(of system: SystemDump, in card: CardIdentity) -> JSONObject {
        let hasIDm = card.idm != nil || !system.assumed.contains(.idm)
        let hasPMm = card.pmm != nil || !system.assumed.contains(.pmm)
        var object = JSONObject([
            ("code", .string(system.systemCode.description)),
            ("idm", .text(hasIDm ? system.idm.description.uppercased() : nil)),
            ("pmm", .text(hasPMm ? system.pmm.description.uppercased() : nil)),
            ("encryption_identifier", .null), ("nodes", .array(nodes(of: system))),
        ])
        object["assumed"] = JSONValue.list(system.assumed.map(\.rawValue))
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

/// The terminal output of `hf felica dump` of Proxmark3 from before it wrote files.
///
/// Source: listings in Proxmark3's pull request 2951 (2025). Codes are in the usual notation, high byte first. Only the
/// selected system is included, without its code; output of other commands can surround it.
package struct ProxmarkListingFormat: DumpFormat {
    package init() {}
    package var id: String { "proxmark-text" }
    package var name: LocalizedText { LocalizedText("Proxmark3 FeliCa listing", "Proxmark3 の FeliCa 一覧") }

    /// Recognizes a line that names a service and says whether it is public.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.head.contains { line in
            let cells = ProxmarkListingFormat.cells(line)
            guard ProxmarkListingFormat.service(cells) != nil, cells.count > 1 else { return false }
            return ["Public", "Private"].contains(cells[1])
        }
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var card = ImportedCard()
        var system = ImportedSystem(code: nil)
        var service: ServiceCode?
        for line in source.lines {
            let cells = ProxmarkListingFormat.cells(line)
            if let idm = ProxmarkListingFormat.value("IDm", cells) {
                card.idm = try line.idm(idm)
            } else if let pmm = ProxmarkListingFormat.value("PMm", cells) {
                card.pmm = try line.pmm(pmm)
            } else if let code = ProxmarkListingFormat.service(cells) {
                let found: ServiceCode = try line.code(code)
                guard cells.count > 1, cells[1] == (found.requiresAuthentication ? "Private" : "Public") else {
                    throw line.malformed(.publicOrPrivate)
                }
                system.note(found)
                service = found
            } else if cells.count > 1, !cells[0].isEmpty, cells[0].utf8.allSatisfy({ Hex.value(of: $0) != nil }) {
                guard let service else { throw line.malformed(.blockAfterService) }
                try system.add(
                    try line.block(cells[1]), at: try line.number16(cells[0]), of: service,
                    or: line.malformed(.uniqueBlock))
            }
        }
        card.systems = [system]
        return [try card.dump(unnamed: .missing(key: "system"))]
    }

    /// The cells between bars on a line, without the marker that the program puts before each line.
    private static func cells(_ line: TextLine) -> [String] {
        var text = line.text[...]
        let marks = ["[=]", "[+]", "[-]", "[!]", "[?]", "[#]"]
        if let mark = marks.first(where: { text.hasPrefix($0) }) { text = text.dropFirst(mark.count) }
        return text.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmed }
    }

    /// The code in a cell `Service 090F`.
    private static func service(_ cells: [String]) -> Substring? {
        guard let words = cells.first?.words, words.count == 2, words[0] == "Service" else { return nil }
        return words[1]
    }

    /// The value after a name and a colon, when nothing else is on the line.
    private static func value(_ name: String, _ cells: [String]) -> String? {
        guard cells.count == 1, cells[0].hasPrefix("\(name):") else { return nil }
        return cells[0].dropFirst(name.count + 1).trimmed
    }
}

/// The memory of a MIFARE Classic (`mfc`), a MIFARE Ultralight or NTAG (`mfu`) or of an ST25TB or SRI tag (`14b`) as written by
/// Proxmark3.
///
/// Source: Proxmark3 `client/src/fileutils.c`. The blocks of an `mfc` file become `classic`, the pages `type2.pages` of `kazasu.dump/1`, the blocks of a `14b`
/// file become `st25tb.blocks`; each is four bytes, keyed by its number in two hexadecimal digits.
package struct ProxmarkMemoryFormat: DumpFormat {
    package init() {}
    package var id: String { "proxmark-memory" }
    package var name: LocalizedText { LocalizedText("Proxmark3 memory dump", "Proxmark3 のメモリーダンプ") }

    /// Recognizes a document that names its creator and the kind of file; other programs write files of MIFARE Classic, too.
    package func recognizes(_ source: DumpSource) -> Bool {
        guard let json = source.json, let type = json.member("FileType") else { return false }
        return ProxmarkClassic.isType(try? type.text()) || (try? json.member("Created")?.text()) == "proxmark3"
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let root = source.json else { throw .unknownFormat }
        let type = try root.required("FileType")
        let isType2: Bool
        switch try type.text() {
        case "mfu": isType2 = true
        case "14b", "14b v2": isType2 = false
        case let type where ProxmarkClassic.isType(type): return [try ProxmarkClassic.read(root)]
        default: throw .notImported(kind: try type.text())
        }
        let memory = try memory(root.required("blocks"))
        var identity = CardIdentity(technology: isType2 ? .typeA : .typeB)
        let uid = try root.optional("Card")?.optional("UID")?.bytes()
        if isType2 { identity.uid = uid } else if let uid { identity.extra["uid"] = .string(Hex.encode(uid)) }
        var dump = CardDump(card: identity)
        if isType2 {
            dump.type2 = Type2Dump(pages: Dictionary(memory.map { (UInt16($0.number), $0.bytes) }) { $1 })
            // Proxmark3 stores the answers to GET_VERSION and READ_SIG as fields of the card, with zeros for no answer.
            let answer = { (key: String, count: Int) throws(DocumentError) -> [UInt8]? in
                let bytes = try root.optional("Card")?.optional(key)?.bytes()
                return bytes?.count == count && bytes?.contains { $0 != 0 } == true ? bytes : nil
            }
            dump.type2?.version = try answer("Version", 8)
            dump.type2?.signature = try answer("Signature", 32)
        } else {
            let blocks = JSONObject(memory.map { (Hex.encode($0.number, digits: 2), .string(Hex.encode($0.bytes))) })
            dump.extra["st25tb"] = .object(JSONObject([("blocks", .object(blocks))]))
        }
        dump.extra["proxmark"] = .object(try root.object().without(["Created", "blocks"]))
        return [dump]
    }

    /// The units of four bytes, keyed by decimal number, in order.
    private func memory(_ blocks: JSONCursor) throws(DocumentError) -> [(number: UInt8, bytes: [UInt8])] {
        var memory: [(number: UInt8, bytes: [UInt8])] = []
        for (key, value) in try blocks.members() {
            guard let number = BlockIndex(decimal: key).flatMap({ UInt8(exactly: $0.rawValue) }) else {
                throw value.malformed(.decimalByteName)
            }
            memory.append((number, try value.bytes(count: 4)))
        }
        return memory.sorted { $0.number < $1.number }
    }
}
