// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import Testing

@Suite("Status words")
struct StatusWordTests {
    @Test func tableIsValid() {
        #expect(StatusWordMeaning.faults.isEmpty, "\(StatusWordMeaning.faults)")
        #expect(StatusWordMeaning.all.count > 60)
        #expect(StatusWordMeaning.all.allSatisfy { !$0.text.japanese.isEmpty })
    }

    /// Every word that the tables of the facts name, with a part of what it must say.
    static let meanings: [(word: StatusWord, english: String)] = [
        (0x9000, "done"), (0x6110, "16"), (0x6100, "256"), (0x6200, "no information"), (0x6281, "corrupted"),
        (0x6282, "end of file"), (0x6283, "deactivated or locked"), (0x6284, "control information"),
        (0x6285, "terminated"), (0x6286, "sensor"), (0x6287, "record"), (0x6242, "query"), (0x6300, "failed"),
        (0x6381, "filled up"), (0x63C3, "3"), (0x63C0, "0"), (0x6400, "unchanged"), (0x6401, "immediate"),
        (0x6500, "changed"), (0x6581, "memory failed"), (0x6612, "security"), (0x6700, "length"), (0x6701, "format"),
        (0x6702, "Lc"), (0x6800, "CLA"), (0x6881, "channel"), (0x6882, "secure"), (0x6883, "last command"),
        (0x6884, "chaining"), (0x6900, "not allowed"), (0x6981, "structure"), (0x6982, "PIN or key"),
        (0x6983, "blocked"), (0x6984, "reference data"), (0x6985, "conditions"), (0x6986, "no current EF"),
        (0x6987, "missing"), (0x6988, "wrong"), (0x6A00, "parameters"), (0x6A80, "data field"), (0x6A81, "function"),
        (0x6A82, "not found"), (0x6A83, "record not found"), (0x6A84, "memory"), (0x6A85, "TLV"), (0x6A86, "P1 P2"),
        (0x6A87, "Lc"), (0x6A88, "not found"), (0x6A89, "exists"), (0x6A8A, "DF name"), (0x6B00, "offset"),
        (0x6C10, "16"), (0x6D00, "instruction"), (0x6E00, "class"), (0x6F00, "diagnosis"), (0x91AF, "DESFire"),
        (0x9F10, "GSM"),
    ]

    @Test(arguments: meanings) func means(_ row: (word: StatusWord, english: String)) throws {
        let meaning = try #require(row.word.meaning)
        #expect(meaning.english.contains(row.english), "\(meaning.english)")
        #expect(meaning.japanese != meaning.english)
    }

    @Test(arguments: [0xFFFF, 0x0000, 0x1234, 0x9001, 0x9150] as [StatusWord])
    func unknownStaysUnknown(_ word: StatusWord) {
        #expect(word.meaning == nil)
    }

    @Test func parts() {
        let words = (0...0xFFFF).map { StatusWord(rawValue: UInt16($0)) }
        #expect(words.count { $0.isSuccess } == 257)
        #expect(words.count { $0.isWarning } == 512)
        #expect(words.count { $0.counter != nil } == 16)
        #expect(words.count { $0.bytesAvailable != nil } == 256 && words.count { $0.correctLength != nil } == 256)
        #expect(words.count { $0.isValid } == 31 * 256)
        #expect(words.allSatisfy { StatusWord($0.sw1, $0.sw2) == $0 })
        #expect(StatusWord(rawValue: 0x6100).bytesAvailable == 256 && StatusWord(rawValue: 0x6C00).correctLength == 256)
        #expect("\(StatusWord(rawValue: 0x6A82))" == "6A82" && StatusWord("6a82") == .fileNotFound)
    }
}
