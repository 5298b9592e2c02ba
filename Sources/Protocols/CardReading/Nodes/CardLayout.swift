// SPDX-License-Identifier: Apache-2.0

internal import CCardLayouts
package import CardModel

/// The nodes of a system as cards of some kind have them.
package struct CardLayout: Hashable, Sendable {
    /// The codes, ascending, the root area first.
    package let codes: [UInt16]

    /// - Parameter codes: in any order.
    package init(_ codes: some Sequence<UInt16>) {
        self.codes = Set(codes).union([AreaCode.root.rawValue]).sorted()
    }

    var count: Int { codes.count }

    func code(at index: Int) -> UInt16? { codes.indices.contains(index) ? codes[index] : nil }

    func contains(_ code: UInt16) -> Bool { self.code(at: codes.position(of: code)) == code }

    /// Returns how many nodes only one of two layouts has.
    func difference(from other: CardLayout) -> Int { Set(codes).symmetricDifference(other.codes).count }
}

extension RandomAccessCollection<UInt16> where Index == Int {
    /// Returns the index of the first element that is not less; the elements ascend.
    func position(of code: UInt16) -> Int {
        var range = startIndex..<endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = self[middle] < code ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}

extension UInt16 {
    /// Whether this node code is an area's: attributes 00 and 01, and 20 and 21 on phones.
    var isArea: Bool { self & 0x1E == 0 }
}

/// The layouts of known cards. They decide which questions a scan asks, and never what it finds.
package struct CardLayouts: Sendable {
    /// The systems of known cards, in any order.
    private let rows: [Row]
    /// Those of cards that were scanned before.
    private var kept = KeptLayouts()

    /// A system of a known card.
    package struct Row: Sendable {
        let system: SystemCode
        /// Equal numbers are systems of one card.
        let card: Int
        let layout: CardLayout

        package init(system: SystemCode, card: Int, layout: CardLayout) {
            (self.system, self.card, self.layout) = (system, card, layout)
        }
    }

    package init(_ rows: [Row]) {
        self.rows = rows
    }

    /// No layouts: every node is asked for.
    package static let none = CardLayouts([])

    /// Those that come with Kazasu: 74 lists of felica-tool, which `NOTICE` names.
    package static let shipped = CardLayouts(
        (0..<Int(kazasu_layouts_count)).map { number in
            // The C module's constants last as long as the process.
            let row = unsafe kazasu_layouts[number]
            let nodes = unsafe UnsafeBufferPointer(start: kazasu_layout_nodes + Int(row.first), count: Int(row.count))
            return Row(system: SystemCode(rawValue: row.system), card: Int(row.list), layout: unsafe CardLayout(nodes))
        })

    /// Returns these layouts and, before them, those of cards that were scanned before.
    package func adding(_ kept: KeptLayouts) -> CardLayouts {
        var layouts = self
        layouts.kept = kept
        return layouts
    }

    /// Whether a known card has this layout of a system.
    func have(_ layout: CardLayout, of system: SystemCode) -> Bool {
        rows.contains { $0.system == system && $0.layout == layout }
    }

    /// Returns what to predict a system from: the layouts of cards with the same systems, then all of this system; those
    /// of all systems if no known card has this one.
    func candidates(for system: SystemCode, of card: [SystemCode]) -> LayoutCandidates {
        let seen = kept.entries.filter { $0.system == system }
        let known = rows.filter { $0.system == system }
        guard !seen.isEmpty || !known.isEmpty else {
            return LayoutCandidates(
                similar: [], all: CardLayouts.different(kept.entries.map(\.layout) + rows.map(\.layout)),
                isOfSystem: false)
        }
        let systems = CardLayouts.listed(card)
        let similar = known.filter { row in
            CardLayouts.listed(rows.lazy.filter { $0.card == row.card }.map(\.system)) == systems
        }
        return LayoutCandidates(
            similar: CardLayouts.different(
                seen.filter { $0.card == systems }.map(\.layout) + similar.map(\.layout)),
            all: CardLayouts.different(seen.map(\.layout) + known.map(\.layout)), isOfSystem: true)
    }

    /// Leaves out the systems that cards have without listing them.
    static func listed(_ systems: some Sequence<SystemCode>) -> Set<SystemCode> {
        Set(systems).subtracting(SystemTraversal.unlisted)
    }

    private static func different(_ layouts: [CardLayout]) -> [CardLayout] {
        var seen: Set<CardLayout> = []
        return layouts.filter { seen.insert($0).inserted }
    }
}

/// The layouts that a system's nodes can be predicted from.
struct LayoutCandidates: Sendable {
    /// The likely ones, which are among all.
    let similar: [CardLayout]
    let all: [CardLayout]
    /// Whether they are of this system, and not of others.
    let isOfSystem: Bool
}
