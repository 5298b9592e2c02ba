// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import TestSupport
import Testing

@Suite("DES and Triple DES")
struct DESTests {
    /// A key of DES, a block and its cipher.
    typealias Known = (key: String, plain: String, cipher: String)

    /// NIST SP 800-17, table 4 (substitution tables: every entry of every box), and one row each of tables 1 to 3.
    static let known: [Known] = [
        ("0101010101010101", "8000000000000000", "95F8A5E5DD31D900"),
        ("8001010101010101", "0000000000000000", "95A8D72813DAA94D"),
        ("1046913489980131", "0000000000000000", "88D55E54F54C97B4"),
        ("7CA110454A1A6E57", "01A1D6D039776742", "690F5B0D9A26939B"),
        ("0131D9619DC1376E", "5CD54CA83DEF57DA", "7A389D10354BD271"),
        ("07A1133E4A0B2686", "0248D43806F67172", "868EBB51CAB4599A"),
        ("3849674C2602319E", "51454B582DDF440A", "7178876E01F19B2A"),
        ("04B915BA43FEB5B6", "42FD443059577FA2", "AF37FB421F8C4095"),
        ("0113B970FD34F2CE", "059B5E0851CF143A", "86A560F10EC6D85B"),
        ("0170F175468FB5E6", "0756D8E0774761D2", "0CD3DA020021DC09"),
        ("43297FAD38E373FE", "762514B829BF486A", "EA676B2CB7DB2B7A"),
        ("07A7137045DA2A16", "3BDD119049372802", "DFD64A815CAF1A0F"),
        ("04689104C2FD3B2F", "26955F6835AF609A", "5C513C9C4886C088"),
        ("37D06BB516CB7546", "164D5E404F275232", "0A2AEEAE3FF4AB77"),
        ("1F08260D1AC2465E", "6B056E18759F5CCA", "EF1BF03E5DFA575A"),
        ("584023641ABA6176", "004BD6EF09176062", "88BF0DB6D70DEE56"),
        ("025816164629B007", "480D39006EE762F2", "A1F9915541020B56"),
        ("49793EBC79B3258F", "437540C8698F3CFA", "6FBF1CAFCFFD0556"),
        ("4FB05E1515AB73A7", "072D43A077075292", "2F22E49BAB7CA1AC"),
        ("49E95D6D4CA229BF", "02FE55778117F12A", "5A6B612CC26CCE4A"),
        ("018310DC409B26D6", "1D9D5C5018F728C2", "5F4C038ED12B2E41"),
        ("1C587F1C13924FEF", "305532286D6F295A", "63FAC0D034D9F793"),
    ]

    static func key(_ text: String) throws -> TripleDESKey { try TripleDESKey(SecretBytes(Hex.decode(text))) }

    @Test("With both keys the same, Triple DES is DES", arguments: known)
    func single(_ row: Known) throws {
        let key = try Self.key(row.key + row.key)
        #expect(try key.encrypt(Hex.decode(row.plain)) == Hex.decode(row.cipher))
        #expect(try key.decrypt(Hex.decode(row.cipher)) == Hex.decode(row.plain))
    }

    /// The example of NXP's data sheet MF0ICU2: RndB, then RndA and RndB turned, then RndA turned, in one chain.
    @Test("Two keys in CBC, as an Ultralight C uses them")
    func chain() throws {
        let key = try Self.key("49454D4B41455242 214E4143554F5946")
        let first = try key.encrypt(Hex.decode("51E764602678DF2B"))
        #expect(Hex.encode(first) == "577293fd2f34ca51")
        let plain = try Hex.decode("A8AF3B256C75ED40 E764602678DF2B51")
        let second = try key.encrypt(plain, after: UInt64(block: first))
        #expect(Hex.encode(second) == "0a638559fc7737f9f15d7862ebbe967a")
        let third = try key.encrypt(Hex.decode("AF3B256C75ED40A8"), after: UInt64(block: second.suffix(8)))
        #expect(Hex.encode(third) == "3b884fa07c137ce1")
        #expect(try key.decrypt(second, after: UInt64(block: first)) == plain)
    }

    @Test("Decryption reverses encryption for any key and length", arguments: 1...20 as ClosedRange<UInt64>)
    func thereAndBack(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &generator) } }
        let key = try TripleDESKey(SecretBytes(bytes(16)))
        let plain = bytes(8 * Int.random(in: 0...6, using: &generator))
        let start = UInt64.random(in: .min ... .max, using: &generator)
        let cipher = try key.encrypt(plain, after: start)
        #expect(try key.decrypt(cipher, after: start) == plain)
        #expect(plain.isEmpty || cipher != plain)
    }

    @Test("Parity bits are not looked at")
    func parity() throws {
        let block = try Hex.decode("0123456789ABCDEF")
        let odd = try Self.key("1023456789ABCDEF FEDCBA9876543210").encrypt(block)
        #expect(try Self.key("1122446688AACCEE FFDDBB9977553311").encrypt(block) == odd)
    }

    @Test("Other lengths are refused", arguments: [0, 1, 7, 9, 15])
    func lengths(count: Int) throws {
        let key = try Self.key("00112233445566778899AABBCCDDEEFF")
        let bytes = [UInt8](repeating: 1, count: count)
        #expect(throws: CipherError.keyLength(expected: 16, given: count)) { try TripleDESKey(SecretBytes(bytes)) }
        #expect(throws: CipherError.keyLength(expected: 16, given: 16 + count + 1)) {
            try TripleDESKey(SecretBytes([UInt8](repeating: 1, count: 17 + count)))
        }
        guard count > 0 else { return }
        #expect(throws: CipherError.dataLength(count)) { try key.encrypt(bytes) }
        #expect(throws: CipherError.dataLength(count)) { try key.decrypt(bytes) }
    }

    @Test("The bytes of a slice, not those before it")
    func slices() throws {
        let key = try Self.key("00112233445566778899AABBCCDDEEFF")
        let bytes = [UInt8](0..<32)
        #expect(try key.encrypt(bytes[8..<24]) == key.encrypt(Array(bytes[8..<24])))
    }
}
