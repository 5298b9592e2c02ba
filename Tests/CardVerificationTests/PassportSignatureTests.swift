// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import CardVerification
import TestSupport
import Testing

@Suite("Signatures of passports", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct PassportSignatureTests {
    /// The made passport's day of signing is 2026-11-25; this is a day later.
    static let now = Moment.at("2026-11-26T12:00:00Z")
    private static let folder = "Fixtures/iso7816/passport"

    typealias Files = [PassportFile: [UInt8]]

    private static func made(_ name: String) throws -> [UInt8] {
        try TestFiles.read("Fixtures/ids/made-passport-\(name)")
    }

    private static func made() throws -> Files {
        [
            .machineReadableZone: try made("dg1.bin"), .face: try made("dg2.bin"), .security: try made("sod.bin"),
        ]
    }

    private static func authorities(_ paths: String...) throws -> CertificateAuthorities {
        try CertificateAuthorities(files: paths.map { try TestFiles.read($0) })
    }

    private static func country() throws -> CertificateAuthorities {
        try authorities("Fixtures/ids/made-passport-csca.der")
    }

    /// The files of a fixture.
    private static func fixture(_ name: String) throws -> Files {
        let root = JSONCursor(try JSONValue(parsing: TestFiles.read("\(folder)/\(name).json")))
        let application = try #require(try root.required("applications").elements().first)
        var files: Files = [:]
        for file in PassportFile.always {
            files[file] = try application.required("files").required(file.id.description).required("data").bytes()
        }
        return files
    }

    /// A fixture as it was read.
    static func fixtureDump(_ name: String) throws -> CardDump { dump(try fixture(name)) }

    static func dump(_ files: Files, refused: PassportFile? = nil) -> CardDump {
        var dump = CardDump(
            card: .typeB(pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0, 0x81, 0x81]))
        let all = PassportFile.allCases.compactMap { file -> FileDump? in
            if file == refused { return FileDump(id: file.id, state: .refused(status: 0x6A82)) }
            return files[file].map { FileDump(id: file.id, data: $0) }
        }
        dump.applications = [ApplicationDump(aid: PassportFile.application, files: all)]
        return dump
    }

    private static func check(
        _ files: Files, _ authorities: CertificateAuthorities, at time: Timestamp = now, refused: PassportFile? = nil
    ) throws -> CardSignature {
        let dump = dump(files, refused: refused)
        return try #require(PassportDecoder.decode(dump)).signature(of: dump, authorities: authorities, at: time)
    }

    @Test("The made passport: valid, unknown authority, its time, another authority of the same name")
    func made() throws {
        let own = try Self.country()
        let valid = try Self.check(Self.made(), own)
        #expect(valid.state == .valid && valid.authority == "CSCA made")
        #expect(valid.covers == ["machineReadableZone", "photo"] && valid.notCovered.isEmpty)
        #expect(valid.list?.state == .valid && valid.list?.listed == [1, 2] && valid.list?.compared == [1, 2])
        #expect(try Self.check(Self.made(), .none).state == .notChecked)
        let other = try Self.authorities("\(Self.folder)/authority.der")
        #expect(try Self.check(Self.made(), other).state == .unknownAuthority)
        for time in ["2026-11-24T00:00:00Z", "2038-01-01T00:00:00Z"] {
            #expect(try Self.check(Self.made(), own, at: Moment.at(time)).state == .certificateExpired)
        }
        // Without another bit, a certificate's own signature is not looked at: its key is what counts. With another key it fails.
        var forged = try TestFiles.read("Fixtures/ids/made-passport-csca.der")
        let key = try #require(Self.keyPlace(forged))
        forged[key] ^= 0x02
        let sameName = try CertificateAuthorities(files: [forged])
        let renamed = try Self.check(Self.made(), sameName)
        // This signer does not name its authority's key, and countries keep the name when they change the key.
        #expect(renamed.state == .unknownAuthority)
    }

    /// A byte in the middle of an RSA modulus of 2048 bits.
    private static func keyPlace(_ der: [UInt8]) -> Int? {
        let start: [UInt8] = [0x02, 0x82, 0x01, 0x01, 0x00]
        return der.indices.first { der[$0...].starts(with: start) }.map { $0 + 100 }
    }

    @Test("Every kind of fixture, by an authority alone and by the master list")
    func fixtures() throws {
        let list = try Self.authorities("\(Self.folder)/master-list.ml")
        for authorities in [try Self.authorities("\(Self.folder)/authority.der"), list] {
            for (name, state) in [
                ("card", CardSignature.State.valid), ("pss", .valid), ("old-signer", .certificateExpired),
                ("forged", .wrong), ("pace", .valid),
            ] {
                #expect(try Self.check(Self.fixture(name), authorities).state == state, "\(name)")
            }
        }
        let covered = try Self.check(Self.fixture("card"), list)
        #expect(covered.notCovered == ["dataGroups"] && covered.authority == "Sample CSCA")
        let other = try Self.authorities("\(Self.folder)/other-authority.der")
        #expect(try Self.check(Self.fixture("card"), other).state == .unknownAuthority)
    }

    @Test("A bit of a data group, a missing file, files of two passports")
    func changes() throws {
        let own = try Self.country()
        for file in [PassportFile.machineReadableZone, .face] {
            var files = try Self.made()
            files[file]?[80] ^= 1
            #expect(try Self.check(files, own).state == .wrong, "\(file)")
            files[file] = nil
            let missing = try Self.check(files, own)
            #expect(missing.state == .incomplete && missing.covers.count == 1)
            #expect(missing.list?.state == .valid && missing.list?.listed.contains(1) == true)
            let refused = try Self.check(Self.made(), own, refused: file)
            #expect(refused.state == .incomplete && refused.list?.compared.count == 1)
        }
        // A refused file says nothing about the document.
        let refused = try Self.check(Self.made(), own, refused: .security)
        #expect(refused.state == .incomplete && refused.list?.state == .incomplete)
        var mixed = try Self.made()
        mixed[.security] = try Self.fixture("card")[.security]
        #expect(try Self.check(mixed, own).state == .wrong)
        var empty = try Self.made()
        for bytes: [UInt8] in [[], [0x77, 0x00], [0x77, 0x80], [0x77, 0x02, 0x30, 0x00]] {
            empty[.security] = bytes
            #expect(try Self.check(empty, own).state == .malformed, "\(bytes)")
        }
    }

    @Test("A master list with another bit, an empty one and a cut one are refused")
    func lists() throws {
        let whole = try TestFiles.read("\(Self.folder)/master-list.ml")
        #expect(try CertificateAuthorities(files: [whole]).unlisted == ["Sample CSCA", "Other CSCA"])
        var changed = whole
        changed[200] ^= 1
        #expect(throws: AuthorityError.self) { try CertificateAuthorities(files: [changed]) }
        var random = SeededGenerator(seed: 41)
        for _ in TestEffort.rounds(150) {
            var bytes = whole
            for _ in 0...Int.random(in: 0...2, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count + 400, using: &random)))
            if let found = try? CertificateAuthorities(files: [bytes]) {
                // Whatever is accepted is what was signed.
                #expect(found.unlisted == ["Sample CSCA", "Other CSCA"])
            }
        }
    }

    @Test("Mutated file sets: none accepted, no crash")
    func mutations() throws {
        let own = try Self.country()
        let whole = try Self.made()
        var random = SeededGenerator(seed: 40)
        for round in TestEffort.rounds(4000) {
            var files = whole
            // A photo is long to hash; the others have the structure.
            let file: PassportFile = round % 10 == 0 ? .face : round % 3 == 0 ? .machineReadableZone : .security
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
            guard bytes != files[file] else { continue }
            files[file] = bytes
            let dump = Self.dump(files)
            let report = try #require(PassportDecoder.decode(dump))
            let signature = try report.signature(of: dump, authorities: own, at: Self.now)
            guard signature.state == .valid else { continue }
            // What does not count in the signed message: how the signer is named, and the lists in front of the content.
            #expect(
                file == .security && files[.machineReadableZone] == whole[.machineReadableZone],
                "round \(round) \(file)")
        }
    }
}
