// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One passage through a gate, as transit cards log the last few of them beside their history.
public struct GateEvent: Hashable, Sendable {
    /// What the gate did; a code with bit 7 set is an entry.
    public let kind: CodedValue
    /// The line; the log holds no area, so it may be one of up to four stations.
    public let line: UInt8
    /// The station on the line.
    public let station: UInt8
    /// The number of the gate.
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
    /// The part of the fare that a commuter pass paid, in the smallest unit; known from one source only (suica-viewer).
    public let commuterFare: Int
    /// Line and station of the commuter pass, 0000 without, says one source (suica-viewer); on a published ICOCA it is the
    /// stop of a bus ride.
    public let commuterStation: UInt16
    /// The bytes that all this was taken from.
    public let raw: Block

    /// Whether the card went in here.
    public var isEntry: Bool { kind.code & 0x80 != 0 }
}
