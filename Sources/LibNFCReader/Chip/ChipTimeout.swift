// SPDX-License-Identifier: Apache-2.0

/// How long a PN53x waits for a card's answer: RFConfiguration item 2, code n for 0.1 · 2^(n−1) ms.
///
/// The code is sent as it is. libnfc's own property takes milliseconds and rounds them down, so that 51 would be
/// 25.6 ms; here a time is rounded up. Code 0, no time-out at all, cannot be made.
struct ChipTimeout: Hashable, Comparable, Sendable {
    /// 1 to 16.
    let code: UInt8

    /// 51.2 ms, what libnfc sets and the chip starts with.
    static let initial = ChipTimeout(code: 10)
    /// 3276.8 ms, the chip's longest.
    static let longest = ChipTimeout(code: 16)

    private init(code: UInt8) {
        self.code = code
    }

    /// The shortest step that is at least `time`; the longest one when there is none.
    init(atLeast time: Duration) {
        code = (1...16).first { ChipTimeout(code: $0).duration >= time } ?? Self.longest.code
    }

    /// How long the chip waits.
    var duration: Duration { .microseconds(100 << (Int(code) - 1)) }

    static func < (left: ChipTimeout, right: ChipTimeout) -> Bool { left.code < right.code }

    /// How many steps this one is above another; negative when it is below.
    func steps(above other: ChipTimeout) -> Int { Int(code) - Int(other.code) }
}
