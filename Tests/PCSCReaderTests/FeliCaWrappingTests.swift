// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import TestSupport
import Testing

@testable import PCSCReader

/// FeliCa packets within pseudo-APDUs, byte for byte as the makers' manuals have them.
@Suite(.waits)
struct FeliCaWrappingTests {
    static let polling: [UInt8] = [0x06, 0x00, 0xFF, 0xFF, 0x01, 0x00]

    @Test func usesTheTransparentSessionOfTheReader() {
        #expect(FrameWrapping.plain.command(for: Self.polling, .felica) == [0xFF, 0, 0, 0, 6] + Self.polling)
        #expect(
            FrameWrapping.chip.command(for: Self.polling, .felica)
                == [0xFF, 0, 0, 0, 9, 0xD4, 0x40, 0x01] + Self.polling)
        #expect(FrameWrapping.ways(for: "ACS ACR122U PICC Interface 00 00", .felica) == [.chip, .plain])
        #expect(FrameWrapping.ways(for: "ACS ACR1252 Dual Reader PICC 00 00", .felica) == [.plain, .chip])
        // As programs for the RC-S300 poll.
        #expect(
            FrameWrapping.session.command(for: Self.polling, .felica)
                == [0xFF, 0xC2, 0, 1, 15, 0x5F, 0x46, 4, 0xA0, 0x86, 1, 0, 0x95, 6] + Self.polling + [0x00])
        #expect(
            FrameWrapping.session.command(for: Self.polling, .felica, within: .seconds(1))?.prefix(12)
                == [0xFF, 0xC2, 0, 1, 15, 0x5F, 0x46, 4, 0x40, 0x42, 0x0F, 0])
        #expect(FrameWrapping.ways(for: "SONY FeliCa RC-S300/P (1234567) 00 00", .felica) == [.session])
    }

    @Test func rejectsTooLongPacketsUncut() {
        #expect(FrameWrapping.plain.command(for: [UInt8](repeating: 0xFF, count: 255), .felica)?.count == 260)
        #expect(FrameWrapping.chip.command(for: [UInt8](repeating: 0xFF, count: 253), .felica) == nil)
        #expect(FrameWrapping.plain.command(for: [], .felica) == nil)
        // From 128 bytes on a length takes two bytes.
        let long = FrameWrapping.session.command(for: [UInt8](repeating: 0x80, count: 128), .felica)
        #expect(long?.dropFirst(12).prefix(3) == [0x95, 0x81, 0x80])
        #expect(FrameWrapping.session.command(for: [UInt8](repeating: 0xFF, count: 245), .felica)?.count == 261)
        #expect(FrameWrapping.session.command(for: [UInt8](repeating: 0xFF, count: 246), .felica) == nil)
        #expect(FrameWrapping.session.command(for: [], .felica) == nil)
    }

    private static let notPassed = FrameWrapping.Content.felica.notPassed

    static let answers: [(FrameWrapping, [UInt8], Result<[UInt8], TransportError>)] = [
        (.plain, [0x03, 0x01, 0xAA, 0x90, 0x00], .success([0x03, 0x01, 0xAA])),
        (.chip, [0xD5, 0x41, 0x00, 0x03, 0x01, 0xAA, 0x90, 0x00], .success([0x03, 0x01, 0xAA])),
        (.plain, [0x63, 0x00], .failure(.noAnswer)), (.plain, [0x64, 0x01], .failure(.noAnswer)),
        (.plain, [0x90, 0x00], .failure(.noAnswer)), (.chip, [0xD5, 0x41, 0x01, 0x90, 0x00], .failure(.noAnswer)),
        (.chip, [0xD5, 0x41, 0x00, 0x90, 0x00], .failure(.noAnswer)),
        (.chip, [0xD5, 0x41, 0x29, 0x90, 0x00], .failure(.cardReleased)),
        (.chip, [0xD5, 0x41, 0x02, 0x90, 0x00], .failure(.corrupted(status: 0x02))),
        (.chip, [0xD5, 0x41, 0x90, 0x00], .failure(.corrupted(status: 0))),
        (.chip, [0xD5, 0x43, 0x00, 0x01, 0x90, 0x00], .failure(.corrupted(status: 0))),
        (.plain, [0x04, 0x01, 0xAA, 0x90, 0x00], .failure(.corrupted(status: 0))),
        (.plain, [0x90], .failure(.corrupted(status: 0))), (.chip, [], .failure(.corrupted(status: 0))),
        (.session, [0xC0, 3, 0, 0x90, 0, 0x97, 3, 0x03, 0x01, 0xAA, 0x90, 0x00], .success([0x03, 0x01, 0xAA])),
        (.session, [0xC0, 3, 2, 0x64, 1, 0x90, 0x00], .failure(.noAnswer)),
        (.session, [0xC0, 3, 1, 0x64, 1, 0x90, 0x00], .failure(notPassed)),
        (.session, [0xC0, 3, 1, 0x63, 0, 0x90, 0x00], .failure(.corrupted(status: 0x10))),
        (.session, [0xC0, 3, 1, 0x63, 1, 0x90, 0x00], .failure(.cardReleased)),
        (.session, [0xC0, 3, 0, 0x90, 0, 0x97, 2, 0x03, 0x01, 0x90, 0x00], .failure(.corrupted(status: 0))),
        (.session, [0x6D, 0x00], .failure(notPassed)),
        (.plain, [0x6D, 0x00], .failure(notPassed)),
        (.chip, [0x6A, 0x81], .failure(notPassed)),
    ]

    @Test(arguments: answers) func unwrapsAnswers(
        _ wrapping: FrameWrapping, _ answer: [UInt8], _ expected: Result<[UInt8], TransportError>
    ) {
        let result = Result { () throws(TransportError) in try wrapping.frame(in: answer, .felica) }
        #expect(result == expected)
    }
}
