// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Random packets against every kind of card: no trap, and only well-formed answers.
struct FuzzTests {
    static let pmms = [
        "0200FFFFFFFFFFFF", "0300FFFFFFFFFFFF", "0301FFFFFFFFFFFF", "010BFFFFFFFFFFFF", "0120220427674EFF",
        "0224FFFFFFFFFFFF", "0136FFFFFFFFFFFF", "043BFFFFFFFFFFFF", "0116FFFFFFFFFFFF", "01188B868FBECBFF",
        "00F0000000014300", "00F1000000014300", "FFFFFFFFFFFFFFFF", "0000000000000000",
    ]

    static let idm: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08]

    private static func card(_ pmm: String) throws -> VirtualFeliCaCard {
        let isLite = pmm.hasPrefix("00F")
        let content =
            isLite
            ? "\"lite\": {}"
            : """
            "systems": [{"code": "0003", "nodes": ["0FC0-17FF", "1048", "100B", "1029"],
              "blocks": {"1009": 300, "104D": 3, "1091": ["FF000000FF0000000000000000000000"], "1813": 1}},
              {"code": "FE00", "nodes": ["1000-17FF", "1001-103F", "2008"]}]
            """
        let virtual = isLite ? "" : "\"also\": [\"0E\", \"1A\", \"1E\", \"22\", \"24\", \"28\", \"2E\", \"70\"]"
        return try .from(
            """
            {"schema": "kazasu.card/1", "idm": "\(Hex.encode(idm))", "pmm": "\(pmm)", \(content),
             "virtual": {\(virtual)}}
            """)
    }

    /// A packet that gets far: a right LEN, a known code and the card's IDm more often than not, small numbers.
    private static func frame(_ random: inout some RandomNumberGenerator) -> [UInt8] {
        let codes = CommandCode.allCases.map(\.rawValue)
        var body: [UInt8] = [codes.randomElement(using: &random) ?? 0]
        if UInt8.random(in: 0...9, using: &random) == 0 { body[0] = .random(in: 0...255, using: &random) }
        if UInt8.random(in: 0...9, using: &random) > 0 { body += idm }
        if Bool.random(using: &random) { body += [1, 0x09, 0x10] }
        for _ in 0..<Int.random(in: 0...60, using: &random) {
            let ceiling: UInt8 = Bool.random(using: &random) ? 3 : 255
            body.append(.random(in: 0...ceiling, using: &random))
        }
        var length = UInt8(clamping: body.count + 1)
        if UInt8.random(in: 0...19, using: &random) == 0 { length = .random(in: 0...255, using: &random) }
        return [length] + body
    }

    @Test(arguments: pmms) func answersAreWellFormed(_ pmm: String) throws {
        let card = try Self.card(pmm)
        var random = SeededGenerator(seed: pmm.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
        var answered = 0
        for _ in 0..<4000 {
            let frame = Self.frame(&random)
            guard let answer = card.answer(frame, at: .kbps212) else { continue }
            answered += 1
            #expect(answer.frame.count >= 2 && answer.frame.count <= 255)
            #expect(Int(answer.frame[0]) == answer.frame.count)
            #expect(answer.frame[1] == (frame[1] == 0xF0 ? 0xF0 : frame[1] + 1))
            #expect(answer.thinkingTime >= .zero)
        }
        #expect(answered > 100)
    }

    @Test func ignoresNoise() throws {
        let card = try Self.card("0136FFFFFFFFFFFF")
        var random = SeededGenerator(seed: 1)
        for _ in 0..<4000 {
            let noise = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let answer = card.answer(noise, at: .kbps424)
            #expect(answer == nil || Int(noise[0]) == noise.count)
        }
        for frame: [UInt8] in [[], [0x00], [0x01], [0x02], [0x02, 0x00], [0xFF], [0x02, 0x06]] {
            #expect(card.answer(frame, at: .kbps212) == nil)
        }
    }

    @Test func writingAtRandomKeepsTheNumberOfBlocks() throws {
        let card = try Self.card("0136FFFFFFFFFFFF")
        let before = card.systems.map { $0.memory.mapValues(\.count) }
        var random = SeededGenerator(seed: 99)
        for _ in 0..<3000 {
            let service: [UInt8] =
                [[0x09, 0x10], [0x4D, 0x10], [0x91, 0x10], [0x13, 0x18]].randomElement(
                    using: &random) ?? [0, 0]
            let element: [UInt8] = [
                UInt8.random(in: 8...9, using: &random) << 4, UInt8.random(in: 0...3, using: &random),
            ]
            let data = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            let body = [0x08] + Self.idm + [1] + service + [1] + element + data
            #expect(card.answer([UInt8(body.count + 1)] + body, at: .kbps212)?.frame.count == 12)
        }
        #expect(card.systems.map { $0.memory.mapValues(\.count) } == before)
    }
}
