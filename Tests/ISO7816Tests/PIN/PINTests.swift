// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import Testing

@Suite("PINs")
struct PINTests {
    @Test func tellsNothing() {
        let pin = PIN("2525".utf8)
        let request = PINRequest(PINGuardTests.pin1, pin)
        var dumped = ""
        dump(pin, to: &dumped)
        dump(request, to: &dumped)
        dump([pin], to: &dumped)
        for text in [
            "\(pin)", String(reflecting: pin), "\([pin])", "\(request)", String(describing: Optional(pin)), dumped,
        ] {
            #expect(text.contains("Redacted"), "\(text)")
            #expect(!text.contains("2525") && !text.contains("32") && !text.contains("50, 53"), "\(text)")
        }
        #expect(Mirror(reflecting: pin).children.isEmpty)
    }

    /// Asked of the type at run time, since a new conformance would compile.
    @Test func cannotBeComparedOrEncoded() {
        let pin: Any = PIN("2525".utf8)
        #expect(!(pin is any Encodable))
        #expect(!(pin is any Decodable))
        #expect(!(pin is any Hashable))
        #expect(!(pin is any Equatable))
        #expect(!(pin is any CustomPlaygroundDisplayConvertible))
    }

    @Test func wiped() {
        let pin = PIN("2525".utf8)
        #expect(!pin.isSpent)
        pin.wipe()
        #expect(pin.isSpent)
        #expect(!pin.matches(.digits(4)))
        #expect(pin.matches(.exactly([0, 0, 0, 0])), "the memory is overwritten")
        pin.wipe()
    }

    static let tries: [(status: StatusWord, tries: TriesLeft)] = [
        (0x63C3, .count(3)), (0x63C1, .count(1)), (0x63CF, .count(15)), (0x63C0, .locked), (0x6983, .locked),
        (0x6984, .locked), (0x9000, .notNeeded), (0x6300, .unknown(0x6300)), (0x6700, .unknown(0x6700)),
        (0x6381, .refused(0x6381)), (0x6A88, .refused(0x6A88)),
    ]

    @Test(arguments: tries) func triesLeft(_ row: (status: StatusWord, tries: TriesLeft)) {
        #expect(TriesLeft(query: row.status) == row.tries)
    }
}
