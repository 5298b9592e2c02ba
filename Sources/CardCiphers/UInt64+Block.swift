// SPDX-License-Identifier: Apache-2.0

/// Blocks of eight bytes as numbers, big-endian.
extension UInt64 {
    /// The number that these bytes are; of more than eight the last eight.
    public init(block bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The eight bytes.
    public var block: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) } }
}
