// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CardModel
import ISO7816
import ReaderCore
import Testing

@testable import NFCForumTags
@testable import VirtualCards
@testable import VirtualReader

/// A recorded session with a card, command by command.
struct DESFireTranscript: Sendable, CustomTestStringConvertible {
    let name: String
    let method: DESFireAuthenticationMethod
    let type: DESFireKeyType
    let mode: DESFireMode
    let key: [UInt8]
    let exchanges: [(command: [UInt8], answer: [UInt8])]

    var testDescription: String { name }

    init(
        _ name: String, _ method: DESFireAuthenticationMethod, _ type: DESFireKeyType, _ mode: DESFireMode, key: String,
        _ lines: String
    ) {
        (self.name, self.method, self.type, self.mode) = (name, method, type, mode)
        self.key = (try? Hex.decode(key)) ?? []
        let frames = lines.split(separator: "\n").map { (try? Hex.decode($0.dropFirst(2))) ?? [] }
        exchanges = stride(from: 0, to: frames.count - 1, by: 2).map { (frames[$0], frames[$0 + 1]) }
    }

    /// Bytes that count up.
    static func counting(_ first: UInt8, _ count: Int) -> [UInt8] { (0..<count).map { first + UInt8($0) } }

    var new: [UInt8] {
        let long: [UInt8] = type == .threeKeyTripleDES ? [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77] : []
        return [0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF] + long
    }

    static let all = [
        DESFireTranscript(
            "D40, DES, codes", .d40, .des, .mac, key: "00112233445566770011223344556677",
            """
            > 905A00000301020300
            < 9100
            > 900A0000010000
            < 8D7D55F08B4171EE91AF
            > 90AF000010DBBF7F80B62B4BB4423882A4A1C28B8100
            < DCFE81C84298053A9100
            > 90BD0000070100000010000000
            < 00112233445566778899AABBCCDDEEFFF571E8AF9100
            > 903D00000E01030000030000CAFE7798DE1D2600
            < 9100
            > 906C0000010200
            < 640000003AF32B4D9100
            > 900C000009021900000048EF722400
            < 9100
            > 90C7000000
            < 9100
            > 90640000010100
            < 009100
            > 90C400001901FF2CB85C65235553ECF9A404E587B27E7D986BCC81AB762300
            < 9100
            > 90C400001900FF2CB85C65235553ECF9A404E587B27E0117EB5B14C81E1200
            < 9100
            """),
        DESFireTranscript(
            "ISO, 3K3DES, enciphered", .iso, .threeKeyTripleDES, .full,
            key: "00112233445566778899AABBCCDDEEFF0102030405060708",
            """
            > 905A00000301020300
            < 9100
            > 901A0000010000
            < 188855B0231254DB0F9B2FB771D9EB5491AF
            > 90AF000020148FA433F556AC66B619566B5CC6B71E76B6F2ADAC27AFA1C30D7E28DED46D7A00
            < 51A33FE67D32888FB79739912C0597759100
            > 90BD0000070100000010000000
            < E077FCE63B7EF2055F6CFFED850BE08B0D59AD1DC36F4D139100
            > 903D00000F01030000030000DBEA333F8F2D144200
            < 35D0AA120F9C4FF89100
            > 906C0000010200
            < 7112D574892C697A9100
            > 900C0000090208A684BC0B25ECCF00
            < 8332C03BB3A509C09100
            > 90C7000000
            < 2820AE33E6C6727E9100
            > 90640000010100
            < 0075A94500928393F19100
            > 90C400002101B772682D23DB8035A66521B577FE26B9B3A62021D851147FE28E49701845922400
            < 09AC91C6A5757FFD9100
            > 90C400002100FB752C578340FB801EA2BA8EC54E7F2CEB812E0BDF99FB5157EE35317647D72100
            < 9100
            """),
        DESFireTranscript(
            "AES, enciphered", .aes, .aes, .full, key: "00112233445566778899AABBCCDDEEFF",
            """
            > 905A00000301020300
            < 9100
            > 90AA0000010000
            < CF086A82C0B745A749DAABB28A7A8DB391AF
            > 90AF0000201F82FA251D571C63326BCF18F5B2FD4A526683EF1D6381D29CF641765959C42800
            < 9C44EF674E98C92F0FB5ABC55BDBB8DD9100
            > 90BD0000070100000010000000
            < 930FA57C986E3C28EA798D0A721845D2D9A59920AB9A4F3342D6850E83190ECE9100
            > 903D0000170103000003000036CB76CDEAA599020A5ACB1C10AF918500
            < 8A4F043E9B5E8DF69100
            > 906C0000010200
            < 4C4914AB3473360C07ABFBA2AE2483849100
            > 900C00001102326BDA7C2EA82D818B9CF7EB257369FB00
            < EA72904E3BB0E6739100
            > 90C7000000
            < FC3394BCA00CD7B59100
            > 90640000010100
            < 00B403F167D9D90E529100
            > 90C400002101CECCFA88996956EDBE18501322A6C62422C733A4F14A3D9AC14C5D980B35290E00
            < B394711D606C111F9100
            > 90C400002100B7A8147420F8270A11AFCF0071092FAC4FE53CB94A19F485A5CB56143090934400
            < 9100
            """),
        DESFireTranscript(
            "EV2, enciphered", .ev2, .aes, .full, key: "00112233445566778899AABBCCDDEEFF",
            """
            > 905A00000301020300
            < 9100
            > 9071000002000000
            < CF086A82C0B745A749DAABB28A7A8DB391AF
            > 90AF000020EAB6822FE368D5BC9895FB2558B38DDE54145343F7F6EC74DA748A02B50B898A00
            < 13AFEB6FFBD18B5686A17427F587B508C8C5BDA127A86F6FD16FDC86C7E7CD769100
            > 90AD00000F010000001000007525D1D05AEE50B700
            < AE09A6E660D170A92FD4E1897E27E735AB4464F49D37D611F1FB4D42E92749445AA464C6AAF978859100
            > 908D00001F010300000300002E008F325BE5E1D782501B0580671678AF0AB610007FFE5800
            < 03601AC64DF88E3F9100
            > 906C00000902CDD03D4A0C07863400
            < 296806D687C7D8E5865F5BDC238DC8212C35DFB115DD89FC9100
            > 900C000019029E3CB5F00FDD827108EAF116E9627F490C52A1C2118FF2AE00
            < D26D11E8C32435419100
            > 90C70000089DC5125DFE91C75600
            < 27627F591223B75A9100
            > 9064000009014DE787D3409A719700
            < 0016E56AA98AD4FBC89100
            > 90C40000290116A102276ECBE6E8AD052674B421B244C917064CBB23D973C9DB1E8DD2B31D9230BC41AB03AAD2AB00
            < C26D30846F7B151D9100
            > 90C4000029009729431EED4B9D7755CE95A1FFA39CB0DC76A503C9420DAE59B90C074295EE9F4DE35D1D8C08125500
            < 9100
            """),
    ]
}

/// A card that gives recorded answers to recorded commands, and nothing else.
private final class RecordedCard: CardChannel {
    private var rest: ArraySlice<(command: [UInt8], answer: [UInt8])>
    private(set) var problems: [String] = []

    init(_ exchanges: [(command: [UInt8], answer: [UInt8])]) { rest = exchanges[...] }

    var isDone: Bool { rest.isEmpty }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        guard let next = rest.popFirst() else { throw .noAnswer }
        guard next.command == frame else {
            problems.append("\(frame.hexadecimal), not \(next.command.hexadecimal)")
            throw .noAnswer
        }
        return next.answer
    }
}

@Suite("DESFire sessions: what recordings and notes have, byte by byte")
struct DESFireSessionTests {
    @Test("A reader sends and accepts whole sessions", arguments: DESFireTranscript.all)
    func reader(_ transcript: DESFireTranscript) throws {
        let card = RecordedCard(transcript.exchanges)
        let session = ISO7816Session(channel: card) { () throws(TransportError) in true }
        let link = DESFireLink(session: session)
        link.random = { DESFireTranscript.counting(0xB0, $0) }
        let key = try #require(DESFireKey(transcript.key, number: 0))
        do {
            try link.select(try #require(DESFireApplicationID("030201")))
            #expect(try link.authenticate(key, transcript.type, transcript.method))
            let data = try link.ask(
                link.isEV2 ? .readDataWhole : .readData, [1, 0, 0, 0, 16, 0, 0], count: 16, transcript.mode)
            #expect(data.hexadecimal == "00112233445566778899aabbccddeeff")
            _ = try link.ask(
                link.isEV2 ? .writeDataWhole : .writeData, [1, 3, 0, 0, 3, 0, 0], data: [0xCA, 0xFE, 0x77],
                transcript.mode)
            #expect(try link.ask(.readValue, [2], count: 4, transcript.mode) == [100, 0, 0, 0])
            _ = try link.ask(.credit, [2], data: [25, 0, 0, 0], transcript.mode)
            _ = try link.ask(.commit)
            #expect(try link.ask(.keyVersion, [1]) == [0])
            let old = [UInt8](repeating: 0, count: transcript.new.count)
            let version: UInt8? = transcript.type == .aes ? 0x21 : nil
            for (number, old) in [(1, old), (0, nil)] as [(UInt8, [UInt8]?)] {
                let secure = try #require(link.secure)
                let change = DESFireKeyChange.parts(transcript.new, replacing: old, version: version, secure)
                _ = try link.ask(
                    old == nil ? .changeOwnKey : .changeKey, [number], data: change.data, tail: change.tail)
            }
            #expect(link.secure == nil)
        } catch {
            Issue.record("\(error)")
        }
        #expect(card.problems.isEmpty)
        #expect(card.isDone)
    }

    @Test("The virtual card answers the same sessions", arguments: DESFireTranscript.all)
    func virtualCard(_ transcript: DESFireTranscript) throws {
        let kind = try #require(DESFireChipKey.Kind(rawValue: transcript.type.rawValue))
        let zeros = [UInt8](repeating: 0, count: kind.length)
        let master = VirtualDESFire.Application(
            id: [0, 0, 0], settings: 0x0F, keys: [DESFireChipKey(.des, [UInt8](repeating: 0, count: 16))], versions: [])
        var desfire = VirtualDESFire(.ev2, uid: [4, 1, 2, 3, 4, 5, 6], card: master)
        var application = VirtualDESFire.Application(
            id: [3, 2, 1], settings: 0x0F,
            keys: [DESFireChipKey(kind, transcript.key), DESFireChipKey(kind, zeros)], versions: [])
        var data = VirtualDESFire.File(kind: .standard, mode: transcript.mode.rawValue, rights: [0, 0])
        data.bytes = try Hex.decode("00112233445566778899AABBCCDDEEFF0102030405")
        var value = VirtualDESFire.File(kind: .value, mode: transcript.mode.rawValue, rights: [0, 0])
        (value.value, value.upper) = (100, 1000)
        application.files = [1: data, 2: value]
        desfire.applications = [application]
        desfire.randoms = [
            DESFireTranscript.counting(0xA0, DESFireAuthentication.randomLength(transcript.type)),
            [0xC0, 0xC1, 0xC2, 0xC3],
        ]
        var state = FileCardState(VirtualFileTree(applets: [desfire]), FileCardOptions())
        for (command, answer) in transcript.exchanges {
            #expect(state.answer(command).hexadecimal == answer.hexadecimal, "to \(command.hexadecimal)")
        }
        let after = try #require(state.tree.applet(VirtualDESFire.self)).applications[0]
        #expect(after.keys.map(\.bytes) == [transcript.new, transcript.new])
        #expect(after.files[1]?.bytes.hexadecimal == "001122cafe7766778899aabbccddeeff0102030405")
        #expect(after.files[2]?.value == 125)
    }

    /// A session's key of DES, twice.
    private static func des(_ hex: String) throws -> DESFireCipher {
        let half = try Hex.decode(hex)
        return try DESFireCipher(.des, SecretBytes(half + half))
    }

    @Test("S1: a real EV1 answers GetKeyVersion in an AES session")
    func runningCode() throws {
        let cipher = try DESFireCipher(.aes, SecretBytes(Hex.decode("90F7A20191036845EC63DECD544B9931")))
        var session = DESFireEV1Session(cipher: cipher)
        #expect(try session.command(.keyVersion, [0], data: [], tail: [], .plain) == [0])
        #expect(session.start.hexadecimal == "257fc538618a944a3a20967b6f314348")
        let answer = try Hex.decode("108A8FA36F55CD210D")
        #expect(try session.answer(.keyVersion, answer, count: 0, .plain) == [0x10])
        #expect(session.start.hexadecimal == "8a8fa36f55cd210dd8054658ac70d99a")
    }

    @Test("S2: a real authentication with sixteen zeros is one of DES")
    func realAuthentication() throws {
        let key = try #require(DESFireKey([UInt8](repeating: 0, count: 16), number: 0))
        let run = try #require(
            try DESFireAuthentication(
                .iso, challenge: Hex.decode("B890047F2DC8D68B"), key: key, .des,
                random: Hex.decode("9231348B6635A8AF")))
        #expect(run.reply.hexadecimal == "7c846a507b9b6e6864bc3372a306a8c1")
        #expect(try run.session(Hex.decode("B796DD3F811545F3")) is DESFireEV1Session)
        #expect(try run.session(Hex.decode("B796DD3F811545F4")) == nil)
        #expect(try run.session([]) == nil)
    }

    @Test("S3, S4: what changes a key and settings")
    func changes() throws {
        var modern = DESFireEV1Session(cipher: try Self.des("B4282EFA9EB82CAE"))
        let change = DESFireKeyChange.parts(
            try Hex.decode("00102031405060708090A0B0B0A09080"), replacing: nil, version: nil, modern)
        let sent = try modern.command(.changeOwnKey, [0], data: change.data, tail: change.tail, .plain)
        #expect(sent.hexadecimal == "00879959118bd77c70107bcdb0c09cc7da821504aa1e36049c")
        var old = DESFireD40Session(cipher: try Self.des("00010203F6B03339"))
        let settings = try old.command(.changeKeySettings, [], data: [0x0F], tail: [], .plain)
        #expect(settings.hexadecimal == "cb643fd030e687da")
    }

    @Test(
        "C1: the CMAC of Triple DES",
        arguments: [
            (0, "7DB0D37DF936C550", "79CE52A7F786A960"), (16, "30239CF1F52E6609", "CC18A0B79AF2413B"),
            (20, "6C9F3EE4923F6BE2", "C06D377ECD101969"), (32, "99429BD0BF7904E5", "9CD33580F9B64DFB"),
        ])
    func tripleDESCode(_ count: Int, _ three: String, _ two: String) throws {
        let message = try Hex.decode("6BC1BEE22E409F96E93D7E117393172AAE2D8A571E03AC9C9EB76FAC45AF8E51")
        let key = try Hex.decode("0123456789ABCDEF23456789ABCDEF01456789ABCDEF0123")
        let long = try DESFireCipher(.threeKeyTripleDES, SecretBytes(key))
        let short = try DESFireCipher(.des, SecretBytes(key.prefix(16)))
        let data = Array(message.prefix(count))
        #expect(try long.cmac(data, after: long.zeros) == Hex.decode(three))
        #expect(try short.cmac(data, after: short.zeros) == Hex.decode(two))
    }

    @Test("C3, C4: checksums and the versions of DES keys")
    func checksums() throws {
        let bytes = try Hex.decode("11223344556677881122334455667788")
        #expect(DESFireChecksum.short(bytes).hexadecimal == "bf02")
        let other = try Hex.decode("F3847D627727ED3BC9C4CC050489B966")
        #expect(DESFireChecksum.long(other).hexadecimal == "789dfadc")
        #expect(DESFireKeyChange.version(try Hex.decode("0011223344556677")) == 0x55)
        #expect(DESFireKeyChange.version(try Hex.decode("0000000000000100")) == 0x02)
        #expect(DESFireKeyChange.version(try Hex.decode("0000000100000000")) == 0x10)
    }

    @Test("S5, S7, S8: EV2 with codes and a changed key, as NXP's notes have them")
    func modern() throws {
        func session(_ identifier: String, _ cipher: String, _ mac: String) throws -> DESFireEV2Session {
            DESFireEV2Session(
                session: EV2Session(
                    identifier: try Hex.decode(identifier), cipherKey: try AESKey(SecretBytes(Hex.decode(cipher))),
                    macKey: try AESKey(SecretBytes(Hex.decode(mac)))))
        }
        let key = try AESKey(SecretBytes([UInt8](repeating: 0, count: 16)))
        let (own, card) = (
            try Hex.decode("B04D0787C93EE0CC8CACC8E86F16C6FE"), try Hex.decode("FA659AD0DCA738DD65DC7DC38612AD81")
        )
        let message: [UInt8] = [1, 2, 3]
        for (purpose, wanted) in [
            (AESExchange.Purpose.encryption, "63DC07286289A7A6C0334CA31C314A04"),
            (.authentication, "774F26743ECE6AF5033B6AE8522946F6"),
        ] {
            let derived = try AESExchange.sessionKey(purpose, from: key, own: own, tag: card)
            #expect(try derived.cmac(message) == AESKey(SecretBytes(Hex.decode(wanted))).cmac(message))
        }
        let mac = "9366FA195EB566F5BD2BAD4020B83002"
        var codes = try session("E2D3AF69", mac, mac)
        let data = [UInt8](repeating: 0x22, count: 25)
        let sent = try codes.command(.writeDataWhole, [0, 0, 0, 0, 0x19, 0, 0], data: data, tail: [], .mac)
        #expect(sent.suffix(8).elementsEqual(try Hex.decode("68F2C28C575A1628")))
        #expect(try codes.answer(.writeDataWhole, Hex.decode("0820F68898C2A7F1"), count: 0, .mac) == [])
        let asked = try codes.command(.readDataWhole, [0, 0, 0, 0, 0x30, 0, 0], data: [], tail: [], .mac)
        #expect(asked.suffix(8).elementsEqual(try Hex.decode("0D9BE191D5960834")))
        let content = data + [UInt8](repeating: 0, count: 23)
        let answer = content + (try Hex.decode("A49A44222D926666"))
        #expect(try codes.answer(.readDataWhole, answer, count: 48, .mac) == content)
        var changed = try session(
            "94297F4D", "E156C8522F7C8DC82B0C99BA847DE723", "45D50C1570000D2F173DF949288E3CAD")
        let change = DESFireKeyChange.parts(
            try Hex.decode("01234567890123456789012345678901"), replacing: nil, version: 0, changed)
        let field = try changed.command(.changeOwnKey, [0], data: change.data, tail: change.tail, .plain)
        #expect(
            field.hexadecimal
                == "00bf5400dc97a1fbd65be870716d6f11f8161bb4ca472856db94ab94b2ec1a13e627ce07cf56c11091")
    }
}
