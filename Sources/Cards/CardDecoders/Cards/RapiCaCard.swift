// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// RapiCa and the Iwasaki IC card of Kagoshima, which share system 8194. All numbers are big-endian, years count from
// 2000.
//
// One source (felica-look), never checked on a published card; a Flutter program, tested on its owner's cards, confirms the
// days, times and stops of RapiCa. Disputed: where the stop of the Iwasaki group is, see ``RapiCaHistoryBlock``. The
// history in 008F gives month, day, hour and minute,
// but no year: the year is inferred from 004B, which dates the last ride, and from the order of the records; where that
// is not possible, no date is reported. The high nibble of byte 3 of a record identifies the company.

extension CardKind {
    /// RapiCa or Iwasaki IC card.
    public static let rapica = CardKind(rawValue: "rapica")
}

/// Decodes RapiCa and the Iwasaki IC card: balance, points, history, charges, day of issue.
package struct RapiCaDecoder: CardDecoder {
    package let kind = CardKind.rapica
    /// RapiCa or the Iwasaki IC card; the company in the issue data decides which.
    package let name = LocalizedText("RapiCa or Iwasaki IC card", "RapiCa・いわさきICカード")
    /// Block 1 of service 004B.
    package let balanceRead = ReadRequest(0x8194, 0x004B, 1..<2)
    /// Attributes (004B), history (008F), charges (00CF) and issue data (000B).
    package var historyReads: [ReadRequest] { [attributeRead, historyRead, chargeRead, issueRead] }

    /// The issue data.
    package var brandReads: [ReadRequest] { [issueRead] }

    private let attributeRead = ReadRequest(0x8194, 0x004B, 0..<4)
    /// How many blocks there are is not known: a program that reads its owner's cards asks for up to 35.
    private let historyRead = ReadRequest(0x8194, 0x008F, 0..<35)
    private let chargeRead = ReadRequest(0x8194, 0x00CF, 0..<10, isRequired: false)
    private let issueRead = ReadRequest(0x8194, 0x000B, isRequired: false)

    package init() {}

    /// The balance: bytes 3 to 5 of block 1 of 004B, in yen.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let block = try dump.block(balanceRead, kind: kind, field: "balance", offset: 3)
        return BalanceReport(
            balances: [
                BalanceEntry(kind: kind, name: brand(dump)?.name ?? name, amount: Int(block.uint24(at: 3, .big)))
            ],
            warnings: [.oneSource])
    }

    /// Decodes balance, points, history, charges and day of issue.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: brand(dump)?.name ?? name)
        let attributes = dump.opened(attributeRead)?.blocks ?? [:]
        let issue = dump.opened(issueRead)?.blocks[0].map { RapiCaIssue($0) }
        var newest: Int?
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) { RapiCaHistoryBlock(raw: $0).record }
            history.takeAmountsFromBalances()
            RapiCaYears(lastRide: attributes[0], issued: issue?.date).apply(to: &history)
            newest = service.blocks[0] == nil ? nil : history.records.first?.balance
            report.take(history)
        }
        try report.takeBalance(orFrom: newest) { () throws(CardDecodingError) in try balance(dump) }
        report.fields += issue?.fields ?? []
        if let money = attributes[1] {
            report.fields.append(.points(Int(money.uint16(at: 8, .big))))
            report.fields.append(.number("premium", "Premium", "プレミアム", money.uint16(at: 6, .big)))
            report.fields.append(.number("serial", "Running number", "通番", money.uint24(at: 11, .big)))
        }
        if let charges = dump.opened(chargeRead) { report.fields += RapiCaCharges.fields(charges) }
        return report
    }

    /// The brand by the company in the issue data.
    package func brand(_ dump: CardDump) -> CardBrand? {
        switch dump.opened(issueRead)?.blocks[0]?.uint16(at: 0, .big) {
        case 0x232F: brands[0]
        case 0x2332: brands[1]
        default: nil
        }
    }

    /// RapiCa and the Iwasaki group's card.
    package let brands = [
        CardBrand(id: "rapica", name: LocalizedText("RapiCa", "RapiCa（ラピカ）")),
        CardBrand(id: "iwasaki", name: LocalizedText("Iwasaki IC card", "いわさきICカード")),
    ]
}

/// One block of service 008F; all numbers are big-endian.
///
/// Twelve bits month × 100 + day, twelve bits hour × 100 + minute, the company, then stop (three bytes), line (two) and
/// device (three); with the Iwasaki group these are one byte later and the device has two bytes; kind at 12, balance at
/// 13. Disputed for companies 4 and 5: the Flutter program has a stop of twelve bits at 4 and a line of three bytes at 6
/// for both, felica-look moves the fields for 4 only.
struct RapiCaHistoryBlock {
    private static let processes = LocalCode.all(of: "rapica", .process)

    let raw: Block

    /// The month and the day, if valid at least in a leap year, or `nil`.
    var monthDay: PartialMoment? {
        let packed = Int(raw.uint16(at: 0, .big).bits(4...15))
        return PartialMoment(month: packed / 100, day: packed % 100)
    }

    /// The time, or `nil` when the bytes are not a valid time.
    var time: ClockTime? {
        let packed = Int(raw.uint16(at: 1, .big).bits(0...11))
        return ClockTime(hour: packed / 100, minute: packed % 100)
    }

    /// The record, with month and day but without year and amount.
    var record: HistoryRecord {
        let process = RapiCaHistoryBlock.processes[UInt32(raw[12])]
        let isAlighting = RapiCaHistoryBlock.alighting.contains(raw[12])
        return HistoryRecord(
            serial: nil, time: time, partial: monthDay, kind: process?.kind ?? .other,
            process: CodedValue(code: raw[12], name: process?.name),
            entry: isAlighting ? nil : stop, exit: isAlighting ? stop : nil,
            balance: Int(raw.uint24(at: 13, .big)),
            warnings: (monthDay == nil ? [.invalidDate] : []) + (time == nil ? [.invalidTime] : []), raw: raw)
    }

    private var company: UInt8 { raw[3] >> 4 }

    /// The stop, or `nil` where line and stop are zero, as at a charge.
    private var stop: Place? {
        let offset = company == RapiCaHistoryBlock.iwasaki ? 5 : 4
        let (stop, line) = (raw.uint24(at: offset, .big), raw.uint16(at: offset + 3, .big))
        guard stop != 0 || line != 0 else { return nil }
        let place = Place(
            LocalStopCode(
                system: SystemCode(rawValue: 0x8194), operatorCode: UInt16(company), line: line, stop: stop,
                digits: 6))
        let isDisputed = [RapiCaHistoryBlock.iwasaki, RapiCaHistoryBlock.hayashida].contains(company)
        return isDisputed ? Place(code: place.code, name: place.name, doubt: .disputed) : place
    }

    private static let iwasaki: UInt8 = 4
    private static let hayashida: UInt8 = 5
    private static let alighting: Set<UInt8> = [0x41, 0x44]
}

/// Service 00CF: year, month and day of a charge in bytes 0 to 2, amount in 3 and 4, premium in 5 and 6.
enum RapiCaCharges {
    /// One field per charge, newest first, as in `2024-03-09 1000 +100`; an invalid date is left out.
    static func fields(_ service: ServiceDump) -> [CardField] {
        BlockSequence(service) { $0.isZero }.entries.enumerated().map { place, entry in
            let block = entry.block
            let day = CalendarDate(year: 2000 + Int(block[0]), month: Int(block[1]), day: Int(block[2]))
            let money = "\(block.uint16(at: 3, .big)) +\(block.uint16(at: 5, .big))"
            return CardField(
                key: "charge\(place + 1)",
                name: LocalizedText("Top-up \(place + 1), yen and bonus", "積増\(place + 1)（円・プレミアム）"),
                value: (day.map { "\($0) " } ?? "") + money, isPersonal: false)
        }
    }
}

/// Service 000B: company in bytes 0 and 1, year, month and day of issue in 5 to 7, deposit in 12 and 13.
struct RapiCaIssue {
    private let raw: Block

    init(_ block: Block) {
        raw = block
    }

    /// The day of issue, or `nil` when the bytes are not a valid date.
    var date: CalendarDate? {
        CalendarDate(year: 2000 + Int(raw[5]), month: Int(raw[6]), day: Int(raw[7]))
    }

    var fields: [CardField] {
        (date.map { [CardField.issueDate($0)] } ?? [])
            + [.number("deposit", "Deposit, yen", "デポジット（円）", raw.uint16(at: 12, .big))]
    }
}

/// Finds the years of records that give only month and day.
///
/// Block 0 of 004B dates the last ride to the minute. When the newest record has the same month, day, hour and minute,
/// it is of that year. Each older record is of the same year, or of the year before when its day falls later in the
/// year. The years are unknown from the first record on that was not read, has no valid day, or would precede the day
/// of issue. Two records more than a year apart cannot be distinguished from two within a year: hence the warning.
struct RapiCaYears {
    private let lastRide: (day: CalendarDate, time: ClockTime)?
    private let issued: CalendarDate?

    /// - Parameters:
    ///
    ///   - block: block 0 of 004B: year, month, day, hour and minute in bytes 0 to 4.
    ///   - issued: the day of issue, or `nil` when it is unknown.
    init(lastRide block: Block?, issued: CalendarDate?) {
        let day = block.flatMap { CalendarDate(year: 2000 + Int($0[0]), month: Int($0[1]), day: Int($0[2])) }
        let time = block.flatMap { ClockTime(hour: Int($0[3]), minute: Int($0[4])) }
        lastRide = day.flatMap { day in time.map { (day, $0) } }
        self.issued = issued
    }

    /// Dates the records whose year can be determined.
    func apply(to history: inout LocalHistory) {
        var newer = anchor(history)
        let isWhole = !history.isIncomplete
        history.update { place, record in
            guard let partial = record.partial, let month = partial.month, let day = partial.day, isWhole,
                let limit = newer, let date = latest(month, day, notAfter: limit), issued.map({ $0 <= date }) ?? true
            else {
                newer = nil
                if record.partial != nil { record.warnings.append(.yearUnknown) }
                return
            }
            newer = date
            record.date = date
            record.partial = nil
            record.warnings.append(.yearInferred)
        }
    }

    /// The day of the newest record, if it is that of the last ride.
    private func anchor(_ history: LocalHistory) -> CalendarDate? {
        guard let lastRide, let newest = history.records.first, newest.time == lastRide.time,
            newest.partial == PartialMoment(month: lastRide.day.month, day: lastRide.day.day)
        else { return nil }
        return lastRide.day
    }

    /// Returns the last such day not after `limit`, in the same year or the year before.
    private func latest(_ month: Int, _ day: Int, notAfter limit: CalendarDate) -> CalendarDate? {
        if (month, day) <= (limit.month, limit.day) {
            return CalendarDate(year: limit.year, month: month, day: day)
        }
        return CalendarDate(year: limit.year - 1, month: month, day: day)
    }
}
