// SPDX-License-Identifier: Apache-2.0

import NFCTransport
import TestSupport
import Testing

@testable import VirtualReader

@Suite("PN532: whatever comes, the chip goes on")
struct ChipFuzzTests {
    /// A field that answers anything.
    private final class WildField: RadioField {
        var random: SeededGenerator
        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        func exchange(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> FieldOutcome {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: .silence
            case 1: .damaged(status: .random(in: 0...0xFF, using: &random))
            case 2: .answer(CardAnswer(bytes(0...700), thinkingTime: .milliseconds(.random(in: 0...100, using: &random))))
            default: PlainField.answer(frame).map { .answer(CardAnswer($0)) } ?? .silence
            }
        }

        func switchOff() {}

        func bytes(_ count: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: count, using: &random)).map { _ in .random(in: 0...0xFF, using: &random) }
        }
    }

    private static let codes: [UInt8] = [
        0x00, 0x02, 0x04, 0x06, 0x08, 0x0C, 0x0E, 0x10, 0x12, 0x14, 0x16, 0x32, 0x40, 0x42, 0x44, 0x46, 0x4A, 0x4E,
        0x50, 0x52, 0x54, 0x56, 0x60, 0x8C,
    ]

    /// Noise, cut frames and well-formed frames with random parameters, then ACK and a command: it is answered.
    @Test(arguments: 1...150)
    func chipStillAnswers(seed: Int) throws {
        let field = WildField(seed: UInt64(seed))
        var script: [(at: Duration, bytes: [UInt8])] = []
        for step in 0..<60 {
            var bytes: [UInt8]
            switch Int.random(in: 0..<6, using: &field.random) {
            case 0: bytes = field.bytes(0...40)
            case 1: bytes = Array(PN532Frame.encode([0xD4] + field.bytes(0...260)).dropLast(.random(in: 1...9, using: &field.random)))
            case 2: bytes = [0x00, 0xFF] + field.bytes(0...6)
            case 3: bytes = [PN532Frame.acknowledge, PN532Frame.notAcknowledge].randomElement(using: &field.random) ?? []
            default:
                let code = Self.codes.randomElement(using: &field.random) ?? 0
                let start: [UInt8] = code == 0x4A ? [0x01, 0x01, 0x00, 0xFF, 0xFF, 0x01, 0x00] : [0x01]
                bytes = PN532Frame.encode([0xD4, code] + start.prefix(.random(in: 0...7, using: &field.random)) + field.bytes(0...12))
            }
            script.append((.milliseconds(step * 20), bytes))
        }
        script.append((.seconds(500), PN532Frame.acknowledge))
        script.append((.seconds(501), try ChipBench.frame("d402")))
        let line = VirtualLine(script)
        let counters = ChipCounters()
        let timing: TimeModel = seed.isMultiple(of: 2) ? .full : .off
        PN532Chip(field: field, line: line, timing: timing, counters: counters).run()
        #expect(line.sent.suffix(2).map(\.bytes) == [PN532Frame.acknowledge, PN532Frame.encode([0xD5, 0x03, 0x32, 0x01, 0x06, 0x07])])
        #expect(counters.statistics.bytesFromHost == script.reduce(0) { $0 + $1.bytes.count })
        #expect(line.sent.allSatisfy { $0.bytes.count <= 265 + 10 })
    }

    /// Frames never come out of noise with a length that was not there, however it is cut.
    @Test(arguments: 1...50)
    func parserIsTotal(seed: Int) {
        let field = WildField(seed: UInt64(seed))
        var parser = HostFrameParser()
        for _ in 0..<200 {
            parser.feed(field.bytes(0...30).map { $0 > 0x80 ? [0x00, 0xFF][Int($0 & 1)] : $0 })
            while let frame = parser.next() {
                if case .command(let bytes) = frame { #expect(bytes.count < PN532Frame.longestData) }
            }
            if parser.isMidFrame, Bool.random(using: &field.random) { parser.skipStartCode() }
        }
    }
}
