// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CardModel
import ISO7816
import TestSupport
import Testing

@testable import CardReading

/// A chip can be made to open with anything: what was typed is compared with what it says.
@Suite("What was typed, and what the chip says")
struct TypedDataTests {
    private static let zone = MachineReadableZone(
        Array(("P<UTOSPECIMEN<<SAMPLE<TARO".padding(44) + "SP12345679UTO8004059M3606148<<<<<<<<<<<<<<<0").utf8))

    @Test(
        "A passport's number, birth date and expiry",
        arguments: [
            ("SP1234567,800405,360614", TypedMatch.same), ("sp1234567<,800405,360614", .same),
            ("SP12345679UTO8004059M3606148<<<<<<<<<<<<<<<0", .same), ("SP1234568,800405,360614", .other),
            ("SP123456,800405,360614", .other), ("SP1234567,800406,360614", .other),
            ("SP1234567,800405,360615", .other), ("XX0000001,850101,330101", .other),
        ])
    func passport(_ typed: String, _ expected: TypedMatch) throws {
        let key = try #require(PassportKey(typed))
        #expect(key.match(Self.zone) == expected)
        #expect(key.match(nil) == .unknown)
    }

    @Test("A residence card's number")
    func residence() throws {
        let number = try #require(ResidenceNumber("aa12345678bb"))
        #expect(number.match("AA12345678BB") == .same)
        #expect(number.match("XX99999999XX") == .other)
        #expect(number.match("") == .other)
        #expect(number.match(nil) == .unknown)
    }

    /// Check number B, the birth date and the expiry on the chip.
    static let numbers: [(typed: String, birth: String, expiry: String, match: TypedMatch)] = [
        ("50060120311234", "19750601", "20310601", .same), ("50060120319999", "19750601", "20310601", .same),
        // Foreigners may have the Western year.
        ("75060120311234", "19750601", "20310601", .same),
        ("01050120351234", "20190501", "20350501", .same), ("31043020351234", "20190430", "20350501", .same),
        ("64010720351234", "19890107", "20350501", .same), ("01010820351234", "19890108", "20350501", .same),
        ("15122520351234", "19261225", "20350501", .same), ("45072920351234", "19120729", "20350501", .same),
        ("01020320991234", "19621130", "20330101", .other), ("51060120311234", "19750601", "20310601", .other),
        ("50060220311234", "19750601", "20310601", .other), ("50060120321234", "19750601", "20310601", .other),
        ("50060120311234", "1975060", "20310601", .other), ("50060120311234", "ABCD0601", "20310601", .other),
        ("50060120311234", "19750601", "", .other),
    ]

    @Test("Check number B of a My Number card", arguments: numbers)
    func myNumber(_ row: (typed: String, birth: String, expiry: String, match: TypedMatch)) {
        let typed = FileCard.pin(row.typed).printedPart(CheckNumberB.length)
        #expect(
            CheckNumberB.match(typed, birth: Array(row.birth.utf8), expiry: Array(row.expiry.utf8)) == row.match)
    }

    @Test("The part of a secret that is printed on a card can be compared, and no more")
    func printedPart() {
        for (text, count) in [("50060120311234", 10), ("123", 3), ("", 0)] {
            let part = FileCard.pin(text).printedPart(CheckNumberB.length)
            #expect(part.count == count && "\(part)" == "Redacted")
        }
    }
}

extension String {
    fileprivate func padding(_ width: Int) -> String {
        self + String(repeating: "<", count: max(0, width - utf8.count))
    }
}
