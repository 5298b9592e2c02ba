// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// The first four bytes of InCommRF's answer, a little-endian number whose bits say what went wrong.
///
/// Source: nfcpy's `rcs380.py`.
struct Port100RadioStatus: Hashable, Sendable {
    let rawValue: UInt32

    private static let damaged: UInt32 = 0x8000_010F
    private static let overflow: UInt32 = 0x10
    private static let hot: UInt32 = 0x40
    private static let silent: UInt32 = 0x80
    private static let otherField: UInt32 = 0x200
    private static let fieldOff: UInt32 = 0x400

    /// The bits that say how it was damaged, moved into one byte: 10 for a fault of Crypto1, 20 for a wrong length.
    private var damage: UInt8 {
        UInt8(truncatingIfNeeded: rawValue & 0x0F | rawValue >> 4 & 0x10 | rawValue >> 26 & 0x20)
    }

    /// What it means; `nil` when all is well.
    var error: TransportError? {
        if rawValue == 0 { return nil }
        if rawValue & Self.hot != 0 { return .readerFailed(detail: "the reader is too hot") }
        if rawValue & Self.fieldOff != 0 { return .readerFailed(detail: "the reader's field is off") }
        if rawValue & Self.otherField != 0 { return .readerFailed(detail: "another reader's field is in the way") }
        if rawValue & Self.overflow != 0 { return .answerTooLong }
        // Damaged first: a frame that broke off ends in a time-out, too.
        if rawValue & Self.damaged != 0 { return .corrupted(status: damage) }
        if rawValue & Self.silent != 0 { return .noAnswer }
        return .readerFailed(detail: "the reader reported status \(String(rawValue, radix: 16))")
    }
}
