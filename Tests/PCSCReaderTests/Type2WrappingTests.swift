// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import TestSupport
import Testing

@testable import PCSCReader

/// Commands of Type 2 Tags within pseudo-APDUs.
@Suite(.waits)
struct Type2WrappingTests {
    @Test func usesTheTransparentSessionOfTheReader() throws {
        #expect(FrameWrapping.plain.command(for: [0x60], .type2) == [0xFF, 0, 0, 0, 1, 0x60])
        #expect(FrameWrapping.chip.command(for: [0x39, 2], .type2) == [0xFF, 0, 0, 0, 4, 0xD4, 0x42, 0x39, 2])
        // As a program for the ACR1552U asks an Ultralight C for its challenge.
        #expect(
            FrameWrapping.session.command(for: [0x1A, 0], .type2)
                == (try Hex.decode("FFC20001 0B 5F4604A0860100 9502 1A00 00")))
        #expect(FrameWrapping.ways(for: "ACS ACR122U PICC Interface 00 00", .type2) == [.chip])
        #expect(FrameWrapping.ways(for: "ACS ACR1252 Dual Reader PICC 00 00", .type2) == [.plain, .session])
        #expect(FrameWrapping.ways(for: "Sony RC-S300/P 00 00", .type2) == [.session])
    }

    /// The ways that carry commands of tags; the others are for FeliCa only.
    private static let ways = FrameWrapping.allCases.filter { $0 != .passThrough && $0 != .services }

    @Test(arguments: ways) func rejectsTooLongFramesUncut(_ way: FrameWrapping) {
        #expect(way.command(for: [UInt8](repeating: 0, count: 254), .type2) == nil || way == .plain)
        #expect(way.command(for: [UInt8](repeating: 0, count: 245), .type2) != nil)
        #expect(way.command(for: [UInt8](repeating: 0, count: 256), .type2) == nil)
        #expect(way.command(for: [], .type2) == nil || way == .chip)
    }

    private static let notPassed = FrameWrapping.Content.type2.notPassed

    /// The way, what the reader answers in hexadecimal digits, and what comes of it.
    static let answers: [(FrameWrapping, String, Result<[UInt8], TransportError>)] = [
        (.plain, "0004040201000F03 9000", .success([0, 4, 4, 2, 1, 0, 0x0F, 3])),
        (.plain, "9000", .failure(.noAnswer)), (.plain, "6300", .failure(.noAnswer)),
        (.plain, "6D00", .failure(notPassed)), (.plain, "90", .failure(.corrupted(status: 0))),
        (.chip, "D54300 AABBCC 9000", .success([0xAA, 0xBB, 0xCC])), (.chip, "D54301 9000", .failure(.noAnswer)),
        (.chip, "D54300 9000", .failure(.noAnswer)), (.chip, "D54302 9000", .failure(.corrupted(status: 2))),
        (.chip, "D541 9000", .failure(.corrupted(status: 0))), (.chip, "9000", .failure(.corrupted(status: 0))),
        (.session, "C003009000 920100 96020000 9703AABBCC 9000", .success([0xAA, 0xBB, 0xCC])),
        (.session, "C003009000 920104 96020000 97010A 9000", .success([0x0A])),
        (.session, "C003026401 9000", .failure(.noAnswer)),
        (.session, "C003016401 9000", .failure(notPassed)),
        (.session, "C003009000 9000", .failure(.noAnswer)),
        (.session, "C003009000 96020100 9702AABB 9000", .failure(.corrupted(status: 1))),
        (.session, "C003016985 9000", .failure(.cardReleased)),
        (.session, "C003009000 9710AABB 9000", .failure(.corrupted(status: 0))),
        (.session, "9000", .failure(.noAnswer)), (.session, "6400", .failure(.noAnswer)),
        (.session, "6A81", .failure(notPassed)), (.session, "6E00", .failure(notPassed)),
        (.session, "", .failure(.corrupted(status: 0))),
    ]

    @Test(arguments: answers) func unwrapsAnswers(
        _ way: FrameWrapping, _ answer: String, _ expected: Result<[UInt8], TransportError>
    ) throws {
        let bytes = try Hex.decode(answer)
        let result = Result { () throws(TransportError) in try way.frame(in: bytes, .type2) }
        #expect(result == expected)
    }

    @Test(arguments: [
        ("9000", true), ("C003009000 9000", true), ("C003026A81 9000", false), ("6A81", false), ("90", false),
        ("", false),
    ])
    func opensASessionOnlyOnConfirmation(_ answer: String, _ isDone: Bool) throws {
        #expect(TransparentSession.isDone(try Hex.decode(answer)) == isDone)
    }

    /// Whatever a reader answers, nothing traps, and what comes out was in the answer.
    @Test func anyBytes() {
        var generator = SeededGenerator(seed: 0xC2C2)
        let tags: [UInt8] = [0xC0, 0x92, 0x96, 0x97, 0x5F, 0x46, 0x03, 0x00, 0x90, 0x82]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...24, using: &generator)
            let answer = (0..<count).map { _ in
                Bool.random(using: &generator)
                    ? tags.randomElement(using: &generator) ?? 0 : UInt8.random(in: 0...255, using: &generator)
            }
            for way in Self.ways {
                guard let frame = try? way.frame(in: answer + [0x90, 0x00], .type2) else { continue }
                #expect(!frame.isEmpty && frame.count <= answer.count)
            }
            _ = TransparentSession.isDone(answer)
        }
    }
}
