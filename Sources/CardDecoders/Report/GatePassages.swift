// SPDX-License-Identifier: Apache-2.0

/// What the gate log says of a ride whose exit, day and fare it shares; the record's times come from it too.
public struct GatePassages: Hashable, Sendable {
    /// The day of the entry, or `nil` when the log no longer holds the entry.
    public let entryDate: CalendarDate?
    /// What was taken off at the exit, in the smallest unit.
    public let fare: Int
    /// The part of the fare that a commuter pass paid, in the smallest unit; known from one source only (suica-viewer).
    public let commuterFare: Int
}
