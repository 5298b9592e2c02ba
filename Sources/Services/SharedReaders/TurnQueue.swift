// SPDX-License-Identifier: Apache-2.0

/// Who has one reader, and who wants it: what ``ReaderTurns`` decides, without threads, time or readers.
///
/// A turn is *new* until it is attempted or joins a search. It then *waits* for a card and is attempted again after each
/// arrival. One host at a time has the reader: a *claiming* one, which reports cards, or one that opened it *on demand*, which
/// leaves as soon as somebody claims the reader.
struct TurnQueue<Work: Sendable>: Sendable {
    /// The thread that has the reader.
    typealias Host = TurnHost

    struct Turn: Sendable {
        let number: Int
        /// Whether it waits for a card if there is none.
        var waits: Bool
        let work: Work
        /// The arrival of a card after which it was attempted last, or joined a search; `nil` if it is new.
        fileprivate(set) var attempted: Int?

        init(_ number: Int, waits: Bool, _ work: Work) { (self.number, self.waits, self.work) = (number, waits, work) }
    }

    private var turns: [Turn] = []
    /// The number of the turn that has the reader.
    private(set) var running: Int?
    private(set) var host: Host?
    /// How many cards have come.
    private var arrivals = 0
    private var lastHost = 0
    /// How many want to report cards: then nobody else may open the reader.
    private var claims = 0
    /// The host that is about to close the reader: it starts no more turns.
    private(set) var leaving: Host?

    // MARK: Turns

    mutating func add(_ turn: Turn) { turns.append(turn) }

    /// Removes all turns, which move to another queue.
    mutating func removeAll() -> [Turn] {
        defer { turns = [] }
        return turns
    }

    /// Removes a turn that does not have the reader.
    ///
    /// - Returns: whether it has the reader, so that it stays.
    mutating func remove(_ number: Int) -> Bool {
        guard running != number else { return true }
        turns.removeAll { $0.number == number }
        return false
    }

    /// The time to wait for a card is over.
    ///
    /// - Parameter isOver: whether the turn has its result; gets whether it has looked for a card.
    /// - Returns: whether the turn is new, so that it gets one attempt that does not wait.
    mutating func expire(_ number: Int, isOver: (_ hasSearched: Bool) -> Bool) -> Bool {
        guard let index = turns.firstIndex(where: { $0.number == number }), running != number else {
            _ = isOver(false)
            return false
        }
        guard !isOver(turns[index].attempted != nil) else {
            turns.remove(at: index)
            return false
        }
        turns[index].waits = false
        return true
    }

    /// The turn that can have the reader now.
    ///
    /// - Parameter hasCard: whether a card is there, which each of them may try.
    func next(for host: Host, hasCard: Bool) -> Turn? {
        guard running == nil, leaving != host, !mustLeave(host) else { return nil }
        if hasCard { return turns.first { $0.attempted.map { $0 < arrivals } ?? true } }
        // A program that waits does not overtake those that came before, which wait for the same card.
        let waiting = turns.first { $0.attempted != nil }
        return turns.first { $0.attempted == nil && (waiting == nil || !$0.waits) }
    }

    /// Gives the reader to the next turn.
    mutating func begin(for host: Host, hasCard: Bool) -> Turn? {
        let turn = next(for: host, hasCard: hasCard)
        if let turn { running = turn.number }
        return turn
    }

    /// A turn gives the reader back.
    ///
    /// - Parameter isOver: whether it has its result; else it waits for the next card.
    mutating func finish(_ number: Int, isOver: Bool) {
        guard running == number else { return }
        running = nil
        guard let index = turns.firstIndex(where: { $0.number == number }) else { return }
        if isOver { turns.remove(at: index) } else { turns[index].attempted = arrivals }
    }

    /// Whether somebody waits for a card.
    var areWaiting: Bool { turns.contains { $0.attempted != nil } }

    /// A card has come, or may have: those who found none try again.
    mutating func cardArrived() { arrivals += 1 }

    /// Begins a search for a card, which those who came after the first join.
    ///
    /// - Returns: `false` if somebody wants the reader first.
    mutating func beginSearch(_ host: Host) -> Bool {
        guard next(for: host, hasCard: false) == nil else { return false }
        for index in turns.indices where turns[index].attempted == nil { turns[index].attempted = arrivals }
        return !mustLeave(host)
    }

    // MARK: Hosts

    /// Whether this host must close the reader for another one.
    func mustLeave(_ host: Host) -> Bool { self.host != host || host.isOnDemand && claims > 0 }

    /// The host to start, if somebody wants the reader and nobody has it.
    mutating func newHost() -> Host? {
        guard host == nil, claims == 0, !turns.isEmpty else { return nil }
        lastHost += 1
        host = Host(number: lastHost, isOnDemand: true)
        return host
    }

    /// Asks for the reader, in order to report cards.
    ///
    /// - Returns: the host that ``take(_:)`` makes it, or ``giveUp(_:)`` ends.
    mutating func claim() -> Host {
        claims += 1
        lastHost += 1
        return Host(number: lastHost, isOnDemand: false)
    }

    /// Makes this the host, if there is none.
    mutating func take(_ new: Host) -> Bool {
        guard host == nil else { return false }
        host = new
        return true
    }

    /// A claim that never got the reader ends.
    mutating func giveUp(_ host: Host) { if self.host != host { claims -= 1 } }

    /// The host starts no more turns.
    ///
    /// - Returns: whether no turn has the reader.
    mutating func leave(_ host: Host) -> Bool {
        guard self.host == host else { return true }
        leaving = host
        return running == nil
    }

    /// The host has closed the reader. A turn that has not ended by now will not.
    ///
    /// - Parameter isFailure: whether nobody else can have the reader either.
    /// - Returns: the turns that fail; `nil` if another one is the host.
    mutating func end(_ host: Host, isFailure: Bool) -> [Turn]? {
        guard self.host == host else { return nil }
        var failed = turns.filter { $0.number == running }
        turns.removeAll { $0.number == running }
        if isFailure {
            failed += turns
            turns = []
        }
        (self.host, running, leaving) = (nil, nil, nil)
        if !host.isOnDemand { claims -= 1 }
        return failed
    }
}

/// The thread that has a reader.
struct TurnHost: Equatable, Sendable {
    fileprivate let number: Int
    /// Whether it opened the reader only for programs.
    fileprivate let isOnDemand: Bool
}
