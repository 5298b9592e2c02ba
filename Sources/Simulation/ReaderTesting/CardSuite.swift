// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import VirtualReader

/// A suite of cards that deviate, each from a file, on a stage on which answers can collide.
protocol CardSuite {
    /// What its cases are about, for readers that skip them.
    static var subject: String { get }
    var report: ConformanceReport { get set }
    /// Open, with no card before it.
    var reader: any Reader { get }
    /// The place before it.
    var stage: ConformanceStage { get }

    mutating func runCases() throws
}

extension CardSuite {
    /// Runs every case that applies; the reader is closed afterwards.
    ///
    /// - Throws: what the stage throws.
    mutating func run() throws {
        defer { reader.close() }
        guard stage.limits.isEmpty else {
            report.skipped.append("\(Self.subject) (\(ConformanceStage.Limit.noFaults.rawValue))")
            return
        }
        try runCases()
    }

    /// Whether cases of this kind of card apply.
    func has(_ technology: Technology) -> Bool { reader.information.technologies.contains(technology) }

    /// Puts the cards of a file before the reader.
    func place(_ file: String) throws {
        // The end of the selection before must not be the first thing that a card hears.
        if has(.typeA) { _ = try? reader.activate(.typeA()) }
        for card in try VirtualCardFile.loadCards(Array(file.utf8)) { try stage.place(card) }
    }
}
