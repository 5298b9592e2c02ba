// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import CardVerification
import TestSupport
import Testing

/// Cards that were made by the rules of the specification, with an authority of this project's own.
@Suite("Signatures of residence cards", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct ResidenceSignatureTests {
    static let now = Moment.at("2026-11-25T00:00:00Z")

    static func file(_ name: String) throws -> [UInt8] { try TestFiles.read("Fixtures/ids/made-\(name)") }

    static func pattern(_ count: Int, _ start: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: 31 * $0 + 7 * ($0 / 256) + start) }
    }

    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    static func authorities(_ names: String...) throws -> CertificateAuthorities {
        try CertificateAuthorities(files: names.map(file))
    }

    /// The files of a card.
    typealias Files = [ResidenceFile: [UInt8]]

    static func first(photo: [UInt8] = pattern(2900, 77) + zeros(100)) throws -> Files {
        [
            .front: BERTLV(0xD0, pattern(6500, 5) + zeros(500)).encoded, .photo: BERTLV(0xD1, photo).encoded,
            .signature: try file("gen1-df3-ef01.bin"),
        ]
    }

    static let entries = """
        C5083230333130363134C6083139393030343035C70132C803564E4DC90A54343130303130303030\
        CE0430313033CA023031CB083230323630363134CC0139CD083230323730393134
        """

    static func second() throws -> Files {
        [
            .entries: try Hex.decode(entries),
            .nameAndPhoto: BERTLV(0xD0, pattern(2200, 9) + zeros(300)).encoded
                + BERTLV(0xD1, pattern(2900, 77) + zeros(100)).encoded,
            .signature: try file("gen2-df3-ef01.bin"),
        ]
    }

    static func dump(_ type: ResidenceType, _ files: Files) -> CardDump {
        var dump = CardDump(
            card: .typeB(pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0, 0x81, 0x81]))
        var files = files
        files[.type] = BERTLV(0xC1, Array(type.rawValue.utf8)).encoded
        for file in ResidenceFile.allCases {
            guard let data = files[file] else { continue }
            let found = FileDump(id: file.id, data: data)
            if let index = dump.applications.firstIndex(where: { $0.aid == file.application }) {
                dump.applications[index].files.append(found)
            } else {
                dump.applications.append(ApplicationDump(aid: file.application, files: [found]))
            }
        }
        return dump
    }

    static func check(
        _ type: ResidenceType, _ files: Files, _ authorities: CertificateAuthorities, at time: Timestamp = now
    ) throws -> CardSignature {
        let dump = dump(type, files)
        return try #require(ResidenceDecoder.decode(dump)).signature(of: dump, authorities: authorities, at: time)
    }

    @Test("The first generation: every state")
    func firstGeneration() throws {
        let own = try Self.authorities("ca1.der")
        let valid = try Self.check(.residence1, Self.first(), own)
        #expect(valid.state == .valid && valid.authority == "Vector CA made")
        #expect(valid.covers == ["front", "photo"] && valid.notCovered.contains("address"))
        #expect(try Self.check(.residence1, Self.first(), Self.authorities("ca2.der")).state == .unknownAuthority)
        #expect(try Self.check(.residence1, Self.first(), .none).state == .notChecked)
        for time in ["2026-01-01T00:00:00Z", "2037-01-01T00:00:00Z"] {
            #expect(try Self.check(.residence1, Self.first(), own, at: Moment.at(time)).state == .certificateExpired)
        }
        // The padding counts, whether it is in the value or not.
        var short = try Self.first()
        short[.front] = BERTLV(0xD0, Self.pattern(6500, 5)).encoded + Self.zeros(500)
        #expect(try Self.check(.residence1, short, own).state == .valid)
        var other = try Self.first(photo: Self.pattern(2900, 78) + Self.zeros(100))
        #expect(try Self.check(.residence1, other, own).state == .wrong)
        other[.signature] = BERTLV(0xDA, Self.zeros(256)).encoded + BERTLV(0xDB, Self.zeros(1200)).encoded
        #expect(try Self.check(.residence1, other, own).state == .absent)
        other[.signature] = nil
        #expect(try Self.check(.residence1, other, own).state == .incomplete)
    }

    @Test("The second generation: raw and ASN.1 signatures, order of the pictures, exchanged tags")
    func secondGeneration() throws {
        let own = try Self.authorities("ca2.der")
        let valid = try Self.check(.residence2, Self.second(), own)
        #expect(valid.state == .valid && valid.authority == "Vector CA2 made")
        #expect(valid.notCovered.contains("number") && valid.notCovered.contains("activities"))
        #expect(try Self.check(.residence2, Self.second(), Self.authorities("ca1.der")).state == .unknownAuthority)

        var der = try Self.second()
        let raw = try #require(BERTLVList(tolerant: Self.file("gen2-df3-ef01.bin"))[0xDC]).value
        func integer(_ bytes: ArraySlice<UInt8>) -> BERTLV {
            BERTLV(0x02, bytes[bytes.startIndex] < 0x80 ? Array(bytes) : [0] + bytes)
        }
        let asn1 = BERTLV(0x30, [integer(raw[..<48]), integer(raw[48...])]).encoded
        let certificate = try Self.file("gen2-df3-ef01.bin").dropFirst(98)
        der[.signature] = BERTLV(0xDC, asn1).encoded + certificate
        #expect(try Self.check(.residence2, der, own).state == .valid)

        // Tags are not signed: two dates in each other's place leave the signed bytes as they are.
        var exchanged = try Self.second()
        exchanged[.entries] = try Hex.decode(
            Self.entries.replacing("C508", with: "X").replacing("C608", with: "C508").replacing("X", with: "C608"))
        #expect(try Self.check(.residence2, exchanged, own).state == .malformed)
        let report = try #require(ResidenceDecoder.decode(Self.dump(.residence2, exchanged)))
        #expect(report.birthDate == nil && report.warnings.map(\.reason) == [.layout])

        var swapped = try Self.second()
        swapped[.nameAndPhoto] =
            BERTLV(0xD1, Self.pattern(2900, 77) + Self.zeros(100)).encoded
            + BERTLV(0xD0, Self.pattern(2200, 9) + Self.zeros(300)).encoded
        #expect(try Self.check(.residence2, swapped, own).state == .malformed)
        var twice = try Self.second()
        twice[.entries] = try Hex.decode(Self.entries + "C5083230333130363134")
        #expect(try Self.check(.residence2, twice, own).state == .malformed)
    }

    @Test("Cut anywhere, a file is malformed or, where only padding is lost, the same")
    func cut() throws {
        let own = try Self.authorities("ca2.der")
        for file in [ResidenceFile.entries, .nameAndPhoto, .signature] {
            let whole = try #require(try Self.second()[file])
            for count in stride(from: 0, to: whole.count, by: file == .nameAndPhoto ? 37 : 1) {
                var files = try Self.second()
                files[file] = Array(whole.prefix(count))
                // Behind the certificate there is padding.
                let isPadding = file == .signature && whole[count...].allSatisfy { $0 == 0 }
                let state = try Self.check(.residence2, files, own).state
                #expect(state == (isPadding ? .valid : .malformed), "\(file) \(count)")
            }
        }
    }

    @Test("10,000 changed sets of files: none is accepted, and nothing traps")
    func mutated() throws {
        var random = SeededGenerator(seed: 1040)
        let sets: [(ResidenceType, Files, CertificateAuthorities)] = [
            (.residence1, try Self.first(), try Self.authorities("ca1.der")),
            (.residence2, try Self.second(), try Self.authorities("ca2.der")),
        ]
        for round in TestEffort.rounds(10_000) {
            let (type, whole, authorities) = sets[round % 2]
            var files = whole
            // Sorted: the order of a dictionary differs from run to run.
            let file = try #require(
                whole.keys.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &random))
            var bytes = try #require(whole[file])
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let index = Int.random(in: bytes.indices, using: &random)
                bytes[index] ^= UInt8.random(in: 1...255, using: &random)
            case 1: bytes.remove(at: Int.random(in: bytes.indices, using: &random))
            case 2:
                bytes.insert(
                    UInt8.random(in: 1...254, using: &random), at: Int.random(in: 0...bytes.count, using: &random))
            case 3: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
            case 4:
                let (one, other) = (
                    Int.random(in: bytes.indices, using: &random), Int.random(in: bytes.indices, using: &random)
                )
                bytes.swapAt(one, other)
            default:
                bytes = (0..<Int.random(in: 0...800, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            }
            files[file] = bytes
            let dump = Self.dump(type, files)
            let report = try #require(ResidenceDecoder.decode(dump))
            let signature = try report.signature(of: dump, authorities: authorities, at: Self.now)
            guard signature.state == .valid else { continue }
            // What is behind the objects is padding that nothing covers; within them, nothing may differ.
            #expect(
                ResidenceSignedContent(dump, on: type) == ResidenceSignedContent(Self.dump(type, whole), on: type),
                "round \(round), \(file)")
        }
    }

    @Test("The fixtures under their authorities, DER and PEM")
    func fixtures() throws {
        let folder = "Fixtures/iso7816/residence"
        let pem = try CertificateAuthorities(files: [TestFiles.read("\(folder)/authorities.pem")])
        #expect(pem.unlisted == ["Sample CA", "Sample CA2"] && pem.testAuthorities == 0)
        let der = try CertificateAuthorities(
            files: [TestFiles.read("\(folder)/authority-1.der"), TestFiles.read("\(folder)/authority-2.der")])
        #expect(der.unlisted == pem.unlisted)
        let bad: [[UInt8]] = [
            [], [0x30, 0x03, 1, 2, 3], Array("-----BEGIN CERTIFICATE-----\nA?\n-----END CERTIFICATE-----\n".utf8),
            Array("hello".utf8), try Self.file("ca1.der").dropLast(),
        ]
        for file in bad {
            #expect(throws: AuthorityError.notACertificate(file: 1)) {
                try CertificateAuthorities(files: [try Self.file("ca1.der"), file])
            }
        }
    }

    @Test("Pictures lose their padding; what cannot be followed stays whole")
    func pictures() throws {
        let whole = try #require(
            BERTLVList(tolerant: TestFiles.read("Fixtures/ids/made-gen1-df3-ef01.bin")).objects.first)
        #expect(PictureFile.format(of: whole.value) == "unknown")
        #expect(PictureFile.content(of: [0xFF, 0x4F, 0xFF, 0x51, 1, 0, 0]) == [0xFF, 0x4F, 0xFF, 0x51, 1])
        #expect(PictureFile.content(of: []) == [] && PictureFile.content(of: [0, 0]) == [])
        var random = SeededGenerator(seed: 7)
        for _ in TestEffort.rounds(2000) {
            let tail = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                Bool.random(using: &random) ? 0 : UInt8.random(in: 0...255, using: &random)
            }
            let bytes = [0x49, 0x49, 0x2A, 0x00, UInt8.random(in: 0...20, using: &random), 0, 0, 0] + tail
            let content = PictureFile.content(of: bytes)
            #expect(bytes.starts(with: content))
        }
    }
}
