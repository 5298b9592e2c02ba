// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import TestSupport
import Testing
import VirtualReader

/// The time of scans, as `Docs/proved-scan.md` has it: what the simulated field counts on air and in the card, from the first
/// Polling on.
struct ScanFigureTests {
    /// A row of its table: cards, milliseconds of the walk and the proof on average, and of the card on which the proof does worst.
    private struct Row {
        /// How much longer than its walk the proof of any card may take.
        static let limit = Duration.milliseconds(5)

        let name: String
        private var cards = 0
        private var walked = Duration.zero
        private var proved = Duration.zero
        private(set) var worst = Duration.seconds(-60)

        init(_ name: String) { self.name = name }

        mutating func add(_ card: ListedCard, _ layouts: CardLayouts = .shipped) throws {
            try add({ try card.virtual() }, layouts)
        }

        mutating func add(_ card: () throws -> some VirtualPacketCard, _ layouts: CardLayouts = .shipped) throws {
            let walk = try MeasuredScan(card(), .none)
            let proof = try MeasuredScan(card(), layouts)
            (cards, walked, proved) = (cards + 1, walked + walk.time, proved + proof.time)
            worst = max(worst, proof.time - walk.time)
        }

        private func mean(_ sum: Duration) -> Int { Int((sum / max(1, cards) / .milliseconds(1)).rounded()) }

        /// The cells behind the name.
        var figures: String {
            let most = Int((worst / .milliseconds(1)).rounded())
            let difference = most > 0 ? "+\(most)" : most < 0 ? "−\(-most)" : "0"
            return "| \(cards) | \(mean(walked)) | \(mean(proved)) | \(difference) |"
        }
    }

    private static func rows() throws -> [Row] {
        var rows: [Row] = []
        for change in ProvedScanTests.changes {
            var row = Row(change.testDescription)
            for (number, known) in ListedCard.all.enumerated() {
                var random = SeededGenerator(seed: UInt64(number + 1))
                var card = known
                let place = Int.random(in: card.systems.indices, using: &random)
                guard change.apply(&card.systems[place].nodes, card.systems[place].code, &random) else { continue }
                try row.add(card)
            }
            rows.append(row)
        }
        var leftOut = Row("list left out")
        for (number, card) in ListedCard.all.enumerated() {
            var others = ListedCard.all
            others.remove(at: number)
            try leftOut.add(card, ListedCard.layouts(of: others))
        }
        var known = Row("Suica of three systems, 65 nodes, in the tables")
        if let card = ListedCard.all.first(where: { $0.name == "ft-02" }) { try known.add(card) }
        var unknown = Row("Suica of three systems, 82 nodes, in no table")
        var again = Row("the same, once another such card was scanned")
        let card = try ListedCard(fixture: "suica-p1")
        try unknown.add(card)
        try again.add(card, ListedCard.layouts(of: ListedCard.all + [card]))
        var small = Row("one unknown system of 1 to 8 nodes")
        var many = Row("sixteen unknown systems of 1 to 8 nodes")
        for card in ProvedScanTests.smallCards {
            if card.systems.count == 1 { try small.add(card) } else { try many.add(card) }
        }
        var mute = Row("without Search Service Code")
        for card in ListedCard.all {
            try mute.add { TamperedCard(try card.virtual()) { $0[1] == 0x0A ? nil : $1 } }
        }
        return rows + [leftOut, known, unknown, again, small, many, mute]
    }

    @Test func pagesHaveThem() throws {
        let english = String(decoding: try TestFiles.read("Docs/proved-scan.md"), as: UTF8.self)
        let japanese = String(decoding: try TestFiles.read("Docs/proved-scan.ja.md"), as: UTF8.self)
        for row in try Self.rows() {
            #expect(row.worst <= Row.limit, "\(row.name): \(row.worst)")
            #expect(english.contains("| \(row.name) \(row.figures)\n"), "\(row.name) \(row.figures)")
            #expect(japanese.contains(" \(row.figures)\n"), "\(row.name) \(row.figures)")
        }
    }
}
