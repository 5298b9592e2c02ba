// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Service 10CB of transit cards: where the card last went in for a fare.
///
/// The station is certain (published dumps: it is the entry of the newest ride). Everything in the second block is known
/// from one source only, suica-viewer. The record holds no area.
public struct EntryRecord: Hashable, Sendable {
    /// The line.
    public let line: UInt8
    /// The station on the line.
    public let station: UInt8
    /// The last intermediate gate, or `nil` when there was none or the second block was not read.
    public let intermediate: Intermediate?
    /// The blocks that all this was taken from.
    public let raw: [Block]
    /// The stations that the codes can mean, as far as the table of names knows them.
    public var stations: [Place] = []

    /// An intermediate gate on the way; one source only.
    public struct Intermediate: Hashable, Sendable {
        /// The day, or `nil` when the bytes name no day that exists.
        public let date: CalendarDate?
        /// The minute of the entry, or `nil` when the bytes name none that exists.
        public let entryTime: ClockTime?
        /// Line and station of the entry.
        public let entryStation: UInt16
        /// The minute of the exit, or `nil` when the bytes name none that exists.
        public let exitTime: ClockTime?
        /// Line and station of the exit.
        public let exitStation: UInt16
    }
}
