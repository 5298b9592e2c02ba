// SPDX-License-Identifier: Apache-2.0

/// What the gate log says of a ride whose exit, day and fare it shares; the record's times come from it too.
public struct GatePassages: Hashable, Sendable {
    /// The day of the entry, or `nil` when the log no longer holds the entry.
    public let entryDate: CalendarDate?
    /// What was taken off at the exit, in the smallest unit.
    public let fare: Int
    /// What the exit says beside the fare, or `nil` when it says nothing.
    public let settlement: GateSettlement?
}
