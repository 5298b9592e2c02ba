// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import CardVerification
import TestSupport
import Testing

/// Passports from files, and checks of chips replayed from what was kept of them.
@Suite("Saved passports", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct SavedPassportTests {
    private static let folder = "Fixtures/ids/passports"

    private static func file(_ name: String) throws -> [UInt8] { try TestFiles.read("\(folder)/\(name)") }

    private static func hex(_ text: String) throws -> [UInt8] { try Hex.decode(text) }

    private static func saved(_ files: [[UInt8]]) throws -> SavedPassport {
        var saved = SavedPassport()
        for file in files { #expect(try saved.add(file)) }
        return saved
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = Array(bytes[start..<min(start + 3, bytes.count)])
            let number = (0..<3).reduce(0) { $0 << 8 | ($1 < part.count ? Int(part[$1]) : 0) }
            for index in 0..<4 {
                text.append(index <= part.count ? digits[number >> (18 - 6 * index) & 63] : "=")
            }
        }
        return text
    }

    // MARK: Forms

    /// What programs write for the same passport.
    private static func forms() throws -> [(name: String, files: [[UInt8]])] {
        let (zone, face, security) = (try file("dg1.bin"), try file("dg2.bin"), try file("sod-plain-standard.bin"))
        let inner = try #require(BERTLVList(tolerant: security)[0x77]?.value)
        func lines(_ bytes: [UInt8]) -> [UInt8] {
            let text = base64(bytes)
            return Array(
                stride(from: 0, to: text.count, by: 76).map { text.dropFirst($0).prefix(76) }
                    .joined(separator: "\r\n").utf8) + [0x0A]
        }
        let phone: JSONValue = [
            "COM": "YBQ=", "DG1": .string(base64(zone)), "DG2": .string(base64(face)),
            "SOD": .string(base64(security)),
        ]
        return [
            ("bare", [zone, face, security]), ("EF.SOD without its tag", [zone, face, inner]),
            ("base64", [lines(zone), lines(face), lines(security)]),
            ("fixed size", [zone + [UInt8](repeating: 0xFF, count: 500), face + [0, 0], security + [0xFF]]),
            ("JSON", [Array(phone.prettyText.utf8)]),
            (
                "a dump",
                [
                    Array(
                        PassportSignatureTests.dump([.machineReadableZone: zone, .face: face, .security: security])
                            .document.utf8)
                ]
            ), ("given twice", [zone, face, security, zone, lines(zone)]),
        ]
    }

    @Test("Every form of the same passport gives the same verdict")
    func sameVerdict() throws {
        let authorities = try CertificateAuthorities(files: [Self.file("csca.der")])
        for (name, files) in try Self.forms() {
            let saved = try Self.saved(files)
            let report = try #require(saved.report, "\(name)")
            let signature = try report.signature(of: saved.dump, authorities: authorities)
            #expect(signature.state == .valid && report.machineReadableZone?.number == "UT7654321", "\(name)")
            let chip = try report.chip(of: saved.dump, signature: signature, authorities: authorities)
            #expect(chip.state == .notChecked && chip.why == .offline, "\(name)")
            #expect(saved.padded == (name == "fixed size" ? ["DG1", "DG2", "EF_SOD"] : []), "\(name)")
        }
    }

    @Test("EF.SOD alone is judged by its list; every kind of signed file is told from the others")
    func alone() throws {
        let authorities = try CertificateAuthorities(files: [Self.file("csca.der")])
        for name in TestFiles.names(in: Self.folder).filter({ $0.hasPrefix("sod-") }) {
            let saved = try Self.saved([Self.file(name)])
            let report = try #require(saved.report)
            let signature = try report.signature(of: saved.dump, authorities: authorities)
            #expect(signature.list?.listed == [1, 2] || signature.list?.state == .unsupported, "\(name)")
            #expect(signature.list?.compared == [] && signature.state != .valid, "\(name): \(signature)")
            if name == "sod-plain-standard.bin" {
                #expect(signature.list?.state == .valid && signature.state == .incomplete)
            }
        }
        let master = try Self.saved([Self.file("cam-card-security.bin")]).dump.application(nil)
        #expect(master?.file(PassportFile.cardSecurity)?.state == .read)
        for name in ["csca.der", "lists/list.ml", "lists/certs.p7c", "lists/trusted.pem", "lists/certs.ldif"] {
            var saved = SavedPassport()
            #expect(try !saved.add(Self.file(name)), "\(name)")
        }
    }

    @Test("Nothing else counts as a file of a passport")
    func foreign() throws {
        let zone = try Self.file("dg1.bin")
        for bytes in [
            [], [0x61], Array("hello, world".utf8), Array("{}".utf8), Array("{\"a\": 1}".utf8), Array("{".utf8),
            zone.dropLast(), zone + [1], [0x61, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x60, 0x00], [0x31, 0x00],
            [0x61, 0x83, 0x0F, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 0x0FFFFF),
            Array(Self.base64(Array(Self.base64(Array(Self.base64(zone).utf8)).utf8)).utf8),
        ] as [[UInt8]] {
            var saved = SavedPassport()
            #expect(try !saved.add(bytes), "\(bytes.prefix(16))")
            #expect(saved.report == nil)
        }
        var other = zone
        other[other.count - 3] ^= 1
        var saved = try Self.saved([zone])
        #expect(throws: SavedPassport.Fault.different("DG1")) { try saved.add(other) }
    }

    @Test("No change of a file traps, and a group that differs from the list is never valid")
    func mutated() throws {
        let authorities = try CertificateAuthorities(files: [Self.file("csca.der")])
        let (face, security) = (try Self.file("dg2.bin"), try Self.file("sod-plain-standard.bin"))
        var random = SeededGenerator(seed: 5206)
        for round in TestEffort.rounds(2000) {
            var zone = try Self.file("dg1.bin")
            for _ in 0...Int.random(in: 0...2, using: &random) {
                zone[Int.random(in: zone.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            if round % 5 == 0 { zone = Array(zone.prefix(Int.random(in: 0...zone.count, using: &random))) }
            var saved = try Self.saved([face, security])
            guard try saved.add(zone), let report = saved.report else { continue }
            let signature = try report.signature(of: saved.dump, authorities: authorities)
            let isWhole = try zone == Self.file("dg1.bin")
            #expect(signature.state != .valid || isWhole, "round \(round)")
        }
    }

    // MARK: Evidence

    /// PV2 to PV4 and PV8 of the made vectors as evidence, with the file that has the key.
    private static func evidence() throws -> [(name: String, ChipEvidence, [FileDump], [FileDump])] {
        let signature = try hex(
            """
            CC9F2935279D1046310A0C3147F1CB7DEE7C8E597E4D0559B99731DB2962F091AE16EB086605D7F09D3D5C9A71D3801621A5A544F627200B\
            DF21F6D516D7E13F
            """)
        var agreement = ChipEvidence()
        agreement.agreement = AgreementRecord(
            name: "ECDH-AES-128", keyID: nil,
            privateKey: OwnKey(try hex("5A6B7C8D9EAFB0C1D2E3F405162738495A6B7C8D9EAFB0C1D2E3F40516273849")),
            answer: try hex("990290008E08BEBBC3A181B3DCCB9000"), counter: 2)
        var tripleDES = ChipEvidence()
        tripleDES.agreement = AgreementRecord(
            name: "ECDH-3DES", keyID: [2],
            privateKey: OwnKey(try hex("66778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF001122334455")),
            answer: try hex("990290008E083F62AE15DFD151509000"), counter: 2)
        var mapping = ChipEvidence()
        mapping.mappingRecord = MappingRecord(
            name: "ECDH-CAM-AES-128", parameters: "brainpoolP256r1", nonce: try hex("3F00C4D39D153F2B2A214A078D899B22"),
            privateKeys: try [
                "7F4EF07B9EA82FD78AD689B38D0BC78CF21F249D953BC46F4C6E19259C010F99",
                "A73FB703AC1436A18E0CFA5ABB3F7BEC7A070E7A6788486BEE230C4A22762595",
            ].map { OwnKey(try hex($0)) },
            chipKeys: [
                try hex(
                    "04824FBA91C9CBE26BEF53A0EBE7342A3BF178CEA9F45DE0B70AA601651FBA3F57"
                        + "30D8C879AAA9C9F73991E61B58F4D52EB87A0A0C709A49DC63719363CCD13C54"),
                try hex(
                    "049E880F842905B8B3181F7AF7CAA9F0EFB743847F44A306D2D28C1D9EC65DF6DB"
                        + "7764B22277A2EDDC3C265A9F018F9CB852E111B768B326904B59A0193776F094"),
            ],
            encryptedChipData: try hex(
                "82474FEF6C2C913A33F6858990BD2088DC1E805155C00DD4B4E6240D99D016867A7E74F8F261CD22BBA993CE0123BCA7"))
        let (protocols, second) = (try file("ca-dg14.bin"), try file("ca-3des-dg14.bin"))
        return [
            (
                "active authentication",
                ChipEvidence(active: .answered(challenge: try hex("F173589974BF40C6"), signature: signature)),
                [FileDump(id: PassportFile.chipKey.id, data: try file("aa-dg15-ec.bin"))], []
            ),
            ("chip authentication", agreement, [FileDump(id: PassportFile.protocols.id, data: protocols)], []),
            ("Triple DES", tripleDES, [FileDump(id: PassportFile.protocols.id, data: second)], []),
            (
                "mapping", mapping, [],
                [FileDump(id: PassportFile.cardSecurity, data: try file("cam-card-security.bin"))]
            ),
        ]
    }

    private static func check(
        _ evidence: ChipEvidence, _ files: [FileDump], _ master: [FileDump]
    ) throws -> ChipCheck {
        var dump = PassportSignatureTests.dump([:])
        dump.applications = [ApplicationDump(aid: PassportFile.application, files: files)]
        if !master.isEmpty { dump.applications.append(ApplicationDump(aid: nil, files: master)) }
        var report = try #require(PassportDecoder.decode(dump))
        report.evidence = evidence
        let signature = try report.signature(of: dump, authorities: .none)
        return try report.chip(of: dump, signature: signature, authorities: .none)
    }

    @Test(
        "Evidence is the same after it was written and read, and is judged as the chip was; without the file with the key it is not"
    )
    func replayed() throws {
        for (name, evidence, files, master) in try Self.evidence() {
            let access = PassportAccess(
                .pace, variant: "ECDH-GM-AES-128", parameters: "brainpoolP256r1", password: .can)
            let document = PassportEvidence(readAt: "2026-11-28T12:00:00+09:00", access: access, chip: evidence).json
            let again = try PassportEvidence(json: JSONCursor(try JSONValue(parsing: Array(document.prettyText.utf8))))
            #expect(again.json == document && again.access == access && again.chip.isOffline, "\(name)")
            #expect(try Self.check(again.chip, files, master).state == .unbound, "\(name)")
            let alone = try Self.check(again.chip, [], [])
            #expect(alone.state == .notChecked && alone.why == .offline, "\(name): \(alone)")
            // The keys of a session appear nowhere but in the document.
            var text = ""
            dump(again, to: &text)
            for key in ["7f4ef07b", "5a6b7c8d", "127, 78, 240", "90, 107, 124"] {
                #expect(!"\(again) \(text) \(String(reflecting: again))".contains(key), "\(name)")
            }
        }
    }

    @Test("Evidence with a digit changed is never proof, and no text traps")
    func changed() throws {
        var random = SeededGenerator(seed: 5207)
        for (name, evidence, files, master) in try Self.evidence() {
            let document = PassportEvidence(readAt: nil, access: nil, chip: evidence).json
            let text = Array(document.compactText.utf8)
            // Digits of the values, not of names and protocols.
            let start = try #require(document.compactText.firstMatch(of: /"(challenge|privateKey|nonce)"/))
            let first = document.compactText.utf8.distance(
                from: document.compactText.startIndex, to: start.range.lowerBound)
            for round in TestEffort.rounds(400) {
                var bytes = text
                let place = Int.random(in: (round % 4 == 0 ? 0 : first)..<bytes.count, using: &random)
                bytes[place] =
                    round % 3 == 0 ? .random(in: 0x20...0x7E, using: &random) : UInt8(ascii: "0") + UInt8(round % 10)
                guard bytes != text, let value = try? JSONValue(parsing: bytes),
                    let found = try? PassportEvidence(json: JSONCursor(value)), found.json != document
                else { continue }
                let check = try Self.check(found.chip, files, master)
                let isProof = check.state == .unbound || check.state == .genuine
                #expect(
                    !isProof || found.chip.proof == evidence.offline.proof,
                    "\(name): \(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }

    @Test("An answer in the clear is judged as the chip's was")
    func plainAnswers() throws {
        let (_, evidence, files, _) = try Self.evidence()[1]
        let record = try #require(evidence.agreement)
        for (answer, state) in [
            ("6988", ChipCheck.State.copied), ("6982", .copied), ("6987", .copied), ("6F00", .notChecked),
            ("90", .notChecked),
            ("990290008E08BEBBC3A181B3DCCB6A82", .copied), ("8E08BEBBC3A181B3DCCB9000", .copied),
            ("FFFFFF9000", .copied),
        ] {
            var changed = ChipEvidence()
            changed.isOffline = true
            changed.agreement = AgreementRecord(
                name: record.name, keyID: nil, privateKey: record.privateKey, answer: try Self.hex(answer), counter: 2)
            #expect(try Self.check(changed, files, []).state == state, "\(answer)")
        }
    }
}

extension ChipEvidence {
    /// What the proof depends on: the secret of PACE comes from the second keys alone.
    fileprivate var proof: ChipEvidence {
        var evidence = self
        evidence.mappingRecord = mappingRecord.map {
            MappingRecord(
                name: $0.name, parameters: $0.parameters, nonce: [], privateKeys: Array($0.privateKeys.dropFirst()),
                chipKeys: $0.chipKeys, encryptedChipData: $0.encryptedChipData)
        }
        return evidence
    }

    /// As it is after it was read from a document.
    fileprivate var offline: ChipEvidence {
        var evidence = self
        evidence.isOffline = true
        return evidence
    }
}
