// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Everything that a decoder finds in a dump.
public struct CardReport: Hashable, Sendable {
    /// The kind of card.
    public var kind: CardKind
    /// The card's name.
    public var name: LocalizedText
    /// The purses; empty when neither a balance nor a history was read.
    public var balances: [BalanceEntry]
    /// The transactions, newest first; `nil` when the history was not read.
    public var history: [HistoryRecord]?
    /// The last passages through gates, newest first; empty where the card keeps none or they were not read.
    public var gateEvents: [GateEvent]
    /// The last entry for a fare, or `nil` where the card keeps no such record or it was not read.
    public var entryRecord: EntryRecord?
    /// Tickets with a fee; empty where the card keeps none or they were not read.
    public var tickets: [PaidTicket]
    /// The inference that the holder is inside the gates, not a fact from the card; `nil` where nothing suggests it.
    public var insideGates: InsideGates?
    /// Other data on the card, such as its number.
    public var fields: [CardField]
    /// The inconsistencies found.
    public var warnings: [DecodingWarning]

    /// Creates a report on a card.
    public init(
        kind: CardKind, name: LocalizedText, balances: [BalanceEntry] = [], history: [HistoryRecord]? = nil,
        gateEvents: [GateEvent] = [], entryRecord: EntryRecord? = nil, tickets: [PaidTicket] = [],
        insideGates: InsideGates? = nil, fields: [CardField] = [], warnings: [DecodingWarning] = []
    ) {
        self.kind = kind
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

    /// The money alone, with the warnings that concern it.
    package var balanceReport: BalanceReport { BalanceReport(balances: balances, warnings: warnings) }

    /// The history alone, or `nil` when it was not read.
    package var historyReport: HistoryReport? {
        history.map { HistoryReport(kind: kind, name: name, currency: currency, records: $0) }
    }

    /// The currency of the card's amounts.
    public var currency: Currency { balances.first?.currency ?? .yen }
}

extension CardReport {
    /// An element of `reports` in `kazasu.decode/1`.
    ///
    /// - Parameters:
    ///   - language: the language of the names; keys and ids never change.
    ///   - redact: returns the replacement for a personal value.
    package func json(_ language: Language, redact: (String) -> String = { $0 }) -> JSONValue {
        JSONValue { write(to: &$0, language, redact: redact) }
    }

    /// Writes an element of `reports` in `kazasu.decode/1`; data that the card does not keep has no member.
    ///
    /// - Parameters:
    ///   - language: the language of the names; keys and ids never change.
    ///   - redact: returns the replacement for a personal value.
    #if compiler(>=6.3)
        @specialized(where Sink == JSONWriter)
    #endif
    package func write<Sink: JSONSink & ~Copyable>(
        to sink: inout Sink, _ language: Language, redact: (String) -> String
    ) {
        sink.object { report in
            report.member("kind", kind.rawValue)
            report.member("name", name[language])
            if !balances.isEmpty || history != nil { currency.write(to: &report) }
            report.member("balances") { $0.array(of: balances) { $1.write(to: &$0, language) } }
            report.member("fields") {
                $0.object { sink in
                    for field in fields {
                        sink.key(field.key)
                        sink.string(field.isPersonal ? redact(field.value) : field.value)
                    }
                }
            }
            report.member("records") { $0.array(of: history ?? []) { $1.write(to: &$0, language) } }
            if !gateEvents.isEmpty {
                report.member("gateLog") { $0.array(of: gateEvents) { $1.write(to: &$0, language) } }
            }
            if let entryRecord { report.member("entryRecord") { entryRecord.write(to: &$0) } }
            if !tickets.isEmpty { report.member("tickets") { $0.array(of: tickets) { $1.write(to: &$0) } } }
            if let insideGates {
                report.member("inferences") { $0.object { $0.member("insideGates") { insideGates.write(to: &$0) } } }
            }
            report.member("warnings") { $0.array(of: warnings) { $0.string($1.rawValue) } }
        }
    }
}

/// A further value on the card, beside its balances and its history.
public struct CardField: Hashable, Sendable {
    /// The identifier for machine use, as in `number`.
    public let key: String
    /// The display name.
    public let name: LocalizedText
    /// The value on the card, or a machine-readable keyword.
    public let value: String
    /// The text to display instead of a keyword, or `nil`.
    public let label: LocalizedText?
    /// Whether it identifies the holder, so that `--redact` masks it.
    public let isPersonal: Bool

    /// Creates a field of a card.
    public init(key: String, name: LocalizedText, value: String, label: LocalizedText? = nil, isPersonal: Bool) {
        self.key = key
        self.name = name
        self.value = value
        self.label = label
        self.isPersonal = isPersonal
    }

    static func points(_ number: Int) -> CardField {
        CardField(key: "points", name: LocalizedText("Points", "ポイント"), value: String(number), isPersonal: false)
    }
}

extension CardField {
    static func issueDate(_ day: CalendarDate) -> CardField { .day("issueDate", "Issued", "発行日", day) }

    /// A day that is not sensitive.
    static func day(_ key: String, _ english: String, _ japanese: String, _ day: CalendarDate) -> CardField {
        CardField(key: key, name: LocalizedText(english, japanese), value: day.description, isPersonal: false)
    }

    /// A number that is not sensitive, such as a counter.
    static func number(_ key: String, _ english: String, _ japanese: String, _ value: some BinaryInteger) -> CardField {
        CardField(key: key, name: LocalizedText(english, japanese), value: String(value), isPersonal: false)
    }

    /// A Boolean value: `yes` or `no`.
    static func flag(_ key: String, _ english: String, _ japanese: String, _ value: Bool) -> CardField {
        CardField(
            key: key, name: LocalizedText(english, japanese), value: value ? "yes" : "no",
            label: value ? LocalizedText("yes", "はい") : LocalizedText("no", "いいえ"), isPersonal: false)
    }

    /// Points in tenths, as in `12.5`.
    static func points(tenths: UInt32) -> CardField {
        CardField(
            key: "points", name: LocalizedText("Points", "ポイント"), value: self.tenths(tenths), isPersonal: false)
    }

    /// A number of tenths with its decimal point.
    static func tenths(_ number: UInt32) -> String { "\(number / 10).\(number % 10)" }
}

/// The number of a card in binary-coded decimal.
struct CardNumber {
    /// The digits as written on the card.
    let text: String
    /// Whether all digits are decimal, as on every real card.
    let isDecimal: Bool

    init(_ bytes: some Sequence<UInt8>) {
        let digits = BCD.digits(bytes)
        text = digits ?? Hex.encode(bytes, uppercase: true)
        isDecimal = digits != nil
    }
}

extension CardReport {
    /// Adds the number of the card, which identifies the holder.
    mutating func take(_ number: CardNumber, _ name: LocalizedText) {
        fields.append(CardField(key: "number", name: name, value: number.text, isPersonal: true))
        if !number.isDecimal { warnings.append(.numberNotDecimal) }
    }
}
