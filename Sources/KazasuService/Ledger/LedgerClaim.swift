// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
internal import CardModel
internal import GRDB

/// One line of an expense claim (交通費精算): a ride, or a ride and the way back on the same day.
public struct LedgerClaim: Hashable, Sendable {
    /// The day.
    public let date: CalendarDate
    /// Whose ride it is.
    public let purse: LedgerPurse
    /// Where it began.
    public let from: Place?
    /// Where it ended; the stop alone is known of a bus ride.
    public let to: Place?
    /// Whether it was by bus.
    public let isBus: Bool
    /// The fare of one way, positive, in the smallest unit; `nil` when it is not known.
    public let fare: Int?
    /// The rides, oldest first: two for a return trip.
    public let rides: [LedgerRecord]

    /// Whether the way back is part of it.
    public var isReturn: Bool { rides.count == 2 }
    /// The fare of all rides.
    public var total: Int? { fare.map { $0 &* rides.count } }
}

/// The rides that are on no line of a claim.
struct ClaimOmissions {
    /// Rides that cost nothing, as with a commuter pass.
    var free = 0
    /// Rides without a day.
    var undated = 0
}

extension Ledger {
    /// The rides that a filter chooses as lines of an expense claim, oldest first.
    ///
    /// A ride back over the same stations on the same day for the same fare joins the ride out. Rides without a day are left out,
    /// and those that cost nothing, as with a commuter pass.
    public func claim(_ filter: LedgerFilter = LedgerFilter()) throws(LedgerError) -> [LedgerClaim] {
        try store.read { db in
            var claims: [LedgerClaim] = []
            _ = try forEachClaim(filter, db) { claim in
                claims.append(claim)
                return true
            }
            return claims
        }
    }

    /// Passes on the lines of a claim, oldest first, until the closure returns `false`.
    ///
    /// - Parameter isChosen: a further choice by the columns `id`, `purse`, `added` and `completed`.
    func forEachClaim(
        _ filter: LedgerFilter, _ db: Database, where isChosen: (Row) throws -> Bool = { _ in true },
        _ body: (LedgerClaim) throws -> Bool
    ) throws -> ClaimOmissions {
        var (filter, omissions) = (filter, ClaimOmissions())
        let rides: Set<RecordKind> = [.rail, .bus]
        filter.kinds = filter.kinds.isEmpty ? rides : filter.kinds.intersection(rides)
        guard !filter.kinds.isEmpty else { return omissions }
        let selection = try selection(
            LedgerCondition(filter, db, options), order: "r.date, r.purse, r.ord, r.id", db, where: isChosen)
        // The rides of one card on one day.
        var day: [LedgerRecord] = []
        func end() throws -> Bool {
            defer { day = [] }
            return try LedgerClaim.claims(day).allSatisfy(body)
        }
        try selection.visit { ride in
            if ride.record.date == nil { omissions.undated += 1 }
            if ride.record.amount == 0 { omissions.free += 1 }
            let isSameDay = day.last.map { ($0.record.date, $0.purse.id) == (ride.record.date, ride.purse.id) } ?? true
            guard try isSameDay || end() else { return false }
            day.append(ride)
            return true
        }
        _ = try end()
        return omissions
    }
}

extension LedgerClaim {
    /// The lines of one purse's rides on one day.
    fileprivate static func claims(_ rides: [LedgerRecord]) -> [LedgerClaim] {
        var claims: [LedgerClaim] = []
        // The lines that may still be joined by a way back.
        var open: [Int] = []
        for ride in rides {
            guard let date = ride.record.date, ride.record.amount != 0 else { continue }
            let claim = LedgerClaim(ride, date)
            if let index = open.first(where: { claims[$0].isWayOut(of: claim) }) {
                claims[index] = claims[index].joined(claim)
                open.removeAll { $0 == index }
                continue
            }
            open.append(claims.count)
            claims.append(claim)
        }
        return claims
    }

    private init(_ ride: LedgerRecord, _ date: CalendarDate) {
        self.init(
            date: date, purse: ride.purse, from: ride.record.entry, to: ride.record.exit,
            isBus: ride.record.kind == .bus, fare: ride.record.amount.map { 0 &- $0 }, rides: [ride])
    }

    private func isWayOut(of back: LedgerClaim) -> Bool {
        guard let fare, fare > 0, fare == back.fare, isBus == back.isBus, let from, let to else { return false }
        return from.code == back.to?.code && to.code == back.from?.code
    }

    private func joined(_ back: LedgerClaim) -> LedgerClaim {
        LedgerClaim(date: date, purse: purse, from: from, to: to, isBus: isBus, fare: fare, rides: rides + back.rides)
    }
}
