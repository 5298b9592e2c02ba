// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Block 0 of service 008B. Bytes 8 (type and settings, readings differ; 20, 30 and 32 were seen) and 13 (always 00 in dumps) are not used.
struct CyberneticsAttributeBlock {
    private let raw: Block

    init(_ block: Block) {
        raw = block
    }

    /// Yen, bytes 11 and 12, little-endian, never negative.
    var balance: Int { Int(raw.uint16(at: 11, .little)) }

    /// Bytes 14 and 15, big-endian: the low sixteen bits of the newest history record's serial on every full dump.
    var transactionNumber: Int { Int(raw.uint16(at: 14, .big)) }
}
