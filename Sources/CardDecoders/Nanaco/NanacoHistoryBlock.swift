// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 564F: kind, amount and balance (32 bits each), stamp (32 bits), serial (16 bits), big-endian.
///
/// The stamp is eleven bits of years since 2000, four of month, five of day, six of hour, six of minute. Byte 15 is
/// unknown. Only a block of zeros is unused: no source says that kind 00 alone is.
struct NanacoHistoryBlock {
    private static let kinds = DecoderTables.purseKinds["nanaco"]

    let raw: Block

    var balance: Int { Int(raw.uint32(at: 5, .big)) }

    var record: HistoryRecord {
        let stamp = raw.uint32(at: 9, .big)
        let date = CalendarDate(
            year: 2000 + Int(stamp.bits(21...31)), month: Int(stamp.bits(17...20)), day: Int(stamp.bits(12...16)))
        let time = ClockTime(hour: Int(stamp.bits(6...11)), minute: Int(stamp.bits(0...5)))
        let kind = Self.kinds[raw[0]]
        return HistoryRecord(
            serial: Int(raw.uint16(at: 13, .big)),
            date: date,
            time: time,
            kind: kind?.recordKind ?? .other,
            process: kind?.value ?? CodedValue(code: raw[0], name: nil),
            amount: kind?.signed(Int(raw.uint32(at: 1, .big))),
            balance: balance,
            warnings: DecodingWarning.invalid(date, time),
            raw: raw)
    }
}
