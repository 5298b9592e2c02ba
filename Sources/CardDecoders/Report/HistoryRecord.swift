// SPDX-License-Identifier: Apache-2.0

public import CardModel

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
    /// The name or number of the very machine, in characters, or `nil` where the card keeps none.
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
