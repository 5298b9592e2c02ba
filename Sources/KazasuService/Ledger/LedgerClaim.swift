// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
internal import CardModel

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

extension Ledger {
    /// The rides that a filter chooses as lines of an expense claim, oldest first.
    ///
    /// A ride back over the same stations on the same day for the same fare joins the ride out. Rides without a day are left out,
    /// and rides that a commuter pass paid whole, which cost nothing.
    public func claim(_ filter: LedgerFilter = LedgerFilter()) throws(LedgerError) -> [LedgerClaim] {
        var filter = filter
        let rides: Set<RecordKind> = [.rail, .bus]
        filter.kinds = filter.kinds.isEmpty ? rides : filter.kinds.intersection(rides)
        guard !filter.kinds.isEmpty else { return [] }
        let claims = try chains(filter).flatMap { LedgerClaim.claims($0.records) }
        return claims.enumerated().sorted { ($0.element.date, $0.offset) < ($1.element.date, $1.offset) }.map(\.element)
    }
}

extension LedgerClaim {
    /// The lines of one purse's rides.
    static func claims(_ rides: [LedgerRecord]) -> [LedgerClaim] {
        var claims: [LedgerClaim] = []
        // The lines of the day that may still be joined by a way back.
        var open: [Int] = []
        for ride in rides {
            guard let date = ride.record.date, ride.record.amount != 0 else { continue }
            if let last = claims.last, last.date != date { open = [] }
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
