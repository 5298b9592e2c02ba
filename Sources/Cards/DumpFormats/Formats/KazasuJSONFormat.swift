// SPDX-License-Identifier: Apache-2.0

package import CardModel

extension DumpFileFormat {
    /// Kazasu's own document, which can store every dump.
    public static let json = DumpFileFormat(known: "json")
}

/// Kazasu's own document, `kazasu.dump/1`, the only format that holds all of a dump.
package struct KazasuJSONFormat: WritableDumpFormat {
    package init() {}
    /// The identifier `json`, as in `dump --format json`.
    package var id: String { "json" }
    package var name: LocalizedText { LocalizedText("Kazasu JSON document", "Kazasu の JSON 文書") }

    /// Recognizes a document that names a schema of Kazasu, also one that is not a dump: reading it says so.
    package func recognizes(_ source: DumpSource) -> Bool {
        guard let schema = try? source.json?.member("schema")?.text() else { return false }
        return schema.hasPrefix("kazasu.")
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let json = source.json else { throw .unknownFormat }
        return [try CardDump(json: json.value)]
    }

    /// Writes the whole document.
    package func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        Array(dump.document.utf8)
    }
}

extension CardDump {
    /// Returns the IDm for a format with a single one: the card's, or that of its first system.
    func idmToWrite() throws(DumpWritingError) -> IDm {
        try checkFeliCa()
        if let idm = card.idm { return idm }
        guard let first = systems.first, !first.assumed.contains(.idm) else { throw .noIDm }
        return first.idm
    }

    /// The PMm for a format with a single one, or `nil`.
    var pmmToWrite: PMm? {
        card.pmm ?? systems.first.flatMap { $0.assumed.contains(.pmm) ? nil : $0.pmm }
    }

    /// Throws unless this is a FeliCa card.
    func checkFeliCa() throws(DumpWritingError) {
        guard card.technology == .felica else { throw .notFeliCa(card.technology) }
    }

    /// Throws if a code occurs twice, so that a format with one entry for each loses nothing.
    func checkCodesAreUnique(systems unique: Bool) throws(DumpWritingError) {
        var systemCodes: Set<SystemCode> = []
        for system in systems {
            guard systemCodes.insert(system.systemCode).inserted || !unique else {
                throw .systemTwice(system.systemCode)
            }
            var codes: Set<ServiceCode> = []
            for service in system.services where !codes.insert(service.code).inserted {
                throw .serviceTwice(system.systemCode, service.code)
            }
        }
    }
}
