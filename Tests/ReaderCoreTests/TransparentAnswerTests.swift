// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@testable import ReaderCore

/// What readers answer within a transparent session.
struct TransparentAnswerTests {
    /// Answers as they were published (EspUsbHost, simple-attendance-with-pasori, ezsign-nfc-tools), and what they mean
    /// for an exchange whose frame is the second object.
    static let published: [(answer: String, meaning: TransparentAnswer.Meaning)] = [
        ("C003009000 9000", .done), ("C003009000 8F0108 9000", .done), ("C003026401 9000", .silent),
        // The frame was never sent: there was no timer before it.
        ("C003016401 9000", .refused(status: 0x6401)), ("C003016301 9000", .wrongState),
        ("C003016700 9000", .refused(status: 0x6700)), ("C003016A81 9000", .refused(status: 0x6A81)),
        ("C003016A80 9000", .refused(status: 0x6A80)), ("C003036401 9000", .silent), ("C003006401 9000", .silent),
        ("C003016300 9000", .damaged), ("C003016985 9000", .wrongState), ("C00301698A 9000", .sessionIsOpen),
        ("6F00", .refused(status: 0x6F00)), ("6282", .done), ("6300", .damaged),
    ]

    @Test(arguments: published) func parsesTheIndex(_ answer: String, _ meaning: TransparentAnswer.Meaning) throws {
        let answer = try #require(TransparentAnswer(try Hex.decode(answer)))
        #expect(answer.meaning(ofExchangeWithFrameAt: 2) == meaning)
    }

    /// In three objects the third is the frame.
    @Test func silenceRefersToTheFrameOnly() throws {
        let answer = try #require(TransparentAnswer(try Hex.decode("C003026401 9000")))
        #expect(answer.meaning(ofExchangeWithFrameAt: 3) == .refused(status: 0x6401))
        #expect(answer.meaning == .silent)
    }

    @Test func parsesAPollingAnswer() throws {
        let answer = try #require(
            TransparentAnswer(
                try Hex.decode("C003009000 920100 96020000 97141401 01010701260CCA02 0F0D23042F7783FF 12FC 9000")))
        #expect(answer.meaning == .done)
        #expect(answer.lastByteBits == 8)
        #expect(answer.frame?.count == 20)
        #expect(answer.damage == 0)
    }

    /// Tags of two bytes: Sony's own and the ATR of a switch to layer 4.
    @Test func readsBERTags() throws {
        let answer = try #require(
            TransparentAnswer(
                try Hex.decode(
                    "FF6D03010203 C003009000 5F510B3B86800190BED2BD1D0358 8F0120 920104 96020200 97820002 0A0B 9000")))
        #expect(answer.status == 0x9000)
        #expect(answer.cardInformation == [0x20])
        #expect(answer.lastByteBits == 4)
        #expect(answer.damage == 2)
        #expect(answer.frame == [0x0A, 0x0B])
    }

    static let broken = [
        "", "90", "C0 9000", "C003 9000", "C0030090 9000", "97 9000", "9780 9000", "97840000000AAA 9000", "978200 9000",
        "FF6D 9000", "FF6D02AA 9000", "9702AA 9000", "5F 9000",
    ]

    @Test(arguments: broken) func rejectsBrokenObjects(_ text: String) throws {
        #expect(TransparentAnswer(try Hex.decode(text)) == nil)
    }

    @Test func isTotal() {
        var random = SeededGenerator(seed: 301)
        let tags: [UInt8] = [0xC0, 0x92, 0x96, 0x97, 0xFF, 0x6D, 0x82, 0x03, 0x5F, 0x51, 0x8F]
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? tags.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...8, using: &random)
            }
            guard let answer = TransparentAnswer(bytes + [0x90, 0x00]) else { continue }
            #expect((1...8).contains(answer.lastByteBits))
            #expect((answer.frame?.count ?? 0) <= bytes.count)
        }
    }
}
