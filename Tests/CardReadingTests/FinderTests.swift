// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import Testing
import VirtualReader

struct FinderTests {
    @Test func firstAnsweringCodeWins() throws {
        let reader = try Fixture("suica-p1").reader()
        let finder = CardFinder(reader: reader)
        for (codes, first) in [
            ([SystemCode.transit, .commonArea], SystemCode.transit), ([.commonArea, .transit], .commonArea),
            ([.lite, .ndef, .commonArea], .commonArea),
        ] {
            guard case .found(let found) = try finder.find(codes, requestCode: 1, for: .once),
                let target = found.feliCa, let code = found.system
            else {
                Issue.record("nothing found")
                continue
            }
            #expect(code == first)
            #expect(target.requestData == first.rawValue)
        }
    }

    /// One Polling when the card has the first code. One that has a later code is asked twice more for those before it, and
    /// is selected again.
    @Test func costInPollings() throws {
        let fixture = try Fixture("suica-p1")
        _ = try CardFinder(reader: fixture.reader()).find([.transit, .commonArea], for: .once)
        #expect(fixture.field.statistics.exchanges == 1)
        _ = try CardFinder(reader: fixture.reader()).find([.lite, .ndef, .commonArea], for: .once)
        #expect(fixture.field.statistics.exchanges == 1 + 3 + 2 * 2 + 1)
    }

    @Test func emptyFieldHasNoCard() throws {
        let reader = InProcessReader(VirtualField(cards: []))
        #expect(try CardFinder(reader: reader).find([.any], for: .once) == .nothing)
        #expect(try CardFinder(reader: reader).find([.transit, .commonArea], for: .once) == .nothing)
    }

    @Test(arguments: [Duration.zero, .seconds(5)])
    func namesACardWithoutTheSystems(_ timeout: Duration) throws {
        let reader = try Fixture("felica-lite-s").reader()
        guard
            case .other(.felica(let target)) = try CardFinder(reader: reader).find(
                [.transit, .commonArea], for: CardWait(timeout))
        else {
            Issue.record("the card was not seen")
            return
        }
        #expect(target.pmm.icType == 0xF1)
    }

    @Test func findsACardThatArrivesLater() throws {
        let fixture = try Fixture("suica-p1", faults: .cardAway(from: 1, until: 7))
        guard case .found = try CardFinder(reader: fixture.reader()).find([.transit], for: CardWait(nil)) else {
            Issue.record("not found")
            return
        }
    }

    /// A reader that says when an answer came damaged, as the PaSoRi do, and gives its first ones damaged.
    private final class DamagingReader: Reader {
        private let reader: InProcessReader
        private var left: Int

        init(_ reader: InProcessReader, damaged: Int) { (self.reader, left) = (reader, damaged) }

        var information: ReaderInformation { reader.information }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            left -= 1
            if left >= 0 { throw .corrupted(status: 0) }
            return try reader.activate(request)
        }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            try reader.transceive(frame, timeout: timeout)
        }

        func close() { reader.close() }
    }

    /// Else another system of the card would win, and a transit card be taken for something else.
    @Test(arguments: [1, 2]) func retriesADamagedAnswer(_ damaged: Int) throws {
        let fixture = try Fixture("suica-p1")
        let reader = DamagingReader(fixture.reader(), damaged: damaged)
        let finding = try CardFinder(reader: reader).find([.transit, .commonArea], for: .once)
        guard case .found(let found) = finding, found.system == .transit else {
            Issue.record("\(finding)")
            return
        }
        #expect(fixture.field.statistics.exchanges == 1)
    }

    @Test func cancellingEndsTheWaiting() throws {
        let token = CancellationToken()
        token.cancel()
        let finder = CardFinder(reader: InProcessReader(VirtualField(cards: [])), cancellation: token)
        #expect(throws: ReadingError.cancelled) { try finder.find([.any], for: CardWait(nil)) }
    }

    /// The card answers at 212 kbit/s only; polling begins there.
    @Test func findsACardAt212Only() throws {
        guard
            case .found(let found) = try CardFinder(reader: try Fixture("awkward").reader())
                .find([.any], requestCode: 1, for: .once), let target = found.feliCa
        else {
            Issue.record("not found")
            return
        }
        #expect(target.bitRate == .kbps212)
    }
}
