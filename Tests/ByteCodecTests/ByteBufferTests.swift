// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

/// A buffer, against an array that is told the same.
struct ByteBufferTests {
    @Test func itHoldsWhatAnArrayHolds() {
        var random = SeededGenerator(seed: 21)
        var buffer = ByteBuffer()
        for _ in 0..<20 {
            buffer.removeAll()
            var expected: [UInt8] = []
            for _ in 0..<Int.random(in: 0...200, using: &random) {
                switch Int.random(in: 0...3, using: &random) {
                case 0:
                    let byte = UInt8.random(in: .min ... .max, using: &random)
                    buffer.append(byte)
                    expected.append(byte)
                case 1:
                    let word = UInt64.random(in: .min ... .max, using: &random)
                    let count = Int.random(in: -2...10, using: &random)
                    buffer.append(word, count: count)
                    for place in 0..<max(0, min(count, 8)) {
                        expected.append(UInt8(truncatingIfNeeded: word >> UInt64(place * 8)))
                    }
                case 2:
                    buffer.append("かざす, touch")
                    expected += "かざす, touch".utf8
                default:
                    let bytes = (0..<Int.random(in: 0...300, using: &random)).map {
                        UInt8(truncatingIfNeeded: $0 &* 7)
                    }
                    buffer.append(contentsOf: bytes.span)
                    expected += bytes
                }
            }
            #expect(buffer.bytes == expected)
            #expect(buffer.count == expected.count)
            #expect(buffer.withBytes { span in span.indices.map { span[$0] } } == expected)
        }
    }

    @Test func replacesInvalidUTF8() {
        var buffer = ByteBuffer(capacity: -5)
        buffer.append(0x41)
        buffer.append(0xFF)
        #expect(buffer.text == "A\u{FFFD}")
    }
}
