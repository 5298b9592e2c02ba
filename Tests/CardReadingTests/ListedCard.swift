// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import TestSupport
import VirtualReader

/// A card with the systems and nodes of one of the lists that come with Kazasu, or changed ones.
struct ListedCard {
    var name: String
    var systems: [System]

    struct System {
        var code: SystemCode
        /// In the card's order, the root area first.
        var nodes: [Node]
    }

    struct Node: Hashable {
        var code: UInt16
        /// The last code of an area.
        var end: UInt16?

        static let root = Node(code: 0, end: 0xFFFE)

        var isArea: Bool { end != nil }

        /// Its key version on the cards made here, which says something about the node.
        var version: UInt16 { code &* 31 & 0x7FFF }

        /// What Search Service Code answers.
        var bytes: [UInt8] {
            [code, end].compactMap { $0 }.flatMap {
                [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
            }
        }
    }

    /// The lists of `ThirdParty/felica-tool`.
    static let all: [ListedCard] = {
        guard let bytes = try? TestFiles.read("ThirdParty/felica-tool/filesystems.tsv") else { return [] }
        var cards: [ListedCard] = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst(2) {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard let name = fields.first, let tree = fields.last, let code = SystemCode(fields[3]) else { continue }
            let nodes = tree.split(separator: " ").compactMap { text -> Node? in
                let codes = text.split(separator: "-").compactMap { UInt16($0, radix: 16) }
                return codes.first.map { Node(code: $0, end: codes.count > 1 ? codes[1] : nil) }
            }
            if cards.last?.name != name { cards.append(ListedCard(name: name, systems: [])) }
            cards[cards.count - 1].systems.append(System(code: code, nodes: nodes))
        }
        return cards
    }()

    init(name: String, systems: [System]) {
        self.name = name
        self.systems = systems
    }

    /// A card of `Fixtures/cards` without its blocks.
    init(fixture name: String) throws {
        let dump = try CardDump(parsing: TestFiles.read("Fixtures/cards/\(name)/card.json"))
        self.init(
            name: name,
            systems: dump.systems.map { system in
                let areas = system.areas.map { Node(code: $0.start.rawValue, end: $0.end.rawValue) }
                let services = system.services.map { Node(code: $0.code.rawValue) }
                return System(code: system.systemCode, nodes: (areas + services).sorted { $0.code < $1.code })
            })
    }

    /// Every system of every list on a card of its own.
    static let singleSystems: [ListedCard] = all.flatMap { card in
        card.systems.map { ListedCard(name: "\(card.name) \($0.code)", systems: [$0]) }
    }

    /// The layouts of cards, as the shipped table would have them.
    static func layouts(of cards: [ListedCard]) -> CardLayouts {
        CardLayouts(
            cards.enumerated().flatMap { number, card in
                card.systems.map { system in
                    CardLayouts.Row(
                        system: system.code, card: number, layout: CardLayout(system.nodes.map(\.code)))
                }
            })
    }

    /// The card, with an IC of which all commands are known.
    func virtual(idm: IDm = IDm(rawValue: 0x0101_0312_3456_7890)) throws -> VirtualFeliCaCard {
        VirtualFeliCaCard(
            systems: systems.enumerated().map { number, system in
                VirtualSystem(
                    code: system.code, idm: idm.inSystem(UInt8(number)), pmm: PMm(rawValue: 0x0120_2204_2767_4EFF),
                    keyVersion: KeyVersion(rawValue: 0x0101),
                    nodes: system.nodes.map { node in
                        let version = KeyVersion(rawValue: node.version)
                        return if let end = node.end {
                            VirtualNode(
                                area: AreaCode(rawValue: node.code), end: AreaCode(rawValue: end), keyVersion: version)
                        } else {
                            VirtualNode(service: ServiceCode(rawValue: node.code), keyVersion: version)
                        }
                    })
            })
    }
}

/// The result of a scan and what it cost.
struct MeasuredScan {
    let systems: [SystemScan]
    let interruption: ReadingError?
    /// Everything that the reader sent, from the first Polling on.
    let exchanges: Int
    /// The time of the frames at 212 kbit/s, in microseconds; without the time in which the card thinks.
    let air: Int
    /// The time of the frames, and that which the card took.
    let time: Duration

    init(
        _ card: some VirtualPacketCard, _ layouts: CardLayouts, faults: InjectedFaults = InjectedFaults(),
        random: some RandomNumberGenerator = SeededGenerator(seed: 1)
    ) throws {
        let timed = TimedCard(card)
        let field = VirtualField(cards: [timed], faults: faults)
        let reader = InProcessReader(field)
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        let session = CardSession(reader: reader, target: target)
        let result = CardScanner(session: session, layouts: layouts, random: random).scan()
        (systems, interruption, exchanges) = (result.systems, result.interruption, field.statistics.exchanges)
        air = timed.bytes * 8 * 1000 / 212
        time = field.statistics.time
    }

    /// What a document shows of it.
    var shown: [SystemScan] {
        systems.map {
            SystemScan(system: $0.system, keyVersion: $0.keyVersion, nodes: $0.nodes, listing: $0.listing)
        }
    }
}

/// Counts the bytes of the frames to and from a card; used from the thread of its test only.
private final class TimedCard: VirtualPacketCard, @unchecked Sendable {
    private let card: any VirtualPacketCard
    /// With preamble, synchronization code and checksum.
    private(set) var bytes = 0
    private static let frame = 10

    init(_ card: some VirtualPacketCard) { self.card = card }

    func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        let answer = card.answer(frame, at: bitRate)
        bytes += frame.count + Self.frame + (answer.map { $0.frame.count + Self.frame } ?? 0)
        return answer
    }

    func losePower() { card.losePower() }
}
