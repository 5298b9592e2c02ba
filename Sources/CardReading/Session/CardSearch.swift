// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import Glibc
internal import NFCTransport

/// The clock of a search, and how it lets time pass; tests bring one of their own.
package struct SearchClock: Sendable {
    package let now: @Sendable () -> Duration
    package let pause: @Sendable (Duration) -> Void

    package init(now: @escaping @Sendable () -> Duration, pause: @escaping @Sendable (Duration) -> Void) {
        self.now = now
        self.pause = pause
    }

    /// The system's.
    package static let system: SearchClock = {
        let start = ContinuousClock.now
        return SearchClock(now: { ContinuousClock.now - start }) { time in
            var pause = timespec(
                tv_sec: Int(time.components.seconds), tv_nsec: Int(time.components.attoseconds / 1_000_000_000))
            unsafe nanosleep(&pause, nil)
        }
    }()
}

/// Looks for a card until it is there: what is asked for when, for all finders.
///
/// Which answer wins is ``NFCTransport/Reader/firstAnswer(to:where:)``'s business. Here is the pace, which is made for
/// phones: an iPhone answers 0003 with its Express transit card, but only from about the fourth Polling on, 40 to 50 ms after
/// it felt the field, and any other system code opens its wallet, which asks its owner to choose. So where 0003 is wanted
/// first, it is polled for alone until a phone would have answered, and while nothing is there, other codes follow only now
/// and then. Where the caller wants another code first, just that is done.
///
/// Source: kormax, apple-enhanced-contactless-polling (2025-11), and bellx2's measurements of system codes; unverified.
struct CardSearch {
    let reader: any Reader
    let cancellation: CancellationToken
    let clock: SearchClock

    /// How often, and for how long at least, the transit system is polled for before anything else.
    private static let transitLooks = 4
    private static let transitTime = Duration.milliseconds(75)
    /// How long a search goes on at least: so long may a card need after the field came on (FeliCa user's manual, 2.4.1).
    private static let cardStart = Duration.milliseconds(21)
    /// How long it takes from one look for the transit system to the next, at least.
    private static let transitPeriod = Duration.milliseconds(15)
    /// How long it takes from one Polling for other systems to the next, while nothing is there.
    private static let otherSystemsPeriod = Duration.milliseconds(500)
    /// How long it takes from one round to the next, at least: the bus and the processor belong to others, too.
    private static let period = Duration.milliseconds(40)

    /// Looks until `look` finds something.
    ///
    /// - Parameters:
    ///   - requests: what to look for, most wanted first.
    ///   - timeout: how long to go on; zero for one round, `nil` for ever.
    ///   - look: looks once, with some or all of the requests.
    /// - Returns: `nil` when nothing was found in time.
    func find<Finding>(
        _ requests: [ActivationRequest], within timeout: Duration?,
        _ look: ([ActivationRequest]) throws(ReadingError) -> Finding?
    ) throws(ReadingError) -> Finding? {
        let deadline = timeout.map { clock.now() + max($0, Self.cardStart) }
        let isPatient = requests.first { $0.technology == .felica }?.isTransit == true
        let transit = isPatient ? requests.filter(\.isTransit) : []
        let harmless = requests.filter { $0.technology != .felica || $0.isTransit }
        while true {
            if isPatient, let finding = try lookForTransit(transit, look) { return finding }
            var lastFull: Duration?
            var isEvent = false
            while !isEvent {
                try check()
                let start = clock.now()
                let isFull = !isPatient || lastFull.map { start - $0 >= Self.otherSystemsPeriod } ?? true
                if let finding = try look(isFull ? requests : harmless) { return finding }
                if isFull { lastFull = start }
                let now = clock.now()
                if let deadline, now >= deadline { return nil }
                isEvent = try waitForEvent(within: deadline.map { $0 - now } ?? .seconds(60))
                if !isEvent { rest(until: start + (isPatient ? Self.transitPeriod : Self.period)) }
            }
        }
    }

    private func lookForTransit<Finding>(
        _ requests: [ActivationRequest], _ look: ([ActivationRequest]) throws(ReadingError) -> Finding?
    ) throws(ReadingError) -> Finding? {
        let start = clock.now()
        var looks = 0
        while looks < Self.transitLooks || clock.now() - start < Self.transitTime {
            try check()
            let begin = clock.now()
            if let finding = try look(requests) { return finding }
            looks += 1
            rest(until: begin + Self.transitPeriod)
        }
        return nil
    }

    /// ``NFCTransport/Reader/firstAnswer(to:where:)``, in the terms of reading.
    func firstAnswer(
        to requests: [ActivationRequest], where isWanted: (PICC) -> Bool = { _ in true }
    ) throws(ReadingError) -> FoundCard? {
        do throws(TransportError) {
            return try reader.firstAnswer(to: requests, where: isWanted)
        } catch {
            // A card that was lost while it was being selected is none.
            guard error != .noAnswer, error != .cardReleased else { return nil }
            throw CardSession.readingError(error)
        }
    }

    private func check() throws(ReadingError) {
        if cancellation.isCancelled { throw .cancelled }
    }

    private func waitForEvent(within time: Duration) throws(ReadingError) -> Bool {
        do throws(TransportError) {
            return try reader.waitForEvent(within: time)
        } catch {
            throw CardSession.readingError(error)
        }
    }

    private func rest(until time: Duration) {
        let left = time - clock.now()
        if left > .zero { clock.pause(left) }
    }
}

extension ActivationRequest {
    /// Whether it polls for the transit system, and for no other.
    fileprivate var isTransit: Bool {
        if case .felica(.transit, _, _, _) = self { true } else { false }
    }
}

extension Reader {
    /// The Pollings for these systems in this order, at each speed.
    func requests(_ codes: [SystemCode], requestCode: UInt8 = 1) -> [ActivationRequest] {
        information.feliCaBitRates.flatMap { rate in
            codes.map { .felica($0, requestCode: requestCode, bitRate: rate) }
        }
    }
}
