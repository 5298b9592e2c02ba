// SPDX-License-Identifier: Apache-2.0

internal import ISODEP
internal import ReaderCore

/// The bit rate at which a card of type A in ISO-DEP is read, and which cards are better left at 106 kbit/s.
struct ISOBitRateState: Hashable, Sendable {
    /// The speeds to raise to before the first block; `nil` if there are none, or it has been sent.
    private(set) var next: CardBitRates.Choice?
    /// The selected card.
    private(set) var target: TypeATarget?
    /// Whether the card is read at more than 106 kbit/s.
    private(set) var isRaised = false
    /// Whether no answer has come since the speed was raised.
    private(set) var isUnproven = false
    /// Whether the chip has refused a speed.
    private var isRefused = false
    /// The ATS of cards that failed at a higher speed.
    private var slow: [[UInt8]] = []

    /// 424 kbit/s, the chip's highest (PN532 product data sheet).
    private static let highest: UInt8 = 2
    /// The number of ATS that are kept.
    private static let most = 8

    /// Records that a card was selected; `nil` for none, or one of another kind.
    mutating func didSelect(_ target: TypeATarget?) {
        (next, isRaised, isUnproven) = (nil, false, false)
        guard let target else { return }
        self.target = target
        guard target.isISODEP, let bytes = target.ats, !isRefused, !slow.contains(bytes) else { return }
        next = AnswerToSelect(bytes)?.bitRates.highest(upTo: Self.highest)
    }

    /// Records that a block was sent, after which the speed cannot be changed.
    mutating func didSendBlock() { next = nil }

    mutating func didRaise() { (next, isRaised, isUnproven) = (nil, true, true) }

    mutating func didAnswer() { (next, isUnproven) = (nil, false) }

    /// Records that cards like this one, or all cards of this chip, are to stay at 106 kbit/s.
    mutating func didFail(isRefusedByChip: Bool = false) {
        (next, isUnproven) = (nil, false)
        isRefused = isRefused || isRefusedByChip
        guard !isRefusedByChip, let bytes = target?.ats, !slow.contains(bytes) else { return }
        slow = slow.suffix(Self.most - 1) + [bytes]
    }
}
