// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One key of DES, ready for use: the keys of its sixteen rounds, overwritten when nobody holds them any more.
///
/// Source: FIPS 46-3. DES alone is broken; it is here as the part that Triple DES and the retail MAC are made of.
final class DESKey {
    /// The keys of the rounds, 48 bits each.
    private var rounds = InlineArray<16, UInt64>(repeating: 0)

    /// A key of 64 bits, big-endian; the parity bits (the lowest of each byte) are not looked at.
    init(_ key: UInt64) {
        let bits = DESKey.pick(DESTables.keyBits, of: key, width: 64)
        var (left, right) = (bits >> 28, bits & 0x0FFF_FFFF)
        for (round, turn) in zip(rounds.indices, DESTables.turns) {
            left = DESKey.turn(left, turn)
            right = DESKey.turn(right, turn)
            rounds[round] = DESKey.pick(DESTables.roundKeyBits, of: left << 28 | right, width: 56)
        }
    }

    deinit {
        unsafe withUnsafeMutableBytes(of: &rounds) { bytes in
            if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
        }
    }

    /// Enciphers one block, big-endian.
    func encrypt(_ block: UInt64) -> UInt64 { run(block, rounds.indices) }

    /// Deciphers one block, big-endian.
    func decrypt(_ block: UInt64) -> UInt64 { run(block, rounds.indices.reversed()) }

    private func run(_ block: UInt64, _ order: some Sequence<Int>) -> UInt64 {
        let start = DESKey.pick(DESTables.initial, of: block, width: 64)
        var (left, right) = (start >> 32, start & 0xFFFF_FFFF)
        for round in order { (left, right) = (right, left ^ DESKey.scramble(right, rounds[round])) }
        return DESKey.pick(DESTables.final, of: right << 32 | left, width: 64)
    }

    /// f: half a block and the key of a round.
    private static func scramble(_ half: UInt64, _ key: UInt64) -> UInt64 {
        let mixed = pick(DESTables.expansion, of: half, width: 32) ^ key
        var nibbles: UInt64 = 0
        for box in 0..<8 {
            let six = mixed >> UInt64(42 - 6 * box)
            // The outer two bits choose the row, the inner four the place in it.
            let row = Int(six >> 4 & 0b10 | six & 0b01)
            nibbles = nibbles << 4 | DESTables.boxes[4 * box + row] >> (60 - 4 * (six >> 1 & 0x0F)) & 0x0F
        }
        return pick(DESTables.mixing, of: nibbles, width: 32)
    }

    /// The bits that a table names, in its order, of a number of so many bits.
    private static func pick(_ places: [UInt64], of value: UInt64, width: UInt64) -> UInt64 {
        places.reduce(0) { $0 << 1 | value >> (width - $1) & 1 }
    }

    /// Half a key turned to the left.
    private static func turn(_ half: UInt64, _ count: UInt64) -> UInt64 {
        (half << count | half >> (28 - count)) & 0x0FFF_FFFF
    }
}
