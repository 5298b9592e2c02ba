// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
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

    /// The services that identify the card, any one is enough; none where its system does.
    let services: [ServiceCode]

    /// What is asked for in a system of which no open service is known.
    private static let unknownService: UInt16 = 0x000B

    init(_ row: FactRow) throws(FactTableError) {
        kind = CardKind(rawValue: try row.required("id"))
        name = try row.requiredName()
        services = try row.hexList("services").map(ServiceCode.init(rawValue:))
        balanceRead = ReadRequest(
            try row.hex("system"), services.first { !$0.requiresAuthentication }?.rawValue ?? Self.unknownService)
    }

    package static let all: [NamedCardDecoder] = DecoderTables.namedCards.rows

    /// Returns whether the system has one of the card's services.
    package func recognizes(_ dump: CardDump) -> Bool {
        guard !services.isEmpty else { return dump.system(system) != nil }
        return dump.holds(balanceRead)
            || services.contains { service in
                dump.holds(ReadRequest(system.rawValue, service.rawValue))
                    // One that needs a key shows the card, if only such are known.
                    || service.requiresAuthentication && dump.system(system)?.service(service)?.needsKey == true
            }
    }

    /// Reports the name, and that nothing more is known.
    ///
    /// - Throws: ``CardDecodingError`` when the dump is not of such a card.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        guard recognizes(dump) else { throw noBalance(dump) }
        return CardReport(kind: kind, name: brand(dump)?.name ?? name, warnings: [.layoutNotPublished])
    }

    /// Those that share the system and its services, or the card itself.
    package var brands: [CardBrand] {
        let several = NamedCardBrand.all.filter { $0.card == kind }.map(\.brand)
        return several.isEmpty ? [CardBrand(id: kind.rawValue, name: name)] : several
    }

    /// The first block of the first service, where it distinguishes brands.
    package var brandReads: [ReadRequest] { brands.count > 1 ? [balanceRead] : [] }

    /// The brand by the first two bytes of that block.
    package func brand(_ dump: CardDump) -> CardBrand? {
        let brands = NamedCardBrand.all.filter { $0.card == kind }
        let prefix = dump.opened(balanceRead)?.blocks[0]?.uint16(at: 0, .big)
        return brands.first { $0.prefix == prefix }?.brand
    }
}

/// One of the cards that share a row: a row of `Data/named-card-brands.tsv`.
struct NamedCardBrand: Sendable {
    let card: CardKind
    let prefix: UInt16
    let brand: CardBrand

    static let all: [NamedCardBrand] = DecoderTables.namedCardBrands.rows

    init(_ row: FactRow) throws(FactTableError) {
        card = CardKind(rawValue: try row.required("card"))
        prefix = try row.hex("prefix")
        brand = CardBrand(id: try row.required("brand"), name: try row.requiredName())
    }
}

extension ServiceDump {
    /// Whether the card has it, but no key opened it.
    fileprivate var needsKey: Bool { state == .keyRequired || keyRefusal != nil }
}
