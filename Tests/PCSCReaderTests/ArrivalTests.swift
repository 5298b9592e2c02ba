// SPDX-License-Identifier: Apache-2.0

import Arrivals
import CardModel
import CardReading
import Dispatch
import Glibc
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

/// Cards and phones that come at random moments of a search behind a real pcscd, through a transparent session.
///
/// The reader looks for cards by itself, so the search begins with the card that it reports. Time is real here:
/// `make soak-arrivals` asks for many.
extension PCSCServiceTests {
    /// What comes.
    enum Arriving: String, CaseIterable, Sendable {
        case twoPurses = "two-purses"
        case phone
        case quickPhone = "quick-phone"

        /// Those that `KAZASU_ARRIVING` names; all without it.
        static let chosen: [Arriving] = {
            guard let text = getenv("KAZASU_ARRIVING").map({ unsafe String(cString: $0) }), text != "all" else {
                return allCases
            }
            return text.split(separator: " ").compactMap { Arriving(rawValue: String($0)) }
        }()

        func field() throws -> VirtualField {
            guard let kind = ArrivalFigures.Kind(rawValue: rawValue) else {
                let file = try TestFiles.read("Fixtures/felica/two-purses.json")
                return VirtualField(cards: try VirtualCardFile.loadCards(file))
            }
            return VirtualField(cards: try ArrivalFigures.field(kind, seed: 1).cards)
        }
    }

    private static let arrivals = getenv("KAZASU_ARRIVALS").flatMap { unsafe Int(String(cString: $0)) }.map {
        min($0, 200)
    }

    @Test(arguments: Arriving.chosen) func arrivalsAtRandomMoments(_ arriving: Arriving) throws {
        var bench = try PCSCBench()
        var reader = try bench.open()
        var random = SeededGenerator(seed: 5)
        var others: [String] = []
        let count = Self.arrivals ?? 4
        for arrival in 1...count {
            // A pcscd is given five minutes of output.
            if arrival % 50 == 0 {
                reader.close()
                bench.service.stop()
                bench = try PCSCBench()
                reader = try bench.open()
            }
            let coming = try Coming(
                arriving.field(), after: .milliseconds(Int.random(in: 0..<3000, using: &random)), bench)
            let finding = try CardFinder(reader: reader).find(ArrivalSoak.codes, for: CardWait(.seconds(8)))
            let system: SystemCode? = if case .found(let found) = finding { found.system } else { nil }
            if system != .transit { others.append("arrival \(arrival): \(finding)") }
            coming.leave()
            // pcscd looks at this reader every 400 ms, and takes a card that comes before that for the one that left.
            try bench.service.waitForRemoval()
        }
        ArrivalFigures.report("PC/SC", arriving.rawValue, arrivals: count, missed: others.count, wait: nil)
        // At most 2 % of the phones open their wallet; few prove something only with an allowance, as in `ArrivalFigures`.
        let expected = arriving == .twoPurses ? 0 : Double(count) / 50
        let allowance = arriving == .twoPurses ? 0 : 3 * expected.squareRoot() + 1
        #expect(Double(others.count) <= expected + allowance, "\(others)")
    }

    /// A card on its way into the first reader.
    private final class Coming: Sendable {
        private let inserted = Mutex<VPCDCard?>(nil)
        private let isThere = DispatchSemaphore(value: 0)

        init(_ field: VirtualField, after time: DispatchTimeInterval, _ bench: PCSCBench) throws {
            let since = Mutex<ContinuousClock.Instant?>(nil)
            let device = TransparentReader { packet in
                // The field's time is the real one, from the first packet on.
                since.withLock { since in
                    let now = ContinuousClock.now
                    if let since { field.pass(now - since) }
                    since = now
                }
                guard case .answer(let answer) = field.exchange(RadioFrame(.felica(.kbps212), packet)) else {
                    return nil
                }
                return answer.frame
            }
            let port = bench.service.port
            DispatchQueue(label: "arrival").asyncAfter(deadline: .now() + time) { [self] in
                let card = try? PCSCBench.insert(
                    PCSCServiceTests.felica, uid: TransparentReader.idm, at: port, answer: device.answer)
                inserted.withLock { $0 = card }
                isThere.signal()
            }
        }

        /// Takes the card away, once it has come.
        func leave() {
            isThere.wait()
            inserted.withLock { $0?.takeOut() }
        }
    }
}
