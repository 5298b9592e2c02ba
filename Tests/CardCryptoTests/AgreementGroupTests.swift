// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import TestSupport
import Testing

/// The worked examples of ICAO Doc 9303-11 (appendices G and H), and keys that no group has.
@Suite("Key agreement", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct AgreementGroupTests {
    static func bytes(_ text: String) throws -> [UInt8] { try Hex.decode(text.filter { !$0.isWhitespace }) }

    static func group(_ number: Int) throws -> AgreementGroup { try #require(try AgreementGroup(standard: number)) }

    /// The numbers of a group that exist.
    static let numbers = Array(0...2) + Array(8...18)

    @Test("Generic mapping over a curve (G.1)")
    func genericCurve() throws {
        let group = try Self.group(13)
        let first = try Self.bytes("7F4EF07B9EA82FD78AD689B38D0BC78CF21F249D953BC46F4C6E19259C010F99")
        let second = try Self.bytes("498FF49756F2DC1587840041839A85982BE7761D14715FB091EFA7BCE9058560")
        let (own, theirs) = (try group.publicKey(of: first), try group.publicKey(of: second))
        #expect(
            try own
                == Self.bytes(
                    """
                    047ACF3EFC982EC45565A4B155129EFBC74650DCBFA6362D896FC70262E0C2CC5E544552DCB6725218799115B55C9BAA6D
                    9F6BC3A9618E70C25AF71777A9C4922D
                    """))
        let nonce = try Self.bytes("3F00C4D39D153F2B2A214A078D899B22")
        let mapped = try group.mapped(nonce: nonce, first, with: theirs)
        #expect(
            try mapped.generator
                == Self.bytes(
                    """
                    048CED63C91426D4F0EB1435E7CB1D74A46723A0AF21C89634F65A9AE87A9265E28C879506743F8611AC33645C5B985C80
                    B5F09A0B83407C1B6A4D857AE76FE522
                    """))
        #expect(try group.mapped(nonce: nonce, second, with: own) == mapped)
        let third = try Self.bytes("A73FB703AC1436A18E0CFA5ABB3F7BEC7A070E7A6788486BEE230C4A22762595")
        let fourth = try Self.bytes("107CF58696EF6155053340FD633392BA81909DF7B9706F226F32086C7AFF974A")
        let secret = try mapped.agreed(third, with: mapped.publicKey(of: fourth))
        #expect(try secret == Self.bytes("28768D20701247DAE81804C9E780EDE582A9996DB4A315020B2733197DB84925"))
        #expect(try mapped.agreed(fourth, with: mapped.publicKey(of: third)) == secret)
    }

    @Test("Generic mapping over numbers (G.2)")
    func genericNumbers() throws {
        let group = try Self.group(0)
        let first = try Self.bytes("5265030F751F4AD18B08AC565FC7AC952E41618D")
        #expect(try group.publicKey(of: first) == Self.bytes(Numbers.terminalMaps))
        let mapped = try group.mapped(
            nonce: Self.bytes("FA5B7E3E49753A0DB9178B7B9BD898C8"), first, with: Self.bytes(Numbers.chipMaps))
        #expect(try mapped.generator == Self.bytes(Numbers.mapped))
        let second = try Self.bytes("89CCD99B0E8D3B1F11E1296DCA68EC53411CF2CA")
        #expect(try mapped.publicKey(of: second) == Self.bytes(Numbers.terminalAgrees))
        #expect(try mapped.agreed(second, with: Self.bytes(Numbers.chipAgrees)) == Self.bytes(Numbers.secret))
    }

    @Test("Integrated mapping over a curve (H.1)")
    func integratedCurve() throws {
        let whole = try Self.bytes(
            """
            E4447E2DFB3586BAC05DDB00156B57FBB2179A3949294C97254189800C517BAA8DA0FF397ED8C445D3E421E4FEB57322
            """)
        let remainder = try Self.bytes("A2F8FF2DF50E52C6599F386ADCB595D229F6A167ADE2BE5F2C3296ADD5B7430E")
        for value in [whole, remainder] {
            let mapped = try Self.group(13).mapped(value)
            #expect(
                try mapped.generator
                    == Self.bytes(
                        """
                        048E82D31559ED0FDE92A4D0498ADD3C23BABA94FB77691E31E90AEA77FB17D4274C1AE14BD0C3DBAC0C871B7F36081693
                        64437CA30AC243A089D3F266C1E60FAD
                        """))
            let key = try Self.bytes("A73FB703AC1436A18E0CFA5ABB3F7BEC7A070E7A6788486BEE230C4A22762595")
            let theirs = try Self.bytes(
                """
                0467F78E5F7F7686082B293E8D087E056916D0F74BC01A5F8957D0DE45691E51E8932B69A962B52A0985AD2C0A271EE6A13A8ADDDCD1A3A994
                B9DED257F4D22753
                """)
            #expect(
                try mapped.agreed(key, with: theirs)
                    == Self.bytes("4F150FDE1D4F0E38E95017B891BAE17133A0DF45B0D3E18B60BA7BEAFDC2C713"))
        }
    }

    @Test("Integrated mapping over numbers (H.2)")
    func integratedNumbers() throws {
        let mapped = try Self.group(0).mapped(Self.bytes(Integrated.value))
        #expect(try mapped.generator == Self.bytes(Integrated.mapped))
        let key = try Self.bytes(Integrated.privateKey)
        #expect(try mapped.publicKey(of: key) == Self.bytes(Integrated.terminal))
        #expect(try mapped.agreed(key, with: Self.bytes(Integrated.chip)) == Self.bytes(Integrated.secret))
    }

    @Test("Both sides agree in every group, by either mapping", arguments: numbers)
    func everyGroup(_ number: Int) throws {
        let group = try Self.group(number)
        var random = SeededGenerator(seed: UInt64(number))
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...0xFF, using: &random) } }
        let (first, second) = (try group.privateKey(bytes), try group.privateKey(bytes))
        let nonce = bytes(16)
        let here = try group.mapped(nonce: nonce, first, with: group.publicKey(of: second))
        let there = try group.mapped(nonce: nonce, second, with: group.publicKey(of: first))
        #expect(here == there && here.generator != group.generator)
        // P-224 has no integrated mapping.
        let integrated = number == 10 ? here : try group.mapped(bytes(80))
        for mapped in [here, integrated] {
            let (third, fourth) = (try mapped.privateKey(bytes), try mapped.privateKey(bytes))
            let secret = try mapped.agreed(third, with: mapped.publicKey(of: fourth))
            #expect(try mapped.agreed(fourth, with: mapped.publicKey(of: third)) == secret)
            #expect(secret.count == group.width)
        }
        if number == 10 { #expect(throws: CryptoError.unsupported) { try group.mapped(bytes(80)) } }
    }

    @Test("Keys that are not in the group are refused", arguments: numbers)
    func badKeys(_ number: Int) throws {
        let group = try Self.group(number)
        let width = group.width
        let zeros = [UInt8](repeating: 0, count: width)
        var bad: [[UInt8]] = [[], [0], [4], zeros, [UInt8](repeating: 0xFF, count: width)]
        if group.isCurve {
            var off = group.generator
            off[2 * width] ^= 1
            let compressed = [2 | group.generator[2 * width] & 1] + group.generator[1...width]
            bad += [off, compressed, Array(group.generator.dropLast()), group.generator + [0], [4] + zeros + zeros]
        } else {
            // 1, −1 and a number outside of the subgroup: the group's own are squares and higher powers.
            var last = zeros
            last[width - 1] = 2
            bad += [[1], last, [1] + zeros]
        }
        for key in bad {
            #expect(throws: CryptoError.refused, "\(Hex.encode(key))") { try group.agreed([1], with: key) }
            #expect(throws: CryptoError.refused) { try group.mapped(nonce: [1], [1], with: key) }
        }
    }

    @Test("A mapping that ends at infinity is refused")
    func infinity() throws {
        let group = try Self.group(12)
        // The other side's key is −s · G, and one's own private key 1.
        let nonce: [UInt8] = [UInt8](repeating: 0x5A, count: 16)
        var negative = try group.publicKey(of: nonce)
        let prime = try Self.bytes("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF")
        var borrow = 0
        for place in (0..<32).reversed() {
            let difference = Int(prime[place]) - Int(negative[33 + place]) - borrow
            borrow = difference < 0 ? 1 : 0
            negative[33 + place] = UInt8(truncatingIfNeeded: difference)
        }
        #expect(throws: CryptoError.refused) { try group.mapped(nonce: nonce, [1], with: negative) }
    }

    @Test("Numbers of groups that do not exist")
    func unknown() throws {
        for number in [-1, 3, 7, 19, 31, 255] {
            #expect(try AgreementGroup(standard: number) == nil)
            #expect(AgreementGroup.name(standard: number) == nil && AgreementGroup.isCurve(standard: number) == nil)
        }
        #expect(AgreementGroup.name(standard: 13) == "brainpoolP256r1" && AgreementGroup.name(standard: 12) == "P-256")
        for number in Self.numbers { #expect(try Self.group(number).number == number) }
    }

    @Test("Keys of security files: explicit parameters, and none of what is cut or changed traps")
    func keys() throws {
        let file = try TestFiles.read("Fixtures/ids/passports/ca-dg14.bin")
        let start = try #require(file.indices.first { file[$0...].starts(with: [0x30, 0x82, 0x01, 0x33, 0x30]) })
        let der = Array(file[start..<(start + 4 + 0x133)])
        let key = try #require(try AgreementKey(der: der))
        #expect(key.group.number == 13)
        let own = try Self.bytes("1F3C5A7992B4D6F80A1B2C3D4E5F60718293A4B5C6D7E8F90112233445566778")
        #expect(try key.group.publicKey(of: own) == key.publicKey)
        for count in 0..<der.count { #expect((try? AgreementKey(der: Array(der.prefix(count)))) == nil) }
        for place in der.indices {
            var changed = der
            changed[place] ^= 0x10
            _ = try? AgreementKey(der: changed)
        }
    }
}

/// Numbers of example G.2.
private enum Numbers {
    static let terminalMaps = """
        23FB3749EA030D2A25B278D2A562047ADE3F01B74F17A15402CB7352CA7D2B3EB71C343DB13D1DEBCE9A3666DBCFC920B49174A6
        02CB47965CAA73DC702489A44D41DB914DE9613DC5E98C94160551C0DF86274B9359BC0490D01B03AD54022DCB4F57FAD6322497
        D7A1E28D46710F461AFE710FBBBC5F8BA166F4311975EC6C
        """
    static let chipMaps = """
        78879F57225AA8080D52ED0FC890A4B25336F699AA89A2D3A189654AF70729E623EA5738B26381E4DA19E004706FACE7B235C2DB
        F2F38748312F3C98C2DD4882A41947B324AA1259AC22579DB93F7085655AF30889DBB845D9E6783FE42C9F2449400306254C8AE8
        EE9DD812A804C0B66E8CAFC14F84D8258950A91B44126EE6
        """
    static let mapped = """
        7C9CBFE98F9FBDDA8D143506FA7D9306F4CB17E3C71707AFF5E1C1A12370249684D64EE37AF44B8DBD9D45BF6023919CBAA027AB
        97ACC771666C8E98FF483301BFA4872DEDE9034EDFACB70814166B7F360676829B826BEA57291B5AD69FBC84EF1E779032A30580
        3F74341793E869742D401325B37EE8565FFCDEE618342DC5
        """
    static let terminalAgrees = """
        907D89E2D425A178AA81AF4A7774EC8E388C115CAE67031E85EECE520BD911551B9AE4D04369F29A02626C86FBC6747CC7BC3526
        45B6161A2A42D44EDA80A08FA8D61B76D3A154AD8A5A51786B0BC07147057871A922212C5F67F43173172236B7747D1671E6D692
        A3C7D40A0C3C5CE397545D015C175EB5130551EDBC2EE5D4
        """
    static let chipAgrees = """
        075693D9AE941877573E634B6E644F8E60AF17A0076B8B123D9201074D36152BD8B3A213F53820C42ADC79AB5D0AEEC3AEFB9139
        4DA476BD97B9B14D0A65C1FC71A0E019CB08AF55E1F729005FBA7E3FA5DC41899238A250767A6D46DB974064386CD456743585F8
        E5D90CC8B4004B1F6D866C79CE0584E49687FF61BC29AEA1
        """
    static let secret = """
        6BABC7B3A72BCD7EA385E4C62DB2625BD8613B24149E146A629311C4CA6698E38B834B6A9E9CD7184BA8834AFF5043D436950C4C
        1E7832367C10CB8C314D40E5990B0DF7013E64B4549E2270923D06F08CFF6BD3E977DDE6ABE4C31D55C0FA2E465E553E77BDF75E
        3193D3834FC26E8EB1EE2FA1E4FC97C18C3F6CFFFE2607FD
        """
}

/// Numbers of example H.2.
private enum Integrated {
    static let value = """
        A0C7C50C002061A51CC87D254EF38068607417B6EE1B36473CFB800D2D2E5FA2B6980F01105D24FAB22ACD1BFA5C8A4C093ECDFA
        FE6D7125D42A843E338603835CF19AFAFF75EFE21DC5F6AA1F9AE46C25087E7368166FB08C1E4627AFED7D93570417B790FF7F74
        7E57F432B04E1236819E0DFEF5B6E77CA4999925328182D2
        """
    static let mapped = """
        1D7D767F11E333BCD6DBAEF40E799E7A926B96973550656FF3C830726D118D61C276CDCC61D475CF03A98E0C0E79CAEBA5BE2557
        8BD4551D0B10903236F0B0F976852FA78EEA14EA0ACA87D1E91F688FE0DFF897BBE35A472621D343564B262F34223AE8FC59B664
        BFEDFA2BFE7516CA5510A6BBB633D517EC25D4E0BBAA16C2
        """
    static let privateKey = """
        4BD0E54740F9A028E6A515BFDAF967848C4F5F5FFF65AA0915947FFD1A0DF2FA6981271BC905F3551457B7E03AC3B8066DE4AA40
        6C1171FB43DD939C4BA16175103BA3DEE16419AA248118F90CC36A3D6F4C373652E0C3CCE7F0F1D0C5425B3600F0F0D6A67F004C
        8BBA33F2B4733C7252445C1DFC4F1107203F71D2EFB28161
        """
    static let terminal = """
        0F0CC62945A8029251FB7EF3C094E12EC68E4EF07F27CB9D9CD04C5C4250FAE0E4F8A951557E929AEB48E5C6DD47F2F5CD7C351A
        9BD2CD722C07EDE166770F08FFCB370262CF308DD7B07F2E0DA9CAAA1492344C852906919538C98A4BA4187E76CE9D87832386D3
        19CE2E043C3343AEAE6EDBA1A9894DC5094D22F7FE1351D5
        """
    static let chip = """
        928D9A0F9DBA450F13FC859C6F290D1D36E42431138A4378500BEB4E0401854CFF111F71CB6DC1D0335807A11388CC8EAA87B079
        07AAD9FBA6B169AF6D8C26AF8DDDC39ADC3AD2E3FF882B84D23E9768E95A80E4746FB07A9767679FE92133B4D379935C771BD7FB
        ED6C7BB4B1708B275EA75679524CDC9C6A91370CC662A2F3
        """
    static let secret = """
        419410D6C0A17A4C07C54872CE1CBCEB0A2705C1A434C8A89A4CFE41F1D78124CA7EC52BDE7615E5345E48AB1ABB6E7D1D59A57F
        3174084D3CA4570397C1F62228BDFDB2DA191EA2239E2C060DBE3BBC23C2FCD0AF12E0F9E0B99FCF91FF1959011D5798B2FCBC1F
        14FCC24E441F4C8F9B08D977E9498560E63E7FFAB3134EA7
        """
}
