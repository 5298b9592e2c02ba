// SPDX-License-Identifier: Apache-2.0

import CardModel
@testable import DumpFormats
import DumpFormatsXML
import TestSupport
import Testing

/// What a file says beside blocks.
@Suite struct DetailTests {
    private func dump(_ format: String, _ name: String) throws -> CardDump {
        let fixture = FormatFixture(format: format, name: name)
        return try #require(try DumpFormatRegistry.complete.read(fixture.bytes).dumps.first)
    }

    @Test(arguments: [
        ("metrodroid", "card.json"), ("metrodroid", "several.json"), ("farebot", "export.json"),
        ("farebot", "legacy.json"), ("felica-tool", "scan.json"), ("metrodroid-xml", "card.xml"),
    ])
    func theMomentOfReadingIsKept(_ format: String, _ name: String) throws {
        #expect(try dump(format, name).readAt == "2011-03-12T03:52:00Z")
    }

    /// Any moment survives Metrodroid's milliseconds, whatever the offset from UTC that it is written with.
    @Test(arguments: [
        ("2026-11-20T12:34:56+09:00", "2026-11-20T03:34:56Z"), ("2000-02-29T23:59:59Z", "2000-02-29T23:59:59Z"),
        ("2024-12-31T23:30:00-01:30", "2025-01-01T01:00:00Z"), ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("2100-03-01T00:00:00.250Z", "2100-03-01T00:00:00.250Z"), ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    ])
    func momentsAreConverted(_ written: String, _ utc: String) throws {
        var dump = RandomDump.make(seed: 3)
        dump.readAt = written
        let text = try MetrodroidFormat().write(dump)
        #expect(try DumpFormatRegistry.standard.read(text).dumps.first?.readAt == utc)
    }

    @Test(arguments: ["yesterday", "2026-13-01T00:00:00Z", "2026-11-20", "", "2026-11-20T12:34:56+9"])
    func aMomentThatIsNoneIsNotWritten(_ written: String) throws {
        var dump = RandomDump.make(seed: 3)
        dump.readAt = written
        #expect(try !String(decoding: MetrodroidFormat().write(dump), as: UTF8.self).contains("scannedAt"))
    }

    /// Both systems of a FeliCa Lite-S have one IDm, so that nothing is assumed and the message is found.
    @Test func aLiteHasOneIDm() throws {
        let card = try CardDump(parsing: TestFiles.read("Fixtures/cards/felica-lite-s/card.json"))
        let read = try #require(DumpFormatRegistry.standard.read(MetrodroidFormat().write(card)).dumps.first)
        #expect(Set(read.systems.map(\.idm)) == [card.card.idm])
        #expect(read.systems.flatMap { $0.assumed.map(\.rawValue) } == [])
    }

    /// What is left out of a listing is not complete, and the rest is kept.
    @Test(arguments: ["covered.txt", "ntag213.txt"])
    func unreadPartsOfNfcpy(_ name: String) throws {
        let dump = try dump("nfcpy", name)
        #expect(!dump.isComplete)
        #expect(dump.card.uid == (name == "ntag213.txt" ? [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66] : nil))
    }

    /// Bytes of opensc-tool that look like more bytes behind them.
    @Test(arguments: [
        ("01 02 03 41 42 43 44 45 ...ABCDE", 8), ("31 32 20 33 34 20 35 36 12 34 56", 8), ("90 00 ..", 2), ("41", 1),
        ("16 01 00 02 16 6C E3 3B E6 21 0A 00 00 01 E3 00 .....l.;.!......", 16),
        ("20 20 20 20 20 20 20 20 20 20 20 20 20 20 20 20 ", 16), ("Sending: 00", 0),
    ])
    func charactersBesideBytes(_ text: String, _ count: Int) {
        #expect(OpenSCLine.data(TextLine(number: 1, bytes: Array(text.utf8)[...]))?.count ?? 0 == count)
    }

    @Test(arguments: [
        "16 01", "[1, 2", "0x16 1", "[256, 1]", "b'\\x1", "b'\\q'", "b'é'", "<16 0>", "[-1, 2]", "16, 1, x", "==", "b'",
        "[+1, 2]",
    ])
    func ignoresTextThatIsNotOneRecord(_ text: String) { #expect(PastedBytes.decode(text)?.count != 16) }

    /// A card file is not a dump, and is called what it is.
    @Test func cardFiles() throws {
        let file = try TestFiles.read("Fixtures/felica/lite-s.json")
        #expect(throws: DocumentError.unknownSchema(found: "kazasu.card/1", supported: CardDump.schema)) {
            try DumpFormatRegistry.complete.read(file)
        }
    }

    @Test func keepsWhatAListingLacks() throws {
        let dump = try dump("hex", "card.txt")
        #expect(!dump.isComplete)
        let part = MissingPart(
            system: .commonArea, service: ServiceCode(rawValue: 0x170F), fromBlock: 1, reason: .cardLost)
        #expect(dump.missing == [part])
    }

    /// Every note that a listing has is read again.
    @Test func notesOfAListingAreKept() throws {
        var dump = RandomDump.make(seed: 11)
        dump.systems[0].services = [
            ServiceDump(code: ServiceCode(rawValue: 0x0048), state: .keyRequired),
            ServiceDump(code: ServiceCode(rawValue: 0x090F), state: .lost, blocks: [3: .zero]),
            ServiceDump(code: ServiceCode(rawValue: 0x090D), state: .skipped, sameAs: SameBlocks(rawValue: 0x090F)),
            ServiceDump(code: ServiceCode(rawValue: 0x108F), state: .refused(status: 0xFFA1)),
            ServiceDump(code: ServiceCode(rawValue: 0x10CB), state: .refused(status: nil)),
        ]
        dump.missing = [MissingPart(reason: .radioError), MissingPart(system: .transit, reason: .cancelled)]
        dump.isComplete = false
        let again = try #require(try DumpFormatRegistry.standard.read(KazasuHexFormat().write(dump)).dumps.first)
        #expect(Set(again.systems[0].services) == Set(dump.systems[0].services))
        #expect(again.missing == dump.missing)
        #expect(!again.isComplete)
    }

    @Test(arguments: [
        ("proxmark", "hf-felica-dump.json"), ("felica-tool", "scan.json"), ("felicalib", "felica_dump.txt"),
    ])
    func areasAreRead(_ format: String, _ name: String) throws {
        let areas = try #require(try dump(format, name).systems.first?.areas)
        #expect(areas.map { "\($0.start)-\($0.end)" } == ["0000-FFFE", "0040-07FF", "0800-10BF"])
    }

    @Test func areasInAreasAreRead() throws {
        for (format, name) in [("felica-rs", "dump.json"), ("nfcpy", "suica.txt")] {
            let areas = try #require(try dump(format, name).systems.first?.areas)
            #expect(areas.map { "\($0.start)-\($0.end)" } == ["0000-FFFE", "0040-07FF"])
        }
    }

    @Test func keyVersionsAreRead() throws {
        for (format, name) in [
            ("proxmark", "hf-felica-dump.json"), ("felica-tool", "scan.json"), ("felica-rs", "dump.json"),
        ] {
            let services = try dump(format, name).systems.flatMap(\.services)
            #expect(!services.isEmpty && services.allSatisfy { $0.keyVersion?.rawValue == 1 })
        }
    }

    /// A block of a FeliCa Lite that the card refused is not sixteen zeros.
    @Test func refusedBlocksOfALiteAreNotRead() throws {
        let service = try #require(try dump("flipper", "lite.nfc").systems.first?.services.first)
        #expect(service.blocks[0x87] == nil && service.blocks[0x80] == nil)
        #expect(service.extra["refusedBlocks"] == ["0080": "01A6", "0087": "01A6"])
    }

    /// An older Flipper wrote a card of any kind as a Lite: when it refused every block, nothing says what it is.
    @Test func aCardThatRefusedEveryBlockIsNotALite() throws {
        let dump = try dump("flipper", "refused.nfc")
        #expect(dump.systems.isEmpty && !dump.isComplete)
        guard case .object(let answers)? = dump.extra["flipper"], case .object(let refused)? = answers["refusedBlocks"]
        else {
            Issue.record("the refusals are kept")
            return
        }
        #expect(refused.members.count == 28)
        #expect(refused.members.allSatisfy { $0.value == "01A6" })
        #expect(try !String(decoding: FlipperFormat().write(dump), as: UTF8.self).contains("88B4"))
    }

    /// IC, blocks that were read, and whether the system is there and is no more than assumed.
    static let kinds: [(ic: String, blocks: [Int], systems: Int, assumed: [AssumedPart])] = [
        ("F0", [], 1, []), ("F1", [], 1, []), ("F2", [0], 1, []), ("20", [], 0, []),
        ("20", [0, 13], 1, [.systemCode]), ("20", [14], 1, [.systemCode]), ("20", [17], 1, []),
    ]

    /// The IC or a register tells a Lite; a block of user data may be that of an NDEF tag of another kind.
    @Test(arguments: kinds) func recognizesALite(
        _ row: (ic: String, blocks: [Int], systems: Int, assumed: [AssumedPart])
    )
        throws
    {
        let zeros = Array(repeating: "00", count: 16).joined(separator: " ")
        var text = "Filetype: Flipper NFC device\nVersion: 4\nDevice type: FeliCa\nUID: 0101031234567890\n"
        text += "Data format version: 1\nManufacture parameter: 00 \(row.ic) 00 00 00 01 43 00\n"
        text += (0..<28).map { "Block \($0): \(row.blocks.contains($0) ? "00 00" : "01 A6") \(zeros)\n" }.joined()
        let dump = try #require(try DumpFormatRegistry.standard.read(Array(text.utf8)).dumps.first)
        #expect(dump.systems.count == row.systems)
        #expect(dump.systems.first?.assumed ?? [] == row.assumed)
        #expect(dump.systems.first?.services.first?.blocks.count ?? 0 == row.blocks.count)
    }

    /// A Flipper says which services an area has, not where its codes end: no end is made up.
    @Test func areasOfAFlipperAreKeptAsTheyStand() throws {
        let system = try #require(try dump("flipper", "standard.nfc").systems.first)
        #expect(system.areas.isEmpty)
        #expect(
            system.extra["flipperAreas"] == [
                ["code": "0000", "services": "#000-#003"], ["code": "0040", "services": "#000-#003"],
                ["code": "0800", "services": "#000-#003"],
            ])
    }

    /// FareBot and Metrodroid kept block numbers in a signed byte: the ID block 82 of a FeliCa Lite is -126 there.
    @Test(arguments: [
        #"{"cardType":"FeliCa","_tagId":"012E4CD2C0FFEE42","systems":[{"code":34996,"services":[{"serviceCode":11,"#
            + #""blocks":[{"address":-126,"data":"AS5M0sD/7kIAAAAAAAAAAA=="}]}]}]}"#,
        #"{"tagId":"012e4cd2c0ffee42","felica":{"systems":{"34996":{"services":{"11":{"#
            + #""blocks":[{"address":-126,"data":"012e4cd2c0ffee420000000000000000"}]}}}}}}"#,
        #"<card type="4" id="012e4cd2c0ffee42"><systems><system code="34996"><services><service code="11"><blocks>"#
            + #"<block address="-126">AS5M0sD/7kIAAAAAAAAAAA==</block></blocks></service></services></system></systems></card>"#,
    ])
    func negativeBlockNumbersAreSignedBytes(_ text: String) throws {
        let dump = try #require(try DumpFormatRegistry.complete.read(Array(text.utf8)).dumps.first)
        let block = dump.blocks(.lite, ServiceCode(rawValue: 0x000B))?[0x82]
        #expect(block?.description == "012E4CD2C0FFEE420000000000000000")
    }

    @Test func maskedBlocksAreNotRead() throws {
        let dump = try dump("felica-tool", "private-list.json")
        #expect(!dump.isComplete)
        #expect(dump.card.idm == nil)
        #expect(dump.systems[0].service(ServiceCode(rawValue: 0x090F))?.isMasked == true)
    }

    /// Flipper marks bytes that were not read with question marks.
    @Test func blocksWithQuestionMarksAreNotRead() throws {
        let unread = Array(repeating: "??", count: 16).joined(separator: " ")
        let text = """
            Filetype: Flipper NFC device
            Version: 4
            Device type: FeliCa
            UID: 01 01 03 12 34 56 78 90
            Data format version: 2
            System 00: 0003
            Service 000: | Code 090F | Attrib. 0F | Public | Cyclic | Read Only |
            Block 0000: | Service code 090F | Block index 00 | Data: \(unread) |
            Something new: that no reader knows
            """
        let dump = try #require(try DumpFormatRegistry.standard.read(Array(text.utf8)).dumps.first)
        #expect(dump.systems.first?.services.map(\.blocks) == [[:]])
        #expect(!dump.isComplete)
    }

    /// A second reading of the same block in a log does not stop it; the last one counts.
    @Test func theLastReadingOfALogCounts() throws {
        let old = String(repeating: "11", count: 16)
        let new = String(repeating: "22", count: 16)
        let read = "> FF B0 00 00 00\n< "
        let text = "> FF A4 00 01 02 0F 09\n< 90 00\n\(read)\(old) 90 00\n\(read)\(new) 90 00\n"
        let dump = try #require(try DumpFormatRegistry.standard.read(Array(text.utf8)).dumps.first)
        #expect(dump.systems.first?.services.first?.blocks[0]?.description == new)
    }

    @Test func aServiceThatALogSaysIsRefusedStaysSo() throws {
        let text = "> FF A4 00 01 02 0F 09\n< 90 00\n> FF A4 00 01 02 48 00\n< 6A 82\n"
        let dump = try #require(try DumpFormatRegistry.standard.read(Array(text.utf8)).dumps.first)
        let keyed = dump.systems.first?.service(ServiceCode(rawValue: 0x0048))
        #expect(keyed?.state == .refused(status: 0x6A82))
    }

    /// The versions 2 and 3 of Flipper's files differ from 4 in cards of type A only.
    @Test(arguments: ["2", "3"]) func olderVersionsOfFlipperFilesAreRead(_ version: String) throws {
        for name in ["lite.nfc", "standard.nfc"] {
            let fixture = FormatFixture(format: "flipper", name: name)
            let text = String(decoding: try fixture.bytes, as: UTF8.self)
            let older = text.replacing(/\nVersion: [234]\n/, with: "\nVersion: \(version)\n")
            #expect(older.contains("\nVersion: \(version)\n"))
            let dump = try #require(try DumpFormatRegistry.standard.read(Array(older.utf8)).dumps.first)
            #expect(try FormatFixture.lines(dump) == fixture.expected)
        }
    }
}
