// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// A proved scan of each known card, and of cards that differ from it, finds what asking for every node finds.
struct ProvedScanTests {
    /// A change to one system of a card; `nil` where it does not apply.
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The most exchanges more than those of the walk.
        let most: Int
        let apply: @Sendable (inout [ListedCard.Node], SystemCode, inout SeededGenerator) -> Bool

        init(
            _ name: String, most: Int,
            _ apply: @escaping @Sendable (inout [ListedCard.Node], SystemCode, inout SeededGenerator) -> Bool
        ) {
            (testDescription, self.most, self.apply) = (name, most, apply)
        }

        /// Adds a node where its code belongs.
        static func add(_ node: ListedCard.Node, to nodes: inout [ListedCard.Node]) -> Bool {
            guard !nodes.contains(where: { $0.code == node.code }) else { return false }
            nodes.insert(node, at: nodes.firstIndex { $0.code > node.code } ?? nodes.endIndex)
            return true
        }

        static func addService(to nodes: inout [ListedCard.Node], _ random: inout SeededGenerator) {
            let attributes: [UInt16] = [0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0F, 0x10, 0x17]
            while true {
                let attribute = attributes[Int.random(in: attributes.indices, using: &random)]
                let code = UInt16.random(in: 1...1022, using: &random) << 6 | attribute
                if add(ListedCard.Node(code: code), to: &nodes) { return }
            }
        }

        static func index(
            in nodes: [ListedCard.Node], _ random: inout SeededGenerator, where isWanted: (ListedCard.Node) -> Bool
        ) -> Int? {
            nodes.indices.filter { $0 > 0 && isWanted(nodes[$0]) }.randomElement(using: &random)
        }
    }

    static let changes: [Change] = [
        Change("as is", most: 0) { _, _, _ in true },
        Change("unknown service", most: 1) { nodes, _, random in
            Change.addService(to: &nodes, &random)
            return true
        },
        Change("service of another card", most: 3) { nodes, system, random in
            let others = Set(
                ListedCard.all.flatMap(\.systems).filter { $0.code == system }.flatMap(\.nodes).filter { !$0.isArea }
            ).subtracting(nodes).sorted { $0.code < $1.code }
            return others.randomElement(using: &random).map { Change.add($0, to: &nodes) } ?? false
        },
        Change("three unknown services", most: 3) { nodes, _, random in
            for _ in 0..<3 { Change.addService(to: &nodes, &random) }
            return true
        },
        Change("unknown area", most: 1) { nodes, _, random in
            let code = UInt16.random(in: 1...1022, using: &random) << 6
            return Change.add(ListedCard.Node(code: code, end: code | 0x3F), to: &nodes)
        },
        Change("a service less", most: 1) { nodes, _, random in
            guard let index = Change.index(in: nodes, &random, where: { !$0.isArea }) else { return false }
            nodes.remove(at: index)
            return true
        },
        Change("an area less", most: 2) { nodes, _, random in
            guard let index = Change.index(in: nodes, &random, where: \.isArea), let end = nodes[index].end else {
                return false
            }
            let start = nodes[index].code
            nodes.removeAll { (start...end).contains($0.code) }
            return true
        },
        Change("another end", most: 0) { nodes, _, random in
            guard let index = Change.index(in: nodes, &random, where: \.isArea), let end = nodes[index].end else {
                return false
            }
            nodes[index].end = end ^ 0x40
            return true
        },
        Change("exchanged neighbors", most: 4) { nodes, _, random in
            guard nodes.count > 2 else { return false }
            let index = Int.random(in: 1..<nodes.count - 1, using: &random)
            nodes.swapAt(index, index + 1)
            return true
        },
        Change("any order", most: 4) { nodes, _, random in
            guard let root = nodes.first else { return false }
            nodes = [root] + nodes.dropFirst().shuffled(using: &random)
            return true
        },
    ]

    @Test func hasTheShippedLists() {
        #expect(ListedCard.all.count == 74)
        #expect(ListedCard.singleSystems.count == 109)
    }

    @Test(arguments: changes) func findsWhatTheWalkFinds(_ change: Change) throws {
        var scans = 0
        var proofs = 0
        for round in TestEffort.rounds(change.testDescription == "as is" ? 1 : 2) {
            for (number, known) in ListedCard.all.enumerated() {
                var random = SeededGenerator(seed: UInt64(round * 1000 + number + 1))
                var card = known
                let place = Int.random(in: card.systems.indices, using: &random)
                guard change.apply(&card.systems[place].nodes, card.systems[place].code, &random) else { continue }
                let proved = try MeasuredScan(card.virtual(), .shipped)
                let walked = try MeasuredScan(card.virtual(), .none)
                #expect(proved.interruption == nil && walked.interruption == nil)
                #expect(proved.shown == walked.shown, "\(card.name), \(round)")
                #expect(proved.exchanges <= walked.exchanges + change.most, "\(card.name), \(round)")
                #expect(walked.systems.allSatisfy { !$0.isProved })
                scans += proved.systems.count
                proofs += proved.systems.count(where: \.isProved)
            }
        }
        #expect(scans > 100)
        let isOrdered = !["exchanged neighbors", "any order"].contains(change.testDescription)
        #expect(proofs < scans && (!isOrdered || proofs * 10 > scans * 6), "\(proofs) of \(scans)")
    }

    @Test func knownCardsCostNoMoreThanTheyMust() throws {
        let exchanges = try ListedCard.all.map { try MeasuredScan($0.virtual(), .shipped).exchanges }
        #expect(exchanges.reduce(0, +) * 10 <= exchanges.count * 200)
    }

    /// Each card with the layouts of all others.
    @Test func unknownCards() throws {
        var exchanges = 0
        for (number, card) in ListedCard.all.enumerated() {
            var others = ListedCard.all
            others.remove(at: number)
            let proved = try MeasuredScan(card.virtual(), ListedCard.layouts(of: others))
            let walked = try MeasuredScan(card.virtual(), .none)
            #expect(proved.shown == walked.shown, "\(card.name)")
            #expect(proved.exchanges <= walked.exchanges + 5, "\(card.name)")
            exchanges += proved.exchanges
        }
        #expect(exchanges <= ListedCard.all.count * 27)
    }

    /// The nodes of two cards on one.
    @Test func twoCardsInOne() throws {
        var tried = 0
        for (card, next) in zip(ListedCard.singleSystems, ListedCard.singleSystems.dropFirst())
        where card.systems[0].code == next.systems[0].code {
            var both = card
            for node in next.systems[0].nodes { _ = Change.add(node, to: &both.systems[0].nodes) }
            let proved = try MeasuredScan(both.virtual(), .shipped)
            let walked = try MeasuredScan(both.virtual(), .none)
            #expect(proved.shown == walked.shown, "\(card.name), \(next.name)")
            #expect(proved.exchanges <= walked.exchanges + 5, "\(card.name), \(next.name)")
            tried += 1
        }
        for other in ListedCard.all.flatMap(\.systems) where other.code == .transit {
            var both = ListedCard(name: "both", systems: [other])
            for node in ListedCard.all[0].systems[0].nodes { _ = Change.add(node, to: &both.systems[0].nodes) }
            let proved = try MeasuredScan(both.virtual(), .shipped)
            let walked = try MeasuredScan(both.virtual(), .none)
            #expect(proved.shown == walked.shown)
            #expect(proved.exchanges <= walked.exchanges + 5)
            tried += 1
        }
        #expect(tried > 15)
    }

    /// Any tree with any layouts: those of other random trees, parts of its own, none.
    @Test func randomTrees() throws {
        for round in TestEffort.rounds(150) {
            var random = SeededGenerator(seed: UInt64(round + 1))
            func tree(_ size: Int) -> [ListedCard.Node] {
                var nodes = [ListedCard.Node.root]
                for _ in 0..<size {
                    if Int.random(in: 0..<5, using: &random) == 0 {
                        let code = UInt16.random(in: 1...1022, using: &random) << 6
                        let end = UInt16.random(in: code | 0x3F...0xFFFE, using: &random)
                        _ = Change.add(ListedCard.Node(code: code, end: end), to: &nodes)
                    } else {
                        Change.addService(to: &nodes, &random)
                    }
                }
                return nodes
            }
            let system = SystemCode(rawValue: 0x8ABC)
            let card = ListedCard(
                name: "random", systems: [.init(code: system, nodes: tree(Int.random(in: 0...70, using: &random)))])
            let codes = card.systems[0].nodes.map(\.code)
            var layouts: [CardLayout] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let share = Int.random(in: 0...10, using: &random)
                let own = codes.filter { _ in Int.random(in: 0..<10, using: &random) < share }
                let others = tree(Int.random(in: 0...20, using: &random) * Int.random(in: 0...1, using: &random))
                layouts.append(CardLayout(own + others.map(\.code)))
            }
            let table = CardLayouts(
                layouts.enumerated().map { CardLayouts.Row(system: system, card: $0, layout: $1) })
            let proved = try MeasuredScan(card.virtual(), table)
            let walked = try MeasuredScan(card.virtual(), .none)
            #expect(proved.shown == walked.shown, "\(round)")
            #expect(proved.exchanges <= walked.exchanges + 8, "\(round)")
        }
    }

    /// Wherever a card leaves, a proved scan says so and invents nothing.
    @Test(arguments: ["ft-02", "ft-08", "ft-24"]) func cardLeaves(_ name: String) throws {
        let card = try #require(ListedCard.all.first { $0.name == name })
        let whole = try MeasuredScan(card.virtual(), .shipped)
        for moment in 2...whole.exchanges {
            let scan = try MeasuredScan(card.virtual(), .shipped, faults: .cardAway(from: moment))
            #expect(scan.interruption == .cardLost, "\(moment)")
            for (part, all) in zip(scan.systems, whole.systems) {
                let nodes = Set(all.nodes.map { $0.kind })
                #expect(part.nodes.allSatisfy { nodes.contains($0.kind) }, "\(moment)")
                #expect(part.nodes.map(\.code) == part.nodes.map(\.code).sorted(), "\(moment)")
                #expect(!part.isProved || part.nodes.count == all.nodes.count, "\(moment)")
            }
        }
    }

    /// One answer is lost, or damaged, at every place.
    @Test(arguments: ["ft-02", "ft-09"]) func answerIsLost(_ name: String) throws {
        let card = try #require(ListedCard.all.first { $0.name == name })
        let whole = try MeasuredScan(card.virtual(), .shipped)
        for fault in [InjectedFault.silence, .damaged(status: 2), .otherIDm, .truncated(to: 9)] {
            for moment in 2...whole.exchanges {
                let scan = try MeasuredScan(card.virtual(), .shipped, faults: .once(fault, at: moment))
                #expect(scan.interruption == nil, "\(fault), \(moment)")
                #expect(scan.shown == whole.shown, "\(fault), \(moment)")
            }
        }
    }

    @Test func walksWithoutLayouts() throws {
        let walked = try MeasuredScan(ListedCard.all[0].virtual(), .none)
        #expect(walked.systems.allSatisfy { !$0.isProved })
        let nodes = ListedCard.all[0].systems.reduce(0) { $0 + $1.nodes.count }
        #expect(walked.systems.reduce(0) { $0 + $1.exchanges } > nodes)
    }

    /// A recorded walk has other questions than a proof, and a recorded proof has gaps: both are replayed.
    @Test(arguments: ["ft-02", "ft-31", "ft-35"]) func replaysTranscripts(_ name: String) throws {
        let card = try #require(ListedCard.all.first { $0.name == name })
        for recorded in [CardLayouts.none, .shipped] {
            var lines: [String] = []
            let live = InProcessReader(VirtualField(cards: [try card.virtual()]))
            let scan = try scan(RecordingReader(live) { lines.append($0) }, recorded)
            let transcript = try Transcript(parsing: Array(lines.joined(separator: "\n").utf8))
            let again = try self.scan(ReplayReader(transcript), .shipped)
            #expect(scan.interruption == nil && again.interruption == nil)
            #expect(again.systems.map(\.nodes) == scan.systems.map(\.nodes))
        }
    }

    private func scan(_ reader: any Reader, _ layouts: CardLayouts) throws -> CardScanner.Result {
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        return CardScanner(session: CardSession(reader: reader, target: target), layouts: layouts).scan()
    }

    /// Dumps of the fixtures are the same with and without layouts.
    @Test(arguments: Fixture.names) func dumpsAreTheSame(_ name: String) throws {
        let proved = CardDumper(session: try Fixture(name).session()).dump()
        let walked = CardDumper(session: try Fixture(name).session(), layouts: .none).dump()
        #expect(proved.dump == walked.dump)
    }

    // MARK: Nodes that a card confirms and does not list

    /// A card that lists *X* where it lists *Y* no longer, and still confirms *Y*.
    private func swapped(_ card: ListedCard, at place: Int, to code: UInt16) throws -> TamperedCard {
        var script = BrokenCardScanTests.Script(card.systems[0].nodes)
        script.list[place] = ListedCard.Node(code: code)
        script.versions[code] = 1
        return try script.card(card)
    }

    /// Whichever places are drawn, the search at the one that was exchanged finds the node that the card lists. What a proof
    /// says never differs but in nodes that no search returned, and the report says how many those are.
    @Test func spotChecksFindExchangedNodes() throws {
        var found = 0
        var tried = 0
        for card in ListedCard.singleSystems {
            let nodes = card.systems[0].nodes
            let free = nodes.indices.dropFirst().dropLast().first { place in
                !nodes[place].isArea && (nodes[place].code + 1) & 0x1E != 0
                    && nodes[place + 1].code > nodes[place].code + 1
            }
            guard let place = free else { continue }
            let other = nodes[place].code + 1
            for seed in 0..<UInt64(12) {
                let scan = try MeasuredScan(
                    swapped(card, at: place, to: other), .shipped, random: SeededGenerator(seed: seed + 1))
                let codes = Set(scan.systems[0].nodes.map(\.code.rawValue))
                tried += 1
                if codes.contains(other) {
                    found += 1
                    #expect(!codes.contains(nodes[place].code), "\(card.name)")
                } else {
                    #expect(scan.systems[0].isProved, "\(card.name)")
                    #expect(scan.systems[0].searchedNodes ?? 0 < nodes.count, "\(card.name)")
                }
            }
        }
        #expect(tried > 100 && found > tried / 20, "\(found) of \(tried)")
    }

    /// A system of which every node was searched cannot hide one.
    @Test func countsWhatTheCardListed() throws {
        for card in ListedCard.singleSystems {
            let scan = try MeasuredScan(card.virtual(), .shipped)
            let system = scan.systems[0]
            #expect((system.searchedNodes != nil) == system.isProved)
            #expect((1...system.nodes.count).contains(system.searchedNodes ?? 1), "\(card.name)")
        }
    }

    // MARK: Where a walk is as good

    /// Cards of few nodes: unknown systems of every small size, alone, and many of them.
    static let smallCards: [ListedCard] = {
        func system(_ number: Int, _ size: Int) -> ListedCard.System {
            var random = SeededGenerator(seed: UInt64(number * 100 + size + 1))
            var nodes = [ListedCard.Node.root]
            while nodes.count < size { Change.addService(to: &nodes, &random) }
            return ListedCard.System(code: SystemCode(rawValue: 0x9A00 + UInt16(number)), nodes: nodes)
        }
        let alone = (1...8).map { ListedCard(name: "\($0) nodes", systems: [system(0, $0)]) }
        let many = (1...8).map { size in
            ListedCard(name: "sixteen systems of \(size)", systems: (0..<16).map { system($0, size) })
        }
        return alone + many
    }()

    @Test(arguments: smallCards.indices) func fewNodesNeverCostMore(_ number: Int) throws {
        let card = Self.smallCards[number]
        let proved = try MeasuredScan(card.virtual(), .shipped)
        let walked = try MeasuredScan(card.virtual(), .none)
        #expect(proved.shown == walked.shown)
        #expect(proved.exchanges <= walked.exchanges, "\(card.name)")
        #expect(proved.air <= walked.air, "\(card.name)")
    }

    /// Known cards, and those without the search.
    @Test func knownCardsNeverCostMore() throws {
        for card in ListedCard.all {
            let proved = try MeasuredScan(card.virtual(), .shipped)
            let walked = try MeasuredScan(card.virtual(), .none)
            #expect(proved.air <= walked.air, "\(card.name)")
            var mute = [MeasuredScan]()
            for layouts in [CardLayouts.shipped, .none] {
                let silent = TamperedCard(try card.virtual()) { command, answer in command[1] == 0x0A ? nil : answer }
                mute.append(try MeasuredScan(silent, layouts))
            }
            #expect(mute[0].air <= mute[1].air && mute[0].exchanges <= mute[1].exchanges, "\(card.name)")
        }
    }

    /// But for the one whose lists are long and in no table.
    @Test(arguments: Fixture.names.filter { $0 != "five-systems" }) func fixturesNeverCostMore(_ name: String) throws {
        func exchanges(_ layouts: CardLayouts) throws -> Int {
            let fixture = try Fixture(name)
            #expect(CardScanner(session: try fixture.session(), layouts: layouts).scan().interruption == nil)
            return fixture.field.statistics.exchanges
        }
        #expect(try exchanges(.shipped) <= exchanges(.none))
    }

    /// A card without Search Service Code and one with a fixed layout cost nothing more.
    @Test(arguments: ["octopus", "felica-lite-s"]) func costsNothingElsewhere(_ name: String) throws {
        func exchanges(_ layouts: CardLayouts) throws -> Int {
            let fixture = try Fixture(name)
            #expect(CardScanner(session: try fixture.session(), layouts: layouts).scan().interruption == nil)
            return fixture.field.statistics.exchanges
        }
        #expect(try exchanges(.shipped) <= exchanges(.none))
    }
}
