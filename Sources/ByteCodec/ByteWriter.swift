// SPDX-License-Identifier: Apache-2.0

/// Appends fixed-width fields to a byte array.
public struct ByteWriter: Sendable {
    /// What was written so far.
    public private(set) var bytes: [UInt8]

    /// Starts empty, or after `bytes`.
    public init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    /// Appends one byte.
    public mutating func write(_ value: UInt8) {
        bytes.append(value)
    }

    /// Appends bytes as they are.
    public mutating func write(_ values: some Sequence<UInt8>) {
        bytes.append(contentsOf: values)
    }

    /// Appends a number in its full width.
    public mutating func write<Number: FixedWidthInteger>(_ value: Number, _ order: ByteOrder) {
        let width = Number.bitWidth / 8
        for place in 0..<width {
            let shift = (order == .big ? width - 1 - place : place) * 8
            bytes.append(UInt8(truncatingIfNeeded: value >> Number(truncatingIfNeeded: shift)))
        }
    }
}
