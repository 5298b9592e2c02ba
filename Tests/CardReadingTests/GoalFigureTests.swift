// SPDX-License-Identifier: Apache-2.0

import Arrivals
import CardModel
import CardReading
import Glibc
import PN53xReader
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

/// From tap to answer, in milliseconds of the simulated chip: frames, card and serial line, from opening the reader on.
///
/// `make bench-goals` prints the figures. The simulator counts them; nothing here uses the reader's own estimates.
@Suite(.waits)
struct GoalFigureTests {
    /// What a job cost.
    struct Cost: Hashable, CustomStringConvertible {
        var frames = 0
        var pollings = 0
        /// The pollings before the first other command.
        var pollingsBefore = 0
        /// Milliseconds.
        var air = 0.0
        var line = 0.0
        var pauses = 0.0

        var sum: Double { air + line }

        var description: String {
            func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
            return
                "\(pollings) Pollings, \(frames - pollings) commands, air and card \(number(air)), line \(number(line)), "
                + "sum \(number(sum)), pauses \(number(pauses)) ms"
        }
    }

    /// The reader's and the field's own time; pauses are over at once.
    private final class Time: Sendable {
        private let paused = Mutex(Duration.zero)
        private let field: VirtualField
        private let server: PN532Server

        init(_ field: VirtualField, _ server: PN532Server) { (self.field, self.server) = (field, server) }

        var pauses: Duration { paused.withLock { $0 } }

        var clock: SearchClock {
            SearchClock(
                now: { self.field.statistics.time + self.server.statistics.lineTime + self.pauses },
                pause: { time in
                    self.field.pass(time)
                    self.paused.withLock { $0 += time }
                })
        }
    }

    /// Finds a card by `pn532:`, or through libnfc, and reads it.
    ///
    /// - Parameter record: receives the lines of a recording of that.
    static func cost(
        _ card: any VirtualCard, codes: [SystemCode], throughLibNFC: Bool = false,
        record: ((String) -> Void)? = nil,
        _ read: (any Reader, FoundCard) throws -> Void
    ) throws -> Cost {
        let field = VirtualField(cards: [card])
        let server = try PN532Server(field: field)
        defer { server.stop() }
        let cancellation = CancellationToken()
        let opened =
            throughLibNFC
            ? try LibNFCDriver(patience: 60).open("pn532_uart:\(server.path)", cancellation: cancellation)
            : try PN532Driver(patience: 60).open("pn532:\(server.path)", cancellation: cancellation)
        let device = try #require(opened)
        let reader = record.map { RecordingReader(device, write: $0) } ?? device
        let time = Time(field, server)
        guard
            case .found(let found) = try CardFinder(reader: reader).find(
                codes, requestCode: 1, for: CardWait(.zero, clock: time.clock))
        else { throw Fixture.NoCard() }
        let before = field.statistics.count(of: 0)
        try read(reader, found)
        reader.close()
        server.stop()
        func milliseconds(_ time: Duration) -> Double { time / .milliseconds(1) }
        return Cost(
            frames: field.statistics.exchanges, pollings: field.statistics.count(of: 0), pollingsBefore: before,
            air: milliseconds(field.statistics.time), line: milliseconds(server.statistics.lineTime),
            pauses: milliseconds(time.pauses))
    }

    static func scan(_ card: ListedCard, _ layouts: CardLayouts = .shipped) throws -> Cost {
        try cost(card.virtual(), codes: CardFinder.anySystem) { reader, found in
            let target = try #require(found.feliCa)
            let result = CardScanner(
                session: CardSession(reader: reader, target: target), layouts: layouts,
                random: SeededGenerator(seed: 1)
            ).scan()
            #expect(result.interruption == nil)
            #expect(result.systems.count == card.systems.count, "\(card.name)")
        }
    }

    private static func fixture(_ name: String) throws -> any VirtualCard {
        try VirtualCardFile.load(TestFiles.read("Fixtures/cards/\(name)/card.json"))
    }

    /// What `balance` sends: Pollings, and one read of one block.
    static func balance(throughLibNFC: Bool) throws -> Cost {
        try cost(fixture("suica-p1"), codes: [.transit, .commonArea, .any], throughLibNFC: throughLibNFC) {
            reader, found in
            let target = try #require(found.feliCa)
            let session = CardSession(reader: reader, target: target)
            let system = SystemHandle(code: .transit, idm: target.idm, pmm: target.pmm)
            let result = session.read([ServiceBlocks(ServiceCode(rawValue: 0x008B), .these([0]))], of: system)
            #expect(result.interruption == nil && result.services.first?.blocks.count == 1)
        }
    }

    static func dump() throws -> Cost {
        try cost(fixture("suica-p1"), codes: CardFinder.anySystem) { reader, found in
            let target = try #require(found.feliCa)
            let outcome = CardDumper(session: CardSession(reader: reader, target: target)).dump()
            #expect(outcome.dump.isComplete && outcome.dump.systems.count == 3)
        }
    }

    /// The same figures each time, to the last digit: neither what a read of the chip returns nor a slow thread decides anything.
    @Test func sameTwice() throws {
        let many = ProvedScanTests.smallCards.filter { $0.systems.count > 1 }
        for card in ListedCard.all.prefix(3) + many.prefix(2) {
            let costs = try (0..<5).map { _ in try Self.scan(card) }
            #expect(Set(costs).count == 1, "\(card.name): \(costs)")
        }
        let costs = try (0..<5).map { _ in try Self.balance(throughLibNFC: true) }
        #expect(Set(costs).count == 1, "libnfc: \(costs)")
    }

    /// The tally that `-v` shows agrees with the simulated field, which shares no code with it.
    @Test func tallyAgreesWithTheField() throws {
        for card in ListedCard.all.prefix(5) {
            let field = VirtualField(cards: [try card.virtual()])
            let tally = Mutex(ExchangeTally())
            let reader = RecordingReader(
                InProcessReader(field), note: { entry in tally.withLock { $0.add(entry.event, took: .zero) } })
            let clock = SearchClock.of(field)
            guard
                case .found(let found) = try CardFinder(reader: reader).find(
                    CardFinder.anySystem, requestCode: 1, for: CardWait(.zero, clock: clock)),
                let target = found.feliCa
            else { throw Fixture.NoCard() }
            let result = CardScanner(
                session: CardSession(reader: reader, target: target), random: SeededGenerator(seed: 1)
            ).scan()
            #expect(result.interruption == nil)
            let (counted, time) = (tally.withLock { $0 }, field.statistics.time)
            #expect(counted.pollings + counted.commands == field.statistics.exchanges)
            let ratio = counted.expected / time
            #expect((0.97...1.03).contains(ratio), "\(card.name): \(counted.expected) for \(time)")
        }
    }

    /// Longer than a test may take: `make bench-goals` asks for it.
    @Test(.enabled(if: getenv("KAZASU_GOALS") != nil)) func printed() throws {
        func report(_ name: String, _ costs: [Cost]) {
            let count = Double(max(1, costs.count))
            var mean = Cost()
            for cost in costs {
                mean.air += cost.air / count
                mean.line += cost.line / count
                mean.pauses += cost.pauses / count
                mean.frames += cost.frames
                mean.pollings += cost.pollings
            }
            (mean.frames, mean.pollings) = (mean.frames / costs.count, mean.pollings / costs.count)
            print("\(name): \(mean)")
        }
        let proved = try ListedCard.all.map { try Self.scan($0) }
        report("74 lists", proved)
        let walked = try ListedCard.all.map { try Self.scan($0, .none) }
        report("74 lists, walked", walked)
        let gain = zip(proved, walked).map { $0.sum - $1.sum }.max() ?? 0
        print("worst proof over its walk: \((gain * 10).rounded() / 10) ms")
        var leftOut: [Cost] = []
        for (number, card) in ListedCard.all.enumerated() {
            var others = ListedCard.all
            others.remove(at: number)
            leftOut.append(try Self.scan(card, ListedCard.layouts(of: others)))
        }
        report("each list left out", leftOut)
        let worst = zip(zip(leftOut, walked), ListedCard.all).map { ($0.0.sum - $0.1.sum, $1.name) }.sorted {
            $0.0 > $1.0
        }
        print("worst of those over its walk:", worst.prefix(4).map { "\($1) \(($0 * 10).rounded() / 10) ms" })
        if let card = ListedCard.all.first(where: { $0.name == "ft-83" }) {
            report("one system", [try Self.scan(card)])
        }
        let unknown = try ListedCard(fixture: "suica-p1")
        report("Suica of three systems in no table", [try Self.scan(unknown)])
        report("the same, walked", [try Self.scan(unknown, .none)])
        for card in ProvedScanTests.smallCards where card.systems.count > 1 {
            report(card.name, [try Self.scan(card)])
            report("the same, walked", [try Self.scan(card, .none)])
        }
        for isLibNFC in [false, true] {
            report("balance of a Suica, \(isLibNFC ? "libnfc" : "pn532:")", [try Self.balance(throughLibNFC: isLibNFC)])
        }
        report("dump of a Suica of three systems in no table", [try Self.dump()])
        for name in ["edy", "nanaco", "waon", "suica-p1"] {
            let card = try Self.fixture(name)
            let cost = try Self.cost(card, codes: [.transit, .commonArea, .any]) { _, _ in }
            report("finding \(name)", [cost])
        }
        try Self.printDocuments()
        report("info of a DESFire with 20 applications", [try Self.desfireInformation()])
        report("setting up an NTAG 424 DNA", [try Self.ntag424Setup()])
    }
}
