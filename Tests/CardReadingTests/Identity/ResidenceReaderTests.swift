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

@Suite("Reading a residence card", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct ResidenceReaderTests {
    static func number(_ text: String = "AA12345678BB") throws -> ResidenceNumber {
        try #require(ResidenceNumber(text))
    }

    /// Reads a fixture; the files are compared with what the card file holds.
    private static func read(_ name: String, _ number: String = "AA12345678BB") throws -> (ResidenceReader, CardDump) {
        let card = try FileCard("residence/\(name).json")
        var reader = try ResidenceReader(card.session, card.identity)
        reader.unlock(try self.number(number))
        return (reader, reader.finish())
    }

    /// The bytes of a file in a card file.
    private static func written(_ name: String, _ file: ResidenceFile) throws -> [UInt8] {
        let root = JSONCursor(try JSONValue(parsing: TestFiles.read("Fixtures/iso7816/residence/\(name).json")))
        let applications = try root.required("applications").elements()
        let application = try #require(
            try applications.first { try $0.required("aid").text().lowercased() == file.application?.description })
        return try application.required("files").required(file.id.description).required("data").bytes()
    }

    @Test(
        "Every file of every type, as it is on the card",
        arguments: [
            ("first", ResidenceType.residence1), ("first-child", .residence1), ("first-special", .specialPermanent1),
            ("second", .residence2), ("second-special", .specialPermanent2),
        ])
    func files(_ name: String, _ type: ResidenceType) throws {
        let (reader, dump) = try Self.read(name)
        #expect(reader.error == nil && reader.type == type && dump.isComplete)
        #expect(!ResidenceFile.files(of: type).isEmpty)
        for file in ResidenceFile.files(of: type) {
            let found = try #require(dump.applications.first { $0.aid == file.application }?.file(file.id), "\(file)")
            #expect(found.state == .read, "\(file)")
            #expect(try found.data == Self.written(name, file), "\(file)")
            #expect(found.data.count == file.size(on: type), "\(file)")
        }
        let report = try #require(ResidenceDecoder.decode(dump))
        #expect(report.warnings.isEmpty && report.withheld.isEmpty)
    }

    @Test("The first generation: address above the BMP, permissions, the picture of the front")
    func first() throws {
        let report = try #require(ResidenceDecoder.decode(Self.read("first").1))
        #expect(report.address == "東京都新宿区西新宿１丁目１番１号　𠮷野荘１０１")
        #expect(report.municipality == "131041" && report.addressDate?.description == "2026-04-01")
        #expect(report.activities.map(\.text) == ["許可：原則週２８時間以内・風俗営業等の従事を除く"])
        #expect(report.pending?.code == "0" && report.version == "0150")
        #expect(report.number == nil && report.birthDate == nil && report.status == nil)
        #expect(try report.pictures[.photo] == TestFiles.read("Fixtures/iso7816/license/photo.jp2"))
        #expect(report.pictures[.front]?.suffix(4) == [0, 0, 0, 0], "a TIFF keeps the end of its directory")
        let child = try #require(ResidenceDecoder.decode(Self.read("first-child").1))
        #expect(child.pictures[.photo] == nil && child.pictures[.front] != nil)
    }

    @Test("The second generation: every printed entry with its meaning")
    func second() throws {
        let report = try #require(ResidenceDecoder.decode(Self.read("second").1))
        #expect(report.number == "AA12345678BB" && report.nationality?.code == "VNM")
        #expect(report.birthDate?.description == "1990-04-05" && report.sex?.name?.english == "female")
        #expect(report.status?.code == "T410010000" && report.status?.name == nil)
        #expect(report.period?.name?.english == "1 year 3 months" && report.period?.name?.japanese == "1年3か月")
        #expect(report.validUntil?.description == "2098-06-14" && report.until?.description == "2097-09-14")
        #expect(report.work?.code == "2" && report.permission?.code == "01")
        #expect(report.activities.map(\.code?.code) == ["1", "0"])
        #expect(report.activities.first?.until?.description == "2027-09-14")
        #expect(Set(report.pictures.keys) == [.name, .photo, .address])
        let special = try #require(ResidenceDecoder.decode(Self.read("second-special").1))
        #expect(special.work == nil && special.until == nil && special.period?.code == "0103")
    }

    @Test("Without the number only the kind is read, and no challenge is asked for")
    func free() throws {
        let card = try FileCard("residence/second.json")
        var reader = try ResidenceReader(card.session, card.identity)
        let report = try #require(ResidenceDecoder.decode(reader.finish()))
        #expect(report.type == .residence2 && report.number == nil && reader.error == nil)
        #expect(!card.spy.frames.contains { $0[1] == 0x84 || $0[1] == 0x20 })
    }

    @Test("Cards inside a My Number card are named and not read")
    func specified() throws {
        let (reader, dump) = try Self.read("specified")
        #expect(reader.error == .unsupported(.specified))
        #expect(ResidenceDecoder.decode(dump)?.type == .specified)
        let card = try FileCard("residence/specified.json", changes: [("c1023037", "c1023039")])
        #expect(throws: FileCardReadingError.unknownType("09")) { try ResidenceReader(card.session, card.identity) }
    }

    @Test("A number in lower case, full width or with hyphens is the same; anything else is none")
    func forms() {
        for text in ["AA12345678BB", "aa12345678bb", "ＡＡ１２３４５６７８ＢＢ", "aa-1234 5678-bb", " AA12345678BB "] {
            #expect(ResidenceNumber(text).map { "\($0)" } == "Redacted", "\(text)")
        }
        for text in [
            "", "AA12345678B", "AA12345678BBB", "AAA2345678BB", "1A12345678BB", "AA1234567OBB", "AA12345678B8",
            "ＡＡ１２３４５６７８Ｂé",
            "あい12345678うえ",
        ] {
            #expect(ResidenceNumber(text) == nil, "\(text)")
        }
    }

    @Test("A card that refuses the form for whole files is read in parts")
    func otherForms() throws {
        let card = try FileCard(
            "residence/second.json",
            changes: [
                (
                    "\"residence\": {",
                    "\"virtual\": {\"answers\": {\"08B08100000004960200000000\": \"6700\", "
                        + "\"08B08300000004960200000000\": \"6700\"}}, \"residence\": {"
                )
            ])
        var reader = try ResidenceReader(card.session, card.identity)
        reader.unlock(try Self.number())
        let dump = reader.finish()
        #expect(reader.error == nil)
        #expect(try dump == Self.read("second").1.with(card: dump.card))
    }
}

extension CardDump {
    fileprivate func with(card: CardIdentity) -> CardDump {
        var dump = self
        dump.card = card
        return dump
    }
}
