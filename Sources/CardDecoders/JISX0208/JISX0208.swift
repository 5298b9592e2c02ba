// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import Glibc

/// The 94 by 94 cells of JIS X 0208 and what they are in Unicode.
///
/// The C library is asked, by its converter `EUC-JP`, once a process for all cells. Of the seven cells in which the
/// converters of the world differ it gives: 2140 U+FF3C, 2141 U+301C, 2142 U+2016, 215D U+2212, 2171 U+00A2,
/// 2172 U+00A3, 224C U+00AC. Those are the cells of Unicode's own JIS0208.TXT but for 2140, which is U+005C there: a
/// half-width backslash within full-width text.
public enum JISX0208 {
    /// The character of a cell, row in the high byte and column in the low one, both 21 to 7E as on a card.
    ///
    /// - Returns: `nil` for a cell that has none, and for what is no cell.
    public static func character(_ cell: UInt16) -> Unicode.Scalar? {
        guard let index = index(UInt8(cell >> 8), UInt8(cell & 0xFF)) else { return nil }
        return codes.element(at: index).flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }
    }

    /// Whether the C library has the converter; without it every cell is shown by its number.
    public static var isAvailable: Bool { !codes.isEmpty }

    private static func index(_ row: UInt8, _ column: UInt8) -> Int? {
        guard (0x21...0x7E).contains(row), (0x21...0x7E).contains(column) else { return nil }
        return (Int(row) - 0x21) * 94 + Int(column) - 0x21
    }

    /// 94 × 94 code points, 0 for none; empty when there is no converter.
    private static let codes: [UInt16] = {
        let converter = unsafe iconv_open("UTF-16LE", "EUC-JP")
        guard unsafe converter != iconv_t(bitPattern: -1) else { return [] }
        defer { unsafe iconv_close(converter) }
        var codes: [UInt16] = []
        codes.reserveCapacity(94 * 94)
        for row in UInt8(0xA1)...0xFE {
            for column in UInt8(0xA1)...0xFE { codes.append(unsafe convert(row, column, converter)) }
        }
        return codes
    }()

    private static func convert(_ row: UInt8, _ column: UInt8, _ converter: iconv_t?) -> UInt16 {
        var input = (CChar(bitPattern: row), CChar(bitPattern: column))
        var output: (UInt8, UInt8) = (0, 0)
        var (inputLeft, outputLeft) = (2, 2)
        let result = unsafe withUnsafeMutableBytes(of: &input) { input in
            unsafe withUnsafeMutableBytes(of: &output) { output in
                var from = unsafe input.baseAddress?.assumingMemoryBound(to: CChar.self)
                var to = unsafe output.baseAddress?.assumingMemoryBound(to: CChar.self)
                return unsafe iconv(converter, &from, &inputLeft, &to, &outputLeft)
            }
        }
        guard result == 0, inputLeft == 0, outputLeft == 0 else {
            // Back to the initial state after a cell that has no character.
            unsafe iconv(converter, nil, nil, nil, nil)
            return 0
        }
        return UInt16(output.0) | UInt16(output.1) << 8
    }
}
