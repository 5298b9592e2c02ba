// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import TestSupport
import Testing

/// The exchanges of scans, as `Docs/proved-scan.md` has them.
struct ScanFigureTests {
    /// A row of its table: cards, exchanges of the walk and the proof on average, and the worst card.
    private struct Row {
        let name: String
        private var cards = 0
        private var walked = 0
        private var proved = 0
        private var worst = Int.min

        init(_ name: String) { self.name = name }

        mutating func add(_ card: ListedCard, _ layouts: CardLayouts = .shipped) throws {
            let walk = try MeasuredScan(card.virtual(), .none).exchanges
            let proof = try MeasuredScan(card.virtual(), layouts).exchanges
            (cards, walked, proved, worst) = (cards + 1, walked + walk, proved + proof, max(worst, proof - walk))
        }

        private func mean(_ sum: Int) -> String {
            let tenths = (sum * 10 + cards / 2) / max(1, cards)
            return "\(tenths / 10).\(tenths % 10)"
        }

        /// The cells behind the name.
        var figures: String {
            let most = worst > 0 ? "+\(worst)" : worst < 0 ? "−\(-worst)" : "0"
            return "| \(cards) | \(mean(walked)) | \(mean(proved)) | \(most) |"
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
        return rows + [leftOut, known, unknown, again]
    }

    @Test func pagesHaveThem() throws {
        let english = String(decoding: try TestFiles.read("Docs/proved-scan.md"), as: UTF8.self)
        let japanese = String(decoding: try TestFiles.read("Docs/proved-scan.ja.md"), as: UTF8.self)
        for row in try Self.rows() {
            #expect(english.contains("| \(row.name) \(row.figures)\n"), "\(row.name) \(row.figures)")
            #expect(japanese.contains(" \(row.figures)\n"), "\(row.name) \(row.figures)")
        }
    }
}
