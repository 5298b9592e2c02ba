// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ISO7816
import NDEF
import NFCForumTags
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@Suite("Type 4 Tags")
struct Type4TagTests {
    static let capability = "000F 20 003B 0034 04 06 E104 0040 00 00"
    static let message = "D1010A55036E666370792E6F7267"

    private static func card(_ capability: String = capability, ndef: String = "000E" + message) throws -> FakeFileCard
    {
        FakeFileCard(capability: try Hex.decode(capability), ndef: try Hex.decode(ndef), size: 64)
    }

    private static func tag(_ card: FakeFileCard) -> Type4Tag {
        Type4Tag(session: ISO7816Session(reader: card, picc: FakeFileCard.picc, request: .typeA(isoDEP: true)))
    }

    @Test("P41: the commands of the public suite, byte for byte")
    func read() throws {
        let card = try Self.card()
        let area = try Self.tag(card).readNDEF()
        #expect(area == NDEFArea(message: try Hex.decode(Self.message), capacity: 62, obstacle: nil))
        let expected = [
            "00A4040007D276000085010100", "00A4000C02E103", "00B0000002", "00B000020D", "00A4000C02E104", "00B0000002",
            "00B000020E",
        ]
        #expect(card.frames == (try expected.map { try Hex.decode($0) }))
    }

    @Test("P42: a short message in one command")
    func writeShort() throws {
        let card = try Self.card()
        try Self.tag(card).writeNDEF([0xD5, 0, 0])
        #expect(card.updates == [try Hex.decode("00D6000005 0003D50000")])
    }

    @Test("The smallest lengths: MLe 000F, MLc 0001")
    func smallestLengths() throws {
        let card = try Self.card("000F 20 000F 0001 04 06 E104 0040 00 00")
        #expect(try Self.tag(card).readNDEF().message == (try Hex.decode(Self.message)))
        #expect(card.frames.allSatisfy { $0[1] != 0xB0 || ($0.last ?? 0) <= 0x0F })
    }

    @Test("A Type 2 TLV in place of the length is one clear error")
    func tagLengthValue() throws {
        let card = try Self.card(ndef: "0300FE")
        #expect(throws: TagError.self) { try Self.tag(card).readNDEF() }
    }

    @Test("A long message: length 0, the data, the length")
    func writeLong() throws {
        let card = try Self.card()
        let message = try NDEFMessage([NDEFRecord(format: .unknown, payload: [UInt8](repeating: 7, count: 58))])
            .encoded()
        try Self.tag(card).writeNDEF(message)
        #expect(card.updates.map(\.count) == [7, 5 + 52, 5 + 9, 7])
        #expect(card.updates.first == (try Hex.decode("00D6000002 0000")))
        #expect(card.updates.last == (try Hex.decode("00D6000002 003D")))
        #expect(throws: TagError.tooLong(length: 63, capacity: 62)) {
            try Self.tag(card).writeNDEF(
                NDEFMessage([NDEFRecord(format: .unknown, payload: [UInt8](repeating: 7, count: 60))]).encoded())
        }
    }

    @Test("After any fault: the old message, none, or the new one")
    func interrupted() throws {
        let old = try Hex.decode(Self.message)
        let new = try NDEFMessage([NDEFRecord(format: .unknown, payload: [UInt8](repeating: 7, count: 58))]).encoded()
        var seen: Set<[UInt8]> = []
        for exchange in 1...30 {
            for trouble in 0..<4 {
                let card = try Self.card()
                switch trouble {
                case 0: card.goneFrom = exchange
                case 1: card.answers[exchange] = .some(nil)
                case 2: card.answers[exchange] = [0x69, 0x82]
                default: card.answers[exchange] = [0x90]
                }
                _ = try? Self.tag(card).writeNDEF(new)
                let file = try #require(card.files[0xE104])
                let after = Array(file[2..<2 + Int(file[1])])
                seen.insert(after)
                #expect([old, [], new].contains(after), "\(exchange), \(trouble)")
            }
        }
        #expect(seen == [old, [], new])
    }

    /// Tags that cannot be read, and why.
    static let without: [(capability: String, ndef: String, reason: NDEFAbsence)] = [
        ("000E 20 003B 0034 04 06 E104 0040 00 00", "0000", .brokenCapability), ("0000", "0000", .brokenCapability),
        ("FFFF 20 003B 0034 04 06 E104 0040 00 00", "0000", .brokenCapability),
        ("000F 20 003B 0034 05 06 E104 0040 00 00", "0000", .brokenCapability),
        ("000F 20 003B 0034 04 07 E104 0040 00 00", "0000", .brokenCapability),
        ("000F 20 003B 0034 04 06 E105 0040 00 00", "0000", .brokenCapability),
        ("000F 20 003B 0034 04 06 E104 0001 00 00", "0000", .brokenCapability),
        ("000F 40 003B 0034 04 06 E104 0040 00 00", "0000", .unknownVersion),
        ("000F 20 003B 0034 04 06 E104 0040 80 00", "0000", .notReadable),
        (capability, "003F", .lengthBeyondEnd), (capability, "FFFF", .lengthBeyondEnd),
        ("20", "0000", .brokenCapability),
    ]

    @Test("P43 and more: reasons for no message", arguments: without)
    func noMessage(_ row: (capability: String, ndef: String, reason: NDEFAbsence)) throws {
        let card = try Self.card(row.capability, ndef: row.ndef)
        #expect(throws: TagError.noNDEF(row.reason)) { try Self.tag(card).readNDEF() }
    }

    @Test("P43: write access 80 is read-only")
    func readOnly() throws {
        let card = try Self.card("000F 20 003B 0034 04 06 E104 0040 00 80")
        #expect(try Self.tag(card).readNDEF().obstacle == .readOnly)
        #expect(throws: TagError.notWritable(.readOnly)) { try Self.tag(card).writeNDEF([0xD0, 0, 0]) }
        #expect(card.updates.isEmpty)
    }

    @Test("Without the application there is no NDEF; mapping version 1 is supported too")
    func applications() throws {
        let other = try Self.card()
        other.application = [1, 2, 3, 4, 5]
        #expect(throws: TagError.noNDEF(.notFormatted)) { try Self.tag(other).readNDEF() }
        let first = try Self.card("000F 10 003B 0034 04 06 E104 0040 00 00")
        first.application = [0xD2, 0x76, 0, 0, 0x85, 1, 0]
        #expect(try Self.tag(first).readNDEF().message.count == 14)
    }

    @Test("Cards from before the standard that take no Le", arguments: [[0x67, 0x00], [0x6A, 0x82], [0x6A, 0x86]])
    func withoutLe(_ status: [UInt8]) throws {
        let card = try Self.card("000F 10 003B 0034 04 06 E104 0040 00 00")
        card.application = [0xD2, 0x76, 0, 0, 0x85, 1, 0]
        card.statusWithLe = status
        #expect(try Self.tag(card).readNDEF().message.count == 14)
        let selections = card.frames.filter { $0[1] == 0xA4 }
        let expected = [
            "00A4040007D276000085010100", "00A4040007D276000085010000", "00A4040007D2760000850100", "00A4000002E103",
            "00A4000002E104",
        ]
        #expect(selections == (try expected.map { try Hex.decode($0) }))
        try Self.tag(card).writeNDEF([0xD0, 0, 0])
        #expect(card.updates.count == 1)
    }

    @Test("The same card on air", arguments: ["0100", "0101"])
    func quirk(_ version: String) throws {
        let text = """
            {"schema":"kazasu.card/1","typeA":{"uid":"04517ce1ed2580","atqa":"0344"},
             "applications":[{"aid":"d276000085\(version)","files":{"E103":"000f10003b00340406e10400400000",
              "E104":{"data":"000e\(Self.message)","size":64}}}],"virtual":{"quirks":["dep-no-le"]}}
            """
        let field = VirtualField(cards: try VirtualCardFile.loadCards(Array(text.utf8)))
        let reader = InProcessReader(field)
        let picc = try #require(try reader.activate(.typeA()))
        let tag = Type4Tag(session: ISO7816Session(reader: reader, picc: picc, request: .typeA()))
        // Newer cards have to take one.
        if version == "0101" { #expect(throws: TagError.noNDEF(.notFormatted)) { try tag.readNDEF() } }
        if version == "0100" { #expect(try tag.readNDEF().message == (try Hex.decode(Self.message))) }
    }

    @Test("A file with a length of four bytes, after files of other kinds")
    func extended() throws {
        let card = try Self.card(
            "001C 30 003B 0034 05 06 E105 0040 00 00 09 01 00 06 08 E104 00000040 00 00 00",
            ndef: "0000000E" + Self.message)
        let tag = Self.tag(card)
        let capability = try tag.capability()
        #expect(capability.files.map(\.kind) == [.proprietary, .extendedNDEF])
        #expect(capability.majorVersion == 3 && capability.minorVersion == 0 && capability.length == 28)
        #expect(try tag.readNDEF() == NDEFArea(message: Hex.decode(Self.message), capacity: 60, obstacle: nil))
        try tag.writeNDEF([0xD0, 0, 0])
        #expect(card.updates == [try Hex.decode("00D6000007 00000003D00000")])
    }

    @Test("A card that leaves, is silent once, or answers with one byte")
    func troubles() throws {
        let gone = try Self.card()
        gone.goneFrom = 4
        #expect(throws: TagError.tagLost) { try Self.tag(gone).readNDEF() }
        let silent = try Self.card()
        silent.answers[3] = .some(nil)
        #expect(try Self.tag(silent).readNDEF().message.count == 14, "tried once more from the start")
        let short = try Self.card()
        short.answers[3] = [0x90]
        #expect(throws: TagError.self) { try Self.tag(short).readNDEF() }
        let denied = try Self.card()
        denied.answers[3] = [0x69, 0x82]
        #expect(throws: TagError.noNDEF(.notReadable)) { try Self.tag(denied).readNDEF() }
    }

    @Test("Random answers end in a value or an error", arguments: 1...10 as ClosedRange<UInt64>)
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let card = try Self.card()
            for exchange in 1...40 where Int.random(in: 0..<4, using: &generator) == 0 {
                let data = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                card.answers[exchange] =
                    data + ([[0x90, 0], [0x62, 0x82], [0x61, 5], [0x6C, 3]].randomElement(using: &generator) ?? [])
            }
            _ = try? Self.tag(card).readNDEF()
            _ = try? Self.tag(card).writeNDEF([0xD0, 0, 0])
            #expect(card.frames.count < 3000)
        }
    }
}
