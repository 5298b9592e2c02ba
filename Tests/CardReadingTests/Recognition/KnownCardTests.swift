// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing

/// What a card is by the way in which it answered when it was selected, and the table behind it.
struct KnownCardTests {
    static let uid: [UInt8] = [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80]

    @Test func tableIsValid() {
        #expect(KnownCard.faults.isEmpty)
        let lengths: [KnownCard.Clue: ClosedRange<Int>] = [.atqaSAK: 3...3, .sak: 1...1, .application: 5...16]
        for kind in KnownCard.all {
            if let range = lengths[kind.clue] { #expect(range.contains(kind.value.count), "\(kind.id)") }
            if kind.clue == .ats { #expect(kind.value.first.map(Int.init) == kind.value.count, "\(kind.id)") }
        }
    }

    static let cards: [(UInt16, UInt8, String?, String?)] = [
        (0x0044, 0x00, nil, "type2"), (0x0004, 0x08, nil, "classic1k"), (0x0004, 0x09, nil, "classicMini"),
        (0x0002, 0x18, nil, "classic4k"), (0x0004, 0x11, nil, "plusSL2"), (0x0344, 0x20, "067577810280", "desfire"),
        (0x0004, 0x28, nil, "classicEmulation"), (0x0004, 0x08, "0C757784024D46505F454E47", "classic1k"),
        (0x0044, 0x20, "067877810280", "vehicle"),
        (0x0344, 0x20, "0578008102", nil), (0x0344, 0x20, nil, nil), (0x0044, 0x40, nil, nil),
    ]

    @Test(arguments: cards) func byItsAnswers(_ atqa: UInt16, _ sak: UInt8, _ ats: String?, _ id: String?) throws {
        let bytes = try ats.map { try Hex.decode($0) }
        let target = TypeATarget(uid: Self.uid, atqa: atqa, sak: sak, ats: bytes, isISODEP: ats != nil)
        let card = CardRecognizer.recognize(.typeA(target))
        #expect(card?.kind.id == id)
        #expect(card?.kind.certainty != .certain)
    }

    @Test func reportsNothingForUninformativeAnswers() {
        #expect(CardRecognizer.recognize(.typeA(TypeATarget(uid: Self.uid, isISODEP: true))) == nil)
        #expect(CardRecognizer.recognize(.typeB(TypeBTarget(pupi: [1, 2, 3, 4]))) == nil)
    }
}
