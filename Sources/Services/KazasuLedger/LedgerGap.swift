// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import SQLiteFiles

/// A break between two records of a purse.
public struct LedgerGap: Hashable, Sendable {
    /// Why the records do not follow each other.
    @nonexhaustive
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The serials leave room for records that were never read.
        case recordsLost
        /// The card keeps no serials, and no reading contains both records.
        case noOverlap
        /// The serials of the card begin again.
        case serialsWentBack
        /// Both records have one serial.
        case sameSerial
        /// The records follow each other, but their balances do not.
        case balanceDiffers
    }

    /// How many records are lost at least.
    public let atLeast: Int
    /// Upper bound, or `nil` if unknown.
    public let atMost: Int?
    /// The money that moved, in the smallest unit: the difference of the balances, less the amount of the record after the gap
    /// where it is known; `nil` if a balance is unknown.
    public let amount: Int?
    /// Whether ``amount`` also covers the record after the gap, whose own amount is unknown.
    public let coversNext: Bool
    /// Why there is a gap.
    public let reason: Reason

    /// How many records are lost, where that is certain.
    ///
    /// A transit card counts a ride by rail twice, at entry and exit, and anything else once; so its serials alone say
    /// between how many and how many records are lost.
    public var missing: Int? { atLeast == atMost ? atLeast : nil }
}

extension LedgerGap {
    /// The gap in the columns `atLeast`, `atMost`, `amount`, `coversNext` and `reason`, or `nil`.
    init?(_ row: Row, from index: Int) throws {
        guard let text: String = try row.value(index + 4), let reason = Reason(rawValue: text) else { return nil }
        try self.init(
            atLeast: row.value(index), atMost: row.value(index + 1), amount: row.value(index + 2),
            coversNext: row.value(index + 3), reason: reason)
    }
}

/// A gap with the records before and after it.
public struct LedgerGapReport: Hashable, Sendable {
    /// The gap.
    public let gap: LedgerGap
    /// The last record before it.
    public let before: LedgerRecord
    /// The first record after it.
    public let after: LedgerRecord
}

/// The gaps on some days, and how many records were lost in them.
public struct LedgerMissing: Hashable, Sendable {
    /// How many gaps there are.
    public private(set) var gaps = 0
    /// How many records are lost at least.
    public private(set) var atLeast = 0
    /// Upper bound, or `nil` if unknown.
    public private(set) var atMost: Int? = 0
    /// The newest gaps, at most five.
    public private(set) var newest: [LedgerGapReport] = []

    mutating func add(_ report: LedgerGapReport) {
        gaps += 1
        atLeast &+= report.gap.atLeast
        atMost = atMost.flatMap { sum in report.gap.atMost.map { sum &+ $0 } }
        if newest.count < 5 { newest.append(report) }
    }
}

/// How the serials of one purse count, as learned from its records.
struct SerialCount {
    /// The serials' bits, all ones.
    let mask: Int
    /// Whether a ride by rail counts two: once at the entry and once at the exit.
    let countsEntries: Bool

    /// - Parameters:
    ///   - serials: what the decoder says; a card that has no decoder any more counts records in 24 bits.
    ///   - single: whether two records that follow each other showed a ride that counted one.
    ///   - double: whether a ride that counted two. A card on which every ride counted one counts records.
    init(_ serials: SerialNumbers?, single: Bool, double: Bool) {
        mask = (1 << (serials?.bits ?? 24)) - 1
        countsEntries = (serials?.countsEntries ?? false) && (double || !single)
    }

    /// By how much the serial may rise from one record to the next.
    var steps: ClosedRange<Int> { countsEntries ? 1...2 : 1...1 }

    /// How many records lie between two records whose serials differ by `step`.
    ///
    /// Each record counts one or two where entries count. A ride counts two, unless it counts one after a charge inside the
    /// gates; a charge or an adjustment inside the gates counts two, since the entry counted before it.
    func missing(step: Int, before kind: RecordKind) -> ClosedRange<Int> {
        let step = max(1, step)
        guard countsEntries else { return step - 1...step - 1 }
        switch kind {
        case .rail: return step == 1 ? 0...0 : (step - 1) / 2...step - 2
        case .charge, .adjustment, .other: return (step - 1) / 2...step - 1
        default: return step / 2...step - 1
        }
    }
}

/// The part of a record that gaps and amounts are worked out from.
struct LedgerLink {
    let id: Int64
    let order: Int64
    let serial: Int?
    let kind: RecordKind
    let balance: Int?
    var amount: Int?
    var isDerived: Bool
    var isJoined: Bool
    var gap: LedgerGap?

    static let columns = """
        r.id, r.ord, r.serial, r.kind, r.balance, r.amount, r.derived, r.joined, gap.atLeast, gap.atMost, gap.amount,
        gap.coversNext, gap.reason
        """

    init(_ row: Row) throws {
        id = try row.value(0)
        order = try row.value(1)
        serial = try row.value(2)
        kind = try RecordKind(rawValue: row.value(3)) ?? .other
        balance = try row.value(4)
        amount = try row.value(5)
        isDerived = try row.value(6)
        isJoined = try row.value(7)
        gap = try LedgerGap(row, from: 8)
    }

    /// Works out amount and gap from the record before.
    mutating func follow(_ before: LedgerLink, _ count: SerialCount) {
        let (missing, reason) = distance(from: before, count)
        var difference: Int?
        if let balance, let old = before.balance { difference = balance &- old }
        let isNext = missing == 0...0
        if isDerived { amount = isNext ? difference : nil }
        if amount == nil, isNext, let difference {
            amount = difference
            isDerived = true
        }
        let moved = difference.map { $0 &- (amount ?? 0) }
        // A record with an amount of its own proves by its balance that it follows.
        let isProven = reason == .noOverlap && amount != nil && !isDerived && moved == 0
        if isNext || isProven || missing?.lowerBound == 0 && reason == .recordsLost && amount != nil {
            // The balances prove that nothing is lost, or that something happened of which there is never a record.
            let isWhole = moved == nil || moved == 0 || amount == nil
            gap =
                isWhole
                ? nil
                : LedgerGap(
                    atLeast: 0, atMost: missing?.upperBound, amount: moved, coversNext: false,
                    reason: isNext ? .balanceDiffers : reason)
            return
        }
        gap = LedgerGap(
            atLeast: missing?.lowerBound ?? 0, atMost: missing?.upperBound, amount: moved, coversNext: amount == nil,
            reason: reason)
    }

    /// How many records lie between, or `nil` if unknown.
    private func distance(from before: LedgerLink, _ count: SerialCount) -> (ClosedRange<Int>?, LedgerGap.Reason) {
        if isJoined { return (0...0, .balanceDiffers) }
        guard let serial, let old = before.serial, serial != 0 || old != 0 else { return (nil, .noOverlap) }
        let isSameEra = order >> LedgerOrder.eraShift == before.order >> LedgerOrder.eraShift
        let step = isSameEra ? serial &- old : (serial &- old) & count.mask
        if isSameEra, step <= 0 { return (nil, .sameSerial) }
        // Across a turn of the counter only a few can be missing; a card that was reset begins anywhere.
        if !isSameEra, serial >= old || step > 0x1000 { return (nil, .serialsWentBack) }
        return (count.missing(step: step, before: kind), .recordsLost)
    }
}

/// The order of records in a purse.
enum LedgerOrder {
    static let eraShift: Int64 = 40
    static let serialShift: Int64 = 8
    /// The first era, far from both ends so that others find room before and after it.
    static let firstEra: Int64 = 1 << 20
    static let eraStep: Int64 = 1 << 10
    /// Far more eras than any counter turns; their places are ``Int64`` with room on both sides.
    static let eras: Range<Int64> = 0..<1 << 22

    /// The first place of a serial in an era.
    static func place(era: Int64, serial: Int) -> Int64 {
        era << eraShift | Int64(serial & 0xFFFF_FFFF) << serialShift
    }
}
