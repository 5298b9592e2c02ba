// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import Glibc
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

/// A recording of each row of `make bench-goals` plays to the same answer. With `KAZASU_TRACES=FOLDER` they are kept
/// there, for `kazasu scan --reader replay:FILE`.
@Suite(.waits)
struct GoalReplayTests {
    /// A row, or a card of one.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let codes: [SystemCode]
        /// The lists that a scan knows; `nil` where the card is only found.
        let layouts: CardLayouts?
        let card: @Sendable () throws -> any VirtualCard

        static func scan(_ card: ListedCard, _ name: String, _ layouts: CardLayouts) -> Row {
            Row(testDescription: "\(card.name)\(name)", codes: CardFinder.anySystem, layouts: layouts) {
                try card.virtual()
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
        let found = ["edy", "nanaco", "waon", "suica-p1"].map { name in
            Row(testDescription: "finding \(name)", codes: [.transit, .commonArea, .any], layouts: nil) {
                try VirtualCardFile.load(TestFiles.read("Fixtures/cards/\(name)/card.json"))
            }
        }
        return lists + others + found
    }()

    /// What was found, and the nodes of each system.
    private struct Answer: Equatable {
        let card: FoundCard
        var systems: [SystemScan] = []

        static func == (one: Answer, other: Answer) -> Bool {
            one.card == other.card && one.systems.map(\.system) == other.systems.map(\.system)
                && one.systems.map(\.nodes) == other.systems.map(\.nodes)
        }

        init(_ reader: any Reader, _ found: FoundCard, _ row: Row) throws {
            card = found
            guard let layouts = row.layouts else { return }
            let result = CardScanner(
                session: CardSession(reader: reader, target: try #require(found.feliCa)), layouts: layouts,
                random: SeededGenerator(seed: 1)
            ).scan()
            #expect(result.interruption == nil)
            systems = result.systems
        }
    }

    @Test(arguments: rows) func plays(_ row: Row) throws {
        var (lines, recorded): ([String], Answer?) = ([], nil)
        _ = try GoalFigureTests.cost(row.card(), codes: row.codes, record: { lines.append($0) }) { reader, found in
            recorded = try Answer(reader, found, row)
        }
        let text = lines.map { $0 + "\n" }.joined()
        let reader = ReplayReader(try Transcript(parsing: Array(text.utf8)))
        let time = Mutex(Duration.zero)
        let clock = SearchClock(now: { time.withLock { $0 } }, pause: { pause in time.withLock { $0 += pause } })
        guard
            case .found(let found) = try CardFinder(reader: reader).find(
                row.codes, requestCode: 1, for: CardWait(.zero, clock: clock))
        else { throw Fixture.NoCard() }
        #expect(try Answer(reader, found, row) == recorded)
        guard let folder = getenv("KAZASU_TRACES") else { return }
        let name = row.testDescription.map { $0 == " " || $0 == "," ? "-" : $0 }
        let file = try #require(fopen("\(unsafe String(cString: folder))/\(String(name)).jsonl", "wb"))
        fputs(text, file)
        fclose(file)
    }
}
