// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import TestSupport
import Testing

@testable import PCSCReader

/// What the service returns, as errors of the transport.
@Suite(.waits)
struct PCSCCodeTests {
    static let codes: [(UInt32, TransportError)] = [
        (0x8010_0002, .cancelled), (0x8010_000C, .cardReleased), (0x8010_0069, .cardReleased),
        (0x8010_0068, .cardReleased), (0x8010_0016, .noAnswer), (0x8010_0066, .noAnswer),
        (0x8010_002F, .corrupted(status: 0)), (0x8010_0008, .answerTooLong),
        (0x8010_000B, .readerUnavailable(reason: .busy, detail: .init(.cardInUse))),
        (0x8010_001D, .readerUnavailable(reason: .absent, detail: .init(.serviceNotRunning))),
        (0x8010_0017, .readerUnavailable(reason: .absent, detail: .init(.unplugged))),
        (
            0x8010_006A,
            .readerUnavailable(
                reason: .permission, detail: .init(.serviceRefusesUser))
        ),
        (0x8010_0001, .readerFailed(detail: .init(.service, "80100001"))),
    ]

    @Test(arguments: codes) func means(_ number: UInt32, _ error: TransportError) {
        #expect(PCSCCode(number).error == error)
        // A C function's long has the number in its lower half, with or without its sign.
        #expect(PCSCCode(result: Int(number)) == PCSCCode(number))
        #expect(PCSCCode(result: Int(Int32(bitPattern: number))) == PCSCCode(number))
    }

    @Test func acceptsShortUnambiguousNames() throws {
        let names = ["ACS ACR1252 00 00", "ACS ACR122U 01 00", "Sony"]
        #expect(try PCSCDriver.choose("Sony", from: names) == "Sony")
        #expect(try PCSCDriver.choose("ACS ACR1252", from: names) == "ACS ACR1252 00 00")
        #expect(try PCSCDriver.choose("", from: ["only"]) == "only")
        #expect(throws: TransportError.self) { try PCSCDriver.choose("ACS", from: names) }
        #expect(throws: TransportError.self) { try PCSCDriver.choose("sony", from: names) }
        #expect(throws: TransportError.self) { try PCSCDriver.choose("", from: []) }
    }

    @Test func ignoresIDsOfOtherDrivers() throws {
        #expect(try PCSCDriver().open("pn532_uart:/dev/null", cancellation: CancellationToken()) == nil)
    }
}
