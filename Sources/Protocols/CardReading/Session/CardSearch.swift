// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ReaderCore

/// The rounds of a search for a card: which requests are sent when.
///
/// ``ReaderCore/Reader/firstAnswer(to:where:)`` decides which answer wins. This type sets the order, which is designed
/// for phones: an iPhone answers 0003 with its Express transit card, but only from about the fourth Polling, 40 to 50
/// ms after it detected the field, and any other system code opens its wallet, which asks its owner to choose. So if
/// 0003 is wanted first, it is polled for alone until a phone would have answered, and while nothing is there, other
/// systems are polled for only occasionally (``CardWait``): by a single Polling for any system, directly after one
/// for 0003 that nothing answered. The caller's other codes follow once that is answered. If the caller wants another
/// code first, that order is simply followed.
///
/// Source: kormax, apple-enhanced-contactless-polling (2025-11), and bellx2's measurements of system codes; unverified.
struct CardSearch {
    /// Where the search is.
    private enum Step {
        case start
        /// The transit system alone was looked for this often.
        case transit(looks: Int, since: Duration)
        case round(isLast: Bool)
    }

    private let finder: CardFinder
    private let wait: CardWait
    private let requests: [ActivationRequest]
    /// The requests of each round if the transit system comes first.
    private let plan: SearchPlan?
    private var deadline: Duration?
    /// Whether the first requests were sent. A reader may switch its field on for them, and take as long as a card needs.
    private var hasLooked = false
    private var step = Step.start
    /// When the last requests were returned.
    private var last = Duration.zero
    /// Whether the reader has just reported a card by itself.
    private var isEvent = false

    private var clock: SearchClock { wait.clock }

    /// The minimum number of Pollings, and the minimum time, for the transit system before any other request.
    private static let transitLooks = 4
    private static let transitTime = Duration.milliseconds(75)
    /// The minimum duration of a search: a card may need this long after field-on (FeliCa user's manual, 2.4.1).
    private static let cardStart = Duration.milliseconds(21)

    /// Makes a search.
    ///
    /// - Parameter requests: the requests, in order of preference.
    init(_ requests: [ActivationRequest], _ wait: CardWait, by finder: CardFinder) {
        (self.finder, self.wait, self.requests) = (finder, wait, requests)
        let isTransitFirst = requests.first { $0.technology == .felica }?.isTransit == true
        plan = isTransitFirst ? SearchPlan(requests, wait.pace) : nil
        deadline = wait.deadline
    }

    /// Returns the requests to send next, after the pause before them; `nil` when the time is over.
    mutating func next() throws(ReadingError) -> [ActivationRequest]? {
        switch step {
        case .start: break
        case .transit, .round: awaitCardStart()
        }
        switch step {
        case .start:
            guard plan != nil else { return try round() }
            // A reader that reports cards itself is not polled, so what is there already is looked for once.
            isEvent = try waitForEvent(within: .zero)
            let isFirst = wait.begin()
            return isFirst || isEvent ? try transit(looks: 1, since: clock.now()) : try round()
        case .transit(let looks, let start):
            wait.pauseForTransit(since: last)
            let isOver = looks >= Self.transitLooks && clock.now() - start >= Self.transitTime
            return isOver ? try round() : try transit(looks: looks + 1, since: start)
        case .round(isLast: true): return nil
        case .round(isLast: false):
            let rest = try rest()
            isEvent = rest == .event
            if rest == .over, plan == nil || wait.isPart { return nil }
            return isEvent && plan != nil ? try transit(looks: 1, since: clock.now()) : try round()
        }
    }

    /// Leaves a card its time to start after the first requests.
    private mutating func awaitCardStart() {
        guard !hasLooked else { return }
        hasLooked = true
        deadline = deadline.map { max($0, clock.now() + Self.cardStart) }
    }

    private mutating func transit(looks: Int, since start: Duration) throws(ReadingError) -> [ActivationRequest] {
        try check()
        step = .transit(looks: looks, since: start)
        last = clock.now()
        return plan?.transit ?? []
    }

    private mutating func round() throws(ReadingError) -> [ActivationRequest] {
        try check()
        last = clock.now()
        guard let plan else {
            step = .round(isLast: false)
            return requests
        }
        let isLast = !wait.isPart && deadline.map { last >= $0 } ?? false
        step = .round(isLast: isLast)
        guard isEvent || isLast || wait.areOtherSystemsDue(at: last) else { return plan.harmless }
        if try isAnswered(plan.probe) { return plan.all }
        wait.didPollOtherSystems(at: last)
        return plan.others
    }

    /// Whether something answers one of these requests, or only the caller can decide.
    private func isAnswered(_ requests: [ActivationRequest]) throws(ReadingError) -> Bool {
        guard !requests.isEmpty else { return true }
        do throws(ReadingError) {
            return try finder.firstAnswer(to: requests) != nil
        } catch {
            guard case .reader(.unsupported) = error else { throw error }
            return true
        }
    }

    private func check() throws(ReadingError) {
        if finder.cancellation.isCancelled { throw .cancelled }
    }

    private func waitForEvent(within time: Duration) throws(ReadingError) -> Bool {
        do throws(TransportError) {
            return try finder.reader.waitForEvent(within: time)
        } catch {
            throw CardSession.readingError(error)
        }
    }

    /// The result of a pause.
    private enum Rest {
        case waited, event, over
    }

    /// Waits between two rounds, or until the reader reports an event.
    private func rest() throws(ReadingError) -> Rest {
        let now = clock.now()
        if let deadline, now >= deadline { return .over }
        if try waitForEvent(within: deadline.map { $0 - now } ?? .seconds(60)) { return .event }
        wait.pause(since: last, isTransitFirst: plan != nil)
        return .waited
    }
}

/// The requests of a search that begins with the transit system.
private struct SearchPlan {
    /// All requests, in the caller's order.
    let all: [ActivationRequest]
    /// The transit system, and types A and B: no phone opens its wallet on these.
    let harmless: [ActivationRequest]
    /// The transit system alone.
    let transit: [ActivationRequest]
    /// What every FeliCa card answers, with a single Polling for other systems; empty if only ``all`` will do.
    let probe: [ActivationRequest]
    /// The requests for types A and B.
    let others: [ActivationRequest]

    /// - Parameter pace: an idle search leaves type B, which costs most, and the second bit rate to the full rounds.
    init(_ requests: [ActivationRequest], _ pace: CardWait.Pace) {
        let isEager = pace == .attentive
        let first = requests.first(where: \.isTransit)
        all = requests
        harmless = requests.filter {
            switch $0.technology {
            case .felica: $0.isTransit && (isEager || $0 == first)
            case .typeA: true
            case .typeB: isEager
            }
        }
        transit = harmless.filter(\.isTransit)
        others = requests.filter { $0.technology != .felica }
        let otherSystems = requests.filter { $0.technology == .felica && !$0.isTransit }
        guard !otherSystems.isEmpty else {
            // No other system is wanted.
            probe = requests.filter(\.isTransit)
            return
        }
        // Every card answers at 212 kbit/s.
        let wild = otherSystems.filter(\.isForAnySystem)
        guard let sentinel = wild.first(where: { $0.feliCaBitRate == .kbps212 }) ?? wild.first else {
            probe = []
            return
        }
        // The transit system comes last before it: what can answer has answered then.
        let isAlike = { (request: ActivationRequest) in request.feliCaBitRate == sentinel.feliCaBitRate }
        let before = requests.filter(\.isTransit)
        probe = before.filter { !isAlike($0) } + before.filter(isAlike) + [sentinel]
    }
}

extension ActivationRequest {
    /// Whether it polls for the transit system and no other.
    fileprivate var isTransit: Bool {
        if case .felica(.transit, _, _, _) = self { true } else { false }
    }

    /// Whether any FeliCa card answers it.
    fileprivate var isForAnySystem: Bool {
        if case .felica(.any, _, _, _) = self { true } else { false }
    }

    fileprivate var feliCaBitRate: FeliCaBitRate? {
        if case .felica(_, _, _, let rate) = self { rate } else { nil }
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
