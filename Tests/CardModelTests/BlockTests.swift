// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import TestSupport
import Testing

/// The sixteen bytes of a block.
struct BlockTests {
    static let bytes: [UInt8] = (0..<16).map { $0 * 0x11 }

    @Test func bytesAndText() throws {
        let block = try #require(Block(Self.bytes))
        #expect(block.bytes == Self.bytes)
        #expect(block.description == "00112233445566778899AABBCCDDEEFF")
        #expect(!block.isZero)
        #expect(Block(Self.bytes[...]) == block)
        #expect(Block.zero.isZero)
        #expect(Block.zero.bytes == [UInt8](repeating: 0, count: 16))
        for place in 0..<16 {
            var bytes = [UInt8](repeating: 0, count: 16)
            bytes[place] = 1
            #expect(Block(bytes)?.isZero == false)
        }
    }

    @Test func thirtyTwoDigitsMakeABlock() throws {
        let digits = "00112233445566778899aAbBcCdDeEfF"
        #expect(Block(digits)?.bytes == Self.bytes)
        for other in [String(digits.dropLast()), digits + "0", digits.dropLast() + "g", ""] {
            #expect(Block(other) == nil)
        }
    }

    @Test(arguments: [0, 1, 8, 15, 17, 32]) func onlySixteenBytesMakeABlock(_ count: Int) {
        #expect(Block([UInt8](repeating: 1, count: count)) == nil)
    }

    @Test(arguments: [Int.min, -17, -16, -1, 0, 7, 8, 15, 16, 31, Int.max - 1, Int.max]) func anyOffset(_ offset: Int)
        throws
    {
        let block = try #require(Block(Self.bytes))
        let place = offset & 15
        #expect(block[offset] == Self.bytes[place])
        for count in [Int.min, -1, 0, 1, 2, 3, 4, 7, 8, 9, Int.max] {
            let places = 0..<max(0, min(count, 8))
            let digits = Hex.encode(places.map { Self.bytes[(place + $0) % 16] })
            let reversed = Hex.encode(places.reversed().map { Self.bytes[(place + $0) % 16] })
            #expect(block.number(at: offset, count: count, .big) == UInt64(digits, radix: 16) ?? 0)
            #expect(block.number(at: offset, count: count, .little) == UInt64(reversed, radix: 16) ?? 0)
        }
    }

    @Test func noBitIsAdded() {
        for place in 0..<16 { #expect(Block.zero.number(at: place, count: 8, .big) == 0) }
    }

    @Test func widths() throws {
        let block = try #require(Block(Self.bytes))
        #expect(block.uint16(at: 1, .big) == 0x1122)
        #expect(block.uint16(at: 1, .little) == 0x2211)
        #expect(block.uint24(at: 13, .big) == 0xDDEEFF)
        #expect(block.uint24(at: 13, .little) == 0xFFEEDD)
        #expect(block.uint32(at: 6, .big) == 0x6677_8899)
        #expect(block.uint32(at: 6, .little) == 0x9988_7766)
        #expect(block.uint32(at: 14, .big) == 0xEEFF_0011)
    }
}
