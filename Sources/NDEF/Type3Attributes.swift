// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The attribute information of a Type 3 Tag, block 0 of its service.
///
/// Version (two nibbles), Nbr, Nbw, Nmaxb (two bytes), four reserved bytes, WriteF, RWFlag, Ln (three bytes), the sum of
/// bytes 0 to 13 (two bytes); numbers big-endian. Source: NFC Forum Type 3 Tag 1.0, §6.1; nfcpy `tt3.py`.
package struct Type3Attributes: Hashable, Sendable {
    /// The block.
    package let block: Block

    /// The attributes in a block, whatever it holds.
    package init(_ block: Block) {
        self.block = block
    }

    /// The major version; 1 is known.
    package var majorVersion: UInt8 { block[0] >> 4 }
    /// The minor version.
    package var minorVersion: UInt8 { block[0] & 0x0F }
    /// How many blocks one read may ask for (Nbr).
    package var blocksPerRead: Int { Int(block[1]) }
    /// How many blocks one write may carry (Nbw).
    package var blocksPerWrite: Int { Int(block[2]) }
    /// How many blocks there are for the message (Nmaxb).
    package var blockCount: Int { Int(block.uint16(at: 3, .big)) }
    /// WriteF: 00 when the last write came to its end, 0F while one is under way.
    package var writeFlag: UInt8 { block[9] }
    /// RWFlag: 00 for read-only, 01 for read and write.
    package var accessFlag: UInt8 { block[10] }
    /// The length of the message in bytes (Ln).
    package var length: Int { Int(block.uint24(at: 11, .big)) }

    /// The longest message in bytes.
    package var capacity: Int { blockCount * 16 }
    /// Whether a write was begun and not ended, so that the message is worth nothing.
    package var isBeingWritten: Bool { writeFlag != 0x00 }
    /// Whether the tag may be written.
    package var isWritable: Bool { accessFlag == 0x01 }

    /// Whether the last two bytes are the sum of the others.
    package var isChecksumRight: Bool {
        Type3Attributes.sum(block.bytes.prefix(14)) == block.uint16(at: 14, .big)
    }

    /// The attributes with another state and length, and the sum made anew.
    ///
    /// - Returns: `nil` when the length has more than three bytes.
    package func changed(isBeingWritten: Bool, length: Int) -> Type3Attributes? {
        guard (0...0xFF_FFFF).contains(length) else { return nil }
        var bytes = Array(block.bytes.prefix(14))
        bytes[9] = isBeingWritten ? 0x0F : 0x00
        for place in 0..<3 { bytes[11 + place] = UInt8(truncatingIfNeeded: length >> (16 - 8 * place)) }
        var whole = ByteWriter(bytes)
        whole.write(Type3Attributes.sum(bytes[...]), .big)
        return Block(whole.bytes).map(Type3Attributes.init)
    }

    private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { $0 + UInt16($1) }
    }
}
