// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// What was done with a card: the document `kazasu.history/1`.
package struct HistoryReport: Hashable, Sendable {
    /// The value of the document's `schema` member.
    package static let schema = "kazasu.history/1"

    /// The decoder's id, as in `transit`.
    package var card: String
    /// The card's name.
    package var name: LocalizedText
    /// What the records' amounts are counted in.
    package var currency: Currency
    /// The records, newest first.
    package var records: [HistoryRecord]

    /// A report of these records.
    package init(card: String, name: LocalizedText, currency: Currency = .yen, records: [HistoryRecord]) {
        self.card = card
        self.name = name
        self.currency = currency
        self.records = records
    }
}

extension HistoryReport {
    /// The document `kazasu.history/1`.
    ///
    /// - Parameter language: the language of the names; keys and ids never change.
    package func json(_ language: Language) -> JSONValue {
        JSONValue { sink in
            sink.object {
                $0.member("schema", HistoryReport.schema)
                $0.member("card", card)
                $0.member("name", name[language])
                currency.write(to: &$0)
                $0.member("records") { $0.array(of: records) { $1.write(to: &$0, language) } }
            }
        }
    }
}

/// One record of a card's history. What the card does not say is `nil`; nothing is guessed.
public struct HistoryRecord: Hashable, Sendable {
    /// The card's own running number, or `nil` where the card keeps none.
    public var serial: Int?
    /// The day, in the time of the card's country; `nil` when the bytes name no day that exists.
    public var date: CalendarDate?
    /// The time of day, or `nil` when the record has none or the bytes name none that exists. Of a ride by rail it is
    /// the minute of the exit, which the record does not hold: it is there only with a ``gateLog`` that proves it.
    public var time: ClockTime?
    /// When a ride began whose ``time`` is that of its end, or `nil` where the record does not say.
    public var entryTime: ClockTime?
    /// What the card says of day or hour when that is too little for ``date`` or ``time``; else `nil`.
    public var partial: PartialMoment?
    /// What was done, as far as the codes are known.
    public var kind: RecordKind
    /// The kind of machine, or `nil` where the card keeps none.
    public var terminal: CodedValue?
    /// The ID of the machine, as text, or `nil` if the card does not store one.
    public var terminalID: String?
    /// What the machine did, or `nil` where the card keeps none.
    public var process: CodedValue?
    /// How it was paid, or `nil` where the card keeps none.
    public var payment: CodedValue?
    /// How gates were passed, or `nil` where the card keeps none.
    public var gate: CodedValue?
    /// The issuer's number of the shop's machine, or `nil` where the record has none.
    public var device: UInt16?
    /// Where a ride began, where a machine stands, or the stop of a bus ride.
    public var entry: Place?
    /// Where a ride ended.
    public var exit: Place?
    /// What was put on (positive) or taken off (negative), in the smallest unit; `nil` when it cannot be known.
    public var amount: Int?
    /// What was left afterwards, in the smallest unit.
    public var balance: Int?
    /// What the gate log adds to a ride, or `nil` when it does not hold the ride.
    public var gateLog: GatePassages?
    /// What is odd about this record.
    public var warnings: [DecodingWarning]
    /// The first of two blocks, where the card writes a record in two; else `nil`.
    public var rawHead: Block?
    /// The bytes that all this was taken from; the second block where the card writes a record in two.
    public var raw: Block

    /// Whether one of its values is not certain.
    public var hasDoubt: Bool {
        [terminal?.doubt, process?.doubt, payment?.doubt, gate?.doubt, entry?.doubt, exit?.doubt]
            .contains { $0 != nil }
    }

    /// A record; what is not given is not known. Inlined, so that it is made in its place and not copied there.
    @inline(__always)
    public init(
        serial: Int?, date: CalendarDate? = nil, time: ClockTime? = nil, entryTime: ClockTime? = nil,
        partial: PartialMoment? = nil, kind: RecordKind, terminal: CodedValue? = nil,
        terminalID: String? = nil, process: CodedValue? = nil,
        payment: CodedValue? = nil, gate: CodedValue? = nil, device: UInt16? = nil,
        entry: Place? = nil, exit: Place? = nil, amount: Int? = nil, balance: Int? = nil,
        gateLog: GatePassages? = nil, warnings: [DecodingWarning] = [], rawHead: Block? = nil, raw: Block
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
        self.gateLog = gateLog
        self.warnings = warnings
        self.rawHead = rawHead
        self.raw = raw
    }
}

extension HistoryRecord {
    /// The value of the member `schema` of a record that stands on a line of its own.
    package static let schema = "kazasu.record/1"

    /// An element of `records` in `kazasu.history/1`.
    ///
    /// - Parameter language: the language of the names; keys and ids never change.
    package func json(_ language: Language) -> JSONValue {
        JSONValue { write(to: &$0, language) }
    }

    /// One line of the ndjson format: the members of `json(_:)` after the schema.
    ///
    /// - Parameter currency: what its amounts are counted in.
    package func jsonLine(_ language: Language, _ currency: Currency) -> String {
        var writer = JSONWriter()
        writer.object {
            $0.member("schema", HistoryRecord.schema)
            currency.write(to: &$0)
            writeMembers(to: &$0, language)
        }
        return writer.text
    }

    /// Writes an element of `records`.
    @specialized(where Sink == JSONWriter)
    func write<Sink: JSONSink & ~Copyable>(to sink: inout Sink, _ language: Language) {
        // Without a closure, into which the record would be copied.
        sink.beginObject()
        writeMembers(to: &sink, language)
        sink.endObject()
    }

    /// `entryTime`, `partial`, `terminalId`, `device` and `gateLog` stand there only where the card tells them; with `gateLog` the
    /// times of a ride by rail come from the gate log.
    private func writeMembers(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        sink.member("serial", serial)
        sink.member("date", date)
        sink.member("time", time?.minutes)
        if let entryTime { sink.member("entryTime", entryTime.minutes) }
        if let partial { sink.member("partial") { partial.write(to: &$0) } }
        sink.member("kind", kind.rawValue)
        sink.member("terminal") { terminal.write(to: &$0, language) }
        if let terminalID { sink.member("terminalId", terminalID) }
        if let device { sink.member("device", HexDigits(device, digits: 4)) }
        sink.member("process") { process.write(to: &$0, language) }
        sink.member("payment") { payment.write(to: &$0, language) }
        sink.member("gate") { gate.write(to: &$0, language) }
        sink.member("entry") { entry.write(to: &$0) }
        sink.member("exit") { exit.write(to: &$0) }
        sink.member("amount", amount)
        sink.member("balance", balance)
        sink.member("warnings") { $0.array(of: warnings) { $0.string($1.rawValue) } }
        sink.member("raw", RawDigits(head: rawHead, block: raw))
        if let gateLog { sink.member("gateLog") { gateLog.write(to: &$0) } }
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

extension GatePassages {
    /// `gateLog` of a record in `kazasu.history/1`.
    package var json: JSONValue { JSONValue { write(to: &$0) } }

    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            $0.member("entryDate", entryDate)
            $0.member("fare", fare)
            if let settlement { $0.member("settlement") { settlement.write(to: &$0) } }
        }
    }
}

extension PartialMoment {
    /// Writes what is known, and nothing else.
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
public enum RecordKind: String, Hashable, Sendable, CaseIterable {
    /// A ride by rail.
    case rail
    /// A ride by bus or tram.
    case bus
    /// A payment for goods, or its cancelling.
    case purchase
    /// Money put on.
    case charge
    /// The card was issued.
    case issue
    /// A paper ticket was bought.
    case ticket
    /// A fare was adjusted.
    case adjustment
    /// Points or a bonus were turned into money.
    case point
    /// A code that no source names.
    case other

    /// The name for people.
    public var name: LocalizedText {
        switch self {
        case .rail: LocalizedText("rail", "鉄道")
        case .bus: LocalizedText("bus", "バス")
        case .purchase: LocalizedText("purchase", "物販")
        case .charge: LocalizedText("charge", "チャージ")
        case .issue: LocalizedText("issue", "発行")
        case .ticket: LocalizedText("ticket", "きっぷ")
        case .adjustment: LocalizedText("adjustment", "精算")
        case .point: LocalizedText("point", "ポイント")
        case .other: LocalizedText("other", "その他")
        }
    }
}

/// Why a value that is given is not certain; the raw values are the words in the member `doubt` of documents.
public enum Doubt: String, Hashable, Sendable {
    /// Sources differ.
    case disputed
    /// One source says so, and no published card confirms it.
    case oneSource
}

/// A one-byte code on the card, with its name if it is known.
public struct CodedValue: Hashable, Sendable {
    /// The byte as on the card.
    public let code: UInt8
    /// Why the name is not certain, or `nil`.
    public let doubt: Doubt?
    /// Every record has up to four of these: one reference is copied faster than two texts.
    private let shared: Shared<LocalizedText>?

    /// What it means, or `nil` if no source says.
    public var name: LocalizedText? { shared?.value }

    /// What it stands for in one language, without a copy of the others.
    func name(_ language: Language) -> String? { shared?.value[language] }

    /// A code with its name.
    public init(code: UInt8, name: LocalizedText?, doubt: Doubt? = nil) {
        self.code = code
        self.doubt = doubt
        shared = name.map { Shared($0) }
    }

    /// The code as two upper-case hexadecimal digits.
    package var hex: String { HexDigits(code, digits: 2).text }
}

/// A value that never changes, held once for all copies.
final class Shared<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    static func == (left: Shared, right: Shared) -> Bool { left === right || left.value == right.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
