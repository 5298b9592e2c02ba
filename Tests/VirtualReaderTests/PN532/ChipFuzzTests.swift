// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import Synchronization
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("PN532: the chip survives any input")
struct ChipFuzzTests {
    /// A field that answers anything, the same for the same seed.
    private final class WildField: RadioField {
        private let random: Mutex<Noise>
        init(seed: Int) { random = Mutex(Noise(seed: seed)) }

        func exchange(_ frame: RadioFrame) -> FieldResult {
            random.withLock { random in
                switch random.number(0..<4) {
                case 0: .silence
                case 1: .damaged(status: UInt8(random.number(0..<256)))
                case 2:
                    .answer(
                        CardAnswer(random.bytes(0...700), thinkingTime: .milliseconds(random.number(0..<100))))
                default: PlainField.answer(frame.bytes).map { .answer(CardAnswer($0)) } ?? .silence
                }
            }
        }

        func switchOff() {}
    }

    private static let codes: [UInt8] = [
        0x00, 0x02, 0x04, 0x06, 0x08, 0x0C, 0x0E, 0x10, 0x12, 0x14, 0x16, 0x32, 0x40, 0x42, 0x44, 0x46, 0x4A, 0x4E,
        0x50, 0x52, 0x54, 0x56, 0x60, 0x8C,
    ]

    /// Noise, cut frames and well-formed frames with random parameters, then ACK and a command: it is answered.
    @Test(arguments: 1...150)
    func chipStillAnswers(seed: Int) throws {
        var noise = Noise(seed: seed)
        var script: [HostBytes] = []
        for step in 0..<60 {
            let code = Self.codes[noise.number(0..<Self.codes.count)]
            let start: [UInt8] = code == 0x4A ? [0x01, 0x01, 0x00, 0xFF, 0xFF, 0x01, 0x00] : [0x01]
            let bytes: [UInt8] =
                switch noise.number(0..<7) {
                case 0: noise.bytes(0...40)
                case 1: PN532Frame.encode([0xD4] + noise.bytes(0...260)).dropLast(noise.number(1..<10))
                case 2: [0x00, 0xFF] + noise.bytes(0...6)
                case 3: PN532Frame.acknowledge
                case 4: PN532Frame.notAcknowledge
                default: PN532Frame.encode([0xD4, code] + start.prefix(noise.number(0..<8)) + noise.bytes(0...12))
                }
            script.append(HostBytes(at: .milliseconds(step * 20), bytes))
        }
        script.append(HostBytes(at: .seconds(500), PN532Frame.acknowledge))
        script.append(try HostBytes(at: .seconds(501), command: "d402"))
        let line = VirtualLine(script)
        let counters = ChipCounters()
        let timing: TimeModel = seed.isMultiple(of: 2) ? .full : .off
        PN532Chip(field: WildField(seed: seed), line: line, timing: timing, counters: counters).run()
        let version = PN532Frame.encode([0xD5, 0x03, 0x32, 0x01, 0x06, 0x07])
        #expect(line.sent.suffix(2).map(\.bytes) == [PN532Frame.acknowledge, version])
        #expect(counters.statistics.bytesFromHost == script.reduce(0) { $0 + $1.bytes.count })
        #expect(line.sent.allSatisfy { $0.bytes.count <= 265 + 10 })
    }

    /// Frames never come out of noise with a length that was not there, however it is cut.
    @Test(arguments: 1...50)
    func parserIsTotal(seed: Int) {
        var noise = Noise(seed: seed)
        var parser = HostFrameParser()
        for _ in 0..<200 {
            parser.feed(noise.bytes(0...30).map { $0 > 0x80 ? [0x00, 0xFF][Int($0 & 1)] : $0 })
            while let frame = parser.next() {
                if case .command(let bytes) = frame { #expect(bytes.count < PN532Frame.longestData) }
            }
            if parser.isMidFrame, noise.number(0..<2) == 0 { parser.skipStartCode() }
        }
    }
}
