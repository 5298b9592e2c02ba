// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import SimulatedChips
import TestSupport
import Testing
import VirtualReader

@testable import PaSoRiReader

struct PhoneTests {
    /// What `poll` and `balance` look for, on the clock of the field.
    @Test(arguments: SimulatedPaSoRi.allCases)
    func findsTheExpressCardAndKeepsTheWalletShut(_ model: SimulatedPaSoRi) throws {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/felica/express-phone.json"))
        let phone = try #require(field.cards.first as? VirtualPhone)
        let reader = try model.open(VirtualUSBLink(model.chip(field, InjectedUSBFaults())), CancellationToken())
        defer { reader.close() }
        let clock = SearchClock(now: { field.now }, pause: { field.pass($0) })
        let finding = try CardFinder(reader: reader).find(
            [.transit, .commonArea, .any], for: CardWait(.zero, clock: clock))
        guard case .found(let found) = finding, found.system == .transit else {
            Issue.record("\(finding)")
            return
        }
        #expect(
            try CardFinder(reader: reader).findAll(for: CardWait(.zero, clock: clock)).map(\.technology) == [.felica])
        #expect(phone.walletOpenings == 0)
        #expect(phone.taps == 1, "no gap in the field was long")
    }
}
