// SPDX-License-Identifier: Apache-2.0

import Arrivals
import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Searches before a phone: its Express card is read, and its wallet stays shut.
struct PhoneTests {
    private let phone: VirtualPhone
    private let field: VirtualField
    private let reader: InProcessReader

    init() throws {
        field = try VirtualField(cardFile: TestFiles.read("Fixtures/felica/express-phone.json"))
        phone = try #require(field.cards.first as? VirtualPhone)
        reader = InProcessReader(field)
    }

    private var clock: SearchClock { SearchClock(now: { [field] in field.now }, pause: { [field] in field.pass($0) }) }

    /// What the commands look for: `balance`, `history --card suica`, `scan`, `poll --system 0003`.
    static let codes: [[SystemCode]] = [[.transit, .commonArea, .any], [.transit], CardFinder.anySystem]

    @Test(arguments: codes) func systems(_ codes: [SystemCode]) throws {
        let finding = try CardFinder(reader: reader).find(codes, requestCode: 1, for: CardWait(.zero, clock: clock))
        guard case .found(let found) = finding, let target = found.feliCa, found.system == .transit else {
            Issue.record("\(finding)")
            return
        }
        #expect(target.requestData == 0x0003)
        #expect(phone.walletOpenings == 0)
        #expect(CardScanner(session: CardSession(reader: reader, target: target)).scan().interruption == nil)
        #expect(phone.walletOpenings == 0)
    }

    @Test func anyKindOfCard() throws {
        let found = try CardFinder(reader: reader).findAll(for: CardWait(.zero, clock: clock))
        #expect(found.map(\.technology) == [.felica])
        #expect(phone.walletOpenings == 0)
    }

    @Test func systemsOfADump() throws {
        let requests = reader.information.feliCaBitRates.flatMap { rate in
            CardFinder.anySystem.map { ActivationRequest.felica($0, bitRate: rate) }
        }
        let found = try CardFinder(reader: reader).findFirst(
            requests + [.typeA(), .typeB()], for: CardWait(.zero, clock: clock))
        guard case .felica(.transit, _, _, _)? = found?.request else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(phone.walletOpenings == 0)
    }

    /// A search for another system finds just that one: the wallet opens, and 0003 is not polled for.
    @Test func returnsOnlyWhatWasRequested() throws {
        let finding = try CardFinder(reader: reader).find([.commonArea], for: CardWait(.zero, clock: clock))
        #expect(finding == .nothing)
        #expect(phone.walletOpenings == 1)
    }

    /// Phones that come at any moment of a search open their wallet in at most 2 % of cases, and other cards are found within a second on average. In the field's own time, which depends on nothing else.
    @Test(arguments: ArrivalFigures.Kind.allCases) func arrivalsInMidSearch(_ kind: ArrivalFigures.Kind) throws {
        let field = try ArrivalFigures.field(kind, seed: 1)
        let figures = ArrivalFigures(
            kind, InProcessReader(field), arrivals: 200, clock: .of(field), arrivedAt: { field.arrivedAt })
        figures.report("in process")
        #expect(figures.isMet, "\(figures) \(figures.faults)")
    }

    /// A reader that reports cards itself is not polled in between: a phone hears 0003 first, whenever it comes.
    @Test func reportingReaderOpensNoWallet() throws {
        for moment in stride(from: 50, to: 3000, by: 50) {
            let reader = ReportingReader(VirtualPhone(express: ArrivalTests.twoPurses()), at: .milliseconds(moment))
            let finding = try CardFinder(reader: reader).find(
                ArrivalSoak.codes, for: CardWait(.seconds(5), clock: .of(reader.field)))
            guard case .found(let found) = finding, found.system == .transit else {
                Issue.record("\(moment) ms: \(finding)")
                continue
            }
        }
    }

    /// A reader that reports when a card has come, and answers nothing before.
    private final class ReportingReader: Reader {
        let field = VirtualField()
        private let reader: InProcessReader
        private let card: any VirtualCard
        private let moment: Duration
        private var hasCome = false

        init(_ card: any VirtualCard, at moment: Duration) {
            (reader, self.card, self.moment) = (InProcessReader(field), card, moment)
        }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            try reader.transceive(frame, timeout: timeout)
        }
        func close() { reader.close() }

        func waitForEvent(within time: Duration) throws(TransportError) -> Bool {
            let left = max(.zero, moment - field.now)
            guard !hasCome, left <= time else {
                field.pass(time)
                return true
            }
            field.pass(left)
            field.place(card)
            hasCome = true
            return true
        }
    }
}

/// What the plain cards pay for it.
struct OtherCardTimeTests {
    /// A card without 0003 is found in a fifth of a second, on the field's own clock.
    @Test(arguments: ["edy", "felica-lite-s", "octopus"]) func findsACardWithOtherSystemsSoon(_ name: String) throws {
        let fixture = try Fixture(name)
        let field = fixture.field
        let clock = SearchClock(now: { field.now }, pause: { field.pass($0) })
        guard
            case .found = try CardFinder(reader: fixture.reader())
                .find([.transit, .commonArea, .any], requestCode: 1, for: CardWait(.zero, clock: clock))
        else {
            Issue.record("not found")
            return
        }
        #expect(field.now < .milliseconds(200), "\(field.now)")
    }
}
