// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import CardVerification
import TestSupport
import Testing

/// What chips answered, judged without a chip. The numbers of example F are ICAO's (Doc 9303-11); the keys were made.
@Suite("Telling copies of passports", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct ChipCheckTests {
    private static let folder = "Fixtures/ids/passports"

    private static func check(
        _ evidence: ChipEvidence, chipKey: String? = nil, protocols: [UInt8]? = nil, cardSecurity: [UInt8]? = nil,
        _ authorities: CertificateAuthorities = .none
    ) throws -> ChipCheck {
        var files: [FileDump] = []
        if let chipKey {
            files.append(FileDump(id: PassportFile.chipKey.id, data: try TestFiles.read("\(folder)/\(chipKey)")))
        }
        if let protocols { files.append(FileDump(id: PassportFile.protocols.id, data: protocols)) }
        var dump = PassportSignatureTests.dump([:])
        dump.applications = [ApplicationDump(aid: PassportFile.application, files: files)]
        if let cardSecurity {
            dump.applications.append(
                ApplicationDump(aid: nil, files: [FileDump(id: PassportFile.cardSecurity, data: cardSecurity)]))
        }
        var report = try #require(PassportDecoder.decode(dump))
        report.evidence = evidence
        let signature = try report.signature(of: dump, authorities: authorities)
        return try report.chip(of: dump, signature: signature, authorities: authorities)
    }

    private static let challenge = "F173589974BF40C6"

    /// The key, its signature of the challenge, and the variant.
    static let signatures: [(key: String, signature: String, variant: String)] = [
        (
            "aa-dg15-rsa.bin",
            """
            AA487B47142A6A6AD400F57F6851964E513B2E8CCFB6B7B4909063B82A1D1824EA283E70DEEF7C9F26DE05FAC73CE6AB1A304DEF5C3BC0A4\
            7F7C524490768939BE79BC354A68164FC2FB420562C119CEE27DAEB1D08DAE1AC61B3BE8F6926A28F17038C100A8FA08EBB18582E24FFCF9\
            4608E871BBC2FCE006027272E2EAE617
            """, "RSA-SHA-1"
        ),
        (
            "aa-dg15-rsa.bin",
            """
            8C28034B010D11CE233B1CFC2A274531E0CC0C281E05CAEDB039329747F64F1B365AFF0B125C3D191BC3A2D300E6F5204781ADD67DB19A11\
            195CD3960CBF9A2CC9B5E768C801BA77C7E1064648C915CF7B42CCDB4C3C9710FD47D52C31899A7180FE5370D1156B9265AA6CA8A5742536\
            332643F59944063F1D67C61167443138
            """, "RSA-SHA-256"
        ),
        (
            "aa-dg15-ec.bin",
            """
            CC9F2935279D1046310A0C3147F1CB7DEE7C8E597E4D0559B99731DB2962F091AE16EB086605D7F09D3D5C9A71D3801621A5A544F627200B\
            DF21F6D516D7E13F
            """, "ECDSA-SHA-256"
        ),
    ]

    @Test("Active authentication: right, and wrong with another challenge, key, length or bit", arguments: signatures)
    func active(_ row: (key: String, signature: String, variant: String)) throws {
        let challenge = try Hex.decode(Self.challenge)
        let signature = try Hex.decode(row.signature)
        func state(_ challenge: [UInt8], _ signature: [UInt8], _ key: String? = nil) throws -> ChipCheck {
            try Self.check(
                ChipEvidence(active: .answered(challenge: challenge, signature: signature)), chipKey: key ?? row.key)
        }
        let right = try state(challenge, signature)
        // Without a signed list nobody vouches for the key.
        #expect(right.state == .unbound && right.variant == row.variant && right.method == .activeAuthentication)
        for place in stride(from: 0, to: signature.count, by: 7) {
            var changed = signature
            changed[place] ^= 1
            #expect(try state(challenge, changed).state == .copied, "\(place)")
        }
        for place in challenge.indices {
            var changed = challenge
            changed[place] ^= 1
            #expect(try state(changed, signature).state == .copied)
        }
        for bad in [[], Array(signature.dropLast()), signature + [0], [UInt8](repeating: 0, count: signature.count)] {
            #expect(try state(challenge, bad).state == .copied)
        }
        let other = row.key.contains("rsa") ? "aa-dg15-ec.bin" : "aa-dg15-rsa.bin"
        #expect(try state(challenge, signature, other).state == .copied)
    }

    @Test("Signatures of ECDSA in DER count, and an algorithm that DG14 names in vain does not")
    func forms() throws {
        let (key, text, _) = Self.signatures[2]
        let signature = try Hex.decode(text)
        func integer(_ digits: ArraySlice<UInt8>) -> BERTLV {
            BERTLV(0x02, (digits.first ?? 0) < 0x80 ? Array(digits) : [0] + digits)
        }
        let der = BERTLV(0x30, [integer(signature.prefix(32)), integer(signature.suffix(32))]).encoded
        func named(_ algorithm: [UInt8]) -> [UInt8] {
            let entry = BERTLV(
                0x30,
                [
                    BERTLV(0x06, [0x67, 0x81, 0x08, 0x01, 0x01, 0x05]), BERTLV(0x02, [1]), BERTLV(0x06, algorithm),
                ])
            return BERTLV(0x6E, [BERTLV(0x31, [entry])]).encoded
        }
        let plain: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x01, 0x01, 0x04, 0x01]
        let evidence = ChipEvidence(active: .answered(challenge: try Hex.decode(Self.challenge), signature: der))
        #expect(try Self.check(evidence, chipKey: key).state == .unbound)
        #expect(try Self.check(evidence, chipKey: key, protocols: named(plain + [0x03])).state == .unbound)
        #expect(try Self.check(evidence, chipKey: key, protocols: named(plain + [0x05])).state == .copied)
        let unknown = try Self.check(evidence, chipKey: key, protocols: named([0x2A, 0x03]))
        #expect(unknown.state == .notChecked && unknown.why == .algorithm)
    }

    @Test("Chip-authentication mapping counts by the signature of EF.CardSecurity")
    func mapping() throws {
        let file = try TestFiles.read("\(Self.folder)/cam-card-security.bin")
        let country = try CertificateAuthorities(files: [TestFiles.read("\(Self.folder)/csca.der")])
        let point = try Hex.decode(
            "04824FBA91C9CBE26BEF53A0EBE7342A3BF178CEA9F45DE0B70AA601651FBA3F57"
                + "30D8C879AAA9C9F73991E61B58F4D52EB87A0A0C709A49DC63719363CCD13C54")
        let data = try Hex.decode("48DD721E3E2D7091E7F9714D2F119AD65093496C9386570D84DE06D8ABCF8B2E")
        func check(
            _ point: [UInt8], _ data: [UInt8]?, _ file: [UInt8]?, _ authorities: CertificateAuthorities
        ) throws -> ChipCheck {
            let info = PACEInfo(.chipAuthentication, .aes128, parameters: 13)
            return try Self.check(
                ChipEvidence(mapping: ChipEvidence.MappingProof(info: info, chipKey: point, data: data)),
                cardSecurity: file, authorities)
        }
        let right = try check(point, data, file, country)
        #expect(right.state == .genuine && right.method == .paceMapping && right.variant == "ECDH-CAM-AES-128")
        #expect(try check(point, data, file, .none).state == .unbound)
        var changed = data
        changed[31] ^= 1
        #expect(try check(point, changed, file, country).state == .copied)
        #expect(try check(point, nil, file, country).state == .copied)
        #expect(try check(point, [0], file, country).state == .copied)
        #expect(try check([4], data, file, country).state == .copied)
        #expect(try check(point, data, nil, country).why == .refused)
        // A key that nobody signed, and files that are none.
        let key = try Hex.decode("04287844BD96E5E184FF9D29ED083667AB")
        let start = try #require(file.indices.first { file[$0...].starts(with: key) })
        var other = file
        other[start + 64] ^= 1
        #expect(try check(point, data, other, country).state != .genuine)
        for place in stride(from: 0, to: file.count, by: 5) {
            var changed = file
            changed[place] ^= 0x10
            _ = try check(point, data, changed, country)
        }
        for count in stride(from: 0, to: file.count, by: 9) {
            #expect(try check(point, data, Array(file.prefix(count)), country).state == .notChecked)
        }
    }

    @Test("An exchange that was not done proves nothing, and a refuted key outweighs a proved one")
    func notDone() throws {
        for why in ChipEvidence.Obstacle.allCases {
            let found = try Self.check(ChipEvidence(chip: .notDone(why)))
            #expect(found.state == .notChecked && found.why?.rawValue == why.rawValue)
        }
        let way = SecurityInfos.ChipProtocol(identifier: nil, cipher: .tripleDES, isCurve: true, keyID: nil)
        #expect(try Self.check(ChipEvidence(chip: .failed(way))).state == .copied)
        #expect(try Self.check(ChipEvidence(chip: .proved(way))).state == .unbound)
        // A proof of one key does not outweigh that another was refuted.
        let both = ChipEvidence(active: .answered(challenge: [1], signature: [2]), chip: .proved(way))
        #expect(try Self.check(both, chipKey: "aa-dg15-ec.bin").state == .copied)
    }

    @Test("Only a genuine chip passes where proof is required; a copy never does", arguments: ChipCheck.State.allCases)
    func states(_ state: ChipCheck.State) {
        #expect(state.isSuccess(whenRequired: true) == (state == .genuine))
        #expect(state.isSuccess(whenRequired: false) == (state != .copied && state != .hidden))
        #expect(!state.message.english.isEmpty && !state.message.japanese.isEmpty)
    }
}
