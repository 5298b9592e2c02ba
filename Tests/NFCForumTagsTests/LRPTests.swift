// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import ISO7816
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import NFCForumTags

@Suite("Sessions of an NTAG 424 DNA in LRP mode, byte by byte (tagkeys-5)")
struct LRPSessionTests {
    private static let zeros = [UInt8](repeating: 0, count: 16)

    private static func opening(_ challenge: String, _ random: String) throws -> LRPAuthentication {
        try #require(
            try LRPAuthentication(
                challenge: Hex.decode(challenge), key: SecretBytes(zeros), random: Hex.decode(random)))
    }

    @Test("L1: First, of NXP's application note")
    func first() throws {
        let run = try Self.opening("01 56109A31977C855319CD4618C9D2AED2", "74D7DF6A2CEC0B72B412DE0D2B1117E6")
        #expect(
            try run.reply == Hex.decode("74D7DF6A2CEC0B72B412DE0D2B1117E6 189B59DCEDC31A3D3F38EF8D4810B3B4"))
        let answer = try Hex.decode("F4FC209D9D60623588B299FA5D6B2D71 0125F8547D9FB8D572C90D2C2A14E235")
        let session = try #require(try run.session(answer, after: nil))
        #expect(session.identifier == [0x58, 0xEE, 0x94, 0x24] && session.counter == 0)
        guard case .lrp(_, let blocks) = session.suite else { throw TransportError.noAnswer }
        #expect(blocks == 1)
        for place in answer.indices {
            var changed = answer
            changed[place] ^= 1
            #expect(try run.session(changed, after: nil) == nil)
        }
        #expect(try run.session([], after: nil) == nil && run.session(answer, after: session) == nil)
        for bytes in [[], [0x01], [0x02] + Self.zeros, Self.zeros] as [[UInt8]] {
            #expect(try LRPAuthentication(challenge: bytes, key: SecretBytes(Self.zeros), random: Self.zeros) == nil)
        }
    }

    /// Recorded from a real tag by the authors of a public library.
    @Test("First and NonFirst of a real tag")
    func nonFirst() throws {
        let first = try Self.opening("01 B40643A537D6B0ACD8E7816168CD85C1", "D1D85ACB0A57299BFEED443D832DAD0C")
        #expect(try Array(first.reply.suffix(16)) == Hex.decode("23A13B80F26E481E4FAD3F3D75B14B7B"))
        var session = try #require(
            try first.session(
                Hex.decode("1C8EE9654067C50B188BD7652CEA8ABF4DCAF2776C80ABACEC992D6DF2D6E4EE"), after: nil))
        #expect(session.identifier == [0x9D, 0x96, 0xC1, 0x3C])
        session.counter = 10
        let second = try Self.opening("01 6819838A1BFA254A00E1F43DEC0BC0C7", "24F37E0C719E5CA42A3CBFAC3F7C0106")
        #expect(try Array(second.reply.suffix(16)) == Hex.decode("FB57806564FCD46D58685C08419825E2"))
        let next = try #require(
            try second.session(Hex.decode("3C157B2F2A8CC0C9431E64CCF71DD8B4"), after: session))
        #expect(next.identifier == session.identifier && next.counter == 10)
        guard case .lrp(_, let blocks) = next.suite else { throw TransportError.noAnswer }
        #expect(blocks == 0)
    }

    @Test("L2: the UID, enciphered")
    func uid() throws {
        let vector = try Hex.decode("00010080993C4EED466BFC0E7EE1D30C1EBD0DEA6F6481E0D70E9A174E789669")
        let master = try LeakageResilientCipher(SecretBytes(Self.zeros)).mac(vector)
        var session = EV2Session(
            identifier: try Hex.decode("4F5E8407"),
            suite: .lrp(try LeakageResilientCipher(SecretBytes(master)), blocks: 1))
        #expect(try session.command(0x51, header: [], data: [], .full) == Hex.decode("C37D6270F674CC6D"))
        let answer = try Hex.decode("5EC351196B8E2943DB04FCD4A952F53D A2830DC2258E4539")
        #expect(try session.answer(answer, .full) == Hex.decode("04940D2A2F7080"))
        guard case .lrp(_, let blocks) = session.suite else { throw TransportError.noAnswer }
        #expect(blocks == 2 && session.counter == 1)
    }

    @Test("L3: a real tag, after NonFirst, in full mode; a changed answer does not pass")
    func realTag() throws {
        let cipher = try LRPAuthentication.session(
            SecretBytes(Self.zeros), own: Hex.decode("8177E38B5CF5969189F929D0BF63B60B"),
            tag: Hex.decode("37297005F8AE7E195634AB2C13BE1A8D"))
        var session = EV2Session(
            identifier: try Hex.decode("AFF75859"), suite: .lrp(cipher, blocks: 10), counter: 2)
        let header = try Hex.decode("03000000080000")
        #expect(
            try session.command(0xAD, header: header, data: [], .full) == header + Hex.decode("2086BC2A3CBAB300"))
        let answer = try Hex.decode("A8F86E5BE27A1B0BA7D0CEF39092D585 F38F94FB3F8275C2")
        for place in answer.indices {
            var (copy, changed) = (session, answer)
            changed[place] ^= 0x80
            #expect(try copy.answer(changed, .full) == nil)
        }
        #expect(try session.answer(answer, .full) == Hex.decode("DEADBEEF01020304"))
    }

    @Test("Enciphering counts blocks and wraps; what is not whole blocks is refused")
    func counter() throws {
        let cipher = try LeakageResilientCipher(SecretBytes(1...16))
        let plain = [UInt8](0..<48)
        let start: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFE]
        let bytes = try cipher.encrypt(plain, counter: start, key: 1)
        #expect(try cipher.decrypt(bytes, counter: start, key: 1) == plain)
        #expect(try cipher.decrypt(bytes[32...], counter: [0, 0, 0, 0], key: 1) == Array(plain[32...]))
        #expect(throws: CryptoError.dataLength(15)) { try cipher.encrypt(plain[..<15], counter: start, key: 1) }
        #expect(throws: CryptoError.refused) { try cipher.encrypt(plain, counter: start, key: 2) }
        #expect(throws: CryptoError.keyLength(8)) { try LeakageResilientCipher(SecretBytes(0..<8)) }
        #expect("\(cipher)" == "Redacted")
    }
}

@Suite("NTAG 424 DNA in LRP mode: switched by a plan, read and reset with keys")
struct LRPTagTests {
    typealias Stand = TagProvisionerTests.Stand

    private static func plan() throws -> TagPlan {
        try TagProvisionerTests.plan(
            TagProvisionerTests.plan.replacing("\"metaKey\"", with: "\"lrp\": true, \"metaKey\""))
    }

    /// A smaller plan and one key, for many runs.
    private static func small(_ lrp: Bool = true) throws -> TagPlan {
        try TagProvisionerTests.plan(
            """
            {"schema": "kazasu.tagPlan/1", "chip": "ntag424", "lrp": \(lrp), "metaKey": 1, "fileKey": 1,
             "url": "https://example.com/{picc}/{mac}"}
            """)
    }

    private static func keys() throws -> TagKeys { try TagProvisionerTests.keys(TagProvisionerTests.new) }
    private static func oneKey() throws -> TagKeys {
        try TagProvisionerTests.keys("1 1A1B1C1D1E1F10111213141516171819")
    }

    private static func opened(_ card: VirtualFileCard, _ number: UInt8, _ keys: TagKeys) throws -> NTAG424Tag {
        let reader = InProcessReader(card)
        let request = ActivationRequest.typeA()
        let picc = try #require(try reader.activate(request))
        let key = try #require(TagKey(try keys.secret(number), number: number))
        return NTAG424Tag(
            session: ISO7816Session(reader: reader, picc: picc, request: request), key: key,
            uid: TagProvisionerTests.uid)
    }

    @Test func setsUp() throws {
        let (plan, new) = (try Self.plan(), try Self.keys())
        let stand = Stand(TagProvisionerTests.card())
        #expect(throws: TagProvisionError.permanent) { try stand.run(plan, new: new) }
        #expect(stand.card.commands.isEmpty)
        let result = try stand.run(plan, new: new, permanent: true, assumesFactory: true)
        let tag = try TagProvisionerTests.tag(stand.card)
        #expect(tag.isLRP && result.isVerified && tag.failures == 0)
        #expect(try TagProvisionerTests.changed(stand.card, new: new) == [0, 1, 2, 3])
        // The switch comes behind the keys and before the settings, whose offsets are others.
        #expect(
            stand.steps == [
                .contents(file: 2), .contents(file: 1), .key(1), .keyProved(1), .key(2), .keyProved(2), .key(3),
                .keyProved(3), .lrp, .settings(file: 2), .key(0), .keyProved(0), .done,
            ])
        let url = try #require(result.url)
        let parts = try #require(SecureUniqueMessage(url: url))
        let contents = try #require(try parts.contents(metaKey: new.secret(2), fileKey: new.secret(1)))
        #expect(contents.isLRP && contents.uid == TagProvisionerTests.uid && contents.counter == 1)
        #expect(contents.fileData == Array("0123456789abcdef".utf8))
        let again = try stand.run(plan, old: new, new: new, permanent: true)
        #expect(again.steps.allSatisfy { $0.state == .already } && again.isVerified)
        // A plan for AES would put the parts of the URL at other places.
        #expect(throws: TagProvisionError.lrpMode) { try stand.run(TagProvisionerTests.plan(), old: new, new: new) }
        stand.steps = []
        let reset = try stand.run(.reset, old: new, new: .factory)
        #expect(reset.left == [.lrp] && reset.isVerified)
        let after = try TagProvisionerTests.tag(stand.card)
        #expect(after.isLRP && after.settings == TagPlan.factory && after.keys.allSatisfy { $0.allSatisfy { $0 == 0 } })
        let more = try stand.run(plan, new: new, permanent: true, assumesFactory: true)
        #expect(more.isVerified)
    }

    /// A URL of an earlier setup is switched off first: its parts are shorter than those of LRP.
    @Test func earlierURL() throws {
        let new = try Self.oneKey()
        let stand = Stand(TagProvisionerTests.card())
        #expect(try stand.run(Self.small(false), new: new).isVerified)
        stand.steps = []
        let result = try stand.run(Self.small(), old: new, new: new, permanent: true)
        #expect(result.isVerified && result.url != nil)
        #expect(stand.steps == [.contents(file: 2), .settings(file: 2), .lrp, .settings(file: 2), .done])
    }

    /// What a plan says in advance is what is then done.
    @Test func planned() throws {
        for plan in [try Self.plan(), try TagProvisionerTests.plan()] {
            let new = try Self.keys()
            let card = TagProvisionerTests.card()
            let reader = InProcessReader(card)
            let request = ActivationRequest.typeA()
            let picc = try #require(try reader.activate(request))
            let provisioner = TagProvisioner(
                session: ISO7816Session(reader: reader, picc: picc, request: request), plan: plan, old: .factory,
                new: new, rules: TagSecretRules(), journal: { _ throws(TagProvisionError) in })
            let survey = try provisioner.survey(assumesFactory: true, allowsPermanent: true)
            let planned = provisioner.planned(survey).steps.map(\.step)
            try provisioner.prove(survey)
            let done = try provisioner.run().steps.filter { $0.state == .done }
            #expect(planned == done.map(\.step))
        }
    }

    /// Whichever exchange is lost, before or after the tag carried it out, the same plan ends it; the tag is in one of the two
    /// modes, and its keys are the old or the new ones.
    @Test(arguments: [false, true]) func interrupted(afterIt isDone: Bool) throws {
        let (plan, new) = (try Self.small(), try Self.oneKey())
        var modes: Set<Bool> = []
        var place = 2
        while true {
            let stand = Stand(TagProvisionerTests.card())
            let lost = InjectedFaultRule(.silence, .during(place...place))
            stand.field.plan(
                InjectedFaults(
                    (isDone ? [lost] : []) + InjectedFaults.cardAway(from: isDone ? place + 1 : place).rules))
            let isWhole = (try? stand.run(plan, new: new, permanent: true)) != nil
            stand.field.plan([])
            #expect(try TagProvisionerTests.changed(stand.card, new: new) != nil, "\(place)")
            modes.insert(try TagProvisionerTests.tag(stand.card).isLRP)
            if isWhole { break }
            let resumed = try stand.run(plan, new: new, resumes: true, permanent: true)
            let tag = try TagProvisionerTests.tag(stand.card)
            #expect(resumed.isVerified && resumed.url != nil && tag.isLRP && tag.failures <= 1, "\(place)")
            #expect(try TagProvisionerTests.changed(stand.card, new: new) == [1], "\(place)")
            place += 1
        }
        #expect(place > 35 && modes == [false, true])
    }

    /// Interrupted again and again, also around the switch, until it ends: each run refuses a key at most once.
    @Test func randomInterruptions() throws {
        let (plan, new) = (try Self.small(), try Self.oneKey())
        let rounds = TestEffort.rounds(20)
        var interruptions = 0
        for seed in rounds {
            let seed = UInt64(seed)
            let stand = Stand(TagProvisionerTests.card())
            var isDone = false
            for run in 0..<12 as Range<UInt64> where !isDone {
                stand.field.plan([
                    InjectedFaultRule(.absent, .random(perThousand: run < 10 ? 30 : 0, seed: seed &+ 31 &* run)),
                    InjectedFaultRule(.silence, .random(perThousand: run < 10 ? 30 : 0, seed: seed &+ 37 &* run)),
                ])
                let before = try TagProvisionerTests.tag(stand.card).failures
                isDone = (try? stand.run(plan, new: new, resumes: run > 0, permanent: true)) != nil
                if !isDone { interruptions += 1 }
                #expect(try TagProvisionerTests.changed(stand.card, new: new) != nil, "seed \(seed), run \(run)")
                #expect(try TagProvisionerTests.tag(stand.card).failures <= before + 1, "seed \(seed), run \(run)")
                stand.card.losePower()
            }
            #expect(isDone, "seed \(seed)")
            #expect(try TagProvisionerTests.tag(stand.card).isLRP, "seed \(seed)")
            #expect(try TagProvisionerTests.changed(stand.card, new: new) == [1], "seed \(seed)")
        }
        #expect(interruptions > rounds.count)
        TestEffort.report("NTAG 424 DNA, LRP: \(interruptions) interruptions of \(rounds.count) setups")
    }

    @Test func readsAndWrites() throws {
        let keys = try TagProvisionerTests.keys(TagProvisionerTests.old).completed()
        let tag = try Self.opened(TagProvisionerTests.card(keys, isLRP: true), 0, keys)
        try tag.authenticate(TagSecretRules())
        #expect(try tag.realUID() == TagProvisionerTests.uid)
        let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x21]
        try tag.writeNDEF(message)
        #expect(try tag.readNDEF().message == message)
        let file = try tag.settings(of: 3)
        #expect(file.modeName == "full" && file.readWrite == 3)
        // Key 3 has its rights: everything is enciphered, several blocks in both directions.
        let other = try Self.opened(TagProvisionerTests.card(keys, isLRP: true), 3, keys)
        try other.authenticate(TagSecretRules())
        #expect(try other.read(file, count: 128) == [UInt8](repeating: 0, count: 128))
        #expect(try other.read(file, from: 5, count: 40) == [UInt8](repeating: 0, count: 40))
    }

    /// A wrong key is one try, as with AES, and a reader that does not ask for LRP is refused before any.
    @Test func refusals() throws {
        let keys = try TagProvisionerTests.keys(TagProvisionerTests.old)
        let card = TagProvisionerTests.card(keys, isLRP: true)
        let tag = try Self.opened(card, 0, .factory)
        #expect(throws: TagError.keyRefused) { try tag.authenticate(TagSecretRules()) }
        #expect(try TagProvisionerTests.tag(card).failures == 1)
        let codes = card.commands.filter { $0.prefix(2) == [0x90, 0x71] }.map { Array($0.dropFirst(4)) }
        #expect(codes == [[2, 0, 0, 0], [8, 0, 6, 2, 0, 0, 0, 0, 0, 0]])
        for locked in [1000, 50] {
            let card = TagProvisionerTests.card(keys, isLRP: true, failures: locked)
            #expect(throws: TagError.key(locked == 50 ? .delayed : .locked)) {
                try Self.opened(card, 0, keys).authenticate(TagSecretRules())
            }
        }
    }
}
