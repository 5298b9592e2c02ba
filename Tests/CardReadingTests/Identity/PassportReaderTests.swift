// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardDecoders
import CardModel
import CardReading
import ISO7816
import TestSupport
import Testing
import VirtualReader

@Suite("Reading a passport", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct PassportReaderTests {
    private static let text = "SP1234567,800405,360614"

    private static func key(_ text: String = text) throws -> PassportKey { try #require(PassportKey(text)) }

    private static func read(
        _ card: FileCard, _ text: String = text
    ) throws -> (error: FileCardReadingError?, dump: CardDump, report: PassportReport) {
        var reader = try PassportReader(card.session, card.identity)
        reader.unlock(.zone(try key(text)))
        let dump = reader.finish()
        return (reader.error, dump, try #require(PassportDecoder.decode(dump)))
    }

    /// Why a card cannot be opened.
    private static func error(_ card: FileCard) throws -> FileCardReadingError? {
        var reader = try PassportReader(card.session, card.identity)
        reader.unlock(.zone(try key()))
        return reader.error
    }

    /// The bytes of a file in a card file.
    private static func written(_ file: PassportFile) throws -> [UInt8] {
        let root = JSONCursor(try JSONValue(parsing: TestFiles.read("Fixtures/iso7816/passport/card.json")))
        let application = try #require(try root.required("applications").elements().first)
        return try application.required("files").required(file.id.description).required("data").bytes()
    }

    @Test("Every file, as it is on the chip, and nothing of it in the clear")
    func files() throws {
        let card = try FileCard("passport/card.json")
        let (error, dump, report) = try Self.read(card)
        #expect(error == nil && dump.isComplete)
        let application = try #require(dump.application(PassportFile.application))
        for file in PassportFile.always {
            #expect(try application.file(file.id)?.data == Self.written(file), "\(file)")
        }
        let zone = try #require(report.machineReadableZone)
        #expect(zone.documentCode == "P" && zone.issuer == "UTO" && zone.number == "SP1234567" && zone.sex == "M")
        #expect(zone.surname == "SPECIMEN" && zone.givenNames == "SAMPLE TARO" && zone.hasRightCheckDigits)
        #expect(report.birthDates.map(\.description) == ["1980-04-05"])
        #expect(report.expiryDate?.description == "2036-06-14" && report.dataGroups == [1, 2])
        #expect(try report.photo == TestFiles.read("Fixtures/iso7816/license/photo.jp2"))
        #expect(report.warnings.isEmpty && report.withheld.isEmpty)
        let clear = Array("SPECIMEN".utf8)
        for frame in card.spy.frames { #expect(!frame.indices.contains { frame[$0...].starts(with: clear) }) }
    }

    @Test("A passport that refuses BAC and lists PACE is opened by PACE; without the list it is refused")
    func pace() throws {
        #expect(try Self.read(FileCard("passport/pace.json")).error == nil)
        let other = try FileCard(
            "passport/pace.json", changes: [("060a04007f00070202040202", "060a04007f00070202050202")])
        #expect(try Self.read(other).error == .secure(.card(.status(.getChallenge, 0x6985))))
        let hidden = try FileCard("passport/pace.json", changes: [("A0000002471001", "A0000002471002")])
        #expect(try Self.error(hidden) == .otherCard)
    }

    @Test("A file beyond 32 KiB is read with the odd instruction")
    func far() throws {
        let face = [0x75, 0x82, 0x82, 0x00] + (0..<0x8200).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/passport/card.json"), as: UTF8.self)
        let old = Hex.encode(try Self.written(.face))
        #expect(text.contains(old))
        let card = try FileCard("passport/card.json", changes: [(old, Hex.encode(face))])
        let (error, dump, report) = try Self.read(card)
        #expect(error == nil && dump.application(PassportFile.application)?.file(PassportFile.face.id)?.data == face)
        #expect(report.photo == nil && report.warnings.map(\.file) == [.face])
        #expect(card.spy.frames.contains { $0[1] == 0xB1 })
    }

    @Test("An answer with another bit ends reading, and none of it is used")
    func changed() throws {
        let whole = try FileCard("passport/card.json")
        _ = try Self.read(whole)
        for exchange in 4..<min(11, whole.spy.frames.count) {
            let card = try FileCard("passport/card.json")
            let session = try card.session(ChangingReader(card.spy, at: exchange))
            var reading = try PassportReader(session, card.identity)
            reading.unlock(.zone(try Self.key()))
            let dump = reading.finish()
            #expect(reading.error != nil, "exchange \(exchange)")
            #expect(PassportDecoder.decode(dump)?.machineReadableZone == nil, "exchange \(exchange)")
        }
    }

    @Test("Number and dates in every form that opens the passport, and what is none of them")
    func forms() {
        let second = "SP12345679UTO8004059M3606148<<<<<<<<<<<<<<<0"
        let first = "P<UTOSPECIMEN<<SAMPLE<TARO<<<<<<<<<<<<<<<<<<"
        for text in [
            Self.text, "sp1234567, 800405, 360614", "ＳＰ１２３４５６７、８００４０５、３６０６１４", second, first + "\n" + second,
            first + second, first + "\r\n" + second + "\r\n", "SP1234567<<<,800405,360614",
            "SP1234567;19800405;20360614", "SP1234567,1980-04-05,2036-06-14", "SP1234567,80/04/05,36.06.14",
        ] {
            #expect(PassportKey(text).map { "\($0)" } == "Redacted", "\(text)")
        }
        for text in [
            "", ",,", "SP1234567", "SP1234567,800405", "SP1234567,801305,360614", "SP1234567,800432,360614",
            "SP1234567,800405,36061<", "SP1234567,800405,360614,1", "SP-1234567,800405,360614", first,
            "SP1234567,30800405,20360614", "SP1234567,1980-13-05,2036-06-14",
            second.replacing("8004059", with: "8004058"), second + "<", "旅券", String(repeating: "<", count: 88),
        ] {
            #expect(PassportKey(text) == nil, "\(text)")
        }
    }
    @Test(
        "A letter that was taken for a digit, or a digit for a letter, is found by the check digits, if only one fits")
    func mistaken() throws {
        let line = "SP12345679UTO8004059M3606148<<<<<<<<<<<<<<<0"
        let found: [(String, Int, Character)] = [
            (line.replacing("SP123", with: "SPI23"), 3, "1"), (line.replacing("800405", with: "8O0405"), 15, "0"),
            ("bno2574538UTO8004059M3606148<<<<<<<<<<<<<<<0", 3, "0"),
        ]
        for (text, place, fits) in found {
            let mistaken = try #require(PassportKey.mistaken(in: text))
            #expect(mistaken.place == place && mistaken.fits == fits, "\(text)")
            #expect(PassportKey(text) == nil)
        }
        for text in [line, line.replacing("SP1", with: "5P1"), "", "SP1234567", line + "<"] {
            #expect(PassportKey.mistaken(in: text) == nil, "\(text)")
        }
    }
}

@Suite("Machine-readable zones")
struct MachineReadableZoneTests {
    @Test("The specimens of ICAO Doc 9303: passport, card, and a number longer than nine characters")
    func specimens() throws {
        let passport = try #require(
            MachineReadableZone(
                "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10".utf8))
        #expect(passport.hasRightCheckDigits && passport.number == "L898902C3" && passport.sex == "F")
        #expect(passport.surname == "ERIKSSON" && passport.givenNames == "ANNA MARIA")
        #expect(passport.optionalData == "ZE184226B" && passport.lines.count == 2)
        let card = try #require(
            MachineReadableZone(
                "I<UTOD231458907<<<<<<<<<<<<<<<7408122F1204159UTO<<<<<<<<<<<6ERIKSSON<<ANNA<MARIA<<<<<<<<<<".utf8))
        #expect(card.hasRightCheckDigits && card.number == "D23145890" && card.nationality == "UTO")
        #expect(card.surname == "ERIKSSON" && card.lines.count == 3)
        let document = try #require(
            MachineReadableZone("I<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<D231458907UTO7408122F1204159<<<<<<<6".utf8))
        #expect(document.hasRightCheckDigits && document.number == "D23145890")
        let long = try #require(
            MachineReadableZone(
                "I<UTOD23145890<7349<<<<<<<<<<<3407127M9507122UTO<<<<<<<<<<<2STEVENSON<<PETER<JOHN<<<<<<<<<".utf8))
        #expect(long.number == "D23145890734" && long.hasRightCheckDigits)
    }

    @Test("Wrong digits are seen, and no input traps")
    func bad() {
        let text = Array(
            "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10".utf8)
        for place in [45, 53, 57, 63, 65, 71, 72, 86, 87] {
            var other = text
            other[place] = other[place] == 0x31 ? 0x32 : 0x31
            #expect(MachineReadableZone(other)?.hasRightCheckDigits == false, "\(place)")
        }
        #expect(MachineReadableZone(text.dropLast()) == nil && MachineReadableZone([UInt8]()) == nil)
        var random = SeededGenerator(seed: 9303)
        let letters = Array("ABCZ019<".utf8)
        for _ in TestEffort.rounds(2000) {
            let count = [72, 88, 90].randomElement(using: &random) ?? 88
            let zone = MachineReadableZone((0..<count).map { _ in letters.randomElement(using: &random) ?? 0x3C })
            #expect(zone != nil)
        }
    }
}
