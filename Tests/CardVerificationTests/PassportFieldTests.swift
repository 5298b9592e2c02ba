// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import TestSupport
import Testing

@testable import CardVerification

/// Security objects as states make them, and as forgers could, around the same invented holder of Utopia.
@Suite("Passports of the field", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct PassportFieldTests {
    private static let folder = "Fixtures/ids/passports"
    private static let now = Moment.at("2026-11-26T00:00:00Z")

    /// A security object, how it is judged with its authority, and why.
    typealias Case = (name: String, state: CardSignature.State, why: CardSignature.Unfitness?)

    static let cases: [Case] = [
        ("plain-standard", .valid, nil), ("type-old", .valid, nil), ("type-sdu", .valid, nil),
        ("type-data", .valid, nil), ("ber-indefinite", .valid, nil), ("ber-constructed", .valid, nil),
        ("attributes-wire-signed-sorted", .valid, nil), ("attributes-wire-signed-wire", .valid, nil),
        ("ecdsa-plain", .valid, nil), ("ec-public-key", .valid, nil), ("by-key-identifier", .valid, nil),
        ("no-attributes", .valid, nil), ("sha224", .valid, nil), ("sha512-version1", .valid, nil),
        ("wrong-serial", .valid, nil), ("signer-no-key-usage", .valid, nil),
        ("unknown-algorithm", .unsupported, nil), ("spoilt", .wrong, nil),
        ("signer-tls-server", .certificateUnfit, .certificate),
        ("signer-key-encipherment", .certificateUnfit, .certificate),
        ("signer-unknown-critical", .certificateUnfit, .certificate),
        ("signer-other-country", .certificateUnfit, .country), ("signer-expired", .certificateExpired, nil),
    ]

    private static func file(_ name: String) throws -> [UInt8] { try TestFiles.read("\(folder)/\(name)") }

    private static func check(
        _ security: [UInt8], _ authorities: CertificateAuthorities, face: [UInt8]? = nil, typed: TypedMatch? = nil
    ) throws -> CardSignature {
        let dump = PassportSignatureTests.dump([
            .machineReadableZone: try file("dg1.bin"), .face: try face ?? file("dg2.bin"), .security: security,
        ])
        var report = try #require(PassportDecoder.decode(dump))
        report.typed = typed
        return try report.signature(of: dump, authorities: authorities, at: now)
    }

    @Test("Each is judged as the table says, and no other file is there", arguments: cases)
    func judgement(_ row: Case) throws {
        let own = try CertificateAuthorities(files: [Self.file("csca.der")])
        let found = try Self.check(Self.file("sod-\(row.name).bin"), own)
        #expect(found.state == row.state && found.why == row.why, "\(row.name): \(found)")
        #expect(found.list?.state == row.state)
        let files = TestFiles.names(in: Self.folder).filter { $0.hasPrefix("sod-") }
        #expect(Set(files) == Set(Self.cases.map { "sod-\($0.name).bin" }))
        // Nobody asked.
        let unasked = try Self.check(Self.file("sod-\(row.name).bin"), .none).state
        #expect(unasked == ([.wrong, .unsupported].contains(row.state) ? row.state : .notChecked))
    }

    @Test("A changed photo and another holder are not valid under any of them", arguments: cases)
    func changes(_ row: Case) throws {
        let own = try CertificateAuthorities(files: [Self.file("csca.der")])
        let security = try Self.file("sod-\(row.name).bin")
        var face = try Self.file("dg2.bin")
        face[face.count - 1] ^= 1
        #expect(try Self.check(security, own, face: face).state == .wrong)
        let other = try Self.check(security, own, typed: .other)
        #expect(other.state == .otherDocument && other.list?.state == row.state)
        #expect(try Self.check(security, own, typed: .same).state == row.state)
    }

    /// What is replaced in the security object by bytes that nobody knows.
    static let unknowns = [
        // The curve of the signer's key, the kind of key, the digest, and the type of the content.
        ("2A8648CE3D030107", "2A8648CE3D03017F"), ("2A8648CE3D0201", "2A8648CE3D027F"),
        ("608648016503040201", "60864801650304027F"), ("678108010101", "67810801017F"),
    ]

    @Test(
        "Unknown keys, curves, digests and types are neither wrong nor malformed, and no success", arguments: unknowns)
    func unknown(_ old: String, _ new: String) throws {
        let own = try CertificateAuthorities(files: [Self.file("csca.der")])
        let text = Hex.encode(try Self.file("sod-plain-standard.bin"), uppercase: true)
        #expect(text.contains(old))
        let state = try Self.check(Hex.decode(text.replacing(old, with: new)), own).state
        #expect(state == .unsupported && !state.isSuccess(whenAsked: true))
    }

    @Test("BER becomes DER, which stays byte by byte as it is; nothing nests without end")
    func definite() throws {
        let whole = try Self.file("sod-plain-standard.bin")
        #expect(BER.definite(whole) == whole)
        #expect(
            BER.definite([0x24, 0x80, 0x04, 0x01, 0x41, 0x24, 0x03, 0x04, 0x01, 0x42, 0, 0]) == [
                0x04, 0x02, 0x41, 0x42,
            ])
        #expect(BER.definite([0x30, 0x80, 0x30, 0x80, 0, 0, 0, 0]) == [0x30, 0x02, 0x30, 0x00])
        let nests = [UInt8](repeating: 0x30, count: 20_000).enumerated().map { $0.offset % 2 == 0 ? $0.element : 0x80 }
        let bad: [[UInt8]] = [
            [], [0x30], [0x30, 0x80], [0x30, 0x80, 0], [0x30, 0x80, 0, 0, 0], [0x24, 0x80, 0x02, 0x01, 0x01, 0, 0],
            nests,
            [0x04, 0x80, 0, 0], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
        ]
        for bytes in bad { #expect(BER.definite(bytes) == nil, "\(bytes.prefix(8))") }
    }

    @Test("Mutated security objects of every kind: none accepted that differs in what is signed")
    func mutations() throws {
        let own = try CertificateAuthorities(files: [Self.file("csca.der")])
        let files = try Self.cases.filter { $0.state == .valid }.map { try Self.file("sod-\($0.name).bin") }
        var random = SeededGenerator(seed: 9303)
        for round in TestEffort.rounds(10_000) {
            var bytes = files[round % files.count]
            switch Int.random(in: 0...3, using: &random) {
            case 0, 1:
                bytes[Int.random(in: bytes.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            case 2: bytes.remove(at: Int.random(in: bytes.indices, using: &random))
            default: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
            }
            // The photo is another: whatever is accepted would have another digest in it.
            let face = try Self.file("dg2.bin").dropLast() + [0]
            #expect(try Self.check(bytes, own, face: Array(face)).state != .valid, "round \(round)")
        }
    }
}
