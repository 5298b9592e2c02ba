// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import CardVerification
import TestSupport
import Testing

/// Changed files of passports that no signature covers by itself, or that chips name themselves.
@Suite("Mutated files of passports", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct PassportMutationTests {
    /// A byte changed, left out or added, or the file cut.
    private static func changed(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0...5, using: &random) {
            case 0...2: bytes[place] ^= UInt8.random(in: 1...255, using: &random)
            case 3: bytes.remove(at: place)
            case 4: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            default: bytes = Array(bytes.prefix(place))
            }
        }
        return bytes
    }

    @Test("20,000 changed EF.CardAccess: only what is in it is listed")
    func cardAccess() throws {
        let whole = try Hex.decode(
            "3148" + "3012060A04007F0007020204020202010202010D" + "3012060A04007F0007020204060402010202010C"
                + "300F060A04007F00070202030202020101" + "300D060804007F0007020202020101")
        var random = SeededGenerator(seed: 5210)
        for round in TestEffort.rounds(20_000) {
            let bytes = Self.changed(whole, &random)
            let infos = SecurityInfos(bytes)
            #expect(infos.pace.count <= 64 && infos.chipProtocols.count <= 64)
            for info in infos.pace {
                let name = info.identifier
                let isThere = bytes.indices.contains { bytes[$0...].starts(with: name) }
                #expect(isThere && bytes.contains(info.parameters), "round \(round)")
            }
            #expect(infos.listsPACE || infos.pace.isEmpty)
        }
    }

    @Test(
        "20,000 changed DG14: a saved chip authentication counts only with the key of the original, and is never genuine"
    )
    func protocols() throws {
        let whole = try TestFiles.read("Fixtures/ids/passports/ca-dg14.bin")
        let own = try #require(SecurityInfos(dataGroup: whole).chipAuthentication)
        let key = try #require(try AgreementKey(der: own.key.der))
        var evidence = ChipEvidence()
        evidence.isOffline = true
        evidence.agreement = AgreementRecord(
            name: own.way.name, keyID: nil,
            privateKey: OwnKey(try Hex.decode("5A6B7C8D9EAFB0C1D2E3F405162738495A6B7C8D9EAFB0C1D2E3F40516273849")),
            answer: try Hex.decode("990290008E08BEBBC3A181B3DCCB9000"), counter: 2)
        var random = SeededGenerator(seed: 5211)
        var proved = 0
        for round in TestEffort.rounds(20_000) {
            let bytes = round == 0 ? whole : Self.changed(whole, &random)
            var dump = PassportSignatureTests.dump([:])
            dump.applications = [
                ApplicationDump(
                    aid: PassportFile.application, files: [FileDump(id: PassportFile.protocols.id, data: bytes)])
            ]
            var report = try #require(PassportDecoder.decode(dump))
            report.evidence = evidence
            let signature = CardSignature(.notChecked, covers: [], notCovered: [])
            let check = try report.chip(of: dump, signature: signature, authorities: .none)
            #expect(check.state != .genuine)
            guard check.state == .unbound else { continue }
            proved += 1
            let found = try #require(
                SecurityInfos(dataGroup: bytes).chipAuthentication(named: own.way.name, keyID: nil))
            #expect(try AgreementKey(der: found.key.der)?.publicKey == key.publicKey, "round \(round)")
        }
        #expect(proved > 0)
    }

    @Test("A chip key off its curve, at infinity, or of another curve is refused")
    func badChipKeys() throws {
        let whole = try TestFiles.read("Fixtures/ids/passports/ca-dg14.bin")
        let own = try #require(SecurityInfos(dataGroup: whole).chipAuthentication)
        let key = try #require(try AgreementKey(der: own.key.der))
        let place = try #require(whole.indices.last { whole[$0...].starts(with: key.publicKey) })
        let points: [[UInt8]] = [
            [UInt8](repeating: 0, count: 65), [4] + [UInt8](repeating: 0, count: 64),
            [4] + [UInt8](repeating: 0xFF, count: 64), Array(key.publicKey.dropLast()) + [key.publicKey[64] ^ 1],
        ]
        for point in points {
            var bytes = whole
            bytes.replaceSubrange(place..<place + 65, with: point)
            let found = try #require(SecurityInfos(dataGroup: bytes).chipAuthentication)
            #expect(throws: CryptoError.self) { try AgreementKey(der: found.key.der) }
        }
    }

    @Test("20,000 changed DG2: none is valid, and what is shown as the photo is in the file")
    func face() throws {
        let whole = try TestFiles.read("Fixtures/ids/passports/dg2.bin")
        let zone = try TestFiles.read("Fixtures/ids/passports/dg1.bin")
        let security = try TestFiles.read("Fixtures/ids/passports/sod-plain-standard.bin")
        let own = try CertificateAuthorities(files: [TestFiles.read("Fixtures/ids/passports/csca.der")])
        let now = Moment.at("2026-11-26T00:00:00Z")
        var random = SeededGenerator(seed: 5212)
        for round in TestEffort.rounds(20_000) {
            let bytes = Self.changed(whole, &random)
            let dump = PassportSignatureTests.dump([.machineReadableZone: zone, .face: bytes, .security: security])
            let report = try #require(PassportDecoder.decode(dump))
            if let photo = report.photo { #expect(photo.count <= bytes.count, "round \(round)") }
            // The signature is checked for one in ten: it takes the longest, and the digest decides.
            guard round % 10 == 0, bytes != whole else { continue }
            #expect(try report.signature(of: dump, authorities: own, at: now).state == .wrong, "round \(round)")
        }
    }
}
