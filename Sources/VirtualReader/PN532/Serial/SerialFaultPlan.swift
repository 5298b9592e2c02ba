// SPDX-License-Identifier: Apache-2.0

/// The faults of a serial line: at most one at each host command.
public struct SerialFaultPlan: Hashable, Sendable {
    /// Nothing goes wrong.
    public static let none = SerialFaultPlan([:])

    /// What goes wrong where.
    public var faults: [SerialFaultPlace: SerialFault]

    /// A plan of these faults; where a command is named by index and by code, the index wins.
    public init(_ faults: [SerialFaultPlace: SerialFault]) {
        self.faults = faults
    }

    /// The fault of the command with this index, which is number `occurrence` of its code, both from 0.
    func fault(index: Int, code: UInt8, occurrence: Int) -> SerialFault? {
        faults[.command(index)] ?? faults[.code(code, after: occurrence)]
    }
}
