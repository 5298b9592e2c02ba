// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import CardReading
import CardVerification
import ISO7816
import TestSupport
import Testing
import VirtualReader

@Suite(
    "The face and the signatures of a My Number card", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct MyNumberFaceTests {
    private static let number = "50060120311234"

    private typealias Reading = (error: FileCardReadingError?, dump: CardDump, report: MyNumberReport)

    private static func authorities() throws -> CertificateAuthorities {
        try CertificateAuthorities(files: [TestFiles.read("Fixtures/iso7816/mynumber/authority.bin")])
    }

    private static func finish(_ reader: inout MyNumberReader) throws -> Reading {
        let dump = reader.finish()
        var report = try #require(MyNumberDecoder.decode(dump))
        report.itemsCheck = reader.itemsCheck
        return (reader.error, dump, report)
    }

    private static func face(_ card: FileCard, _ number: String = number) throws -> Reading {
        var reader = try MyNumberReader(card.session, card.identity)
        reader.verifyFace(.pins(FileCard.pin(number)))
        return try finish(&reader)
    }

    private static func items(_ card: FileCard) throws -> Reading {
        var reader = try MyNumberReader(card.session, card.identity)
        reader.verify(.pins(FileCard.pin("2222")))
        return try finish(&reader)
    }

    /// The bytes of a file in a card file, the application as its place there.
    private static func written(_ card: String, _ application: Int, _ file: String) throws -> [UInt8] {
        let root = JSONCursor(try JSONValue(parsing: TestFiles.read("Fixtures/iso7816/mynumber/\(card).json")))
        let applications = try root.required("applications").elements()
        return try applications[application].required("files").required(file).required("data").bytes()
    }

    @Test("By check number B everything of the face, as it is on the card, but not the security code")
    func whole() throws {
        let card = try FileCard("mynumber/face.json")
        let (error, dump, report) = try Self.face(card)
        #expect(error == nil && dump.isComplete)
        #expect(card.spy.sentPINs.map(\.text) == [Self.number])
        let face = try #require(report.face)
        #expect(face.birthDate?.description == "1975-06-01" && face.sex == "2")
        #expect(face.expiryDate?.description == "2031-06-01")
        #expect(try face.pictures[.photo] == TestFiles.read("Fixtures/iso7816/license/photo.jp2"))
        for picture in [MyNumberFace.Picture.name, .address] {
            #expect(face.pictures[picture]?.starts(with: [0x89, 0x50, 0x4E, 0x47]) == true)
        }
        #expect(report.warnings.isEmpty && report.withheld == [.signatureCertificate, .attributes])
        #expect(report.pins[.cardSurfaceNumberB] == CardPINState(triesLeft: 10, isVerified: true))
        #expect(report.json(.english)["withheld"] == ["signatureCertificate", "name", "address"])

        // As on the card, with zeros in place of the picture of the security code.
        let application = try #require(dump.application(MyNumberApplication.cardSurface.aid))
        var expected = try Self.written("face", 2, "0002")
        let code = try #require(BERTLVList(tolerant: expected)[0xFF20]?[0xDF2A]).value
        #expect(code.count > 60)
        expected.replaceSubrange((expected.count - code.count)..., with: [UInt8](repeating: 0, count: code.count))
        #expect(application.file(MyNumberFile.face.id)?.data == expected)
        // Nothing of that picture went through the air; its size is unlike that of the others.
        #expect(!card.spy.answers.contains { Self.holds($0, Array(code.dropFirst(16).prefix(13))) })

        let signature = try report.faceSignature(of: dump, authorities: Self.authorities())
        #expect(signature.state == .valid && signature.authority == "9900023/001")
        #expect(try report.faceSignature(of: dump).state == .unknownAuthority)
        // A dump says the same.
        let again = try CardDump(parsing: Array(dump.json.prettyText.utf8))
        #expect(again == dump)
        #expect(
            try #require(MyNumberDecoder.decode(again)).faceSignature(of: again, authorities: Self.authorities())
                == signature)
    }

    private static func holds(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: part) }
    }

    @Test("A wrong number is sent once and counted; one of another form, and a last try, never")
    func refused() throws {
        let wrong = try FileCard("mynumber/face.json")
        let (error, dump, report) = try Self.face(wrong, "50060120311235")
        guard case .pin(.wrong(_, .count(9)))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(wrong.spy.sentPINs.count == 1 && report.face == nil)
        #expect(
            report.pins[.cardSurfaceNumberB] == CardPINState(triesLeft: 9, isVerified: false, refusal: .wrong))
        #expect(report.withheld == [.signatureCertificate, .attributes, .face])
        #expect(report.json(.english)["withheldReason"] == "wrongPIN")
        #expect(try report.faceSignature(of: dump).state == .incomplete)

        for number in ["5006012031123", "5006012031123A", "500601203112345", ""] {
            let card = try FileCard("mynumber/face.json")
            let reading = try Self.face(card, number)
            guard case .pin(.form)? = reading.error else {
                Issue.record("\(String(describing: reading.error))")
                continue
            }
            #expect(card.spy.sentPINs.isEmpty && reading.report.face == nil)
        }
        let last = try FileCard(
            "mynumber/face.json",
            changes: [
                (
                    "\"text\": \"\(Self.number)\",\n          \"tries\": 10,\n          \"left\": 10",
                    "\"text\": \"\(Self.number)\",\n          \"tries\": 10,\n          \"left\": 1"
                )
            ])
        guard case .pin(.lastTry)? = try Self.face(last).error else {
            Issue.record("the last try was used")
            return
        }
        #expect(last.spy.sentPINs.isEmpty)
    }

    @Test("The four items are checked, and nothing of what signs them is kept")
    func items() throws {
        let card = try FileCard("mynumber/face.json")
        let (error, dump, report) = try Self.items(card)
        #expect(error == nil && report.itemsCheck == .right && report.attributes?.name == "日本　花子")
        let signature = try report.itemsSignature(of: dump, authorities: Self.authorities())
        #expect(signature.state == .valid && signature.authority == "9900033/001" && signature.notCovered == [])
        let secret = try Self.written("face", 1, "0003")
        let parts = try #require(BERTLVList(tolerant: secret)[0xFF30]?.children).map(\.value)
        #expect(parts.map(\.count) == [32, 32, 256])
        for file in dump.applications.flatMap(\.files) {
            for part in parts { #expect(!Self.holds(file.data, Array(part.prefix(16)))) }
        }
        #expect(dump.application(MyNumberApplication.cardInput.aid)?.file(MyNumberFile.attributesSignature) == nil)
        // The face was not asked for.
        #expect(report.face == nil && !report.withheld.contains(.face))
        // A card without the signature still gives its items.
        let older = try Self.items(FileCard("mynumber/card.json"))
        #expect(older.error == nil && older.report.itemsCheck == .absent && older.report.warnings.isEmpty)
        #expect(try older.report.itemsSignature(of: older.dump).state == .absent)
    }

    @Test("Items of one card with the signature of another, other items, and broken files")
    func exchanged() throws {
        func state(_ changes: [(String, String)]) throws -> CardSignature.State {
            let (error, dump, report) = try Self.items(FileCard("mynumber/face.json", changes: changes))
            #expect(error == nil)
            return try report.itemsSignature(of: dump, authorities: Self.authorities()).state
        }
        func hex(_ card: String, _ application: Int, _ file: String) throws -> String {
            Hex.encode(try Self.written(card, application, file))
        }
        #expect(try state([]) == .valid)
        #expect(try state([(hex("face", 1, "0003"), hex("other-face", 1, "0003"))]) == .wrong)
        #expect(try state([(hex("face", 1, "0004"), hex("other-face", 1, "0004"))]) == .wrong)
        let both = [
            (try hex("face", 1, "0003"), try hex("other-face", 1, "0003")),
            (try hex("face", 1, "0004"), try hex("other-face", 1, "0004")),
        ]
        #expect(try state(both) == .valid, "the same person on a new card")
        // The certificate of the face.
        #expect(try state([(hex("face", 1, "0004"), hex("face", 2, "0004"))]) == .wrong)
        // Another name.
        let items = try hex("face", 1, "0002")
        let named = items.replacing("e88ab1e5ad90", with: "e88ab1e5ad91")
        #expect(named != items)
        #expect(try state([(items, named)]) == .wrong)
        // A table of offsets that says something else.
        let table = try Self.written("face", 1, "0002")
        var moved = table
        moved[7] ^= 1
        #expect(try state([(items, Hex.encode(moved))]) == .malformed)
        for broken in ["", "ff3000", "ff3003df3100", "0000"] {
            let found = try state([(hex("face", 1, "0003"), broken)])
            #expect(found == .malformed, "\(broken)")
        }
        #expect(try state([(hex("face", 1, "0004"), "7f2100")]) == .malformed)

        let face = try Self.face(
            FileCard("mynumber/face.json", changes: [(hex("face", 2, "0002"), hex("other-face", 2, "0002"))]))
        #expect(face.error == nil && face.report.face != nil)
        #expect(try face.report.faceSignature(of: face.dump, authorities: Self.authorities()).state == .wrong)
    }

    @Test("A card that leaves at any exchange has no valid signature", arguments: [true, false])
    func lost(isFace: Bool) throws {
        let whole = try FileCard("mynumber/face.json")
        _ = try isFace ? Self.face(whole) : Self.items(whole)
        for exchange in stride(from: 0, to: whole.spy.frames.count, by: 3) {
            let card = try FileCard("mynumber/face.json")
            let session = try card.session(LosingReader(card.spy, after: exchange))
            guard var reading = try? MyNumberReader(session, card.identity) else { continue }
            if isFace {
                reading.verifyFace(.pins(FileCard.pin(Self.number)))
            } else {
                reading.verify(.pins(FileCard.pin("2222")))
            }
            let (_, dump, report) = try Self.finish(&reading)
            let signature =
                try isFace
                ? report.faceSignature(of: dump, authorities: Self.authorities())
                : report.itemsSignature(of: dump, authorities: Self.authorities())
            #expect([.notChecked, .incomplete].contains(signature.state), "exchange \(exchange)")
            #expect(!signature.state.isSuccess(whenAsked: true))
        }
    }

    /// A real card for tests, as soltia48/myna-card has it.
    @Test("The digest of the four items is that of everything behind the table")
    func digest() throws {
        let items = try Hex.decode(
            """
            ff2065df2108000e002000590064df220fe9bb92e6a190e38080e5b9b9e4b99fdf2336e69db1e4baace983bde6b885e780ace5b8\
            82e8a6b3e5b883e5ad90e58d97efbc91efbc92efbc8defbc97efbc8defbc92efbc90efbc92df24083139383030323137df250131
            """)
        let template = try #require(
            BERTemplate(items, 0xFF20, containing: [0xDF21, 0xDF22, 0xDF23, 0xDF24, 0xDF25]))
        #expect(template.isTableOfOffsets(template.value(of: 0xDF21)))
        #expect(
            try Hex.encode(Digest.sha256.hash(template.bytes(of: 0xDF22, 0xDF23, 0xDF24, 0xDF25)))
                == "b9e0d09427b23b1d4beda2848512b4103752dc2667e51f9712872d65f472cb3b")
    }

    /// Files that were made by the rules of the specification.
    @Test("Ten thousand mutated signatures and items: none accepted, no crash")
    func mutations() throws {
        let secret = try TestFiles.read("Fixtures/ids/made-0408-0003.bin")
        let items = try Hex.decode(
            """
            FF205FDF2108000E00200053005EDF220FE8A68BE69CACE38080E4B880E88AB1DF2330E69DB1E4BAACE983BDE696B0E5AEBFE58C\
            BAE8A5BFE696B0E5AEBFEFBC91E4B881E79BAEEFBC91E795AAEFBC91E58FB7DF24083139383030343035DF250132
            """)
        let key = try #require(CardVerifiableCertificate(TestFiles.read("Fixtures/ids/made-0402-0004.bin"))).key
        #expect(MyNumberItemsCheck(secret, of: items, by: key) == .right)
        var random = SeededGenerator(seed: 408)
        for round in TestEffort.rounds(10_000) {
            var files = [secret, items]
            let place = round % 2
            switch Int.random(in: 0...4, using: &random) {
            case 0, 1:
                files[place][Int.random(in: files[place].indices, using: &random)] ^=
                    UInt8.random(in: 1...255, using: &random)
            case 2: files[place].remove(at: Int.random(in: files[place].indices, using: &random))
            case 3:
                files[place].insert(
                    UInt8.random(in: 0...255, using: &random),
                    at: Int.random(in: 0...files[place].count, using: &random))
            default: files[place] = Array(files[place].prefix(Int.random(in: 0..<files[place].count, using: &random)))
            }
            guard MyNumberItemsCheck(files[0], of: files[1], by: key) == .right else { continue }
            // Filler behind the files.
            #expect(files[0].starts(with: secret) && files[1].starts(with: items), "round \(round)")
        }
    }
}
