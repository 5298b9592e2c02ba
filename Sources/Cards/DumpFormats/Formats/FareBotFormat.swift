// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// FareBot's JSON: its exports since 2026, which name themselves, and those of the old Android application.
///
/// Source: FareBot `card/felica/.../raw`, `card/ultralight/.../raw`. Codes are **numbers**, bytes are base64. Both have
/// one IDm and one PMm; the oldest exports split each into two lists of signed bytes.
package struct FareBotFormat: DumpFormat {
    package init() {}
    package var id: String { "farebot" }
    package var name: LocalizedText { LocalizedText("FareBot JSON", "FareBot の JSON") }

    /// Recognizes a kind of card beside its systems, or a list of cards with their kinds.
    package func recognizes(_ source: DumpSource) -> Bool {
        guard let json = source.json else { return false }
        return (json.member("cards").flatMap { try? $0.elements().first } ?? json).member("cardType") != nil
    }

    /// Reads the FeliCa cards and Type 2 Tags of the file; other cards in a file of several are skipped.
    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let root = source.json else { throw .unknownFormat }
        guard let cards = try root.optional("cards") else { return [try read(root)] }
        let dumps = try cards.list { card throws(DocumentError) in
            kind(try card.required("cardType")) != nil ? try read(card) : nil
        }.compactMap { $0 }
        guard !dumps.isEmpty else { throw notImported(try cards.elements().first?.required("cardType")) }
        return dumps
    }

    /// A kind of card that can be imported.
    private enum Kind { case feliCa, ultralight }

    /// Decodes the kind of a card: a keyword, or a number in old exports.
    private func kind(_ type: JSONCursor) -> Kind? {
        switch (try? type.text())?.lowercased() {
        case "felica": .feliCa
        case "mifareultralight": .ultralight
        case nil where type.value == .integer(4): .feliCa
        case nil where type.value == .integer(1): .ultralight
        default: nil
        }
    }

    private func notImported(_ type: JSONCursor?) -> DocumentError {
        .notImported(kind: type.map { (try? $0.text()) ?? $0.value.compactText } ?? "cards")
    }

    private func read(_ json: JSONCursor) throws(DocumentError) -> CardDump {
        let type = try json.required("cardType")
        guard let kind = kind(type) else { throw notImported(type) }
        if kind == .ultralight {
            let moment = try scanMoment(json.member("_scannedAt") ?? json.member("scannedAt"))
            return try json.type2Tag(uid: json.required(anyOf: "_tagId", "tagId"), readAt: moment)
        }
        var card = ImportedCard()
        card.idm = IDm(rawValue: try id(json.required(anyOf: "idm", "_tagId", "tagId")))
        card.pmm = try json.optional("pmm").map { pmm throws(DocumentError) in PMm(rawValue: try id(pmm)) }
        card.readAt = try scanMoment(json.member("_scannedAt") ?? json.member("scannedAt"))
        card.complete = try json.optional("isPartialRead")?.bool() != true
        for system in try json.required("systems").elements() { card.systems.append(try readSystem(system)) }
        return try card.dump()
    }

    private func readSystem(_ json: JSONCursor) throws(DocumentError) -> ImportedSystem {
        var system = ImportedSystem(code: try code(json.required("code")))
        system.isSkipped = try json.optional("skipped")?.bool() == true
        for code in try json.optional("allServiceCodes")?.elements() ?? [] { system.note(try self.code(code)) }
        for service in try json.optional("services")?.elements() ?? [] {
            let code: ServiceCode = try self.code(service.required("serviceCode"))
            system.note(code)
            for block in try service.optional("blocks")?.elements() ?? [] {
                let number = try block.required("address").blockNumber()
                try system.add(
                    try block.required("data").block(), at: number, of: code, or: block.malformed(.uniqueBlock))
            }
        }
        return system
    }

    private func code<Code: FourDigitCode>(_ json: JSONCursor) throws(DocumentError) -> Code {
        Code(rawValue: UInt16(truncatingIfNeeded: try json.integer(in: 0...0xFFFF)))
    }

    /// Decodes eight bytes; old exports nest them one level deeper, still older ones have two lists of signed bytes.
    private func id(_ json: JSONCursor) throws(DocumentError) -> UInt64 {
        for (first, second) in [("manufactureCode", "cardIdentification"), ("icCode", "maximumResponseTime")] {
            guard let head = json.member(first) else { continue }
            let bytes = try head.signedBytes(count: 2) + json.required(second).signedBytes(count: 6)
            return bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }
        return try (json.member("bytes") ?? json).bytesOrBase64(count: 8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func scanMoment(_ json: JSONCursor?) throws(DocumentError) -> String? {
        guard let json else { return nil }
        if case .integer = json.value { return try json.moment() }
        if let milliseconds = json.member("timeInMillis") { return try milliseconds.moment() }
        return try json.text()
    }
}
