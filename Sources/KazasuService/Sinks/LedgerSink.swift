// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel

/// `--keep`: the records of each card go to the ledger.
package struct LedgerSink: Sink {
    package let name: String
    package let window = 16

    private let ledger: Ledger
    private let tell: @Sendable (LedgerAddition) -> Void

    /// - Parameter tell: gets what became of each history.
    package init(_ ledger: Ledger, tell: @escaping @Sendable (LedgerAddition) -> Void = { _ in }) {
        (self.ledger, self.tell) = (ledger, tell)
        name = "ledger:" + ledger.path
    }

    package func deliver(_ events: [OutboxEvent]) async -> [DeliveryResult] {
        var results: [DeliveryResult] = []
        for event in events {
            do throws(LedgerError) {
                if let addition = try ledger.keep(event) { tell(addition) }
                results.append(.delivered)
            } catch {
                return results + events.dropFirst(results.count).map { _ in DeliveryResult.retry(error.token) }
            }
        }
        return results
    }

    package func close() async {}
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
    /// - Returns: `nil` for an event without records, or of a card that cannot be recognised the next time.
    package func keep(_ event: OutboxEvent) throws(LedgerError) -> LedgerAddition? {
        guard event.type == "on", let tag = event.tag,
            let history = try? EventHistory(event.line, options.decoders)
        else { return nil }
        let key = history.idm.map { options.cardKey($0.inSystem(0)) } ?? tag
        return try keep(
            history.report, key: key, source: LedgerSource(.watch, name: event.reader), readAt: history.time)
    }
}

/// The history in an event.
///
/// An event has the values of each record in one language, and its bytes. So the bytes are decoded again, and only what a
/// record gets from its neighbours or from the gate log is taken from the values.
private struct EventHistory {
    let time: String
    let idm: IDm?
    let report: CardReport

    /// - Returns: `nil` for an event without a history that can be decoded.
    /// - Throws: ``DocumentError`` for anything else than an event.
    init?(_ line: String, _ decoders: DecoderRegistry) throws(DocumentError) {
        let event = JSONCursor(try JSONValue(parsing: Array(line.utf8)))
        guard let card = try event.optional("card"), let kind = try card.optional("kind")?.text(),
            let decoder = decoders.decoder(id: kind), let elements = try event.optional("records")?.elements(),
            !elements.isEmpty
        else { return nil }
        time = try event.required("at").text()
        idm = IDm(try card.optional("idm")?.bytes() ?? [])
        let currency = try event.optional("balances")?.elements().first?.optional("currency")?.text()
        var records: [HistoryRecord] = []
        for element in elements {
            let record = try HistoryRecord(element)
            records.append(Ledger.decoded(record, nil, decoder) ?? record)
        }
        report = CardReport(
            card: decoder.id, name: decoder.name,
            balances: [
                BalanceEntry(
                    card: decoder.id, name: decoder.name, amount: nil,
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
