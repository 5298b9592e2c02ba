// SPDX-License-Identifier: Apache-2.0

/// A small generator of pseudorandom numbers that are the same for the same seed (Steele, Lea and Flood 2014).
struct SplitMix64: RandomNumberGenerator, Hashable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

extension SplitMix64 {
    /// The number of one index, without generating the ones before it.
    package static func number(seed: UInt64, index: UInt64) -> UInt64 {
        var generator = SplitMix64(seed: seed &+ index &* 0x9E37_79B9_7F4A_7C15)
        return generator.next()
    }
}
