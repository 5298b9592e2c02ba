// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Service 108F: the last three passages through gates, newest first; a block of zeros is unused.
///
/// Byte 1 (intermediate gate) is known from one source only, suica-viewer; bytes 12 to 15 are disputed.
/// Sources: suica-viewer, Metrodroid, TRETJapanNFCReader; the amounts equal those of 090F in published dumps.
struct CyberneticsGateLog {
    /// The passages, newest first.
    private(set) var events: [GateEvent]
    /// How many there are before the first block that was not read.
    private let unbrokenCount: Int

    /// Those before the first block that was not read: between two of these there was no other.
    var unbroken: ArraySlice<GateEvent> { events.prefix(unbrokenCount) }

    init(_ service: ServiceDump) {
        let entries = BlockSequence(service) { $0.isZero }.entries
        events = entries.map { Self.event($0.block) }
        let hole = entries.firstIndex { !$0.olderWasRead }.map { $0 + 1 } ?? entries.count
        unbrokenCount = service.blocks[0] == nil ? 0 : hole
    }

    /// Looks up the stations of the passages.
    mutating func name(_ places: CyberneticsStations) {
        for index in events.indices {
            let event = events[index]
            events[index].stations = places.places(event.line, event.station, on: event.date)
        }
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
            settlement: GateSettlement(block),
            raw: block)
    }
}
