// SPDX-License-Identifier: Apache-2.0

import CardCrypto
import CardModel
import CardReading
import Glibc
import ISO7816
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

/// A recording of each row of `make bench-goals` plays to the same answer. With `KAZASU_TRACES=FOLDER` they are kept
/// there, for `kazasu scan --reader replay:FILE`, `dump` or `balance`.
@Suite(.waits)
struct GoalReplayTests {
    /// A row, or a card of one.
    struct Row: CustomTestStringConvertible, Sendable {
        /// What is done with the card once it is found.
        enum Work: Sendable {
            case nothing
            /// With the lists that are known.
            case scan(CardLayouts)
            case dump, balance
        }

        let testDescription: String
        let codes: [SystemCode]
        let work: Work
        var throughLibNFC = false
        let card: @Sendable () throws -> any VirtualCard

        static func scan(_ card: ListedCard, _ name: String, _ layouts: CardLayouts) -> Row {
            Row(testDescription: "\(card.name)\(name)", codes: CardFinder.anySystem, work: .scan(layouts)) {
                try card.virtual()
            }
        }

        static func fixture(
            _ work: Work, _ codes: [SystemCode], _ name: String, _ title: String, throughLibNFC: Bool = false
        ) -> Row {
            Row(testDescription: title, codes: codes, work: work, throughLibNFC: throughLibNFC) {
                try VirtualCardFile.load(TestFiles.read("Fixtures/cards/\(name)/card.json"))
            }
        }
    }

    static let rows: [Row] = {
        // Of the rows over all lists, each list is one only where there is time for it.
        let every = getenv("KAZASU_GOALS") == nil ? 37 : 1
        let lists = ListedCard.all.enumerated().filter { $0.offset % every == 0 }.flatMap { number, card in
            var others = ListedCard.all
            others.remove(at: number)
            return [
                Row.scan(card, "", .shipped), .scan(card, ", walked", .none),
                .scan(card, ", left out", ListedCard.layouts(of: others)),
            ]
        }
        let single = [ListedCard.all.first { $0.name == "ft-83" }, try? ListedCard(fixture: "suica-p1")].compactMap(
            \.self)
        let many = ProvedScanTests.smallCards.filter { $0.systems.count > 1 }
        let others = (single + many).flatMap { [Row.scan($0, ", unknown", .shipped), .scan($0, ", walked", .none)] }
        let purses: [SystemCode] = [.transit, .commonArea, .any]
        let found = ["edy", "nanaco", "waon", "suica-p1"].map { Row.fixture(.nothing, purses, $0, "finding \($0)") }
        let read = [
            Row.fixture(.dump, CardFinder.anySystem, "suica-p1", "dump of suica-p1"),
            Row.fixture(.balance, purses, "suica-p1", "balance of suica-p1"),
            Row.fixture(.balance, purses, "suica-p1", "balance of suica-p1, libnfc", throughLibNFC: true),
        ]
        return lists + others + found + read
    }()

    /// What was found, the nodes of each system, and what was read.
    private struct Answer: Equatable {
        let card: FoundCard
        var systems: [SystemScan] = []
        var dump: CardDump?
        var services: [ServiceDump] = []

        static func == (one: Answer, other: Answer) -> Bool {
            one.card == other.card && one.systems.map(\.system) == other.systems.map(\.system)
                && one.systems.map(\.nodes) == other.systems.map(\.nodes)
                && one.dump?.systems == other.dump?.systems && one.services == other.services
        }

        init(_ reader: any Reader, _ found: FoundCard, _ row: Row) throws {
            card = found
            let target = try #require(found.feliCa)
            let session = CardSession(reader: reader, target: target)
            switch row.work {
            case .nothing: break
            case .scan(let layouts):
                let result = CardScanner(session: session, layouts: layouts, random: SeededGenerator(seed: 1)).scan()
                #expect(result.interruption == nil)
                systems = result.systems
            case .dump:
                let outcome = CardDumper(session: session).dump()
                #expect(outcome.dump.isComplete)
                dump = outcome.dump
            case .balance:
                let system = SystemHandle(code: .transit, idm: target.idm, pmm: target.pmm)
                let result = session.read([ServiceBlocks(ServiceCode(rawValue: 0x008B), .these([0]))], of: system)
                #expect(result.interruption == nil)
                services = result.services
                #expect(services.first?.blocks.count == 1)
            }
        }
    }

    @Test(arguments: rows) func plays(_ row: Row) throws {
        var (lines, recorded): ([String], Answer?) = ([], nil)
        _ = try GoalFigureTests.cost(
            row.card(), codes: row.codes, throughLibNFC: row.throughLibNFC, record: { lines.append($0) }
        ) { reader, found in
            recorded = try Answer(reader, found, row)
        }
        let text = lines.map { $0 + "\n" }.joined()
        let reader = try Self.replay(text)
        let time = Mutex(Duration.zero)
        let clock = SearchClock(now: { time.withLock { $0 } }, pause: { pause in time.withLock { $0 += pause } })
        guard
            case .found(let found) = try CardFinder(reader: reader).find(
                row.codes, requestCode: 1, for: CardWait(.zero, clock: clock))
        else { throw Fixture.NoCard() }
        #expect(try Answer(reader, found, row) == recorded)
        try Self.keep(text, row.testDescription)
    }

    /// With the same numbers in place of random ones, since the answers depend on them.
    @Test(.enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
    func documentsPlay() throws {
        for document in try GoalFigureTests.documents() {
            var lines: [String] = []
            _ = try GoalFigureTests.cost(document, record: { lines.append($0) })
            let text = lines.map { $0 + "\n" }.joined()
            let reader = try Self.replay(text)
            let picc = try #require(try reader.activate(document.request), "\(document.name)")
            try document.read(ISO7816Session(reader: reader, picc: picc, request: document.request), picc)
            try Self.keep(text, document.name)
        }
    }

    @Test func applicationsPlay() throws {
        var lines: [String] = []
        _ = try GoalFigureTests.desfireInformation(record: { lines.append($0) })
        let text = lines.map { $0 + "\n" }.joined()
        try GoalFigureTests.readApplications(on: Self.replay(text))
        try Self.keep(text, "info of a DESFire with 20 applications")
    }

    private static func replay(_ text: String) throws -> ReplayReader {
        ReplayReader(try Transcript(parsing: Array(text.utf8)))
    }

    private static func keep(_ text: String, _ name: String) throws {
        guard let folder = getenv("KAZASU_TRACES") else { return }
        let name = String(name.map { $0 == " " || $0 == "," || $0 == "/" ? "-" : $0 })
        let file = try #require(fopen("\(unsafe String(cString: folder))/\(name).jsonl", "wb"))
        fputs(text, file)
        fclose(file)
    }
}
