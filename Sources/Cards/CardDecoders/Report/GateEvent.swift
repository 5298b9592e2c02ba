// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// One passage through a gate; transit cards log the last few of them beside their history.
public struct GateEvent: Hashable, Sendable {
    /// The gate operation; a code with bit 7 set is an entry.
    public let kind: CodedValue
    /// The station; the log holds no area, so up to four are possible.
    public let code: LineStationCode
    /// The number of the gate: four bits corner and twelve bits unit, according to a payment terminal's own classes.
    public let device: DeviceNumber
    /// The day, or `nil` when the bytes are not a valid date.
    public let date: CalendarDate?
    /// The time to the minute, or `nil` when the bytes are not a valid time.
    public let time: ClockTime?
    /// The amount deducted, in the smallest unit; 0 at an entry.
    public let amount: Int
    /// The kind of an intermediate gate (transfer, shinkansen), or 00 at ordinary gates.
    ///
    /// Known from one source only (suica-viewer); no code has a name.
    public let intermediate: UInt8
    /// Bytes 12 to 15, or `nil` when they are 0.
    public let settlement: GateSettlement?
    /// The stations that the codes can denote.
    ///
    /// If a ride of that day passes through one of them, only that one, with or without a name; otherwise all those in
    /// the table of names.
    public var stations: [Place] = []
    /// The bytes decoded here.
    public let raw: Block

    /// Whether this is an entry.
    public var isEntry: Bool { kind.code & 0x80 != 0 }
}

/// The last four bytes of a passage, which sources read differently.
///
/// According to a payment terminal's own classes they are a provisional settlement and its station; according to
/// suica-viewer, the part of the fare covered by a commuter pass and the pass's station; on a published ICOCA they are
/// the stop of a bus ride.
public struct GateSettlement: Hashable, Sendable {
    /// The amount, in the smallest unit.
    public let amount: Int
    /// The station, or what the sources take for one.
    public let station: LineStationCode

    /// The last four bytes of a gate log block, or `nil` when they are 0.
    init?(_ block: Block) {
        amount = Int(block.uint16(at: 12, .little))
        station = LineStationCode(rawValue: block.uint16(at: 14, .big))
        if amount == 0, station.rawValue == 0 { return nil }
    }

    package init(amount: Int, station: LineStationCode) {
        self.amount = amount
        self.station = station
    }

    /// Why their meaning is uncertain.
    public var doubt: Doubt { .disputed }
}

extension GateEvent {
    /// Writes an element of `gateLog` in `kazasu.decode/1`.
    func write(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        sink.object { event in
            event.member("event") { kind.write(to: &$0, language) }
            event.member("intermediate", HexDigits(intermediate, digits: 2))
            event.member("line", code.line)
            event.member("station", code.station)
            if !stations.isEmpty { event.member("stations") { stations.write(to: &$0) } }
            event.member("device", device.description)
            event.member("date", date)
            event.member("time", time?.minutes)
            event.member("amount", amount)
            if let settlement { event.member("settlement") { settlement.write(to: &$0) } }
            event.member("raw", BlockDigits(raw))
        }
    }
}

extension GateSettlement {
    /// Writes `settlement` of a passage or of a ride.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { settlement in
            settlement.member("amount", amount)
            settlement.member("stationCode", station.description)
            settlement.member("doubt", doubt.rawValue)
        }
    }
}

extension [Place] {
    /// Writes `stations`, the stations that a line and a station number can denote.
    fileprivate func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.array(of: self) { $1.write(to: &$0) }
    }
}

extension EntryRecord {
    /// Writes `entryRecord` in `kazasu.decode/1`.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { record in
            record.member("line", code.line)
            record.member("station", code.station)
            if !stations.isEmpty { record.member("stations") { stations.write(to: &$0) } }
            record.member("intermediateGate") { sink in
                if let intermediate { intermediate.write(to: &sink) } else { sink.null() }
            }
            record.member("raw", BlocksDigits(blocks: raw))
        }
    }
}

/// The bytes of several blocks in one text, as of a record that the card writes in two.
private struct BlocksDigits: ASCIIText {
    let blocks: [Block]

    func append(to text: inout ByteBuffer) {
        for block in blocks { BlockDigits(block).append(to: &text) }
    }
}

extension EntryRecord.Intermediate {
    /// Writes `intermediateGate` of the entry record in `kazasu.decode/1`.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { gate in
            gate.member("date", date)
            gate.member("entryTime", entryTime?.minutes)
            gate.member("entryStation", entryStation.description)
            gate.member("exitTime", exitTime?.minutes)
            gate.member("exitStation", exitStation.description)
        }
    }
}

extension PaidTicket {
    /// Writes an element of `tickets` in `kazasu.decode/1`.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { ticket in
            ticket.member("from", from.description)
            ticket.member("to", to.description)
            ticket.member("expiry", expiry)
            ticket.member("issued", issued?.minutes)
            ticket.member("kindCode", HexDigits(kind, digits: 2))
            ticket.member("price", price)
            ticket.member("device", device.description)
            ticket.member("checkedAt", checkedAt.description)
            ticket.member("raw", BlockDigits(raw))
        }
    }
}

extension InsideGates {
    /// `insideGates` among the `inferences` in `kazasu.decode/1`.
    package var json: JSONValue { JSONValue { write(to: &$0) } }

    /// Writes `insideGates` among the `inferences` in `kazasu.decode/1`.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { inside in
            inside.member("line", code.line)
            inside.member("station", code.station)
            if !stations.isEmpty { inside.member("stations") { stations.write(to: &$0) } }
            inside.member("date", date)
            inside.member("since", since.minutes)
            inside.member("withPass", isWithPass)
            inside.member("support") { $0.array(of: support) { $0.string($1.rawValue) } }
        }
    }
}

/// The gate log's data for a ride with the same exit, day and fare; the record's times come from it too.
public struct GateTimes: Hashable, Sendable {
    /// The day of the entry, or `nil` when the log no longer contains the entry.
    public let entryDate: CalendarDate?
    /// The amount deducted at the exit, in the smallest unit.
    public let fare: Int
    /// The settlement recorded at the exit, or `nil` when there is none.
    public let settlement: GateSettlement?

    package init(entryDate: CalendarDate?, fare: Int, settlement: GateSettlement?) {
        self.entryDate = entryDate
        self.fare = fare
        self.settlement = settlement
    }
}

/// Service 10CB of transit cards: the last entry for a fare.
///
/// The station is certain (in published dumps it is the entry of the newest ride). Everything in the second block is
/// known from one source only, suica-viewer. The record holds no area.
public struct EntryRecord: Hashable, Sendable {
    /// The station.
    public let code: LineStationCode
    /// The last intermediate gate, or `nil` when there was none or the second block was not read.
    public let intermediate: Intermediate?
    /// The blocks decoded here.
    public let raw: [Block]
    /// The stations that the codes can denote, limited to those in the table of names.
    public var stations: [Place] = []

    /// An intermediate gate on the way; from one source only.
    public struct Intermediate: Hashable, Sendable {
        /// The day, or `nil` when the bytes are not a valid date.
        public let date: CalendarDate?
        /// The minute of the entry, or `nil` when the bytes are not a valid time.
        public let entryTime: ClockTime?
        /// The station of the entry.
        public let entryStation: LineStationCode
        /// The minute of the exit, or `nil` when the bytes are not a valid time.
        public let exitTime: ClockTime?
        /// The station of the exit.
        public let exitStation: LineStationCode
    }
}

/// The inference that the holder is inside the gates, because the newest passage in the gate log is an entry.
///
/// This is an inference, not a fact stored on the card: it was not tested on hardware, and a gate that does not write
/// the log would make it wrong. It is not drawn when another part of the card contradicts it.
public struct InsideGates: Hashable, Sendable {
    /// The station; the log holds no area, so up to four are possible.
    public let code: LineStationCode
    /// The stations that the codes can denote, as in the passage.
    public var stations: [Place] = []
    /// The day of the entry.
    public let date: CalendarDate
    /// The minute of the entry.
    public let since: ClockTime
    /// Whether the entry used a commuter pass.
    public let isWithPass: Bool
    /// The other parts of the card that support the inference.
    public let support: [Support]

    /// A part of the card that agrees; the raw values appear in documents.
    @nonexhaustive
    public enum Support: String, Hashable, Sendable {
        /// The entry record names the same station.
        case entryRecord
        /// The card counted a transaction that is missing from its history.
        case transactionNumber
    }
}

/// One block of service 184B of transit cards: a ticket with a fee, as read by suica-viewer.
///
/// One source only, and disputed: felica-tool calls the service commuter pass information. It was all zeros in every
/// published dump.
public struct PaidTicket: Hashable, Sendable {
    /// The station of its start.
    public let from: LineStationCode
    /// The station of its end.
    public let to: LineStationCode
    /// The last day, or `nil` when the bytes are not a valid date.
    public let expiry: CalendarDate?
    /// The time of issue, or `nil` when the bytes are not a valid time.
    public let issued: ClockTime?
    /// The kind of ticket; no source explains the codes.
    public let kind: UInt8
    /// The price in yen; the card stores tens of yen.
    public let price: Int
    /// The number of the issuing machine.
    public let device: DeviceNumber
    /// The station of the check.
    public let checkedAt: LineStationCode
    /// The bytes decoded here.
    public let raw: Block
}
