// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Issuing on virtual blank cards: whatever interrupts it, each key is the seller's or the new one, and resuming ends it.
struct StandardIssuerTests {
    private static let card = """
        {"schema": "kazasu.card/1", "idm": "010A4B0012345678", "pmm": "0144220427674EFF", "systems": [
          {"code": "FFFF", "keyVersion": "F000", "freeBlocks": 245,
           "keys": {"FFFF": "0F1E2D3C4B5A6978", "0000": "8796A5B4C3D2E1F0"}}]}
        """
    private static let factory = "FFFF FFFF 0F1E2D3C4B5A6978 F000\nFFFF 0000 8796A5B4C3D2E1F0\n"
    static let profile = """
        {"schema": "kazasu.standardProfile/1", "system": "A0B1",
         "issueId": "4953535545494431", "issueParameter": "504152414D455431",
         "areas": [{"code": "1000", "end": "1FFF", "blocks": 40, "keyVersion": "0002"},
                   {"code": "1040", "end": "17FF", "blocks": 30, "keyVersion": "0003"},
                   {"code": "2001", "end": "2FFF"}],
         "services": [
           {"codes": ["1008", "100B"], "blocks": 10, "keyVersion": "0003", "data": [
             "00000000000000000000000000000001", "00000000000000000000000000000002",
             "00000000000000000000000000000003", "00000000000000000000000000000004",
             "00000000000000000000000000000005", "00000000000000000000000000000006",
             "00000000000000000000000000000007", "00000000000000000000000000000008",
             "00000000000000000000000000000009"]},
           {"codes": ["108C", "108F"], "blocks": 12, "keyVersion": "0004", "data": [
             "10000000000000000000000000000001", "10000000000000000000000000000002",
             "10000000000000000000000000000003", "10000000000000000000000000000004",
             "10000000000000000000000000000005", "10000000000000000000000000000006",
             "10000000000000000000000000000007", "10000000000000000000000000000008",
             "10000000000000000000000000000009"]},
           {"codes": ["0409"], "blocks": 1, "data": ["20000000000000000000000000000001"]},
           {"codes": ["1050", "1054", "1056"], "blocks": 1, "keyVersion": "0005",
            "data": ["10270000000000000000000000000001"]}]}
        """
    /// As short as a profile can be with everything in it, for interruptions at each exchange.
    private static let short = """
        {"schema": "kazasu.standardProfile/1", "system": "A0B1",
         "issueId": "4953535545494431", "issueParameter": "504152414D455431",
         "services": [{"codes": ["1008"], "blocks": 1, "keyVersion": "0003",
                       "data": ["00000000000000000000000000000001"]}]}
        """
    static let new = """
        A0B1 FFFF 1122334455667788 0009
        A0B1 0000 726F6F746B657921
        A0B1 1000 617265616B657921 0002
        A0B1 1040 0123456789ABCDEF
        A0B1 2001 8877665544332211 0001
        A0B1 1008 736572766B657921 0003
        A0B1 108C 21436587A9CBED0F 0004
        A0B1 1050 4D0134D6E8B5C6FD
        A0B1 1054 EFAA8C23162FBB60
        A0B1 1056 A989255BF6DACD10
        """

    private static func keys(_ file: String) throws -> StandardKeys {
        var keys = StandardKeys()
        try keys.add(file: Array(file.utf8))
        return keys
    }

    static func load(_ profile: String = profile) throws -> StandardProfile {
        try StandardProfile(parsing: Array(profile.utf8))
    }

    /// A blank card, which may keep what is registered without power before it is made permanent.
    private static func blank(
        keeps: Bool = false, pmm: String? = nil, idm: String = "010A4B0012345678"
    ) throws -> VirtualFeliCaCard {
        let text = (pmm.map { Self.card.replacing("0144220427674EFF", with: $0) } ?? Self.card)
            .replacing("010A4B0012345678", with: idm)
        let card: VirtualFeliCaCard = try VirtualCardFile.load(Array(text.utf8))
        var profile = card.profile
        profile.keepsUncommittedNodes = keeps
        profile.commands.insert(.requestBlockInformationEx)
        return VirtualFeliCaCard(systems: card.systems, profile: profile)
    }

    /// A field with a card, and what issues it.
    private struct Stand {
        let field: VirtualField
        let issuer: StandardIssuer

        init(
            _ card: any VirtualCard, profile: String = StandardIssuerTests.profile,
            factory: String = StandardIssuerTests.factory, new: String = StandardIssuerTests.new,
            journal: @escaping (StandardStep) throws(KeyChangeError) -> Void = { _ throws(KeyChangeError) in }
        ) throws {
            field = VirtualField(cards: [card])
            let reader = InProcessReader(field)
            guard case .felica(let target)? = try reader.activate(.felica(.any)) else { throw ReadingError.cardLost }
            issuer = StandardIssuer(
                session: CardSession(reader: reader, target: target), profile: try StandardIssuerTests.load(profile),
                keyring: StandardKeyring(try StandardIssuerTests.keys(factory)),
                new: try StandardIssuerTests.keys(new), journal: journal)
        }

        func run(resuming steps: Set<StandardStep>? = nil) throws {
            _ = try issuer.plan(resumes: steps != nil)
            try issuer.run(resuming: steps ?? [])
        }
    }

    /// Whether the card has all of the profile; `nil` if a key is neither the seller's nor the new one.
    private static func isIssued(_ card: VirtualFeliCaCard, _ text: String = profile) throws -> Bool? {
        let system = try #require(card.systems.first)
        let own = try #require(system.keys).des
        let (factory, new, profile) = (try keys(factory), try keys(new), try load(text))
        func bytes(_ keys: StandardKeys, _ node: UInt16, _ system: SystemCode) -> [UInt8]? {
            keys.entry(NodeCode(rawValue: node), in: system, .des, card: card.systems[0].idm)?.key.withBytes { $0 }
        }
        var isNew = true
        for (node, key) in own {
            if key == bytes(new, node, profile.system), system.code == profile.system { continue }
            guard key == bytes(factory, node, .any) else { return nil }
            isNew = false
        }
        let areNodesRight =
            Set(system.nodes.map(\.code)) == Set(profile.versions.keys)
            && system.nodes.allSatisfy { profile.versions[$0.code] == $0.keyVersion }
        let isDataRight = profile.services.allSatisfy { service in
            let store = system.blocks(service.codes[0])
            return store.count == Int(service.blocks)
                && service.data.enumerated().allSatisfy { store[UInt16($0)] == $1 }
        }
        return isNew && system.code == profile.system && system.freeBlocks == nil && system.keyVersion.rawValue == 9
            && own.count == profile.keyedNodes.count + 1 && areNodesRight && isDataRight
            && system.keys?.issueID == profile.issue.id && system.keys?.issueParameter == profile.issue.parameter
    }

    @Test(arguments: [false, true])
    func issues(_ keeps: Bool) throws {
        let card = try Self.blank(keeps: keeps)
        nonisolated(unsafe) var steps: [StandardStep] = []
        let stand = try Stand(card) { step throws(KeyChangeError) in steps.append(step) }
        #expect(try Self.isIssued(card) == false)
        let state = try stand.issuer.plan()
        #expect(state.isBlank && state.free == 245)
        try stand.issuer.run()
        #expect(try Self.isIssued(card) == true)
        func node(_ code: UInt16) -> NodeCode { NodeCode(rawValue: code) }
        #expect(steps.first == .issueID && steps.last == .done)
        #expect(steps.dropFirst().prefix(3) == [.area(node(0x1000)), .area(node(0x1040)), .area(node(0x2001))])
        #expect(
            steps.drop { $0 != .commit }.prefix(5)
                == [.commit, .committed, .key(.system), .keyProved(.system), .data(node(0x0409))])
        // Register Issue ID once, and one session for all of the registration.
        #expect(stand.field.statistics.count(of: 0x80) == 1)
        // All of it again, as after an interruption at the very end.
        let again = try Stand(card)
        #expect(throws: KeyChangeError.locked) { try again.run() }
        try again.run(resuming: Set(steps))
        #expect(again.field.statistics.count(of: 0x80) == 0 && again.field.statistics.count(of: 0x8E) == 0)
        #expect(try Self.isIssued(card) == true)
    }

    /// Without Reset Mode, only the field ends a session.
    @Test func withoutResetMode() throws {
        let card = try Self.blank(pmm: "0120220427674EFF")
        try Stand(card).run()
        #expect(try Self.isIssued(card) == true)
    }

    /// Checked before a key is sent.
    @Test func refusals() throws {
        func node(_ code: UInt16) -> NodeCode { NodeCode(rawValue: code) }
        func without(_ word: String, in text: String = Self.new) -> String {
            text.split(separator: "\n").filter { !$0.contains(word) }.joined(separator: "\n")
        }
        let rows: [(String, String, KeyChangeError)] = [
            (Self.factory, without(" 1050 "), .key(node(0x1050), .noKey)),
            (Self.factory, without(" 0000 "), .key(node(0), .noKey)),
            (Self.factory, without(" FFFF "), .key(.system, .noKey)),
            (without(" 0000 ", in: Self.factory), Self.new, .key(node(0), .noKey)),
            (Self.factory, Self.new.replacing("8877665544332211", with: "0101010101010101"), .weakKey(node(0x2001))),
            (Self.factory, Self.new.replacing("8877665544332211", with: "0000000000000000"), .weakKey(node(0x2001))),
            (Self.factory, Self.new.replacing(" 0009", with: ""), .sameVersion(.system)),
            (Self.factory, Self.new.replacing(" 0009", with: " F000"), .sameVersion(.system)),
            (Self.factory, Self.new.replacing("211 0001", with: "211 0002"), .key(node(0x2001), .keyVersion)),
            (Self.factory.replacing(" F000", with: " F001"), Self.new, .key(.system, .keyVersion)),
            (Self.factory, Self.new.replacing("1122334455667788", with: "0F1E2D3C4B5A6978"), .nothingToChange),
            (
                Self.factory, Self.new + "\nA0B1 2001 00112233445566778899AABBCCDDEEFF", .unsupported(node(0x2001))
            ),
        ]
        for (factory, new, error) in rows {
            let card = try Self.blank()
            let stand = try Stand(card, factory: factory, new: new)
            #expect(throws: error, "\(new)") { try stand.run() }
            #expect(stand.field.statistics.count(of: 0x10) == 0)
            #expect(card.systems[0].code == .any)
        }
        let large = Self.profile.replacing(#""blocks": 10,"#, with: #""blocks": 250,"#).replacing(": 40", with: ": 0")
        #expect(throws: KeyChangeError.tooFewBlocks(needed: 275, free: 245)) {
            try Stand(Self.blank(), profile: large).run()
        }
        let card: VirtualFeliCaCard = try VirtualCardFile.load(Array(Self.card.utf8))
        let silent = try Stand(card, profile: large)
        #expect(throws: KeyChangeError.tooFewBlocks(needed: 275, free: 245)) { try silent.run() }
        #expect(silent.field.statistics.count(of: 0x82) == 0)
        card.losePower()
        #expect(card.systems[0].code == .any)
    }

    /// A card that tells only during the issuance that it has too few blocks, and may then keep what was registered: a smaller
    /// profile ends it.
    @Test(arguments: [false, true])
    func smallerProfile(_ keeps: Bool) throws {
        let large = Self.profile.replacing(#""blocks": 10,"#, with: #""blocks": 250,"#).replacing(": 40", with: ": 0")
        let file: VirtualFeliCaCard = try VirtualCardFile.load(Array(Self.card.utf8))
        var kind = file.profile
        kind.keepsUncommittedNodes = keeps
        let card = VirtualFeliCaCard(systems: file.systems, profile: kind)
        nonisolated(unsafe) var steps: Set<StandardStep> = []
        func resume(_ profile: String) throws {
            card.losePower()
            try Stand(card, profile: profile) { step throws(KeyChangeError) in steps.insert(step) }
                .run(resuming: steps)
        }
        let stand = try Stand(card, profile: large) { step throws(KeyChangeError) in steps.insert(step) }
        #expect(throws: KeyChangeError.tooFewBlocks(needed: 275, free: 245)) { try stand.run() }
        card.losePower()
        #expect(card.systems[0].code == (keeps ? SystemCode(rawValue: 0xA0B1) : .any))
        if keeps {
            // What is there already is in a smaller profile, too.
            let others = [
                Self.profile.replacing("4953535545494431", with: "4953535545494432"),
                Self.profile.replacing(#""areas": ["#, with: #""areas": [{"code": "0000", "keyVersion": "0005"}, "#),
            ]
            for other in others { #expect(throws: KeyChangeError.locked) { try resume(other) } }
            #expect(card.systems[0].nodes.map(\.code.rawValue) == [0])
        }
        try resume(Self.profile)
        #expect(try Self.isIssued(card) == true)
    }

    /// A wrong key of the seller costs one frame and registers nothing.
    @Test(arguments: ["0F1E2D3C4B5A6978", "8796A5B4C3D2E1F0"])
    func wrongFactoryKey(_ key: String) throws {
        let card = try Self.blank()
        let stand = try Stand(card, factory: Self.factory.replacing(key, with: "0123456789ABCDEF"))
        #expect(throws: KeyChangeError.key(NodeCode(rawValue: 0), .wrongKey)) { try stand.run() }
        #expect(stand.field.statistics.count(of: 0x10) == 1 && stand.field.statistics.count(of: 0x12) == 0)
        #expect(card.systems[0].code == .any)
    }

    /// A step that cannot be stored is not taken.
    @Test(arguments: [false, true])
    func fullDisk(_ keeps: Bool) throws {
        nonisolated(unsafe) var whole = 0
        try Stand(Self.blank(), profile: Self.short) { _ throws(KeyChangeError) in whole += 1 }.run()
        for place in 0..<whole {
            let card = try Self.blank(keeps: keeps)
            nonisolated(unsafe) var steps: [StandardStep] = []
            let stand = try Stand(card, profile: Self.short) { step throws(KeyChangeError) in
                if steps.count == place { throw .reading(.cancelled) }
                steps.append(step)
            }
            #expect(throws: KeyChangeError.reading(.cancelled)) { try stand.run() }
            card.losePower()
            try Stand(card, profile: Self.short).run(resuming: Set(steps))
            #expect(try Self.isIssued(card, Self.short) == true, "\(place)")
        }
    }

    /// Runs with faults, then resumes without: the card is issued.
    private static func interrupt(_ faults: InjectedFaults, keeps: Bool, _ what: String) throws {
        let card = try blank(keeps: keeps)
        nonisolated(unsafe) var steps: Set<StandardStep> = []
        let stand = try Stand(card, profile: short) { step throws(KeyChangeError) in steps.insert(step) }
        stand.field.plan(faults.moved(by: stand.field.statistics.exchanges))
        let result = Result { try stand.run() }
        let isDone = try isIssued(card, short)
        #expect(isDone != nil, "\(what): a key that is in neither file")
        if case .success = result { #expect(isDone == true, "\(what)") }
        card.losePower()
        try Stand(card, profile: short).run(resuming: steps)
        #expect(try isIssued(card, short) == true, "\(what)")
    }

    private static func exchanges() throws -> Int {
        let stand = try Stand(blank(), profile: short)
        let before = stand.field.statistics.exchanges
        try stand.run()
        return stand.field.statistics.exchanges - before
    }

    /// The card leaves at each exchange, before it carries the command out and after.
    @Test(arguments: [false, true])
    func leavesAtEveryExchange(_ keeps: Bool) throws {
        for place in 1...(try Self.exchanges()) {
            for isDone in [false, true] {
                let away = InjectedFaults.cardAway(from: isDone ? place + 1 : place)
                let lost = InjectedFaultRule(.silence, .during(place...place))
                try Self.interrupt(
                    InjectedFaults((isDone ? [lost] : []) + away.rules), keeps: keeps, "\(place) \(isDone)")
            }
        }
    }

    /// At each exchange, an answer is lost or damaged, or the card loses its power for a moment.
    @Test(arguments: [InjectedFault.silence, .absent, .damaged(status: 2), .flipped(offset: 12, mask: 4)])
    func faultAtEveryExchange(_ fault: InjectedFault) throws {
        for place in 1...(try Self.exchanges()) {
            let keeps = place.isMultiple(of: 2)
            try Self.interrupt(.once(fault, at: place), keeps: keeps, "\(place) \(fault)")
        }
    }

    /// Change System Block does not reach the card, and a later answer is lost: the command is sent again and never taken for
    /// carried out. Found by a random interruption.
    @Test func lostCommit() throws {
        nonisolated(unsafe) var (field, place): (VirtualField?, Int) = (nil, 0)
        let whole = try Stand(Self.blank(keeps: true), profile: Self.short) { step throws(KeyChangeError) in
            if step == .commit { place = (field?.statistics.exchanges ?? 0) + 1 }
        }
        field = whole.field
        try whole.run()
        for later in place + 1...place + 30 {
            let card = try Self.blank(keeps: true)
            nonisolated(unsafe) var steps: Set<StandardStep> = []
            let stand = try Stand(card, profile: Self.short) { step throws(KeyChangeError) in steps.insert(step) }
            stand.field.plan([
                InjectedFaultRule(.absent, .during(place...place)),
                InjectedFaultRule(.silence, .during(later...later)),
            ])
            if (try? stand.run()) == nil {
                card.losePower()
                try Stand(card, profile: Self.short).run(resuming: steps)
            }
            #expect(try Self.isIssued(card, Self.short) == true, "\(later)")
        }
    }

    /// Another blank card takes the place of the first, after each command: it stays blank, and the first is not lost.
    @Test(arguments: [false, true])
    func anotherCardInBetween(_ keeps: Bool) throws {
        for place in 1..<(try Self.exchanges()) {
            let (card, other) = (try Self.blank(keeps: keeps), try Self.blank(keeps: keeps, idm: "010A4B0087654321"))
            let (swapped, before) = (SwappedCard(card, other), other.systems)
            nonisolated(unsafe) var steps: Set<StandardStep> = []
            let stand = try Stand(swapped, profile: Self.short) { step throws(KeyChangeError) in steps.insert(step) }
            swapped.left = place
            let result = Result { try stand.run() }
            #expect(other.systems == before, "\(place)")
            if case .success = result { #expect(try Self.isIssued(card, Self.short) == true, "\(place)") }
            card.losePower()
            try Stand(card, profile: Self.short).run(resuming: steps)
            #expect(try Self.isIssued(card, Self.short) == true, "\(place)")
        }
    }

    /// Interrupted again and again, until it ends: at least once a card on average.
    @Test func randomInterruptions() throws {
        let (whole, rounds) = (try Self.exchanges(), TestEffort.rounds(20))
        var interruptions = 0
        for seed in rounds {
            var random = SeededGenerator(seed: UInt64(seed + 1) &* 0x9E37_79B9_7F4A_7C15)
            let card = try Self.blank(keeps: seed & 1 == 0)
            nonisolated(unsafe) var steps: Set<StandardStep> = []
            var isDone = false
            for run in 0..<12 where !isDone {
                let stand = try Stand(card, profile: Self.short) { step throws(KeyChangeError) in steps.insert(step) }
                if run < 11 {
                    stand.field.plan(
                        .departure(within: whole, &random).moved(by: stand.field.statistics.exchanges))
                }
                let result = Result { try stand.run(resuming: run > 0 ? steps : nil) }
                isDone = (try? result.get()) != nil
                if !isDone { interruptions += 1 }
                let isIssued = try Self.isIssued(card, Self.short)
                #expect(isIssued != nil, "seed \(seed), run \(run): a key that is in neither file")
                #expect(run < 11 || isDone, "seed \(seed): \(result)")
                card.losePower()
            }
            #expect(try Self.isIssued(card, Self.short) == true, "seed \(seed)")
        }
        #expect(interruptions > rounds.count)
        TestEffort.report("FeliCa Standard: \(interruptions) interruptions of \(rounds.count) issuances")
    }

    /// A card with other nodes, and one of another system, are left as they are.
    @Test func otherCards() throws {
        let card = try Self.blank()
        try Stand(card).run()
        let fewer = Self.profile.replacing(#", "1056""#, with: "")
        let stand = try Stand(card, profile: fewer)
        #expect(throws: KeyChangeError.locked) { try stand.run(resuming: []) }
        let other = try Stand(
            card, profile: Self.profile.replacing("A0B1", with: "A0B2"),
            new: Self.new.replacing("A0B1", with: "A0B2"))
        #expect(throws: KeyChangeError.locked) { try other.run(resuming: []) }
        #expect(stand.field.statistics.count(of: 0x10) == 0 && other.field.statistics.count(of: 0x10) == 0)
    }

    // MARK: Profiles

    @Test func readsAProfile() throws {
        let profile = try Self.load()
        #expect(profile.areas.map(\.code.description) == ["0000", "1000", "1040", "2001"])
        #expect(profile.services.map(\.codes[0].description) == ["0409", "1008", "1050", "108C"])
        #expect(profile.blocks == 3 + 8 + 24)
        #expect(try StandardProfile(JSONCursor(profile.json)) == profile)
        #expect(profile.path(to: NodeCode(rawValue: 0x1050)).map(\.description) == ["0000", "1000", "1040"])
    }

    /// A change to the profile, and the member that the error names.
    @Test(arguments: [
        (#""A0B1""#, #""FFFF""#, "system"), (#""A0B1""#, #""A0FF""#, "system"), (#""A0B1""#, #""0000""#, "system"),
        (#""issueId": "49"#, #""issueId": ""#, "issueId"), (#""areas""#, #""area""#, "area"),
        (#""code": "1000""#, #""code": "1008""#, "areas[0].code"), (#""1FFF""#, #""0FFF""#, "areas[0].end"),
        (#""17FF""#, #""2FFF""#, "areas[0].end"), (#""17FF""#, #""17F0""#, "areas[1].end"),
        (#""code": "1000""#, #""code": "1001""#, "areas[1].end"), (#"": 40"#, #"": 30"#, "areas[0].blocks"),
        (#""code": "2001""#, #""code": "1040""#, "areas[2].code"),
        (#""2FFF""#, #""2FFF", "key": "00""#, "areas[2].key"),
        (#""100B""#, #""100F""#, "services[0].codes[1]"), (#""100B""#, #""1008""#, "services[0].codes[1]"),
        (#""0409""#, #""0429""#, "services[2].codes[0]"), (#""0409""#, #""0420""#, "services[2].codes[0]"),
        (#""0409""#, #""040B""#, "services[2].data"), (#""0409""#, #""1009""#, "services[2].codes"),
        (#""blocks": 10"#, #""blocks": 8"#, "services[0].data"),
        (#""blocks": 10"#, #""blocks": 0"#, "services[0].blocks"),
        (#""blocks": 10"#, #""blocks": 65530"#, "areas[0].blocks"), (#""0005""#, #""FFFF""#, "services[3].keyVersion"),
    ])
    func refusesAProfile(_ old: String, _ new: String, _ key: String) {
        #expect(Self.profile.contains(old))
        #expect {
            try Self.load(Self.profile.replacing(old, with: new))
        } throws: { error in
            if case DocumentError.malformed(key, _) = error { true } else { false }
        }
    }
}
