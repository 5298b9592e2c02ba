// SPDX-License-Identifier: Apache-2.0

/// How long a PN53x waits for a card's answer: RFConfiguration item 2, code n for 0.1 · 2^(n−1) ms.
///
/// The code is sent unchanged. libnfc's own property takes milliseconds and rounds them down, so that 51 would be 25.6
/// ms; here a time is rounded up. Code 0, no time-out at all, cannot be represented.
struct ChipTimeout: Hashable, Comparable, Sendable {
    /// 1 to 16.
    let code: UInt8

    /// 51.2 ms, the value that libnfc sets and the chip starts with.
    static let initial = ChipTimeout(code: 10)
    /// 3276.8 ms, the chip's longest.
    static let longest = ChipTimeout(code: 16)

    private init(code: UInt8) {
        self.code = code
    }

    /// Returns the shortest step that is at least `time`; the longest one when there is none.
    init(atLeast time: Duration) {
        code = (1...16).first { ChipTimeout(code: $0).duration >= time } ?? Self.longest.code
    }

    /// How long the chip waits.
    var duration: Duration { .microseconds(100 << (Int(code) - 1)) }

    static func < (left: ChipTimeout, right: ChipTimeout) -> Bool { left.code < right.code }

    /// The number of steps from the other one up to this one; negative when it is below.
    func steps(above other: ChipTimeout) -> Int { Int(code) - Int(other.code) }
}

/// Decides when changing the chip's time-out is worth a host command (2 to 3 ms at 115200 baud).
///
/// It must be raised before an exchange that may take longer. It need never be lowered for a card that answers; a card
/// that does not answer costs the whole time-out. So it is lowered only after a missing answer has cost more than
/// necessary, by two steps or more, and never below the start value, where a command saves too little. A run of reads
/// thus costs one command at most.
struct ChipTimeoutPolicy: Sendable {
    /// The chip's current setting, `nil` when that is not known.
    private(set) var current: ChipTimeout?
    private var silenceWasOverpaid = false

    /// - Parameter current: the chip's current setting, `nil` when that is not known.
    init(current: ChipTimeout? = .initial) {
        self.current = current
    }

    /// Returns the value to set before an exchange that may take a card this long; `nil` when the current one will do.
    ///
    /// - Parameter asksForPresence: whether a card that is gone is a likely reason for no answer.
    func change(for time: Duration, asksForPresence: Bool = false) -> ChipTimeout? {
        let wanted = max(ChipTimeout(atLeast: time), .initial)
        guard let current else { return wanted }
        if wanted > current { return wanted }
        return (silenceWasOverpaid || asksForPresence) && current.steps(above: wanted) >= 2 ? wanted : nil
    }

    /// Records that the chip was set.
    mutating func didSet(_ timeout: ChipTimeout) {
        current = timeout
    }

    /// Records that a card did not answer an exchange for which it might have taken this long.
    mutating func didMeetSilence(within time: Duration) {
        guard let current else { return }
        if current.steps(above: max(ChipTimeout(atLeast: time), .initial)) >= 2 { silenceWasOverpaid = true }
    }

    /// Forgets the setting, because the chip may have been reset: it must be set again before it is relied upon.
    mutating func forget() {
        current = nil
    }
}
