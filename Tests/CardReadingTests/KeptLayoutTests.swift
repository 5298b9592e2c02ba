// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import TestSupport
import Testing

/// Layouts of cards that were scanned before.
struct KeptLayoutTests {
    /// The first listed card, of whose systems no other card is known.
    private static func alone() throws -> (card: ListedCard, others: CardLayouts) {
        let card = try #require(ListedCard.all.first)
        let codes = Set(card.systems.map(\.code))
        return (card, ListedCard.layouts(of: ListedCard.all.filter { codes.isDisjoint(with: $0.systems.map(\.code)) }))
    }

    private static func kept(_ card: ListedCard, besides layouts: CardLayouts = .none) throws -> KeptLayouts {
        let scan = try MeasuredScan(card.virtual(), .none)
        var kept = KeptLayouts()
        _ = kept.add(scan.systems, of: scan.systems.map(\.system.code), besides: layouts)
        return kept
    }

    /// The second card of an unknown kind takes as few exchanges as a known one.
    @Test func theNextCardIsCheap() throws {
        let (card, others) = try Self.alone()
        let first = try MeasuredScan(card.virtual(), others)
        let second = try MeasuredScan(card.virtual(), others.adding(Self.kept(card)))
        let known = try MeasuredScan(card.virtual(), .shipped)
        #expect(first.exchanges > known.exchanges)
        #expect(second.exchanges == known.exchanges)
        #expect(second.shown == first.shown && second.shown == known.shown)
    }

    @Test func everyCardIsKeptOnce() throws {
        for card in ListedCard.all {
            let scan = try MeasuredScan(card.virtual(), .shipped)
            let codes = scan.systems.map(\.system.code)
            var kept = KeptLayouts()
            #expect(kept.add(scan.systems, of: codes, besides: .shipped).isEmpty, "\(card.name) is known")
            #expect(kept.add(scan.systems, of: codes, besides: .none) == card.systems.map(\.code))
            #expect(kept.add(scan.systems, of: codes, besides: .none).isEmpty)
            #expect(kept.entries.count == card.systems.count)
        }
    }

    /// What a card did not list itself may be incomplete; the nodes of FeliCa Lite are fixed.
    @Test(arguments: ["octopus", "felica-lite-s"]) func keepsOnlyLists(_ name: String) throws {
        let scan = CardScanner(session: try Fixture(name).session(), layouts: .none).scan()
        var kept = KeptLayouts()
        #expect(kept.add(scan.systems, of: scan.systems.map(\.system.code), besides: .none).isEmpty)
        #expect(kept == KeptLayouts())
    }

    /// Whatever is kept, a scan finds what asking for every node finds.
    @Test func neverChangesAnAnswer() throws {
        var random = SeededGenerator(seed: 39)
        for round in TestEffort.rounds(40) {
            var kept = KeptLayouts()
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                // Parts of other cards, under these systems.
                let card = ListedCard.all[Int.random(in: ListedCard.all.indices, using: &random)]
                let scan = try MeasuredScan(card.virtual(), .shipped)
                let systems = ListedCard.all.randomElement(using: &random)?.systems.map(\.code) ?? []
                let changed = scan.systems.map { system in
                    var system = system
                    system.system.code = systems.randomElement(using: &random) ?? system.system.code
                    system.nodes = system.nodes.filter { _ in Int.random(in: 0..<8, using: &random) > 0 }
                    return system
                }
                _ = kept.add(changed, of: systems, besides: .none)
            }
            let card = ListedCard.all[Int.random(in: ListedCard.all.indices, using: &random)]
            let proved = try MeasuredScan(card.virtual(), CardLayouts.shipped.adding(kept))
            let walked = try MeasuredScan(card.virtual(), .none)
            #expect(proved.shown == walked.shown, "\(round), \(card.name)")
            #expect(proved.exchanges <= walked.exchanges + 9, "\(round), \(card.name)")
        }
    }

    // MARK: Text

    @Test func text() throws {
        let card = ListedCard(
            name: "",
            systems: [.init(code: .transit, nodes: [.root, .init(code: 0x40, end: 0x7FF), .init(code: 0x8B)])])
        let text = "kazasu.layouts/1\n0003 0003 0000 0040 008B\n"
        let kept = try Self.kept(card)
        #expect(kept.text == text)
        #expect(KeptLayouts(parsing: Array(text.utf8)) == kept)
        #expect(KeptLayouts(parsing: Array("kazasu.layouts/1\n".utf8)) == KeptLayouts())
    }

    /// The text of any cards is read again, and contains neither IDm nor key version.
    @Test func textsAreReadAgain() throws {
        var kept = KeptLayouts()
        for card in ListedCard.all {
            let scan = try MeasuredScan(card.virtual(), .shipped)
            _ = kept.add(scan.systems, of: scan.systems.map(\.system.code), besides: .none)
            #expect(KeptLayouts(parsing: Array(kept.text.utf8)) == kept)
            #expect(kept.text.utf8.count <= KeptLayouts.longestText)
            #expect(kept.entries.count <= 64)
        }
        #expect(kept.entries.count == 64)
        let last = try #require(ListedCard.all.last?.systems.last)
        #expect(kept.text.split(separator: "\n")[1].hasPrefix(last.code.description), "the newest first")
        for secret in ["1234567890", "03123456", "0101 "] { #expect(!kept.text.contains(secret)) }
    }

    static let faulty = [
        "", "\n", "kazasu.layouts/1", "kazasu.layouts/2\n", "kazasu.layouts/1\n\n", "kazasu.layouts/1\n0003\n",
        "kazasu.layouts/1\n0003 0003\n", "kazasu.layouts/1\n0003 0003 \n", "kazasu.layouts/1\n0003 0003 0040\n",
        "kazasu.layouts/1\n0003 0003 0000 0040 0040\n", "kazasu.layouts/1\n0003 0003 0000 0048 0040\n",
        "kazasu.layouts/1\n0003 0003 0000 004\n", "kazasu.layouts/1\n0003 0003 0000 004b\n",
        "kazasu.layouts/1\n0003 0003 0000  0040\n", "kazasu.layouts/1\n0003 0003, 0000\n",
        "kazasu.layouts/1\n0003 FE00,0003 0000\n", "kazasu.layouts/1\n+003 0003 0000\n",
        "kazasu.layouts/1\n0003 0003 0000\n0003 0003 0000\n", "kazasu.layouts/1\r\n0003 0003 0000\r\n",
        "kazasu.layouts/1\n0003 0003 0000\n0003", "kazasu.layouts/1\n0003 0003 0000 0040\0\n",
    ]

    @Test(arguments: faulty) func rejects(_ text: String) {
        #expect(KeptLayouts(parsing: Array(text.utf8)) == nil)
    }

    @Test func rejectsWhatIsTooLong() {
        func text(entries: Int, nodes: Int, systems: Int = 1) -> [UInt8] {
            func codes(_ count: Int, from first: Int, _ separator: String) -> String {
                (first..<first + count).map { UInt16(clamping: $0) }.map { NodeCode(rawValue: $0).description }
                    .joined(separator: separator)
            }
            let lines = (0..<entries).map { number in
                codes(1, from: 0x1000 + number, "") + " " + codes(systems, from: 3, ",") + " "
                    + codes(nodes, from: 0, " ")
            }
            return Array(("kazasu.layouts/1\n" + lines.map { $0 + "\n" }.joined()).utf8)
        }
        #expect(KeptLayouts(parsing: text(entries: 64, nodes: 256, systems: 16))?.entries.count == 64)
        #expect(text(entries: 64, nodes: 256, systems: 16).count == KeptLayouts.longestText)
        #expect(KeptLayouts(parsing: text(entries: 65, nodes: 2)) == nil)
        #expect(KeptLayouts(parsing: text(entries: 1, nodes: 257)) == nil)
        #expect(KeptLayouts(parsing: text(entries: 1, nodes: 1, systems: 17)) == nil)
    }

    /// Any damage gives either nothing or a text that is written the same again.
    @Test func damage() throws {
        let whole = Array(try Self.kept(Self.alone().card).text.utf8)
        var random = SeededGenerator(seed: 4)
        for _ in TestEffort.rounds(2000) {
            var text = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: text.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text[place] = UInt8.random(in: 0...255, using: &random)
                case 1: text.remove(at: place)
                default: text = Array(text.prefix(place)) + [UInt8.random(in: 32...70, using: &random)]
                }
                if text.isEmpty { text = [0] }
            }
            if let kept = KeptLayouts(parsing: text) { #expect(Array(kept.text.utf8) == text) }
        }
    }
}
