// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import CardDecoders

@Suite("Code page 932")
struct CP932Tests {
    /// What glibc makes of some bytes.
    private static func converted(_ bytes: [UInt8], by converter: iconv_t?) -> [UInt8]? {
        var (input, output) = (bytes.map { CChar(bitPattern: $0) }, [CChar](repeating: 0, count: 16))
        var (left, room) = (input.count, output.count)
        let result = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                var (from, to) = (input.baseAddress, output.baseAddress)
                return iconv(converter, &from, &left, &to, &room)
            }
        }
        guard result == 0, left == 0 else {
            iconv(converter, nil, nil, nil, nil)
            return nil
        }
        return output.dropLast(room).map { UInt8(bitPattern: $0) }
    }

    @Test("Every byte and every two bytes are what glibc's CP932 has, and nothing else is text")
    func everyCode() throws {
        let converter = iconv_open("UTF-8", "CP932")
        try #require(converter != iconv_t(bitPattern: -1))
        defer { iconv_close(converter) }
        var count = 0
        for first in UInt8.min...UInt8.max {
            #expect(CP932.utf8([first]) == Self.converted([first], by: converter), "\(first)")
            for second in UInt8.min...UInt8.max {
                let (ours, theirs) = (CP932.utf8([first, second]), Self.converted([first, second], by: converter))
                if ours != theirs { Issue.record("\(first) \(second)") }
                count += ours == nil ? 0 : 1
            }
        }
        // 191 single bytes after each other, and two-byte characters with those of Windows' users.
        #expect(count > 191 * 191 + 9_000)
    }

    @Test("A text that ends in the middle of a character is none")
    func cut() {
        #expect(CP932.utf8([0x93, 0x8C, 0x8B, 0x9E]) == Array("東京".utf8))
        #expect(CP932.utf8([0x93, 0x8C, 0x8B]) == nil)
        #expect(CP932.utf8([]) == [])
    }
}
