// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@Suite("SIMPLE-TLV and COMPACT-TLV")
struct OtherTLVTests {
    @Test func simple() throws {
        let objects = [SimpleTLV(0x01, []), SimpleTLV(0xFE, [1, 2]), SimpleTLV(0x50, .init(repeating: 7, count: 255))]
        let bytes = objects.flatMap(\.encoded)
        #expect(bytes.starts(with: [0x01, 0x00, 0xFE, 0x02, 1, 2, 0x50, 0xFF, 0x00, 0xFF, 7]))
        #expect(try SimpleTLV.list(bytes) == objects)
        #expect(try SimpleTLV.list([]).isEmpty)
        #expect(SimpleTLV(0x50, .init(repeating: 7, count: 70_000)).encoded.count == 65_539, "cut")
    }

    static let simpleFaults: [(bytes: [UInt8], offset: Int, reason: TLVError.Reason)] = [
        ([0x00, 0x00], 0, .invalidTag), ([0x01, 0x00, 0xFF, 0x00], 2, .invalidTag), ([0x01], 0, .truncatedLength),
        ([0x01, 0xFF, 0x00], 0, .truncatedLength), ([0x01, 0x02, 0x00], 0, .truncatedValue(missing: 1)),
        ([0x01, 0xFF, 0xFF, 0xFF, 0x00], 0, .truncatedValue(missing: 65_534)),
    ]

    @Test(arguments: simpleFaults)
    func simpleFault(_ row: (bytes: [UInt8], offset: Int, reason: TLVError.Reason)) {
        #expect(throws: TLVError(offset: row.offset, reason: row.reason)) { try SimpleTLV.list(row.bytes) }
    }

    /// Historical bytes without their category indicator: card service data and card capabilities, as in ATRs.
    @Test func compact() throws {
        let objects = try CompactTLV.list([0x31, 0x80, 0x73, 0xFF, 0x01, 0x00])
        #expect(objects == [CompactTLV(3, [0x80]), CompactTLV(7, [0xFF, 0x01, 0x00])])
        #expect(objects.flatMap(\.encoded) == [0x31, 0x80, 0x73, 0xFF, 0x01, 0x00])
        #expect(throws: TLVError(offset: 2, reason: .truncatedValue(missing: 2))) {
            try CompactTLV.list([0x31, 0x80, 0x73, 0xFF])
        }
        #expect(CompactTLV(0x17, .init(repeating: 1, count: 20)).encoded.count == 16, "cut")
    }

    @Test func anyBytesGiveObjectsOrAFault() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<5000 {
            let bytes: [UInt8] = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                .random(in: 0...255, using: &generator)
            }
            if let objects = try? SimpleTLV.list(bytes) {
                #expect(objects.reduce(0) { $0 + $1.value.count + 2 } <= bytes.count)
            }
            if let objects = try? CompactTLV.list(bytes) { #expect(objects.flatMap(\.encoded) == bytes) }
        }
    }
}
