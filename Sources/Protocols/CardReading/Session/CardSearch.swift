// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
internal import ReaderCore

/// The rounds of a search for a card: which requests are sent when.
///
/// ``ReaderCore/Reader/firstAnswer(to:where:)`` decides which answer wins. This type sets the order, which is designed
/// for phones: an iPhone answers 0003 with its Express transit card, but only from about the fourth Polling, 40 to 50
/// ms after it detected the field, and any other system code opens its wallet, which asks its owner to choose. So if
/// 0003 is wanted first, it is polled for alone until a phone would have answered, at each bit rate in turn, and while
/// nothing is there, other systems are polled for only occasionally (``CardWait``): by a single Polling for any system,
/// directly after one for 0003 that nothing answered, in an idle search after as many as at first. Its answer decides what follows: a card names its system and only
/// the systems that the caller prefers to it are polled for; a phone's chip gets all of the caller's requests. If the
/// caller wants another code first, that order is simply followed.
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

    /// What to do next.
    enum Look {
        /// Send these requests.
        case requests([ActivationRequest])
        /// A card has answered and is selected by what it answered.
        case card(FoundCard)
    }

    private let finder: CardFinder
    private let wait: CardWait
    private let requests: [ActivationRequest]
    /// Whether a card's first system will do if it was not there yet when the transit system was polled for.
    private let takesFirstSystem: Bool
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

    /// Whether the last requests are sent again, after a pause as long as a card needs to start, if nothing answers them.
    var isFollowed: Bool {
        // Those of an idle search follow sooner than a reader may wait then.
        if case .transit(let looks, _) = step { !wait.isIdle && looks < transitLooks } else { false }
    }

    /// The minimum number of Pollings, and the minimum time, for the transit system before any other request.
    ///
    /// An idle search has not polled for it just before, so that four Pollings have to be within the 50 ms that a phone needs to
    /// start.
    private var transitLooks: Int { wait.isIdle ? 6 : 4 }
    private static let transitTime = Duration.milliseconds(75)
    /// So that the last of them is sent when that time is over.
    private var transitPause: Duration { Self.transitTime / (transitLooks - 1) }
    /// The minimum duration of a search: a card may need this long after field-on (FeliCa user's manual, 2.4.1).
    private static let cardStart = Duration.milliseconds(21)

    /// Makes a search.
    ///
    /// - Parameters:
    ///   - requests: the requests, in order of preference.
    ///   - takesFirstSystem: whether the caller reads all systems of a card, so that the one that answers does not matter.
    init(_ requests: [ActivationRequest], _ wait: CardWait, by finder: CardFinder, takesFirstSystem: Bool = false) {
        (self.finder, self.wait, self.requests) = (finder, wait, requests)
        self.takesFirstSystem = takesFirstSystem
        let isTransitFirst = requests.first { $0.technology == .felica }?.isTransit == true
        plan = isTransitFirst ? SearchPlan(requests) : nil
        deadline = wait.deadline
    }

    /// Returns the requests to send next, after the pause before them, or a card; `nil` when the time is over.
    mutating func next() throws(ReadingError) -> Look? {
        switch step {
        case .start: break
        case .transit, .round: awaitCardStart()
        }
        switch step {
        case .start:
            // A reader that reports cards itself is not polled, so what is there already is looked for once.
            isEvent = try waitForEvent(within: .zero)
            guard plan != nil else { return try round() }
            let isFirst = wait.begin()
            return isFirst || isEvent ? try transit(looks: 1, since: clock.now()) : try round()
        case .transit(let looks, let start):
            if looks >= transitLooks, clock.now() - start >= Self.transitTime {
                return try round(afterTransit: true)
            }
            wait.pause(since: last, for: transitPause)
            return try transit(looks: looks + 1, since: start)
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

    private mutating func transit(looks: Int, since start: Duration) throws(ReadingError) -> Look {
        try check()
        step = .transit(looks: looks, since: start)
        last = clock.now()
        return .requests(plan?.transit(look: looks, of: transitLooks) ?? [])
    }

    /// - Parameter afterTransit: whether the transit system has just been polled for.
    private mutating func round(afterTransit: Bool = false) throws(ReadingError) -> Look {
        try check()
        last = clock.now()
        guard let plan else {
            step = .round(isLast: false)
            return .requests(requests)
        }
        let isLast = !wait.isPart && deadline.map { last >= $0 } ?? false
        let isProbe = isEvent || isLast || wait.areOtherSystemsDue(at: last)
        // Too few of an idle search's rounds are within the time of a phone that has just come.
        if isProbe, wait.isIdle, !afterTransit { return try transit(looks: 1, since: last) }
        step = .round(isLast: isLast)
        guard isProbe else { return .requests(wait.isIdle && hasLooked ? plan.frequent : plan.harmless) }
        if let look = try probe(plan, afterTransit: afterTransit) { return look }
        wait.didPollOtherSystems(at: last)
        return .requests(plan.others)
    }

    /// Polls for any system after the transit system.
    ///
    /// - Returns: what the answer leads to: the card, or all requests if only the caller can decide; `nil` if nothing
    ///   answers.
    private func probe(_ plan: SearchPlan, afterTransit: Bool) throws(ReadingError) -> Look? {
        guard let sentinel = plan.probe.last else { return .requests(plan.all) }
        do throws(ReadingError) {
            guard let found = try finder.firstAnswer(to: afterTransit ? [sentinel] : plan.probe, isConfirmed: false)
            else {
                return nil
            }
            guard plan.isFeliCaFirst, found.request == sentinel, let target = found.feliCa,
                !PhoneModel.isPhone(target.pmm)
            else { return .requests(plan.all) }
            if takesFirstSystem { return .card(found) }
            let named = plan.preferred.first { $0.isFor(target.requestData) }
            let preferred = plan.preferred.prefix { $0 != named ?? sentinel }
            let card = FoundCard(picc: found.picc, request: named ?? sentinel)
            return try finder.settle(card, after: Array(preferred)).map { .card($0) }
        } catch {
            guard case .reader(.unsupported) = error else { throw error }
            return .requests(plan.all)
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
    /// Those of an idle search between its full rounds: without type B, which costs most, and the second bit rate.
    let frequent: [ActivationRequest]
    /// The transit system alone, at each bit rate.
    private let transit: [ActivationRequest]
    /// What every FeliCa card answers, with a single Polling for other systems, which is the last; empty if only ``all``
    /// will do.
    let probe: [ActivationRequest]
    /// The requests for FeliCa cards at the bit rate of the probe.
    let preferred: [ActivationRequest]
    /// Whether FeliCa cards are preferred to those of other kinds.
    let isFeliCaFirst: Bool
    /// The requests for types A and B.
    let others: [ActivationRequest]

    init(_ requests: [ActivationRequest]) {
        let first = requests.first(where: \.isTransit)
        all = requests
        harmless = requests.filter { $0.technology != .felica || $0.isTransit }
        frequent = harmless.filter { $0.technology == .typeA || $0 == first }
        transit = harmless.filter(\.isTransit)
        others = requests.filter { $0.technology != .felica }
        isFeliCaFirst = requests.first?.technology == .felica
        let otherSystems = requests.filter { $0.technology == .felica && !$0.isTransit }
        guard !otherSystems.isEmpty else {
            // No other system is wanted.
            (probe, preferred) = (requests.filter(\.isTransit), [])
            return
        }
        // Every card answers at 212 kbit/s.
        let wild = otherSystems.filter(\.isForAnySystem)
        guard let sentinel = wild.first(where: { $0.feliCaBitRate == .kbps212 }) ?? wild.first else {
            (probe, preferred) = ([], [])
            return
        }
        // The transit system comes last before it: what can answer has answered then.
        let isAlike = { (request: ActivationRequest) in request.feliCaBitRate == sentinel.feliCaBitRate }
        let before = requests.filter(\.isTransit)
        probe = before.filter { !isAlike($0) } + before.filter(isAlike) + [sentinel]
        preferred = requests.filter { $0.technology == .felica && isAlike($0) }
    }

    /// Returns the request of the n-th of several looks for the transit system: each bit rate in turn, and at last
    /// 212 kbit/s, which every card answers.
    func transit(look: Int, of looks: Int) -> [ActivationRequest] {
        let slow = transit.first { $0.feliCaBitRate == .kbps212 }
        if look >= looks, let slow { return [slow] }
        return transit.isEmpty ? [] : [transit[(look - 1) % transit.count]]
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

    /// Whether it polls for the system with this code.
    fileprivate func isFor(_ code: UInt16?) -> Bool {
        if case .felica(let system, _, _, _) = self { system.rawValue == code && system != .any } else { false }
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
