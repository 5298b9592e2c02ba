// SPDX-License-Identifier: Apache-2.0

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

/// Numbers and bytes that look random and are the same for the same seed.
struct Noise: Sendable {
    private var generator: SplitMix64

    init(seed: Int) {
        generator = SplitMix64(seed: UInt64(truncatingIfNeeded: seed))
    }

    mutating func number(_ range: Range<Int>) -> Int {
        .random(in: range, using: &generator)
    }

    mutating func bytes(_ count: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: count, using: &generator)).map { _ in .random(in: 0...0xFF, using: &generator) }
    }
}
