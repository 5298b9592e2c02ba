// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Decodes the transit cards in the Cybernetics format: balance in 008B, history in 090F, gates in 108F.
///
/// Several systems use the format, so the system is data: ``transit`` is that of system 0003. The gate log adds the
/// minutes to the newest rides; the entry record (10CB) and tickets with a fee (184B) are decoded when a dump holds them.
/// Sources: TRETJapanNFCReader, Metrodroid, felica2money, suica-viewer, the pages of the felicalib project, and the
/// bytes of published dumps, which decided where they differ.
public struct CyberneticsDecoder: CardDecoder {
    /// The name for scripts.
    public let id: String
    /// The name for people.
    public let name: LocalizedText
    /// Block 0 of service 008B.
    public let balanceRead: ReadRequest
    /// The twenty blocks of service 090F, block 0 of 008B to check them against, and the gate log, which a card may lack;
    /// these are twenty-four, as many commands as without the gate log.
    public var historyReads: [ReadRequest] { [balanceRead, historyRead, gateRead] }

    private let historyRead: ReadRequest
    private let gateRead: ReadRequest
    private let entryRead: ReadRequest
    private let ticketRead: ReadRequest
    private let pointsRead: ReadRequest?
    private let tellsBrand: Bool

    /// A decoder for the cards of one system.
    ///
    /// - Parameters:
    ///   - points: the service whose first block begins with a number of points, three bytes, little-endian.
    ///   - tellsBrand: whether the services tell which of several brands it is.
    public init(
        id: String, name: LocalizedText, system: SystemCode, points: ServiceCode? = nil, tellsBrand: Bool = false
    ) {
        self.id = id
        self.name = name
        self.tellsBrand = tellsBrand
        pointsRead = points.map { ReadRequest(system: system, service: $0, blocks: 0..<1, isRequired: false) }
        balanceRead = ReadRequest(system: system, service: ServiceCode(rawValue: 0x008B), blocks: 0..<1)
        historyRead = ReadRequest(system: system, service: ServiceCode(rawValue: 0x090F), blocks: 0..<20)
        gateRead = ReadRequest(
            system: system, service: ServiceCode(rawValue: 0x108F), blocks: 0..<3, isRequired: false)
        entryRead = ReadRequest(
            system: system, service: ServiceCode(rawValue: 0x10CB), blocks: 0..<2, isRequired: false)
        ticketRead = ReadRequest(
            system: system, service: ServiceCode(rawValue: 0x184B), blocks: 0..<36, isRequired: false)
    }

    /// Whether the system holds the balance or the history service.
    public func recognises(_ dump: CardDump) -> Bool {
        dump.holds(balanceRead) || dump.holds(historyRead)
    }

    /// The balance of 008B: bytes 11 and 12, little-endian, yen; checked against the newest history record when the
    /// dump holds it.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        try balance(dump, newest: dump.opened(historyRead)?.blocks[0].flatMap { CyberneticsHistoryBlock($0) })
    }

    private func balance(
        _ dump: CardDump, newest: CyberneticsHistoryBlock?
    ) throws(DecodingFailure) -> BalanceReport {
        let attributes = CyberneticsAttributeBlock(
            try dump.block(balanceRead, card: id, field: "balance", offset: 11))
        var report = BalanceReport(balances: [BalanceEntry(card: id, name: name, amount: attributes.balance)])
        if let newest {
            if newest.balance != attributes.balance { report.warnings.append(.balanceDiffersFromHistory) }
            if newest.serial & 0xFFFF != attributes.transactionNumber {
                report.warnings.append(.transactionsNotInHistory)
            }
        }
        return report
    }

    /// Balance and history; gate log, entry record, tickets and points when the dump holds them.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        var report = CardReport(card: id, name: name)
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
            report.entryRecord?.stations = places.places(entry.line, entry.station, on: nil)
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
        if tellsBrand, let system = dump.system(system) { report.fields.append(CyberneticsBrand.field(system)) }
        if let pointsRead, let block = dump.opened(pointsRead)?.blocks[0] {
            report.fields.append(.points(Int(block.uint24(at: 0, .little))))
        }
        try report.takeBalance(orFrom: newest?.balance) { () throws(DecodingFailure) in
            try balance(dump, newest: newest)
        }
        return report
    }

    /// Whether 008B counts another transaction than the newest record's; `nil` when one of the two was not read.
    private func hasUnlistedTransactions(_ dump: CardDump, _ newest: CyberneticsHistoryBlock?) -> Bool? {
        guard let block = dump.opened(balanceRead)?.blocks[0], let newest else { return nil }
        return CyberneticsAttributeBlock(block).transactionNumber != newest.serial & 0xFFFF
    }
}
