// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@Suite("BER-TLV")
struct BERTLVTests {
    static let headers: [(text: String, tag: BERTag, length: Int, size: Int)] = [
        ("84 0E", 0x84, 14, 2), ("5F40 8207D0", 0x5F40, 2000, 5), ("7F49 81 80", 0x7F49, 128, 4),
        ("FF20 82 01 00", 0xFF20, 256, 5), ("DF21 00", 0xDF21, 0, 3),
        ("6F 81 7F", 0x6F, 127, 3), ("6F 82 00 FF", 0x6F, 255, 4),
        ("6F 83 00 FF FF", 0x6F, 65535, 5), ("6F 83 01 00 00", 0x6F, 65536, 5),
        ("6F 84 01 00 00 00", 0x6F, 1 << 24, 6), ("6F 84 FF FF FF FF", 0x6F, 0xFFFF_FFFF, 6),
        ("BF 0C 01", 0xBF0C, 1, 3),
        ("5F 81 01 01", 0x5F8101, 1, 4), ("5F 80 01 01", 0x5F8001, 1, 4),
    ]

    @Test(arguments: headers)
    func header(_ row: (text: String, tag: BERTag, length: Int, size: Int)) throws {
        let header = try BERHeader(Hex.decode(row.text))
        #expect(header.tag == row.tag)
        #expect(header.length == row.length)
        #expect(header.size == row.size)
        #expect(header.totalLength == row.length + row.size)
    }

    static let broken: [(text: String, offset: Int, reason: TLVError.Reason)] = [
        ("5F", 0, .truncatedTag), ("5F81", 0, .truncatedTag), ("5F818181 00", 0, .invalidTag),
        ("5F818101 00", 0, .invalidTag),
        ("84", 0, .truncatedLength), ("84 81", 0, .truncatedLength), ("84 82 01", 0, .truncatedLength),
        ("84 80 00 00", 0, .indefiniteLength), ("84 85 00 00 00 00 01", 0, .invalidLength),
        ("84 FF", 0, .invalidLength), ("84 02 01", 0, .truncatedValue(missing: 1)),
        ("84 84 FF FF FF FF 00", 0, .truncatedValue(missing: 0xFFFF_FFFE)),
        ("84 01 00 85 03 01", 3, .truncatedValue(missing: 2)),
    ]

    @Test(arguments: broken)
    func refuses(_ row: (text: String, offset: Int, reason: TLVError.Reason)) throws {
        let bytes = try Hex.decode(row.text)
        let fault = TLVError(offset: row.offset, reason: row.reason)
        let list = BERTLVList(tolerant: bytes)
        #expect(list.fault == fault)
        #expect(list.objects.count == (row.offset > 0 ? 1 : 0), "what stands before is kept")
    }

    @Test(arguments: ["00 84 00", "84 00 00", "84 81 01 AA", "6F 04 84 81 01 AA"])
    func tolerates(_ text: String) throws {
        let list = BERTLVList(tolerant: try Hex.decode(text))
        #expect(list.fault == nil)
        #expect(list.objects.count == 1)
    }

    /// PM6: the answer of a payment card to the SELECT of its directory, from a forum.
    @Test func paymentDirectory() throws {
        let bytes = try Hex.decode(
            "6F2F840E325041592E5359532E4444463031A51DBF0C1A61184F07A0000000031010500A56495341204445424954870101")
        let objects = BERTLVList(tolerant: bytes).objects
        #expect(objects.count == 1)
        let entry = try #require(objects.first?[0xA5]?[0xBF0C]?[0x61])
        #expect(entry[0x4F]?.value == (try Hex.decode("A0000000031010")))
        #expect(entry[0x50]?.value == Array("VISA DEBIT".utf8))
        #expect(entry[0x87]?.value == [1])
        #expect(entry[0x57] == nil)
        #expect(objects.flatMap(\.encoded) == bytes)
        #expect(BERTLVList(tolerant: bytes)[0x6F] == objects.first)
    }

    @Test func padding() throws {
        #expect(BERTLVList(tolerant: try Hex.decode("FFFFFFFF")) == BERTLVList(tolerant: []))
        let padded = BERTLVList(tolerant: try Hex.decode("0000 8401AA 0000 FF200101 00FFFFFF00"))
        #expect(padded.fault == nil)
        #expect(padded.objects == [BERTLV(0x84, [0xAA]), BERTLV(0xFF20, [0x01])])
        // FF at the end of a value belongs to it.
        #expect(BERTLVList(tolerant: [0x84, 0x02, 0xFF, 0xFF]).objects == [BERTLV(0x84, [0xFF, 0xFF])])
    }

    /// A constructed tag around bytes that are not an object: the value stays.
    @Test func constructedOfNothingThatCanBeRead() {
        let object = BERTLV(0x6F, [0x84, 0x05, 0x00])
        #expect(object.children == nil)
        #expect(object[0x84] == nil)
        #expect(object.value == [0x84, 0x05, 0x00])
        #expect(BERTLV(0x84, [0x84, 0x00]).children == nil, "a primitive one")
    }

    @Test(arguments: [1, 1000]) func nesting(_ depth: Int) throws {
        var bytes: [UInt8] = []
        for _ in 0..<depth { bytes = BERTLV(0x6F, bytes).encoded }
        // As deep as it is asked to.
        #expect(BERTLVList(tolerant: bytes).objects.first?.tag == 0x6F)
    }

    @Test func lengthsAreWrittenShort() {
        for (count, head) in [(0, "8400"), (127, "847f"), (128, "848180"), (255, "8481ff"), (256, "84820100")] {
            let bytes = BERTLV(0x84, [UInt8](repeating: 0, count: count)).encoded
            #expect(Hex.encode(bytes.dropLast(count)) == head)
        }
        #expect(BERTLV(0x84, [UInt8](repeating: 0, count: 65536)).encoded.starts(with: [0x84, 0x83, 1, 0, 0]))
        #expect(BERTLV(0x84, [UInt8](repeating: 0, count: 1 << 24)).encoded.starts(with: [0x84, 0x84, 1, 0, 0, 0]))
    }

    @Test(arguments: [0x84, 0x5F40, 0x7F_8149, 0x5F81_8101] as [BERTag])
    func aTagIsWrittenInAsManyBytesAsItHas(_ tag: BERTag) {
        #expect(tag.bytes.reduce(0) { $0 << 8 | UInt32($1) } == tag.rawValue)
        #expect(tag.bytes.first != 0)
        #expect("\(tag)" == String(tag.rawValue, radix: 16, uppercase: true))
    }

    @Test func goesRound() throws {
        var generator = SeededGenerator(seed: 8825)
        for _ in 0..<500 {
            let objects = (0...Int.random(in: 0...4, using: &generator)).map { _ in
                BERTLVTests.random(depth: 4, &generator)
            }
            let bytes = objects.flatMap(\.encoded)
            let list = BERTLVList(tolerant: bytes)
            #expect(list.objects == objects && list.fault == nil)
        }
    }

    private static func random(depth: Int, _ generator: inout SeededGenerator) -> BERTLV {
        if depth > 0, Bool.random(using: &generator) {
            let tag = ([0x6F, 0x7F49, 0xFF20, 0xBF0C] as [BERTag]).randomElement(using: &generator) ?? 0x6F
            return BERTLV(
                tag, (0..<Int.random(in: 0...3, using: &generator)).map { _ in random(depth: depth - 1, &generator) })
        }
        let tag = ([0x84, 0x50, 0x5F40, 0xDF21, 0x5F8101] as [BERTag]).randomElement(using: &generator) ?? 0x84
        let count = [0, 1, 127, 128, 256, 300].randomElement(using: &generator) ?? 0
        return BERTLV(tag, (0..<count).map { _ in .random(in: 0...255, using: &generator) })
    }

    /// Random bytes: objects and perhaps a fault within the bytes.
    @Test func anyBytesAreRead() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let bytes: [UInt8] = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                Bool.random(using: &generator)
                    ? .random(in: 0...255, using: &generator)
                    : ([0x6F, 0x84, 0x00, 0x01, 0x02, 0x81, 0x82, 0xFF] as [UInt8]).randomElement(using: &generator)
                        ?? 0
            }
            let list = BERTLVList(tolerant: bytes)
            #expect(list.fault.map { bytes.indices.contains($0.offset) } ?? true)
            #expect(list.objects.reduce(0) { $0 + $1.value.count } <= bytes.count)
            for object in list.objects { #expect(object.children?.count ?? 0 <= object.value.count) }
        }
    }

    static let tags: [(tag: BERTag, bytes: [UInt8], isConstructed: Bool, tagClass: UInt8)] = [
        (0x6F, [0x6F], true, 1), (0x84, [0x84], false, 2), (0x5F40, [0x5F, 0x40], false, 1),
        (0xFF20, [0xFF, 0x20], true, 3), (0x00, [0x00], false, 0), (0x30, [0x30], true, 0),
        (0x5F8101, [0x5F, 0x81, 0x01], false, 1),
    ]

    @Test(arguments: tags)
    func tag(_ row: (tag: BERTag, bytes: [UInt8], isConstructed: Bool, tagClass: UInt8)) {
        #expect(row.tag.bytes == row.bytes)
        #expect(row.tag.isConstructed == row.isConstructed)
        #expect(row.tag.tagClass == row.tagClass)
        #expect("\(row.tag)" == Hex.encode(row.bytes, uppercase: true))
    }
}
