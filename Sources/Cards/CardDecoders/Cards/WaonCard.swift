// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// WAON, in the common area FE00.
//
// Certain (a real card in the tests of TRETJapanNFCReader v2.x; TRETJapanNFCReader, felica2money and others agree): 6817
// balance, 684F number, 684B points, 680B history with the serials of its records; byte 15 of 6817 is the newest serial.
// Bytes 11 to 13 of 684B are a day that others call the expiry of the points: on the real card it is the day of the
// newest record, and the first of a month, while points of WAON expire on the last. 67CF is a separate identification according to felica2money only, and is not reported; the
// location of the flags in 67CB (invalid, auto-charge) is unpublished, as are 680F, 688B, 688F, 68CB and 68CF. The
// marker system 852B contains nothing of use.

extension CardKind {
    /// WAON.
    public static let waon = CardKind(rawValue: "waon")
}

/// Decodes WAON: balance, number, points with their day, the last three payments and charges.
package struct WaonDecoder: PurseDecoder {
    package let kind = CardKind.waon
    package let name = LocalizedText("WAON", "WAON")
    /// Service 6817, the purse.
    package let balanceRead = ReadRequest(0xFE00, 0x6817)
    /// Purse and history: blocks 0 to 5 of 680B, which has nine.
    package var historyReads: [ReadRequest] { [balanceRead, historyRead] }
    /// Bytes 13 and 14 of the first block of a record.
    package let serials: SerialNumbers? = SerialNumbers(bits: 16)

    /// 684F: the number of the card; 67CF: a separate identification, according to felica2money.
    package let personal = [PersonalBytes(0xFE00, 0x684F), PersonalBytes(0xFE00, 0x67CF)]

    private let historyRead = ReadRequest(0xFE00, 0x680B, 0..<6)
    private let numberRead = ReadRequest(0xFE00, 0x684F)
    private let pointsRead = ReadRequest(0xFE00, 0x684B)

    package init() {}

    package func newestBalance(_ dump: CardDump) -> Int? {
        dump.opened(historyRead).flatMap { WaonHistory($0).newestBalance }
    }

    /// Decodes balance, history, number, points and their day.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        let history = dump.opened(historyRead).map { WaonHistory($0) }
        if let history {
            report.history = history.records
            report.warnings += history.warnings
        }
        try report.takeBalance(orFrom: history?.newestBalance) { () throws(CardDecodingError) in
            try balance(dump)
        }
        if let block = dump.opened(numberRead)?.blocks[0] {
            report.take(CardNumber(block.bytes.prefix(8)), LocalizedText("WAON number", "WAON番号"))
        }
        if let block = dump.opened(pointsRead)?.blocks[0] {
            report.fields.append(.points(Int(block.uint24(at: 0, .big))))
            if let day = CalendarDate(decimalYear: block[11], month: block[12], day: block[13]) {
                report.fields.append(.day("pointsDate", "Date of the points", "ポイントの日付", day))
            }
        }
        return report
    }
}

/// The three pairs of service 680B, in the order of their serials: the card uses them as a ring.
struct WaonHistory {
    /// The records, newest first.
    let records: [HistoryRecord]
    /// The anomalies found in the history as a whole.
    private(set) var warnings: [DecodingWarning] = []

    init(_ service: ServiceDump) {
        var pairs: [WaonHistoryPair] = []
        for number in stride(from: UInt16(0), to: 6, by: 2) {
            guard let first = service.blocks[number], let second = service.blocks[number + 1] else {
                if !warnings.contains(.historyIncomplete) { warnings.append(.historyIncomplete) }
                continue
            }
            let pair = WaonHistoryPair(first: first, second: second)
            if !pair.isUnused { pairs.append(pair) }
        }
        // Serials wrap at 16 bits: the newest is the one that all others trail by less than half the range.
        let newest = pairs.first { candidate in pairs.allSatisfy { candidate.serial &- $0.serial < 0x8000 } }
        if let newest {
            pairs.sort { newest.serial &- $0.serial < newest.serial &- $1.serial }
        } else if !pairs.isEmpty {
            warnings.append(.serialOrder)
        }
        records = pairs.map(\.record)
    }

    /// The balance after the newest record, or `nil` when the newest record cannot be determined.
    var newestBalance: Int? { warnings.isEmpty ? records.first?.balance : nil }
}

/// Two blocks of service 680B that form one record.
///
/// The first: terminal in thirteen characters, serial in bytes 13 and 14, big-endian. The second: kind in byte 1, then
/// from byte 2 on a bit field: five bits of years since 2005, four of month, five of day, five of hour, six of minute,
/// eighteen of balance, eighteen of payment, seventeen of charge. So the years end with 2036.
///
/// A real card confirms what TRETJapanNFCReader and felica2money read; tauri-plugin-felica, which reads the serial in the
/// middle of the terminal and the rest one and two bytes earlier, is wrong.
struct WaonHistoryPair {
    private static let kinds = DecoderTables.purseKinds["waon"] ?? [:]

    let first: Block
    let second: Block

    /// Whether the pair was never written.
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

    /// Returns the amount of a record.
    ///
    /// A payment deducts the amount paid, a charge adds the amount charged; an auto-charge can do both. For other kinds
    /// no source explains the two amounts, so only a charge without a payment is reported.
    private func amount(_ kind: PurseKind?) -> Int? {
        if kind?.sign != nil { return charge - payment }
        return kind != nil && payment == 0 && charge != 0 ? charge : nil
    }

    /// Returns `count` bits at bit `offset` of the field from byte 2 of the second block, most significant first.
    private func bits(_ offset: Int, _ count: Int) -> UInt64 {
        let first = offset + 16
        let word = second.number(at: first / 8, count: 4, .big)
        return word >> UInt64(32 - first % 8 - count) & (1 << UInt64(count) - 1)
    }
}
