// SPDX-License-Identifier: Apache-2.0

/// Decides when the chip's time-out is worth a host command (2 to 3 ms at 115200 baud).
///
/// It must be raised before an exchange that may take longer. It need never be lowered for a card that answers; a
/// card that keeps silent costs the whole time-out. So it is lowered only after such a silence has cost more than it
/// had to, by two steps or more, and never below the start value, where a command saves too little. A run of reads
/// thus costs one command at most.
struct ChipTimeoutPolicy: Sendable {
    /// What the chip is set to, `nil` when that is not known.
    private(set) var current: ChipTimeout?
    private var silenceWasOverpaid = false

    /// Begins with a chip as libnfc leaves it.
    init() {
        current = .initial
    }

    /// What to set before an exchange for which a card may take this long; `nil` when the chip is set well enough.
    func change(for time: Duration) -> ChipTimeout? {
        let wanted = max(ChipTimeout(atLeast: time), .initial)
        guard let current else { return wanted }
        if wanted > current { return wanted }
        return silenceWasOverpaid && current.steps(above: wanted) >= 2 ? wanted : nil
    }

    /// The chip was set.
    mutating func didSet(_ timeout: ChipTimeout) {
        current = timeout
    }

    /// A card kept silent for an exchange for which it might have taken this long.
    mutating func didMeetSilence(within time: Duration) {
        guard let current else { return }
        if current.steps(above: max(ChipTimeout(atLeast: time), .initial)) >= 2 { silenceWasOverpaid = true }
    }

    /// The chip may have been reset: it must be set again before it is relied upon.
    mutating func forget() {
        current = nil
    }
}
