// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import Glibc
internal import NFCTransport

/// The clock of a search, and how it sleeps; tests supply their own.
package struct SearchClock: Sendable {
    package let now: @Sendable () -> Duration
    package let pause: @Sendable (Duration) -> Void

    package init(now: @escaping @Sendable () -> Duration, pause: @escaping @Sendable (Duration) -> Void) {
        self.now = now
        self.pause = pause
    }

    /// The system clock.
    package static let system: SearchClock = {
        let start = ContinuousClock.now
        return SearchClock(now: { ContinuousClock.now - start }) { time in
            var pause = timespec(
                tv_sec: Int(time.components.seconds), tv_nsec: Int(time.components.attoseconds / 1_000_000_000))
            unsafe nanosleep(&pause, nil)
        }
    }()
}

/// How often a search looks for a card.
package enum SearchPace: Sendable {
    /// As often as phones need: somebody is about to put a card down.
    case attentive
    /// A few times a second, with fewer requests each time: there has been no card for a while.
    case idle
}

/// Looks for a card until one is there; decides which request is sent when, for all finders.
///
/// ``NFCTransport/Reader/firstAnswer(to:where:)`` decides which answer wins. This type sets the pace, which is designed
/// for phones: an iPhone answers 0003 with its Express transit card, but only from about the fourth Polling, 40 to 50
/// ms after it detected the field, and any other system code opens its wallet, which asks its owner to choose. So if
/// 0003 is wanted first, it is polled for alone until a phone would have answered, and while nothing is there, other
/// codes follow only occasionally. If the caller wants another code first, that order is simply followed.
///
/// Source: kormax, apple-enhanced-contactless-polling (2025-11), and bellx2's measurements of system codes; unverified.
struct CardSearch {
    let reader: any Reader
    let cancellation: CancellationToken
    let clock: SearchClock
    let pace: SearchPace

    /// The minimum number of Pollings, and the minimum time, for the transit system before any other request.
    private static let transitLooks = 4
    private static let transitTime = Duration.milliseconds(75)
    /// The minimum duration of a search: a card may need this long after field-on (FeliCa user's manual, 2.4.1).
    private static let cardStart = Duration.milliseconds(21)
    /// The minimum time between two looks for the transit system.
    private static let transitPeriod = Duration.milliseconds(15)
    /// The time between two Pollings for other systems while nothing is there.
    private static let otherSystemsPeriod = Duration.milliseconds(500)
    /// The same for an idle search.
    private static let idleOtherSystemsPeriod = Duration.milliseconds(750)
    /// The minimum time between two rounds: others share the bus and the processor.
    private static let period = Duration.milliseconds(40)
    /// The same for an idle search; four looks take less than the 750 ms for which a phone remembers the field.
    private static let idlePeriod = Duration.milliseconds(150)

    /// Looks until `look` finds something.
    ///
    /// - Parameters:
    ///   - requests: the requests, in order of preference.
    ///   - timeout: how long to continue; zero for one round, `nil` for no limit.
    ///   - look: looks once, with some or all of the requests.
    /// - Returns: `nil` if nothing was found in time.
    func find<Finding>(
        _ requests: [ActivationRequest], within timeout: Duration?,
        _ look: ([ActivationRequest]) throws(ReadingError) -> Finding?
    ) throws(ReadingError) -> Finding? {
        let deadline = timeout.map { clock.now() + max($0, Self.cardStart) }
        let isPatient = requests.first { $0.technology == .felica }?.isTransit == true
        let isEager = pace == .attentive
        let fullPeriod = isEager ? Self.otherSystemsPeriod : Self.idleOtherSystemsPeriod
        let first = requests.first(where: \.isTransit)
        // An idle search leaves type B, which costs most, and the second bit rate to the full rounds.
        let harmless = requests.filter {
            switch $0.technology {
            case .felica: $0.isTransit && (isEager || $0 == first)
            case .typeA: true
            case .typeB: isEager
            }
        }
        let transit = isPatient ? harmless.filter(\.isTransit) : []
        while true {
            if isPatient, let finding = try lookForTransit(transit, look) { return finding }
            var lastFull: Duration?
            var isEvent = false
            while !isEvent {
                try check()
                let start = clock.now()
                let isFull = !isPatient || lastFull.map { start - $0 >= fullPeriod } ?? true
                if let finding = try look(isFull ? requests : harmless) { return finding }
                if isFull { lastFull = start }
                let now = clock.now()
                if let deadline, now >= deadline { return nil }
                isEvent = try waitForEvent(within: deadline.map { $0 - now } ?? .seconds(60))
                if !isEvent { rest(until: start + period(isPatient)) }
            }
        }
    }

    private func period(_ isPatient: Bool) -> Duration {
        switch pace {
        case .attentive: isPatient ? Self.transitPeriod : Self.period
        case .idle: Self.idlePeriod
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

    /// Calls ``NFCTransport/Reader/firstAnswer(to:where:)`` and converts its errors.
    func firstAnswer(
        to requests: [ActivationRequest], where isWanted: (PICC) -> Bool = { _ in true }
    ) throws(ReadingError) -> FoundCard? {
        do throws(TransportError) {
            return try reader.firstAnswer(to: requests, where: isWanted)
        } catch {
            // A card that was lost while being selected does not count.
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
    /// Whether it polls for the transit system and no other.
    fileprivate var isTransit: Bool {
        if case .felica(.transit, _, _, _) = self { true } else { false }
    }
}

extension Reader {
    /// Returns the Pollings for these systems in this order, at each bit rate.
    func requests(_ codes: [SystemCode], requestCode: UInt8 = 1) -> [ActivationRequest] {
        information.feliCaBitRates.flatMap { rate in
            codes.map { .felica($0, requestCode: requestCode, bitRate: rate) }
        }
    }
}
