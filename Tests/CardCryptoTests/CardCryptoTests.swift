// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CardModel
import TestSupport
import Testing

/// Whether libcrypto.so.3 is installed, without which nothing here can be computed.
private let isThere = CryptoError.isLibraryThere

@Suite("Digests and AES", .enabled(if: isThere, "needs libcrypto.so.3"))
struct SymmetricTests {
    /// A digest of "abc". Source: FIPS 180-4, examples.
    static let digests: [(Digest, String)] = [
        (.sha1, "A9993E364706816ABA3E25717850C26C9CD0D89D"),
        (.sha224, "23097D223405D8228642A477BDA255B32AADBCE4BDA0B3F7E36C9DA7"),
        (.sha256, "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"),
        (
            .sha384,
            "CB00753F45A35E8BB5A03D699AC65007272C32AB0EDED1631A8B605A43FF5BED8086072BA1E7CC2358BAECA134C825A7"
        ),
        (
            .sha512,
            """
            DDAF35A193617ABACC417349AE20413112E6FA4E89A97EA20A9EEEE64B55D39A
            2192992A274FC1A836BA3C23A3FEEBBD454D4423643CE80E2A9AC94FA54CA49F
            """
        ),
    ]

    @Test("Digests of abc and of nothing", arguments: digests)
    func digest(_ digest: Digest, _ expected: String) throws {
        #expect(try digest.hash(Array("abc".utf8)) == Hex.decode(expected))
        #expect(try digest.hash([]).count == digest.length)
    }

    /// A key of AES, four blocks encrypted by CBC. Source: NIST SP 800-38A, F.2.1, F.2.3 and F.2.5.
    static let chains: [(key: String, cipher: String)] = [
        (
            "2B7E151628AED2A6ABF7158809CF4F3C",
            "7649ABAC8119B246CEE98E9B12E9197D5086CB9B507219EE95DB113A917678B273BED6B8E3C1743B7116E69E222295163FF1CAA1681FAC09120ECA307586E1A7"
        ),
        (
            "8E73B0F7DA0E6452C810F32B809079E562F8EAD2522C6B7B",
            "4F021DB243BC633D7178183A9FA071E8B4D9ADA9AD7DEDF4E5E738763F69145A571B242012FB7AE07FA9BAAC3DF102E008B0E27988598881D920A9E64F5615CD"
        ),
        (
            "603DEB1015CA71BE2B73AEF0857D77811F352C073B6108D72D9810A30914DFF4",
            "F58C4C04D6E5F1BA779EABFB5F7BFBD69CFC4E967EDB808D679F777BC6702C7D39F23369A9D9BACFA530E26304231461B2EB05E2C39BE9FCDA6C19078C6A9D1B"
        ),
    ]

    static let blocks = """
        6BC1BEE22E409F96E93D7E117393172AAE2D8A571E03AC9C9EB76FAC45AF8E5130C81C46A35CE411E5FBC1191A0A52EFF69F2445DF4F9B17AD2B417BE66C3710
        """

    @Test("AES in CBC mode", arguments: chains)
    func chain(_ row: (key: String, cipher: String)) throws {
        let key = try AESKey(SecretBytes(Hex.decode(row.key)))
        let start = Array(UInt8(0)...15)
        #expect(try key.encrypt(Hex.decode(Self.blocks), after: start) == Hex.decode(row.cipher))
        #expect(try key.decrypt(Hex.decode(row.cipher), after: start) == Hex.decode(Self.blocks))
    }

    /// The length of the message, its CMAC. Source: RFC 4493, section 4.
    static let codes: [(Int, String)] = [
        (0, "BB1D6929E95937287FA37D129B756746"), (16, "070A16B46B4D4144F79BDD9DD04A287C"),
        (40, "DFA66747DE9AE63030CA32611497C827"), (64, "51F0BEBF7E3B9D92FC49741779363CFE"),
    ]

    @Test("CMAC of whole and of broken blocks", arguments: codes)
    func code(_ count: Int, _ expected: String) throws {
        let key = try AESKey(SecretBytes(Hex.decode("2B7E151628AED2A6ABF7158809CF4F3C")))
        #expect(try key.cmac(Hex.decode(Self.blocks).prefix(count)) == Hex.decode(expected))
    }

    @Test("Lengths that AES does not have are refused")
    func lengths() throws {
        for count in [0, 1, 15, 17, 31, 33] {
            #expect(throws: CryptoError.keyLength(count)) {
                try AESKey(SecretBytes([UInt8](repeating: 1, count: count)))
            }
        }
        let key = try AESKey(SecretBytes([UInt8](repeating: 1, count: 16)))
        #expect(try key.encrypt([]) == [])
        #expect(throws: CryptoError.dataLength(15)) { try key.encrypt([UInt8](repeating: 0, count: 15)) }
        #expect(throws: CryptoError.dataLength(17)) { try key.decrypt([UInt8](repeating: 0, count: 17)) }
        #expect(throws: CryptoError.dataLength(8)) { try key.encrypt([], after: [UInt8](repeating: 0, count: 8)) }
        #expect("\(key)" == "Redacted")
    }
}

@Suite("Signatures and certificates", .enabled(if: isThere, "needs libcrypto.so.3"))
struct SignatureTests {
    static func file(_ name: String) throws -> [UInt8] { try TestFiles.read("Fixtures/ids/made-\(name)") }

    static func pattern(_ count: Int, _ start: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: 31 * $0 + 7 * ($0 / 256) + start) }
    }

    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    @Test("RSA with PKCS #1 v1.5: the first generation's residence card")
    func rsa() throws {
        let file = try Self.file("gen1-df3-ef01.bin")
        let objects = BERTLVList(tolerant: file)
        let signature = try #require(objects[0xDA]).value
        let certificate = try Certificate(der: #require(objects[0xDB]).value)
        let message = Self.pattern(6500, 5) + Self.zeros(500) + Self.pattern(2900, 77) + Self.zeros(100)
        #expect(try certificate.key.verifies(signature, of: message, digest: .sha256, scheme: .pkcs1))
        #expect(try !certificate.key.verifies(signature, of: message.reversed(), digest: .sha256, scheme: .pkcs1))
        #expect(try !certificate.key.verifies(signature.dropLast(), of: message, digest: .sha256, scheme: .pkcs1))
        #expect(try !certificate.key.verifies(signature, of: message, digest: .sha1, scheme: .pkcs1))
        #expect(try !certificate.key.verifies(signature, of: message, digest: .sha256, scheme: .pss(mask: .sha256)))
        let authority = try Certificate(der: Self.file("ca1.der"))
        #expect(try certificate.isSigned(by: authority.key))
        #expect(try authority.isSigned(by: authority.key))
        #expect(try !certificate.isSigned(by: Certificate(der: Self.file("ca2.der")).key))
        #expect(authority.commonName == "Vector CA made" && authority.serial == [1])
        #expect(authority.subject == "CN=Vector CA made,O=Kazasu test (made),C=JP")
        #expect(authority.notBefore.description == "2024-05-08T00:00:00Z")
        #expect(authority.notAfter.description == "2039-07-20T00:00:00Z")
        #expect(certificate.issuer == authority.subject)
        let validities: [(String, Certificate.Validity)] = [
            ("2026-11-25T00:00:00Z", .valid), ("2026-01-01T00:00:00Z", .notYetValid),
            ("2037-01-01T00:00:00Z", .expired),
        ]
        for (time, validity) in validities {
            #expect(try certificate.validity(at: #require(Timestamp(time))) == validity)
        }
        // The last second counts to its end.
        let end = authority.notAfter.milliseconds
        #expect(authority.validity(at: Timestamp(milliseconds: end + 999)) == .valid)
        #expect(authority.validity(at: Timestamp(milliseconds: end + 1000)) == .expired)
        #expect(authority.validity(at: Timestamp(milliseconds: .max)) == .expired)
        #expect(authority.validity(at: Timestamp(milliseconds: .min)) == .notYetValid)
        let recovered = try #require(try certificate.key.recovers(signature))
        #expect(recovered.count == 256 && recovered.starts(with: [0, 1, 0xFF]))
        #expect(try Array(recovered.suffix(32)) == Digest.sha256.hash(message))
    }

    @Test("ECDSA on P-384, as r and s and as ASN.1: the second generation's residence card")
    func ecdsa() throws {
        let objects = try BERTLVList(tolerant: Self.file("gen2-df3-ef01.bin"))
        let signature = try #require(objects[0xDC]).value
        let certificate = try Certificate(der: #require(objects[0xDD]).value)
        let message =
            Array("20310614199004052VNMT41001000001030120260614920270914".utf8) + Self.pattern(2900, 77)
            + Self.zeros(100) + Self.pattern(2200, 9) + Self.zeros(300)
        #expect(try certificate.key.verifies(signature, of: message, digest: .sha256, scheme: .ecdsaRaw))
        #expect(try !certificate.key.verifies(signature, of: message, digest: .sha256, scheme: .ecdsa))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(try !certificate.key.verifies(changed, of: message, digest: .sha256, scheme: .ecdsaRaw))
        }
        #expect(try !certificate.key.verifies([], of: message, digest: .sha256, scheme: .ecdsaRaw))
        #expect(try !certificate.key.verifies(signature.dropLast(), of: message, digest: .sha256, scheme: .ecdsaRaw))
        #expect(try certificate.isSigned(by: Certificate(der: Self.file("ca2.der")).key))
    }

    /// A curve, a public key, a UID that was signed without a digest, and the signature. Source: NXP's products, collected
    /// in Proxmark3's `recover_pk.py`.
    static let uids: [(PublicKey.Curve, String, String, String)] = [
        (
            .secp128r1, "046F70AC557F5461CE5052C8E4A7838C11C7A236797E8A0730A101837C004039C2", "30933C61",
            "AEA4DD0B800FAC63D4DE08EE91F4650ED825FD6B4D7DEEE98DBC9BAE10BE003E"
        ),
        (
            .secp224r1,
            "048A9B380AF2EE1B98DC417FECC263F8449C7625CECE82D9B916C992DA209D68422B81EC20B65A66B5102A61596AF3379200599316A00A1410",
            "0463474AA26A80",
            "27E9A50E6CA4BA9037C02F7D20A80D0284D0C1D83C67F5A5AC1D8A4EF86C9508417E4E9C6F85AA7920F0ABDED984CAF20467D66EA54BBF08"
        ),
    ]

    @Test("ECDSA over a UID without a digest", arguments: uids)
    func originality(_ curve: PublicKey.Curve, _ point: String, _ uid: String, _ signature: String) throws {
        let key = PublicKey(curve: curve, point: try Hex.decode(point))
        var value = try Hex.decode(uid)
        let signature = try Hex.decode(signature)
        #expect(try key.verifies(rawECDSA: signature, ofValue: value))
        value[value.count - 1] ^= 1
        #expect(try !key.verifies(rawECDSA: signature, ofValue: value))
        #expect(try !key.verifies(rawECDSA: Self.zeros(signature.count), ofValue: value))
        let off = PublicKey(curve: curve, point: Array(try Hex.decode(point).dropLast()))
        #expect(try !off.verifies(rawECDSA: signature, ofValue: value))
    }

    @Test("RSA without a look at the padding: the three digests of a My Number card's face")
    func rawRSA() throws {
        let keyFile = try Self.file("cv-ca-key.bin")
        let parts = BERTLVList(tolerant: keyFile)
        let key = PublicKey(modulus: try #require(parts[0x91]).value, exponent: try #require(parts[0x90]).value)
        let certificate = try #require(BERTLVList(tolerant: Self.file("0402-0004.bin"))[0x7F21])
        let body = try #require(certificate[0x5F4E]).value
        let signature = try #require(certificate[0x5F37]).value
        #expect(try key.verifies(signature, of: body, digest: .sha256, scheme: .pkcs1))
        let parts2 = BERTLVList(tolerant: body.dropFirst(32))
        let own = PublicKey(modulus: try #require(parts2[0x91]).value, exponent: try #require(parts2[0x90]).value)
        let face = try #require(BERTLVList(tolerant: Self.file("0402-0002.bin"))[0xFF20])
        let faceSignature = try #require(face[0xDF28]).value
        let block = try #require(try own.recovers(faceSignature))
        let header = try Hex.decode("3071300D060960864801650304020105000460")
        #expect(Array(block.dropFirst(256 - 96 - 19).prefix(19)) == header)
        #expect(try own.recovers(Self.zeros(300)) == nil)
        #expect(try PublicKey(curve: .secp256r1, point: [4]).recovers([1]) == nil)
    }

    @Test("A key that cannot check such signatures is not a wrong signature")
    func unsupported() throws {
        // SubjectPublicKeyInfo of an Ed25519 key (RFC 8410), and one of an algorithm that nobody has.
        for algorithm in ["06032B6570", "06032B6E7F"] {
            let key = PublicKey(der: try Hex.decode("302A3005\(algorithm)032100") + [UInt8](repeating: 7, count: 32))
            #expect(throws: CryptoError.unsupported) {
                try key.verifies([UInt8](repeating: 1, count: 64), of: [1], digest: .sha256, scheme: .ecdsa)
            }
        }
    }

    @Test("Anything else than a certificate or a key is refused, wherever it is cut or changed")
    func garbage() throws {
        let der = try Self.file("ca2.der")
        #expect(try Certificate(der: der + [0, 0, 0]).der == der)
        for count in 0..<der.count {
            #expect(throws: CryptoError.refused) { try Certificate(der: der.prefix(count)) }
        }
        let authority = try Certificate(der: der)
        var random = SeededGenerator(seed: 40)
        for _ in TestEffort.rounds(500) {
            var changed = der
            let index = Int.random(in: changed.indices, using: &random)
            changed[index] ^= UInt8.random(in: 1...255, using: &random)
            guard let read = try? Certificate(der: changed) else { continue }
            // Of an unknown algorithm it is neither signed nor not.
            #expect((try? read.isSigned(by: authority.key)) != true || read.der == der)
        }
        for _ in TestEffort.rounds(200) {
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let key = PublicKey(der: bytes)
            #expect(throws: CryptoError.unsupported) {
                try key.verifies(bytes, of: bytes, digest: .sha256, scheme: .pkcs1)
            }
            #expect(throws: CryptoError.refused) { try Certificate(der: bytes) }
        }
    }
}
