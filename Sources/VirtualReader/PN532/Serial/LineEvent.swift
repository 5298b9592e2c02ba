// SPDX-License-Identifier: Apache-2.0

/// How a wait on the serial line ended.
enum LineEvent: Hashable, Sendable {
    /// The host sent something.
    case bytes([UInt8])
    /// The time is over.
    case deadline
    /// The chip is to stop.
    case closed
}
