// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CardModel
import ISO7816
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import NFCForumTags

@Suite("NTAG 424 DNA set up with keys: whatever interrupts it, each key is the old or the new one")
struct TagProvisionerTests {
    static let uid: [UInt8] = [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]
    static let plan = """
        {"schema": "kazasu.tagPlan/1", "chip": "ntag424", "metaKey": 2, "fileKey": 1, "counterKey": 3,
         "url": "https://example.com/t?p={picc}&e={file:0123456789abcdef}&c={mac}",
         "access": {"2": "E000", "3": "2330"}}
        """
    static let old = """
        0 00112233445566778899AABBCCDDEEFF
        1 F0E1D2C3B4A5968778695A4B3C2D1E0F
        2 0F1E2D3C4B5A69788796A5B4C3D2E1F0
        """
    /// In no order; 4 stays.
    static let new = """
        3 3A3B3C3D3E3F30313233343536373839 03 # the shop's
        0 A0A1A2A3A4A5A6A7A8A9AAABACADAEAF
        2 2A2B2C2D2E2F20212223242526272829 12
        1 1A1B1C1D1E1F10111213141516171819
        """

    static func keys(_ text: String) throws -> TagKeys {
        var keys = TagKeys()
        try keys.add(file: Array(text.utf8))
        return keys
    }

    static func plan(_ text: String = plan) throws -> TagPlan { try TagPlan(Array(text.utf8)) }

    /// A tag as it was made, but for its keys.
    static func card(
        _ keys: TagKeys = .factory, settings: [UInt8: [UInt8]] = [:], hidesUID: Bool = false, isLRP: Bool = false,
        failures: Int = 0
    ) -> VirtualFileCard {
        let all = keys.completed()
        var tag = VirtualNTAG424(uid: uid, keys: (0..<5).compactMap { all.bytes($0) })
        (tag.isUIDHidden, tag.isLRP, tag.failures, tag.inRow) = (hidesUID, isLRP, failures, failures)
        tag.versions = (0..<5).map { all.entries[$0]?.version ?? 0 }
        tag.settings = TagPlan.factory.merging(settings) { $1 }
        let capability = [0x00, 0x17, 0x20, 0x01, 0x00, 0x00, 0xFF, 0x04, 0x06, 0xE1, 0x04, 0x01, 0x00, 0x00, 0x00]
            .map { UInt8($0) }
        let files = [(0xE103, 32, capability), (0xE104, 256, []), (0xE105, 128, [])].map { id, size, bytes in
            VirtualFile(
                FileIdentifier(rawValue: UInt16(id)),
                .bytes(bytes + [UInt8](repeating: 0, count: size - bytes.count)), read: .always)
        }
        guard let identity = TypeAIdentity(uid: uid, atqa: 0x0344, sak: 0x20) else { preconditionFailure("a UID") }
        return VirtualFileCard(
            .typeA(identity, ats: [0x05, 0x77, 0x77, 0x71, 0x02]),
            files: VirtualFileTree(
                applications: [VirtualDirectory(name: Type4Tag.application, files: files)], applets: [tag]))
    }

    static func tag(_ card: VirtualFileCard) throws -> VirtualNTAG424 {
        try #require(card.files.applet(VirtualNTAG424.self))
    }

    /// A field with a tag, and what a program keeps between runs.
    final class Stand {
        let card: VirtualFileCard
        let field: VirtualField
        var steps: [TagStep] = []
        var failures = TagSecretFailuresOfRun()

        init(_ card: VirtualFileCard) {
            self.card = card
            field = VirtualField(cards: [card])
        }

        func run(
            _ plan: TagPlan, old: TagKeys = .factory, new: TagKeys, resumes: Bool = false, permanent: Bool = false,
            assumesFactory: Bool = false, stopAfter: Int? = nil, uid: [UInt8] = TagProvisionerTests.uid
        ) throws -> TagProvision {
            card.losePower()
            let reader = InProcessReader(field)
            let request = ActivationRequest.typeA()
            guard let picc = try reader.activate(request) else { throw TransportError.noAnswer }
            let session = ISO7816Session(reader: reader, picc: picc, request: request)
            var count = 0
            let before = Set(steps)
            let provisioner = TagProvisioner(
                session: session, plan: plan, old: old, new: new, rules: TagSecretRules(failures: failures),
                resuming: resumes ? TagProgress(uid: uid, steps: before) : nil,
                journal: { step throws(TagProvisionError) in
                    count += 1
                    if let stopAfter, count > stopAfter { throw .tag(.cancelled) }
                    self.steps.append(step)
                })
            let survey = try provisioner.survey(assumesFactory: assumesFactory, allowsPermanent: permanent)
            try provisioner.prove(survey)
            return try provisioner.run()
        }
    }

    /// The keys that are new; `nil` if one is neither.
    static func changed(_ card: VirtualFileCard, old: TagKeys = .factory, new: TagKeys) throws -> Set<UInt8>? {
        var changed: Set<UInt8> = []
        for (number, key) in try tag(card).keys.enumerated() {
            let number = UInt8(number)
            if key == new.bytes(number) {
                changed.insert(number)
            } else if key != old.completed().bytes(number) {
                return nil
            }
        }
        return changed
    }

    @Test func setsUp() throws {
        let (plan, new) = (try Self.plan(), try Self.keys(Self.new))
        let stand = Stand(Self.card())
        let result = try stand.run(plan, new: new, assumesFactory: true)
        #expect(try Self.changed(stand.card, new: new) == [0, 1, 2, 3])
        let tag = try Self.tag(stand.card)
        #expect(tag.versions == [1, 1, 0x12, 3, 0] && tag.failures == 0)
        #expect(tag.settings[3] == [0x03, 0x30, 0x23])
        #expect(result.versions == [0: 1, 1: 1, 2: 0x12, 3: 3, 4: 0] && result.isVerified)
        #expect(
            stand.steps == [
                .contents(file: 2), .contents(file: 1), .key(1), .keyProved(1), .key(2), .keyProved(2), .key(3),
                .keyProved(3), .settings(file: 2), .key(0), .keyProved(0), .done,
            ])
        let url = try #require(result.url)
        let parts = try #require(SecureUniqueMessage(url: url))
        let (meta, file) = (try #require(new.entries[2]?.key), try #require(new.entries[1]?.key))
        let contents = try #require(try parts.contents(metaKey: meta, fileKey: file))
        #expect(contents.uid == Self.uid && contents.counter == 1)
        #expect(contents.fileData == Array("0123456789abcdef".utf8))
        // Again, the tag has all of it.
        let again = try stand.run(plan, old: new, new: new)
        #expect(again.steps.allSatisfy { $0.state == .already } && again.isVerified)
        #expect(throws: TagProvisionError.alreadySetUp) {
            try stand.run(plan, new: new, assumesFactory: true)
        }
        #expect(try Self.tag(stand.card).failures == 0)
    }

    @Test func resets() throws {
        let (plan, new) = (try Self.plan(), try Self.keys(Self.new))
        let stand = Stand(Self.card())
        _ = try stand.run(plan, new: new)
        stand.steps = []
        let result = try stand.run(.reset, old: new, new: .factory)
        let tag = try Self.tag(stand.card)
        #expect(
            result.left == [] && tag.keys.allSatisfy { $0.allSatisfy { $0 == 0 } } && tag.versions == [0, 0, 0, 0, 0])
        #expect(tag.settings == TagPlan.factory)
        // The reverse of a setup: key 0 first, the contents last.
        #expect(
            stand.steps == [
                .key(0), .keyProved(0), .settings(file: 2), .key(3), .keyProved(3), .key(2), .keyProved(2), .key(1),
                .keyProved(1), .contents(file: 2), .contents(file: 1), .done,
            ])
        #expect(throws: Never.self) { try stand.run(plan, new: new, assumesFactory: true) }
    }

    /// A tag that leaves during a reset, before a command or after it: each key is the old or the factory's, and `resume` ends it.
    @Test(arguments: [false, true]) func resetIsInterrupted(afterIt isDone: Bool) throws {
        let (plan, new) = (try Self.plan(), try Self.keys(Self.new))
        var place = 1
        while true {
            let stand = Stand(Self.card())
            _ = try stand.run(plan, new: new)
            stand.card.losePower()
            stand.steps = []
            let first = stand.field.statistics.exchanges + place
            let lost = InjectedFaultRule(.silence, .during(first...first))
            stand.field.plan(
                InjectedFaults((isDone ? [lost] : []) + InjectedFaults.cardAway(from: isDone ? first + 1 : first).rules)
            )
            let isWhole = (try? stand.run(.reset, old: new, new: .factory)) != nil
            stand.field.plan([])
            #expect(try Self.changed(stand.card, old: new, new: .factory) != nil, "\(place)")
            if isWhole { break }
            stand.card.losePower()
            let resumed = try stand.run(.reset, old: new, new: .factory, resumes: true)
            let tag = try Self.tag(stand.card)
            #expect(resumed.isVerified && tag.keys.allSatisfy { $0.allSatisfy { $0 == 0 } }, "\(place)")
            #expect(tag.settings == TagPlan.factory && tag.failures <= 1, "\(place)")
            place += 1
        }
        #expect(place > 60)
    }

    // MARK: Interruptions

    static func exchanges(_ plan: TagPlan, old: TagKeys = .factory, new: TagKeys) throws -> Int {
        let stand = Stand(card(old))
        _ = try stand.run(plan, old: old, new: new)
        return stand.field.statistics.exchanges
    }

    /// Runs with faults, then resumes without: all keys are new, and no key was refused more than once.
    static func interrupt(
        _ faults: InjectedFaults, _ plan: TagPlan, old: TagKeys = .factory, new: TagKeys, _ what: String
    ) throws {
        let stand = Stand(card(old))
        stand.field.plan(faults)
        let result = Result { try stand.run(plan, old: old, new: new) }
        stand.field.plan([])
        #expect(try tag(stand.card).failures == 0, "\(what): a key was refused")
        let changed = try #require(try changed(stand.card, old: old, new: new), "\(what): a key that is neither")
        if case .success = result { #expect(changed == Set(new.numbers), "\(what)") }
        stand.card.losePower()
        let resumed = try stand.run(plan, old: old, new: new, resumes: true)
        #expect(resumed.isVerified)
        #expect(try self.changed(stand.card, old: old, new: new) == Set(new.numbers), "\(what)")
        // Whichever key was open was tried: one refusal at most, and a right one took ten off.
        #expect(try tag(stand.card).failures <= 1, "\(what)")
        #expect(stand.failures.count(of: uid) == 0, "\(what)")
    }

    /// The tag leaves at each exchange, before it carries the command out and after.
    @Test func leavesAtEveryExchange() throws {
        let (plan, old, new) = (try Self.plan(), try Self.keys(Self.old), try Self.keys(Self.new))
        let whole = try Self.exchanges(plan, old: old, new: new)
        for place in 2...whole {
            for isDone in [false, true] {
                let away = InjectedFaults.cardAway(from: isDone ? place + 1 : place)
                let lost = InjectedFaultRule(.silence, .during(place...place))
                try Self.interrupt(
                    InjectedFaults((isDone ? [lost] : []) + away.rules), plan, old: old, new: new, "\(place) \(isDone)")
            }
        }
    }

    /// At each exchange, an answer is lost or damaged, or the tag loses its power for a moment.
    @Test(arguments: [InjectedFault.silence, .absent, .damaged(status: 2)])
    func faultAtEveryExchange(_ fault: InjectedFault) throws {
        let (plan, new) = (try Self.plan(), try Self.keys(Self.new))
        let whole = try Self.exchanges(plan, new: new)
        for place in 2...whole { try Self.interrupt(.once(fault, at: place), plan, new: new, "\(place) \(fault)") }
    }

    /// Interrupted again and again, at least twice a setup on average, until it ends: each run refuses a key at most once.
    @Test func randomInterruptions() throws {
        let (plan, new) = (try Self.plan(), try Self.keys(Self.new))
        let rounds = TestEffort.rounds(20)
        var interruptions = 0
        for seed in rounds {
            let seed = UInt64(seed)
            let stand = Stand(Self.card())
            var isDone = false
            for run in 0..<12 as Range<UInt64> where !isDone {
                stand.field.plan([
                    InjectedFaultRule(.absent, .random(perThousand: run < 10 ? 20 : 0, seed: seed &+ 31 &* run)),
                    InjectedFaultRule(.silence, .random(perThousand: run < 10 ? 20 : 0, seed: seed &+ 37 &* run)),
                ])
                let before = try Self.tag(stand.card).failures
                isDone = (try? stand.run(plan, new: new, resumes: run > 0)) != nil
                if !isDone { interruptions += 1 }
                #expect(try Self.changed(stand.card, new: new) != nil, "seed \(seed), run \(run)")
                #expect(try Self.tag(stand.card).failures <= before + 1, "seed \(seed), run \(run)")
                stand.card.losePower()
            }
            #expect(isDone, "seed \(seed)")
            #expect(try Self.changed(stand.card, new: new) == [0, 1, 2, 3], "seed \(seed)")
        }
        #expect(interruptions > 2 * rounds.count)
        TestEffort.report("NTAG 424 DNA, AES: \(interruptions) interruptions of \(rounds.count) setups")
    }

    /// A step that cannot be stored is not taken.
    @Test func fullDisk() throws {
        let (plan, new) = (try Self.plan(), try Self.keys(Self.new))
        for place in 0..<12 {
            let stand = Stand(Self.card())
            #expect(throws: TagProvisionError.tag(.cancelled)) { try stand.run(plan, new: new, stopAfter: place) }
            let count = stand.steps.count { if case .key = $0 { true } else { false } }
            #expect(try Self.changed(stand.card, new: new)?.count == count, "\(place)")
        }
    }

    // MARK: Refusals

    /// A wrong key is found before the first step, sent once, remembered and then held back.
    @Test(arguments: 0...3 as ClosedRange<UInt8>)
    func wrongKey(_ number: UInt8) throws {
        let new = try Self.keys(Self.new)
        var wrong = TagKeys()
        try wrong.add(file: Array("\(number) 0102030405060708090A0B0C0D0E0F10".utf8))
        let stand = Stand(Self.card())
        #expect(throws: TagProvisionError.wrongKey(number)) { try stand.run(Self.plan(), old: wrong, new: new) }
        #expect(try Self.tag(stand.card).failures == 1 && stand.steps.isEmpty)
        #expect(throws: TagProvisionError.tag(.key(.failedBefore))) {
            try stand.run(Self.plan(), old: wrong, new: new)
        }
        #expect(try Self.changed(stand.card, new: new) == [])
        // Nothing was tried the second time.
        #expect(stand.card.commands.count { $0[1] == 0xAF && $0.count > 6 } == Int(number) + 1)
    }

    @Test func permanent() throws {
        let new = try Self.keys(Self.new)
        let text = Self.plan.replacing("\"metaKey\"", with: "\"readOnly\": true, \"randomUID\": true, \"metaKey\"")
        let plan = try Self.plan(text)
        let stand = Stand(Self.card())
        #expect(throws: TagProvisionError.permanent) { try stand.run(plan, new: new) }
        let result = try stand.run(plan, new: new, permanent: true)
        let tag = try Self.tag(stand.card)
        #expect(result.isVerified && tag.isUIDHidden && tag.settings[2]?.prefix(3) == [0x40, 0xFF, 0xEF])
        #expect(Array(stand.steps.suffix(4)) == [.keyProved(0), .freeze(file: 2), .randomUID, .done])
        stand.steps = []
        #expect(throws: TagProvisionError.frozen(file: 2)) { try stand.run(Self.plan(), old: new, new: new) }
        let reset = try stand.run(.reset, old: new, new: .factory)
        #expect(reset.left == [.randomUID, .freeze(file: 2)])
    }

    /// A tag that hides its UID tells it with a key: an interrupted run goes on, and another tag is found out.
    @Test func hiddenUID() throws {
        let (plan, old, new) = (try Self.plan(), try Self.keys(Self.old), try Self.keys(Self.new))
        for stop in [3, 5, 9] {
            let card = Self.card(old, hidesUID: true)
            let stand = Stand(card)
            #expect(throws: TagProvisionError.tag(.cancelled)) {
                try stand.run(plan, old: old, new: new, stopAfter: stop)
            }
            #expect(throws: TagProvisionError.otherTag) {
                try stand.run(plan, old: old, new: new, resumes: true, uid: [4, 9, 9, 9, 9, 9, 9])
            }
            #expect(try stand.run(plan, old: old, new: new, resumes: true).uid == Self.uid)
            #expect(try Self.changed(card, old: old, new: new) == [0, 1, 2, 3])
        }
    }

    /// Checked before anything is sent.
    @Test func plans() throws {
        let zeros = try Self.keys("0 00000000000000000000000000000000")
        let stand = Stand(Self.card())
        #expect(throws: TagProvisionError.factoryKey(0)) { try stand.run(Self.plan(), new: zeros) }
        #expect(throws: TagProvisionError.factoryKey(2)) {
            try stand.run(Self.plan(), new: Self.keys("1 0102030405060708090A0B0C0D0E0F10"))
        }
        #expect(stand.card.commands.isEmpty)
        let base = #""schema": "kazasu.tagPlan/1", "chip": "ntag424""#
        let wrong = [
            "{}", #"{"schema": "kazasu.tagPlan/1"}"#, "{\(base)}", "{\(base), \"url\": 1}",
            "{\(base), \"url\": \"https://a.example/{mac}\", \"fileKey\": 1}",
            "{\(base), \"url\": \"https://a.example/{picc}\"}",
            "{\(base), \"url\": \"https://a.example/{picc}{picc}\", \"metaKey\": 1}",
            "{\(base), \"url\": \"https://a.example/{picc}\", \"metaKey\": 5}",
            "{\(base), \"url\": \"https://a.example/{picc}\", \"metaKey\": 1, \"fileKey\": 1}",
            "{\(base), \"url\": \"https://a.example/{picc}{mac}{^}\", \"metaKey\": 1, \"fileKey\": 1}",
            "{\(base), \"url\": \"https://a.example/{picc}{file:x}{mac}\", \"metaKey\": 1, \"fileKey\": 1}",
            "{\(base), \"url\": \"https://a.example/{uid}{mac}\", \"fileKey\": 1}",
            "{\(base), \"url\": \"https://a.example/{nothing}\"}", "{\(base), \"url\": \"https://a.example/{\"}",
            "{\(base), \"url\": \"https://a.example/\", \"ndef\": \"D00000\"}", "{\(base), \"ndef\": \"00\"}",
            "{\(base), \"url\": \"https://a.example/\", \"access\": {\"1\": \"E000\"}}",
            "{\(base), \"url\": \"https://a.example/\", \"access\": {\"2\": \"E0\"}}",
            "{\(base), \"url\": \"https://a.example/\", \"access\": {\"2\": \"E00E\"}}",
            "{\(base), \"url\": \"https://a.example/\", \"access\": {\"2\": \"5000\"}}",
            "{\(base), \"url\": \"https://a.example/\", \"counterLimit\": 5}",
            "{\(base), \"url\": \"https://a.example/\", \"key0\": \"00\"}",
            "{\(base), \"url\": \"https://a.example/\", \"lrp\": 1}",
            "{\(base), \"url\": \"https://a.example/\(String(repeating: "a", count: 250))\"}",
            "{\(base), \"url\": \"https://a.example/{picc}\", \"metaKey\": 1, \"access\": {\"2\": \"0000\"}}",
        ]
        for text in wrong { #expect(throws: DocumentError.self, "\(text)") { try Self.plan(text) } }
        let right = [
            "{\(base), \"url\": \"https://a.example/\"}", "{\(base), \"ndef\": \"D00000\"}",
            "{\(base), \"url\": \"https://a.example/{uid}x{ctr}?{mac}\", \"fileKey\": 0}",
            "{\(base), \"url\": \"https://a.example/{uid}\"}",
            "{\(base), \"url\": \"https://a.example/\", \"lrp\": true}",
            "{\(base), \"url\": \"https://a.example/{picc}?{^}x{mac}\", \"metaKey\": 1, \"fileKey\": 1}",
        ]
        for text in right { #expect(throws: Never.self, "\(text)") { try Self.plan(text) } }
    }

    @Test func keyFiles() throws {
        for text in [
            "0", "5 00112233445566778899AABBCCDDEEFF", "0 00112233445566778899AABBCCDDEE", "0 factory zz", "x factory",
            "0 00112233445566778899AABBCCDDEEFF 01 02", "0 factory\n0 factory",
            "0 00112233445566778899AABBCCDDEEFG",
        ] {
            #expect(throws: DocumentError.self, "\(text)") { try Self.keys(text) }
        }
        let keys = try Self.keys("\u{FEFF}# a comment\r\n\r\n4 factory\n1\t00112233445566778899aabbccddeeff ff # x\r\n")
        #expect(keys.numbers == [1, 4] && keys.entries[1]?.version == 0xFF && keys.isFactory(4))
        #expect("\(keys)" == "Redacted")
    }

    @Test("K1: AN10922; a master's keys differ by tag, the factory's stay")
    func diversification() throws {
        let master = try AESKey(SecretBytes(Hex.decode("00112233445566778899AABBCCDDEEFF")))
        let input = try Hex.decode("04782E21801D80 3042F5 4E585020416275")
        #expect(try Diversification.aes(master, input) == Hex.decode("A8DD63A3B89D54B37CA802473FDA9175"))
        #expect(throws: CryptoError.self) { try Diversification.aes(master, [UInt8](repeating: 0, count: 32)) }
        let keys = try Self.keys("0 00112233445566778899AABBCCDDEEFF\n1 factory").diversified(input)
        #expect(keys.bytes(0) == (try Hex.decode("A8DD63A3B89D54B37CA802473FDA9175")) && keys.isFactory(1))
    }
}

@Suite("Commands of EV2 sessions, byte by byte (tagkeys-5)")
struct EV2CommandTests {
    private static func session(_ identifier: String, _ cipher: String, _ mac: String, _ counter: UInt16 = 0) throws
        -> EV2Session
    {
        EV2Session(
            identifier: try Hex.decode(identifier), cipherKey: try AESKey(SecretBytes(Hex.decode(cipher))),
            macKey: try AESKey(SecretBytes(Hex.decode(mac))), counter: counter)
    }

    private static func command(
        _ session: EV2Session, _ command: EV2Command, _ header: String, _ data: [UInt8] = [],
        _ file: EV2Session.Mode = .plain
    ) throws -> [UInt8] {
        let header = try Hex.decode(header)
        #expect(header.count == command.header)
        var session = session
        return try session.command(command.code, header: header, data: data, command.mode(file))
    }

    @Test("S7: MAC mode in both directions")
    func macMode() throws {
        var session = try Self.session(
            "E2D3AF69", String(repeating: "00", count: 16), "9366FA195EB566F5BD2BAD4020B83002")
        let data = [UInt8](repeating: 0x22, count: 25)
        let sent = try Self.command(session, .write, "00000000190000", data, .mac)
        #expect(Array(sent.suffix(8)) == (try Hex.decode("68F2C28C575A1628")))
        #expect(try session.answer(Hex.decode("0820F68898C2A7F1"), .mac) == [])
        let read = try Self.command(session, .read, "00000000300000", [], .mac)
        #expect(read == (try Hex.decode("00000000300000 0D9BE191D5960834")))
        let answer = data + [UInt8](repeating: 0, count: 23)
        #expect(try session.answer(answer + Hex.decode("A49A44222D926666"), .mac) == answer)
    }

    @Test("S8: ChangeKey of the session's key")
    func ownKey() throws {
        let session = try Self.session(
            "94297F4D", "E156C8522F7C8DC82B0C99BA847DE723", "45D50C1570000D2F173DF949288E3CAD")
        let data = EV2KeyChange.own(try Hex.decode("01234567890123456789012345678901"), version: 0)
        #expect(
            try Self.command(session, .changeOwnKey, "00", data)
                == Hex.decode("00 BF5400DC97A1FBD65BE870716D6F11F8161BB4CA472856DB94AB94B2EC1A13E6 27CE07CF56C11091"))
    }

    @Test("D9, C3: ChangeKey of another key, and its checksum")
    func otherKey() throws {
        #expect(EV2KeyChange.checksum(try Hex.decode("F3847D627727ED3BC9C4CC050489B966")) == [0x78, 0x9D, 0xFA, 0xDC])
        let session = try Self.session(
            "7614281A", "4CF3CB41A22583A61E89B158D252FC53", "5529860B2FC5FB6154B7F28361D30BF9", 2)
        let data = EV2KeyChange.other(
            try Hex.decode("F3847D627727ED3BC9C4CC050489B966"), old: [UInt8](repeating: 0, count: 16), version: 1)
        #expect(
            try Self.command(session, .changeKey, "02", data)
                == Hex.decode(
                    "02 2CF362B7BF4311FF3BE1DAA295E8C68DE09050560D19B9E16C2393AE9CD1FAC7 5D0CE20BCD1D06E6"))
    }

    @Test("N1: WriteData enciphered")
    func full() throws {
        var session = try Self.session(
            "7614281A", "7A93D6571E4B180FCA6AC90C9A7488D4", "FC4AF159B62E549B5812394CAB1918CC")
        let sent = try Self.command(
            session, .write, "030000000A0000", Hex.decode("0102030405060708090A"), .full)
        #expect(sent == (try Hex.decode("030000000A0000 6B5E6804909962FC4E3FF5522CF0F843 6C0C53315B9C73AA")))
        #expect(
            try Self.start("7A93D6571E4B180FCA6AC90C9A7488D4", sent[7..<23], "0102030405060708090A80")
                == Hex.decode("4C651A64261A90307B6C293F611C7F7B"))
        #expect(try session.answer(Hex.decode("C26D236E4A7C046D"), .full) == [])
    }

    /// The starting value with which a first block was enciphered.
    private static func start(_ key: String, _ block: ArraySlice<UInt8>, _ text: String) throws -> [UInt8] {
        let plain = try Hex.decode(text)
        let bytes = try AESKey(SecretBytes(Hex.decode(key))).decrypt(block)
        return zip(bytes, plain + [UInt8](repeating: 0, count: 16 - plain.count)).map { $0 ^ $1 }
    }

    @Test("N4: the version of a real tag")
    func version() throws {
        #expect(NTAG424Tag.product(version: try Hex.decode("04040830001105")) == "NTAG 424 DNA")
        #expect(NTAG424Tag.product(version: try Hex.decode("04040201021105")) == nil)
    }

    @Test("C2: the subkeys of a CMAC")
    func subkeys() throws {
        let key = try AESKey(SecretBytes(Hex.decode("00112233445566778899AABBCCDDEEFF")))
        func turned(_ text: String, _ subkey: String) throws -> [UInt8] {
            try key.encrypt(zip(Hex.decode(text), Hex.decode(subkey)).map { $0 ^ $1 })
        }
        let (whole, short) = ("0F0E0D0C0B0A09080706050403020100", "0F0E0D0C0B0A090807060504030201")
        #expect(try key.cmac(Hex.decode(whole)) == turned(whole, "FBC9F75C9413C041DFEE452D3F0706D1"))
        #expect(try key.cmac(Hex.decode(short)) == turned(short + "80", "F793EEB928278083BFDC8A5A7E0E0D25"))
    }

    @Test("K5: a master that others pad to one block makes another key")
    func otherDiversification() throws {
        let master = SecretBytes(try Hex.decode("83A66CF43605111802A2616FA0C5E2FF"))
        let input = try Hex.decode("044D0702195E80DADADA715517")
        let others = try Hex.decode("DAE9B8D3136B2DAE35D58678F378B0B1")
        #expect(try AESKey(master).cmac([0x01] + input) == others)
        #expect(try Diversification.aes(AESKey(master), input) != others)
    }

    @Test("K6: the keys of a boltcard, which are codes without a diversification")
    func boltcard() throws {
        func code(_ key: String, _ message: String) throws -> String {
            try AESKey(SecretBytes(Hex.decode(key))).cmac(Hex.decode(message)).hexadecimal.uppercased()
        }
        let issuer = "00000000000000000000000000000001"
        let card = try code(issuer, "2D003F75 04A39493CC8680 01000000")
        #expect(card == "EBFF5A4E6DA5EE14CBFE720AE06FBED9")
        #expect(try code(card, "2D003F76") == "A29119FCB48E737D1591D3489557E49B")
        #expect(try code(issuer, "2D003F77") == "55DA174C9608993DC27BB3F30A4A7314")
        #expect(try code(card, "2D003F78") == "F4B404BE700AB285E333E32348FA3D3B")
        #expect(try code(card, "2D003F79") == "73610BA4AFE45B55319691CB9489142F")
        #expect(try code(card, "2D003F7A") == "ADDD03E52964369BE7F2967736B7BDB5")
    }

    @Test("N2: a real tag in MAC mode, from its challenge on")
    func realTag() throws {
        let key = try AESVectorTests.key()
        let made = try EV2Authentication(
            challenge: Hex.decode("2FE216D6F86B1CBD8937C41D55073383"), key: key,
            random: Hex.decode("24BF204C43B6941047265242A23724F8"))
        let run = try #require(made)
        let turned = try Hex.decode("BF204C43B6941047265242A23724F824")
        let answer = try key.encrypt(try Hex.decode("59237C63") + turned + [UInt8](repeating: 0, count: 12))
        var session = try #require(try run.session(answer))
        session.counter = 1
        #expect(
            try Self.command(session, .read, "03000000080000", [], .mac)
                == Hex.decode("03000000080000 D92404817565D2A9"))
        #expect(
            try session.answer(Hex.decode("DEADBEEF01020304 2F36F240E65DB6CF"), .mac)
                == Hex.decode("DEADBEEF01020304"))
        // NonFirst goes on with identifier and counter.
        let next = try #require(try run.session(try key.encrypt(turned), after: session))
        #expect(next.identifier == session.identifier && next.counter == 2)
        #expect(try run.session(answer, after: session) == nil && run.session(try key.encrypt(turned)) == nil)
    }

    @Test("S6, N3: SetConfiguration, whose answer may have no code")
    func configuration() throws {
        let cipher = "66A8CB93269DC9BC2885B7A91B9C697B"
        let session = try Self.session("ED56F6E6", cipher, "7DE5F7E244A46D22E536804D07E8D70E")
        let data = try Hex.decode("00000000020000000000")
        let sent = try Self.command(session, .configure, "05", data)
        #expect(
            try Self.start(cipher, sent[1..<17], "0000000002000000000080")
                == Hex.decode("DA0F644A4986275957CF1EC3AF4CCE53"))
        #expect(
            try Self.command(session, .configure, "05", Hex.decode("00000000020000000000"))
                == Hex.decode("05 41B2BA963075730426D0858D2AA6C498 2F579E77FAB49F83"))
        #expect(EV2Command.configure.proof == .optional && EV2Command.changeOwnKey.proof == .none)
    }
}
