// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The attribute information of a Type 3 Tag, block 0 of its service.
///
/// Version (two nibbles), Nbr, Nbw, Nmaxb (two bytes), four reserved bytes, WriteF, RWFlag, Ln (three bytes), the sum
/// of bytes 0 to 13 (two bytes); numbers are big-endian. Source: NFC Forum Type 3 Tag 1.0, §6.1; nfcpy `tt3.py`.
package struct Type3Attributes: Hashable, Sendable {
    package let block: Block

    /// Wraps a block with any contents.
    package init(_ block: Block) {
        self.block = block
    }

    /// The major version; 1 is known.
    package var majorVersion: UInt8 { block[0] >> 4 }
    package var minorVersion: UInt8 { block[0] & 0x0F }
    /// The maximum number of blocks in one read (Nbr).
    package var blocksPerRead: Int { Int(block[1]) }
    /// The maximum number of blocks in one write (Nbw).
    package var blocksPerWrite: Int { Int(block[2]) }
    /// The number of blocks for the message (Nmaxb).
    package var blockCount: Int { Int(block.uint16(at: 3, .big)) }
    /// WriteF: 00 when the last write was completed, 0F while one is in progress.
    package var writeFlag: UInt8 { block[9] }
    /// RWFlag: 00 for read-only, 01 for read and write.
    package var accessFlag: UInt8 { block[10] }
    /// The length of the message in bytes (Ln).
    package var length: Int { Int(block.uint24(at: 11, .big)) }

    /// The length of the longest message, in bytes.
    package var capacity: Int { blockCount * 16 }
    /// Whether a write was started and not completed, so that the message is invalid.
    package var isBeingWritten: Bool { writeFlag != 0x00 }
    /// Whether the tag is writable.
    package var isWritable: Bool { accessFlag == 0x01 }

    /// Whether the last two bytes are the sum of the others.
    package var isChecksumRight: Bool {
        Type3Attributes.sum(block.bytes.prefix(14)) == block.uint16(at: 14, .big)
    }

    /// Returns the attributes with another state and length, and the checksum recomputed.
    ///
    /// - Returns: `nil` when the length does not fit in three bytes.
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
