// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CLibNFC
internal import Glibc
internal import ReaderCore
internal import USBTransport

/// The outcome of one chip command.
enum ChipResult: Hashable, Sendable {
    /// The command succeeded.
    case success
    /// The command failed, and the reader still works.
    case failed(TransportError)
    /// The command failed, and the reader may still send data: an answer that comes now belongs to no later command.
    case readerInDoubt(TransportError)

    /// Interprets libnfc's result and the chip's status byte, which libnfc's own codes hide.
    ///
    /// - Parameters:
    ///   - result: libnfc's return value; negative for a failure. Its USB drivers also pass errno numbers through.
    ///   - status: the chip's status byte, zero when there was none.
    ///   - overUSB: whether a USB driver returned it.
    init(result: Int32, status: UInt8, overUSB: Bool) {
        self =
            switch result {
            case 0...: .success
            case NFC_ERFTRANS: .failed(Self.radioError(status))
            case NFC_ETGRELEASED: .failed(.cardReleased)
            case NFC_ECHIP, NFC_EINVARG: .failed(Self.chipError(status, result))
            case NFC_EOPABORTED: .readerInDoubt(.cancelled)
            case NFC_ETIMEOUT, -ETIMEDOUT: .readerInDoubt(.readerTimeout)
            case NFC_EIO: .readerInDoubt(Self.damagedOnTheWay)
            case -ENODEV, -ESHUTDOWN: .failed(.unplugged)
            // With a USB driver these three are EINTR, EIO and ESRCH.
            case NFC_ENOTSUCHDEV where !overUSB: .failed(.unplugged)
            case NFC_EOVFLOW where !overUSB: .readerInDoubt(.answerTooLong)
            case NFC_EDEVNOTSUPP where !overUSB, NFC_ENOTIMPL:
                .failed(.unsupported(detail: .init(.libnfcDriverCannot, "\(result)")))
            case NFC_EMFCAUTHFAIL: .failed(.corrupted(status: status))
            default: .readerInDoubt(.readerFailed(detail: .init(.libnfc, "\(result)")))
            }
    }

    /// Interprets the status byte of an answer that arrived complete (PN532 user manual UM0701-02, 7.1).
    init(status: UInt8) {
        self =
            switch status & 0x3F {
            case 0x00: .success
            case 0x29, 0x2B: .failed(.cardReleased)
            // The card's answer was faulty, or none came.
            case 0x01...0x06, 0x0A, 0x0B, 0x13, 0x14, 0x23: .failed(Self.radioError(status))
            default: .failed(Self.chipError(status, 0))
            }
    }

    /// Garbled between reader and computer.
    static let damagedOnTheWay = TransportError.corrupted(status: TransportError.damagedBeyondTheChip)

    /// The error for a status about the transmission between chip and card.
    private static func radioError(_ status: UInt8) -> TransportError {
        switch status & 0x3F {
        case 0x01: .noAnswer
        case 0x0A: .readerFailed(detail: .init(.fieldNotOn))
        default: .corrupted(status: status & 0x3F)
        }
    }

    /// The error for a status about the chip or the command.
    private static func chipError(_ status: UInt8, _ result: Int32) -> TransportError {
        switch status & 0x3F {
        case 0x00 where result == NFC_ECHIP: .answerTooLong
        case 0x00: .unsupported(detail: .init(.libnfcRefused))
        case 0x07, 0x09, 0x0E: .answerTooLong
        case 0x0D: .readerFailed(detail: .init(.tooHot))
        case 0x2D: .readerFailed(detail: .init(.overcurrent))
        case 0x10, 0x18, 0x26, 0x27: .unsupported(detail: .init(.commandRefusedByChip, hex(status)))
        default: .readerFailed(detail: .init(.chipStatus, hex(status)))
        }
    }

    private static func hex(_ status: UInt8) -> String {
        Hex.encode([status & 0x3F])
    }
}
