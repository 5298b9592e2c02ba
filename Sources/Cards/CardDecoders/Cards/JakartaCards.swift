// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// Jelajah, the card of MRT Jakarta, system 9373.
//
// One source (Metrodroid): purse 10D7, laid out as KMT's 1017. The encoding of the card number in 100B is unknown even
// there, so its bytes are reported unchanged.
//
// The card of Ho Chi Minh City Metro, system 9450: only its services are published. 10D7 is open, as on MRT Jakarta's
// card. That it has the same layout is a guess by analogy, so the value is reported as a candidate, not as a balance.

extension CardKind {
    /// MRT Jakarta (Jelajah).
    public static let mrtJakarta = CardKind(rawValue: "mrtj")
    /// KMT (COMMET).
    public static let kmt = CardKind(rawValue: "kmt")
    /// Ho Chi Minh City Metro.
    public static let hoChiMinhCity = CardKind(rawValue: "hcmc")
}

/// Decodes the cards of MRT Jakarta, and of Ho Chi Minh City Metro assuming that its purse has the same layout.
package struct JakartaPurseDecoder: CardDecoder {
    package let kind: CardKind
    package let name: LocalizedText
    /// Service 10D7, the purse.
    package let balanceRead: ReadRequest
    /// Purse and number; no history is readable without a key.
    package var historyReads: [ReadRequest] { [balanceRead, numberRead] }
    /// 100B: the number of the card.
    package let personal: [PersonalBytes]

    private let numberRead: ReadRequest
    private let currency: Currency
    /// Whether the layout of the purse is published; otherwise its value is a candidate, not a balance.
    private let isPublished: Bool

    package static let mrtJakarta = JakartaPurseDecoder(
        .mrtJakarta, LocalizedText("MRT Jakarta (Jelajah)", "MRTジャカルタ（Jelajah）"), 0x9373, .rupiah)

    package static let hoChiMinhCity = JakartaPurseDecoder(
        .hoChiMinhCity, LocalizedText("Ho Chi Minh City Metro", "ホーチミン市メトロ"), 0x9450, .dong, isPublished: false)

    private init(
        _ kind: CardKind, _ name: LocalizedText, _ system: UInt16, _ currency: Currency, isPublished: Bool = true
    ) {
        (self.kind, self.name, self.currency, self.isPublished) = (kind, name, currency, isPublished)
        balanceRead = ReadRequest(system, 0x10D7)
        numberRead = ReadRequest(system, 0x100B, isRequired: false)
        personal = [PersonalBytes(system, 0x100B)]
    }

    /// Returns whether the system has the purse or the number.
    package func recognizes(_ dump: CardDump) -> Bool { dump.holds(balanceRead) || dump.holds(numberRead) }

    /// The balance: four bytes, little-endian.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let purse = JakartaPurse(try dump.block(balanceRead, kind: kind, field: "balance", offset: 0))
        guard !isPublished else {
            return BalanceReport(
                kind: kind, name: name, amount: purse.balance, currency: currency, warnings: [.oneSource])
        }
        let candidate = BalanceCandidate(
            amount: purse.balance,
            condition: LocalizedText("if the purse is laid out as that of MRT Jakarta", "MRTジャカルタと同じ形式の場合"))
        return BalanceReport(
            balances: [BalanceEntry(kind: kind, name: name, amount: nil, currency: currency, candidates: [candidate])],
            warnings: [.layoutNotPublished])
    }

    /// Decodes balance or candidate, the bytes that contain the number, and the last amount if the layout is published.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        let number = dump.opened(numberRead)?.blocks[0]
        try report.takeBalance(orElse: number != nil) { () throws(CardDecodingError) in try balance(dump) }
        if let number { report.fields.append(.rawNumber(number)) }
        if isPublished, let purse = dump.opened(balanceRead)?.blocks[0] { report.fields += JakartaPurse(purse).fields }
        return report
    }
}

extension CardField {
    /// The bytes of a card number whose encoding is unpublished.
    static func rawNumber(_ block: Block) -> CardField {
        CardField(
            key: "numberRaw", name: LocalizedText("Card number, as stored", "カード番号（格納値）"),
            value: block.description, isPersonal: true)
    }
}

// KMT (COMMET), the card of Jakarta's commuter trains, system 90B7.
//
// One source (Metrodroid): purse 1017, number 300B, history 200F. No published card contains a history. Times are in
// Jakarta time; those before 2019 are marked, see ``KMTHistoryBlock``.

/// Decodes KMT: balance, last amount, number, history.
package struct KMTDecoder: CardDecoder {
    package let kind = CardKind.kmt
    package let name = LocalizedText("KMT (COMMET)", "KMT（COMMET、ジャカルタ）")
    /// Service 1017, the purse.
    package let balanceRead = ReadRequest(0x90B7, 0x1017)
    /// Purse, history (200F), number (300B).
    package var historyReads: [ReadRequest] { [balanceRead, historyRead, numberRead] }
    /// Bytes 13 to 15 of a record.
    package let serials: SerialNumbers? = SerialNumbers(bits: 24)

    /// 300B: the number of the card.
    package let personal = [PersonalBytes(0x90B7, 0x300B)]

    private let historyRead = ReadRequest(0x90B7, 0x200F, 0..<20)
    private let numberRead = ReadRequest(0x90B7, 0x300B, isRequired: false)

    package init() {}

    /// The balance: four bytes, little-endian, rupiah.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let purse = JakartaPurse(try dump.block(balanceRead, kind: kind, field: "balance", offset: 0))
        return BalanceReport(
            kind: kind, name: name, amount: purse.balance, currency: .rupiah, warnings: [.oneSource])
    }

    /// Decodes balance, last amount, number and history; the records contain no balance.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        if let service = dump.opened(historyRead) {
            report.take(LocalHistory(service) { KMTHistoryBlock(raw: $0).record })
        }
        try report.takeBalance(orFrom: nil) { () throws(CardDecodingError) in try balance(dump) }
        if let number = dump.opened(numberRead)?.blocks[0] {
            report.fields.append(
                CardField(
                    key: "number", name: LocalizedText("Card number", "カード番号"),
                    value: CardText.asciiOrHex(number.bytes), isPersonal: true))
        }
        if let purse = dump.opened(balanceRead)?.blocks[0] { report.fields += JakartaPurse(purse).fields }
        return report
    }
}

/// The purse of the Jakarta cards.
///
/// Balance in bytes 0 to 3 and last amount in 4 to 7, little-endian, and a counter in 13 to 15, big-endian. Source:
/// Metrodroid for KMT and, with the same layout, for MRT Jakarta.
struct JakartaPurse {
    private let raw: Block

    init(_ block: Block) {
        raw = block
    }

    /// The balance in rupiah.
    var balance: Int { Int(raw.uint32(at: 0, .little)) }

    var fields: [CardField] {
        [
            .number("lastAmount", "Last amount", "直近の金額", raw.uint32(at: 4, .little)),
            .number("counter", "Transactions", "取引回数", raw.uint24(at: 13, .big)),
        ]
    }
}

/// One block of service 200F; all numbers are big-endian.
///
/// Seconds since 2000-01-01 00:00 in Jakarta (0 to 3), amount (4 to 7), gate or station (8, 9), kind (12), running
/// number (13 to 15). The only station of a ride is that of the exit (Metrodroid, FareBot); for a top-up, it is the
/// place of the top-up. Metrodroid subtracts six hours from the times before 2019; no other source does.
struct KMTHistoryBlock {
    private static let processes = LocalCode.all(of: "kmt", .process)

    let raw: Block

    var record: HistoryRecord {
        let process = KMTHistoryBlock.processes[UInt32(raw[12])]
        let kind = process?.kind ?? .other
        let seconds = raw.uint32(at: 0, .big)
        let date = CalendarDate(daysSince2000: UInt16(truncatingIfNeeded: seconds / 86_400))
        let amount = Int(raw.uint32(at: 4, .big))
        let gate = raw.uint16(at: 8, .big)
        let place =
            gate == 0
            ? nil
            : Place(
                LocalStopCode(system: SystemCode(rawValue: 0x90B7), stop: UInt32(gate)))
        return HistoryRecord(
            serial: Int(raw.uint24(at: 13, .big)), date: date,
            time: ClockTime(secondsSinceMidnight: seconds % 86_400), kind: kind,
            process: CodedValue(code: raw[12], name: process?.name),
            entry: kind == .rail ? nil : place, exit: kind == .rail ? place : nil,
            amount: kind == .other ? nil : kind == .rail ? -amount : amount,
            warnings: date.year < 2019 ? [.clockDisputed] : [], raw: raw)
    }
}
