// SPDX-License-Identifier: Apache-2.0

/// Which host command a fault happens at.
public enum SerialFaultPlace: Hashable, Sendable {
    /// The command with this number; the first since the chip was started is 1.
    case command(Int)
    /// The command with this code (42 for InCommunicateThru) that comes after `after` others of the same code.
    case code(UInt8, after: Int = 0)
}
