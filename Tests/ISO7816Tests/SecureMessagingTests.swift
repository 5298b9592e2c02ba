// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CardModel
import ISO7816
import ReaderCore
import ReaderTesting
import Testing

/// The examples of the ministry's specifications and of ICAO Doc 9303-11, as public programs quote them.
@Suite("Secure messaging", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct SecureMessagingTests {
    /// One example of mutual authentication.
    struct Example: Sendable, CustomTestStringConvertible {
        var name: String
        var kind: SessionCipher.Kind
        var keys: (encryption: String, authentication: String)
        var challenge: String
        var random = "1122334455667788"
        var share = "404142434445464748494A4B4C4D4E4F"
        var expected = 0x100
        var cryptogram: String
        var answer: String
        var seed: String
        var sessionKey: String?

        var testDescription: String { name }
    }

    static let examples: [Example] = [
        Example(
            name: "residence card, first generation", kind: .tripleDES,
            keys: ("6522B4E171195BB218223A976C040111", "6522B4E171195BB218223A976C040111"),
            challenge: "5A6E7E385162B7A3",
            cryptogram: "937745C20883A1BAD1E04193722A1592378F81A8F1DC589157AEB0F7544FA1BA1AD7FB6A3389E017",
            answer: "5860775B4D032CC564BA204B8EA868F694A74E7475A8FEF240588BDA1AF496CE59388FD6CD45248B",
            seed: "59910B0A4BBA14A993B5F37BF0CC409F", sessionKey: "CE94938E19E3B97DF96EABCEDC1715CC"),
        Example(
            name: "residence card, second generation", kind: .aes,
            keys: ("6522B4E171195BB218223A976C040111", "6522B4E171195BB218223A976C040111"),
            challenge: "921CE277323DA057",
            cryptogram: "4AD3C7B6BB484A52771977DED618B41DF841FA0476A05FBE041DEAD6109E773BAC854617634F5397",
            answer: "289A96B1DA6AE3DA87770419BFD14F0BDAD15F36432B5A946C188C7221759A62FA942EC51E62FF5F",
            seed: "6C87EDD8CF253A216795E76CF84C9EC4", sessionKey: "C19CF13D3D7FBEE9EA293D834C88952F"),
        Example(
            name: "passport, BAC", kind: .tripleDES,
            keys: ("AB94FDECF2674FDFB9B391F85D7F76F2", "7962D9ECE03D1ACD4C76089DCE131543"),
            challenge: "4608F91988702212", random: "781723860C06C226", share: "0B795240CB7049B01C19B33E32804F0B",
            expected: 0x28,
            cryptogram: "72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F25F1448EEA8AD90A7",
            answer: "46B9342A41396CD7386BF5803104D7CEDC122B9132139BAF2EEDC94EE178534F2F2D235D074D7449",
            seed: "0036D272F5C350ACAC50C3F572D23600"),
    ]

    private static func cipher(_ kind: SessionCipher.Kind, _ key: String) throws -> SessionCipher {
        try SessionCipher(kind, key: SecretBytes(Hex.decode(key)))
    }

    private static func authenticate(_ example: Example, answer: String) throws -> MutualAuthentication.Outcome {
        let le = example.expected == 0x100 ? "00" : "28"
        let channel = try SessionTests.channel([
            ("0084000008", example.challenge + "9000"), ("0082000028" + example.cryptogram + le, answer),
        ])
        var random = try [Hex.decode(example.random), Hex.decode(example.share)]
        let outcome = try MutualAuthentication.perform(
            in: SessionTests.session(channel), encryption: cipher(example.kind, example.keys.encryption),
            authentication: cipher(example.kind, example.keys.authentication), expected: example.expected
        ) { _ in random.removeFirst() }
        #expect(channel.finish().isEmpty, "\(channel.finish())")
        return outcome
    }

    @Test("Mutual authentication, byte for byte", arguments: examples)
    func authentication(_ example: Example) throws {
        let outcome = try Self.authenticate(example, answer: example.answer + "9000")
        #expect(try outcome.seed == Hex.decode(example.seed))
        if let key = example.sessionKey {
            let derived = try SessionCipher.derived(from: outcome.seed, counter: 1)
            #expect(try derived.withUnsafeBytes { Array($0) } == Hex.decode(key))
        }
    }

    @Test("An answer with any changed bit or another length is refused", arguments: examples)
    func wrongAnswers(_ example: Example) throws {
        let answer = try Hex.decode(example.answer)
        for index in answer.indices {
            var changed = answer
            changed[index] ^= 1
            #expect(throws: SecureMessagingError.malformed(.code)) {
                try Self.authenticate(example, answer: Hex.encode(changed) + "9000")
            }
        }
        for wrong in [Array(answer.dropLast()), answer + [0], []] {
            #expect(throws: SecureMessagingError.malformed(.authenticationLength)) {
                try Self.authenticate(example, answer: Hex.encode(wrong) + "9000")
            }
        }
        #expect(throws: SecureMessagingError.wrongNumber) { try Self.authenticate(example, answer: "6300") }
        #expect(throws: SecureMessagingError.card(.status(.externalAuthenticate, 0x6A86))) {
            try Self.authenticate(example, answer: "6A86")
        }
    }

    @Test("An answer that is coded right but returns other random numbers is refused", arguments: examples)
    func otherRandom(_ example: Example) throws {
        let encryption = try Self.cipher(example.kind, example.keys.encryption)
        let authentication = try Self.cipher(example.kind, example.keys.authentication)
        let (challenge, random) = try (Hex.decode(example.challenge), Hex.decode(example.random))
        let share = [UInt8](repeating: 7, count: 16)
        for plain in [random + challenge + share, challenge + challenge + share, share + random + challenge] {
            let text = try encryption.encrypt(plain)
            let answer = try text + authentication.code(text)
            #expect(throws: SecureMessagingError.malformed(.random)) {
                try Self.authenticate(example, answer: Hex.encode(answer) + "9000")
            }
        }
    }

    /// A session with the keys of an example, over these exchanges; the residence application is selected.
    private static func session(
        _ example: Example, _ air: [(String, String)]
    ) throws -> (SecureMessaging, ScriptedChannel) {
        let channel = try SessionTests.channel([(df1, "9000")] + air)
        let session = SessionTests.session(channel)
        try session.select(.application(ResidenceFile.numberApplication))
        return (try SecureMessaging(encrypting: session, example.kind, seed: Hex.decode(example.seed)), channel)
    }

    private static let df1 = "00A4040C10D392F0004F0200000000000000000000"

    @Test(
        "VERIFY of the number, byte for byte",
        arguments: zip(
            examples, ["1AA82973DB959A811F9711D728F0EEF6", "EE0B31EF877F68D071C56D58C72E6748"]))
    func verify(_ example: Example, _ cipher: String) throws {
        let (secure, channel) = try Self.session(example, [("0820008613861101" + cipher, "9000")])
        let response = try secure.transmit(.verify, p2: 0x86, data: Array("AA12345678BB".utf8))
        #expect(response == ResponseAPDU(status: .success))
        #expect(channel.finish().isEmpty, "\(channel.finish())")
    }

    @Test("Reads of both generations, byte for byte")
    func reads() throws {
        let (first, channel) = try Self.session(
            Self.examples[0],
            [
                (
                    "08B08500049602001000",
                    "861901" + "4FCEE1CFDF9CEA3CD1E1773AEDECCC0CAE7498644FA28040" + "9000"
                ), ("08B08500049602000800", "861101" + "4FCEE1CFDF9CEA3CF9CAD0E01B291DE1" + "9000"),
            ])
        let whole = try first.transmit(.readBinary, p1: 0x85, wanted: 16)
        #expect(try whole.data == Hex.decode("D0821B5849492A00080000000E00FE00"))
        let part = try first.transmit(.readBinary, p1: 0x85, wanted: 8)
        #expect(Array(whole.data.prefix(8)) == part.data)
        #expect(channel.finish().isEmpty, "\(channel.finish())")
        let (second, other) = try Self.session(
            Self.examples[1],
            [("08B08100000004960200000000", "861101143D1676C57ED659B4CA6DA06D251591" + "9000")])
        let number = try second.readFile(shortID: 1, size: 14)
        #expect(try number == Hex.decode("C20C414131323334353637384242"))
        #expect(other.finish().isEmpty, "\(other.finish())")
    }

    /// Answers in place of the right one, and what is wrong with each.
    static let badAnswers: [(String, SecureMessagingError.Reason)] = [
        ("861102143D1676C57ED659B4CA6DA06D251591", .cipherText), ("861001143D1676C57ED659B4CA6DA06D2515", .cipherText),
        ("860101", .cipherText), ("8600", .cipherText),
        ("861101143D1676C57ED659B4CA6DA06D251591861101143D1676C57ED659B4CA6DA06D251591", .objects),
        ("871101143D1676C57ED659B4CA6DA06D251591", .objects), ("861101143D1676C57ED659B4CA6DA06D2515", .objects),
        ("861101143D1676C57ED659B4CA6DA06D251591FF", .objects), ("861101143D1676C57ED659B4CA6DA06D25159100", .objects),
        ("00", .objects), ("86", .objects), ("861101143D1676C57ED659B4CA6DA06D251592", .padding),
    ]

    @Test("Answers that are not exactly one padded object are refused, each for its reason", arguments: badAnswers)
    func badAnswer(_ answer: String, _ reason: SecureMessagingError.Reason) throws {
        let (secure, _) = try Self.session(
            Self.examples[1], [("08B08100000004960200000000", answer + "9000")])
        #expect(throws: SecureMessagingError.malformed(reason)) { try secure.readFile(shortID: 1, size: 14) }
    }

    @Test("An empty answer with 9000 gives no file")
    func emptyAnswer() throws {
        let (secure, _) = try Self.session(Self.examples[1], [("08B08100000004960200000000", "9000")])
        #expect(throws: SecureMessagingError.card(.status(.readBinary, .success))) {
            try secure.readFile(shortID: 1, size: 14)
        }
    }

    @Test("A form of READ that is refused gives way to the next, and the one that worked is kept")
    func readForms() throws {
        let answer = "861101143D1676C57ED659B4CA6DA06D2515919000"
        for refusal in ["6700", "6A86", "6982", "6988"] {
            let (secure, channel) = try Self.session(
                Self.examples[1],
                [
                    ("08B08100000004960200000000", refusal), ("08B08100049602000E00", refusal),
                    ("08B08100000004" + "9602000E" + "0000", answer), ("08B08100000004" + "9602000E" + "0000", answer),
                ])
            #expect(try secure.readFile(shortID: 1, size: 14).count == 14)
            #expect(try secure.readFile(shortID: 1, size: 14).count == 14)
            #expect(channel.finish().isEmpty, "\(channel.finish())")
        }
        let (secure, _) = try Self.session(
            Self.examples[1],
            [
                ("08B08100000004960200000000", "6982"), ("08B08100049602000E00", "6982"),
                ("08B081000000049602000E0000", "6982"),
            ])
        #expect(throws: SecureMessagingError.card(.status(.readBinary, 0x6982))) {
            try secure.readFile(shortID: 1, size: 14)
        }
        let (other, _) = try Self.session(Self.examples[1], [("08B08100000004960200000000", "6A82")])
        #expect(throws: SecureMessagingError.card(.status(.readBinary, .fileNotFound))) {
            try other.readFile(shortID: 1, size: 14)
        }
    }

    @Test("A residence card that refuses every length is asked for smaller parts, and then refuses the file")
    func smallParts() throws {
        let parts = ["00E0", "00A0", "0070", "0040", "0020", "0010"]
        let short = parts.map { ("08B08100049602\($0)00", "6700") }
        let script = [short[0], ("08B081000000049602" + "00E0" + "0000", "6700")] + short.dropFirst()
        let (secure, channel) = try Self.session(Self.examples[1], script)
        #expect(throws: SecureMessagingError.card(.status(.readBinary, .wrongLength))) {
            try secure.readFile(shortID: 1, size: 300)
        }
        #expect(channel.finish().isEmpty, "\(channel.finish())")
    }

    @Test("A passport's session: SELECT and two reads of the example")
    func passport() throws {
        let air = [
            (
                "0CA4020C158709016375432908C044F68E08BF8B92D635FF24F800", "990290008E08FA855A5D4C50A8ED9000"
            ),
            (
                "0CB000000D9701048E08ED6705417E96BA5500",
                "8709019FF0EC34F9922651990290008E08AD55CC17140B2DED9000"
            ),
            (
                "0CB000040D9701128E082EA28A70F3C7B53500",
                "871901FB9235F4E4037F2327DCC8964F1F9B8C30F42C8E2FFF224A990290008E08C8B2787EAEA07D749000"
            ),
        ]
        func secure(_ channel: ScriptedChannel) throws -> SecureMessaging {
            let example = Self.examples[2]
            let outcome = MutualAuthentication.Outcome(
                seed: try Hex.decode(example.seed), challenge: try Hex.decode(example.challenge),
                random: try Hex.decode(example.random))
            return try SecureMessaging(authenticating: SessionTests.session(channel), outcome)
        }
        let channel = try SessionTests.channel(air)
        let session = try secure(channel)
        #expect(try session.transmit(.select, p1: 0x02, p2: 0x0C, data: [0x01, 0x1E]).status == .success)
        #expect(try session.transmit(.readBinary, wanted: 4).data == Hex.decode("60145F01"))
        let rest = try session.transmit(.readBinary, p2: 4, wanted: 0x12)
        #expect(try rest.data == Hex.decode("04303130365F36063034303030305C026175"))
        #expect(channel.finish().isEmpty, "\(channel.finish())")
        // Any changed byte of an answer is noticed.
        let answer = try Hex.decode(air[0].1).dropLast(2)
        for index in answer.indices {
            var changed = answer
            changed[index] ^= 1
            let channel = try SessionTests.channel([(air[0].0, Hex.encode(changed) + "9000")])
            #expect(throws: SecureMessagingError.self) {
                try secure(channel).transmit(.select, p1: 0x02, p2: 0x0C, data: [0x01, 0x1E])
            }
        }
    }

    // MARK: The guard

    @Test("VERIFY of class 08 and P2 86 is sent after SELECT of the residence application, and nowhere else")
    func pinGuard() throws {
        let number = "0820008613861101" + String(repeating: "00", count: 16)
        func send(_ command: String, after selections: [String]) throws -> ResponseAPDU {
            let channel = try SessionTests.channel(selections.map { ($0, "9000") } + [(command, "9000")])
            let session = SessionTests.session(channel)
            for selection in selections { _ = try session.transmit(CommandAPDU(decoding: Hex.decode(selection))) }
            return try session.transmit(CommandAPDU(decoding: Hex.decode(command)))
        }
        #expect(try send(number, after: [Self.df1]).status == .success)
        #expect(try send(number, after: ["00A4000C023F00", Self.df1]).status == .success)
        let others: [[String]] = [
            [], ["00A4000C023F00"], [Self.df1.replacing("4F02", with: "4F03")], [Self.df1, "00A4000C023F00"],
            [Self.df1, "00A4020C020001"], ["00A4040C06D392F0004F02"], [Self.df1, "00A4040C0AD392F000260100000001"],
        ]
        for selections in others {
            #expect(throws: ISO7816Error.guarded(.verify), "\(selections)") { try send(number, after: selections) }
        }
        for command in [
            number.replacing("08200086", with: "00200086"), number.replacing("08200086", with: "0C200086"),
            number.replacing("08200086", with: "08200081"), number.replacing("08200086", with: "08200186"),
            "0820008612861001" + String(repeating: "00", count: 15), number + "00", "08200086",
            number.replacing("0820", with: "0824"),
        ] {
            #expect(throws: ISO7816Error.self, "\(command)") { try send(command, after: [Self.df1]) }
        }
        // A refused SELECT leads nowhere.
        let channel = try SessionTests.channel([(Self.df1, "6A82")])
        let session = SessionTests.session(channel)
        _ = try session.transmit(CommandAPDU(decoding: Hex.decode(Self.df1)))
        #expect(throws: ISO7816Error.guarded(.verify)) {
            try session.transmit(CommandAPDU(decoding: Hex.decode(number)))
        }
    }
}
