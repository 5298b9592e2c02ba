// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@testable import PaSoRiReader

/// Frames of the Port-100, against bytes that others have published.
struct Port100FrameTests {
    /// Data and its frame: nfcpy's `test_clf_rcs380.py`.
    static let frames: [(data: String, frame: String)] = [
        ("D62A01", "0000FFFFFF0300FDD62A01FF00"), ("D72B00", "0000FFFFFF0300FDD72B00FE00"),
        ("D620", "0000FFFFFF0200FED6200A00"), ("D7211101", "0000FFFFFF0400FCD7211101F600"),
        ("D60600", "0000FFFFFF0300FDD606002400"), ("D60001010F01", "0000FFFFFF0600FAD60001010F011800"),
        ("D6020018", "0000FFFFFF0400FCD60200181000"),
        ("D6046E000600FFFF0100", "0000FFFFFF0A00F6D6046E000600FFFF0100B300"),
        ("D70580000000", "0000FFFFFF0600FAD70580000000A400"), ("3132", "0000FFFFFF0200FE31329D00"),
    ]

    @Test(arguments: frames) func encodesAndParses(_ data: String, _ frame: String) throws {
        let data = try Hex.decode(data)
        let bytes = try Hex.decode(frame)
        #expect(Port100Frame.encode(data) == bytes)
        var parser = Port100FrameParser()
        parser.feed(bytes)
        #expect(parser.next() == .message(.data(data)))
        #expect(parser.next() == .incomplete)
    }

    /// The error frame of five bytes, as a transfer of its own (nfcpy's `rcs380.py`).
    @Test func shortErrorFrame() {
        var parser = Port100FrameParser()
        parser.feed(Port100Frame.dataStart)
        #expect(parser.next() == .message(.error))
        #expect(parser.next() == .incomplete)
        // In the middle of another frame it is a part of that.
        let frame = Port100Frame.encode(Port100Frame.dataStart)
        parser.feed(Array(frame.prefix(8)))
        parser.feed(Port100Frame.dataStart)
        parser.feed(Array(frame.dropFirst(13)))
        #expect(parser.next() == .message(.data(Port100Frame.dataStart)))
    }

    @Test func parsesSplitAndJoinedFrames() throws {
        let all = Port100Frame.acknowledgeBytes + Port100Frame.encode([0xD7, 0x2B, 0x00]) + Port100Frame.errorBytes
        let expected: [TransferResult<Port100Frame>] = [
            .message(.acknowledge), .message(.data([0xD7, 0x2B, 0x00])), .message(.error),
        ]
        for cut in 0...all.count {
            var parser = Port100FrameParser()
            var found: [TransferResult<Port100Frame>] = []
            for piece in [all[..<cut], all[cut...]] {
                parser.feed(Array(piece))
                while case .message(let frame) = parser.next() { found.append(.message(frame)) }
            }
            #expect(found == expected, "cut at \(cut)")
        }
    }

    /// Malformed frames, whatever follows.
    static let damaged: [String] = [
        "FF", "0001", "0000FE", "0000FF01FF7F80", "0000FF00FE", "0000FFFFFF0300FCD62A01FF00",
        "0000FFFFFF0300FDD62A01FE00", "0000FFFFFF0300FDD62A01FF01", "0000FFFFFF000000", "0000FFFFFFFFFF02",
    ]

    @Test(arguments: damaged) func rejectsMalformedFrames(_ text: String) throws {
        var parser = Port100FrameParser()
        parser.feed(try Hex.decode(text))
        #expect(parser.next() == .damaged)
        parser.feed(Port100Frame.acknowledgeBytes)
        #expect(parser.next() == .message(.acknowledge))
    }

    @Test func everyPrefixIsIncomplete() {
        let whole = Port100Frame.encode(Array(0..<200))
        for count in 0..<whole.count {
            var parser = Port100FrameParser()
            parser.feed(Array(whole.prefix(count)))
            #expect(parser.next() == (count == 5 ? .message(.error) : .incomplete))
        }
    }

    @Test func detectsAnyChangedByte() {
        let whole = Port100Frame.encode([0xD7, 0x05, 0, 0, 0, 0, 8, 1, 2, 3])
        var random = SeededGenerator(seed: 380)
        for index in whole.indices {
            var changed = whole
            changed[index] ^= UInt8.random(in: 1...255, using: &random)
            var parser = Port100FrameParser()
            parser.feed(changed)
            if case .message(let frame) = parser.next() { Issue.record("byte \(index) gave \(frame)") }
        }
    }

    @Test func survivesRandomBytesAndRecovers() {
        var random = SeededGenerator(seed: 1)
        let starts: [[UInt8]] = [[], [0, 0, 0xFF], Port100Frame.dataStart, Port100Frame.dataStart + [3, 0, 0xFD]]
        for _ in 0..<5000 {
            var parser = Port100FrameParser()
            let count = Int.random(in: 0...80, using: &random)
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let bytes = (starts.randomElement(using: &random) ?? []) + noise
            parser.feed(bytes)
            var taken = 0
            while case .message = parser.next() { taken += 1 }
            #expect(taken <= bytes.count)
        }
    }
}
