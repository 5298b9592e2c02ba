// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML
import TestSupport
import Testing

@Suite("The hex listing of tags and of files")
struct TagListingTests {
    private static func read(_ text: String) throws -> CardDump {
        let dumps = try DumpFormatRegistry.complete.read(Array(text.utf8)).dumps
        return try #require(dumps.first)
    }

    static let separators = ["", " ", ":"]

    @Test("A Type 2 Tag is read as it was written", arguments: separators)
    func type2(separator: String) throws {
        var tag = Type2Dump(
            pages: [0: [4, 1, 2, 0x8F], 3: [0xE1, 0x10, 0x12, 0], 256: [1, 2, 3, 4]],
            version: [0, 4, 4, 2, 1, 0, 0x0F, 3],
            signature: [UInt8](repeating: 7, count: 32), counters: [2: 5])
        tag.notAsked = ["GET_VERSION", "READ_SIG"]
        tag.closedFrom = 4
        let dump = CardDump(
            complete: false, missing: [MissingPart(fromPage: 4, reason: .cardLost)],
            card: .typeA(uid: [4, 1, 2, 3, 4, 5, 6], atqa: 0x0044, sak: 0, bitRate: nil), type2: tag)
        let text = HexListing(separator: separator).text(dump)
        #expect(try Self.read(text) == dump, "\(text)")
    }

    @Test("Files are read as they were written", arguments: separators)
    func files(separator: String) throws {
        let aid = try #require(AID("D2760000850101"))
        func file(_ id: UInt16, _ state: ReadState, _ count: Int) -> FileDump {
            FileDump(id: FileIdentifier(rawValue: id), state: state, data: (0..<count).map { UInt8($0 & 0xFF) })
        }
        let dump = CardDump(
            complete: false,
            missing: [MissingPart(application: aid, file: FileIdentifier(rawValue: 0xE104), reason: .cardLost)],
            card: .typeB(
                pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0, 0x81, 0x81], bitRate: nil),
            applications: [
                ApplicationDump(aid: nil, files: [file(0x2F01, .read, 17)]),
                ApplicationDump(
                    aid: aid,
                    files: [
                        file(0xE103, .read, 15), file(0xE104, .lost, 300), file(0xE105, .keyRequired, 0),
                        file(0xE106, .refused(status: 0x6A82), 0), file(0xE107, .refused(status: nil), 0),
                    ]),
            ])
        let text = HexListing(separator: separator).text(dump)
        #expect(try Self.read(text) == dump, "\(text)")
    }

    /// Listings that are none, by the line that is wrong.
    static let wrong = [
        "# UID 04\n04 010203", "# UID 04\n04 01020304\n04 01020304", "# UID 04\nD2760000850101 E103 0010 00",
        "# UID 04\nD2760000850101 E103 0000", "# UID 04\n00112 E103 0000 00", "# UID 04\n# counter 1",
        "# UID 04 ATQA x",
        "# UID 04\nMF E103 0000 0000000000000000000000000000000000",
    ]

    @Test("Refused with the line", arguments: wrong)
    func refused(text: String) throws {
        #expect(throws: DocumentError.self) { try Self.read(text) }
    }

    @Test("Whatever the lines hold", arguments: 1...10 as ClosedRange<UInt64>)
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let words = [
            "#", "MF", "E103", "0000", "D2760000850101", "04", "01020304", "version", "counter", "page", "needs",
            "missing:", "pages", "PUPI", "zz",
        ]
        for _ in 0..<300 {
            var text = "# UID 04\n"
            for _ in 0..<Int.random(in: 0...8, using: &generator) {
                let line = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    words.randomElement(using: &generator) ?? ""
                }
                text += line.joined(separator: " ") + "\n"
            }
            _ = try? Self.read(text)
        }
    }
}
