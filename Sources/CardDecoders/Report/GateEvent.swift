// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// One passage through a gate, as transit cards log the last few of them beside their history.
public struct GateEvent: Hashable, Sendable {
    /// What the gate did; a code with bit 7 set is an entry.
    public let kind: CodedValue
    /// The line; the log holds no area, so it may be one of up to four stations.
    public let line: UInt8
    /// The station on the line.
    public let station: UInt8
    /// The number of the gate: four bits corner, twelve bits unit, to a payment terminal's own classes.
    public let device: UInt16
    /// The day, or `nil` when the bytes name no day that exists.
    public let date: CalendarDate?
    /// The time to the minute, or `nil` when the bytes name none that exists.
    public let time: ClockTime?
    /// What was taken off, in the smallest unit; 0 at an entry.
    public let amount: Int
    /// The kind of an intermediate gate (transfer, shinkansen), 00 at ordinary gates; known from one source only
    /// (suica-viewer), and no code has a name.
    public let intermediate: UInt8
    /// Bytes 12 to 15, or `nil` when they are 0.
    public let settlement: GateSettlement?
    /// The stations that the codes can mean: where a ride of that day goes through one of them, just that, with or without
    /// a name; else all that the table of names knows.
    public var stations: [Place] = []
    /// The bytes that all this was taken from.
    public let raw: Block

    /// Whether the card went in here.
    public var isEntry: Bool { kind.code & 0x80 != 0 }
}

/// What the last four bytes of a passage hold, which sources read differently: a provisional settlement and its station
/// to a payment terminal's own classes; to suica-viewer the part of the fare that a commuter pass paid and the pass's
/// station; on a published ICOCA they are the stop of a bus ride.
public struct GateSettlement: Hashable, Sendable {
    /// The amount, in the smallest unit.
    public let amount: Int
    /// Line and station.
    public let station: UInt16

    /// The last four bytes of a block of the gate log, or `nil` when they are 0.
    init?(_ block: Block) {
        amount = Int(block.uint16(at: 12, .little))
        station = block.uint16(at: 14, .big)
        if amount == 0, station == 0 { return nil }
    }

    /// Why it is not certain what they are.
    public var doubt: Doubt { .disputed }
}
