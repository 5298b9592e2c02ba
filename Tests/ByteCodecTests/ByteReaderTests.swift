// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

/// Fixed-width fields, read and written.
struct ByteReaderTests {
    static let bytes: [UInt8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]

    @Test func bothOrders() throws {
        var reader = ByteReader(Self.bytes)
        #expect(try reader.readUInt8() == 0x01)
        #expect(try reader.readUInt16(.big) == 0x2345)
        #expect(try reader.readUInt16(.little) == 0x8967)
        #expect(reader.offset == 5)
        #expect(reader.remaining == 3)
        reader = ByteReader(Self.bytes)
        #expect(try reader.readUInt32(.big) == 0x0123_4567)
        #expect(try reader.readUInt32(.little) == 0xEFCD_AB89)
        try reader.expectEnd()
        reader = ByteReader(Self.bytes)
        #expect(try reader.readUInt64(.big) == 0x0123_4567_89AB_CDEF)
        reader = ByteReader(Self.bytes)
        #expect(try reader.readUInt64(.little) == 0xEFCD_AB89_6745_2301)
    }

    @Test func offsetsOfASliceCountFromItsStart() throws {
        var reader = ByteReader(Self.bytes[3..<6])
        #expect(reader.offset == 0)
        #expect(try reader.readUInt8() == 0x67)
        #expect(try Array(reader.readBytes(1)) == [0x89])
        #expect(throws: ByteCodecError.tooShort(offset: 2, missing: 1)) { try reader.readUInt16(.big) }
        #expect(throws: ByteCodecError.tooLong(offset: 2, extra: 1)) { try reader.expectEnd() }
        #expect(Array(reader.readRest()) == [0xAB])
        #expect(Array(reader.readRest()) == [])
        try reader.expectEnd()
    }

    @Test(arguments: 0...8) func everyWidthNamesWhatIsMissing(_ length: Int) {
        func missing(_ width: Int, _ read: (inout ByteReader) throws(ByteCodecError) -> Void) {
            var reader = ByteReader(Array(Self.bytes.prefix(length)))
            do throws(ByteCodecError) {
                try read(&reader)
                #expect(length >= width)
            } catch {
                #expect(length < width)
                #expect(error == .tooShort(offset: 0, missing: width - length))
                #expect(reader.remaining == length, "what could not be read is still there")
            }
        }
        missing(1) { reader throws(ByteCodecError) in _ = try reader.readUInt8() }
        missing(2) { reader throws(ByteCodecError) in _ = try reader.readUInt16(.little) }
        missing(4) { reader throws(ByteCodecError) in _ = try reader.readUInt32(.big) }
        missing(8) { reader throws(ByteCodecError) in _ = try reader.readUInt64(.little) }
        missing(6) { reader throws(ByteCodecError) in _ = try reader.readBytes(6) }
    }

    @Test func nonsenseCounts() throws {
        var reader = ByteReader(Self.bytes)
        for count in [0, -1, Int.min] { #expect(try reader.readBytes(count).isEmpty) }
        #expect(reader.offset == 0)
        _ = try reader.readUInt8()
        #expect(throws: ByteCodecError.tooShort(offset: 1, missing: .max - 7)) { try reader.readBytes(.max) }
    }

    @Test func readsWhatWasWritten() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            let (a, b, c, d) = (
                UInt8.random(in: 0...255, using: &random), UInt16.random(in: 0...0xFFFF, using: &random),
                UInt32.random(in: 0...(.max), using: &random), random.next()
            )
            for order in [ByteOrder.big, .little] {
                var writer = ByteWriter([0x7F])
                writer.write(a)
                writer.write(b, order)
                writer.write(c, order)
                writer.write(d, order)
                writer.write([a, 0x00])
                var reader = ByteReader(writer.bytes)
                #expect(try reader.readUInt8() == 0x7F)
                #expect(try reader.readUInt8() == a)
                #expect(try reader.readUInt16(order) == b)
                #expect(try reader.readUInt32(order) == c)
                #expect(try reader.readUInt64(order) == d)
                #expect(Array(reader.readRest()) == [a, 0x00])
            }
        }
    }

    @Test func writtenBytes() {
        var writer = ByteWriter()
        #expect(writer.bytes.isEmpty)
        writer.write(0x1234 as UInt16, .big)
        writer.write(0x1234 as UInt16, .little)
        writer.write(0x01_0203 as UInt32, .big)
        writer.write(-2 as Int16, .little)
        writer.write(0xAB as UInt8, .little)
        writer.write((1...2).lazy.map { UInt8($0) })
        #expect(writer.bytes == [0x12, 0x34, 0x34, 0x12, 0x00, 0x01, 0x02, 0x03, 0xFE, 0xFF, 0xAB, 0x01, 0x02])
        var wide = ByteWriter()
        wide.write(UInt128(1) << 120 | 2, .big)
        #expect(wide.bytes == [1] + [UInt8](repeating: 0, count: 14) + [2])
    }
}
