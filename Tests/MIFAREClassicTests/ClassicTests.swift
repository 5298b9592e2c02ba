// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import TestSupport
import Testing

@testable import MIFAREClassic

@Suite("MIFARE Classic: memory, access bits, values")
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
        #expect(
            factory.keys(for: .write, group: 0) == .a && factory.isKeyBData && !factory.keys(for: .writeAccess).isEmpty)
        let mad = try #require(ClassicAccess([0x78, 0x77, 0x88]))
        #expect(mad.keys(for: .read, group: 1) == .both && mad.keys(for: .write, group: 1) == .b)
        #expect(mad.keys(for: .writeAccess) == .b && !mad.isKeyBData)
        let closed = try #require(ClassicAccess(conditions: [7, 0, 4, 0]))
        #expect(mad.rightsLost(under: closed, group: 0) == [.read, .write])
        #expect(mad.rightsLost(under: closed, group: 1).isEmpty)
        #expect(mad.rightsLost(under: closed, group: 2) == [.write], "key B is data there")
        #expect(closed.rightsLost(under: closed, group: 0).isEmpty)
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
        var memory = ClassicDump(.k1)
        let table = [0xC4] + ndef
        memory[1] = Array(table[..<16])
        memory[2] = Array(table[16...])
        memory[3] = try Hex.decode("000000000000 787788 C1 000000000000")
        memory[4] = try Hex.decode("0000 0303D00000 FE 0000000000000000")
        let found = try #require(ClassicDirectory(memory))
        #expect(found.isChecksumRight && found.ndefSectors == [1, 2, 3, 4, 5])
        #expect(found.message(in: memory) == [0xD0, 0, 0])
        memory[3] = try Hex.decode("000000000000 FF0780 69 000000000000")
        #expect(ClassicDirectory(memory) == nil)
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
}
