// SPDX-License-Identifier: Apache-2.0

/// What libnfc gave back for one raw chip command.
struct ChipAnswer: Hashable, Sendable {
    /// libnfc's return value: the number of bytes, or a negative code.
    let result: Int32
    /// The first byte that came, zero when none did. For the commands that exchange data it is the chip's status.
    let status: UInt8
    /// Every byte that came, empty after a failure.
    let bytes: [UInt8]
}
