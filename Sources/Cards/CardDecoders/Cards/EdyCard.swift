// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// Rakuten Edy, in the common area FE00.
//
// Certain (blocks of real cards; felica2money publishes a history with its owner's decode): 1317 balance and last
// amount, 110B number and day of issue, 170F. Agreed (TRETJapanNFCReader, felica2money, Metrodroid): kinds 02, 04 and
// 20. Inferred from their values: the two limits in block 1 of 110B; the meaning of its third number is unknown. Marker
// systems (8BDC, 811D, 04C0, …) contain nothing of use.

extension CardKind {
    /// Rakuten Edy.
    public static let edy = CardKind(rawValue: "edy")
}

/// Decodes Rakuten Edy: balance, card number, day of issue, limits, the last six payments and charges.
package struct EdyDecoder: PurseDecoder {
    package let kind = CardKind.edy
    package let name = LocalizedText("Rakuten Edy", "楽天Edy")
    /// Service 1317, the purse.
    package let balanceRead = ReadRequest(0xFE00, 0x1317)
    /// Service 170F, the history, and the purse.
    package var historyReads: [ReadRequest] { [balanceRead, historyRead] }
    /// Bytes 1 to 3 of a record.
    package let serials: SerialNumbers? = SerialNumbers(bits: 24)

    /// 110B: the number of the card.
    package let personal = [PersonalBytes(0xFE00, 0x110B)]

    private let historyRead = ReadRequest(0xFE00, 0x170F, 0..<6)
    private let numberRead = ReadRequest(0xFE00, 0x110B)

    package init() {}

    package func newestBalance(_ dump: CardDump) -> Int? {
        dump.opened(historyRead)?.blocks[0].flatMap { EdyHistoryBlock($0) }?.balance
    }

    /// Decodes balance, history, card number, last amount, day of issue and limits.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        if let service = dump.opened(historyRead) {
            let sequence = BlockSequence(service) { EdyHistoryBlock($0) == nil }
            report.history = sequence.entries.compactMap { EdyHistoryBlock($0.block)?.record }
            if sequence.isIncomplete { report.warnings.append(.historyIncomplete) }
        }
        try report.takeBalance(orFrom: newestBalance(dump)) { () throws(CardDecodingError) in
            try balance(dump)
        }
        let information = EdyCardInformation(dump.opened(numberRead))
        if let number = information.number { report.take(number, LocalizedText("Edy number", "Edy番号")) }
        if let purse = dump.opened(balanceRead)?.blocks[0] {
            report.fields.append(.number("lastAmount", "Last amount", "直近の利用額", purse.uint32(at: 4, .little)))
        }
        report.fields += information.fields
        return report
    }
}

/// Service 110B.
///
/// Block 0: number in bytes 2 to 9 (binary-coded decimal), stamp of issue in bytes 10 to 13 (fifteen bits of days since
/// 2000-01-01, seventeen of seconds, which are 0). Block 1: the maximum of one charge and the maximum balance, in yen,
/// four bytes each, big-endian.
struct EdyCardInformation {
    private let blocks: BlockTable

    init(_ service: ServiceDump?) {
        blocks = service?.blocks ?? [:]
    }

    /// Sixteen digits, or `nil` when the block was not read.
    var number: CardNumber? { blocks[0].map { CardNumber($0.bytes.dropFirst(2).prefix(8)) } }

    /// The day of issue and the limits; a value of 0 was never written.
    var fields: [CardField] {
        var fields: [CardField] = []
        if let stamp = blocks[0]?.uint32(at: 10, .big), stamp != 0 {
            fields.append(.issueDate(CalendarDate(daysSince2000: UInt16(truncatingIfNeeded: stamp.bits(17...31)))))
        }
        let limits: [UInt32] = blocks[1].map { [$0.uint32(at: 0, .big), $0.uint32(at: 4, .big)] } ?? [0, 0]
        if limits[0] != 0 { fields.append(.number("chargeLimit", "Top-up limit", "1回のチャージ限度額", limits[0])) }
        if limits[1] != 0 { fields.append(.number("balanceLimit", "Balance limit", "残高の限度額", limits[1])) }
        return fields
    }
}

/// One block of service 170F: kind, serial (24 bits), stamp, amount and balance (32 bits each), all big-endian.
///
/// The stamp is fifteen bits of days and seventeen bits of seconds since 2000-01-01 00:00, Japan time.
/// Sources: felica2money (with a real card's decode), TRETJapanNFCReader, Metrodroid.
struct EdyHistoryBlock {
    private static let kinds = DecoderTables.purseKinds["edy"] ?? [:]

    let raw: Block

    /// Creates a record, or `nil` for an unused slot: kind 00, regardless of the other bytes.
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
