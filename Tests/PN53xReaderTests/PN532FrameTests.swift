// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PN53xReader

/// The frames of a PN532's serial line, read from whatever bytes come.
@Suite(.waits)
struct PN532FrameTests {
    /// Frames as the user manual (UM0701-02, 6.2.1 and 7.2) and libnfc issue 86 show them.
    static let commands: [([UInt8], [UInt8])] = [
        ([0x02], [0x00, 0x00, 0xFF, 0x02, 0xFE, 0xD4, 0x02, 0x2A, 0x00]),
        ([0x14, 0x01], [0x00, 0x00, 0xFF, 0x03, 0xFD, 0xD4, 0x14, 0x01, 0x17, 0x00]),
        (ChipCommand.fieldOff, [0x00, 0x00, 0xFF, 0x04, 0xFC, 0xD4, 0x32, 0x01, 0x00, 0xF9, 0x00]),
    ]

    @Test(arguments: commands) func framesACommand(_ command: [UInt8], _ frame: [UInt8]) {
        #expect(PN532Frame.encode(command) == frame)
    }

    @Test func usesExtendedFramesForLongCommands() {
        let frame = PN532Frame.encode([0x42] + [UInt8](repeating: 0x00, count: 254))
        #expect(frame.prefix(8) == [0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x00, 0xFF])
        #expect(frame.count == 8 + 256 + 2)
        #expect(PN532Frame.encode([UInt8](repeating: 0x42, count: 254)).prefix(5) == [0x00, 0x00, 0xFF, 0xFF, 0x01])
    }

    static let version: [UInt8] = [
        0x00, 0x00, 0xFF, 0x06, 0xFA, 0xD5, 0x03, 0x32, 0x01, 0x06, 0x07, 0xE8, 0x00,
    ]
    static let answer = PN532Frame.answer(code: 0x03, bytes: [0x32, 0x01, 0x06, 0x07])

    static let lines: [([UInt8], [PN532Frame])] = [
        (PN532Frame.acknowledge, [.acknowledged]), ([0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00], [.refused]),
        ([0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00], [.refused]), (version, [answer]),
        (PN532Frame.acknowledge + version + version, [.acknowledged, answer, answer]),
        // Noise, no preamble, the host's own frame that came back.
        ([0xAA, 0x00, 0x55] + version, [answer]), (Array(version.dropFirst()), [answer]),
        (PN532Frame.encode([0x02]) + version, [answer]),
        // A length that fits nothing, a wrong checksum, nothing in it, somebody else's, too long, no code.
        ([0x00, 0xFF, 0x06, 0xFB] + version, [.damaged, answer]),
        (version.dropLast(2) + [0xE9, 0x00] + version, [.damaged, answer]),
        ([0x00, 0xFF, 0x00, 0x00] + version, [.damaged, answer]),
        ([0x00, 0xFF, 0x02, 0xFE, 0xAA, 0x03, 0x53] + version, [.damaged, answer]),
        ([0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x0A, 0xF5] + version, [.damaged, answer]),
        ([0x00, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00] + version, [.damaged, answer]),
        ([0x00, 0xFF, 0x01, 0xFF, 0xD5, 0x2B] + version, [.damaged, answer]),
        (
            [0x00, 0xFF, 0xFF, 0xFF, 0x00, 0x02, 0xFE, 0xD5, 0x33, 0xF8] + version,
            [.answer(code: 0x33, bytes: []), answer]
        ),
        ([], []), ([0x00], []), ([0x00, 0xFF], []), ([0x00, 0xFF, 0xFF, 0xFF, 0x00], []),
        (Array(version.dropLast(2)), []),
    ]

    /// However the bytes are split on their way.
    @Test(arguments: lines) func framesAreFound(_ bytes: [UInt8], _ frames: [PN532Frame]) {
        for size in [1, 2, 3, 7, 1000] {
            var parser = PN532FrameParser()
            var found: [PN532Frame] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                parser.feed(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
                while let frame = parser.next() { found.append(frame) }
            }
            #expect(found == frames, "in parts of \(size)")
        }
    }

    /// Whatever comes: a valid frame after it is found, once as much followed as a damaged length may have asked for.
    @Test(arguments: UInt64(1)...20) func survivesRandomBytes(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var parser = PN532FrameParser()
        let alphabet: [UInt8] = [0x00, 0xFF, 0x00, 0xFF, 0xD5, 0x7F, 0x01, 0x02]
        for _ in 0..<300 {
            let noise = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                    : UInt8.random(in: 0...255, using: &random)
            }
            parser.feed(noise)
            while parser.next() != nil {}
        }
        var found: [PN532Frame] = []
        for _ in 0..<60 {
            parser.feed(Self.version)
            while let frame = parser.next() { found.append(frame) }
        }
        #expect(found.last == Self.answer)
    }
}
