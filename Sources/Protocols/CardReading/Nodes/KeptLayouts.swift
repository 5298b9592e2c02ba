// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Layouts of cards that were scanned before, newest first, and their text, which a program can keep from run to run.
///
/// They contain what all cards of a kind have in common: the codes of systems, areas and services; no IDm, no key version
/// and no block. Like the layouts that come with Kazasu, they decide which questions a scan asks, and never what it finds.
package struct KeptLayouts: Hashable, Sendable {
    /// The layout of a system.
    package struct Entry: Hashable, Sendable {
        /// The system.
        let system: SystemCode
        /// The systems of the card, without those that cards have and do not list.
        let card: Set<SystemCode>
        let layout: CardLayout
    }

    /// The layouts, newest first, none twice.
    package private(set) var entries: [Entry] = []

    /// The limits, which also bound the text: those of the known cards are 3 systems and 100 nodes.
    private static let mostEntries = 64, mostSystems = 16, mostNodes = 256

    /// No layouts.
    package init() {}

    /// Adds the systems of a card whose lists are complete and that cannot be predicted from other layouts yet; the
    /// oldest are dropped.
    ///
    /// - Parameters:
    ///   - scans: systems that were scanned to their end.
    ///   - card: all systems of that card.
    ///   - layouts: what they could be predicted from.
    /// - Returns: the systems that were added.
    package mutating func add(
        _ scans: [SystemScan], of card: [SystemCode], besides layouts: CardLayouts
    ) -> [SystemCode] {
        let systems = CardLayouts.listed(card)
        guard systems.count <= KeptLayouts.mostSystems else { return [] }
        var added: [SystemCode] = []
        for scan in scans where scan.listing == .searchServiceCode {
            let entry = Entry(
                system: scan.system.code, card: systems, layout: CardLayout(scan.nodes.map(\.code.rawValue)))
            guard entry.layout.count <= KeptLayouts.mostNodes, !entries.contains(entry),
                !layouts.have(entry.layout, of: entry.system)
            else { continue }
            entries.insert(entry, at: 0)
            added.append(entry.system)
        }
        entries = Array(entries.prefix(KeptLayouts.mostEntries))
        return added
    }

    // MARK: Text

    /// The first line.
    private static let title = "kazasu.layouts/1"

    /// The length of the longest text, in bytes.
    package static let longestText =
        title.utf8.count + 1 + mostEntries * ("0000 ".utf8.count * (1 + mostSystems + mostNodes))

    /// A line for each layout after the first: the system, the card's systems with commas, the nodes ascending; all codes
    /// as four digits.
    package var text: String {
        var text = KeptLayouts.title + "\n"
        for entry in entries {
            let systems = entry.card.map(\.description).sorted().joined(separator: ",")
            let nodes = entry.layout.codes.map { Hex.encode($0, digits: 4) }.joined(separator: " ")
            text += "\(entry.system) \(systems.isEmpty ? "-" : systems) \(nodes)\n"
        }
        return text
    }

    /// Reads a text.
    ///
    /// - Returns: `nil` if it is not exactly one that ``text`` gives.
    package init?(parsing text: [UInt8]) {
        guard text.count <= KeptLayouts.longestText, text.last == UInt8(ascii: "\n") else { return nil }
        let lines = text.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let title = lines.first, title.elementsEqual(KeptLayouts.title.utf8) else { return nil }
        for line in lines.dropFirst() {
            guard let entry = KeptLayouts.entry(line) else { return nil }
            entries.append(entry)
        }
        guard entries.count <= KeptLayouts.mostEntries, Set(entries).count == entries.count else { return nil }
    }

    private static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
        let fields = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard fields.count > 2, let system = code(fields[0]) else { return nil }
        var systems: [UInt16] = []
        if !fields[1].elementsEqual("-".utf8) {
            for field in fields[1].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                guard let code = code(field) else { return nil }
                systems.append(code)
            }
        }
        var nodes: [UInt16] = []
        for field in fields[2...] {
            guard let code = code(field) else { return nil }
            nodes.append(code)
        }
        guard systems.count <= mostSystems, nodes.count <= mostNodes, nodes.first == 0, ascend(systems), ascend(nodes)
        else { return nil }
        return Entry(
            system: SystemCode(rawValue: system), card: Set(systems.map { SystemCode(rawValue: $0) }),
            layout: CardLayout(nodes))
    }

    private static func ascend(_ codes: [UInt16]) -> Bool { zip(codes, codes.dropFirst()).allSatisfy { $0 < $1 } }

    /// Four digits, `0` to `9` and `A` to `F`.
    private static func code(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard text.count == 4 else { return nil }
        var code: UInt16 = 0
        for digit in text {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): code = code << 4 | UInt16(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "A")...UInt8(ascii: "F"): code = code << 4 | UInt16(digit - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return code
    }
}
