// SPDX-License-Identifier: Apache-2.0

import CLibNFC
import CardModel
import Glibc
import ReaderCore
import SystemDevices
import TestSupport
import Testing

@testable import PN53xReader

/// libnfc's results and the chip's status bytes as errors of the transport.
@Suite(.waits)
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

    @Test func neverReportsFailureAsSuccess() {
        for result in Int32(-300)..<0 {
            for status in UInt8.min...UInt8.max {
                #expect(ChipResult(result: result, status: status, overUSB: status % 2 == 0) != .success)
            }
        }
    }

    /// What `pn53x_transceive` returns through the I²C driver after the time for an answer: its last error, whatever that
    /// was. Other drivers report a time-out as one.
    @Test(arguments: [NFC_EOVFLOW, NFC_SUCCESS, NFC_EIO, NFC_ERFTRANS, NFC_ETIMEOUT])
    func timeoutsOnI2C(_ result: Int32) throws {
        let i2c = try #require(ReaderFamily(libnfc: "pn532_i2c"))
        let answer = ChipAnswer(libnfc: result, [0, 0, 0], to: [0x42], through: i2c, isLate: true)
        #expect(answer == ChipAnswer(outcome: .readerInDoubt(.readerTimeout), bytes: []))
        for name in ["pn532_spi", "pn532_uart"] {
            let family = try #require(ReaderFamily(libnfc: name))
            let answer = ChipAnswer(libnfc: result, [0, 0, 0], to: [0x42], through: family, isLate: true)
            #expect(answer.outcome == ChipResult(result: result, status: 0, overUSB: false))
        }
    }

    /// An overflow is one at any time, and an answer stays one however late it is.
    @Test func otherResultsOnI2C() throws {
        let i2c = try #require(ReaderFamily(libnfc: "pn532_i2c"))
        func answer(_ result: Int32, isLate: Bool) -> ChipAnswer {
            ChipAnswer(libnfc: result, [0, 7, 8, 0], to: [0x42], through: i2c, isLate: isLate)
        }
        #expect(answer(NFC_EOVFLOW, isLate: false).outcome == .readerInDoubt(.readerTimeout))
        #expect(answer(3, isLate: true) == ChipAnswer(outcome: .success, bytes: [0, 7, 8]))
        #expect(answer(0, isLate: false).outcome == .success)
        #expect(answer(NFC_EIO, isLate: false).outcome == Self.garbled)
        #expect(answer(NFC_EOPABORTED, isLate: true).outcome == .readerInDoubt(.cancelled))
    }

    /// A reader whose answer does not come in time is used again after that, and its late answer is not taken for another.
    @Test(arguments: [NFC_EOVFLOW, NFC_SUCCESS]) func i2cReaderRecoversFromATimeout(_ result: Int32) throws {
        let transport = try FailingI2C(result)
        let reader = PN53xDevice(Chipset(transport), id: "pn532_i2c:/dev/i2c-1", cancellation: CancellationToken())
        #expect(try reader.activate(.felica(.transit)) != nil)
        transport.failsNext = true
        #expect(throws: TransportError.readerTimeout) {
            try reader.transceive([0x02, 0x04], timeout: .milliseconds(10))
        }
        #expect(try reader.transceive([0x02, 0x04], timeout: .milliseconds(10)) == [0x03, 0x05, 0x00])
    }

    /// A PN532 on I²C as libnfc shows it: a card is in its field, and an exchange can be lost.
    private final class FailingI2C: PN53xTransport {
        let name = "pn532_i2c"
        let family: ReaderFamily
        let port: SerialPort? = nil
        let patience = 1
        let takesParameters = true
        let initialState = ChipState(timeout: .initial, sendsRATS: true)
        let closingCommands: [[UInt8]] = []
        let abort: @Sendable () -> Void = {}
        private let result: Int32
        var failsNext = false

        init(_ result: Int32) throws {
            self.result = result
            family = try #require(ReaderFamily(libnfc: "pn532_i2c"))
        }

        func transceive(_ command: [UInt8], within time: Duration) -> ChipAnswer {
            var answer: [UInt8] = []
            switch command.first {
            case 0x02: answer = [0x32, 0x01, 0x06, 0x07]
            case 0x4A: answer = [1, 1, 18, 1] + [UInt8](repeating: 1, count: 16)
            case 0x42:
                answer = [0, 3, 5, 0]
                if failsNext {
                    failsNext = false
                    return ChipAnswer(libnfc: result, [0, 0, 0], to: command, through: family, isLate: true)
                }
            // The line test.
            case 0x00: answer = Array(command.dropFirst())
            default: break
            }
            return ChipAnswer(
                libnfc: Int32(answer.count), answer + [0], to: command, through: family, isLate: false)
        }

        func ignoreAbort() {}
        func close() {}
    }
}
