// SPDX-License-Identifier: Apache-2.0

/// What goes wrong between a simulated USB reader and its host, as data.
public struct USBFaultPlan: Hashable, Sendable {
    /// The fault at each command; commands are counted from 1.
    public var atCommand: [Int: USBFault]
    /// The transfer, counted from 1 in both directions together, before which the plug is pulled; `nil` for never.
    public var unplugBeforeTransfer: Int?
    /// What a killed predecessor left to be fetched, one transfer each.
    public var leftover: [[UInt8]]

    /// A plan; without anything, nothing goes wrong.
    public init(
        atCommand: [Int: USBFault] = [:], unplugBeforeTransfer: Int? = nil, leftover: [[UInt8]] = []
    ) {
        self.atCommand = atCommand
        self.unplugBeforeTransfer = unplugBeforeTransfer
        self.leftover = leftover
    }
}
