// SPDX-License-Identifier: Apache-2.0

package import CardModel

// Cards of which only the services are known: system codes and services from felica-tool and TRETJapanNFCReader, see
// `Data/named-cards.tsv`. They are recognized and named, and their blocks stay raw.

/// Recognizes cards whose layout is unpublished.
package struct NamedCardDecoder: PurselessDecoder {
    package let kind: CardKind
    package let name: LocalizedText
    /// Block 0 of the first service; its meaning is unknown.
    package let balanceRead: ReadRequest
    /// Block 0 of the first service.
    package var historyReads: [ReadRequest] { [balanceRead] }

    /// Everything except history records and purses, since the location of the card number is unknown.
    package var personal: [PersonalBytes] {
        services.filter { $0.kind == .random }.map { PersonalBytes(system.rawValue, $0.rawValue) }
    }

    /// The services that identify the card; any one is enough.
    let services: [ServiceCode]

    init(_ row: FactRow) throws(FactTableError) {
        kind = CardKind(rawValue: try row.required("id"))
        name = try row.requiredName()
        services = try row.hexList("services").map(ServiceCode.init(rawValue:))
        guard let first = services.first else { throw row.fault("services", .empty) }
        balanceRead = ReadRequest(try row.hex("system"), first.rawValue)
    }

    package static let all: [NamedCardDecoder] = DecoderTables.namedCards.rows

    /// Returns whether the system has one of the card's services.
    package func recognizes(_ dump: CardDump) -> Bool {
        services.contains { dump.holds(ReadRequest(system.rawValue, $0.rawValue)) }
    }

    /// Reports the name, and that nothing more is known.
    ///
    /// - Throws: ``CardDecodingError`` when the dump is not of such a card.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        guard recognizes(dump) else { throw noBalance(dump) }
        return CardReport(kind: kind, name: name, warnings: [.layoutNotPublished])
    }
}
