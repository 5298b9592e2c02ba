// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import DumpFormats
import DumpFormatsXML
import MIFAREClassic
import TestSupport
import Testing

@Suite("MIFARE Classic in files") struct ClassicFormatTests {
    /// The formats that hold a MIFARE Classic.
    static let writable = ["json", "hex", "flipper", "proxmark", "mfd", "mct", "eml"]

    private func format(_ id: String) throws -> any WritableDumpFormat {
        try #require(DumpFormatRegistry.complete.writable.first { $0.id == id })
    }

    /// A card as keys open it: of some sectors nothing is known, of others a key, or the data that no key may read.
    private func random(_ kind: ClassicKind, seed: Int, isWhole: Bool = false) -> CardDump {
        var random = SeededGenerator(seed: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
        var memory = ClassicDump(kind)
        func bytes(_ count: Int) -> [UInt8?] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
        func unknown(_ bytes: [UInt8?]) -> [UInt8?] {
            isWhole || Int.random(in: 0..<4, using: &random) > 0 ? bytes : bytes.map { _ in nil }
        }
        for sector in 0..<kind.sectorCount {
            let blocks = ClassicKind.blocks(of: sector)
            if sector > 0, !isWhole, Int.random(in: 0..<6, using: &random) == 0 { continue }
            for block in blocks.dropLast() { memory[block] = unknown(bytes(16)) }
            let conditions = (0..<4).map { _ in UInt8.random(in: 0...7, using: &random) }
            let access: [UInt8?] = (ClassicAccess(conditions: conditions)?.bytes ?? []) + [0x69]
            memory[blocks.upperBound - 1] = unknown(bytes(6)) + unknown(access) + unknown(bytes(6))
        }
        memory[0] = [0x90, 0xD3, 0x07, 0xC1, 0x85] + bytes(11)
        let sak: UInt8 =
            switch kind {
            case .mini: 0x09
            case .k2: 0x19
            case .k4: 0x18
            default: 0x08
            }
        let card = CardIdentity.typeA(uid: [0x90, 0xD3, 0x07, 0xC1], atqa: 0x0004, sak: sak, bitRate: nil)
        return CardDump(card: card, classic: memory)
    }

    /// Zeros for what is unknown.
    private func filled(_ memory: ClassicDump) -> ClassicDump {
        var filled = memory
        for block in 0..<memory.kind.blockCount {
            filled[block] = (memory[block] ?? ClassicDump.unknownBlock).map { $0 ?? 0 }
        }
        return filled
    }

    /// Each card survives each format, and each pair of them: what is unknown stays so, or becomes zeros where a format
    /// cannot mark it, unless these would be access bits.
    @Test(arguments: writable, writable) func everyPair(_ first: String, _ second: String) throws {
        for kind in ClassicKind.allCases {
            for seed in 1...TestEffort.rounds(8).count {
                var dump = random(kind, seed: seed, isWhole: seed == 1)
                var expected = try #require(dump.classic)
                for id in [first, second] {
                    let format = try format(id)
                    if id == "flipper", kind == .k2 {
                        #expect(throws: DumpWritingError.notSupported(.typeA)) { try format.write(dump) }
                        return
                    }
                    if !format.marksUnknown {
                        let sectors = expected.sectorsWithoutAccess
                        if !sectors.isEmpty {
                            #expect(throws: DumpWritingError.accessNotKnown(sectors: sectors)) {
                                try format.write(dump)
                            }
                            break
                        }
                        expected = filled(expected)
                    }
                    let read = try DumpFormatRegistry.complete.read(format.write(dump))
                    #expect(read.format == (id == "proxmark" ? "proxmark-memory" : id))
                    dump = try #require(read.dumps.first)
                    #expect(read.dumps.count == 1 && dump.classic == expected, "\(kind) \(seed) \(id)")
                    #expect(dump.card.uid == [0x90, 0xD3, 0x07, 0xC1] && dump.isComplete)
                }
                let hasIdentity = !["mfd", "mct", "eml"].contains { [first, second].contains($0) }
                if hasIdentity { #expect(dump.card == random(kind, seed: seed).card) }
            }
        }
    }

    @Test("Access bits are never made up: written to a card, zeros block its sector", arguments: writable)
    func unknownAccess(_ id: String) throws {
        let format = try format(id)
        for places in [0..<16, 6..<10, 6..<9] {
            var dump = random(.k1, seed: 3, isWhole: true)
            for sector in [2, 15] {
                let block = ClassicKind.trailer(of: sector)
                let trailer = try #require(dump.classic?[block])
                dump.classic?[block] = trailer.enumerated().map { places.contains($0.offset) ? nil : $0.element }
            }
            guard format.marksUnknown else {
                let error = DumpWritingError.accessNotKnown(sectors: [2, 15])
                #expect(throws: error) { try format.write(dump) }
                #expect(error.message.english.contains("of sectors 2, 15 are unknown"))
                continue
            }
            let read = try DumpFormatRegistry.complete.read(format.write(dump)).dumps.first?.classic
            #expect(read?.kind == .k1 && read?.sectorsWithoutAccess == [2, 15])
        }
    }

    @Test("An unknown UID, ATQA or SAK is not in the file", arguments: writable)
    func noIdentity(_ id: String) throws {
        let memory = ClassicDump(.k1, blocks: [4: [UInt8](repeating: 7, count: 16)])
        let dump = CardDump(card: .typeA(uid: nil, bitRate: nil), classic: memory)
        guard try format(id).marksUnknown else { return }
        let bytes = try format(id).write(dump)
        let read = try #require(try DumpFormatRegistry.complete.read(bytes).dumps.first)
        #expect(read.card == dump.card && read.classic == memory)
        #expect(!String(decoding: bytes, as: UTF8.self).uppercased().contains("ATQA"))
    }

    @Test("The Flipper's data format 1 says in masks which keys are known; version 3 has the ATQA's high byte first")
    func olderFlipper() throws {
        let fixture = FormatFixture(format: "flipper", name: "classic-version-2.nfc")
        let dump = try #require(try DumpFormatRegistry.standard.read(fixture.bytes).dumps.first)
        #expect(dump.card.atqa == 0x0004 && dump.card.sak == 0x09 && dump.isComplete)
        #expect(dump.classic?.key(.a, of: 3) != nil && dump.classic?.key(.b, of: 3) == nil)
        #expect(dump.classic?[8] == nil && dump.classic?[4] != nil)
        let text = String(decoding: try fixture.bytes, as: UTF8.self)
        let newer = text.replacing("Version: 2\n", with: "Version: 3\n", maxReplacements: 1)
        #expect(try DumpFormatRegistry.standard.read(Array(newer.utf8)).dumps.first?.card.atqa == 0x0400)
        let noMasks = text.split(separator: "\n").filter { !$0.contains(" map") }.joined(separator: "\n")
        let memory = try DumpFormatRegistry.standard.read(Array(noMasks.utf8)).dumps.first?.classic
        #expect(memory?.key(.b, of: 3) == nil && memory?.key(.b, of: 2) == nil && memory?.key(.a, of: 0) != nil)
    }

    /// Twenty lines are the records of a transit card, or the blocks of a Mini.
    @Test func historyOrCard() throws {
        let record = "16010002166CE33BE6210A000001E3"
        let history = (0..<20).map { record + Hex.encode(UInt8($0), digits: 2) + "\n" }.joined()
        #expect(try DumpFormatRegistry.standard.read(Array(history.utf8)).format == "hex-lines")
        // Bytes 6 to 8 of a record that match as access bits do.
        let matching = (0..<20).map { "16010002166CFF0780210A000001E3" + Hex.encode(UInt8($0), digits: 2) + "\n" }
        #expect(try DumpFormatRegistry.standard.read(Array(matching.joined().utf8)).format == "hex-lines")
        let card = try format("eml").write(random(.mini, seed: 1, isWhole: true))
        #expect(try DumpFormatRegistry.standard.read(card).format == "eml")
    }

    /// A memory whose first byte begins a JSON document or XML is still bytes.
    @Test(arguments: Array("{[<".utf8)) func anyFirstByte(_ byte: UInt8) throws {
        var dump = random(.k1, seed: 1, isWhole: true)
        dump.classic?[0] = [byte] + [UInt8](repeating: 0, count: 15)
        let read = try DumpFormatRegistry.complete.read(format("mfd").write(dump))
        #expect(read.format == "mfd" && read.dumps.first?.classic == dump.classic)
    }

    // MARK: Keys

    @Test("Keys as lines") func keyLines() throws {
        let text =
            "# a comment\n\n0 A A0A1A2A3A4A5\n0 b B0B1B2B3B4B5\n* A FFFFFFFFFFFF # for all\nD3F7D3F7D3F7\r\n"
        let keys = try ClassicKeys(reading: Array(text.utf8))
        #expect(keys.keys(.a, of: 0).map { Hex.encode($0.bytes) } == ["a0a1a2a3a4a5", "ffffffffffff", "d3f7d3f7d3f7"])
        #expect(keys.keys(.b, of: 0).map { Hex.encode($0.bytes) } == ["b0b1b2b3b4b5", "d3f7d3f7d3f7"])
        #expect(keys.keys(.a, of: 9).count == 2)
        #expect(try "\(#require(keys.keys(.a, of: 0).first))" == "Redacted")
    }

    @Test("Keys from dumps in every format", arguments: writable) func keysOfDumps(_ id: String) throws {
        let dump = random(.k1, seed: 5, isWhole: true)
        let keys = try ClassicKeys(reading: format(id).write(dump))
        for sector in 0..<16 {
            for type in ClassicKeyType.allCases {
                #expect(keys.keys(type, of: sector) == [dump.classic?.key(type, of: sector)])
            }
        }
    }

    @Test("The Proxmark's file of keys") func keyFile() throws {
        let binary =
            (0..<16).flatMap { [0x7B, 0xA1, 0xA2, 0xA3, 0xA4, UInt8($0)] } + [UInt8](repeating: 0xBB, count: 96)
        let keys = try ClassicKeys(reading: binary)
        #expect(keys.keys(.a, of: 15).first?.bytes.last == 15)
        #expect(keys.keys(.b, of: 0).first?.bytes == [UInt8](repeating: 0xBB, count: 6))
    }

    static let broken = [
        "0 C A0A1A2A3A4A5", "40 A A0A1A2A3A4A5", "0 A A0A1A2A3A4", "A0A1A2A3A4A5A6", "0 A", "key", "{}", "{", "",
        "{\"FileType\":\"mfu\"}", "Filetype: Flipper NFC device\nDevice type: NTAG215", "+Sector: 99\n",
        "+Sector: 0\nxx\n", "+Sector: 0\n",
        "Filetype: Flipper NFC device\nDevice type: Mifare Classic\nMifare Classic type: 1K\nBlock 64: 00",
    ]

    @Test("Malformed files of keys are refused", arguments: broken) func malformed(_ text: String) {
        #expect(throws: DocumentError.self) { try ClassicKeys(reading: Array(text.utf8)) }
    }

    @Test("Any bytes are taken without a fault") func anyBytes() {
        var random = SeededGenerator(seed: 50)
        let starts = [
            "", "{", "+Sector: 0\n", "Filetype: Flipper NFC device\nVersion: 4\nDevice type: Mifare Classic\n",
            "# MIFARE Classic 1K\n", #"{"FileType":"mfc","blocks":"#,
        ]
        for _ in TestEffort.rounds(200) {
            let bytes = (0..<Int.random(in: 0...400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            for start in starts {
                for body in [bytes, bytes.map { $0 % 96 + 32 }] {
                    _ = try? ClassicKeys(reading: Array(start.utf8) + body)
                    _ = try? DumpFormatRegistry.complete.read(Array(start.utf8) + body)
                }
            }
        }
    }
}
