// SPDX-License-Identifier: Apache-2.0

/// A card's answer as a Port-100 passes it on.
struct Port100Answer: Hashable, Sendable {
    /// How many bits of the last byte came, 1 to 8.
    let lastByteBits: Int
    /// What came, without CRC where the chip checks it.
    let bytes: [UInt8]
}
