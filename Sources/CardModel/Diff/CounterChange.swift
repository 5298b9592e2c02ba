// SPDX-License-Identifier: Apache-2.0

/// One counter of a Type 2 Tag that two dumps show differently.
public struct CounterChange: Hashable, Sendable {
    /// The counter's number.
    public let number: UInt8
    /// What it stood at; `nil` when the older dump does not say.
    public let old: UInt32?
    /// What it stands at; `nil` when the newer dump does not say.
    public let new: UInt32?

    /// The counters that differ, by number.
    static func all(_ old: Type2Dump?, _ new: Type2Dump?) -> [CounterChange] {
        let (before, after) = (old?.counters ?? [:], new?.counters ?? [:])
        return Set(before.keys).union(after.keys).sorted().filter { before[$0] != after[$0] }
            .map { CounterChange(number: $0, old: before[$0], new: after[$0]) }
    }
}
