// SPDX-License-Identifier: Apache-2.0

/// One page of a Type 2 Tag that two dumps show differently.
public struct PageChange: Hashable, Sendable {
    /// The page's number.
    public let number: UInt16
    /// What it was; `nil` when the older dump does not have it.
    public let old: [UInt8]?
    /// What it is; `nil` when the newer dump does not have it.
    public let new: [UInt8]?

    /// The offsets of the bytes that changed; empty when one of the dumps does not have the page.
    public var changedBytes: [Int] { DumpDiff.changedBytes(old, new) }

    /// The pages that differ, by number.
    static func all(_ old: Type2Dump?, _ new: Type2Dump?) -> [PageChange] {
        let (before, after) = (old?.pages ?? [:], new?.pages ?? [:])
        return Set(before.keys).union(after.keys).sorted().filter { before[$0] != after[$0] }
            .map { PageChange(number: $0, old: before[$0], new: after[$0]) }
    }
}
