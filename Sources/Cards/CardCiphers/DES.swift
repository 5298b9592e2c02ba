// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The sixteen round keys of a DES key, overwritten when the last reference is released.
///
/// Source: FIPS 46-3. Single DES is broken; it is here as a building block of Triple DES, and for FeliCa Standard, whose
/// cards have no other cipher until their AES generation. It prints, reflects and dumps as `Redacted`.
///
/// Nothing changes it between `init` and `deinit`.
package final class DESKey: SecretValue, @unchecked Sendable {
    /// The round keys, 48 bits each.
    private var rounds = [UInt64](repeating: 0, count: 16)

    /// Expands a 64-bit key, big-endian; the parity bits (the lowest of each byte) are ignored.
    package init(_ key: UInt64) {
        let bits = DESTables.keyBits.bits(of: key)
        var (left, right) = (bits &>> 28, bits & 0x0FFF_FFFF)
        var round = 0
        while round < 16 {
            left = DESKey.turn(left, DESTables.turns[round])
            right = DESKey.turn(right, DESTables.turns[round])
            rounds[round] = DESTables.roundKeyBits.bits(of: left &<< 28 | right)
            round += 1
        }
    }

    deinit {
        unsafe rounds.withUnsafeMutableBytes { unsafe Platform.wipe($0) }
    }

    /// Encrypts one block, big-endian.
    package func encrypt(_ block: UInt64) -> UInt64 { DESKey.whole(encryptHalves(DESKey.halves(of: block))) }

    /// Decrypts one block, big-endian.
    package func decrypt(_ block: UInt64) -> UInt64 { DESKey.whole(decryptHalves(DESKey.halves(of: block))) }

    /// The two halves between the first and the last permutation. Several encryptions in a row need these only once, since
    /// each is the inverse of the other.
    typealias Halves = (left: UInt32, right: UInt32)

    static func halves(of block: UInt64) -> Halves {
        let start = DESTables.initial.bits(of: block)
        return (UInt32(truncatingIfNeeded: start &>> 32), UInt32(truncatingIfNeeded: start))
    }

    static func whole(_ halves: Halves) -> UInt64 {
        DESTables.final.bits(of: UInt64(halves.left) &<< 32 | UInt64(halves.right))
    }

    func encryptHalves(_ halves: Halves) -> Halves { run(halves, from: 0, by: 1) }

    func decryptHalves(_ halves: Halves) -> Halves { run(halves, from: 15, by: -1) }

    private func run(_ halves: Halves, from first: Int, by step: Int) -> Halves {
        var (left, right) = halves
        var round = first
        while round >= 0, round < 16 {
            (left, right) = (right, left ^ DESKey.scramble(right, rounds[round]))
            round += step
        }
        return (right, left)
    }

    /// The function f of half a block and a round key.
    private static func scramble(_ half: UInt32, _ key: UInt64) -> UInt32 {
        var result: UInt32 = 0
        var box = 0
        while box < 8 {
            // E: four bits and their neighbors.
            let turn = UInt32(truncatingIfNeeded: 4 * box + 31) & 31
            let bits = (half &<< turn | half &>> (32 &- turn)) &>> 26
            let six = UInt64(bits) ^ key &>> UInt64(42 - 6 * box) & 0x3F
            result ^= DESTables.mixedBoxes[box &<< 6 | Int(six)]
            box += 1
        }
        return result
    }

    /// Rotates half a key left.
    private static func turn(_ half: UInt64, _ count: UInt64) -> UInt64 {
        (half &<< count | half &>> (28 &- count)) & 0x0FFF_FFFF
    }
}

/// A choice of bits of a number, in an order: for each value of each byte, the bits that it gives.
///
/// Eight lookups instead of one step a bit: a card with keys costs a simulated test thousands of blocks.
struct BitChoice: Sendable {
    /// 256 numbers a byte, the lowest byte first.
    private var parts = [UInt64](repeating: 0, count: 8 * 256)

    /// Takes the bits at these places of a number of this width, the first place as the highest bit. Places count from 1, the most
    /// significant bit, as in FIPS 46-3.
    init(_ places: [UInt64], width: UInt64) {
        for (index, place) in places.enumerated() {
            let bit = Int(width - place)
            parts[bit / 8 * 256 + 1 << (bit % 8)] |= 1 << UInt64(places.count - 1 - index)
        }
        var index = 0
        while index < parts.count {
            let value = index & 0xFF
            // All bits but the lowest, and the lowest.
            let rest = value & (value &- 1)
            if rest != 0 { parts[index] = parts[index - value + rest] | parts[index - rest] }
            index += 1
        }
    }

    func bits(of value: UInt64) -> UInt64 {
        var (chosen, left, table): (UInt64, UInt64, Int) = (0, value, 0)
        while table < 8 * 256 {
            chosen |= parts[table | Int(truncatingIfNeeded: left & 0xFF)]
            left &>>= 8
            table &+= 256
        }
        return chosen
    }
}

/// The tables of DES. Bits are numbered from 1, the most significant one, as in FIPS 46-3, their source.
enum DESTables {
    /// IP: a block before the first round.
    static let initial = BitChoice(
        [
            58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4,
            62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8,
            57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3,
            61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7,
        ], width: 64)

    /// IP⁻¹: a block after the last round.
    static let final = BitChoice(
        [
            40, 8, 48, 16, 56, 24, 64, 32, 39, 7, 47, 15, 55, 23, 63, 31,
            38, 6, 46, 14, 54, 22, 62, 30, 37, 5, 45, 13, 53, 21, 61, 29,
            36, 4, 44, 12, 52, 20, 60, 28, 35, 3, 43, 11, 51, 19, 59, 27,
            34, 2, 42, 10, 50, 18, 58, 26, 33, 1, 41, 9, 49, 17, 57, 25,
        ], width: 64)

    /// P: half a block after the S-boxes.
    static let mixing = BitChoice(
        [
            16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10,
            2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25,
        ], width: 32)

    /// PC-1: the 56 bits of a key without parity.
    static let keyBits = BitChoice(
        [
            57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18,
            10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
            63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22,
            14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
        ], width: 64)

    /// PC-2: the 48 bits of a round key.
    static let roundKeyBits = BitChoice(
        [
            14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10,
            23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2,
            41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48,
            44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
        ], width: 56)

    /// The number of bits by which both key halves rotate left before each round.
    static let turns: [UInt64] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1]

    /// S1 to S8: four rows of sixteen nibbles each, the first nibble the most significant.
    static let boxes: [UInt64] = [
        0xE4D1_2FB8_3A6C_5907, 0x0F74_E2D1_A6CB_9538, 0x41E8_D62B_FC97_3A50, 0xFC82_4917_5B3E_A06D,
        0xF18E_6B34_972D_C05A, 0x3D47_F28E_C01A_69B5, 0x0E7B_A4D1_58C6_932F, 0xD8A1_3F42_B67C_05E9,
        0xA09E_63F5_1DC7_B428, 0xD709_346A_285E_CBF1, 0xD649_8F30_B12C_5AE7, 0x1AD0_6987_4FE3_B52C,
        0x7DE3_069A_1285_BC4F, 0xD8B5_6F03_472C_1AE9, 0xA690_CB7D_F13E_5284, 0x3F06_A1D8_945B_C72E,
        0x2C41_7AB6_853F_D0E9, 0xEB2C_47D1_50FA_3986, 0x421B_AD78_F9C5_630E, 0xB8C7_1E2D_6F09_A453,
        0xC1AF_9268_0D34_E75B, 0xAF42_7C95_61DE_0B38, 0x9EF5_28C3_704A_1DB6, 0x432C_95FA_BE17_608D,
        0x4B2E_F08D_3C97_5A61, 0xD0B7_491A_E35C_2F86, 0x14BD_C37E_AF68_0592, 0x6BD8_14A7_950F_E23C,
        0xD284_6FB1_A93E_50C7, 0x1FD8_A374_C56B_0E92, 0x7B41_9CE2_06AD_F358, 0x21E7_4A8D_FC90_356B,
    ]

    /// P of what each box makes of each six bits: 64 numbers a box.
    static let mixedBoxes: [UInt32] = (0..<512).map { index in
        let (box, six) = (index >> 6, UInt64(index & 0x3F))
        // The outer two bits select the row, the inner four the column.
        let row = Int(six >> 4 & 0b10 | six & 0b01)
        let nibble = boxes[4 * box + row] >> (60 - 4 * (six >> 1 & 0x0F)) & 0x0F
        return UInt32(truncatingIfNeeded: mixing.bits(of: nibble << UInt64(28 - 4 * box)))
    }
}

/// A Triple DES key of two keys (keying option 2: encrypt with K1, decrypt with K2, encrypt with K1) or of three (keying
/// option 1: K3 in place of the second K1).
///
/// For cards that support nothing newer (MIFARE Ultralight C, FeliCa Lite): its 112 bits are not for new designs. The key material is
/// overwritten when the last reference is released, and the key prints, reflects and dumps as `Redacted`.
///
/// Sources: FIPS 46-3, NIST SP 800-67; mode: ISO/IEC 10116.
package final class TripleDESKey: SecretValue, Sendable {
    private let first: DESKey
    private let second: DESKey
    private let third: DESKey

    /// The length of a key in bytes.
    package static let length = 16

    /// Creates a key from sixteen bytes, K1 before K2; the parity bits (the lowest of each byte) are ignored.
    ///
    /// - Throws: ``CipherError/keyLength(expected:given:)``.
    package init(_ key: SecretBytes) throws(CipherError) {
        guard key.count == TripleDESKey.length else {
            throw .keyLength(expected: TripleDESKey.length, given: key.count)
        }
        (first, second) = unsafe key.withUnsafeBytes { bytes in
            unsafe (DESKey(UInt64(block: bytes.prefix(8))), DESKey(UInt64(block: bytes.suffix(8))))
        }
        third = first
    }

    /// The length of a key of three keys in bytes.
    package static let longLength = 24

    /// Creates a key from twenty-four bytes, K1, K2 and K3; the parity bits are ignored.
    ///
    /// - Throws: ``CipherError/keyLength(expected:given:)``.
    package init(long key: SecretBytes) throws(CipherError) {
        guard key.count == TripleDESKey.longLength else {
            throw .keyLength(expected: TripleDESKey.longLength, given: key.count)
        }
        (first, second, third) = unsafe key.withUnsafeBytes { bytes in
            unsafe (
                DESKey(UInt64(block: bytes.prefix(8))), DESKey(UInt64(block: bytes.dropFirst(8).prefix(8))),
                DESKey(UInt64(block: bytes.suffix(8)))
            )
        }
    }

    /// Encrypts blocks of eight bytes in CBC mode.
    ///
    /// - Parameters:
    ///   - data: a multiple of eight bytes.
    ///   - start: the starting value, big-endian: the last encrypted block, or 0.
    /// - Throws: ``CipherError/dataLength(_:)``.
    package func encrypt(_ data: some Collection<UInt8>, after start: UInt64 = 0) throws(CipherError) -> [UInt8] {
        var last = start
        return try TripleDESKey.blocks(data).flatMap { block in
            let halves = second.decryptHalves(first.encryptHalves(DESKey.halves(of: block ^ last)))
            last = DESKey.whole(third.encryptHalves(halves))
            return last.block
        }
    }

    /// Decrypts blocks of eight bytes in CBC mode.
    ///
    /// - Parameters:
    ///   - data: a multiple of eight bytes.
    ///   - start: the starting value used for encryption, big-endian.
    /// - Throws: ``CipherError/dataLength(_:)``.
    package func decrypt(_ data: some Collection<UInt8>, after start: UInt64 = 0) throws(CipherError) -> [UInt8] {
        var last = start
        return try TripleDESKey.blocks(data).flatMap { block in
            defer { last = block }
            let halves = second.encryptHalves(third.decryptHalves(DESKey.halves(of: block)))
            return (DESKey.whole(first.decryptHalves(halves)) ^ last).block
        }
    }

    /// Returns the retail MAC of whole blocks, eight bytes: DES in CBC mode with K1, and after the last block D(K2) and E(K1).
    ///
    /// Source: ISO/IEC 9797-1, algorithm 3; padding is the caller's.
    package func retailMAC(_ data: some Collection<UInt8>) throws(CipherError) -> [UInt8] {
        var last: UInt64 = 0
        for block in try TripleDESKey.blocks(data) {
            last = DESKey.whole(first.encryptHalves(DESKey.halves(of: block ^ last)))
        }
        return DESKey.whole(first.encryptHalves(second.decryptHalves(DESKey.halves(of: last)))).block
    }

    private static func blocks(_ data: some Collection<UInt8>) throws(CipherError) -> [UInt64] {
        guard data.count.isMultiple(of: 8) else { throw .dataLength(data.count) }
        return stride(from: 0, to: data.count, by: 8).map { UInt64(block: data.dropFirst($0).prefix(8)) }
    }
}

/// Blocks of eight bytes as numbers, big-endian.
extension UInt64 {
    /// Creates a number from these bytes; only the last eight are used.
    package init(block bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The eight bytes.
    package var block: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) } }
}

/// Why data cannot be encrypted or decrypted.
@nonexhaustive
package enum CipherError: Error, Hashable, Sendable {
    /// The key has the wrong number of bytes.
    case keyLength(expected: Int, given: Int)
    /// The length of the data is not a multiple of eight bytes.
    case dataLength(Int)
}
