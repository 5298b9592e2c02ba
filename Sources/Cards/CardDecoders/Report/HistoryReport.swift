// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// The transaction history of a card: the document `kazasu.history/1`.
package struct HistoryReport: Hashable, Sendable {
    /// The value of the document's `schema` member.
    package static let schema = "kazasu.history/1"

    package var kind: CardKind
    /// The card's name.
    package var name: LocalizedText
    /// The currency of the amounts in the records.
    package var currency: Currency
    /// The records, newest first.
    package var records: [HistoryRecord]

    package init(kind: CardKind, name: LocalizedText, currency: Currency = .yen, records: [HistoryRecord]) {
        self.kind = kind
        self.name = name
        self.currency = currency
        self.records = records
    }
}

extension HistoryReport {
    /// The document `kazasu.history/1`.
    ///
    /// - Parameters:
    ///   - language: the language of the names; keys and ids never change.
    ///   - card: the card with these records.
    package func json(_ language: Language, card: DecodedCard) -> JSONValue {
        JSONValue { sink in
            sink.object {
                $0.member("schema", HistoryReport.schema)
                $0.member("card") { card.write(to: &$0) }
                $0.member("kind", kind.rawValue)
                $0.member("name", name[language])
                currency.write(to: &$0)
                $0.member("records") { $0.array(of: records) { $1.write(to: &$0, language) } }
            }
        }
    }
}

/// One record of a card's history. Values that the card does not give are `nil`; nothing is guessed.
public struct HistoryRecord: Hashable, Sendable {
    /// The card's running number for the record, or `nil` where the card keeps none.
    public var serial: Int?
    /// The day, in the local time of the card's country; `nil` when the bytes are not a valid date.
    public var date: CalendarDate?
    /// The time of day, or `nil` when the record has none or the bytes are not a valid time.
    ///
    /// For a rail ride this is the minute of the exit, which the record itself does not contain: it is present only
    /// with a ``gateLog`` that proves it.
    public var time: ClockTime?
    /// The time at which a ride began, where ``time`` is that of its end; `nil` where the record does not contain it.
    public var entryTime: ClockTime?
    /// The day or hour recorded by the card when that is too little for ``date`` or ``time``; otherwise `nil`.
    public var partial: PartialMoment?
    /// The kind of transaction, for codes that are known.
    public var kind: RecordKind
    /// The kind of terminal, or `nil` where the card keeps none.
    public var terminal: CodedValue?
    /// The ID of the terminal, as text, or `nil` if the card does not store one.
    public var terminalID: String?
    /// The operation of the terminal, or `nil` where the card keeps none.
    public var process: CodedValue?
    /// The means of payment, or `nil` where the card keeps none.
    public var payment: CodedValue?
    /// How gates were passed, or `nil` where the card keeps no such code.
    public var gate: CodedValue?
    /// The issuer's number for the shop's terminal, or `nil` where the record has none.
    public var device: DeviceNumber?
    /// The start of a ride, the location of a terminal, or the stop of a bus ride.
    public var entry: Place?
    /// The end of a ride.
    public var exit: Place?
    /// The amount added (positive) or deducted (negative), in the smallest unit; `nil` when it cannot be determined.
    public var amount: Int?
    /// The balance after the record, in the smallest unit.
    public var balance: Int?
    /// The points of the record, or `nil` where the card keeps none in its history.
    public var points: PointMovement?
    /// The gate log's data for a ride, or `nil` when the log does not contain the ride.
    public var gateLog: GateTimes?
    /// The anomalies found in this record.
    public var warnings: [DecodingWarning]
    /// The first of two blocks, where the card writes a record in two; otherwise `nil`.
    public var rawHead: Block?
    /// The bytes decoded here; the second block where the card writes a record in two.
    public var raw: Block

    /// Whether any of its values is uncertain.
    public var hasDoubt: Bool {
        terminal?.doubt != nil || process?.doubt != nil || payment?.doubt != nil || gate?.doubt != nil
            || entry?.doubt != nil || exit?.doubt != nil
    }

    /// Creates a record; omitted values are unknown. Inlined so that the record is built in place instead of copied.
    @inline(__always)
    public init(
        serial: Int?, date: CalendarDate? = nil, time: ClockTime? = nil, entryTime: ClockTime? = nil,
        partial: PartialMoment? = nil, kind: RecordKind, terminal: CodedValue? = nil,
        terminalID: String? = nil, process: CodedValue? = nil,
        payment: CodedValue? = nil, gate: CodedValue? = nil, device: DeviceNumber? = nil,
        entry: Place? = nil, exit: Place? = nil, amount: Int? = nil, balance: Int? = nil,
        points: PointMovement? = nil, gateLog: GateTimes? = nil, warnings: [DecodingWarning] = [],
        rawHead: Block? = nil, raw: Block
    ) {
        self.serial = serial
        self.date = date
        self.time = time
        self.entryTime = entryTime
        self.partial = partial
        self.kind = kind
        self.terminal = terminal
        self.terminalID = terminalID
        self.process = process
        self.payment = payment
        self.gate = gate
        self.device = device
        self.entry = entry
        self.exit = exit
        self.amount = amount
        self.balance = balance
        self.points = points
        self.gateLog = gateLog
        self.warnings = warnings
        self.rawHead = rawHead
        self.raw = raw
    }
}

extension HistoryRecord {
    /// The value of the `schema` member of a record on a line by itself.
    package static let schema = "kazasu.record/1"

    /// An element of `records` in `kazasu.history/1`.
    ///
    /// - Parameter language: the language of the names; keys and ids never change.
    package func json(_ language: Language) -> JSONValue {
        JSONValue { write(to: &$0, language) }
    }

    /// One line of the ndjson format: `schema`, `card`, the currency, then the members of `json(_:)`.
    ///
    /// - Parameters:
    ///   - currency: the currency of its amounts.
    ///   - card: the card with this record.
    package func jsonLine(_ language: Language, _ currency: Currency, card: DecodedCard) -> String {
        var writer = JSONWriter()
        writer.object {
            $0.member("schema", HistoryRecord.schema)
            $0.member("card") { card.write(to: &$0) }
            currency.write(to: &$0)
            writeMembers(to: &$0, language)
        }
        return writer.text
    }

    /// Writes an element of `records`.
    #if compiler(>=6.3)
        @specialized(where Sink == JSONWriter)
    #endif
    func write<Sink: JSONSink & ~Copyable>(to sink: inout Sink, _ language: Language) {
        // No closure here: the record would be copied into it.
        sink.beginObject()
        writeMembers(to: &sink, language)
        sink.endObject()
    }

    /// Writes the members of a record.
    ///
    /// `entryTime`, `partial`, `terminalId`, `device`, `points` and `gatePassage` are written only when the card provides
    /// them; with `gatePassage`, the times of a rail ride come from the gate log.
    private func writeMembers(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        sink.member("serial", serial)
        sink.member("date", date)
        sink.member("time", time?.minutes)
        if let entryTime { sink.member("entryTime", entryTime.minutes) }
        if let partial { sink.member("partial") { partial.write(to: &$0) } }
        sink.member("kind", kind.rawValue)
        sink.member("terminal") { terminal.write(to: &$0, language) }
        if let terminalID { sink.member("terminalId", terminalID) }
        if let device { sink.member("device", device.description) }
        sink.member("process") { process.write(to: &$0, language) }
        sink.member("payment") { payment.write(to: &$0, language) }
        sink.member("gate") { gate.write(to: &$0, language) }
        sink.member("entry") { entry.write(to: &$0) }
        sink.member("exit") { exit.write(to: &$0) }
        sink.member("amount", amount)
        sink.member("balance", balance)
        if let points { sink.member("points") { points.write(to: &$0) } }
        sink.member("warnings") { $0.array(of: warnings) { $0.string($1.rawValue) } }
        sink.member("raw", RawDigits(head: rawHead, block: raw))
        if let gateLog { sink.member("gatePassage") { gateLog.write(to: &$0) } }
    }

    /// The bytes of a record in one or two blocks.
    private struct RawDigits: ASCIIText {
        let head: Block?
        let block: Block

        func append(to text: inout ByteBuffer) {
            if let head { BlockDigits(head).append(to: &text) }
            BlockDigits(block).append(to: &text)
        }
    }
}

/// What a record of a card with points says of them.
public struct PointMovement: Hashable, Sendable {
    /// The points after the record, in tenths.
    public let balance: Int
    /// The points with which a part of the fare was paid, in the smallest unit of the currency; 0 for none, `nil` when
    /// some were used and the balance before is unknown.
    public var redeemed: Int?
    /// Whether bonus points were added.
    public let isBonus: Bool

    /// Creates the points of a record.
    public init(balance: Int, redeemed: Int?, isBonus: Bool) {
        self.balance = balance
        self.redeemed = redeemed
        self.isBonus = isBonus
    }
}

extension PointMovement {
    /// Writes `points` of a record in `kazasu.history/1`.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            $0.member("balance", CardField.tenths(UInt32(clamping: balance)))
            $0.member("redeemed", redeemed)
            $0.member("bonus", isBonus)
        }
    }
}

extension GateTimes {
    /// Writes `gatePassage` of a record in `kazasu.history/1`.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            $0.member("entryDate", entryDate)
            $0.member("fare", fare)
            if let settlement { $0.member("settlement") { settlement.write(to: &$0) } }
        }
    }
}

extension PartialMoment {
    /// Writes only the known parts.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            if let month { $0.member("month", month) }
            if let day { $0.member("day", day) }
            if let hour { $0.member("hour", hour) }
        }
    }
}

extension CodedValue {
    /// Writes a coded value of `kazasu.history/1`.
    func write(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        sink.beginObject()
        sink.member("code", HexDigits(code, digits: 2))
        sink.member("name", name(language))
        if let doubt { sink.member("doubt", doubt.rawValue) }
        sink.endObject()
    }
}

extension CodedValue? {
    func write(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        if let self { self.write(to: &sink, language) } else { sink.null() }
    }
}

/// The kind of a history record; the raw values are those of `kazasu.history/1`.
@nonexhaustive
public enum RecordKind: String, Hashable, Sendable, CaseIterable {
    /// A ride by rail.
    case rail
    /// A ride by bus or tram.
    case bus
    /// A payment for goods, or its cancellation.
    case purchase
    /// Money was added.
    case charge
    /// The card was issued.
    case issue
    /// A paper ticket was bought.
    case ticket
    /// A fare was adjusted.
    case adjustment
    /// Points or a bonus were converted to money.
    case point
    /// A code that no source explains.
    case other

    /// The display name.
    public var name: LocalizedText {
        switch self {
        case .rail: LocalizedText("rail", "鉄道")
        case .bus: LocalizedText("bus", "バス")
        case .purchase: LocalizedText("purchase", "物販")
        case .charge: LocalizedText("top-up", "チャージ")
        case .issue: LocalizedText("issue", "発行")
        case .ticket: LocalizedText("ticket", "きっぷ")
        case .adjustment: LocalizedText("adjustment", "精算")
        case .point: LocalizedText("point", "ポイント")
        case .other: LocalizedText("other", "その他")
        }
    }
}

/// Why a reported value is uncertain; the raw values are those of the `doubt` member in documents.
@nonexhaustive
public enum Doubt: String, Hashable, Sendable {
    /// Sources disagree.
    case disputed
    /// One source only, confirmed by no published card.
    case oneSource
}

/// A one-byte code on the card, with its name if it is known.
public struct CodedValue: Hashable, Sendable {
    /// The byte on the card.
    public let code: UInt8
    /// Why the name is uncertain, or `nil`.
    public let doubt: Doubt?
    /// Each record holds up to four of these: one reference copies faster than two strings.
    private let shared: Shared<LocalizedText>?

    /// The meaning, or `nil` if no source gives one.
    public var name: LocalizedText? { shared?.value }

    /// The meaning in one language, without copying the others.
    func name(_ language: Language) -> String? { shared?.value[language] }

    /// Creates a code with its name.
    public init(code: UInt8, name: LocalizedText?, doubt: Doubt? = nil) {
        self.code = code
        self.doubt = doubt
        shared = name.map { Shared($0) }
    }

    /// The code as two upper-case hexadecimal digits.
    package var hex: String { HexDigits(code, digits: 2).text }
}

/// An immutable value, stored once for all copies.
final class Shared<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    static func == (left: Shared, right: Shared) -> Bool { left === right || left.value == right.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
