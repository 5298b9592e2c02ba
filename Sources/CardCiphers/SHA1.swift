// SPDX-License-Identifier: Apache-2.0

/// SHA-1 (FIPS 180-4 §6.1), used for key derivation in ICAO 9303. Collisions are known: never rely on it for trust.
package enum SHA1 {
    /// The digest, twenty bytes.
    package static func digest(of data: some Collection<UInt8>) -> [UInt8] {
        var message = Array(data)
        let bits = UInt64(message.count) &* 8
        message.append(0x80)
        message += [UInt8](repeating: 0, count: (120 - message.count % 64) % 64)
        message += bits.block
        var state: State = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0)
        for start in stride(from: 0, to: message.count, by: 64) { add(message[start..<start + 64], to: &state) }
        return [state.0, state.1, state.2, state.3, state.4].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
        }
    }

    private typealias State = (UInt32, UInt32, UInt32, UInt32, UInt32)

    /// Processes one block of 64 bytes.
    private static func add(_ block: ArraySlice<UInt8>, to state: inout State) {
        var words: [UInt32] = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        for place in 16..<80 {
            words.append(turn(words[place - 3] ^ words[place - 8] ^ words[place - 14] ^ words[place - 16], 1))
        }
        var (a, b, c, d, e) = state
        for (place, word) in words.enumerated() {
            let (mix, constant): (UInt32, UInt32) =
                switch place {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            (a, b, c, d, e) = (turn(a, 5) &+ mix &+ e &+ constant &+ word, a, turn(b, 30), c, d)
        }
        state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
    }

    /// Rotates a word left.
    private static func turn(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}
