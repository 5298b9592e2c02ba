// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@Suite("The check of UTF-8")
struct UTF8CheckTests {
    /// Where the standard library finds a fault.
    private static func fault(_ bytes: [UInt8]) -> Int? {
        do {
            _ = try UTF8Span(validating: bytes.span)
            return nil
        } catch {
            return error.byteOffsets.lowerBound
        }
    }

    @Test("Any three bytes after any of the interesting first ones")
    func sequences() {
        let leads: [UInt8] = [
            0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF,
        ]
        let others: [UInt8] = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xE3, 0xFF]
        for lead in leads {
            for second in others {
                for third in others {
                    for fourth in others {
                        let bytes = [lead, second, third, fourth]
                        #expect(UTF8Check.firstFault(bytes.span) == Self.fault(bytes), "\(bytes)")
                    }
                }
            }
        }
    }

    @Test("Texts with a byte changed, and cut anywhere")
    func damagedTexts() {
        var generator = SeededGenerator(seed: 8)
        let text = Array("券 Suica 残高 ¥1,234 – 羽田空港 𠮷野家 ﾃｽﾄ".utf8)
        for _ in 0..<5_000 {
            var bytes = Array(text.prefix(Int.random(in: 0...text.count, using: &generator)))
            if !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            #expect(UTF8Check.firstFault(bytes.span) == Self.fault(bytes), "\(bytes)")
        }
        #expect(UTF8Check.firstFault(text.span) == nil)
    }
}
