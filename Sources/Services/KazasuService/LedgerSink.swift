// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel
public import KazasuLedger
public import KazasuTaps
internal import SQLiteFiles

/// `--keep`: the records of each card go to the ledger.
public actor LedgerSink: Sink {
    /// The key of its queue.
    public nonisolated let name: String
    /// How many events it takes at a time.
    public nonisolated let window = 16

    private let ledger: Ledger
    private let tell: @Sendable (LedgerAddition) -> Void
    private let executor = BlockingExecutor("kazasu.ledger")
    /// The ledger blocks, so that the sink has a thread of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - ledger: where histories are kept.
    ///   - tell: gets the result for each history.
    public init(_ ledger: Ledger, tell: @escaping @Sendable (LedgerAddition) -> Void = { _ in }) {
        (self.ledger, self.tell) = (ledger, tell)
        name = "ledger:" + ledger.path
    }

    /// Delivers events of one reader, oldest first.
    public func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
        await DeliveryResult.inOrder(events) { event in
            do throws(LedgerError) {
                if let addition = try ledger.keep(event.event) { tell(addition) }
                return .delivered
            } catch {
                return .retry(error.token)
            }
        }
    }

    /// Releases what it holds.
    public func close() async {}
}

extension LedgerError {
    /// Why the ledger cannot be used, in one word. All of it can be repaired while the events wait.
    fileprivate var token: String {
        switch self {
        case .damaged: "damaged"
        case .newer: "newer"
        case .notALedger: "notALedger"
        case .diskFull: "diskFull"
        case .locked: "locked"
        case .inaccessible(_, let code): "errno\(code)"
        case .failed(let code): "sqlite\(code)"
        default: "failed"
        }
    }
}

extension Ledger {
    /// Keeps the records of an event.
    ///
    /// A card without an IDm in its event is known by the event's tag, which replaces the IDm with `--id-key`.
    ///
    /// - Returns: `nil` for an event without records, or of a card with random numbers.
    package func keep(_ event: TapEvent) throws(LedgerError) -> LedgerAddition? {
        guard case .on(let card, let content) = event.kind, let tag = card.tag,
            let history = try? EventHistory(content, options.decoders)
        else { return nil }
        let key = history.idm.map { options.cardKey($0.inSystem(0)) } ?? tag
        return try keep(
            history.report, key: key, brand: history.brand, source: LedgerSource(.watch, name: event.reader),
            readAt: event.moment.text)
    }
}

/// The history in an event.
///
/// An event has the values of each record in one language, and the record's bytes. The bytes are decoded again; only what
/// comes from neighboring records or the gate log is taken from the values.
private struct EventHistory {
    let idm: IDm?
    /// The id of the brand, where the card told it.
    let brand: String?
    let report: CardReport

    /// - Returns: `nil` for an event without a history that can be decoded.
    /// - Throws: ``DocumentError`` for malformed records.
    init?(_ content: TapEvent.Content, _ decoders: DecoderRegistry) throws(DocumentError) {
        guard let card = content.card.map({ JSONCursor($0) }), let kind = try card.optional("kind")?.text(),
            let decoder = decoders.decoder(of: CardKind(rawValue: kind)), let elements = content.records,
            !elements.isEmpty
        else { return nil }
        idm = IDm(try card.optional("idm")?.bytes() ?? [])
        let brand = try card.optional("brand")?.text()
        // An event of another version may name one that is unknown here.
        self.brand = decoder.brands.first { $0.id == brand }?.id
        let currency = try (content.balances?.first).map { JSONCursor($0) }?.optional("currency")?.text()
        var records: [HistoryRecord] = []
        for element in elements {
            let record = try HistoryRecord(JSONCursor(element))
            records.append(Ledger.decoded(record, nil, decoder) ?? record)
        }
        report = CardReport(
            kind: decoder.kind, name: decoder.name,
            balances: [
                BalanceEntry(
                    kind: decoder.kind, name: decoder.name, amount: nil,
                    currency: currency.flatMap(Currency.init(rawValue:)) ?? .yen)
            ], history: records)
    }
}

extension HistoryRecord {
    /// Fields that cannot be decoded from the record's bytes.
    fileprivate init(_ event: JSONCursor) throws(DocumentError) {
        let (head, block) = LedgerCoding.blocks(try event.required("raw").bytes())
        var warnings: [DecodingWarning] = []
        for warning in try event.required("warnings").elements() {
            if let warning = DecodingWarning(rawValue: try warning.text()) { warnings.append(warning) }
        }
        self.init(
            serial: try event.optional("serial")?.integer(),
            date: CalendarDate(try event.optional("date")?.text() ?? ""),
            time: try event.time("time"), entryTime: try event.time("entryTime"),
            kind: RecordKind(rawValue: try event.required("kind").text()) ?? .other,
            amount: try event.optional("amount")?.integer(), balance: try event.optional("balance")?.integer(),
            gateLog: try event.optional("gatePassage")?.gateTimes(), warnings: warnings, rawHead: head, raw: block)
    }
}

extension JSONCursor {
    /// A member `HH:MM`; `nil` if it is absent or `null`.
    fileprivate func time(_ key: String) throws(DocumentError) -> ClockTime? {
        let parts = try optional(key)?.text().split(separator: ":").compactMap { Int($0) }
        guard let parts, parts.count == 2 else { return nil }
        return ClockTime(hour: parts[0], minute: parts[1])
    }

    /// `gatePassage` of a record.
    fileprivate func gateTimes() throws(DocumentError) -> GateTimes {
        var settlement: GateSettlement?
        if let cursor = try optional("settlement"),
            let station = LineStationCode(try cursor.required("stationCode").text())
        {
            settlement = GateSettlement(amount: try cursor.required("amount").integer(), station: station)
        }
        return GateTimes(
            entryDate: CalendarDate(try optional("entryDate")?.text() ?? ""), fare: try required("fare").integer(),
            settlement: settlement)
    }
}
