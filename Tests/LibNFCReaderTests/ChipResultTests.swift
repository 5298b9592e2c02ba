// SPDX-License-Identifier: Apache-2.0

import CLibNFC
import Glibc
import NFCTransport
import Testing

@testable import LibNFCReader

/// libnfc's results and the chip's status bytes as errors of the transport.
struct ChipResultTests {
    struct Case: Sendable {
        var result: Int32
        var status: UInt8 = 0
        var serial: ChipResult
        /// `nil` when it is the same.
        var usb: ChipResult?
    }

    static let garbled = ChipResult.readerInDoubt(.corrupted(status: 0))
    static let gone = ChipResult.failed(.readerUnavailable(reason: .absent, detail: .init(.unplugged)))

    static func unknown(_ code: Int32) -> ChipResult {
        .readerInDoubt(.readerFailed(detail: .init(.libnfc, "\(code)")))
    }

    static func unsupported(_ code: Int32) -> ChipResult {
        .failed(.unsupported(detail: .init(.libnfcDriverCannot, "\(code)")))
    }

    static let cases: [Case] = [
        Case(result: 0, serial: .success),
        Case(result: 264, status: 0x02, serial: .success),
        Case(result: NFC_ERFTRANS, status: 0x01, serial: .failed(.noAnswer)),
        Case(result: NFC_ERFTRANS, status: 0x02, serial: .failed(.corrupted(status: 0x02))),
        Case(result: NFC_ERFTRANS, status: 0x03, serial: .failed(.corrupted(status: 0x03))),
        Case(result: NFC_ERFTRANS, status: 0x05, serial: .failed(.corrupted(status: 0x05))),
        Case(result: NFC_ERFTRANS, status: 0x06, serial: .failed(.corrupted(status: 0x06))),
        Case(result: NFC_ERFTRANS, status: 0x45, serial: .failed(.corrupted(status: 0x05))),
        Case(
            result: NFC_ERFTRANS, status: 0x0A,
            serial: .failed(.readerFailed(detail: .init(.fieldNotOn)))),
        Case(result: NFC_ERFTRANS, status: 0x0B, serial: .failed(.corrupted(status: 0x0B))),
        Case(result: NFC_ETGRELEASED, status: 0x29, serial: .failed(.cardReleased)),
        Case(result: NFC_ETGRELEASED, status: 0x2B, serial: .failed(.cardReleased)),
        Case(result: NFC_ECHIP, status: 0x07, serial: .failed(.answerTooLong)),
        Case(result: NFC_ECHIP, status: 0x09, serial: .failed(.answerTooLong)),
        Case(result: NFC_ECHIP, status: 0x00, serial: .failed(.answerTooLong)),
        Case(
            result: NFC_ECHIP, status: 0x0D,
            serial: .failed(.readerFailed(detail: .init(.tooHot)))),
        Case(
            result: NFC_ECHIP, status: 0x2D,
            serial: .failed(.readerFailed(detail: .init(.overcurrent)))),
        Case(result: NFC_ECHIP, status: 0x3F, serial: .failed(.readerFailed(detail: .init(.chipStatus, "3f")))),
        Case(
            result: NFC_EINVARG, status: 0x27,
            serial: .failed(.unsupported(detail: .init(.commandRefusedByChip, "27")))),
        Case(result: NFC_EINVARG, serial: .failed(.unsupported(detail: .init(.libnfcRefused)))),
        Case(result: NFC_EMFCAUTHFAIL, status: 0x14, serial: .failed(.corrupted(status: 0x14))),
        Case(result: NFC_EIO, serial: garbled),
        Case(result: NFC_ETIMEOUT, serial: .readerInDoubt(.readerTimeout)),
        Case(result: NFC_EOPABORTED, serial: .readerInDoubt(.cancelled)),
        Case(result: NFC_ENOTSUCHDEV, serial: gone, usb: unknown(NFC_ENOTSUCHDEV)),
        Case(result: NFC_EOVFLOW, serial: .readerInDoubt(.answerTooLong), usb: unknown(-EIO)),
        Case(result: NFC_EDEVNOTSUPP, serial: unsupported(NFC_EDEVNOTSUPP), usb: unknown(-ESRCH)),
        Case(result: NFC_ENOTIMPL, serial: unsupported(NFC_ENOTIMPL)),
        Case(result: NFC_ESOFT, serial: unknown(NFC_ESOFT)),
        Case(result: -ENODEV, serial: gone),
        Case(result: -ESHUTDOWN, serial: gone),
        Case(result: -EPROTO, serial: unknown(-EPROTO)),
        Case(result: -ETIMEDOUT, serial: .readerInDoubt(.readerTimeout)),
        Case(result: -EPIPE, serial: unknown(-EPIPE)),
        Case(result: Int32.min, serial: unknown(Int32.min)),
    ]

    @Test(arguments: cases) func meansThis(_ test: Case) {
        #expect(ChipResult(result: test.result, status: test.status, overUSB: false) == test.serial)
        #expect(ChipResult(result: test.result, status: test.status, overUSB: true) == test.usb ?? test.serial)
    }

    @Test func noFailureIsEverTakenForSuccess() {
        for result in Int32(-300)..<0 {
            for status in UInt8.min...UInt8.max {
                #expect(ChipResult(result: result, status: status, overUSB: status % 2 == 0) != .success)
            }
        }
    }
}
