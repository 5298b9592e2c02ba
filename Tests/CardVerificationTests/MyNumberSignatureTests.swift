// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import TestSupport
import Testing

@testable import CardVerification

/// A face that was made by the rules of the specification, with an authority of this project's own.
@Suite("Signatures of My Number cards", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct MyNumberSignatureTests {
    private static func vector(_ name: String) throws -> [UInt8] { try TestFiles.read("Fixtures/ids/made-\(name)") }

    private static func own() throws -> CertificateAuthorities {
        try CertificateAuthorities(files: [vector("cv-ca-key.bin")])
    }

    private static func made() throws -> [MyNumberFile: [UInt8]] {
        [.face: try vector("0402-0002.bin"), .faceCertificate: try vector("0402-0004.bin")]
    }

    private static func dump(_ files: [MyNumberFile: [UInt8]]) -> CardDump {
        var dump = CardDump(card: .typeB(pupi: nil))
        for application in MyNumberApplication.allCases {
            var found = ApplicationDump(aid: application.aid)
            for file in MyNumberFile.allCases where file.application == application {
                if let data = files[file] { found.files.append(FileDump(id: file.id, data: data)) }
            }
            dump.applications.append(found)
        }
        return dump
    }

    private static func check(
        _ files: [MyNumberFile: [UInt8]], _ authorities: CertificateAuthorities
    ) throws -> CardSignature {
        let dump = dump(files)
        return try #require(MyNumberDecoder.decode(dump)).faceSignature(of: dump, authorities: authorities)
    }

    @Test("The shipped keys: three for real cards, three for test cards, all different")
    func table() {
        #expect(MyNumberAuthority.faults == [])
        #expect(MyNumberAuthority.all.count == 6 && MyNumberAuthority.all.count(where: \.isTest) == 3)
        #expect(Set(MyNumberAuthority.all.map(\.key)).count == 6)
        for authority in MyNumberAuthority.all {
            #expect(authority.identifier.first == (authority.isTest ? 0x36 : 0x35))
        }
    }

    @Test("The face: valid under its authority, unknown under others and under the shipped keys")
    func states() throws {
        let valid = try Self.check(Self.made(), Self.own())
        #expect(valid.state == .valid && valid.authority == "9900023/001")
        #expect(valid.covers.contains("photo") && valid.notCovered == ["expiryDate"])
        #expect(try Self.check(Self.made(), .none).state == .unknownAuthority)
        let other = try CertificateAuthorities(
            files: [TestFiles.read("Fixtures/iso7816/mynumber/other-authority.bin")])
        #expect(try Self.check(Self.made(), other).state == .unknownAuthority)
        var files = try Self.made()
        files[.faceCertificate] = nil
        #expect(try Self.check(files, Self.own()).state == .incomplete)
        let report = try #require(MyNumberDecoder.decode(Self.dump(Self.made())))
        #expect(report.face?.birthDate?.description == "1980-04-05" && report.face?.sex == "2")
        #expect(report.face?.pictures.count == 3 && report.warnings.isEmpty)
    }

    @Test("A certificate that names a shipped key, and is not signed by it, is wrong")
    func forgedIssuer() throws {
        var files = try Self.made()
        let name = Array("9900023".utf8)
        let certificate = try #require(files[.faceCertificate])
        let place = try #require(certificate.indices.first { certificate[$0...].starts(with: name) })
        files[.faceCertificate]?.replaceSubrange(place..<place + 7, with: Array("5000023".utf8))
        #expect(try Self.check(files, .none).state == .wrong)
        // The key of the other application.
        files[.faceCertificate]?.replaceSubrange(place..<place + 7, with: Array("5000033".utf8))
        #expect(try Self.check(files, .none).state == .unknownAuthority)
    }

    @Test("A key for test cards never counts")
    func testKeys() throws {
        let text = String(
            decoding: try TestFiles.read("Sources/Protocols/CardVerification/Data/mynumber-authorities.tsv"),
            as: UTF8.self)
        for line in text.split(separator: "\n") where !line.hasPrefix("#") && !line.hasPrefix("hierarchy") {
            let fields = line.split(separator: "\t")
            let modulus = try Hex.decode(String(try #require(fields.last)))
            let key = BERTLV(0x90, [0x01, 0x00, 0x01]).encoded + BERTLV(0x91, modulus).encoded
            let authorities = try CertificateAuthorities(files: [key])
            #expect(authorities.testAuthorities == (fields.first == "test" ? 1 : 0))
            #expect(authorities.cardKeys.count == (fields.first == "test" ? 0 : 1))
        }
    }

    @Test("Any bit of what is signed makes it wrong or malformed; the expiry is not covered")
    func bits() throws {
        let own = try Self.own()
        let whole = try #require(try Self.made()[.face])
        // DF22 begins at 26, DF29 at 1135, its date at 1138.
        for place in 26..<1135 {
            var files = try Self.made()
            files[.face]?[place] ^= UInt8(1) << UInt8(place % 8)
            let state = try Self.check(files, own).state
            #expect(state == .wrong || state == .malformed, "\(place)")
        }
        for place in 1138..<1146 {
            var files = try Self.made()
            files[.face]?[place] ^= 1
            #expect(try Self.check(files, own).state == .valid)
        }
        for place in 0..<26 {
            var files = try Self.made()
            files[.face]?[place] ^= 1
            #expect(try Self.check(files, own).state == .malformed, "\(place)")
        }
        for count in stride(from: 0, to: whole.count, by: 7) {
            var files = try Self.made()
            files[.face] = Array(whole.prefix(count))
            #expect(try Self.check(files, own).state == .malformed, "\(count)")
        }
        let certificate = try #require(try Self.made()[.faceCertificate])
        for count in stride(from: 0, to: certificate.count, by: 5) {
            var files = try Self.made()
            files[.faceCertificate] = Array(certificate.prefix(count))
            #expect(try Self.check(files, own).state == .malformed, "\(count)")
        }
    }

    @Test("Ten thousand mutated file sets: none accepted, no crash")
    func mutations() throws {
        let own = try Self.own()
        let whole = try Self.made()
        func signed(_ file: [UInt8]) -> [UInt8]? {
            MyNumberFace.objects(of: file)?.bytes(
                of: 0xDF22, 0xDF23, 0xDF24, 0xDF25, 0xDF26, 0xDF27, 0xDF28)
        }
        let expected = signed(whole[.face] ?? [])
        let certificate = CardVerifiableCertificate(whole[.faceCertificate] ?? [])
        var random = SeededGenerator(seed: 402)
        for round in TestEffort.rounds(10_000) {
            var files = whole
            let file: MyNumberFile = round % 3 == 0 ? .faceCertificate : .face
            var bytes = files[file] ?? []
            switch Int.random(in: 0...4, using: &random) {
            case 0, 1:
                bytes[Int.random(in: bytes.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            case 2: bytes.remove(at: Int.random(in: bytes.indices, using: &random))
            case 3:
                bytes.insert(
                    UInt8.random(in: 0...255, using: &random), at: Int.random(in: 0...bytes.count, using: &random))
            default: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
            }
            files[file] = bytes
            guard try Self.check(files, own).state == .valid else { continue }
            // Expiry, security code and filler are not signed.
            #expect(signed(files[.face] ?? []) == expected, "round \(round)")
            #expect(CardVerifiableCertificate(files[.faceCertificate] ?? []) == certificate, "round \(round)")
        }
    }

    @Test("The four items: what the reader found, and who issued the certificate")
    func items() throws {
        let dump = Self.dump([.cardInputCertificate: try Self.vector("0402-0004.bin")])
        var report = try #require(MyNumberDecoder.decode(dump))
        #expect(try report.itemsSignature(of: dump, authorities: Self.own()).state == .notChecked)
        let states: [(MyNumberItemsCheck, CardSignature.State)] = [
            (.right, .valid), (.wrong, .wrong), (.malformed, .malformed), (.absent, .absent),
            (.incomplete, .incomplete), (.notChecked, .notChecked),
        ]
        for (check, state) in states {
            report.itemsCheck = check
            #expect(try report.itemsSignature(of: dump, authorities: Self.own()).state == state)
        }
        report.itemsCheck = .right
        #expect(try report.itemsSignature(of: dump).state == .unknownAuthority)
        #expect(try report.itemsSignature(of: Self.dump([:]), authorities: Self.own()).state == .incomplete)
    }

    @Test("Chains of certificates: not checked without an authority, wrong for one that the card's own did not sign")
    func chains() throws {
        func file(_ name: String) throws -> [UInt8] { try TestFiles.read("Fixtures/iso7816/mynumber/\(name).der") }
        let now = Moment.at("2026-11-26T00:00:00Z")
        let dump = Self.dump([
            .authenticationCertificate: try file("authentication"), .authenticationCA: try file("authentication-ca"),
            .signatureCA: try file("signature-ca"),
        ])
        let report = try #require(MyNumberDecoder.decode(dump))
        let own = try CertificateAuthorities(files: [file("authentication-ca")])
        for name in [MyNumberFile.authenticationCertificate, .authenticationCA, .signatureCA] {
            #expect(try report.chain(of: name, authorities: .none, at: now).state == .notChecked)
            let state = try report.chain(of: name, authorities: own, at: now).state
            #expect(state == (name == .signatureCA ? .unknownAuthority : .valid), "\(name)")
        }
        let leaf = try report.chain(
            of: .authenticationCertificate, authorities: own, at: Moment.at("2032-01-01T00:00:00Z"))
        #expect(leaf.state == .certificateExpired && leaf.notCovered == ["revocation"])
        var changed = report
        // Another bit of the signature, of the subject, no certificate.
        var der = try file("authentication")
        der[der.count - 1] ^= 1
        changed.certificates[.authenticationCertificate] = der
        #expect(try changed.chain(of: .authenticationCertificate, authorities: .none, at: now).state == .wrong)
        #expect(try changed.chain(of: .authenticationCertificate, authorities: own, at: now).state == .wrong)
        changed.certificates[.authenticationCertificate] = [0x30, 0x03, 0x02, 0x01, 0x01]
        #expect(try changed.chain(of: .authenticationCertificate, authorities: own, at: now).state == .malformed)
        // An authority in the place of the holder.
        changed.certificates[.authenticationCertificate] = try file("authentication-ca")
        #expect(try changed.chain(of: .authenticationCertificate, authorities: own, at: now).state == .malformed)
        changed = report
        var root = try file("signature-ca")
        root[root.count - 1] ^= 1
        changed.certificates[.signatureCA] = root
        #expect(try changed.chain(of: .signatureCA, authorities: .none, at: now).state == .wrong)
        // The holder's certificate without, and with another authority's.
        changed.certificates[.authenticationCA] = nil
        #expect(try changed.chain(of: .authenticationCertificate, authorities: .none, at: now).state == .notChecked)
    }
}
