// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import ISO7816
import TestSupport
import Testing

@testable import CardReading

/// The rows of `Fixtures/ids/passports/quirks.tsv` about chips, photos and printed lines, each with a virtual chip or a made file.
@Suite("Deviations of passports: chips", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct PassportQuirkTests {
    typealias Reading = (error: FileCardReadingError?, dump: CardDump, report: PassportReport)

    private static let fixture = "passport/card.json"
    private static let right = "SP1234567,800405,360614"
    private static let information = #""information": "SP1234567980040593606148""#

    private static func read(_ card: FileCard, _ text: String = right) throws -> Reading {
        var reader = try PassportReader(card.session, card.identity)
        reader.unlock(.zone(try #require(PassportKey(text))))
        let dump = reader.finish()
        return (reader.error, dump, try #require(PassportDecoder.decode(dump)))
    }

    /// The passport with quirks, and with other changes of its file.
    private static func chip(_ quirks: String, _ changes: [(String, String)] = []) throws -> FileCard {
        try FileCard(
            fixture, changes: [(information, information + #", "quirks": {"# + quirks + "}")] + changes)
    }

    /// The passport with an option of virtual cards.
    private static func card(virtual: String, _ changes: [(String, String)] = []) throws -> FileCard {
        let schema = #""schema": "kazasu.card/1","#
        return try FileCard(fixture, changes: [(schema, schema + #" "virtual": {"# + virtual + "},")] + changes)
    }

    /// Every file, as an ordinary chip gives it.
    private static func isWhole(_ reading: Reading, _ comment: Comment? = nil) throws {
        #expect(reading.error == nil && reading.dump.isComplete && reading.report.warnings.isEmpty, comment)
        #expect(try reading.dump.applications == read(FileCard(fixture)).dump.applications, comment)
    }

    /// Whether a protected READ was sent twice, byte by byte.
    private static func hasRepeats(_ card: FileCard) -> Bool {
        let protected = card.spy.frames.filter { $0.first == 0x0C }
        return Set(protected).count != protected.count
    }

    private static func sent(_ card: FileCard, _ instruction: UInt8) -> Int {
        card.spy.frames.count { $0.count > 1 && $0[1] == instruction }
    }

    private static let proofs: [String: @Sendable () throws -> Void] = [
        "short-reads": {
            for longest in [160, 128, 112, 100, 20] {
                for keeps in [true, false] {
                    let card = try chip(#""longestRead": \#(longest), "keepsSession": \#(keeps)"#)
                    try isWhole(read(card), "\(longest)")
                    #expect(!hasRepeats(card))
                    // It learns once, and authenticates once more for each length that was too long.
                    #expect(sent(card, 0x82) <= (keeps ? 1 : 6), "\(longest): \(sent(card, 0x82))")
                    #expect(keeps || sent(card, 0x82) > 1)
                }
            }
            // Where not even 16 bytes are given, it ends, and says which file was refused.
            let card = try chip(#""longestRead": 8"#)
            let reading = try read(card)
            #expect(reading.error == nil && reading.report.machineReadableZone == nil)
            #expect(
                reading.report.warnings.map(\.reason) == [
                    .refused(0x6700), .refused(0x6700), .refused(0x6700), .refused(0x6700),
                ])
        },
        "length-correction": {
            for keeps in [true, false] {
                let card = try chip(#""longestRead": 112, "lengthStatus": "6CE7", "keepsSession": \#(keeps)"#)
                try isWhole(read(card))
                #expect(!hasRepeats(card), "the same counter would protect two commands")
            }
        },
        "read-all": {
            let card = try chip(#""refusesZero": true"#)
            try isWhole(read(card))
            #expect(sent(card, 0x82) == 1)
        },
        "no-extended-length": {
            let card = try Self.card(virtual: #""extendedLength": false"#)
            try isWhole(read(card))
            // A zero where a short command has its length.
            for frame in card.spy.frames where frame.count > 7 { #expect(frame[4] != 0) }
        },
        "end-warning": { try isWhole(read(chip(#""warnsAtEnd": true"#))) },
        "wrong-code": {
            let reading = try read(chip(#""spoilsLastCode": true"#))
            #expect(reading.error == .secure(.malformed(.code)))
            #expect(reading.dump.applications.flatMap(\.files).allSatisfy { $0.state != .read && $0.data.isEmpty })
        },
        "refusal-words": {
            for word in ["6300", "6982", "6985", "6988", "6A80", "6A88", "6700"] {
                let card = try chip(#""wrongNumber": "\#(word)""#)
                #expect(try read(card, "SP1234568,800405,360614").error == .wrongPassportKey(nil), "\(word)")
                #expect(sent(card, 0x82) == 1)
            }
        },
        "counter": {
            let card = try chip(#""tries": 8"#)
            for left in [7, 6] {
                #expect(try read(card, "SP1234568,800405,360614").error == .wrongPassportKey(.count(left)))
            }
            #expect(sent(card, 0x82) == 2, "one try a reading")
            #expect(FileCardReadingError.wrongPassportKey(.count(1)).message.english.contains("1"))
            try isWhole(read(card))
        },
        "open": {
            let text = String(decoding: try TestFiles.read("Fixtures/iso7816/\(fixture)"), as: UTF8.self)
            let plain = text.replacing(/"read": \[\s*"mrz"\s*\],\s*"encrypted": true/, with: #""read": "always""#)
            #expect(plain != text)
            for refusal in ["6D00", "6985"] {
                let card = try FileCard(
                    text: plain.replacing(
                        #""schema": "kazasu.card/1","#,
                        with: #""schema": "kazasu.card/1", "virtual": {"statusWords": {"84": "\#(refusal)"}},"#))
                var reader = try PassportReader(card.session, card.identity)
                reader.unlock(.zone(try #require(PassportKey(right))))
                let dump = reader.finish()
                let report = try #require(PassportDecoder.decode(dump))
                try isWhole((reader.error, dump, report), "\(refusal)")
                #expect(reader.access?.way == PassportAccess.Way.none && sent(card, 0x82) == 0)
            }
            let closed = try FileCard(fixture)
            #expect(try PassportReader(closed.session, closed.identity).access == nil)
        },
        "master-file": {
            for word in ["6700", "6982", "6985", "6A81", "6A86", "6A87", "6D00"] {
                let answers = ["00A4000C023F00", "00A40000023F0000", "00A4000C", "00A40000"].map {
                    "\"\($0)\": \"\(word)\""
                }
                let card = try Self.card(virtual: #""answers": {"# + answers.joined(separator: ", ") + "}")
                try isWhole(read(card), "\(word)")
            }
        },
        "no-index": {
            for change in [
                (#""011E": {"#, #""015E": {"#), ("60145f01", "00165f01"), ("60145f01", "617f5f01"),
            ] {
                let text = String(decoding: try TestFiles.read("Fixtures/iso7816/\(fixture)"), as: UTF8.self)
                guard text.contains(change.0) else {
                    Issue.record("\(change.0) is not in the fixture")
                    continue
                }
                let reading = try read(FileCard(fixture, changes: [change]))
                #expect(reading.error == nil && reading.report.machineReadableZone?.number == "SP1234567", "\(change)")
                #expect(reading.report.photo != nil && reading.report.warnings.map(\.file) == [.index], "\(change)")
                #expect(reading.report.dataGroups == [1, 2] && reading.report.version == nil, "\(change)")
            }
        },
        "other-groups": {
            // EF.COM names DG7 and a group that nobody knows.
            let reading = try read(FileCard(fixture, changes: [("5c026175", "5c026799")]))
            #expect(reading.error == nil && reading.report.warnings.isEmpty && reading.report.dataGroups == [7])
            #expect(reading.dump.applications.flatMap(\.files).map(\.id) == PassportFile.always.map(\.id))
        },
        "slow": {
            try isWhole(read(card(virtual: #""waitingTimeExtensions": 40"#)))
        },
    ]

    /// The image in the made photos.
    private static func face(_ name: String) throws -> (image: [UInt8]?, warnings: [PassportWarning.Reason]) {
        try face(TestFiles.read("Fixtures/ids/passports/\(name)"))
    }

    private static func face(_ file: [UInt8]) throws -> (image: [UInt8]?, warnings: [PassportWarning.Reason]) {
        var dump = CardDump(
            card: .typeB(pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0, 0x81, 0x81]))
        dump.applications = [
            ApplicationDump(aid: PassportFile.application, files: [FileDump(id: PassportFile.face.id, data: file)])
        ]
        let report = try #require(PassportDecoder.decode(dump))
        return (report.photo, report.warnings.map(\.reason))
    }

    /// The 2,800 bytes of the made photo.
    private static func image() throws -> [UInt8] {
        let file = try TestFiles.read("Fixtures/ids/passports/dg2.bin")
        let image = Array(file.suffix(2800))
        #expect(image.starts(with: [0xFF, 0x4F, 0xFF, 0x51]))
        return image
    }

    private static let photos: [String: @Sendable () throws -> Void] = [
        "short-record": {
            for name in ["dg2.bin", "dg2-short-1.bin", "dg2-short-8.bin"] {
                let found = try face(name)
                #expect(try found.image == image() && found.warnings.isEmpty, "\(name)")
            }
        },
        "photo-forms": {
            let points = try face("dg2-points-5.bin")
            #expect(try points.image == image() && points.warnings.isEmpty)
            let whole = try #require(
                BERTLVList(tolerant: TestFiles.read("Fixtures/ids/passports/dg2.bin"))[0x75]?[0x7F61])
            let template = try #require(whole[0x7F60])
            let record = try #require(template[0x5F2E])
            func group(_ templates: [BERTLV]) -> [UInt8] {
                BERTLV(0x75, [BERTLV(0x7F61, [BERTLV(0x02, [UInt8(templates.count)])] + templates)]).encoded
            }
            // Two templates.
            let two = try face(group([template, template]))
            #expect(try two.image == image() && two.warnings == [.severalPhotos(2)])
            // Two faces in one record: the first ends where its length says.
            var faces = record.value
            faces[13] = 2
            let second = Array(faces[14...])
            let both = try Self.face(group([BERTLV(0x7F60, [BERTLV(0x5F2E, faces + second)])]))
            #expect(try both.image == image() && both.warnings == [.severalPhotos(2)])
            // The record in another object.
            let renamed = try Self.face(group([BERTLV(0x7F60, [BERTLV(0x7F2E, record.value)])]))
            #expect(try renamed.image == image() && renamed.warnings.isEmpty)
        },
        "new-photo": {
            let found = try face("dg2-39794.bin")
            #expect(try found.image == image() && found.warnings.isEmpty)
        },
    ]

    @Test("No change of a photo's file traps, and an image is in it")
    func mutatedPhotos() throws {
        var random = SeededGenerator(seed: 19794)
        let files = try ["dg2.bin", "dg2-points-5.bin", "dg2-39794.bin"].map {
            try TestFiles.read("Fixtures/ids/passports/\($0)")
        }
        for round in TestEffort.rounds(600) {
            var bytes = files[round % files.count]
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<100, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if let image = try Self.face(bytes).image { #expect(image.count <= bytes.count) }
        }
    }

    private static let zones: [String: @Sendable () throws -> Void] = [
        "zone-forms": {
            // A number of twelve characters, whose check digit follows the rest in the optional data.
            let long = "I<UTOD23145890<7349<<<<<<<<<<<3407127M9507122UTO<<<<<<<<<<<2STEVENSON<<PETER<JOHN<<<<<<<<<"
            let zone = try #require(MachineReadableZone(long.utf8))
            #expect(zone.number == "D23145890734" && PassportKey(long) != nil)
            #expect(PassportKey("D23145890734,340712,950712") != nil)
            // Germany, sex X, and a birthday of which only the year is known; the optional data has a filler as check digit.
            func line(_ birth: String, _ sex: String) -> String {
                func digit(_ text: String) -> String {
                    String(decoding: [MachineReadableZone.checkDigit(Array(text.utf8))], as: UTF8.self)
                }
                let head = "C01X00T47" + digit("C01X00T47")
                let body = birth + digit(birth)
                let end = "360614" + digit("360614") + String(repeating: "<", count: 15)
                return "P<D<<MUSTERMANN<<ERIKA".padding(44) + head + "D<<" + body + sex + end + digit(head + body + end)
            }
            for (birth, sex) in [("640812", "F"), ("640812", "X"), ("64<<<<", "<")] {
                let text = line(birth, sex)
                let zone = try #require(MachineReadableZone(text.utf8), "\(text)")
                #expect(zone.issuer == "D" && zone.sex == sex && zone.hasRightCheckDigits, "\(text)")
                #expect(PassportKey(text) != nil, "\(text)")
            }
        },
        "mistyped": {
            let line = "SP12345679UTO8004059M3606148<<<<<<<<<<<<<<<0"
            let all: [(right: String, wrong: String, place: Int, fits: Character)] = [
                ("SP12345679", "SPI2345679", 3, "1"), ("800405", "8O0405", 15, "0"),
            ]
            for (right, wrong, place, fits) in all {
                let found = try #require(PassportKey.mistaken(in: line.replacing(right, with: wrong)))
                #expect(found.place == place && found.fits == fits, "\(wrong)")
            }
            #expect(PassportKey.mistaken(in: line) == nil)
        },
    ]

    @Test(
        "Every row has a virtual chip or a made file that shows it, and is read as it says",
        arguments: [("chip", proofs), ("photo", photos), ("zone", zones)])
    func table(_ kind: String, _ proofs: [String: @Sendable () throws -> Void]) throws {
        let table = String(decoding: try TestFiles.read("Fixtures/ids/passports/quirks.tsv"), as: UTF8.self)
        let rows = table.split(separator: "\n").dropFirst(2).map { $0.split(separator: "\t").map(String.init) }
            .filter { $0[1] == kind }
        #expect(Set(rows.map { $0[0] }) == Set(proofs.keys) && rows.count == proofs.count)
        for row in rows {
            if row[2].contains("/") { #expect(try !TestFiles.read(row[2]).isEmpty) }
            try proofs[row[0]]?()
        }
    }
}

extension String {
    fileprivate func padding(_ count: Int) -> String {
        self + String(repeating: "<", count: Swift.max(0, count - self.count))
    }
}
