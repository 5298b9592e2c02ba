// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
internal import CardModel
internal import SQLiteFiles

/// One line of an expense claim (交通費精算): a ride, or a return trip on one day.
public struct LedgerClaim: Hashable, Sendable {
    /// The day.
    public let date: CalendarDate
    /// The card.
    public let purse: LedgerPurse
    /// Where it began.
    public let from: Place?
    /// Where it ended; for a bus ride, only the stop is known.
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

/// Which rides are lines of an expense claim, and what its lines say.
///
/// A station or a line is a name in any language that its table has, or a code such as `0_227_59` and `0_227`.
public struct LedgerClaimOptions: Hashable, Sendable {
    /// Only rides that began at one of these stations; all if empty.
    public var from: [String] = []
    /// Only rides that ended at one of these.
    public var to: [String] = []
    /// Only rides that began or ended at one of these.
    public var stations: [String] = []
    /// Only rides that began or ended on one of these lines.
    public var lines: [String] = []
    /// Only rides on these days of the week, 0 for Monday to 6 for Sunday; all if empty.
    public var weekdays: Set<Int> = []
    /// The ids of rides that are left out.
    public var except: Set<String> = []
    /// Sections of commuter passes, each as two stations with a hyphen between, as in `Ueno-Shibuya`. Rides within one are left out: between its
    /// ends, or between stations of their common line whose numbers lie between theirs.
    public var passes: [String] = []
    /// The purpose of the rides, as a separate column.
    public var purpose: String?
    /// Whether the last rows are the totals, one for each currency.
    public var hasTotal = false

    /// All rides.
    public init() {}

    /// A text that is the same for the same choice of rides.
    var selection: String {
        let words = [from, to, stations, lines, passes, except.sorted(), weekdays.sorted().map(String.init)]
        return words.allSatisfy(\.isEmpty) ? "" : "," + words.map { $0.joined(separator: "|") }.joined(separator: ";")
    }
}

/// The rides that are on no line of a claim.
struct ClaimOmissions {
    /// Rides that cost nothing, as with a commuter pass.
    var free = 0
    /// Rides without a day.
    var undated = 0
    /// Rides within the section of a commuter pass.
    var pass = 0
}

/// A choice of rides, its names looked up among the places that the ledger knows.
private struct ClaimChoice {
    private let options: LedgerClaimOptions
    private let (from, to, stations): (Set<PlaceCode>, Set<PlaceCode>, Set<PlaceCode>)
    private let lines: Set<String>
    private let passes: [(Set<PlaceCode>, Set<PlaceCode>)]

    /// What people put between the ends of a section.
    private static let hyphens: Set<Character> = ["-", "－", "–", "〜", "～"]

    /// - Throws: ``LedgerError/noSuchStation(_:)``, ``LedgerError/notASection(_:)``, ``LedgerError/noSuchLine(_:)``,
    ///   ``LedgerError/noSuchRecord(_:)``.
    init(_ options: LedgerClaimOptions, _ reader: LedgerRecordReader, _ db: Database) throws {
        self.options = options
        let places = reader.allPlaces
        func found(_ word: String) -> [PlaceCode] {
            let codes = places.filter { $0.isNamed(word) }.map(\.code)
            guard codes.isEmpty, word.hasSuffix("駅") else { return codes }
            return found(String(word.dropLast()))
        }
        func find(_ words: [String]) throws -> Set<PlaceCode> {
            try Set(
                words.flatMap { word in
                    let codes = found(word)
                    guard !codes.isEmpty else { throw LedgerError.noSuchStation(word) }
                    return codes
                })
        }
        (from, to, stations) = try (find(options.from), find(options.to), find(options.stations))
        lines = try Set(
            options.lines.flatMap { word in
                let found = places.filter { $0.isOnLine(word) }.map(\.code.lineKey)
                guard !found.isEmpty else { throw LedgerError.noSuchLine(word) }
                return found
            })
        passes = try options.passes.map { section in
            // Names may have hyphens, too: the first one at which both sides are stations.
            let all = section.indices.filter { ClaimChoice.hyphens.contains(section[$0]) }.map { hyphen in
                [section[..<hyphen], section[section.index(after: hyphen)...]].map { end in
                    end.split(separator: " ").joined(separator: " ")
                }
            }.filter { ends in !ends.contains("") }
            guard
                let best = all.max(by: { one, other in
                    one.count { !found($0).isEmpty } < other.count { !found($0).isEmpty }
                })
            else { throw LedgerError.notASection(section) }
            return try (find([best[0]]), find([best[1]]))
        }
        for id in options.except {
            guard try Int.fetchOne(db, sql: "SELECT 1 FROM record WHERE uid = ? LIMIT 1", arguments: [id]) != nil else {
                throw LedgerError.noSuchRecord(id)
            }
        }
    }

    /// Whether a ride is wanted, whatever pass there is.
    func contains(_ ride: LedgerRecord) -> Bool {
        let (entry, exit) = (ride.record.entry?.code, ride.record.exit?.code)
        func isAt(_ codes: Set<PlaceCode>, _ places: PlaceCode?...) -> Bool {
            codes.isEmpty || places.contains { $0.map(codes.contains) ?? false }
        }
        let isOnDay =
            options.weekdays.isEmpty
            || ride.record.date.map { options.weekdays.contains(CalendarDays.weekday($0)) } ?? false
        let isOnLine =
            lines.isEmpty || [entry, exit].contains { $0.map { lines.contains($0.lineKey) } ?? false }
        return isAt(from, entry) && isAt(to, exit) && isAt(stations, entry, exit) && isOnLine && isOnDay
            && !options.except.contains(ride.uid)
    }

    /// Whether a ride lies within the section of a pass.
    func isWithinPass(_ ride: LedgerRecord) -> Bool {
        guard let entry = ride.record.entry?.code, let exit = ride.record.exit?.code else { return false }
        return passes.contains { first, second in
            let isBetweenEnds = [entry, exit].allSatisfy { first.contains($0) || second.contains($0) }
            return isBetweenEnds
                || first.contains { one in
                    second.contains { other in
                        [entry, exit].allSatisfy { ClaimChoice.lies($0, between: one, and: other) }
                    }
                }
        }
    }

    /// Whether a station has a number between those of two others on the same line.
    private static func lies(_ code: PlaceCode, between one: PlaceCode, and other: PlaceCode) -> Bool {
        guard case .station(let code) = code, case .station(let one) = one, case .station(let other) = other,
            (code.area, code.line) == (one.area, one.line), (code.area, code.line) == (other.area, other.line)
        else { return false }
        return (min(one.station, other.station)...max(one.station, other.station)).contains(code.station)
    }
}

extension Place {
    /// Whether both are one station to its passengers: the gates of its lines have codes of their own.
    fileprivate func isSameStation(_ other: Place?) -> Bool {
        code == other?.code || name?.name != nil && name?.name == other?.name?.name
    }

    /// Whether people know the place by this name or code.
    fileprivate func isNamed(_ word: String) -> Bool {
        isCode(word, of: code.key) || name?.isNamed(NameQuery(word)) ?? false
    }

    /// Whether people know its line by this name or code, with or without the company.
    fileprivate func isOnLine(_ word: String) -> Bool {
        isCode(word, of: code.lineKey) || name?.isOnLine(NameQuery(word)) ?? false
    }

    private func isCode(_ word: String, of key: String) -> Bool { word.replacing("-", with: "_") == key }
}

extension Ledger {
    /// The names of all places that the ledger knows, in both scripts.
    package func placeNames() throws(LedgerError) -> [String] {
        try store.read { db in
            try LedgerRecordReader(db, options).allPlaces
                .flatMap { [$0.name?.name, $0.name?.latin.name].compactMap(\.self) }.sorted()
        }
    }

    /// The rides that a filter chooses as lines of an expense claim, oldest first.
    ///
    /// A ride back between the same stations, at the gates of whatever line, on the same day for the same fare joins the ride out. Rides without a day are left out,
    /// and those that cost nothing, as with a commuter pass.
    public func claim(
        _ filter: LedgerFilter = LedgerFilter(), _ options: LedgerClaimOptions = LedgerClaimOptions()
    ) throws(LedgerError) -> [LedgerClaim] {
        try store.read { db in
            var claims: [LedgerClaim] = []
            _ = try forEachClaim(filter, options, db) { claim in
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
        _ filter: LedgerFilter, _ claimOptions: LedgerClaimOptions, _ db: Database,
        where isChosen: (Row) throws -> Bool = { _ in true }, _ body: (LedgerClaim) throws -> Bool
    ) throws -> ClaimOmissions {
        var (filter, omissions) = (filter, ClaimOmissions())
        let rides: Set<RecordKind> = [.rail, .bus]
        filter.kinds = filter.kinds.isEmpty ? rides : filter.kinds.intersection(rides)
        guard !filter.kinds.isEmpty else { return omissions }
        let choice = try ClaimChoice(claimOptions, LedgerRecordReader(db, options), db)
        let selection = try selection(
            LedgerCondition(filter, db, options), order: "r.date, r.purse, r.ord, r.id", db, where: isChosen)
        // The rides of one card on one day.
        var day: [LedgerRecord] = []
        func end() throws -> Bool {
            defer { day = [] }
            return try LedgerClaim.claims(day).allSatisfy(body)
        }
        try selection.visit { ride in
            guard choice.contains(ride) else { return true }
            guard !choice.isWithinPass(ride) else {
                omissions.pass += 1
                return true
            }
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
        return from.isSameStation(back.to) && to.isSameStation(back.from)
    }

    private func joined(_ back: LedgerClaim) -> LedgerClaim {
        LedgerClaim(date: date, purse: purse, from: from, to: to, isBus: isBus, fare: fare, rides: rides + back.rides)
    }
}
