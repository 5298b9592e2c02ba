// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@testable import PCSCReader

/// What kind of card an ATR says is there.
@Suite(.waits)
struct ContactlessATRTests {
    static let cards: [(String, ContactlessATR)] = [
        // Type A with the historical byte 80, as DESFire's ATS has it.
        ("3B8180018080", .isoDEP(content: [0x80])),
        ("3B80800101", .isoDEP(content: [])),
        // Vectors PM1 and PM2.
        ("3B888001000005E0B381A1007F", .isoDEP(content: [0x00, 0x00, 0x05, 0xE0, 0xB3, 0x81, 0xA1, 0x00])),
        ("3B888001004B51FF0081D100BC", .isoDEP(content: [0x00, 0x4B, 0x51, 0xFF, 0x00, 0x81, 0xD1, 0x00])),
        // PC/SC part 3: FeliCa, Classic 1K, Ultralight; FeliCa on readers of the ACR122 family.
        ("3B8F8001804F0CA00000030611003B0000000042", .felica),
        ("3B8F8001804F0CA00000030603F011000000008A", .felica),
        ("3B8F8001804F0CA000000306030001000000006A", .memoryA),
        ("3B8F8001804F0CA0000003060300030000000068", .memoryA),
        // A vicinity card (ISO 15693).
        ("3B8F8001804F0CA0000003060B00140000000077", .other),
        // A card with contacts: vsmartcard's.
        ("3B9513810180 73FF01000B", .other),
    ]

    @Test(arguments: cards) func isOfThisKind(_ atr: String, _ kind: ContactlessATR) throws {
        #expect(ContactlessATR(try Hex.decode(atr)) == kind)
    }

    @Test func rejectsDamagedATRs() throws {
        let atr = try Hex.decode("3B8F8001804F0CA00000030611003B0000000042")
        for count in 0..<atr.count { #expect(ContactlessATR(Array(atr.prefix(count))) == .other) }
        for index in atr.indices {
            var changed = atr
            changed[index] ^= 0x01
            #expect(ContactlessATR(changed) == .other)
        }
    }

    @Test func anyBytes() {
        var generator = SeededGenerator(seed: 0xA7A7)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...33, using: &generator)
            var atr = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if count > 4 { atr.replaceSubrange(0..<4, with: [0x3B, 0x80 | UInt8(count - 5) & 0x0F, 0x80, 0x01]) }
            if case .isoDEP(let content) = ContactlessATR(atr) { #expect(content == Array(atr[4..<atr.count - 1])) }
        }
    }
}
