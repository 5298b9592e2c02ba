// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Decodes the transit cards in the Cybernetics format: balance in 008B, history in 090F, gates in 108F.
///
/// Several systems use the format, so the system is a property: ``transit`` is that of system 0003. The gate log adds
/// the minutes to the newest rides; the entry record (10CB) and tickets with a fee (184B) are decoded when a dump
/// contains them. Sources: TRETJapanNFCReader, Metrodroid, felica2money, suica-viewer, the pages of the felicalib
/// project, and the bytes of published dumps, which were decisive where the sources differ.
package struct CyberneticsDecoder: CardDecoder {
    package let kind: CardKind
    package let name: LocalizedText
    /// Block 0 of service 008B.
    package let balanceRead: ReadRequest
    /// The twenty blocks of service 090F, block 0 of 008B to check them against, and the optional gate log.
    ///
    /// These are twenty-four blocks, which take no more commands than without the gate log.
    package var historyReads: [ReadRequest] { [balanceRead, historyRead, gateRead] }
    /// Bytes 12 to 14 of a record.
    package let serials: SerialNumbers? = SerialNumbers(bits: 24, countsEntries: true)

    /// The services that only one issuer uses, where they identify the brand.
    package var brandReads: [ReadRequest] {
        tellsBrand ? CyberneticsBrand.services.map { ReadRequest(system: system, service: $0, blocks: 0..<0) } : []
    }

    private let historyRead: ReadRequest
    private let gateRead: ReadRequest
    private let entryRead: ReadRequest
    private let ticketRead: ReadRequest
    private let pointsRead: ReadRequest?
    private let tellsBrand: Bool

    /// Creates a decoder for the cards of one system.
    ///
    /// - Parameters:
    ///   - points: the service whose first block begins with a number of points, three bytes, little-endian.
    ///   - tellsBrand: whether the services identify one of several brands.
    package init(
        kind: CardKind, name: LocalizedText, system: SystemCode, points: ServiceCode? = nil, tellsBrand: Bool = false
    ) {
        self.kind = kind
        self.name = name
        self.tellsBrand = tellsBrand
        let system = system.rawValue
        pointsRead = points.map { ReadRequest(system, $0.rawValue) }
        balanceRead = ReadRequest(system, 0x008B)
        historyRead = ReadRequest(system, 0x090F, 0..<20)
        gateRead = ReadRequest(system, 0x108F, 0..<3, isRequired: false)
        entryRead = ReadRequest(system, 0x10CB)
        ticketRead = ReadRequest(system, 0x184B)
    }

    /// Returns whether the system has the balance or the history service.
    package func recognizes(_ dump: CardDump) -> Bool {
        dump.holds(balanceRead) || dump.holds(historyRead)
    }

    /// The brand by the services of its issuer; a system of one issuer's own is one brand.
    package var brands: [CardBrand] { tellsBrand ? CyberneticsBrand.all : [CardBrand(id: kind.rawValue, name: name)] }

    /// The brand by the services that only its issuer uses.
    package func brand(_ dump: CardDump) -> CardBrand? {
        tellsBrand
            ? dump.system(system).flatMap { CyberneticsBrand.brand($0, isListed: dump.isListed($0)) }
            : CardBrand(id: kind.rawValue, name: name)
    }

    /// The balance in 008B: bytes 11 and 12, little-endian, yen.
    ///
    /// It is checked against the newest history record when the dump contains it.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        try balance(dump, newest: dump.opened(historyRead)?.blocks[0].flatMap { CyberneticsHistoryBlock($0) })
    }

    private func balance(
        _ dump: CardDump, newest: CyberneticsHistoryBlock?
    ) throws(CardDecodingError) -> BalanceReport {
        let attributes = CyberneticsAttributeBlock(
            try dump.block(balanceRead, kind: kind, field: "balance", offset: 11))
        var report = BalanceReport(balances: [BalanceEntry(kind: kind, name: name, amount: attributes.balance)])
        if let newest {
            if newest.balance != attributes.balance { report.warnings.append(.balanceDiffersFromHistory) }
            if newest.serial & 0xFFFF != attributes.transactionNumber {
                report.warnings.append(.transactionsNotInHistory)
            }
        }
        return report
    }

    /// Decodes balance and history; gate log, entry record, tickets and points when the dump contains them.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        let service = dump.opened(historyRead)
        let newest = service?.blocks[0].flatMap { CyberneticsHistoryBlock($0) }
        if let service {
            let history = CyberneticsHistory(service, stations)
            report.history = history.records
            report.warnings = history.warnings
        }
        let places = CyberneticsStations(names: stations, history: report.history ?? [])
        report.entryRecord = dump.opened(entryRead).flatMap { CyberneticsEntryRecord.record($0) }
        if let entry = report.entryRecord {
            report.entryRecord?.stations = places.places(entry.code, on: nil)
        }
        report.tickets = dump.opened(ticketRead).map { CyberneticsTickets.tickets($0) } ?? []
        if var log = dump.opened(gateRead).map({ CyberneticsGateLog($0) }) {
            log.name(places)
            report.gateEvents = log.events
            if var records = report.history {
                report.history = nil
                CyberneticsRides.join(log, to: &records)
                report.history = records
            }
            report.insideGates = CyberneticsInsideGates.inference(
                log, report.entryRecord, isCounted: hasUnlistedTransactions(dump, newest))
        }
        if report.history?.contains(where: \.hasDoubt) ?? false { report.warnings.append(.doubtfulValues) }
        if tellsBrand { report.fields.append(CyberneticsBrand.field(brand(dump))) }
        if let pointsRead, let block = dump.opened(pointsRead)?.blocks[0] {
            report.fields.append(.points(Int(block.uint24(at: 0, .little))))
        }
        try report.takeBalance(orFrom: newest?.balance) { () throws(CardDecodingError) in
            try balance(dump, newest: newest)
        }
        return report
    }

    /// Whether 008B counts another transaction than the newest record; `nil` when either was not read.
    private func hasUnlistedTransactions(_ dump: CardDump, _ newest: CyberneticsHistoryBlock?) -> Bool? {
        guard let block = dump.opened(balanceRead)?.blocks[0], let newest else { return nil }
        return CyberneticsAttributeBlock(block).transactionNumber != newest.serial & 0xFFFF
    }
}

/// Block 0 of service 008B.
///
/// Bytes 8 (type and settings, readings differ; 20, 23, 30 and 32 were seen) and 13 (always 00 in dumps) are not used.
struct CyberneticsAttributeBlock {
    private let raw: Block

    init(_ block: Block) {
        raw = block
    }

    /// The balance in yen: bytes 11 and 12, little-endian, never negative.
    var balance: Int { Int(raw.uint16(at: 11, .little)) }

    /// Bytes 14 and 15, big-endian: in every full dump, the low 16 bits of the newest history record's serial.
    var transactionNumber: Int { Int(raw.uint16(at: 14, .big)) }
}

/// The brand of a card, identified by services and areas that only its issuer uses; the facts are in `Data/transit-brands.tsv`.
///
/// Most of these services need a key, so a dump contains them only when the card listed its services.
enum CyberneticsBrand {
    /// Every brand, once.
    static var all: [CardBrand] {
        var seen: Set<String> = []
        return DecoderTables.transitBrands.rows.filter { seen.insert($0.brand).inserted }
            .map { CardBrand(id: $0.brand, name: $0.name) }
    }

    /// The services of all brands, each once.
    static var services: [ServiceCode] {
        Set(DecoderTables.transitBrands.rows.flatMap(\.services)).sorted()
    }

    /// The brand, or `nil` when the services match none or more than one; never a guess.
    ///
    /// - Parameter isListed: whether the system has all nodes of the card.
    static func brand(_ system: SystemDump, isListed: Bool) -> CardBrand? {
        // A list rather than a set: few of its codes are ever looked up.
        var services: [ServiceCode] = []
        services.reserveCapacity(system.services.count)
        for service in system.services {
            if case .refused = service.state, service.blocks.isEmpty { continue }
            services.append(service.code)
        }
        let fitting = DecoderTables.transitBrands.rows.filter { row in
            row.services.allSatisfy { services.contains($0) }
                && row.areas.allSatisfy { area in
                    area.start == AreaCode.root.rawValue
                        ? isListed
                        : system.areas.contains { $0.start.rawValue == area.start && $0.end.rawValue == area.end }
                }
        }
        let brands = fitting.filter { row in !fitting.contains { $0.asksMore(than: row) } }
        guard let first = brands.first, brands.allSatisfy({ $0.brand == first.brand }) else { return nil }
        return CardBrand(id: first.brand, name: first.name)
    }

    /// The field with the brand, `undecidable` when it is unknown.
    static func field(_ brand: CardBrand?) -> CardField {
        CardField(
            key: "brand", name: LocalizedText("Brand", "カードの種類"), value: brand?.id ?? "undecidable",
            label: brand?.name ?? LocalizedText("unknown", "不明"), isPersonal: false)
    }
}

/// A row of `Data/transit-brands.tsv`: services that only one issuer uses.
struct TransitBrandRow: Sendable {
    /// The kind of card.
    let brand: String
    let name: LocalizedText
    /// The services, all of which must be present.
    let services: [ServiceCode]
    /// The areas, likewise; only a card that listed its nodes has any.
    let areas: [(start: UInt16, end: UInt16)]

    init(_ row: FactRow) throws(FactTableError) {
        name = try row.requiredName()
        brand = try row.required("brand")
        services = try row.hexList("services").map(ServiceCode.init(rawValue:))
        areas = try (row.hexList("areas") as [UInt32]).map {
            (start: UInt16(truncatingIfNeeded: $0 >> 16), end: UInt16(truncatingIfNeeded: $0))
        }
        if services.isEmpty, areas.isEmpty { throw row.fault("services", .empty) }
    }

    /// Whether it asks for everything that another row asks for, and more.
    func asksMore(than other: TransitBrandRow) -> Bool {
        services.count + areas.count > other.services.count + other.areas.count
            && other.services.allSatisfy { services.contains($0) }
            && other.areas.allSatisfy { area in areas.contains { $0 == area } }
    }
}

extension CardDump {
    /// Whether the card listed all nodes of a system, and none is missing.
    ///
    /// A card that cannot list them has no areas but the root area in a dump.
    fileprivate func isListed(_ system: SystemDump) -> Bool {
        system.areas.contains { $0.start == .root } && system.areas.count > 1
            && !missing.contains { $0.service == nil && ($0.system == nil || $0.system == system.systemCode) }
    }
}

/// Service 184B; a block of zeros is unused, and another block can follow it.
enum CyberneticsTickets {
    static func tickets(_ service: ServiceDump) -> [PaidTicket] {
        service.blocks.filter { !$0.block.isZero }.map { ticket($0.block) }
    }

    private static func ticket(_ block: Block) -> PaidTicket {
        let time = block.uint16(at: 6, .big)
        return PaidTicket(
            from: LineStationCode(rawValue: block.uint16(at: 0, .big)),
            to: LineStationCode(rawValue: block.uint16(at: 2, .big)),
            expiry: CalendarDate(packed: block.uint16(at: 4, .big)),
            issued: ClockTime(hour: Int(time.bits(11...15)), minute: Int(time.bits(5...10))),
            kind: block[8],
            price: Int(block[9]) * 10,
            device: DeviceNumber(rawValue: block.uint16(at: 10, .big)),
            checkedAt: LineStationCode(rawValue: block.uint16(at: 12, .big)),
            raw: block)
    }
}
