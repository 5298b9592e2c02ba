// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Service 108F: the last three passages through gates, newest first; a block of zeros is unused.
///
/// Bytes 1 (intermediate gate) and 12 to 15 (commuter pass) are known from one source only and stay raw.
/// Sources: suica-viewer, Metrodroid, TRETJapanNFCReader; the amounts equal those of 090F in published dumps.
enum CyberneticsGateLog {
    static func events(_ service: ServiceDump) -> [GateEvent] {
        BlockSequence(service) { $0.isZero }.entries.map { event($0.block) }
    }

    private static func event(_ block: Block) -> GateEvent {
        GateEvent(
            kind: DecoderTables.transitGateEvents[block[0]],
            line: block[2],
            station: block[3],
            device: block.uint16(at: 4, .big),
            date: CalendarDate(packed: block.uint16(at: 6, .big)),
            time: time(block),
            amount: Int(block.uint16(at: 10, .little)),
            raw: block)
    }

    private static func time(_ block: Block) -> ClockTime? {
        guard let hour = BCD.value(block[8]), let minute = BCD.value(block[9]) else { return nil }
        return ClockTime(hour: hour, minute: minute)
    }
}
