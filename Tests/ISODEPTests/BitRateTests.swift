// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ISODEP
import Testing

@Suite("Bit rates and options in the answers of cards")
struct BitRateTests {
    static let answers: [(text: String, fromCard: [Int], toCard: [Int], isEqual: Bool, nad: Bool)] = [
        ("0675778102 80", [106, 212, 424, 848], [106, 212, 424, 848], false, false),
        ("0675B38103 80", [106, 212, 424], [106, 212, 424], true, true), ("01", [106], [106], false, false),
        ("0275", [106], [106], false, false), ("0478110180", [106, 212], [106, 212], false, false),
        ("0368 02 01", [106], [106], false, false), ("0448 01 80", [106], [106], false, true),
    ]

    @Test(arguments: answers)
    func ats(_ row: (text: String, fromCard: [Int], toCard: [Int], isEqual: Bool, nad: Bool)) throws {
        guard let answer = AnswerToSelect(try Hex.decode(row.text)) else {
            #expect(row.text == "0275" || row.text == "0478110180" || row.text == "0368 02 01", "cut short")
            return
        }
        #expect(answer.bitRates.fromCard == row.fromCard)
        #expect(answer.bitRates.toCard == row.toCard)
        #expect(answer.bitRates.mustBeEqual == row.isEqual)
        #expect(answer.supportsNAD == row.nad)
    }

    /// Bits 0 to 2 are the rates to the card, 4 to 6 those from it, 7 that both must be equal; bit 3 says nothing.
    @Test func everyFlagHasItsOwnBit() {
        for bit in 0..<8 {
            let rates = BitRates(rawValue: 1 << UInt8(bit))
            let rate = [212, 424, 848]
            #expect(rates.toCard == [106] + (bit < 3 ? [rate[bit]] : []))
            #expect(rates.fromCard == [106] + ((4...6).contains(bit) ? [rate[bit - 4]] : []))
            #expect(rates.mustBeEqual == (bit == 7))
        }
    }

    /// PM1: rates B3 to both sides, no NAD, application data in the card's own way.
    @Test func atqb() throws {
        let own = try #require(AnswerToRequestB(Hex.decode("50 11223344 000005E0 B381A1")))
        #expect(own.bitRates.fromCard == [106, 212, 424] && own.bitRates.mustBeEqual)
        #expect(!own.supportsNAD && own.application == nil)
        let coded = try #require(AnswerToRequestB(Hex.decode("50 11223344 20AABB11 008177")))
        #expect(coded.supportsNAD)
        #expect(coded.application?.family == 0x20)
        #expect(coded.application?.checksum == [0xAA, 0xBB])
        #expect(coded.application?.counts == 0x11)
    }
}
