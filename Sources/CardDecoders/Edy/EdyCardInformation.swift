// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Service 110B. Block 0: number in bytes 2 to 9 (binary-coded decimal), stamp of issue in bytes 10 to 13 (fifteen bits of
/// days since 2000-01-01, seventeen of seconds, which are 0). Block 1: the most that one charge may put on and the most
/// that the card may hold, in yen, four bytes each, big-endian.
struct EdyCardInformation {
    private let blocks: BlockTable

    init(_ service: ServiceDump?) {
        blocks = service?.blocks ?? [:]
    }

    /// Sixteen digits, or `nil` when the block was not read.
    var number: CardNumber? { blocks[0].map { CardNumber($0.bytes.dropFirst(2).prefix(8)) } }

    /// Day of issue and limits; one that is 0 was never written.
    var fields: [CardField] {
        var fields: [CardField] = []
        let stamp = blocks[0]?.uint32(at: 10, .big) ?? 0
        if stamp != 0 {
            fields.append(.issueDate(CalendarDate(daysSince2000: UInt16(truncatingIfNeeded: stamp.bits(17...31)))))
        }
        let limits: [UInt32] = blocks[1].map { [$0.uint32(at: 0, .big), $0.uint32(at: 4, .big)] } ?? [0, 0]
        if limits[0] != 0 { fields.append(.number("chargeLimit", "Limit of a charge", "1回のチャージ限度額", limits[0])) }
        if limits[1] != 0 { fields.append(.number("balanceLimit", "Limit of the balance", "残高の限度額", limits[1])) }
        return fields
    }
}
