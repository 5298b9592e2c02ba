// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Service 184B; a block of zeros is unused, and another may follow it.
enum CyberneticsTickets {
    static func tickets(_ service: ServiceDump) -> [PaidTicket] {
        service.blocks.filter { !$0.block.isZero }.map { ticket($0.block) }
    }

    private static func ticket(_ block: Block) -> PaidTicket {
        let time = block.uint16(at: 6, .big)
        return PaidTicket(
            from: block.uint16(at: 0, .big),
            to: block.uint16(at: 2, .big),
            expiry: CalendarDate(packed: block.uint16(at: 4, .big)),
            issued: ClockTime(hour: Int(time.bits(11...15)), minute: Int(time.bits(5...10))),
            kind: block[8],
            price: Int(block[9]) * 10,
            device: block.uint16(at: 10, .big),
            checkedAt: block.uint16(at: 12, .big),
            raw: block)
    }
}
