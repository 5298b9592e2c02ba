// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import TestSupport
import Testing
import VirtualReader

@Suite("Cards of files: any input")
struct FileCardFuzzTests {
    /// Commands that get far more often than not: known instructions, small parameters, lengths that fit.
    private static func command(_ random: inout some RandomNumberGenerator) -> [UInt8] {
        let instructions: [UInt8] = [0xA4, 0xB0, 0xB1, 0xB2, 0xD6, 0xDC, 0x20, 0x84, 0xCA, 0xC0]
        let classes: [UInt8] = [0, 0, 0, 0, 0x10, 0x80]
        var bytes = [classes.randomElement(using: &random) ?? 0, instructions.randomElement(using: &random) ?? 0]
        let parameters: [UInt8] = [0, 1, 2, 4, 8, 9, 0x0C, 0x1C, 0x80, 0x81, 0x82, 0xFF]
        for _ in 0..<2 { bytes.append(parameters.randomElement(using: &random) ?? 0) }
        if Bool.random(using: &random) {
            let ids: [[UInt8]] = [
                [0x3F, 0], [0, 1], [0xDF, 1], [0x2F, 1], [0x54, 1, 0], [0x31, 0x32, 0x33, 0x34],
            ]
            let data = ids.randomElement(using: &random) ?? []
            bytes += [UInt8(data.count)] + data
        }
        if Bool.random(using: &random) { bytes.append(.random(in: 0...255, using: &random)) }
        if UInt8.random(in: 0...9, using: &random) == 0 { bytes.removeLast(Int.random(in: 0...3, using: &random)) }
        return bytes
    }

    @Test(arguments: [
        "{}", "{\"longAnswers\": \"more\"}", "{\"longAnswers\": \"wrongLength\", \"endOfFile\": \"6Cxx\"}",
    ])
    func everyCommandGetsAStatusWord(virtual: String) throws {
        let card = try FileCards.card(VerifyTests.members, virtual: virtual)
        let reader = try FileCards.reader(card)
        var random = SeededGenerator(seed: 0x7816)
        for _ in 0..<4000 {
            let response = try reader.transceive(Self.command(&random), timeout: .seconds(1))
            #expect(response.count >= 2)
            let status = response.suffix(2).first ?? 0
            #expect(status & 0xF0 == 0x60 || status == 0x90)
        }
    }

    /// Random frames, also with odd bits and without CRC, on all kinds of cards.
    @Test(arguments: ["ntag213", "type4", "type4-b", "phone"]) func randomFrames(_ fixture: String) throws {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/virtual/\(fixture).json"))
        var random = SeededGenerator(seed: 0x14443)
        let starts: [[UInt8]] = [
            [0x26], [0x52], [0x93, 0x20], [0x93, 0x70], [0x95, 0x20], [0xE0, 0x50], [0x50, 0x00], [0x05, 0x00, 0x00],
            [0x02], [0x03], [0x12], [0x13], [0xA2], [0xB3], [0xC2], [0xF2, 0x01], [0xD0, 0x11, 0x00],
        ]
        for _ in 0..<20_000 {
            var bytes = starts.randomElement(using: &random) ?? []
            for _ in 0..<max(0, Int.random(in: -4...9, using: &random)) {
                bytes.append(.random(in: 0...255, using: &random))
            }
            let isShort = bytes.count == 1 && bytes[0] > 0x20
            let frame = RadioFrame(
                Bool.random(using: &random) ? .typeA : .typeB, bytes,
                lastByteBits: isShort ? 7 : Int.random(in: 0...9, using: &random) < 8 ? 8 : 3,
                hasCRC: Bool.random(using: &random))
            guard case .answer(let answer) = field.exchange(frame) else { continue }
            #expect(!answer.frame.isEmpty)
            #expect(answer.lastByteBits == 8 || answer.lastByteBits == 4)
        }
    }
}
