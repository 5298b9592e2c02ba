// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML
import Testing

/// Files that are not what they should be, and the line or key that the error names.
@Suite struct RefusalTests {
    private static let block = "16010002166CE33BE6210A000001E300"
    private static let flipper =
        "Filetype: Flipper NFC device\nVersion: 4\nDevice type: FeliCa\nUID: 0101031234567890\n"

    static let cases: [(text: String, error: DocumentError)] = [
        ("Filetype: Flipper NFC device\nVersion: 5\n", .malformedLine(line: 2, expected: .init(.flipperVersion))),
        (
            "Filetype: Flipper NFC device\nVersion: 4\nDevice type: Mifare Classic\n",
            .missing(key: "Mifare Classic type")
        ),
        (
            "Filetype: Flipper NFC device\nVersion: 4\nDevice type: Mifare DESFire\n",
            .notImported(kind: "Mifare DESFire")
        ),
        (
            "Filetype: Flipper NFC device\nVersion: 4\nDevice type: Mifare Classic\nMifare Classic type: 1K\nBlock 64: 00\n",
            .malformedLine(line: 5, expected: .init(.blockNumberUpTo, "63"))
        ),
        ("+Sector: 0\nxx\n", .malformedLine(line: 2, expected: .init(.bytesInHex, "16"))),
        ("+Sector: 40\n", .malformedLine(line: 1, expected: .init(.form, "+Sector: 0"))),
        (
            "+Sector: 0\n" + [String](repeating: block, count: 5).joined(separator: "\n") + "\n",
            .malformedLine(line: 6, expected: .init(.bytesInHex, "16"))
        ),
        (
            "# MIFARE Classic 1K\n64 \(block)\n", .malformedLine(line: 2, expected: .init(.blockNumberUpTo, "63"))
        ),
        (
            "# MIFARE Classic 1K\n6 \(block)\n6 \(block)\n", .malformedLine(line: 3, expected: .init(.uniqueBlock))
        ),
        ("Filetype: Flipper NFC device\nVersion: 4\nDevice type: FeliCa\n", .missing(key: "UID")),
        (
            flipper + "Data format version: 2\nSystem found: 2\nSystem 00: 0003\n",
            .malformedLine(line: 7, expected: .init(.systemsBefore, "2", "1"))
        ),
        (
            flipper + "Data format version: 2\nSystem 00: 0003\nPublic blocks read: 1\n",
            .malformedLine(line: 7, expected: .init(.blocksBefore, "1", "0"))
        ),
        (
            flipper + "Data format version: 1\nBlock x: 00 00 \(block)\n",
            .malformedLine(line: 6, expected: .init(.blockNumberUpTo, "27"))
        ),
        (
            flipper + "Data format version: 1\nBlock 0: \(block)\n",
            .malformedLine(line: 6, expected: .init(.bytesInHex, "18"))
        ),
        (
            flipper + "Data format version: 2\nSystem 00: 0003\nBlock 0: 00 00 \(block)\n",
            .malformedLine(line: 7, expected: .init(.blockOfService))
        ),
        (
            flipper + "Data format version: 2\nBlock 0: 00 00 \(block)\nSystem 00: 0003\n",
            .malformedLine(line: 7, expected: .init(.noSystemBesideLite))
        ),
        (
            "0003 090F 0000 \(block)\n0003 090F 0001 1601\n",
            .malformedLine(line: 2, expected: .init(.bytesInHex, "16"))
        ),
        (
            "0003 090F 0000 \(block)\n0003 090F 0000 \(block.reversed().map(String.init).joined())\n",
            .malformedLine(line: 2, expected: .init(.uniqueBlock))
        ),
        (
            "0003 090F 0000 \(block)\nhello\n",
            .malformedLine(line: 2, expected: .init(.form, "SYSTEM SERVICE BLOCK HEX"))
        ),
        (
            "# FELICA SYSTEM_CODE = 0003\n# 0024:000f  Cyclic\n  0025:0000:\(block)\n",
            .malformedLine(line: 3, expected: .init(.blockOfNamedService))
        ),
        ("1234:0000:\(block)\n", .missing(key: "FELICA SYSTEM_CODE")),
        (
            "0123456789ABCDEF0123456789ABCDEF\n",
            .malformedLine(line: 1, expected: .init(.historyRecord))
        ),
        (
            "> FF B0 00 00 00\n< \(block) 90 00\n",
            .malformedLine(line: 2, expected: .init(.serviceSelection))
        ),
        (
            "> FF A4 00 01 02 0F 09\n< 90 00\n> FF B0 00 00 00\n< 16 01 90 00\n",
            .malformedLine(line: 4, expected: .init(.paddedBlocks))
        ),
        (
            #"{"Created":"proxmark3","FileType":"15 v3","blocks":{}}"#,
            .notImported(kind: "15 v3")
        ),
        (
            #"{"FileType":"mfc v2","blocks":{"0":"04A1"}}"#,
            .malformed(key: "blocks.0", expected: .init(.hexDigits, "32"))
        ),
        (
            #"{"FileType":"mfc v2","blocks":{"256":"04A1"}}"#,
            .malformed(key: "blocks.256", expected: .init(.decimalByteName))
        ),
        (
            #"{"schema":"kazasu.dump/1","card":{"technology":"typeA"},"classic":{"size":"1K","blocks":{"64":null}}}"#,
            .malformed(key: "classic.blocks.64", expected: .init(.blockNumberUpTo, "63"))
        ),
        (
            #"{"schema":"kazasu.dump/1","card":{"technology":"typeA"},"classic":{"size":"1K","blocks":{"1":"0?"}}}"#,
            .malformed(key: "classic.blocks.1", expected: .init(.bytesInHex, "16"))
        ),
        (
            #"{"Created":"proxmark3","FileType":"mfu","blocks":{"0":"04A1"}}"#,
            .malformed(key: "blocks.0", expected: .init(.hexDigits, "8"))
        ),
        (
            #"{"tagId":"04a1b2c3","scannedAt":{"timeInMillis":0},"mifareClassic":{}}"#,
            .notImported(kind: "mifareClassic")
        ),
        (#"{"cardType":"CEPAS","tagId":"AQIDBA=="}"#, .notImported(kind: "CEPAS")),
        (
            "Filetype: Flipper NFC device\nVersion: 4\nDevice type: NTAG/Ultralight\nUID: 04 01 02 03 04 05 06\n"
                + "Pages total: 2\nPage 0: 00 00 00 00\n",
            .malformedLine(line: 6, expected: .init(.pagesBefore, "2", "1"))
        ),
        (
            #"{"cards":[{"cardType":"MifareClassic"}]}"#, .notImported(kind: "MifareClassic")
        ),
        (
            "<card type=\"4\">\n<idm>AQEDEjRWeJA=</idm>\n</cart>",
            .malformedLine(line: 3, expected: .init(.xml, "mismatched tag"))
        ),
        ("<card type=\"0\"/>", .missing(key: "card with type 4 (FeliCa)")),
        (
            "<!DOCTYPE card [<!ENTITY a \"b\">]>\n<card type=\"4\">&a;</card>",
            .malformedLine(line: 1, expected: .init(.noDocumentType))
        ),
        (
            "<card type=\"4\" id=\"0101031234567890\">\n<block address=\"0\">FgEAAhZs4zvmIQoAAAHjAA==</block></card>",
            .malformedLine(line: 2, expected: .init(.blockInService))
        ),
        (
            "  *  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 |................|\n  0: \(spaced) |................|\n",
            .malformedLine(line: 1, expected: .init(.blockBeforeAsterisk))
        ),
    ]

    private static var spaced: String {
        stride(from: 0, to: 32, by: 2).map { String(block.dropFirst($0).prefix(2)) }.joined(separator: " ")
    }

    @Test(arguments: cases) func namesThePlace(_ text: String, _ error: DocumentError) {
        #expect(throws: error) { try DumpFormatRegistry.complete.read(Array(text.utf8)) }
    }

    @Test(arguments: ["", "   \n\n", "hello\n", "{}", "[]", "<html></html>", "0003\n", "\u{0}\u{1}\u{2}"])
    func otherFilesAreOfNoFormat(_ text: String) {
        #expect(throws: DocumentError.unknownFormat) { try DumpFormatRegistry.complete.read(Array(text.utf8)) }
    }

    /// The IDm has four bits for the number of a system.
    @Test func moreSystemsThanACardCanHaveAreRefused() {
        let text = (0..<17).map { "# system 00\($0 + 10)\n" }.joined()
        #expect(throws: DocumentError.malformedLine(line: 17, expected: .init(.atMostSystems, "16"))) {
            try DumpFormatRegistry.complete.read(Array(text.utf8))
        }
    }

    /// Zeros before a number do not make it another number, but a name of a million digits is none.
    @Test func endlessNumbersAreRefused() {
        let zeros = String(repeating: "0", count: 1_000_000)
        let text = #"{"tagId":"0101031234567890","felica":{"systems":{""# + zeros + #"3":{}}}}"#
        #expect(throws: DocumentError.self) { try DumpFormatRegistry.complete.read(Array(text.utf8)) }
    }

    @Test func aFileThatIsTooLongIsRefused() {
        let bytes = [UInt8](repeating: 0x20, count: DumpSource.longest + 1)
        #expect(throws: DocumentError.tooLong(bytes: bytes.count, limit: DumpSource.longest)) {
            try DumpFormatRegistry.complete.recognize(bytes)
        }
    }

    /// Lines with an asterisk stand for many blocks; a file of them must not stand for more than any card has.
    @Test func repeatedBlocksAreBounded() {
        var text = "System 0003 (Suica)\n"
        let zeros = Array(repeating: "00", count: 16).joined(separator: " ")
        for service in 0..<40 {
            let code = String(0x1000 + service * 64 + 0x0B, radix: 16)
            text +=
                "Random Service 1: read w/o key (0x\(code))\n0000: \(zeros) |.|\n*     \(zeros) |.|\nFFFF: \(zeros) |.|\n"
        }
        #expect(throws: DocumentError.malformedLine(line: 69, expected: .init(.fewerRepeats))) {
            try DumpFormatRegistry.complete.read(Array(text.utf8))
        }
    }
}
