// SPDX-License-Identifier: Apache-2.0

/// What a host sent over the serial line.
enum HostFrame: Hashable, Sendable {
    /// The answer was received, or the running command is to be given up.
    case acknowledge
    /// The last answer is to be sent again.
    case notAcknowledge
    /// A command code and its parameters; empty when not even a code came.
    case command([UInt8])
}
