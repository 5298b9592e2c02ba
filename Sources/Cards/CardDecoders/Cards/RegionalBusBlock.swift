// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 898F in one of its two known layouts; all numbers are big-endian.
///
/// A (Ryuto, ecomyca, passca): date, four times six bits (hour and minute of boarding and of alighting), stops at 5 and
/// 7, kind at 9, amount at 10, balance at 14. B (ayuca): date, hour and minute in six bits each and a discount code in
/// four, stops at 4 and 6, kind at 8, fare at 9, balance at 11, points in tenths in the 20 bits after it, and flags in the
/// last four: 1 for points redeemed, 2 for bonus points granted. Sources: TRETJapanNFCReader, toyowata's readers,
/// felica-wallet and the real ayuca published with it.
struct RegionalBusBlock {
    /// The location of the fields.
    enum Layout: Sendable {
        case a
        case b
    }

    let raw: Block
    let layout: Layout
    let system: SystemCode

    var balance: Int { Int(raw.uint16(at: layout == .a ? 14 : 11, .big)) }

    /// The unsigned amount.
    var amount: Int { Int(raw.uint16(at: layout == .a ? 10 : 9, .big)) }

    /// The points of layout B; what was redeemed follows from the balances.
    private var points: PointMovement? {
        guard layout == .b else { return nil }
        let flags = raw[15]
        return PointMovement(
            balance: Int(raw.uint24(at: 13, .big) >> 4), redeemed: flags & 1 == 0 ? 0 : nil, isBonus: flags & 2 != 0)
    }

    private var kind: UInt8 { raw[layout == .a ? 9 : 8] }

    private var device: UInt8 { kind >> 4 }

    private var action: RegionalBusAction? {
        switch (layout, kind & 0xF) {
        case (.a, 0x0), (_, 0xA): .issue
        case (.a, 0x2), (.b, 0x3): .payment
        case (.a, 0x5), (.b, 0x9): .charge
        default: nil
        }
    }

    /// The record, with the amount stated in the block.
    var record: HistoryRecord {
        let date = CalendarDate(packed: raw.uint16(at: 0, .big))
        var record = HistoryRecord(
            serial: nil, date: date,
            kind: RegionalBusAction.kind(action, device: device),
            terminal: CodedValue(code: device, name: RegionalBusAction.terminals[UInt32(device)]?.name),
            process: CodedValue(code: kind & 0xF, name: action?.name),
            amount: RegionalBusAction.signed(amount, action), balance: balance, points: points,
            warnings: date == nil ? [.invalidDate] : [], raw: raw)
        takeTimes(&record)
        record.entry = stop(at: layout == .a ? 5 : 4)
        record.exit = stop(at: layout == .a ? 7 : 6)
        return record
    }

    /// Sets the times: in layout A, a ride has two; other records have one and leave the other zero.
    private func takeTimes(_ record: inout HistoryRecord) {
        let fields = raw.uint24(at: 2, .big)
        let (first, second) = (fields.bits(12...23), fields.bits(0...11))
        switch (layout, action) {
        case (.a, .payment):
            record.entryTime = RegionalBusBlock.time(first)
            record.time = RegionalBusBlock.time(second)
            if record.entryTime == nil || record.time == nil { record.warnings.append(.invalidTime) }
        case (.a, _) where first == 0 && second == 0:
            break
        default:
            record.time = RegionalBusBlock.time(layout == .a && second != 0 ? second : first)
            if record.time == nil { record.warnings.append(.invalidTime) }
        }
    }

    /// Six bits hour, six bits minute.
    private static func time(_ packed: UInt32) -> ClockTime? {
        ClockTime(hour: Int(packed.bits(6...11)), minute: Int(packed.bits(0...5)))
    }

    /// Returns a stop; 0000, as in charges and issues, is not a stop.
    private func stop(at offset: Int) -> Place? {
        let stop = raw.uint16(at: offset, .big)
        return stop == 0 ? nil : Place(LocalStopCode(system: system, stop: UInt32(stop)))
    }
}

/// The operation of a terminal, in the low nibble of a record's kind byte; the two layouts number it differently.
enum RegionalBusAction {
    case issue
    case payment
    case charge

    /// The terminals, in the high nibble of a record's kind byte; each card's list covers some of them.
    static let terminals = LocalCode.all(of: "regional-bus", .terminal)

    var name: LocalizedText {
        switch self {
        case .issue: LocalizedText("new issue", "新規発行")
        case .payment: LocalizedText("payment", "支払い")
        case .charge: LocalizedText("top-up", "チャージ")
        }
    }

    /// Returns the kind of a record; a payment is a ride where the terminal says which kind, otherwise unknown.
    static func kind(_ action: RegionalBusAction?, device: UInt8) -> RecordKind {
        switch action {
        case .issue: .issue
        case .charge: .charge
        case .payment: terminals[UInt32(device)]?.kind ?? .other
        case nil: .other
        }
    }

    /// Returns the amount with its sign; a new card's amount is not known to have one.
    static func signed(_ amount: Int, _ action: RegionalBusAction?) -> Int? {
        switch action {
        case .payment: -amount
        case .charge: amount
        case .issue, nil: nil
        }
    }
}

/// Block 1 of service 804B: the day of issue in bytes 0 and 1, the card number in bytes 8 to 15.
///
/// Source: toyowata's readers, for ecomyca, passca and Ryuto.
enum RegionalBusIssue {
    static func fields(_ block: Block) -> [CardField] {
        let day = CalendarDate(packed: block.uint16(at: 0, .big))
        let number = CardField(
            key: "number", name: LocalizedText("Card number", "カード番号"),
            value: Hex.encode(block.bytes.suffix(8), uppercase: true), isPersonal: true)
        return (day.map { [CardField.issueDate($0)] } ?? []) + [number]
    }
}
