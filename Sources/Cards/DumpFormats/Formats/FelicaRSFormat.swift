// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// The JSON output of the `dump` example of felica-rs.
///
/// Source: felica-rs `examples/dump.rs`. Codes are in the usual notation, high byte first. Services with the same
/// number form a group that contains the blocks once.
package struct FelicaRSFormat: DumpFormat {
    package init() {}
    package var id: String { "felica-rs" }
    package var name: LocalizedText { LocalizedText("felica-rs dump", "felica-rs のダンプ") }

    /// Recognizes systems whose code is under this tool's own name.
    package func recognizes(_ source: DumpSource) -> Bool {
        guard let systems = source.json?.member("systems"), systems.isArray else { return false }
        return (try? systems.elements())?.first?.member("system_code_hex") != nil
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let root = source.json else { throw .unknownFormat }
        var card = ImportedCard()
        for json in try root.required("systems").elements() {
            var system = ImportedSystem(
                code: try json.required("system_code_hex").code(), idm: try json.required("idm").idm(),
                pmm: try json.required("pmm").pmm())
            for group in try json.optional("system_services")?.elements() ?? [] { try readGroup(group, &system) }
            for area in try json.optional("areas")?.elements() ?? [] { try readArea(area, &system) }
            let rest = try json.object().without(["idm", "pmm", "system_code_hex", "system_services", "areas"])
            if !rest.members.isEmpty { system.extra["felicaRS"] = .object(rest) }
            card.systems.append(system)
        }
        return [try card.dump()]
    }

    /// The JSON parser bounds the nesting of areas.
    private func readArea(_ json: JSONCursor, _ system: inout ImportedSystem) throws(DocumentError) {
        let end = json.member("end_service_code_hex") ?? json.member("end_service_index_hex")
        guard let end else { throw .missing(key: "\(json.path).end_service_code_hex") }
        system.areas.append(
            AreaDump(
                start: try json.required("area_code_hex").code(), end: try end.code(),
                keyVersion: try keyVersion(of: json)))
        for child in try json.optional("children")?.elements() ?? [] {
            let kind = try child.required("kind")
            switch try kind.text() {
            case "area": try readArea(try child.required("value"), &system)
            case "service_group": try readGroup(try child.required("value"), &system)
            default: throw kind.malformed(.oneOf, "area", "service_group")
            }
        }
    }

    private func readGroup(_ json: JSONCursor, _ system: inout ImportedSystem) throws(DocumentError) {
        var codes: [ServiceCode] = []
        for service in try json.required("services").elements() {
            let place = try service.required("code_hex")
            let code: ServiceCode = try place.code()
            if let number = try service.optional("number")?.integer(), number != Int(code.number) {
                throw place.malformed(.numberedCode, "\(number)")
            }
            system.note(code, keyVersion: try keyVersion(of: service))
            codes.append(code)
        }
        guard let blocks = json.member("blocks") ?? json.member("read_without_encryption_blocks") else { return }
        guard let code = codes.first(where: { !$0.requiresAuthentication }) ?? codes.first else {
            throw json.malformed(.serviceForBlocks)
        }
        for (place, value) in try blocks.elements().enumerated() {
            guard let number = UInt16(exactly: place) else { throw value.malformed(.atMostBlocks, "65536") }
            try system.add(try value.block(), at: number, of: code, or: value.malformed(.uniqueBlock))
        }
        system.noteOverlap(codes)
    }

    private func keyVersion(of json: JSONCursor) throws(DocumentError) -> KeyVersion? {
        guard let version = try json.optional("key_version") else { return nil }
        return try (version.member("des_key_version_hex") ?? version.member("aes_key_version_hex"))?.keyVersion()
    }
}
