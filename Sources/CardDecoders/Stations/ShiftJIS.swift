// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Texts in Shift_JIS as Japanese Windows writes it (code page 932); the C library converts them.
enum ShiftJIS {
    /// The text in UTF-8, or `nil` when it is UTF-8 already or not Shift_JIS either.
    ///
    /// A file in UTF-8 with one damaged byte could also be read as Shift_JIS, as other characters. So the first byte that
    /// is not ASCII must be one that no UTF-8 has there.
    static func utf8(_ bytes: [UInt8]) -> [UInt8]? {
        do {
            _ = try UTF8Span(validating: bytes.span)
            return nil
        } catch {
            guard bytes.firstIndex(where: { $0 >= 0x80 }) == error.byteOffsets.lowerBound else { return nil }
        }
        return converted(bytes)
    }

    private static func converted(_ bytes: [UInt8]) -> [UInt8]? {
        let converter = unsafe iconv_open("UTF-8", "CP932")
        guard unsafe converter != iconv_t(bitPattern: -1) else { return nil }
        defer { unsafe iconv_close(converter) }
        // A half-width katakana is one byte there and three in UTF-8: no text grows more.
        var output = [UInt8](repeating: 0, count: bytes.count * 3)
        var input = bytes
        var (inputLeft, outputLeft) = (input.count, output.count)
        let result = unsafe input.withUnsafeMutableBytes { input in
            unsafe output.withUnsafeMutableBytes { output in
                var from = unsafe input.baseAddress?.assumingMemoryBound(to: CChar.self)
                var to = unsafe output.baseAddress?.assumingMemoryBound(to: CChar.self)
                return unsafe iconv(converter, &from, &inputLeft, &to, &outputLeft)
            }
        }
        guard result == 0, inputLeft == 0 else { return nil }
        return Array(output.dropLast(outputLeft))
    }
}
