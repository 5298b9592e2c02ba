// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CardModel
import ISO7816
import ReaderCore
import ReaderTesting
import TestSupport
import Testing

/// PACE byte for byte: the worked examples of ICAO Doc 9303-11, appendices G and H, and made ones for what those leave out.
@Suite("PACE and chip authentication", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct PACETests {
    /// G.1: ECDH, generic mapping, AES-128, brainpoolP256r1.
    static let generic: [(String, String)] = [
        (
            "0022C1A412800A04007F0007020204020283010184010D",
            "9000"
        ),
        (
            "10860000027C0000",
            "7C12801095A3A016522EE98D01E76CB6B98B42C39000"
        ),
        (
            """
            10860000457C438141047ACF3EFC982EC45565A4B155129EFBC74650DCBFA6362D896FC70262E0C2CC5E544552DCB672\
            5218799115B55C9BAA6D9F6BC3A9618E70C25AF71777A9C4922D00
            """,
            """
            7C43824104824FBA91C9CBE26BEF53A0EBE7342A3BF178CEA9F45DE0B70AA601651FBA3F5730D8C879AAA9C9F73991E6\
            1B58F4D52EB87A0A0C709A49DC63719363CCD13C549000
            """
        ),
        (
            """
            10860000457C438341042DB7A64C0355044EC9DF190514C625CBA2CEA48754887122F3A5EF0D5EDD301C3556F3B3B186\
            DF10B857B58F6A7EB80F20BA5DC7BE1D43D9BF850149FBB3646200
            """,
            """
            7C438441049E880F842905B8B3181F7AF7CAA9F0EFB743847F44A306D2D28C1D9EC65DF6DB7764B22277A2EDDC3C265A\
            9F018F9CB852E111B768B326904B59A0193776F0949000
            """
        ),
        (
            "008600000C7C0A8508C2B0BD78D94BA86600",
            "7C0A86083ABB9674BCE93C089000"
        ),
    ]

    /// G.2: DH, generic mapping, AES-128.
    static let numbers: [(String, String)] = [
        (
            "0022C1A412800A04007F00070202040102830101840100",
            "9000"
        ),
        (
            "10860000027C0000",
            "7C128010854D8DF5827FA6852D1A4FA701CDDDCA9000"
        ),
        (
            """
            10860000867C818381818023FB3749EA030D2A25B278D2A562047ADE3F01B74F17A15402CB7352CA7D2B3EB71C343DB1\
            3D1DEBCE9A3666DBCFC920B49174A602CB47965CAA73DC702489A44D41DB914DE9613DC5E98C94160551C0DF86274B93\
            59BC0490D01B03AD54022DCB4F57FAD6322497D7A1E28D46710F461AFE710FBBBC5F8BA166F4311975EC6C00
            """,
            """
            7C818382818078879F57225AA8080D52ED0FC890A4B25336F699AA89A2D3A189654AF70729E623EA5738B26381E4DA19\
            E004706FACE7B235C2DBF2F38748312F3C98C2DD4882A41947B324AA1259AC22579DB93F7085655AF30889DBB845D9E6\
            783FE42C9F2449400306254C8AE8EE9DD812A804C0B66E8CAFC14F84D8258950A91B44126EE69000
            """
        ),
        (
            """
            10860000867C8183838180907D89E2D425A178AA81AF4A7774EC8E388C115CAE67031E85EECE520BD911551B9AE4D043\
            69F29A02626C86FBC6747CC7BC352645B6161A2A42D44EDA80A08FA8D61B76D3A154AD8A5A51786B0BC07147057871A9\
            22212C5F67F43173172236B7747D1671E6D692A3C7D40A0C3C5CE397545D015C175EB5130551EDBC2EE5D400
            """,
            """
            7C8183848180075693D9AE941877573E634B6E644F8E60AF17A0076B8B123D9201074D36152BD8B3A213F53820C42ADC\
            79AB5D0AEEC3AEFB91394DA476BD97B9B14D0A65C1FC71A0E019CB08AF55E1F729005FBA7E3FA5DC41899238A250767A\
            6D46DB974064386CD456743585F8E5D90CC8B4004B1F6D866C79CE0584E49687FF61BC29AEA19000
            """
        ),
        (
            "008600000C7C0A8508B46DD9BD4D98381F00",
            "7C0A8608917F37B5C0E6D8D19000"
        ),
    ]

    /// H.1: ECDH, integrated mapping, AES-128, brainpoolP256r1; the nonce encrypted with the password of G.1.
    static let integrated: [(String, String)] = [
        (
            "0022C1A412800A04007F0007020204040283010184010D",
            "9000"
        ),
        (
            "10860000027C0000",
            "7C12801058934977E13BB15341E1822ABB1A8E959000"
        ),
        (
            "10860000147C1281105DD4CBFC96F5453B130D890A1CDBAE3200",
            "7C0282009000"
        ),
        (
            """
            10860000457C4383410489CBA23FFE96AA18D824627C3E934E54A9FD0B87A95D1471DC1C0ABFDCD640D46755DE9B7B77\
            8280B6BEBD57439ADFEB0E21FD4ED6DF42578C13418A59B34C3700
            """,
            """
            7C4384410467F78E5F7F7686082B293E8D087E056916D0F74BC01A5F8957D0DE45691E51E8932B69A962B52A0985AD2C\
            0A271EE6A13A8ADDDCD1A3A994B9DED257F4D227539000
            """
        ),
        (
            "008600000C7C0A8508450F02B86F6A090900",
            "7C0A860875D4D96E8D5B03089000"
        ),
    ]

    /// H.2: DH, integrated mapping, AES-128; the nonce encrypted with the password of G.1.
    static let integratedNumbers: [(String, String)] = [
        (
            "0022C1A412800A04007F00070202040302830101840100",
            "9000"
        ),
        (
            "10860000027C0000",
            "7C128010854D8DF5827FA6852D1A4FA701CDDDCA9000"
        ),
        (
            "10860000147C128110B3A6DB3C870C3E99245E0D1C06B747DE00",
            "7C0282009000"
        ),
        (
            """
            10860000867C81838381800F0CC62945A8029251FB7EF3C094E12EC68E4EF07F27CB9D9CD04C5C4250FAE0E4F8A95155\
            7E929AEB48E5C6DD47F2F5CD7C351A9BD2CD722C07EDE166770F08FFCB370262CF308DD7B07F2E0DA9CAAA1492344C85\
            2906919538C98A4BA4187E76CE9D87832386D319CE2E043C3343AEAE6EDBA1A9894DC5094D22F7FE1351D500
            """,
            """
            7C8183848180928D9A0F9DBA450F13FC859C6F290D1D36E42431138A4378500BEB4E0401854CFF111F71CB6DC1D03358\
            07A11388CC8EAA87B07907AAD9FBA6B169AF6D8C26AF8DDDC39ADC3AD2E3FF882B84D23E9768E95A80E4746FB07A9767\
            679FE92133B4D379935C771BD7FBED6C7BB4B1708B275EA75679524CDC9C6A91370CC662A2F39000
            """
        ),
        (
            "008600000C7C0A850855D61977CBF5307E00",
            "7C0A8608C2F04230187E15259000"
        ),
    ]

    /// G.1 with chip-authentication mapping.
    static let mapping: [(String, String)] = [
        (
            "0022C1A412800A04007F0007020204060283010184010D",
            "9000"
        ),
        (
            "10860000027C0000",
            "7C12801095A3A016522EE98D01E76CB6B98B42C39000"
        ),
        (
            """
            10860000457C438141047ACF3EFC982EC45565A4B155129EFBC74650DCBFA6362D896FC70262E0C2CC5E544552DCB672\
            5218799115B55C9BAA6D9F6BC3A9618E70C25AF71777A9C4922D00
            """,
            """
            7C43824104824FBA91C9CBE26BEF53A0EBE7342A3BF178CEA9F45DE0B70AA601651FBA3F5730D8C879AAA9C9F73991E6\
            1B58F4D52EB87A0A0C709A49DC63719363CCD13C549000
            """
        ),
        (
            """
            10860000457C438341042DB7A64C0355044EC9DF190514C625CBA2CEA48754887122F3A5EF0D5EDD301C3556F3B3B186\
            DF10B857B58F6A7EB80F20BA5DC7BE1D43D9BF850149FBB3646200
            """,
            """
            7C438441049E880F842905B8B3181F7AF7CAA9F0EFB743847F44A306D2D28C1D9EC65DF6DB7764B22277A2EDDC3C265A\
            9F018F9CB852E111B768B326904B59A0193776F0949000
            """
        ),
        (
            "008600000C7C0A850872718C3576F30DBC00",
            """
            7C3C8608BD44031816FA8E6F8A3082474FEF6C2C913A33F6858990BD2088DC1E805155C00DD4B4E6240D99D016867A7E\
            74F8F261CD22BBA993CE0123BCA79000
            """
        ),
    ]

    /// After G.1: the application, EF.COM, chip authentication, and DG14 under the new keys.
    static let session: [(String, String)] = [
        (
            "0CA4040C1D871101752F676B09FAC86A87D632749A49C7CC8E08C18BA1FCE707BD9F00",
            "990290008E08BEA7B381C494A0799000"
        ),
        (
            "0CA4020C1D8711016EC84E1358184515AB2D827D30A5C92A8E08403D53BA7533FA7800",
            "990290008E08E00BFFE5473D41409000"
        ),
        (
            "0CB000000D9701088E08BA6E3D1E16FD530C00",
            "871101FD930AD07D219E39F0CCD0EB1077862E990290008E08C9F721159F67AAFF9000"
        ),
        (
            "0C2241A41D871101CE88ED39506DB19DC8D1CDBA488F8B498E080EFCDCF426C90C7700",
            "990290008E08DEC46EF0CB275F479000"
        ),
        (
            """
            0C8600006087510101487C6379C3329002CB97F11FE6462D32C725EFB00A69CD6D8B419EC1CD8A8DE317A52545B9E106\
            95AE621F057FD7F4840AAE8A3ABB1D395B67695C1ED5B5A9CF4B06CB0D0F3769CA84A2FDB68419449701008E08DF615E\
            5AF45BB65500
            """,
            "87110183474A16BEEDC3269F21226A7FCE9984990290008E088E6DAF4F92BDE9349000"
        ),
        (
            "0CA4020C1D8711011E347B2C01433D2A711E3C0DACD585568E08CC368832EAD6A32A00",
            "990290008E08BEBBC3A181B3DCCB9000"
        ),
        (
            "0CB000000D9701088E08201DE68BB494878B00",
            "8711012779ED91201C19BC858EC91B20593048990290008E0889D53A7DE76013849000"
        ),
    ]

    /// After the example of BAC: chip authentication with Triple DES, and DG14 under the new keys.
    static let tripleDES: [(String, String)] = [
        (
            """
            0C2241A655874901B9358ACB9E0909ABB149C7520EC3D51714F763B20892678C8B4DF5D5F2D45BCD14663C72DBCFFA43\
            CF5E98AC7C7B2F434C21A25DA1D78A7CDFA2A294F6B2F802F90984E10CF41A4D8E082BA29EC3061D420E00
            """,
            "990290008E08FA855A5D4C50A8ED9000"
        ),
        (
            "0CA4020C15870901D91B491FF8E985928E08CD0CFE3BA374FDD700",
            "990290008E083F62AE15DFD151509000"
        ),
        (
            "0CB000000D9701088E08AF9BAA6135EB967500",
            "8711013A39BACC1784843E4E9254CADFB6D81E990290008E08B61BA1DF21A75E919000"
        ),
    ]

    private static let password = "T22000129364081251010318"
    /// The terminal's private keys of G.1.
    private static let keys = [
        "7F4EF07B9EA82FD78AD689B38D0BC78CF21F249D953BC46F4C6E19259C010F99",
        "A73FB703AC1436A18E0CFA5ABB3F7BEC7A070E7A6788486BEE230C4A22762595",
    ]

    /// An example: its protocol, what is exchanged, the password and what is drawn at random.
    struct Example: Sendable, CustomTestStringConvertible {
        var info: PACEInfo
        var air: [(String, String)]
        var drawn = PACETests.keys

        var testDescription: String { info.name }
    }

    static let examples = [
        Example(info: PACEInfo(.genericCurve, .aes128, parameters: 13), air: generic),
        Example(
            info: PACEInfo(.genericNumbers, .aes128, parameters: 0), air: numbers,
            drawn: ["5265030F751F4AD18B08AC565FC7AC952E41618D", "89CCD99B0E8D3B1F11E1296DCA68EC53411CF2CA"]),
        Example(
            info: PACEInfo(.integratedCurve, .aes128, parameters: 13), air: integrated,
            drawn: ["5DD4CBFC96F5453B130D890A1CDBAE32", keys[1]]),
        // The example's private key modulo the order, which gives the same public one.
        Example(
            info: PACEInfo(.integratedNumbers, .aes128, parameters: 0), air: integratedNumbers,
            drawn: ["B3A6DB3C870C3E99245E0D1C06B747DE", "89CCD99B0E8D3B1F11E1296DCA68EC53411CF2CA"]),
        Example(info: PACEInfo(.chipAuthentication, .aes128, parameters: 13), air: mapping),
    ]

    /// Runs an example, or one of its exchanges changed.
    private static func run(
        _ example: Example, _ air: [(String, String)]? = nil, allowsLastTry: Bool = false
    ) throws -> (outcome: PACE.Outcome, channel: ScriptedChannel) {
        let channel = try SessionTests.channel(air ?? example.air)
        let drawn = Drawn(try example.drawn.map { try Hex.decode($0) })
        let outcome = try PACE.perform(
            in: SessionTests.session(channel), example.info, .zone,
            SecretBytes(try Digest.sha1.hash(Self.password.utf8)), allowsLastTry: allowsLastTry, random: drawn.next)
        return (outcome, channel)
    }

    @Test("The worked examples, byte for byte", arguments: examples)
    func example(_ example: Example) throws {
        let (outcome, channel) = try Self.run(example)
        #expect(channel.finish().isEmpty, "\(channel.finish())")
        #expect((outcome.proof != nil) == (example.info.mapping == .chipAuthentication))
    }

    @Test("The data with which the chip shows its key belongs to the key of EF.CardSecurity")
    func mappingProof() throws {
        let proof = try #require(try Self.run(Self.examples[4]).outcome.proof)
        let data = try Hex.decode("48DD721E3E2D7091E7F9714D2F119AD65093496C9386570D84DE06D8ABCF8B2E")
        #expect(proof.data == data)
        let group = try #require(try AgreementGroup(standard: 13))
        let key = try Hex.decode(
            "04287844BD96E5E184FF9D29ED083667AB4DABE7C0FBF9D9D96466C401E8D926E6"
                + "90B6863D4464DB3CFD1A4DA6EC8D6533A52992B15268C8A3358A566D83A0A66D")
        #expect(try group.product(of: key, data) == proof.chipKey)
    }

    @Test("The session after PACE: AES, its counter from 0, and chip authentication that ends it")
    func session() throws {
        let (outcome, channel) = try Self.run(Self.examples[0], Self.generic + Self.session)
        let secure = outcome.secure
        let application: [UInt8] = [0xA0, 0, 0, 2, 0x47, 0x10, 1]
        #expect(try secure.transmit(.select, p1: 0x04, p2: 0x0C, data: application).status == .success)
        #expect(try secure.transmit(.select, p1: 0x02, p2: 0x0C, data: [0x01, 0x1E]).status == .success)
        #expect(try secure.transmit(.readBinary, wanted: 8).data == Hex.decode("60155F0104303130"))
        let file = try TestFiles.read("Fixtures/ids/passports/ca-dg14.bin")
        let (way, key) = try #require(SecurityInfos(dataGroup: file).chipAuthentication)
        let drawn = Drawn([try Hex.decode("5A6B7C8D9EAFB0C1D2E3F405162738495A6B7C8D9EAFB0C1D2E3F40516273849")])
        let agreement = try ChipProof.chipAuthentication(in: secure, way, key.der, random: drawn.next)
        #expect(agreement.answer == .proved(way) && way.name == "ECDH-AES-128")
        #expect(try agreement.secure.transmit(.readBinary, wanted: 8).data == Hex.decode("6E82016F3182016B"))
        #expect(channel.finish().isEmpty, "\(channel.finish())")
    }

    /// A session after the example of BAC, over these exchanges.
    private static func basic(_ air: [(String, String)]) throws -> (SecureMessaging, ScriptedChannel) {
        let example = SecureMessagingTests.examples[2]
        let channel = try SessionTests.channel(air)
        let outcome = MutualAuthentication.Outcome(
            seed: try Hex.decode(example.seed), challenge: try Hex.decode(example.challenge),
            random: try Hex.decode(example.random))
        return (try SecureMessaging(authenticating: SessionTests.session(channel), outcome), channel)
    }

    private static func authenticate(
        _ air: [(String, String)]
    ) throws -> (ChipEvidence.Static, SecureMessaging, ScriptedChannel) {
        let (secure, channel) = try basic(air)
        let file = try TestFiles.read("Fixtures/ids/passports/ca-3des-dg14.bin")
        let (way, key) = try #require(SecurityInfos(dataGroup: file).chipAuthentication)
        let drawn = Drawn([try Hex.decode("66778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF001122334455")])
        let agreement = try ChipProof.chipAuthentication(in: secure, way, key.der, random: drawn.next)
        return (agreement.answer, agreement.secure, channel)
    }

    @Test("Chip authentication with Triple DES")
    func tripleDESChip() throws {
        let (answer, renewed, channel) = try Self.authenticate(Self.tripleDES)
        guard case .proved(let way) = answer else { return #expect(Bool(false), "\(answer)") }
        #expect(way.name == "ECDH-3DES")
        #expect(try !renewed.transmit(.readBinary, wanted: 8).data.isEmpty)
        #expect(channel.finish().isEmpty, "\(channel.finish())")
    }

    @Test("A chip that does not understand the new keys does not have the key; another refusal says nothing")
    func foreignChip() throws {
        for (status, isForeign) in [("6988", true), ("6987", true), ("6982", true), ("6F00", false)] {
            let answer = try Self.authenticate([Self.tripleDES[0], (Self.tripleDES[1].0, status)]).0
            if case .failed = answer { #expect(isForeign) } else { #expect(answer == .notDone(.refused) && !isForeign) }
        }
        var changed = try Hex.decode(Self.tripleDES[1].1)
        changed[8] ^= 1
        let answer = try Self.authenticate([Self.tripleDES[0], (Self.tripleDES[1].0, Hex.encode(changed))]).0
        guard case .failed = answer else { return #expect(Bool(false), "\(answer)") }
        // A refusal of the exchange itself proves nothing.
        #expect(try Self.authenticate([(Self.tripleDES[0].0, "6A80")]).0 == .notDone(.refused))
    }

    // MARK: What a chip may answer instead

    private static func failure(
        _ example: Example, at index: Int, _ answer: String, allowsLastTry: Bool = false
    ) throws -> PACE.Failure? {
        var air = Array(example.air.prefix(index + 1))
        air[index].1 = answer
        do {
            _ = try run(example, air, allowsLastTry: allowsLastTry)
            return nil
        } catch let error as PACE.Failure {
            return error
        }
    }

    @Test(
        "A refusal before the token is a refusal; of the token it is a wrong password, whatever the word",
        arguments: examples)
    func refusals(_ example: Example) throws {
        for status: StatusWord in [0x6A80, 0x6985, 0x6A88, 0x6700, 0x6D00] {
            let text = Hex.encode(status.rawValue, digits: 4)
            #expect(
                try Self.failure(example, at: 0, text) == .refused(.status(.manageSecurityEnvironment, status)))
            for step in 1...3 {
                #expect(try Self.failure(example, at: step, text) == .refused(.status(.generalAuthenticate, status)))
            }
            #expect(try Self.failure(example, at: 4, text) == .wrongPassword(nil))
        }
        #expect(try Self.failure(example, at: 4, "63C2") == .wrongPassword(.count(2)))
        #expect(try Self.failure(example, at: 4, "63C0") == .wrongPassword(.locked))
        // The channel has nothing more to answer: a command after the last try would be an error of another kind.
        #expect(try Self.failure(example, at: 0, "63C1") == .lastTry)
        var air = example.air
        air[0].1 = "63C1"
        #expect(try Self.run(example, air, allowsLastTry: true).channel.finish().isEmpty)
        air[0].1 = "63C3"
        #expect(try Self.run(example, air).channel.finish().isEmpty)
    }

    @Test("Cut, changed and empty answers end it; nothing of them is used", arguments: examples)
    func badAnswers(_ example: Example) throws {
        for step in 1...4 {
            let whole = try Hex.decode(example.air[step].1).dropLast(2)
            var answers: [[UInt8]] = [[], [0x7C, 0], [0x7C], [0x7C, 0x02, 0x80, 0x00], [0x30] + whole.dropFirst()]
            answers += [Array(whole.dropLast()), whole + [0], [0x7C, 0x84, 0xFF, 0xFF, 0xFF, 0xFF] + whole]
            // The empty object of an integrated mapping may be anything.
            let isIgnored = example.info.mapping.isIntegrated && step == 2
            for answer in answers where !isIgnored {
                let failure = try Self.failure(example, at: step, Hex.encode(answer) + "9000")
                guard case .failed(.malformed) = failure else {
                    return #expect(Bool(false), "step \(step), \(Hex.encode(answer)): \(String(describing: failure))")
                }
            }
            guard step > 1, !isIgnored else { continue }
            for place in whole.indices.dropFirst(4) {
                var changed = Array(whole)
                changed[place] ^= 0x40
                let failure = try Self.failure(example, at: step, Hex.encode(changed) + "9000")
                // A point that happens to be in the group leads to the next command, which the script does not have.
                if step == 4, example.info.mapping == .chipAuthentication, place > 11 { continue }
                #expect(failure != nil, "step \(step), byte \(place)")
            }
        }
    }

    @Test("A key that is one's own, off the curve, compressed or at infinity is refused, in both steps")
    func badKeys() throws {
        let example = Self.examples[0]
        for step in [2, 3] {
            let own = try Hex.decode(example.air[step].0).dropFirst(5).dropLast().suffix(65)
            var off = Array(own)
            off[64] ^= 1
            let keys: [[UInt8]] = [
                Array(own), off, [2 + own[own.endIndex - 1] % 2] + own.dropFirst().prefix(32), [0],
                [4] + [UInt8](repeating: 0, count: 64), [4] + [UInt8](repeating: 0xFF, count: 64),
            ]
            for key in keys {
                let tag: BERTag = step == 2 ? 0x82 : 0x84
                let answer = BERTLV(0x7C, [BERTLV(tag, key)]).encoded
                #expect(
                    try Self.failure(example, at: step, Hex.encode(answer) + "9000") == .failed(.malformed(.key)),
                    "step \(step), \(Hex.encode(key))")
            }
        }
    }

    @Test("A nonce that is not whole blocks is refused")
    func badNonces() throws {
        for count in [1, 8, 15, 17, 80, 96] {
            let answer = BERTLV(0x7C, [BERTLV(0x80, [UInt8](repeating: 7, count: count))]).encoded
            #expect(
                try Self.failure(Self.examples[0], at: 1, Hex.encode(answer) + "9000") == .failed(.malformed(.nonce)))
        }
    }

    @Test("A chip that leaves at any exchange ends it with that")
    func lost() throws {
        for example in Self.examples {
            for count in example.air.indices {
                let failure = #expect(throws: PACE.Failure.self) {
                    try Self.run(example, Array(example.air.prefix(count)))
                }
                guard case .failed(.card(.transport))? = failure else { return #expect(Bool(false), "\(count)") }
            }
        }
    }
}

/// Random bytes that are known beforehand.
final class Drawn {
    private var rest: [[UInt8]]

    init(_ values: [[UInt8]]) { rest = values }

    func next(_ count: Int) -> [UInt8] { rest.isEmpty ? [UInt8](repeating: 1, count: count) : rest.removeFirst() }
}
