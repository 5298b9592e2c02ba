// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Two blocks of service 680B that are one record.
///
/// The first: terminal in thirteen characters, serial in bytes 13 and 14, big-endian. The second: kind in byte 1, then
/// from byte 2 on bits: five of years since 2005, four of month, five of day, five of hour, six of minute, eighteen of
/// balance, eighteen of payment, seventeen of charge. So the year ends with 2036.
///
/// TRETJapanNFCReader, felica2money and a third decoder agree. A fourth, tauri-plugin-felica, reads the serial at bytes 6
/// and 7 of the first block (in the middle of the terminal) and kind and bits one and two bytes earlier: not followed.
struct WaonHistoryPair {
    private static let kinds = DecoderTables.purseKinds["waon"]

    let first: Block
    let second: Block

    /// Whether no record was ever written here.
    var isUnused: Bool { first.isZero && second.isZero }

    var serial: UInt16 { first.uint16(at: 13, .big) }

    var balance: Int { Int(bits(25, 18)) }

    private var payment: Int { Int(bits(43, 18)) }

    private var charge: Int { Int(bits(61, 17)) }

    var record: HistoryRecord {
        let date = CalendarDate(year: 2005 + Int(bits(0, 5)), month: Int(bits(5, 4)), day: Int(bits(9, 5)))
        let time = ClockTime(hour: Int(bits(14, 5)), minute: Int(bits(19, 6)))
        let kind = Self.kinds[second[1]]
        return HistoryRecord(
            serial: Int(serial),
            date: date,
            time: time,
            kind: kind?.recordKind ?? .other,
            terminalID: CardText.ascii(first.bytes.prefix(13)),
            process: kind?.value ?? CodedValue(code: second[1], name: nil),
            amount: amount(kind),
            balance: balance,
            warnings: DecodingWarning.invalid(date, time),
            rawHead: first,
            raw: second)
    }

    /// A payment takes off what was paid, a charge puts on what was charged; an auto-charge may do both. Of other kinds
    /// no source says what the two amounts are, so only a charge that stands alone is one.
    private func amount(_ kind: PurseKind?) -> Int? {
        if kind?.sign != nil { return charge - payment }
        return kind != nil && payment == 0 && charge != 0 ? charge : nil
    }

    /// `count` bits from bit `offset` of the bits that begin at byte 2 of the second block, highest first.
    private func bits(_ offset: Int, _ count: Int) -> UInt64 {
        let first = offset + 16
        let word = second.number(at: first / 8, count: 4, .big)
        return word >> UInt64(32 - first % 8 - count) & (1 << UInt64(count) - 1)
    }
}
