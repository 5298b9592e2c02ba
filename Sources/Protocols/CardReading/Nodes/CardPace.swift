// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
internal import ReaderCore

/// How long a card and its reader take besides the time on air, measured from the card's first answers.
///
/// The PMm only gives limits. An answer to a Polling comes in its time slot, so what it took besides is the reader's and the
/// line's; the rest of another exchange is the card's. Of several measurements the shortest counts, since the machine only adds
/// to them.
struct CardPace: Hashable, Sendable {
    /// What an answered Polling takes besides air and time slot; `nil` before one was measured.
    private(set) var overhead: Duration?
    /// The least that the commands of each kind took besides the time on air and the line's for their bytes, per tenth of the
    /// card's limit.
    private var least: [ResponseTime.CommandClass: Sample] = [:]

    private struct Sample: Hashable {
        /// Besides the time on air and of the line's bytes.
        var rest: Duration
        /// A tenth of the card's limit.
        var share: Duration
        var count = 1
    }

    /// How many exchanges of constant work are measured before they count: the first one may include a change of the line's speed.
    private static let needed = 2
    /// The limits of a card's own time, as multiples of a tenth of its limit.
    private static let range = 0.05...20

    /// Adds an answered Polling.
    mutating func didPoll(_ answer: Int, took time: Duration, at bitRate: FeliCaBitRate) {
        let model = ExchangeTime.polling(slots: 0, at: bitRate, answer: answer)
        overhead = min(overhead ?? .seconds(1), max(.zero, time - model))
    }

    /// Adds an answered command.
    mutating func didAnswer(
        _ packet: [UInt8], _ answer: Int, took time: Duration, pmm: PMm, at bitRate: FeliCaBitRate
    ) {
        guard let kind = ExchangeTime.commandClass(of: packet) else { return }
        let bytes = packet.count + answer
        let air = ExchangeTime.airByte(bitRate) * (bytes + 2 * ExchangeTime.frame)
        let new = Sample(
            rest: max(.zero, time - air - ExchangeTime.line(bytes)),
            share: ExchangeTime.limit(of: packet, ResponseTime(pmm)) / ExchangeTime.cardShare)
        guard let old = least[kind] else {
            least[kind] = new
            return
        }
        var better = new.rest - new.share < old.rest - old.share ? new : old
        better.count = old.count + 1
        least[kind] = better
    }

    /// The card's own time for commands of this kind, as a multiple of a tenth of its limit; 1 if nothing was measured.
    func factor(of kind: ResponseTime.CommandClass) -> Double {
        if let own = measured(kind) { return own }
        // A card that is slow at one thing is expected to be slow at others.
        return measured(.fixed) ?? 1
    }

    private func measured(_ kind: ResponseTime.CommandClass) -> Double? {
        guard let sample = least[kind], sample.count >= (kind == .fixed ? Self.needed : 1), sample.share > .zero else {
            return nil
        }
        let own = max(.zero, sample.rest - (overhead ?? ExchangeTime.usualOverhead))
        return min(max(own / sample.share, Self.range.lowerBound), Self.range.upperBound)
    }
}
