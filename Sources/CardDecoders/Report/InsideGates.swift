// SPDX-License-Identifier: Apache-2.0

/// That the holder is inside the gates, since the newest passage of the gate log is an entry.
///
/// An inference, not a fact of the card: it was not tested on hardware, and a gate that does not write the log would
/// make it wrong. It is not drawn when another part of the card contradicts it.
public struct InsideGates: Hashable, Sendable {
    /// The line; the log holds no area, so it may be one of up to four stations.
    public let line: UInt8
    /// The station on the line.
    public let station: UInt8
    /// The stations that the codes can mean, as of the passage.
    public var stations: [Place] = []
    /// The day of the entry.
    public let date: CalendarDate
    /// The minute of the entry.
    public let since: ClockTime
    /// Whether the entry was with a commuter pass.
    public let isWithPass: Bool
    /// What else on the card points to it.
    public let support: [Support]

    /// A part of the card that agrees; the raw values are the words in a document.
    public enum Support: String, Hashable, Sendable {
        /// The entry record names the same station.
        case entryRecord
        /// The card counted a transaction that its history does not hold.
        case transactionNumber
    }
}
