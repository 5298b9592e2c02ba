// SPDX-License-Identifier: Apache-2.0

extension UInt64 {
    /// Makes the number from exactly eight bytes, most significant first.
    @inlinable
    package init?(bigEndianBytes bytes: some Collection<UInt8>) {
        guard bytes.count == 8 else { return nil }
        self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The eight bytes, most significant first.
    @inlinable
    package var bigEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self >> UInt64(56 - $0 * 8)) }
    }
}
