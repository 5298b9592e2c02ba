// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import Testing
import VirtualReader

struct SystemCodesTests {
    /// A card that lists its systems is asked once; the ones that it does not list are not looked for.
    @Test func cardListsItsSystems() throws {
        let fixture = try Fixture("suica-p1")
        let session = try fixture.session()
        let before = fixture.field.statistics.exchanges
        #expect(try session.systemCodes() == [.transit, .commonArea, SystemCode(rawValue: 0x86A7)])
        #expect(fixture.field.statistics.exchanges == before + 1)
    }

    @Test(arguments: [("awkward", SystemCode.octopus), ("felica-lite-s", .ndef)])
    func pollsForSystemsThatCannotBeListed(_ name: String, _ code: SystemCode) throws {
        #expect(try Fixture(name).session().systemCodes().contains(code))
    }

    @Test func doesNotListACardThatLeft() throws {
        let fixture = try Fixture("suica-p1", faults: .cardAway(from: 2))
        let session = try fixture.session()
        #expect(throws: ReadingError.cardLost) { try session.systemCodes() }
    }
}
