// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

extension DumpFileFormat {
    /// The JSON of Metrodroid.
    public static let metrodroid = DumpFileFormat(known: "metrodroid")
}

/// Metrodroid's JSON, of one card or of several.
///
/// Source: Metrodroid `card/felica/FelicaCard.kt`. The codes of systems and services and the numbers of blocks are
/// **decimal**: `2319` is 090F, `34996` is 88B4; older files have them without quotes. There is one IDm, which is the
/// ID of the tag. `mifareUltralight` is a Type 2 Tag.
package struct MetrodroidFormat: WritableDumpFormat {
    package init() {}
    package var id: String { "metrodroid" }
    package var name: LocalizedText { LocalizedText("Metrodroid JSON", "Metrodroid の JSON") }

    /// Recognizes a tag ID with its time of scanning, or a list of these.
    package func recognizes(_ source: DumpSource) -> Bool {
        guard let json = source.json else { return false }
        let first = json.member("cards").flatMap { try? $0.elements().first } ?? json
        return first.member("tagId") != nil
            && (MetrodroidFormat.kinds.contains { first.member($0) != nil } || first.member("scannedAt") != nil)
            && first.member("cardType") == nil
    }

    /// The kinds of cards that can be imported, by the member that contains them.
    private static let kinds = ["felica", "mifareUltralight"]

    /// Reads the FeliCa cards and Type 2 Tags of the file; other cards in a file of several are skipped.
    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let root = source.json else { throw .unknownFormat }
        guard let cards = try root.optional("cards") else { return [try read(root)] }
        let dumps = try cards.list { card throws(DocumentError) in
            MetrodroidFormat.holds(card) ? try read(card) : nil
        }.compactMap { $0 }
        guard !dumps.isEmpty else { throw .notImported(kind: try MetrodroidFormat.kind(of: cards.elements().first)) }
        return dumps
    }

    /// Whether a list has any data of a card: a tag that could not be read has no pages.
    private static func holds(_ card: JSONCursor) -> Bool {
        if card.member("felica") != nil { return true }
        return (try? card.member("mifareUltralight")?.member("pages")?.elements().isEmpty) == false
    }

    /// Returns the kind of a card as named in the file: the member that contains it.
    private static func kind(of card: JSONCursor?) throws(DocumentError) -> String {
        let names = try card?.members().filter { $0.value.objectIfAny != nil }.map(\.key) ?? []
        return names.first { $0 != "scannedAt" } ?? "tagId"
    }

    private func read(_ json: JSONCursor) throws(DocumentError) -> CardDump {
        if let tag = try json.optional("mifareUltralight") {
            let moment = try json.optional("scannedAt")?.optional("timeInMillis")?.moment()
            return try tag.type2Tag(uid: json.required("tagId"), readAt: moment)
        }
        guard let felica = try json.optional("felica") else {
            throw .notImported(kind: try MetrodroidFormat.kind(of: json))
        }
        var card = ImportedCard()
        if let idm = try felica.optional("iDm") {
            card.idm = try idm.idm()
        } else {
            card.idm = try json.required("tagId").idm()
        }
        card.pmm = try felica.optional("pMm")?.pmm()
        card.readAt = try json.optional("scannedAt")?.optional("timeInMillis")?.moment()
        card.complete = try json.optional("isPartialRead")?.bool() != true
        for (key, value) in try felica.required("systems").members() {
            guard let code = SystemCode(decimal: key) else {
                throw value.malformed(.decimalSystemName)
            }
            card.systems.append(try readSystem(code, value))
        }
        card.systems.sort { ($0.code?.rawValue ?? 0) < ($1.code?.rawValue ?? 0) }
        let rest = try json.object().without(["tagId", "felica", "isPartialRead"])
        if !rest.members.isEmpty { card.extra["metrodroid"] = .object(rest) }
        return try card.dump()
    }

    private func readSystem(_ code: SystemCode, _ json: JSONCursor) throws(DocumentError) -> ImportedSystem {
        var system = ImportedSystem(code: code)
        system.isSkipped = try json.optional("skipped")?.bool() == true
        var services: [(ServiceCode, JSONCursor)] = []
        for (key, value) in try json.optional("services")?.members() ?? [] {
            guard let code = ServiceCode(decimal: key) else {
                throw value.malformed(.decimalServiceName)
            }
            services.append((code, value))
        }
        for (code, service) in services.sorted(by: { $0.0 < $1.0 }) {
            system.note(code)
            for (number, block) in try blocks(of: service) {
                try system.add(block, at: number, of: code, or: service.malformed(.uniqueBlock))
            }
        }
        return system
    }

    private func blocks(of service: JSONCursor) throws(DocumentError) -> [(number: UInt16, block: Block)] {
        var blocks: [(number: UInt16, block: Block)] = []
        for (key, value) in try service.optional("blocksMap")?.members() ?? [] {
            guard let number = BlockIndex(decimal: key) else { throw value.malformed(.decimalName) }
            blocks.append((number.rawValue, try value.required("data").block()))
        }
        for (place, value) in try (service.optional("blocks")?.elements() ?? []).enumerated() {
            let address = try value.optional("address")?.blockNumber()
            guard let number = address ?? UInt16(exactly: place) else { throw value.malformed(.atMostBlocks, "65536") }
            blocks.append((number, try value.required("data").block()))
        }
        return blocks
    }

    /// Writes the ID of the tag, the PMm, and the systems with their services and blocks.
    package func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        let idm = try dump.idmToWrite()
        try dump.checkCodesAreUnique(systems: true)
        var document = JSONObject([("tagId", .string(idm.description))])
        if let moment = dump.readAt.flatMap({ Timestamp($0) }) {
            let milliseconds = JSONValue.integer(Int64(moment.milliseconds))
            document["scannedAt"] = .object(JSONObject([("timeInMillis", milliseconds), ("tz", "Asia/Tokyo")]))
        }
        let systems = dump.systems.sorted { $0.systemCode < $1.systemCode }.map { system in
            (String(system.systemCode.rawValue), JSONValue.object(JSONObject([("services", services(of: system))])))
        }
        document["felica"] = .object(
            JSONObject([
                ("pMm", .text(dump.pmmToWrite?.description)), ("systems", .object(JSONObject(systems))),
            ]))
        return Array((JSONValue.object(document).prettyText + "\n").utf8)
    }

    private func services(of system: SystemDump) -> JSONValue {
        .object(
            JSONObject(
                system.services.sorted { $0.code < $1.code }.map { service in
                    var object = blocks(of: service)
                    if service.blocks.isEmpty { object["skipped"] = true }
                    return (String(service.code.rawValue), .object(object))
                }))
    }

    /// Returns a list where the numbers are 0, 1, 2, …, otherwise a map.
    private func blocks(of service: ServiceDump) -> JSONObject {
        let blocks = service.blocks.map { number, block in
            (number, JSONValue.object(JSONObject([("data", .string(block.hexadecimal))])))
        }
        if blocks.enumerated().allSatisfy({ $0 == Int($1.0) }) {
            return JSONObject([("blocks", .array(blocks.map { $0.1 }))])
        }
        return JSONObject([("blocksMap", .object(JSONObject(blocks.map { (String($0.0), $0.1) })))])
    }
}
