// SPDX-License-Identifier: Apache-2.0

import CardCrypto
import CardModel
import ISO7816
import TestSupport
import Testing
import VirtualReader

@testable import CardReading

/// Passports that announce extended lengths in EF.ATR/INFO, and that do not keep their word.
@Suite("Extended lengths of passports", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct PassportLengthTests {
    private static let fixture = "passport/card.json"

    /// The passport with an EF.ATR/INFO, quirks, and options of virtual cards.
    private static func card(
        _ file: String?, quirks: String? = nil, virtual: String? = nil, changes: [(String, String)] = [],
        isExtended: Bool = true
    ) throws -> FileCard {
        var changes = changes
        if let file {
            let applications = #""applications": ["#
            changes.append((applications, #""masterFile": {"files": {"2F01": "\#(file)"}}, \#(applications)"#))
        }
        if let quirks {
            let information = #""information": "SP1234567980040593606148""#
            changes.append((information, information + #", "quirks": {\#(quirks)}"#))
        }
        if let virtual {
            let schema = #""schema": "kazasu.card/1","#
            changes.append((schema, schema + #" "virtual": {\#(virtual)},"#))
        }
        return try FileCard(fixture, changes: changes, isExtended: isExtended)
    }

    /// EF.ATR/INFO with this length of answers.
    private static func announcing(_ longest: Int) -> String {
        "4303010203" + "7f660802022000" + "0202" + String(longest | 0x1_0000, radix: 16).dropFirst()
    }

    private static func read(_ card: FileCard) throws -> CardDump {
        var reader = try PassportReader(card.session, card.identity)
        reader.unlock(.zone(try #require(PassportKey("SP1234567,800405,360614"))))
        let dump = reader.finish()
        #expect(reader.error == nil)
        return dump
    }

    private static let plain = Result { try read(FileCard(fixture)).applications }

    /// How many protected READs were sent, with extended lengths or short ones.
    private static func reads(_ card: FileCard, isExtended: Bool) -> Int {
        card.spy.frames.count { $0.first == 0x0C && [0xB0, 0xB1].contains($0[1]) && ($0[4] == 0) == isExtended }
    }

    private static func authentications(_ card: FileCard) -> Int { card.spy.frames.count { $0[1] == 0x82 } }

    private static let file = FileIdentifier(rawValue: 0x2F01)

    @Test("Parts are as long as the chip announces, and no longer", arguments: [0x0400, 0x0200, 0x2000])
    func announced(_ longest: Int) throws {
        let card = try Self.card(Self.announcing(longest))
        #expect(try Self.read(card).applications == Self.plain.get())
        #expect(Self.authentications(card) == 1 && Self.reads(card, isExtended: true) > 0)
        #expect(card.spy.answers.allSatisfy { $0.count <= longest })
        // The photo has 2,847 bytes.
        let expected = longest == 0x2000 ? 2 : longest == 0x0400 ? 4 : 7
        #expect(Self.reads(card, isExtended: true) <= expected, "\(Self.reads(card, isExtended: true))")
    }

    @Test("Without a word of the chip, or where the reader is too small, lengths are short")
    func short() throws {
        for file in [nil, "", "43030102037f660802022000", "7f66080202010502020100", "ffffffff"] {
            let card = try Self.card(file)
            #expect(try Self.read(card).applications == Self.plain.get())
            #expect(Self.reads(card, isExtended: true) == 0, "\(file ?? "none")")
        }
        let card = try Self.card(Self.announcing(0x2000), isExtended: false)
        #expect(try Self.read(card).applications == Self.plain.get())
        #expect(Self.reads(card, isExtended: true) == 0)
        #expect(!card.spy.frames.contains { $0.suffix(2) == [0x2F, 0x01] }, "EF.ATR/INFO is not read for nothing")
    }

    @Test("A chip that refuses what it announces is read with short lengths, all files after one refusal")
    func refused() throws {
        for (quirks, virtual) in [
            (nil, #""extendedLength": false"#), (#""longestRead": 231"#, nil),
            (#""longestRead": 256, "lengthStatus": "6CE7""#, nil),
            (#""longestRead": 500, "keepsSession": true"#, nil),
        ] as [(String?, String?)] {
            let card = try Self.card(Self.announcing(0x2000), quirks: quirks, virtual: virtual)
            #expect(try Self.read(card).applications == Self.plain.get())
            #expect(Self.reads(card, isExtended: true) <= 2, "\(quirks ?? "") \(virtual ?? "")")
            #expect(Self.authentications(card) <= 2)
        }
        // Older ones, of fewer bytes still.
        let card = try Self.card(Self.announcing(0x2000), quirks: #""longestRead": 112"#)
        #expect(try Self.read(card).applications == Self.plain.get())
        #expect(Self.reads(card, isExtended: true) == 1)
    }

    @Test("An answer that is cut counts for nothing, and is asked for again in short parts", arguments: [300, 600])
    func cut(_ length: Int) throws {
        let card = try Self.card(Self.announcing(0x2000), virtual: #""longestAnswer": \#(length)"#)
        #expect(try Self.read(card).applications == Self.plain.get())
        #expect(Self.authentications(card) == 2 && Self.reads(card, isExtended: true) == 1)
    }

    @Test("A file beyond the offsets of READ BINARY")
    func farOffset() throws {
        var random = SeededGenerator(seed: 42)
        let photo = (0..<40_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        let group = [0x75, 0x82, UInt8(photo.count >> 8), UInt8(photo.count & 0xFF)] + photo
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/\(Self.fixture)"), as: UTF8.self)
        let old = try #require(text.firstMatch(of: /"data": "(7582081b[0-9a-f]+)"/)?.output.1)
        let new = group.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for longest in [0x2000, 0x0300, nil] as [Int?] {
            let card = try Self.card(longest.map(Self.announcing), changes: [(String(old), new)])
            let files = try Self.read(card).applications.flatMap(\.files)
            #expect(files.contains { $0.data == group }, "\(longest ?? 0)")
            #expect((Self.reads(card, isExtended: true) > 0) == (longest != nil))
        }
    }

    @Test("No contents of EF.ATR/INFO trap")
    func mutated() {
        var random = SeededGenerator(seed: 7816)
        for _ in TestEffort.rounds(3000) {
            var bytes: [UInt8] = [0x7F, 0x66, 0x08, 0x02, 0x02, 0x20, 0x00, 0x02, 0x02, 0x08, 0x00]
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes = Array(bytes.prefix(Int.random(in: 0...11, using: &random)))
            if let lengths = ExtendedLengths(bytes) { #expect(lengths.longestResponse > 0x102) }
        }
        #expect(ExtendedLengths([0x80, 0x7F, 0x66, 0x08, 0x02, 0x02, 1, 5, 0x02, 0x02, 8, 0])?.longestResponse == 2048)
    }
}
