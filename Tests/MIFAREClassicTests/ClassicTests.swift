// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import TestSupport
import Testing

@testable import MIFAREClassic

@Suite("MIFARE Classic: memory, access bits, values, files")
struct ClassicTests {
    static let access: [(bytes: String, conditions: [UInt8])] = [
        ("FF0780", [0, 0, 0, 1]), ("787788", [4, 4, 4, 3]), ("7F0788", [0, 0, 0, 3]), ("0F078F", [2, 2, 2, 3]),
        ("078F0F", [2, 2, 2, 6]), ("08778F", [6, 6, 6, 3]),
    ]

    @Test("C14, C15: known access bits, both ways", arguments: access)
    func accessBits(_ row: (bytes: String, conditions: [UInt8])) throws {
        let bytes = try Hex.decode(row.bytes)
        #expect(ClassicAccess(bytes)?.conditions == row.conditions)
        #expect(ClassicAccess(conditions: row.conditions)?.bytes == bytes)
    }

    @Test("C16: inverted bits that do not match", arguments: ["000000", "FFFFFF", "F00FF0"])
    func brokenAccess(text: String) throws {
        #expect(try ClassicAccess(Hex.decode(text)) == nil)
    }

    @Test("Every combination of conditions is decoded as it was encoded")
    func allAccess() throws {
        for number in 0..<4096 {
            let conditions = (0..<4).map { UInt8(number >> (3 * $0) & 7) }
            let access = try #require(ClassicAccess(conditions: conditions))
            #expect(ClassicAccess(access.bytes) == access)
        }
        #expect(ClassicAccess(conditions: [8, 0, 0, 0]) == nil && ClassicAccess(conditions: []) == nil)
        #expect(ClassicAccess([0xFF, 0x07]) == nil)
    }

    @Test("Access bits say which key may do it; a key B that can be read may do nothing")
    func rights() throws {
        let factory = try #require(ClassicAccess([0xFF, 0x07, 0x80]))
        #expect(factory.keys(for: .write, group: 0) == .a && factory.isKeyBData && !factory.locksOwnerOut)
        let mad = try #require(ClassicAccess([0x78, 0x77, 0x88]))
        #expect(mad.keys(for: .read, group: 1) == .both && mad.keys(for: .write, group: 1) == .b)
        #expect(mad.keys(for: .writeAccess) == .b && !mad.isKeyBData)
        for (condition, locks) in [(2, true), (6, true), (7, true), (0, false), (1, false), (3, false), (5, false)] {
            let access = try #require(ClassicAccess(conditions: [0, 0, 0, UInt8(condition)]))
            #expect(access.locksOwnerOut == locks, "\(condition)")
        }
    }

    @Test("C6, C8, C10: value blocks")
    func values() throws {
        let hundred = try Hex.decode("640000009BFFFFFF6400000005FA05FA")
        #expect(ClassicValue(hundred) == ClassicValue(100, address: 5))
        #expect(ClassicValue(100, address: 5).block == hundred)
        #expect(Hex.encode(ClassicValue(-4, address: 6).block) == "fcffffff03000000fcffffff06f906f9")
        #expect(ClassicValue([UInt8](repeating: 0, count: 16)) == nil && ClassicValue([]) == nil)
        for place in 0..<16 {
            var broken = hundred
            broken[place] ^= 1
            #expect(ClassicValue(broken) == nil)
        }
        for value in [Int32.min, -1, 0, 1, .max] {
            #expect(ClassicValue(ClassicValue(value, address: 0xFF).block)?.value == value)
        }
    }

    @Test("C18, C19: CRC of the application directory")
    func directory() throws {
        let nxp = try Hex.decode("01 0108 0108 0108 0000 0000 0000 0400 0310 0310 0210 0210 0000 0000 0000 1130")
        #expect(ClassicDirectory.checksum(nxp) == 0x89)
        let ndef = try Hex.decode(
            "01" + String(repeating: "03E1", count: 5) + String(repeating: "0000", count: 10))
        #expect(ClassicDirectory.checksum(ndef) == 0xC4)
        var image = ClassicImage(.k1)
        let table = [0xC4] + ndef
        image[1] = Array(table[..<16])
        image[2] = Array(table[16...])
        image[3] = try Hex.decode("000000000000 787788 C1 000000000000")
        image[4] = try Hex.decode("0000 0303D00000 FE 0000000000000000")
        let found = try #require(ClassicDirectory(image))
        #expect(found.isChecksumRight && found.ndefSectors == [1, 2, 3, 4, 5])
        #expect(found.message(in: image) == [0xD0, 0, 0])
        image[3] = try Hex.decode("000000000000 FF0780 69 000000000000")
        #expect(ClassicDirectory(image) == nil)
    }

    @Test("Sectors and blocks")
    func geometry() {
        #expect(ClassicKind.allCases.map(\.blockCount) == [20, 64, 128, 256])
        for block in 0..<256 {
            let sector = ClassicKind.sector(of: block)
            #expect(ClassicKind.blocks(of: sector).contains(block))
        }
        #expect(ClassicKind.trailer(of: 39) == 255 && ClassicKind.trailer(of: 31) == 127)
        #expect(ClassicKind.conditionIndex(of: 128 + 4) == 0 && ClassicKind.conditionIndex(of: 128 + 5) == 1)
        #expect(ClassicKind.conditionIndex(of: 143) == 3)
        let kinds: [(UInt8, ClassicKind?)] = [
            (0x08, .k1), (0x88, .k1), (0x28, .k1), (0x18, .k4), (0x38, .k4), (0x09, .mini), (0x00, nil), (0x20, nil),
        ]
        for (sak, kind) in kinds { #expect(ClassicKind(sak: sak) == kind) }
    }

    // MARK: Files

    private func sample(_ kind: ClassicKind = .k1) -> ClassicImage {
        var image = ClassicImage(kind, uid: [0x90, 0xD3, 0x07, 0xC1], atqa: 0x0004, sak: 0x08)
        for block in 0..<kind.blockCount { image[block] = (0..<16).map { UInt8(truncatingIfNeeded: block &* 7 &+ $0) } }
        image[0] = [0x90, 0xD3, 0x07, 0xC1, 0x85, 0x08, 0x04, 0, 1, 2, 3, 4, 5, 6, 7, 8]
        for sector in 0..<kind.sectorCount {
            image[ClassicKind.trailer(of: sector)] =
                [
                    0xA0, 0xA1, 0xA2, 0xA3, 0xA4, UInt8(sector), 0xFF, 0x07, 0x80, 0x69, 0xB0, 0xB1, 0xB2, 0xB3, 0xB4,
                    0xB5,
                ]
        }
        return image
    }

    @Test("Written and read in every format", arguments: ClassicFormat.allCases)
    func roundTrip(format: ClassicFormat) throws {
        for kind in [ClassicKind.mini, .k1, .k4] {
            let image = sample(kind)
            let read = try ClassicImage(reading: format.data(image))
            #expect(read.kind == kind && read.blocks == image.blocks && read.uid == image.uid)
        }
    }

    @Test("Unknown bytes stay unknown in formats that can mark them", arguments: ClassicFormat.allCases)
    func unknown(format: ClassicFormat) throws {
        var image = sample()
        for block in 8..<12 { image[block] = nil }
        let trailer = try #require(image[15])
        image[15] = trailer.enumerated().map { $0.offset < 6 ? nil : $0.element }
        let read = try ClassicImage(reading: format.data(image))
        #expect(read.blocks == image.blocks || !format.marksUnknown)
        if !format.marksUnknown { #expect(read.whole(9) == [UInt8](repeating: 0, count: 16)) }
    }

    static let keyFiles = [
        "# a comment\n\n0 A A0A1A2A3A4A5\n0 b B0B1B2B3B4B5\n* A FFFFFFFFFFFF # for all\nD3F7D3F7D3F7\r\n",
        "a0a1a2a3a4a5\n",
    ]

    @Test("Keys as lines")
    func keyLines() throws {
        let keys = try ClassicKeys(reading: Array(Self.keyFiles[0].utf8))
        #expect(keys.keys(.a, of: 0).map { Hex.encode($0.bytes) } == ["a0a1a2a3a4a5", "ffffffffffff", "d3f7d3f7d3f7"])
        #expect(keys.keys(.b, of: 0).map { Hex.encode($0.bytes) } == ["b0b1b2b3b4b5", "d3f7d3f7d3f7"])
        #expect(keys.keys(.a, of: 9).count == 2)
        #expect(try "\(#require(keys.keys(.a, of: 0).first))" == "Redacted")
    }

    @Test("Keys from dumps in every format, and from the Proxmark's file of keys", arguments: ClassicFormat.allCases)
    func keysOfDumps(format: ClassicFormat) throws {
        let keys = try ClassicKeys(reading: format.data(sample()))
        #expect(keys.keys(.a, of: 3).map { Hex.encode($0.bytes) } == ["a0a1a2a3a403"])
        #expect(keys.keys(.b, of: 3).map { Hex.encode($0.bytes) } == ["b0b1b2b3b4b5"])
        let binary =
            (0..<16).flatMap { [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, UInt8($0)] } + [UInt8](repeating: 0xBB, count: 96)
        let others = try ClassicKeys(reading: binary)
        #expect(others.keys(.a, of: 15).first?.bytes.last == 15)
        #expect(others.keys(.b, of: 0).first?.bytes == [UInt8](repeating: 0xBB, count: 6))
    }

    static let broken = [
        "0 C A0A1A2A3A4A5", "40 A A0A1A2A3A4A5", "0 A A0A1A2A3A4", "A0A1A2A3A4A5A6", "0 A", "key", "{}", "{",
        "{\"FileType\":\"mfu\"}", "Filetype: Flipper NFC device\nDevice type: NTAG215", "+Sector: 99\n",
        "+Sector: 0\nxx\n",
        "Filetype: Flipper NFC device\nDevice type: Mifare Classic\nMifare Classic type: 1K\nBlock 64: 00",
    ]

    @Test("Malformed files name the line", arguments: broken)
    func malformed(text: String) {
        #expect(throws: DocumentError.self) { try ClassicKeys(reading: Array(text.utf8)) }
        #expect(throws: DocumentError.self) { try ClassicImage(reading: Array(text.utf8)) }
    }

    @Test("Any bytes are taken without a fault")
    func random() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            var bytes = (0..<Int.random(in: 0...400)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = try? ClassicKeys(reading: bytes)
            _ = try? ClassicImage(reading: bytes)
            bytes = bytes.map { $0 % 96 + 32 }
            for start in ["", "{", "+Sector: 0\n", "Filetype: Flipper NFC device\nDevice type: Mifare Classic\n"] {
                _ = try? ClassicKeys(reading: Array(start.utf8) + bytes)
                _ = try? ClassicImage(reading: Array(start.utf8) + bytes)
            }
        }
    }
}
