// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import TestSupport
import Testing

@Suite("JIS X 0208")
struct JISX0208Tests {
    /// Every cell that CPython's own EUC-JP table knows, a line each: the cell and the code point.
    static let otherTable = """
        for row in range(0x21, 0x7F):
            for column in range(0x21, 0x7F):
                try:
                    character = bytes([row | 0x80, column | 0x80]).decode("euc_jp")
                except UnicodeDecodeError:
                    continue
                print(f"{row << 8 | column:04X} {ord(character):04X}")
        """

    @Test("All 6,879 cells are those of CPython's table, and no more")
    func allCells() throws {
        let result = try ChildProcess.run("/usr/bin/env", ["python3", "-c", Self.otherTable])
        try #require(result.end == .exited(0))
        var ours: [String] = []
        for code in UInt16(0x2121)...0x7E7E {
            guard let character = JISX0208.character(code) else { continue }
            ours.append("\(Hex.encode(code, digits: 4)) \(Hex.encode(character.value, digits: 4))")
        }
        #expect(ours.count == 6_879)
        #expect(ours == result.output.split(separator: "\n").map(String.init))
    }

    @Test(
        "Cells of Unicode's JIS0208.TXT",
        arguments: [
            (0x2121, 0x3000), (0x2126, 0x30FB), (0x2131, 0xFFE3), (0x213D, 0x2015), (0x2330, 0xFF10), (0x2422, 0x3042),
            (0x2522, 0x30A2), (0x3021, 0x4E9C), (0x4E7E, 0x806F), (0x5021, 0x5F0C), (0x7426, 0x7199), (0x2141, 0x301C),
            (0x215D, 0x2212), (0x2142, 0x2016), (0x2171, 0x00A2), (0x2172, 0x00A3), (0x224C, 0x00AC), (0x3C56, 0x8ECA),
            (0x2140, 0xFF3C),
        ] as [(UInt16, UInt32)])
    func vectors(cell: UInt16, code: UInt32) {
        #expect(JISX0208.character(cell)?.value == code)
    }

    @Test(
        "Cells without a character, and bytes that are not a cell",
        arguments: [0x2D21, 0x7427, 0x2120, 0x217F, 0x0000, 0xFFFF] as [UInt16])
    func none(code: UInt16) {
        #expect(JISX0208.character(code) == nil)
        #expect(JISText(decoding: [UInt8(code >> 8), UInt8(code & 0xFF)]).runs == [.unassigned(code)])
    }

    /// Bytes, their parts, and the plain text.
    struct Case: Sendable {
        let hex: String
        let runs: [JISRun]
        let text: String
    }

    static let cases = [
        Case(hex: "", runs: [], text: ""),
        Case(hex: "467C4B5C", runs: [.text("日本")], text: "日本"),
        Case(hex: "467CFFF14B5C", runs: [.text("日"), .externalCharacter(1), .text("本")], text: "日{外字1}本"),
        Case(hex: "FFF7FFFA", runs: [.externalCharacter(7), .missingCharacter], text: "{外字7}{欠字}"),
        Case(
            hex: "FFF0FFF8FFF9FFFBFFFF",
            runs: [
                .unassigned(0xFFF0), .unassigned(0xFFF8), .unassigned(0xFFF9), .unassigned(0xFFFB), .unassigned(0xFFFF),
            ], text: "{FFF0}{FFF8}{FFF9}{FFFB}{FFFF}"),
        Case(hex: "2D21467C", runs: [.unassigned(0x2D21), .text("日")], text: "{2D21}日"),
        Case(hex: "467C4B", runs: [.text("日"), .strayByte(0x4B)], text: "日{4B}"),
        Case(hex: "FF", runs: [.strayByte(0xFF)], text: "{FF}"),
    ]

    @Test("Invalid characters keep their place", arguments: cases)
    func runs(_ item: Case) throws {
        let text = JISText(decoding: try Hex.decode(item.hex))
        #expect(text.runs == item.runs)
        #expect(text.description == item.text)
        #expect(text.isEmpty == item.runs.isEmpty)
        #expect(text.isPlain == !item.text.contains("{"))
    }

    @Test("Private codes in one text, each named once")
    func externalCharacters() throws {
        let text = JISText(decoding: try Hex.decode("FFF2467CFFF1FFF2"))
        #expect(text.externalCharacters == [2, 1])
    }

    @Test("Any bytes: two make one character or one named code", arguments: 1...200 as ClosedRange<UInt64>)
    func anyBytes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bytes = (0..<Int.random(in: 0...90, using: &generator)).map { _ in
            Bool.random(using: &generator)
                ? UInt8.random(in: 0x21...0x7E, using: &generator) : UInt8.random(in: 0...255, using: &generator)
        }
        let text = JISText(decoding: bytes)
        let units = text.runs.reduce(0) { count, run in
            if case .text(let text) = run { count + text.unicodeScalars.count } else { count + 1 }
        }
        #expect(units == (bytes.count + 1) / 2)
    }
}
