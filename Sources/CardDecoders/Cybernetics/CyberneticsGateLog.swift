// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Service 108F: the last three passages through gates, newest first; a block of zeros is unused.
///
/// Bytes 1 (intermediate gate) and 12 to 15 (commuter pass) are known from one source only, suica-viewer.
/// Sources: suica-viewer, Metrodroid, TRETJapanNFCReader; the amounts equal those of 090F in published dumps.
struct CyberneticsGateLog {
    /// The passages, newest first.
    let events: [GateEvent]
    /// Those before the first block that was not read: between two of these there was no other.
    let unbroken: ArraySlice<GateEvent>

    init(_ service: ServiceDump) {
        let entries = BlockSequence(service) { $0.isZero }.entries
        events = entries.map { Self.event($0.block) }
        let hole = entries.firstIndex { !$0.olderWasRead }.map { $0 + 1 } ?? entries.count
        unbroken = service.blocks[0] == nil ? [] : events.prefix(hole)
    }

    private static func event(_ block: Block) -> GateEvent {
        GateEvent(
            kind: DecoderTables.transitGateEvents[block[0]],
            line: block[2],
            station: block[3],
            device: block.uint16(at: 4, .big),
            date: CalendarDate(packed: block.uint16(at: 6, .big)),
            time: ClockTime(decimalHour: block[8], minute: block[9]),
            amount: Int(block.uint16(at: 10, .little)),
            intermediate: block[1],
            commuterFare: Int(block.uint16(at: 12, .little)),
            commuterStation: block.uint16(at: 14, .big),
            raw: block)
    }
}
