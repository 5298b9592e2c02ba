// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardModel
import ISO7816
import ReaderCore
import TestSupport
import Testing

@testable import NFCForumTags
@testable import VirtualCards
import VirtualReader

/// A virtual DESFire that is gone from one exchange on, before or after the card carried it out.
private final class LeavingDESFire: CardChannel {
    var state: FileCardState
    /// The exchange at which the card leaves, counted from 1; 0 for never.
    var leavesAt = 0
    var carriesOut = false
    private(set) var exchanges = 0
    private(set) var commands: [[UInt8]] = []

    init(_ card: VirtualDESFire) { state = FileCardState(VirtualFileTree(applets: [card]), FileCardOptions()) }

    private var isAway: Bool { leavesAt > 0 && exchanges >= leavesAt }

    var session: ISO7816Session {
        ISO7816Session(channel: self) { [self] () throws(TransportError) in
            guard !isAway else { throw .cardReleased }
            state.losePower()
            return true
        }
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        guard !isAway else { throw .noAnswer }
        exchanges += 1
        commands.append(frame)
        guard exchanges == leavesAt else { return state.answer(frame) }
        if carriesOut { _ = state.answer(frame) }
        throw .noAnswer
    }

    func begin(leavesAt: Int = 0, carriesOut: Bool = false) {
        state.losePower()
        (exchanges, self.leavesAt, self.carriesOut, commands) = (0, leavesAt, carriesOut, [])
    }

    var card: VirtualDESFire {
        guard let card = state.tree.applet(VirtualDESFire.self) else { preconditionFailure("no applet") }
        return card
    }
}

@Suite("A DESFire set up by a plan: whatever interrupts it, each key is the old or the new one")
struct DESFireProvisionerTests {
    static let uid: [UInt8] = [4, 1, 2, 3, 4, 5, 6]

    static let plan = """
        {"schema": "kazasu.tagPlan/1", "chip": "desfire", "piccSettings": "09", "applications": [
          {"aid": "F5A1C0", "keyType": "aes", "keys": 3, "settings": "0B", "name": "A0000001", "files": [
            {"number": 1, "type": "standard", "access": "E110", "size": 40, "data": "4D656D6265722030"},
            {"number": 2, "type": "backup", "mode": "full", "access": "1220", "size": 70, "data": "CAFE"},
            {"number": 3, "type": "value", "mode": "mac", "access": "1220", "upper": 500, "value": 25},
            {"number": 4, "type": "cyclic", "mode": "full", "access": "1220", "recordSize": 8, "maxRecords": 4}]},
          {"aid": "030201", "keyType": "3k3des", "keys": 2, "settings": "19", "files": [
            {"number": 0, "type": "linear", "access": "0110", "recordSize": 4, "maxRecords": 2}]}],
         "ndef": {"size": 64, "uri": "https://example.com/c", "writeKey": 1}}
        """
    static let new = """
        picc 0 A0A1A2A3A4A5A6A7A8A9AAABACADAEAF 07
        F5A1C0 0 00112233445566778899AABBCCDDEEFF
        F5A1C0 1 101112131415161718191A1B1C1D1E1F 02
        030201 0 00112233445566778899AABBCCDDEEFF0102030405060708
        030201 1 20212233445566778899AABBCCDDEEFF0102030405060709 33
        000001 1 303132333435363738393A3B3C3D3E3F
        """
    static let old = "picc 0 30313233343536373031323334353637 # DES\n"

    static func keys(_ text: String) throws -> DESFireKeys {
        var keys = DESFireKeys()
        try keys.add(file: Array(text.utf8))
        return keys
    }

    static func plan(_ text: String = plan) throws -> DESFirePlan { try DESFirePlan(Array(text.utf8)) }

    static func card(
        _ generation: VirtualDESFire.Generation = .ev2,
        master: [UInt8] = [0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37]
    ) -> VirtualDESFire {
        let application = VirtualDESFire.Application(
            id: [0, 0, 0], settings: 0x0F, keys: [DESFireChipKey(.des, master + master)], versions: [0x55])
        return VirtualDESFire(generation, uid: uid, card: application)
    }

    private final class Stand {
        let card: LeavingDESFire
        var steps: [DESFireStep] = []

        init(_ card: VirtualDESFire) { self.card = LeavingDESFire(card) }

        func run(
            _ plan: DESFirePlan, old: DESFireKeys, new: DESFireKeys, resumes: Bool = false,
            assumesFactory: Bool = false, permanent: Bool = true, stopAfter: Int = .max
        ) throws(DESFireProvisionError) -> DESFireProvision {
            let before = Set(steps)
            var count = 0
            let provisioner = DESFireProvisioner(
                session: card.session, plan: plan, old: old, new: new,
                resuming: resumes ? DESFireProgress(uid: uid, steps: before) : nil,
                journal: { step throws(DESFireProvisionError) in
                    guard count < stopAfter else { throw .card(.tag(.cancelled)) }
                    count += 1
                    self.steps.append(step)
                })
            let survey = try provisioner.survey(assumesFactory: assumesFactory, allowsPermanent: permanent)
            try provisioner.prove(survey)
            return try provisioner.run()
        }
    }

    /// What the plan makes of a card.
    static func check(_ card: VirtualDESFire, _ what: String = "") throws {
        let keys = try #require(card.applications.first).keys.map { $0.bytes.hexadecimal }
        #expect(
            keys == [
                "00112233445566778899aabbccddeeff", "101112131415161718191a1b1c1d1e1f",
                String(repeating: "0", count: 32),
            ], "\(what)")
        #expect(card.applications.map { $0.settings } == [0x0B, 0x19, 0x0F], "\(what)")
        #expect(card.applications.map { $0.id.hexadecimal } == ["f5a1c0", "030201", "000001"], "\(what)")
        #expect(card.applications[0].versions == [1, 2, 0] && card.applications[1].versions[1] == 0x33, "\(what)")
        let files = card.applications[0].files
        #expect(files[1]?.bytes.prefix(8) == [0x4D, 0x65, 0x6D, 0x62, 0x65, 0x72, 0x20, 0x30], "\(what)")
        #expect(files[2]?.bytes.prefix(3) == [0xCA, 0xFE, 0x00] && files[3]?.value == 25, "\(what)")
        #expect(files[4]?.maxRecords == 4 && files[4]?.mode == 3 && files[4]?.rights == [0x20, 0x12], "\(what)")
        #expect(
            card.card.keys.first?.kind == .aes && card.card.versions == [7] && card.card.settings == 0x09, "\(what)")
        #expect(card.card.keys.first?.bytes.hexadecimal == "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf", "\(what)")
    }

    @Test(arguments: [VirtualDESFire.Generation.ev1, .ev2, .ev3])
    func setsUp(_ generation: VirtualDESFire.Generation) throws {
        let stand = Stand(Self.card(generation))
        let (plan, old, new) = (try Self.plan(), try Self.keys(Self.old), try Self.keys(Self.new))
        let result = try stand.run(plan, old: old, new: new)
        try Self.check(stand.card.card)
        #expect(result.isVerified && result.url == "https://example.com/c" && stand.card.card.failures.isEmpty)
        #expect(result.steps.allSatisfy { $0.state == .done } && stand.steps.last == .done)
        // Keys but 0 before key 0 before the settings, and the card's own at the end.
        let names = stand.steps.map {
            "\($0.name) \($0.application?.description ?? "") \($0.number.map { "\($0)" } ?? "")"
        }
        #expect(
            names.prefix(12) == [
                "application F5A1C0 ", "file F5A1C0 1", "file F5A1C0 2", "file F5A1C0 3", "file F5A1C0 4",
                "contents F5A1C0 1",
                "contents F5A1C0 2", "key F5A1C0 1", "keyProved F5A1C0 1", "key F5A1C0 0", "keyProved F5A1C0 0",
                "settings F5A1C0 ",
            ])
        #expect(names.suffix(4) == ["key 000000 0", "keyProved 000000 0", "settings 000000 ", "done  "])
        // Nothing of a key was sent in the clear, and once more all of it is there.
        for command in stand.card.commands {
            #expect(!command.hexadecimal.contains("00112233445566778899aabb"))
        }
        stand.card.begin()
        let again = try stand.run(plan, old: new, new: new)
        #expect(again.steps.allSatisfy { $0.state == .already } && again.isVerified)
    }

    @Test("An old card gets single DES keys, and nothing that it does not know")
    func oldCard() throws {
        let text = """
            {"schema": "kazasu.tagPlan/1", "chip": "desfire", "applications": [{"aid": "F48020", "keyType": "des", "keys": 2,
              "files": [{"number": 0, "type": "standard", "mode": "full", "access": "1110", "size": 16, "data": "00FF"}]}]}
            """
        let new = try Self.keys("F48020 0 0123456789ABCDEF 21\nF48020 1 00112233445566778899AABBCCDDEEFF\n")
        let stand = Stand(Self.card(.d40))
        #expect(try stand.run(try Self.plan(text), old: DESFireKeys(), new: new).isVerified)
        let keys = try #require(stand.card.card.applications.first).keys
        #expect(keys[0].bytes[..<8] == keys[0].bytes[8...] && stand.card.card.applications[0].versions[0] == 0x21)
        #expect(throws: DESFireProvisionError.tooOld) {
            try Stand(Self.card(.d40)).run(try Self.plan(), old: Self.keys(Self.old), new: Self.keys(Self.new))
        }
    }

    // MARK: Interruptions

    /// Each key of a card is the factory's, the old or the new one.
    static func isNeverLost(_ card: VirtualDESFire, _ old: DESFireKeys, _ new: DESFireKeys) -> Bool {
        ([card.card] + card.applications).allSatisfy { application in
            let id = DESFireApplicationID(bytes: application.id.reversed()) ?? .card
            return application.keys.enumerated().allSatisfy { number, key in
                if id != .card, key.bytes.allSatisfy({ $0 == 0 }) { return true }
                let type = DESFireKeyType(rawValue: key.kind.rawValue)
                return [old, new, DESFireKeys.factoryCard].contains { keys in
                    guard let type, let known = keys.key(UInt8(number), of: id, type), let key = try? known.key(type)
                    else {
                        return false
                    }
                    return unsafe key.secret.withUnsafeBytes { unsafe $0.elementsEqual(application.keys[number].bytes) }
                }
            }
        }
    }

    @Test("Leaves at every exchange, before and after it carried the command out", arguments: [false, true])
    func leaves(carriesOut: Bool) throws {
        let (plan, old, new) = (try Self.plan(), try Self.keys(Self.old), try Self.keys(Self.new))
        var place = 1
        while true {
            let stand = Stand(Self.card())
            stand.card.begin(leavesAt: place, carriesOut: carriesOut)
            let isWhole = (try? stand.run(plan, old: old, new: new)) != nil
            #expect(Self.isNeverLost(stand.card.card, old, new), "\(place)")
            if isWhole { break }
            stand.card.begin()
            let resumed = try stand.run(plan, old: old, new: new, resumes: true)
            #expect(resumed.isVerified)
            try Self.check(stand.card.card, "\(place)")
            #expect(stand.card.card.failures.values.allSatisfy { $0 <= 1 }, "\(place)")
            place += 1
        }
        #expect(place > 150)
    }

    @Test("A step that cannot be stored is not taken")
    func fullDisk() throws {
        let (plan, old, new) = (try Self.plan(), try Self.keys(Self.old), try Self.keys(Self.new))
        var place = 0
        while true {
            let stand = Stand(Self.card())
            stand.card.begin()
            let isWhole = (try? stand.run(plan, old: old, new: new, stopAfter: place)) != nil
            let changes = stand.card.commands.count { $0[1] == 0xC4 }
            let steps = stand.steps.count { if case .key = $0 { true } else { false } }
            #expect(changes == steps && Self.isNeverLost(stand.card.card, old, new), "\(place)")
            if isWhole { break }
            stand.card.begin()
            #expect(try stand.run(plan, old: old, new: new, resumes: true).isVerified, "\(place)")
            place += 1
        }
        #expect(place > 20)
    }

    @Test("Leaves again and again at random, and ends all the same")
    func randomInterruptions() throws {
        let (plan, old, new) = (try Self.plan(), try Self.keys(Self.old), try Self.keys(Self.new))
        var random = SeededGenerator(seed: 54)
        let rounds = TestEffort.rounds(10)
        var interruptions = 0
        for run in rounds {
            let stand = Stand(Self.card(run % 2 == 0 ? .ev1 : .ev3))
            var isWhole = false
            for attempt in 0..<12 where !isWhole {
                let place = attempt == 11 ? 0 : Int.random(in: 1...200, using: &random)
                stand.card.begin(leavesAt: place, carriesOut: Bool.random(using: &random))
                isWhole = (try? stand.run(plan, old: old, new: new, resumes: !stand.steps.isEmpty)) != nil
                if !isWhole { interruptions += 1 }
                #expect(Self.isNeverLost(stand.card.card, old, new), "\(run)")
            }
            #expect(isWhole, "\(run)")
            try Self.check(stand.card.card, "\(run)")
            // Each interruption leaves at most one key open.
            #expect(stand.card.card.failures.values.allSatisfy { $0 <= 11 }, "\(run)")
        }
        #expect(interruptions > rounds.count)
        TestEffort.report("DESFire: \(interruptions) interruptions of \(rounds.count) setups")
    }

    // MARK: Resetting

    @Test(
        "A reset deletes what the keys open and gives the card's key back, also after an interruption",
        arguments: [false, true])
    func resets(formats: Bool) throws {
        let (plan, old, new) = (try Self.plan(), try Self.keys(Self.old), try Self.keys(Self.new))
        let reset = DESFirePlan.reset(deleting: new.applications, formats: formats)
        let first = Stand(Self.card())
        _ = try first.run(plan, old: old, new: new)
        let made = first.card.card
        for carriesOut in [false, true] {
            var place = 1
            while true {
                let stand = Stand(made)
                let free = stand.card.card.freeMemory
                stand.card.begin(leavesAt: place, carriesOut: carriesOut)
                let isWhole = (try? stand.run(reset, old: new, new: .factoryCard)) != nil
                #expect(Self.isNeverLost(stand.card.card, old, new), "\(place)")
                if !isWhole {
                    stand.card.begin()
                    #expect(try stand.run(reset, old: new, new: .factoryCard, resumes: true).isVerified)
                }
                let card = stand.card.card
                #expect(card.applications.isEmpty && card.card.settings == 0x0F, "\(place)")
                #expect(card.card.keys == [DESFireChipKey(.des, [UInt8](repeating: 0, count: 16))], "\(place)")
                #expect(card.failures.values.allSatisfy { $0 <= 1 } && (card.freeMemory > free) == formats, "\(place)")
                if isWhole { break }
                place += 1
            }
            #expect(place > 40)
        }
    }

    @Test("Deletes only what the given keys open, with the application's own key if the card's is not given")
    func resetsOnlyOwn() throws {
        let stand = Stand(Self.card())
        let text = """
            {"schema": "kazasu.tagPlan/1", "chip": "desfire", "applications": [
              {"aid": "000011", "keyType": "aes", "keys": 1}, {"aid": "000012", "keyType": "aes", "keys": 1}]}
            """
        let new = try Self.keys(
            "000011 0 A0A1A2A3A4A5A6A7A8A9AAABACADAEAF\n000012 0 B0A1A2A3A4A5A6A7A8A9AAABACADAEAF\n")
        _ = try stand.run(try Self.plan(text), old: DESFireKeys(), new: new)
        stand.card.begin()
        let wrong = try Self.keys("000011 0 B0A1A2A3A4A5A6A7A8A9AAABACADAEAF\n")
        let reset = DESFirePlan.reset(deleting: wrong.applications, formats: false)
        #expect(throws: DESFireProvisionError.wrongKey(DESFireKeyID(try #require(DESFireApplicationID("000011")), 0))) {
            try stand.run(reset, old: wrong, new: DESFireKeys())
        }
        #expect(stand.card.card.applications.count == 2)
        stand.card.begin()
        let own = try Self.keys("000011 0 A0A1A2A3A4A5A6A7A8A9AAABACADAEAF\n")
        #expect(try stand.run(reset, old: own, new: DESFireKeys()).isVerified)
        #expect(stand.card.card.applications.map { $0.id } == [[0, 0, 0x12]])
    }

    // MARK: What is refused before anything is sent

    @Test("Refuses before anything is written")
    func refuses() throws {
        let (plan, old, new) = (try Self.plan(), try Self.keys(Self.old), try Self.keys(Self.new))
        func failure(
            _ plan: DESFirePlan, on card: VirtualDESFire = Self.card(), old: DESFireKeys, new: DESFireKeys,
            assumesFactory: Bool = false, permanent: Bool = true
        ) -> DESFireProvisionError? {
            let stand = Stand(card)
            do throws(DESFireProvisionError) {
                _ = try stand.run(plan, old: old, new: new, assumesFactory: assumesFactory, permanent: permanent)
                return nil
            } catch {
                #expect(stand.steps.isEmpty)
                return error
            }
        }
        let frozen = try Self.plan(Self.plan.replacing("0B", with: "0A"))
        #expect(failure(frozen, old: old, new: new, permanent: false) == .permanent)
        #expect(failure(plan, old: DESFireKeys(), new: new, assumesFactory: true) == .alreadySetUp(.card))
        #expect(failure(plan, old: DESFireKeys(), new: new) == .wrongKey(.master))
        let zeros = try Self.keys(Self.new + "\nF5A1C0 2 factory\n")
        #expect(
            failure(plan, old: old, new: zeros)
                == .factoryKey(DESFireKeyID(try #require(DESFireApplicationID("F5A1C0")), 2)))
        let unknown = try Self.keys(Self.new + "\nABCDEF 0 303132333435363738393A3B3C3D3E3F\n")
        #expect(
            failure(plan, old: old, new: unknown)
                == .unusableKey(DESFireKeyID(try #require(DESFireApplicationID("ABCDEF")), 0)))
        var full = Self.card()
        full.freeMemory = 64
        #expect(failure(plan, on: full, old: old, new: new) == .noRoom(needed: 448, free: 64))
        var other = Self.card()
        other.applications = [
            VirtualDESFire.Application(
                id: [3, 2, 1], settings: 0x0F, keys: [DESFireChipKey(.aes, [UInt8](repeating: 9, count: 16))],
                versions: [])
        ]
        #expect(
            failure(plan, on: other, old: old, new: new) == .alreadySetUp(try #require(DESFireApplicationID("030201"))))
        // A message that everybody could replace.
        #expect(
            failure(
                try Self.plan(#"{"schema":"kazasu.tagPlan/1","chip":"desfire","ndef":{"size":64,"writeKey":1}}"#),
                old: old,
                new: DESFireKeys()) == .factoryKey(DESFireKeyID(.ndef, 1)))
    }

    @Test("Another card and other keys are refused on resuming")
    func resumesOnlyItself() throws {
        let (plan, old, new) = (try Self.plan(), try Self.keys(Self.old), try Self.keys(Self.new))
        let stand = Stand(Self.card())
        func resume(_ uid: [UInt8], _ old: DESFireKeys, _ new: DESFireKeys) throws(DESFireProvisionError) {
            let check = try? (DESFireKeyCheck(Self.keys(Self.old)), DESFireKeyCheck(Self.keys(Self.new)))
            let provisioner = DESFireProvisioner(
                session: stand.card.session, plan: plan, old: old, new: new,
                resuming: DESFireProgress(uid: uid, steps: [], old: check?.0, new: check?.1),
                journal: { _ throws(DESFireProvisionError) in })
            _ = try provisioner.survey(assumesFactory: false, allowsPermanent: true)
        }
        #expect(throws: DESFireProvisionError.otherCard) { try resume([4, 9, 9, 9, 9, 9, 9], old, new) }
        stand.card.begin()
        #expect(throws: DESFireProvisionError.otherKey(.master)) { try resume(Self.uid, DESFireKeys(), new) }
        #expect(throws: DESFireProvisionError.otherKey(DESFireKeyID(.ndef, 1))) {
            try resume(Self.uid, old, try Self.keys(Self.new.replacing("3E3F", with: "3E40")))
        }
        let master = new.diversified(Self.uid)
        #expect(throws: DESFireProvisionError.otherKey(.master)) { try resume(Self.uid, old, master) }
        #expect(stand.card.exchanges == 0)
    }

    // MARK: Plans and keys

    @Test(
        "A plan with anything else is refused, with the member's name",
        arguments: [
            (#"{"schema":"kazasu.tagPlan/1","chip":"desfire"}"#, "applications"),
            (#"{"schema":"kazasu.tagPlan/1","chip":"desfire","key":"00","piccSettings":"0F"}"#, "key"),
            (#"{"schema":"kazasu.tagPlan/1","chip":"desfire","piccSettings":"1F"}"#, "piccSettings"),
            (
                #"{"schema":"kazasu.tagPlan/1","chip":"desfire","ndef":{"size":20,"uri":"https://example.com/abc"}}"#,
                "ndef.uri"
            ),
            (
                #"{"schema":"kazasu.tagPlan/1","chip":"desfire","applications":[{"aid":"000000","keyType":"aes","keys":1}]}"#,
                "applications[0].aid"
            ),
            (
                #"{"schema":"kazasu.tagPlan/1","chip":"desfire","applications":[{"aid":"000005","keyType":"rsa","keys":1}]}"#,
                "applications[0].keyType"
            ),
            (
                #"{"schema":"kazasu.tagPlan/1","chip":"desfire","applications":[{"aid":"000005","keyType":"aes","keys":2,"files":[{"number":1,"type":"standard","access":"2000","size":1}]}]}"#,
                "applications[0].files[0].access"
            ),
            (
                #"{"schema":"kazasu.tagPlan/1","chip":"desfire","applications":[{"aid":"000005","keyType":"aes","keys":2,"files":[{"number":1,"type":"standard","access":"0FF0","size":1,"data":"00"}]}]}"#,
                "applications[0].files[0].access"
            ),
            (
                #"{"schema":"kazasu.tagPlan/1","chip":"desfire","applications":[{"aid":"000005","keyType":"aes","keys":2,"files":[{"number":1,"type":"standard","access":"0000","upper":1}]}]}"#,
                "applications[0].files[0].upper"
            ),
        ])
    func malformed(_ text: String, _ member: String) {
        do {
            _ = try Self.plan(text)
            Issue.record("taken")
        } catch DocumentError.malformed(let key, _) {
            #expect(key == member)
        } catch DocumentError.missing(let key) {
            #expect(key == member)
        } catch {
            Issue.record(error)
        }
    }

    @Test(
        "Derives keys as AN10922 does (K1, K3, K4)",
        arguments: [
            (
                DESFireKeyType.aes, "00112233445566778899AABBCCDDEEFF", "3042F54E585020416275",
                "A8DD63A3B89D54B37CA802473FDA9175"
            ),
            (.des, "00112233445566778899AABBCCDDEEFF", "3042F54E58502041", "16F9587D9E8910C96B9649D007107DD6"),
            (
                .threeKeyTripleDES, "00112233445566778899AABBCCDDEEFF0102030405060708", "3042F54E5850",
                "2E0DD03774D3FA9B5705AB0BDA91CA0B55B8E07FCDBF10EC"
            ),
        ])
    func diversifies(_ type: DESFireKeyType, _ master: String, _ rest: String, _ derived: String) throws {
        let input = try Hex.decode("04782E21801D80" + rest)
        let key = try #require(DESFireKey(try Hex.decode(master), number: 0)).diversified(input)
        let found = try key.key(type)
        let bytes = unsafe found.secret.withUnsafeBytes { unsafe Array($0) }
        #expect(bytes == (try Hex.decode(derived)))
        // Longer input than two blocks is not derived from.
        let long = key.diversified([UInt8](repeating: 1, count: 32))
        #expect(throws: DESFireError.self) { try long.key(type) }
    }
}
