// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ReaderCore
internal import Synchronization

/// A phone that emulates a card, as iPhones are reported to do. It has an Express transit card that answers system
/// 0003, and a wallet that opens, and asks its owner to choose a card, on a search for anything else.
///
/// A tap lasts from the moment when the phone detects the field until it has detected none for ``Rules/gracePeriod``.
/// It answers only after some requests, from the Polling that ``Rules/firstAnswer`` gives when one technology is
/// searched for, one request earlier for each more. Once the wallet is open, nothing is answered for the rest of the
/// tap. Each tap has another IDm.
///
/// Sources: kormax, apple-enhanced-contactless-polling (2025-11); bellx2's measurements of system codes. The behavior
/// of a phone when 0003 and other codes are polled for in turn is not documented; this one opens its wallet.
package final class VirtualPhone: VirtualCard {
    /// How long it takes until it answers, and how long it remembers a tap.
    package struct Rules: Hashable, Sendable {
        /// The request, counted from 1, that it answers first when one technology is searched for.
        package var firstAnswer = 4
        /// How long it answers nothing in a tap; 40 to 50 ms are reported for FeliCa, 72 to 100 ms for type A.
        package var startTime = Duration.milliseconds(50)
        /// How long the field may be off in a tap.
        package var gracePeriod = Duration.milliseconds(750)

        package init() {}
    }

    private struct State {
        var looks: [Technology: Int] = [:]
        var hasHeardTransit = false
        var isWalletOpen = false
        /// The technology that it emulates, once it has answered.
        var active: Technology?
        var powerSince: Duration?
        var tapSince = Duration.zero
        var taps = 0
        var walletOpenings = 0
        var random: SplitMix64
    }

    private let rules: Rules
    private let express: VirtualFeliCaCard?
    private let others: [any VirtualCard]
    private let state: Mutex<State>

    /// Creates a phone with these cards in it.
    ///
    /// - Parameters:
    ///   - express: the Express transit card.
    ///   - others: cards of type A and B, which are emulated when nobody has polled for the transit card.
    package init(express: VirtualFeliCaCard?, others: [any VirtualCard] = [], rules: Rules = Rules(), seed: UInt64 = 0)
    {
        self.express = express
        self.others = others
        self.rules = rules
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    /// The number of times its wallet was opened.
    package var walletOpenings: Int { state.withLock(\.walletOpenings) }

    /// The number of times it was held to a reader.
    package var taps: Int { state.withLock(\.taps) }

    /// Returns `nil`: without a field a phone does not answer.
    package func answer(_ frame: RadioFrame) -> CardAnswer? { nil }

    /// Returns the phone's answer to a frame; `nil` when it does not answer.
    package func answer(_ frame: RadioFrame, _ power: CardPower) -> CardAnswer? {
        state.withLock { state in
            feel(power, &state)
            let isCalled = isCall(frame, &state)
            guard !state.isWalletOpen else { return nil }
            let technology = frame.technology.kind
            if isCalled, isReady(technology, power, state) { state.active = technology }
            guard state.active == technology else { return nil }
            guard technology == .felica else { return others.compactMap { $0.answer(frame, power) }.first }
            return express?.answer(frame, power)
        }
    }

    /// Its cards lose their power; the next frame shows whether the tap is over.
    package func losePower() {
        express?.losePower()
        for card in others { card.losePower() }
    }

    /// Returns the command APDU that this frame would complete for one of its cards of type A and B.
    package func apdu(completedBy frame: RadioFrame) -> [UInt8]? {
        others.compactMap { $0.apdu(completedBy: frame) }.first
    }

    /// Changes the next response APDU of its cards of type A and B.
    package func changeNextResponse(_ fault: InjectedFault) {
        for card in others { card.changeNextResponse(fault) }
    }

    /// Begins another tap when the field was off for long enough.
    private func feel(_ power: CardPower, _ state: inout State) {
        guard state.powerSince != power.since else { return }
        let isFirst = state.powerSince == nil
        state.powerSince = power.since
        state.active = nil
        guard isFirst || power.outage.map({ $0 >= rules.gracePeriod }) ?? true else { return }
        state.looks = [:]
        state.hasHeardTransit = false
        state.isWalletOpen = false
        state.tapSince = power.since
        state.taps += 1
        express?.renumber(state.random.next())
    }

    /// Counts a request of a search for cards, and opens the wallet where the request causes that.
    ///
    /// - Returns: whether it addresses a card that the phone may emulate.
    private func isCall(_ frame: RadioFrame, _ state: inout State) -> Bool {
        guard case .felica = frame.technology else {
            guard frame.looksForCards else { return false }
            state.looks[frame.technology.kind, default: 0] += 1
            return !state.hasHeardTransit && state.active == nil
        }
        guard frame.commandCode == 0x00, frame.bytes.count == 6 else { return false }
        state.looks[.felica, default: 0] += 1
        let code = SystemCode(rawValue: UInt16(frame.bytes[2]) << 8 | UInt16(frame.bytes[3]))
        if code == .transit, express != nil {
            state.hasHeardTransit = true
            return true
        }
        let opensWallet: [SystemCode] = [.transit, .commonArea, .any, SystemCode(rawValue: 0x0000)]
        if opensWallet.contains(code), !state.isWalletOpen {
            state.isWalletOpen = true
            state.active = nil
            state.walletOpenings += 1
        }
        return false
    }

    private func isReady(_ technology: Technology, _ power: CardPower, _ state: State) -> Bool {
        let needed = rules.firstAnswer + 1 - state.looks.count
        let start = technology == .felica ? rules.startTime : rules.startTime * 2
        return state.looks[technology, default: 0] >= needed && power.now - state.tapSince >= start
    }
}

extension RadioTechnology {
    /// The kind of card that receives it.
    fileprivate var kind: Technology {
        switch self {
        case .felica: .felica
        case .typeA: .typeA
        case .typeB: .typeB
        }
    }
}
