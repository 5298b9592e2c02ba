// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// Prepaid money of the University Co-op, in the common area FE00.
//
// Certain (two real cards, published with TRETJapanNFCReader v2.x and felica-wallet): 50D7 balance, 50CF history, 50CB
// member, meals and points. The Co-op's own system 8E4B: see ``CoopMembershipDecoder``.

extension CardKind {
    /// University Co-op prepaid.
    public static let universityCoop = CardKind(rawValue: "coop")
}

/// Decodes the prepaid money of the University Co-op: balance, member number, meals, points, the last ten records.
package struct UniversityCoopDecoder: PurseDecoder {
    package let kind = CardKind.universityCoop
    package let name = LocalizedText("University Co-op prepaid", "大学生協プリペイド")
    /// Service 50D7, the purse.
    package let balanceRead = ReadRequest(0xFE00, 0x50D7)
    /// Purse and history (50CF).
    package var historyReads: [ReadRequest] { [balanceRead, historyRead] }

    /// 50CB: the member number, and the time of the last meal.
    package let personal = [PersonalBytes(0xFE00, 0x50CB)]

    private let historyRead = ReadRequest(0xFE00, 0x50CF, 0..<10)
    private let memberRead = ReadRequest(0xFE00, 0x50CB)

    package init() {}

    package func newestBalance(_ dump: CardDump) -> Int? {
        guard let block = dump.opened(historyRead)?.blocks[0], !block.isZero else { return nil }
        return UniversityCoopHistoryBlock(raw: block).balance
    }

    /// Decodes balance, history, member number, meals and points.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) { UniversityCoopHistoryBlock(raw: $0).record }
            history.checkAmounts()
            report.take(history)
        }
        try report.takeBalance(orFrom: newestBalance(dump)) { () throws(CardDecodingError) in try balance(dump) }
        if let service = dump.opened(memberRead) { report.take(UniversityCoopMember(service)) }
        return report
    }
}

/// One block of service 50CF, in binary-coded decimal.
///
/// Year (two bytes), month, day, hour, minute, second, then the kind, amount and balance (three bytes each). There is
/// no serial.
struct UniversityCoopHistoryBlock {
    private static let kinds = DecoderTables.purseKinds["coop"] ?? [:]

    let raw: Block

    /// The balance in yen, or `nil` when a digit is above 9.
    var balance: Int? { raw.decimal(at: 11, count: 3) }

    var record: HistoryRecord {
        let date = day
        let time = time
        let kind = Self.kinds[raw[7]]
        return HistoryRecord(
            serial: nil,
            date: date,
            time: time,
            kind: kind?.recordKind ?? .other,
            process: kind?.value ?? CodedValue(code: raw[7], name: nil),
            amount: raw.decimal(at: 8, count: 3).flatMap { kind?.signed($0) },
            balance: balance,
            warnings: DecodingWarning.invalid(date, time),
            raw: raw)
    }

    private var day: CalendarDate? {
        guard let year = raw.decimal(at: 0, count: 2), let month = BCD.value(raw[2]), let day = BCD.value(raw[3])
        else { return nil }
        return CalendarDate(year: year, month: month, day: day)
    }

    private var time: ClockTime? {
        guard let hour = BCD.value(raw[4]), let minute = BCD.value(raw[5]), let second = BCD.value(raw[6])
        else { return nil }
        return ClockTime(hour: hour, minute: minute, second: second)
    }
}

/// Service 50CB: member number, meal plan and points.
///
/// Member number (block 0, six bytes), meal plan (block 1: flag, then the day of the last meal and the amount spent,
/// three bytes of binary-coded decimal each from byte 2), points in tenths (block 2, four bytes, big-endian).
struct UniversityCoopMember {
    private let blocks: BlockTable

    init(_ service: ServiceDump) {
        blocks = service.blocks
    }

    /// The member number, or `nil` when its block was not read.
    var number: CardNumber? { blocks[0].map { CardNumber($0.bytes.prefix(6)) } }

    /// The other data of the service.
    var fields: [CardField] {
        var fields: [CardField] = []
        if let meals = blocks[1] {
            fields.append(.flag("mealPlan", "Meal plan", "ミールプラン", meals[0] != 0))
            if let day = CalendarDate(decimalYear: meals[2], month: meals[3], day: meals[4]) {
                fields.append(
                    CardField(
                        key: "lastMealDate", name: LocalizedText("Last meal", "最終ミール利用日"), value: day.description,
                        isPersonal: true))
                if let amount = meals.decimal(at: 5, count: 3) {
                    fields.append(.number("mealAmount", "Spent on meals that day", "同日のミール利用額", amount))
                }
            }
        }
        if let points = blocks[2] { fields.append(.points(tenths: points.uint32(at: 0, .big))) }
        return fields
    }
}

extension CardReport {
    /// Adds the member's data.
    mutating func take(_ member: UniversityCoopMember) {
        if let number = member.number { take(number, LocalizedText("Member number", "組合員番号")) }
        fields += member.fields
    }
}
