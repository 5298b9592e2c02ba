// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// All that a decoder sees in a dump.
public struct CardReport: Hashable, Sendable {
    /// The decoder's id, as in `transit`.
    public var card: String
    /// The card's name.
    public var name: LocalizedText
    /// The money on it; empty when neither a balance nor a history was read.
    public var balances: [BalanceEntry]
    /// What was done with it, newest first; `nil` when its history was not read.
    public var history: [HistoryRecord]?
    /// The last passages through gates, newest first; empty where the card keeps none or they were not read.
    public var gateEvents: [GateEvent]
    /// Where the card last went in for a fare, or `nil` where it keeps no such record or it was not read.
    public var entryRecord: EntryRecord?
    /// Tickets with a fee; empty where the card keeps none or they were not read.
    public var tickets: [PaidTicket]
    /// That its holder is inside the gates: an inference and no fact of the card; `nil` where nothing hints at it.
    public var insideGates: InsideGates?
    /// What else it says of itself, such as its number.
    public var fields: [CardField]
    /// What does not fit together.
    public var warnings: [DecodingWarning]

    /// A report on a card.
    public init(
        card: String, name: LocalizedText, balances: [BalanceEntry] = [], history: [HistoryRecord]? = nil,
        gateEvents: [GateEvent] = [], entryRecord: EntryRecord? = nil, tickets: [PaidTicket] = [],
        insideGates: InsideGates? = nil, fields: [CardField] = [], warnings: [DecodingWarning] = []
    ) {
        self.card = card
        self.name = name
        self.balances = balances
        self.history = history
        self.gateEvents = gateEvents
        self.entryRecord = entryRecord
        self.tickets = tickets
        self.insideGates = insideGates
        self.fields = fields
        self.warnings = warnings
    }

    /// The money alone, with the warnings that touch it.
    public var balanceReport: BalanceReport { BalanceReport(balances: balances, warnings: warnings) }

    /// The history alone, or `nil` when it was not read.
    public var historyReport: HistoryReport? {
        history.map { HistoryReport(card: card, name: name, currency: currency, records: $0) }
    }

    /// What the card's amounts are counted in.
    public var currency: Currency { balances.first?.currency ?? .yen }
}
