// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Key changes on virtual cards: whatever interrupts them, each key is the old or the new one, and resuming ends them.
struct KeyChangerTests {
    private static let card = """
        {"schema": "kazasu.card/1", "idm": "010A4B0012345678", "pmm": "0144220427674EFF", "systems": [
          {"code": "0003", "keyVersion": "0001", "nodes": ["0048", "1000-1FFE", "1008", "1040-17FE", "1408"],
           "blocks": {"0048": 1, "1008": 3, "1408": 2},
           "keys": {"FFFF": "64B34B0A2BC199B1", "0000": "6612317B4FD74F39", "1000": "EFAA8C23162FBB60",
                    "1040": "93281FA024436061", "0048": "25BB0E7AF2C9D04D", "1008": "4D0134D6E8B5C6FD",
                    "1408": "A989255BF6DACD10"}}]}
        """
    private static let old = """
        0003 FFFF 64B34B0A2BC199B1 0001
        0003 0000 6612317B4FD74F39
        0003 1000 EFAA8C23162FBB60
        0003 1040 93281FA024436061
        0003 1008 4D0134D6E8B5C6FD
        0003 1408 A989255BF6DACD10 0001
        """
    /// In no order; 1008 and 0000 stay as they are.
    private static let new = """
        0003 FFFF 1122334455667788 0009
        0003 0000 6612317B4FD74F39
        0003 1000 21436587A9CBED0F 0102
        0003 1408 8877665544332211 0002
        0003 1008 4D0134D6E8B5C6FD
        0003 1040 0123456789ABCDEF 0003
        """
    private static let versions: [UInt16: UInt16] = [0xFFFF: 9, 0x1000: 0x102, 0x1408: 2, 0x1040: 3]

    private static func keys(_ file: String) throws -> StandardKeys {
        var keys = StandardKeys()
        try keys.add(file: Array(file.utf8))
        return keys
    }

    private static func load() throws -> VirtualFeliCaCard { try VirtualCardFile.load(Array(card.utf8)) }

    /// A field with a card, and what changes its keys.
    private struct Stand {
        let field: VirtualField
        let changer: KeyChanger

        init(
            _ card: any VirtualCard, old: String = KeyChangerTests.old, new: String = KeyChangerTests.new,
            journal: @escaping (StandardStep) throws(KeyChangeError) -> Void = { _ throws(KeyChangeError) in }
        ) throws {
            field = VirtualField(cards: [card])
            let reader = InProcessReader(field)
            guard case .felica(let target)? = try reader.activate(.felica(.transit)) else {
                throw ReadingError.cardLost
            }
            changer = KeyChanger(
                session: CardSession(reader: reader, target: target),
                system: SystemHandle(code: .transit, idm: target.idm, pmm: target.pmm),
                keyring: StandardKeyring(try KeyChangerTests.keys(old)), new: try KeyChangerTests.keys(new),
                journal: journal)
        }

        func run(resuming changes: [StandardKeyChange]? = nil) throws {
            try changer.run(changer.plan(resuming: changes))
        }
    }

    /// The nodes whose key is the new one; `nil` if a key is neither.
    private static func changed(_ card: VirtualFeliCaCard) throws -> Set<UInt16>? {
        let system = try #require(card.systems.first)
        let keys = try #require(system.keys).des
        let before = try #require(try load().systems.first?.keys).des
        let after = try Self.keys(new)
        var changed: Set<UInt16> = []
        for (node, key) in keys {
            let wanted = after.entry(NodeCode(rawValue: node), in: .transit, .des, card: system.idm)?.key
                .withBytes { $0 }
            if key == before[node] { continue }
            guard key == wanted else { return nil }
            changed.insert(node)
        }
        return changed
    }

    @Test func changesInOrder() throws {
        let card = try Self.load()
        nonisolated(unsafe) var steps: [StandardStep] = []
        let stand = try Stand(card) { step throws(KeyChangeError) in steps.append(step) }
        let plan = try stand.changer.plan()
        #expect(plan.changes.map(\.node.description) == ["1408", "1040", "1000", "FFFF"])
        #expect(plan.changes.map(\.from.rawValue) == [1, 1, 1, 1])
        #expect(plan.changes.map(\.to.rawValue) == [2, 3, 0x102, 9])
        try stand.changer.run(plan)
        #expect(try Self.changed(card) == Set(Self.versions.keys))
        #expect(
            steps
                == plan.changes.flatMap { [StandardStep.key($0.node), .keyProved($0.node)] } + [.done])
        let again = try Stand(card, old: Self.new, new: Self.new)
        #expect(throws: KeyChangeError.nothingToChange) { try again.run() }
    }

    /// Checked before a key is sent.
    @Test func refusals() throws {
        func node(_ code: UInt16) -> NodeCode { NodeCode(rawValue: code) }
        let rows: [(String, String, KeyChangeError)] = [
            (Self.old, "0003 1408 0000000000000000 0002", .weakKey(node(0x1408))),
            (Self.old, "0003 1408 0101010101010101 0002", .weakKey(node(0x1408))),
            (Self.old, "0003 1408 011F011F010E010E 0002", .weakKey(node(0x1408))),
            (Self.old, "0003 1408 0123456789ABCDEF", .sameVersion(node(0x1408))),
            (Self.old, "0003 1408 0123456789ABCDEF 0001", .sameVersion(node(0x1408))),
            (Self.old, "0003 0000 0123456789ABCDEF 0002", .unsupported(node(0))),
            (Self.old, "0003 1408 00112233445566778899AABBCCDDEEFF 0002", .unsupported(node(0x1408))),
            (Self.old, "0003 1448 0123456789ABCDEF 0002", .noSuchNode(node(0x1448))),
            (Self.old, "0003 0048 0123456789ABCDEF 0002", .key(node(0x0048), .noKey)),
            (
                Self.old.replacing("0003 1040 93281FA024436061\n", with: ""), "0003 1408 0123456789ABCDEF 0002",
                .key(node(0x1040), .noKey)
            ),
            (
                Self.old.replacing("A989255BF6DACD10 0001", with: "A989255BF6DACD10 0007"),
                "0003 1408 0123456789ABCDEF 0002", .key(node(0x1408), .keyVersion)
            ),
            (Self.old, "FE00 1408 0123456789ABCDEF 0002", .nothingToChange),
        ]
        for (old, new, error) in rows {
            let card = try Self.load()
            let stand = try Stand(card, old: old, new: new)
            #expect(throws: error, "\(new)") { try stand.run() }
            #expect(stand.field.statistics.count(of: 0x10) == 0)
            #expect(try Self.changed(card) == [])
        }
    }

    /// A wrong old key is found before the first change.
    @Test(arguments: ["64B34B0A2BC199B1", "EFAA8C23162FBB60", "A989255BF6DACD10"])
    func wrongOldKey(_ key: String) throws {
        let card = try Self.load()
        let stand = try Stand(card, old: Self.old.replacing(key, with: "0123456789ABCDEF"))
        #expect {
            try stand.run()
        } throws: { error in
            if case KeyChangeError.key(_, .wrongKey) = error { true } else { false }
        }
        #expect(try Self.changed(card) == [])
    }

    /// A step that cannot be stored is not taken.
    @Test func fullDisk() throws {
        for place in 0..<9 {
            let card = try Self.load()
            nonisolated(unsafe) var count = 0
            let stand = try Stand(card) { _ throws(KeyChangeError) in
                count += 1
                if count > place { throw .reading(.cancelled) }
            }
            #expect(throws: KeyChangeError.reading(.cancelled)) { try stand.run() }
            #expect(try Self.changed(card)?.count == (place + 1) / 2)
        }
    }

    private static func exchanges() throws -> (whole: Int, changes: [StandardKeyChange]) {
        let stand = try Stand(load())
        let before = stand.field.statistics.exchanges
        let plan = try stand.changer.plan()
        try stand.changer.run(plan)
        return (stand.field.statistics.exchanges - before, plan.changes)
    }

    /// Runs with faults, then resumes without: all keys are new.
    private static func interrupt(_ faults: InjectedFaults, _ changes: [StandardKeyChange], _ what: String) throws {
        let card = try load()
        let stand = try Stand(card)
        stand.field.plan(faults.moved(by: stand.field.statistics.exchanges))
        let result = Result { try stand.run() }
        let changed = try #require(try changed(card), "\(what): a key that is in neither file")
        if case .success = result { #expect(changed.count == changes.count, "\(what)") }
        card.losePower()
        let resumed = try Stand(card)
        try resumed.run(resuming: changes)
        #expect(try self.changed(card) == Set(Self.versions.keys), "\(what)")
    }

    /// The card leaves at each exchange, before it carries the command out and after.
    @Test func leavesAtEveryExchange() throws {
        let (whole, changes) = try Self.exchanges()
        for place in 1...whole {
            for isDone in [false, true] {
                let away = InjectedFaults.cardAway(from: isDone ? place + 1 : place)
                let lost = InjectedFaultRule(.silence, .during(place...place))
                try Self.interrupt(
                    InjectedFaults((isDone ? [lost] : []) + away.rules), changes, "\(place) \(isDone)")
            }
        }
    }

    /// At each exchange, an answer is lost or damaged, or the card loses its power for a moment.
    @Test(arguments: [InjectedFault.silence, .absent, .damaged(status: 2), .flipped(offset: 12, mask: 4)])
    func faultAtEveryExchange(_ fault: InjectedFault) throws {
        let (whole, changes) = try Self.exchanges()
        for place in 1...whole { try Self.interrupt(.once(fault, at: place), changes, "\(place) \(fault)") }
    }

    /// Another card with the same keys takes the place of the first, after each command: its keys stay.
    @Test func anotherCardInBetween() throws {
        let (whole, changes) = try Self.exchanges()
        for place in 1..<whole {
            let text = Self.card.replacing("010A4B0012345678", with: "010A4B0087654321")
            let card = try Self.load()
            let other: VirtualFeliCaCard = try VirtualCardFile.load(Array(text.utf8))
            let (swapped, before) = (SwappedCard(card, other), other.systems)
            let stand = try Stand(swapped)
            swapped.left = place
            let result = Result { try stand.run() }
            #expect(other.systems == before, "\(place)")
            if case .success = result { #expect(swapped.left != 0, "\(place)") }
            card.losePower()
            try Stand(card).run(resuming: changes)
            #expect(try Self.changed(card) == Set(Self.versions.keys), "\(place)")
        }
    }

    /// Interrupted again and again, until all keys are new: at least once a card on average.
    @Test func randomInterruptions() throws {
        let ((whole, changes), rounds) = (try Self.exchanges(), TestEffort.rounds(20))
        var interruptions = 0
        for seed in rounds {
            var random = SeededGenerator(seed: UInt64(seed + 1) &* 0x9E37_79B9_7F4A_7C15)
            let card = try Self.load()
            var isDone = false
            for run in 0..<12 where !isDone {
                let stand = try Stand(card)
                if run < 11 {
                    stand.field.plan(
                        .departure(within: whole, &random).moved(by: stand.field.statistics.exchanges))
                }
                let result = Result { try stand.run(resuming: run > 0 ? changes : nil) }
                isDone = (try? result.get()) != nil
                if !isDone { interruptions += 1 }
                let changed = try Self.changed(card)
                #expect(changed != nil, "seed \(seed), run \(run): a key that is in neither file")
                #expect(run < 11 || isDone, "seed \(seed): \(result)")
                card.losePower()
            }
            #expect(try Self.changed(card) == Set(Self.versions.keys), "seed \(seed)")
        }
        #expect(interruptions > rounds.count)
        TestEffort.report("FeliCa Standard: \(interruptions) interruptions of \(rounds.count) key changes")
    }

    /// Other new keys than those of the interrupted change do not go on with it.
    @Test func otherKeysThanBefore() throws {
        let (_, changes) = try Self.exchanges()
        let card = try Self.load()
        nonisolated(unsafe) var count = 0
        let stand = try Stand(card) { _ throws(KeyChangeError) in
            count += 1
            if count > 2 { throw .reading(.cancelled) }
        }
        #expect(throws: KeyChangeError.self) { try stand.run() }
        #expect(try Self.changed(card) == [0x1408])
        let fewer = try Stand(card, new: Self.new.replacing("0003 1000 21436587A9CBED0F 0102\n", with: ""))
        #expect(throws: KeyChangeError.otherPlan) { try fewer.run(resuming: changes) }
        let other = try Stand(card, new: Self.new.replacing("8877665544332211", with: "8877665544332299"))
        #expect(throws: KeyChangeError.key(NodeCode(rawValue: 0x1408), .wrongKey)) {
            try other.run(resuming: changes)
        }
        #expect(try Self.changed(card) == [0x1408])
    }
}
