// SPDX-License-Identifier: Apache-2.0

/// Random numbers that are the same for the same seed (xorshift64*, Vigna 2014), for property tests.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator; the seed 0 counts as 1.
    package init(seed: UInt64) {
        state = max(seed, 1)
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
