// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Glibc

/// CP932 in tests.
enum Hex932 {
    static func bytes(_ hex: String) throws -> [UInt8] { try Hex.decode(hex) }

    /// The text of some bytes, or `nil` if they are not CP932.
    static func text(_ bytes: [UInt8]) -> String? {
        guard let converter = iconv_open("UTF-8", "CP932"), converter != iconv_t(bitPattern: -1) else { return nil }
        defer { iconv_close(converter) }
        var input = bytes.map { CChar(bitPattern: $0) }
        var output = [CChar](repeating: 0, count: bytes.count * 4)
        var (inputLeft, outputLeft) = (input.count, output.count)
        let result = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                var (from, to) = (input.baseAddress, output.baseAddress)
                return iconv(converter, &from, &inputLeft, &to, &outputLeft)
            }
        }
        guard result >= 0 else { return nil }
        return String(decoding: output.prefix(output.count - outputLeft).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
