// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 170F: kind, serial (24 bits), stamp, amount and balance (32 bits each), all big-endian.
///
/// The stamp is fifteen bits of days and seventeen bits of seconds since 2000-01-01 00:00, Japan time.
/// Sources: felica2money (with a real card's decode), TRETJapanNFCReader, Metrodroid.
struct EdyHistoryBlock {
    private static let kinds = DecoderTables.purseKinds["edy"]

    let raw: Block

    /// A record, or `nil` for an unused slot: kind 00, whatever the other bytes are.
    init?(_ block: Block) {
        guard block[0] != 0 else { return nil }
        raw = block
    }

    var balance: Int { Int(raw.uint32(at: 12, .big)) }

    var record: HistoryRecord {
        let stamp = raw.uint32(at: 4, .big)
        let time = ClockTime(secondsSinceMidnight: stamp.bits(0...16))
        let amount = Int(raw.uint32(at: 8, .big))
        let kind = Self.kinds[raw[0]]
        return HistoryRecord(
            serial: Int(raw.uint24(at: 1, .big)),
            date: CalendarDate(daysSince2000: UInt16(truncatingIfNeeded: stamp.bits(17...31))),
            time: time,
            kind: kind?.recordKind ?? .other,
            process: kind?.value ?? CodedValue(code: raw[0], name: nil),
            amount: kind?.signed(amount),
            balance: balance,
            warnings: time == nil ? [.invalidTime] : [],
            raw: raw)
    }
}
