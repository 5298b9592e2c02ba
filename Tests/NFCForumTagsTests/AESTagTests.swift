// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CardModel
import ISO7816
import NDEF
import ReaderCore
import Testing
import VirtualReader

@testable import NFCForumTags

@Suite("AES of Ultralight AES and NTAG 424 DNA, with NXP's examples")
struct AESVectorTests {
    static let zeros = String(repeating: "00", count: 16)

    static func key(_ text: String = zeros) throws -> AESKey { try AESKey(SecretBytes(Hex.decode(text))) }

    struct Example: Sendable {
        let challenge, own, reply, proof: String
    }

    /// U1 (MF0AES20 data sheet) and U2 (AN13452).
    static let examples = [
        Example(
            challenge: "AF D5A847B84862FF3874A7F07B8DDF351B", own: "F29B0123F5C00DF612487BBF42468C7E",
            reply: "AF CDF22C5F7A92F0AF0155612B9B236AC7A424BC5238D41AD041B8165B7D99E524",
            proof: "00 2C743D6B1E128F8076BD197B76012CE8"),
        Example(
            challenge: "AF 374142DAFB0AB97183D846EB7ED379E0", own: "42BDF7E08E110F14B6D3323D14F1C2B9",
            reply: "AF 794693B2A31E7F10964A2BD834590AC485F84E9F8B13197AB32433346F60B821",
            proof: "00 A17673DCC20D27EE80584ACCFC39E0A3"),
    ]

    @Test("U1, U2: authentication of an Ultralight AES", arguments: examples)
    func ultralight(example: Example) throws {
        let made = try Type2AESAuthentication(
            challenge: Hex.decode(example.challenge), key: Self.key(), random: Hex.decode(example.own))
        let run = try #require(made)
        #expect(try run.reply == Hex.decode(example.reply))
        let proof = try Hex.decode(example.proof)
        #expect(try run.isProof(proof))
        for place in proof.indices {
            var changed = proof
            changed[place] ^= 1
            #expect(try !run.isProof(changed))
        }
        #expect(try !run.isProof([]))
        #expect(try !run.isProof(Array(proof.dropLast())))
    }

    @Test("U2: the code of GET_VERSION, and codes that do not fit")
    func codes() throws {
        let example = Self.examples[1]
        let made = try Type2AESAuthentication(
            challenge: Hex.decode(example.challenge), key: Self.key(), random: Hex.decode(example.own))
        var messaging = try #require(made).messaging()
        #expect(try messaging.wrapped([0x60]) == Hex.decode("60 1D5DE802D6751670"))
        var other = messaging
        let answer = try other.wrapped([1, 2, 3])
        #expect(try messaging.unwrapped(answer) == [1, 2, 3])
        #expect(try messaging.unwrapped(answer) == nil, "the same code does not pass twice")
        #expect(try messaging.unwrapped([]) == nil)
        #expect(try messaging.unwrapped([1, 2]) == nil)
    }

    @Test("Refuses answers that are not a challenge")
    func noChallenge() throws {
        let ones = [UInt8](repeating: 1, count: 16)
        for bytes in [[], [0xAF], [0x00] + ones, [0xAF, 0xAF] + ones] as [[UInt8]] {
            #expect(
                try Type2AESAuthentication(
                    challenge: bytes, key: Self.key(), random: [UInt8](repeating: 0, count: 16)) == nil)
            #expect(
                try EV2Authentication(challenge: bytes, key: Self.key(), random: [UInt8](repeating: 0, count: 16))
                    == nil)
        }
    }

    @Test("D5: AuthenticateEV2First")
    func first() throws {
        let made = try EV2Authentication(
            challenge: Hex.decode("A04C124213C186F22399D33AC2A30215"), key: Self.key(),
            random: Hex.decode("13C5DB8A5930439FC3DEF9A4C675360F"))
        let run = try #require(made)
        #expect(
            try run.reply == Hex.decode("35C3E05A752E0144BAC0DE51C1F22C56B34408A23D8AEA266CAB947EA8E0118D"))
        let answer = try Hex.decode("3FA64DB5446D1F34CD6EA311167F5E4985B89690C04A05F17FA7AB2F08120663")
        let session = try #require(try run.session(answer))
        #expect(try session.identifier == Hex.decode("9D00C4DF"))
        // D7, in this session: settings that are enciphered.
        var next = session
        next.counter = 1
        let change = try next.command(
            0x5F, header: [0x02], data: Hex.decode("4000E0C1F121200000430000430000"), .full)
        #expect(try change == Hex.decode("02 61B6D97903566E84C3AE5274467E89EA D799B7C1A0EF7A04"))
        #expect(try next.answer(Hex.decode("57BFF87B1241E93D"), .mac) == [])
        for place in [4, 5, 19] {
            var changed = answer
            changed[place] ^= 1
            #expect(try run.session(changed) == nil, "byte \(place)")
        }
        #expect(try run.session([]) == nil)
    }

    private func session(_ identifier: String, _ cipher: String, _ mac: String, _ counter: UInt16) throws -> EV2Session
    {
        EV2Session(
            identifier: try Hex.decode(identifier), cipherKey: try Self.key(cipher), macKey: try Self.key(mac),
            counter: counter)
    }

    @Test("D6: GetFileSettings with a code")
    func settings() throws {
        var session = try session("7A21085E", Self.zeros, "8248134A386E86EB7FAF54A52E536CB6", 0)
        let command = try session.command(0xF5, header: [0x02], data: [], .mac)
        #expect(try command == Hex.decode("02 6597A457C8CD442C"))
        let answer = try Hex.decode("0040EEEE000100D1FE001F00004400004400002000006A0000 2A474282E7A47986")
        let content = try #require(try session.answer(answer, .mac))
        let file = try #require(NTAG424File(2, content))
        #expect(file.size == 256 && file.isDynamic && file.modeName == "plain")
        #expect([file.read, file.write, file.readWrite, file.change] == [14, 14, 14, 14])
        #expect(try session.answer(answer, .mac) == nil, "the counter went on")
        #expect(NTAG424File(2, []) == nil && NTAG424File(2, [0, 0, 0, 0, 1, 1]) == nil)
    }

    @Test("D8: the UID, enciphered; D9: a command with header and cipher")
    func full() throws {
        var session = try session(
            "DF055522", "2B4D963C014DC36F24F69A50A394F875", "379D32130CE61705DD5FD8C36B95D764", 0)
        #expect(try session.command(0x51, header: [], data: [], .full) == Hex.decode("8E2C155ADDA99BE3"))
        let answer = try Hex.decode("70756055688505B52A5E26E59E329CD6 595F672298EA41B7")
        var copy = session
        #expect(try session.answer(answer, .full) == Hex.decode("04958CAA5C5E80"))
        #expect(try copy.answer(Array(answer.dropFirst()), .full) == nil)
        var other = try self.session(
            "7614281A", "4CF3CB41A22583A61E89B158D252FC53", "5529860B2FC5FB6154B7F28361D30BF9", 2)
        let data = try Hex.decode("F3847D627727ED3BC9C4CC050489B966 01 789DFADC")
        #expect(
            try other.command(0xC4, header: [0x02], data: data, .full)
                == Hex.decode(
                    "02 2CF362B7BF4311FF3BE1DAA295E8C68DE09050560D19B9E16C2393AE9CD1FAC7 5D0CE20BCD1D06E6"))
    }
}

@Suite("Ultralight AES with its owner's key")
struct UltralightAESTests {
    static let secret = [UInt8](0x10...0x1F)

    static func key(_ bytes: [UInt8] = secret, _ number: UInt8 = 0) throws -> TagKey {
        try #require(TagKey(SecretBytes(bytes), number: number))
    }

    /// A tag whose pages from 5 on need the key, for reading too.
    private static func closed() throws -> Type2Tag {
        var memory = try #require(Type2Memory(.mf0aes20, uid: [4, 1, 2, 3, 4, 5, 6]))
        memory.write(4, [0x03, 0x03, 0xD0, 0x00])
        memory.write(5, [0x00, 0xFE, 0x00, 0x00])
        memory.write(0x29, [0x00, 0, 0, 0x05])
        memory.write(0x2A, [0x80, 0, 0, 0])
        memory.aesKeys[0] = secret
        let reader = InProcessReader(VirtualType2Tag(memory))
        guard case .typeA(let target)? = try reader.activate(.typeA(isoDEP: false)) else {
            throw TransportError.noAnswer
        }
        return Type2Tag(reader: reader, target: target)
    }

    private var rules: TagSecretRules { TagSecretRules(allowsLastTry: true) }

    @Test("Pages are read with the key, and again after a refusal")
    func opens() throws {
        // AUTH0 before the configuration hides it: whether there is a limit, and codes, cannot be read then.
        let tag = try Self.closed()
        #expect(try tag.product()?.name == "Ultralight AES")
        #expect(throws: TagError.noNDEF(.notReadable)) { try tag.readNDEF() }
        #expect(throws: TagError.key(.lastTry(limit: nil))) { try tag.authenticate(Self.key()) }
        try tag.authenticate(Self.key(), rules)
        #expect(tag.isAuthenticated)
        #expect(try tag.readNDEF().message == [0xD0, 0, 0])
        #expect(throws: TagError.refused(page: 0x30, nak: 0)) { try tag.read(page: 0x30) }
        #expect(try tag.read(page: 5).prefix(2) == [0x00, 0xFE])
        try tag.write(page: 5, [0x00, 0xFE, 0x01, 0x02])
        #expect(try tag.read(page: 5).prefix(4) == [0x00, 0xFE, 0x01, 0x02])
    }

    /// Writing alone is protected, so that the configuration can be read.
    private func readable(messaging: Bool, limit: UInt8, wrong: Int = 0) throws -> Type2Tag {
        var memory = try #require(Type2Memory(.mf0aes20, uid: [4, 1, 2, 3, 4, 5, 6]))
        memory.write(0x29, [messaging ? 0x02 : 0x00, 0, 0, 0x05])
        memory.write(0x2A, [0x00, 0, limit, 0])
        memory.aesKeys[0] = Self.secret
        memory.wrongPasswords = wrong
        let reader = InProcessReader(VirtualType2Tag(memory))
        guard case .typeA(let target)? = try reader.activate(.typeA(isoDEP: false)) else {
            throw TransportError.noAnswer
        }
        return Type2Tag(reader: reader, target: target)
    }

    @Test("Secure messaging: everything is read with codes, and nothing is written")
    func messaging() throws {
        let tag = try readable(messaging: true, limit: 0)
        try tag.authenticate(Self.key())
        #expect(tag.messaging != nil)
        #expect(try tag.read(page: 4).prefix(3) == [0x03, 0x00, 0xFE])
        #expect(try tag.fastRead(4...20))
        #expect(throws: TagError.refused(page: 0x30, nak: 0)) { try tag.read(page: 0x30) }
        #expect(try tag.readNDEF().message == [])
        #expect(tag.messaging != nil, "begun again after the refusal")
        #expect(throws: TagError.key(.writingUnsupported)) { try tag.write(page: 5, [1, 2, 3, 4]) }
    }

    @Test("The limit is read first; a wrong key is tried once and not again")
    func guardedKey() throws {
        let tag = try readable(messaging: false, limit: 3)
        #expect(throws: TagError.key(.lastTry(limit: 3))) { try tag.authenticate(Self.key()) }
        let failures = TagSecretFailuresOfRun()
        let rules = TagSecretRules(allowsLastTry: true, failures: failures)
        let other = try Self.key([UInt8](repeating: 9, count: 16))
        #expect(throws: TagError.keyRefused) { try tag.authenticate(other, rules) }
        #expect(throws: TagError.key(.failedBefore)) { try tag.authenticate(other, rules) }
        #expect(failures.count(of: tag.target.uid) == 1)
        try tag.authenticate(Self.key(), rules)
        #expect(failures.count(of: tag.target.uid) == 0)
        #expect(throws: TagError.key(.noSuchKey(2))) { try tag.authenticate(Self.key(Self.secret, 2), rules) }
        let locked = try readable(messaging: false, limit: 3, wrong: 3)
        #expect(throws: TagError.key(.noSuchKey(0))) { try locked.authenticate(Self.key(), rules) }
    }

    @Test("Other tags have no AES key")
    func others() throws {
        let reader = try Type2Memories.fresh213()
        #expect(throws: TagError.takesNoKey) { try reader.tag.authenticate(Self.key()) }
    }
}

@Suite("NTAG 424 DNA with its owner's key")
struct NTAG424TagTests {
    static let uid: [UInt8] = [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]
    private static let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x21]

    private struct Bench {
        let card: VirtualFileCard
        let session: ISO7816Session

        init(settings: [UInt8: [UInt8]] = [:], failures: Int = 0, hasTag: Bool = true) throws {
            var tag = VirtualNTAG424(uid: NTAG424TagTests.uid, keys: (0..<5).map { [UInt8](repeating: $0, count: 16) })
            tag.settings = settings
            (tag.failures, tag.inRow) = (failures, failures)
            let message = NTAG424TagTests.message
            let bytes = [0, UInt8(message.count)] + message + [UInt8](repeating: 0, count: 254 - message.count)
            let files = [
                VirtualFile(FileIdentifier(rawValue: 0xE103), .bytes([UInt8](repeating: 0, count: 32)), read: .always),
                VirtualFile(FileIdentifier(rawValue: 0xE104), .bytes(bytes), read: .never()),
                VirtualFile(
                    FileIdentifier(rawValue: 0xE105), .bytes([UInt8](repeating: 7, count: 128)), read: .never()),
            ]
            let identity = try #require(TypeAIdentity(uid: [0x08, 1, 2, 3], atqa: 0x0344, sak: 0x20))
            card = VirtualFileCard(
                .typeA(identity, ats: [0x05, 0x77, 0x77, 0x71, 0x02]),
                files: VirtualFileTree(
                    applications: [VirtualDirectory(name: Type4Tag.application, files: files)],
                    applets: hasTag ? [tag] : []))
            let reader = InProcessReader(card)
            let request = ActivationRequest.typeA()
            let picc = try #require(try reader.activate(request))
            session = ISO7816Session(reader: reader, picc: picc, request: request)
        }

        func tag(key number: UInt8 = 0, _ fill: UInt8? = nil) throws -> NTAG424Tag {
            let key = try #require(
                TagKey(SecretBytes([UInt8](repeating: fill ?? number, count: 16)), number: number))
            return NTAG424Tag(session: session, key: key, uid: NTAG424TagTests.uid)
        }
    }

    /// A file's option and rights, and whether the message can be read and written with key 2.
    static let modes: [(settings: [UInt8], reads: Bool, writes: Bool)] = [
        ([0x00, 0x20, 0x22], true, true), ([0x01, 0x20, 0x22], true, true), ([0x03, 0x20, 0x22], true, true),
        ([0x43, 0x00, 0xE2], true, true), ([0x03, 0x00, 0x2F], true, false), ([0x03, 0x00, 0x00], false, false),
        ([0x02, 0x00, 0x20], true, false), ([0x01, 0xE0, 0xFF], true, true),
    ]

    @Test("The message with a key, in every mode", arguments: modes)
    func reads(row: (settings: [UInt8], reads: Bool, writes: Bool)) throws {
        let bench = try Bench(settings: [2: row.settings])
        let tag = try bench.tag(key: 2)
        try tag.authenticate(TagSecretRules())
        let files = try tag.information()
        #expect(files.uid == Self.uid && files.key == 2 && files.files.map(\.size) == [32, 256, 128])
        guard row.reads else {
            #expect(throws: TagError.noNDEF(.notReadable)) { try tag.readNDEF() }
            return
        }
        let area = try tag.readNDEF()
        #expect(area == NDEFArea(message: Self.message, capacity: 254, obstacle: row.writes ? nil : .readOnly))
        let long = try NDEFMessage([
            NDEFRecord(.text(NDEFText(String(repeating: "x", count: 200), language: "en")))
        ]).encoded()
        guard row.writes else {
            #expect(throws: TagError.notWritable(.readOnly)) { try tag.writeNDEF(long) }
            return
        }
        try tag.writeNDEF(long)
        #expect(try tag.readNDEF().message == long)
    }

    @Test("A wrong key is tried once, remembered, and three are enough")
    func wrongKey() throws {
        let bench = try Bench()
        let failures = TagSecretFailuresOfRun()
        let rules = TagSecretRules(failures: failures)
        for fill in 1...3 as ClosedRange<UInt8> {
            #expect(throws: TagError.keyRefused) { try bench.tag(key: 0, fill).authenticate(rules) }
        }
        #expect(bench.card.files.applet(VirtualNTAG424.self)?.failures == 3)
        #expect(throws: TagError.key(.failedBefore)) { try bench.tag(key: 0, 1).authenticate(rules) }
        #expect(throws: TagError.key(.manyFailures(3))) { try bench.tag().authenticate(rules) }
        #expect(bench.card.files.applet(VirtualNTAG424.self)?.failures == 3, "nothing was tried")
        try bench.tag().authenticate(TagSecretRules(allowsLastTry: true, failures: failures))
        #expect(failures.count(of: Self.uid) == 0 && bench.card.files.applet(VirtualNTAG424.self)?.inRow == 0)
        // The right key ends the row; the wrong ones stay wrong.
        for fill in 1...3 as ClosedRange<UInt8> {
            #expect(throws: TagError.key(.failedBefore)) { try bench.tag(key: 0, fill).authenticate(rules) }
        }
        try bench.tag().authenticate(rules)
        #expect(throws: TagError.keyRefused) { try bench.tag(key: 0, 4).authenticate(rules) }
        #expect(failures.count(of: Self.uid) == 1)
    }

    @Test("Keys that are not there, delays and locked keys; another card")
    func refusals() throws {
        #expect(throws: TagError.key(.noSuchKey(9))) { try Bench().tag(key: 9).authenticate(TagSecretRules()) }
        #expect(throws: TagError.key(.delayed)) { try Bench(failures: 50).tag().authenticate(TagSecretRules()) }
        #expect(throws: TagError.key(.locked)) { try Bench(failures: 1000).tag().authenticate(TagSecretRules()) }
        #expect(throws: TagError.takesNoKey) { try Bench(hasTag: false).tag().authenticate(TagSecretRules()) }
    }
}
