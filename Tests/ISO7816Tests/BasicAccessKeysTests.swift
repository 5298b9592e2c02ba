// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import Testing

@testable import ISO7816

/// The worked example of ICAO Doc 9303 part 11, appendix D.
@Suite("Basic access keys")
struct BasicAccessKeysTests {
    static let information = Array("L898902C<369080619406236".utf8)

    @Test("PM4: seed and keys with parity")
    func keys() throws {
        let seed = BasicAccessKeys.seed(Self.information)
        #expect(Hex.encode(seed, uppercase: true) == "239AB9CB282DAF66231DC5A4DF6BFBAE")
        let encryption = BasicAccessKeys.keyBytes(seed, counter: 1)
        #expect(Hex.encode(encryption, uppercase: true) == "AB94FDECF2674FDFB9B391F85D7F76F2")
        let mac = BasicAccessKeys.keyBytes(seed, counter: 2)
        #expect(Hex.encode(mac, uppercase: true) == "7962D9ECE03D1ACD4C76089DCE131543")
    }

    @Test("PM5: the data of mutual authentication")
    func mutualAuthentication() throws {
        let keys = try BasicAccessKeys(mrzInformation: Self.information)
        let data = try keys.mutualAuthentication(
            challenge: 0x4608_F919_8870_2212, random: 0x7817_2386_0C06_C226,
            keyMaterial: Hex.decode("0B795240CB7049B01C19B33E32804F0B"))
        let expected = try Hex.decode(
            "72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2 5F1448EEA8AD90A7")
        #expect(data == expected)
        // The document's answer in the same example: RND.IC, RND.IFD and K.IC, enciphered.
        let answer = try keys.encryption.decrypt(
            Hex.decode("46B9342A41396CD7386BF5803104D7CEDC122B9132139BAF2EEDC94EE178534F"))
        #expect(Hex.encode(answer) == "4608f91988702212781723860c06c2260b4f80323eb3191cb04970cb4052790b")
        #expect(Hex.encode(keys.mac.retailMAC(of: try keys.encryption.encrypt(answer))) == "2f2d235d074d7449")
    }

    @Test("Too little to make keys of", arguments: [0, 1, 23])
    func short(count: Int) throws {
        let bytes = [UInt8](repeating: 0x3C, count: count)
        #expect(throws: CipherError.keyLength(expected: 24, given: count)) {
            try BasicAccessKeys(mrzInformation: bytes)
        }
        let keys = try BasicAccessKeys(mrzInformation: Self.information)
        #expect(throws: CipherError.keyLength(expected: 16, given: count)) {
            try keys.mutualAuthentication(challenge: 0, random: 0, keyMaterial: bytes)
        }
    }
}
