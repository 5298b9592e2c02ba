// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The purse of the Jakarta cards: balance in bytes 0 to 3 and last amount in 4 to 7, little-endian, and a counter in
/// 13 to 15, big-endian. Sources: Metrodroid (KMT), and Metrodroid again for MRT Jakarta, where it is the same.
struct JakartaPurse {
    private let raw: Block

    init(_ block: Block) {
        raw = block
    }

    /// Rupiah.
    var balance: Int { Int(raw.uint32(at: 0, .little)) }

    var fields: [CardField] {
        [
            .number("lastAmount", "Last amount", "直近の金額", raw.uint32(at: 4, .little)),
            .number("counter", "Transactions", "取引回数", raw.uint24(at: 13, .big)),
        ]
    }
}
