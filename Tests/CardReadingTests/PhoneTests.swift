// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import NFCTransport
import TestSupport
import Testing
import VirtualReader

/// Searches before a phone: its Express card is read, and its wallet stays shut.
struct PhoneTests {
    private let phone: VirtualPhone
    private let field: VirtualField
    private let reader: InProcessReader

    init() throws {
        field = try VirtualCardFile.loadField(TestFiles.read("Fixtures/felica/express-phone.json"))
        phone = try #require(field.cards.first as? VirtualPhone)
        reader = InProcessReader(field)
    }

    private var clock: SearchClock { SearchClock(now: { [field] in field.now }, pause: { [field] in field.pass($0) }) }

    /// What the commands look for: `balance`, `history --card suica`, `scan`, `poll --system 0003`.
    static let codes: [[SystemCode]] = [[.transit, .commonArea, .any], [.transit], CardFinder.anySystem]

    @Test(arguments: codes) func systems(_ codes: [SystemCode]) throws {
        let finding = try CardFinder(reader: reader, clock: clock).find(codes, requestCode: 1, timeout: .zero)
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
        let found = try CardFinder(reader: reader, clock: clock).findAll(timeout: .zero)
        #expect(found.map(\.technology) == [.felica])
        #expect(phone.walletOpenings == 0)
    }

    @Test func whatADumpLooksFor() throws {
        let requests = reader.information.feliCaBitRates.flatMap { rate in
            CardFinder.anySystem.map { ActivationRequest.felica($0, bitRate: rate) }
        }
        let found = try CardFinder(reader: reader, clock: clock).findFirst(
            requests + [.typeA(), .typeB()], timeout: .zero)
        guard case .felica(.transit, _, _, _)? = found?.request else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(phone.walletOpenings == 0)
    }

    /// Who asks for one other system gets just that: the wallet opens, and 0003 is not polled for.
    @Test func nothingButWhatWasAskedFor() throws {
        let finding = try CardFinder(reader: reader, clock: clock).find([.commonArea], timeout: .zero)
        #expect(finding == .nothing)
        #expect(phone.walletOpenings == 1)
    }

    /// A phone that comes while the search goes on: once in a while its first requests are those for other systems, which
    /// have to be made some time, since the next card may have no other.
    @Test func mostPhonesThatComeLaterAreRead() throws {
        var read = 0
        let frames = 40...400
        for frame in frames {
            let phone = VirtualPhone(express: ArrivalTests.twoPurses())
            let field = VirtualField(cards: [phone], faults: .cardAway(from: 1, until: frame))
            let clock = SearchClock(now: { field.now }, pause: { field.pass($0) })
            let finding = try CardFinder(reader: InProcessReader(field), clock: clock)
                .find([.transit, .commonArea, .any], timeout: .seconds(20))
            if case .found(let found) = finding, found.system == .transit { read += 1 }
        }
        #expect(read * 4 >= frames.count * 3, "\(read) of \(frames.count)")
    }
}

/// What the plain cards pay for it.
struct OtherCardTimeTests {
    /// A card without 0003 is found in a fifth of a second, on the field's own clock.
    @Test(arguments: ["edy", "felica-lite-s", "octopus"]) func aCardWithOtherSystemsIsFoundSoon(_ name: String) throws {
        let fixture = try Fixture(name)
        let field = fixture.field
        let clock = SearchClock(now: { field.now }, pause: { field.pass($0) })
        guard
            case .found = try CardFinder(reader: fixture.reader(), clock: clock)
                .find([.transit, .commonArea, .any], requestCode: 1, timeout: .zero)
        else {
            Issue.record("not found")
            return
        }
        #expect(field.now < .milliseconds(200), "\(field.now)")
    }
}
