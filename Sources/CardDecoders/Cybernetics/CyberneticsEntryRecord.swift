// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The two blocks of service 10CB. Bytes 2, 3 and 8 of the first and 6 and 11 to 13 of the second stay raw.
enum CyberneticsEntryRecord {
    /// The record, or `nil` when the first block was not read or names no station.
    static func record(_ service: ServiceDump) -> EntryRecord? {
        guard let first = service.blocks[0], first.uint16(at: 0, .big) != 0 else { return nil }
        let second = service.blocks[1]
        return EntryRecord(
            line: first[0], station: first[1],
            intermediate: second.flatMap { $0.isZero ? nil : intermediate($0) },
            raw: [first] + (second.map { [$0] } ?? []))
    }

    private static func intermediate(_ block: Block) -> EntryRecord.Intermediate {
        EntryRecord.Intermediate(
            date: CalendarDate(packed: block.uint16(at: 0, .big)),
            entryTime: ClockTime(decimalHour: block[2], minute: block[3]),
            entryStation: block.uint16(at: 4, .big),
            exitTime: ClockTime(decimalHour: block[7], minute: block[8]),
            exitStation: block.uint16(at: 9, .big))
    }
}
