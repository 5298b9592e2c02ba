// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NFCForumTags

/// Memories of Type 2 Tags.
enum Type2Memories {
    /// The answers to GET_VERSION of the public suites.
    static let ntag213: [UInt8] = [0, 4, 4, 2, 1, 0, 0x0F, 3]
    static let ntag216: [UInt8] = [0, 4, 4, 2, 1, 0, 0x13, 3]

    /// Pages from hexadecimal, four bytes each, filled up with zeros.
    static func pages(_ hex: String, count: Int) throws -> [[UInt8]] {
        let bytes = try Hex.decode(hex)
        let padded = bytes + [UInt8](repeating: 0, count: max(0, count * 4 - bytes.count))
        return (0..<count).map { Array(padded[$0 * 4..<$0 * 4 + 4]) }
    }

    /// An empty NTAG213 as it leaves the factory.
    static func fresh213() throws -> FakeType2Reader {
        var pages = try pages("04A8D8FC 62BC2B80 75480000 E1101200 0103A00C 340300FE", count: 45)
        pages[0x28] = [0, 0, 0, 0xBD]
        pages[0x29] = [0x04, 0, 0, 0xFF]
        pages[0x2A] = [0, 5, 0, 0]
        return FakeType2Reader(pages, version: ntag213)
    }

    /// An empty NTAG216 as it leaves the factory.
    static func fresh216() throws -> FakeType2Reader {
        var pages = try pages("04A8D8FC 62BC2B80 75480000 E1106D00 0300FE00", count: 231)
        pages[0xE3] = [0x04, 0, 0, 0xFF]
        return FakeType2Reader(pages, version: ntag216)
    }

    /// A tag of eight bytes of data, as in the public suite (P24, P25, P27).
    static func tiny(_ data: String) throws -> FakeType2Reader {
        FakeType2Reader(try pages("01020304 05060708 00000000 E1100100 \(data)", count: 16), version: [])
    }
}

extension FakeType2Reader {
    /// The tag in this reader's field.
    var tag: Type2Tag { Type2Tag(reader: self, target: target) }
}
