// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 220F: header (0 to 3), date (4, 5), hour in the high five bits of 6, stations at 8 and 10,
/// balance in whole taka in 11 to 13, little-endian.
struct DhakaHistoryBlock {
    private static let headers = DecoderTables.localCodes["dhaka", .process]

    let raw: Block

    /// A record, or `nil` for an empty slot: zeros, or a day before 2020, when there was no such card.
    init?(_ block: Block) {
        let date = CalendarDate(packed: block.uint16(at: 4, .big))
        guard !block.isZero, date.map({ $0.year >= 2020 }) ?? true else { return nil }
        raw = block
    }

    /// Poisha after the record.
    var balance: Int { Int(raw.uint24(at: 11, .little)) * 100 }

    /// The record but for its amount. What kind it is is told by the whole header, of which the two coded bytes are
    /// the first.
    var record: HistoryRecord {
        let date = CalendarDate(packed: raw.uint16(at: 4, .big))
        let hour = PartialMoment(hour: Int(raw[6] >> 3))
        let known = DhakaHistoryBlock.headers[raw.uint32(at: 0, .big)]
        return HistoryRecord(
            serial: nil, date: date, partial: hour, kind: known?.kind ?? .other,
            terminal: CodedValue(code: raw[0], name: nil), process: CodedValue(code: raw[1], name: known?.name),
            entry: station(at: 8), exit: station(at: 10), balance: balance,
            warnings: (date == nil ? [.invalidDate] : []) + (hour == nil ? [.invalidTime] : []), raw: raw)
    }

    /// 00 is no station.
    private func station(at offset: Int) -> Place? {
        let code = raw[offset]
        guard code != 0 else { return nil }
        return DecoderTables.localStops.place(
            LocalStopCode(system: SystemCode(rawValue: 0x90E3), stop: UInt32(code), digits: 2))
    }
}
