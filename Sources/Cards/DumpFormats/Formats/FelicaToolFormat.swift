// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// The scans that felica-tool exports as JSON.
///
/// Source: felica-tool `util/ExportUtils.kt`. Node codes are **in wire order**, low byte first; the number beside each
/// is checked against it. Its private exports have `XX` in place of bytes of IDm and blocks: such an IDm is unknown,
/// such a block is missing.
package struct FelicaToolFormat: DumpFormat {
    package init() {}
    package var id: String { "felica-tool" }
    package var name: LocalizedText { LocalizedText("felica-tool scan", "felica-tool のスキャン") }

    /// Recognizes systems beside members that only this tool writes for a card.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.json.map { $0.member("systems") != nil && FelicaToolFormat.isNamed(in: $0) } ?? false
    }

    /// Returns whether a document has a member that only this tool writes.
    static func isNamed(in json: JSONCursor) -> Bool {
        ["primary_idm", "ic_type_name", "scan_duration_ms", "commands", "supported_commands"]
            .contains { json.member($0) != nil }
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let root = source.json else { throw .unknownFormat }
        var card = ImportedCard()
        card.idm = try root.optional("primary_idm").flatMap { idm throws(DocumentError) in try maskedIDm(idm) }
        card.pmm = try root.optional("pmm")?.pmm()
        if let seconds = try root.optional("metadata")?.optional("creation_time")?.integer(in: 0...253_402_300_799),
            seconds > 0
        {
            card.readAt = Timestamp(milliseconds: seconds * 1000).utcText
        }
        let systems = try root.required("systems")
        // Newer exports key the systems by code, older ones list them.
        if systems.isArray {
            for json in try systems.elements() {
                let code = json.member("code") ?? json.member("system_code")
                card.systems.append(
                    try readSystem(code.map { code throws(DocumentError) in try code.code() }, json, &card))
            }
        } else {
            for (key, json) in try systems.members() {
                guard key.utf8.count == 4, let code = SystemCode(key) else {
                    throw json.malformed(.hexName, "4")
                }
                card.systems.append(try readSystem(code, json, &card))
            }
        }
        let rest = try root.object().without(["primary_idm", "pmm", "systems"])
        if !rest.members.isEmpty { card.extra["felicaTool"] = .object(rest) }
        return [try card.dump(unnamed: .missing(key: "systems[].code"))]
    }

    private func readSystem(
        _ code: SystemCode?, _ json: JSONCursor, _ card: inout ImportedCard
    ) throws(DocumentError) -> ImportedSystem {
        var system = ImportedSystem(code: code)
        system.idm = try json.optional("idm").flatMap { idm throws(DocumentError) in try maskedIDm(idm) }
        // All systems of a card get one PMm here: the tool keeps only one.
        for node in try json.required("nodes").elements() {
            let keyVersion = try (node.member("des_key_version") ?? node.member("aes_key_version"))?.keyVersion()
            let type = try node.required("type")
            switch try type.text() {
            case "area":
                let place = try node.required("code")
                let area = try place.wireArea()
                try checkNumber(of: node, area.start.rawValue, place)
                system.areas.append(AreaDump(start: area.start, end: area.end, keyVersion: keyVersion))
            case "service":
                let place = try node.required("code")
                let code: ServiceCode = try place.wireCode()
                try checkNumber(of: node, code.rawValue, place)
                system.note(code, keyVersion: keyVersion)
                try readBlocks(of: node, code, &system, &card)
            default: throw type.malformed(.oneOf, "area", "service")
            }
        }
        return system
    }

    private func checkNumber(of node: JSONCursor, _ code: UInt16, _ place: JSONCursor) throws(DocumentError) {
        guard let number = try node.optional("number")?.integer() else { return }
        guard number == Int(code >> 6) else {
            throw place.malformed(.wireCode, "\(number)")
        }
    }

    private func readBlocks(
        of node: JSONCursor, _ code: ServiceCode, _ system: inout ImportedSystem, _ card: inout ImportedCard
    ) throws(DocumentError) {
        guard let data = try node.optional("data") else { return }
        for (key, value) in try data.members() {
            guard let number = BlockIndex(key) else { throw value.malformed(.hexName, "4") }
            if try value.text().contains("X") {
                card.complete = false
                system.note(code) { $0.isMasked = true }
            } else {
                try system.add(
                    try value.block(), at: number.rawValue, of: code, or: value.malformed(.uniqueBlock))
            }
        }
    }

    /// Parses an IDm, or returns `nil` for one with masked bytes.
    private func maskedIDm(_ json: JSONCursor) throws(DocumentError) -> IDm? {
        try json.text().contains("X") ? nil : try json.idm()
    }
}

/// The communication log that felica-tool exports as JSON: every packet with its time.
///
/// Source: felica-tool `util/ExportUtils.kt`: an array of objects with `type` (`COMMAND` or `RESPONSE`), `name`,
/// `timestamp_ns` and `data`, the packet with its LEN byte. Its private exports have `XX` in place of bytes of IDm and
/// blocks: such an IDm is unknown, such a block is missing.
package struct FelicaToolLogFormat: DumpFormat {
    package init() {}
    package var id: String { "felica-tool-log" }
    package var name: LocalizedText { LocalizedText("felica-tool communication log", "felica-tool の通信記録") }

    /// Recognizes a list whose first element is a packet with its time.
    package func recognizes(_ source: DumpSource) -> Bool {
        guard let json = source.json, json.isArray, let first = (try? json.elements())?.first else { return false }
        return first.member("timestamp_ns") != nil && first.member("data") != nil && first.member("type") != nil
    }

    /// Reads one card; commands that it did not answer are ignored.
    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let root = source.json else { throw .unknownFormat }
        var log = FeliCaLog()
        var command: LoggedPacket?
        for entry in try root.elements() {
            let type = try entry.required("type")
            let packet = try LoggedPacket(entry.required("data"))
            switch try type.text() {
            case "COMMAND": command = packet
            case "RESPONSE":
                guard let asked = command else { throw packet.misplaced }
                try log.add(asked, packet)
                command = nil
            default: throw type.malformed(.oneOf, "COMMAND", "RESPONSE")
            }
        }
        return [try log.finish()]
    }
}
