// SPDX-License-Identifier: Apache-2.0

/// The faults of a serial line: at most one at each host command.
public struct SerialFaultPlan: Hashable, Sendable {
    /// Nothing goes wrong.
    public static let none = SerialFaultPlan([:])

    /// What goes wrong where.
    public var faults: [SerialFaultPlace: SerialFault]

    /// A plan of these faults; where a command is named by number and by code, the number wins.
    public init(_ faults: [SerialFaultPlace: SerialFault]) {
        self.faults = faults
    }

    /// The fault of the command with this number, before which `before` others with the same code came.
    func fault(number: Int, code: UInt8, before: Int) -> SerialFault? {
        faults[.command(number)] ?? faults[.code(code, after: before)]
    }
}
