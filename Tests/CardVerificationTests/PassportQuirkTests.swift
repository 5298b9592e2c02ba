// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import TestSupport
import Testing

@testable import CardVerification

/// The rows of `Fixtures/ids/passports/quirks.tsv` about signatures; the others are tested with the readers.
@Suite("Deviations of passports: signatures", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct PassportQuirkTests {
    private static let folder = "Fixtures/ids/passports"
    private static let now = Moment.at("2026-11-26T00:00:00Z")

    private static func file(_ name: String) throws -> [UInt8] { try TestFiles.read("\(folder)/\(name)") }

    /// Checks a security object with the made data groups, and perhaps an EF.COM.
    private static func check(_ security: [UInt8], index: [UInt8]? = nil) throws -> CardSignature {
        var files: PassportSignatureTests.Files = [
            .machineReadableZone: try file("dg1.bin"), .face: try file("dg2.bin"), .security: security,
        ]
        files[.index] = index
        let dump = PassportSignatureTests.dump(files)
        return try #require(PassportDecoder.decode(dump)).signature(
            of: dump, authorities: CertificateAuthorities(files: [file("csca.der")]), at: now)
    }

    private static func areValid(_ names: String...) throws {
        for name in names {
            #expect(try check(file("sod-\(name).bin")).state == .valid, "\(name)")
        }
    }

    /// What shows each row.
    private static let proofs: [String: @Sendable () throws -> Void] = [
        "content-type": { try areValid("type-old") },
        "content-type-data": { try areValid("type-data") },
        "content-type-own": {
            try areValid("type-sdu")
            let own = Hex.encode(try file("sod-type-sdu.bin"), uppercase: true)
            let other = own.replacing("2A841001876E011401", with: "2A841001876E011402")
            #expect(own != other)
            #expect(try check(Hex.decode(other)).state == .unsupported)
        },
        "ber": { try areValid("ber-indefinite", "ber-constructed") },
        "attribute-order": { try areValid("attributes-wire-signed-sorted", "attributes-wire-signed-wire") },
        "signer-name": { try areValid("wrong-serial") },
        "plain-ecdsa": { try areValid("ecdsa-plain", "ec-public-key") },
        "mixed-algorithms": {
            let dump = try PassportSignatureTests.fixtureDump("pss")
            let own = try CertificateAuthorities(files: [
                TestFiles.read("Fixtures/iso7816/passport/authority.der")
            ])
            let report = try #require(PassportDecoder.decode(dump))
            #expect(try report.signature(of: dump, authorities: own, at: now).state == .valid)
        },
        "key-label": {
            // The curve of the signer's key is named P-192; its point has the length of P-256.
            let text = Hex.encode(try file("sod-plain-standard.bin"), uppercase: true)
            let other = text.replacing("2A8648CE3D030107", with: "2A8648CE3D030101")
            #expect(text != other)
            #expect(try check(Hex.decode(other)).state == .unsupported)
        },
        "other-forms": { try areValid("no-attributes", "by-key-identifier", "sha224", "sha512-version1") },
        "other-index": {
            // EF.COM names DG1 and DG3.
            let index: [UInt8] = [
                0x60, 0x14, 0x5F, 0x01, 0x04, 0x30, 0x31, 0x30, 0x37, 0x5F, 0x36, 0x06, 0x30, 0x34, 0x30, 0x30, 0x30,
                0x30, 0x5C, 0x02, 0x61, 0x63,
            ]
            let found = try check(file("sod-plain-standard.bin"), index: index)
            #expect(found.state == .valid && found.list?.listed == [1, 2] && found.list?.compared == [1, 2])
        },
        "authority-case": {
            let bytes = try TestFiles.read("Fixtures/ids/certificates/other-case.bin")
            let authority = try Certificate(der: bytes)
            let signer = try Certificate(der: bytes.dropFirst(authority.der.count))
            #expect(authority.subject != signer.issuer)
            let verdict = try CertificateAuthorities(files: [authority.der]).verdict(
                on: signer, as: .documentSigner, countries: ["UT"], at: now)
            #expect(verdict.state == .valid)
        },
    ]

    /// The ids of the rows of a kind, and the files that they name.
    static func rows(_ kind: String) throws -> [(id: String, example: String)] {
        String(decoding: try file("quirks.tsv"), as: UTF8.self).split(separator: "\n").dropFirst(2).compactMap {
            let fields = $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return fields[1] == kind ? (fields[0], fields[2]) : nil
        }
    }

    @Test("Every row about signatures has a file that shows it, and is read as it says")
    func table() throws {
        let rows = try Self.rows("signature")
        #expect(Set(rows.map(\.id)) == Set(Self.proofs.keys) && rows.count == Self.proofs.count)
        for row in rows {
            #expect(try !TestFiles.read(row.example).isEmpty)
            try Self.proofs[row.id]?()
        }
        let kinds = ["signature", "chip", "photo", "zone", "access"]
        #expect(try kinds.map { try Self.rows($0).count }.reduce(0, +) == 32)
    }
}
