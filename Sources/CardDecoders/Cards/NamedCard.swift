// SPDX-License-Identifier: Apache-2.0

package import CardModel

// Cards of which only the services are known: system codes and services from felica-tool and TRETJapanNFCReader, see
// `Data/named-cards.tsv`. They are recognised, named and kept raw.

/// Recognises cards whose layout nobody has published.
package struct NamedCardDecoder: PurselessDecoder {
    /// The name for scripts.
    package let id: String
    /// The name for people.
    package let name: LocalizedText
    /// Block 0 of the first service; what it means is not known.
    package let balanceRead: ReadRequest
    /// Block 0 of the first service.
    package var historyReads: [ReadRequest] { [balanceRead] }

    /// Where the number of such a card is, nobody knows: all that is no record of a history and no purse.
    package var personal: [PersonalBytes] {
        services.filter { $0.kind == .random }.map { PersonalBytes(system.rawValue, $0.rawValue) }
    }

    /// The services that show the card, any of them.
    let services: [ServiceCode]

    init(id: String, name: LocalizedText, system: SystemCode, services: [ServiceCode], first: ServiceCode) {
        self.id = id
        self.name = name
        self.services = services
        balanceRead = ReadRequest(system: system, service: first, blocks: 0..<1)
    }

    /// One decoder for each row of the table.
    package static let all: [NamedCardDecoder] = DecoderTables.namedCards.decoders

    /// Whether the system holds one of the card's services.
    package func recognises(_ dump: CardDump) -> Bool {
        services.contains { dump.holds(ReadRequest(system: system, service: $0, blocks: 0..<1)) }
    }

    /// The name, and that nothing more is known.
    ///
    /// - Throws: ``CardDecodingError`` when the dump is not of such a card.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        guard recognises(dump) else { throw noBalance(dump) }
        return CardReport(card: id, name: name, warnings: [.layoutNotPublished])
    }
}

/// Cards that are only recognised; the facts are rows of `Data/named-cards.tsv`.
struct NamedCardTable: Sendable {
    /// What is wrong in the table.
    let faults: [FactTableError]
    /// One decoder for each row.
    let decoders: [NamedCardDecoder]

    init(_ bytes: [UInt8]) {
        let table = FactTable(bytes, columns: ["id", "system", "services", "english", "japanese"], key: ["id"]) {
            (row) throws(FactTableError) -> NamedCardDecoder in
            let codes: [UInt16] = try row.hexList("services")
            let services = codes.map { ServiceCode(rawValue: $0) }
            guard let name = try row.name() else { throw row.fault("english", .empty) }
            guard let first = services.first else { throw row.fault("services", .empty) }
            return NamedCardDecoder(
                id: try row.required("id"), name: name, system: SystemCode(rawValue: try row.hex("system")),
                services: services, first: first)
        }
        decoders = table.rows
        faults = table.faults
    }
}
