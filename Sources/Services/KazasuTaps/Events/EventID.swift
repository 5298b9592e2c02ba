// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Makes the ids of events: UUIDv7 (RFC 9562), each greater than the one before, even if the clock is set back.
package struct EventIDs: Sendable {
    /// Milliseconds since 1970, 48 bits; ahead of the clock after it was set back.
    private var time: UInt64 = 0
    /// `rand_a`, 12 bits.
    private var high: UInt64 = 0
    /// `rand_b`, 62 bits.
    private var low: UInt64 = 0

    private static let (highest, lowest): (UInt64, UInt64) = (0xFFF, (1 << 62) - 1)

    /// Continues after an earlier id; `nil`, or text that is not a UUID, starts over.
    package init(after last: String? = nil) {
        guard let bytes = last.flatMap({ try? Hex.decode($0) }), bytes.count == 16 else { return }
        let numbers = bytes.map(UInt64.init)
        time = numbers[..<6].reduce(0) { $0 << 8 | $1 }
        high = numbers[6..<8].reduce(0) { $0 << 8 | $1 } & Self.highest
        low = numbers[8...].reduce(0) { $0 << 8 | $1 } & Self.lowest
    }

    /// Returns the next id, in lower case with hyphens.
    ///
    /// - Parameter now: milliseconds since 1970.
    package mutating func next(at now: Int) -> String {
        let now = UInt64(clamping: now) & 0xFFFF_FFFF_FFFF
        if now > time {
            time = now
            // Half the range is left for ids of the same millisecond.
            high = .random(in: 0...Self.highest / 2)
            low = .random(in: 0...Self.lowest)
        } else {
            low += .random(in: 1...0xFFFF_FFFF)
            if low > Self.lowest {
                low &= Self.lowest
                high += 1
            }
            if high > Self.highest {
                high = 0
                time += 1
            }
        }
        let text = Hex.encode(time, digits: 12, uppercase: false)
        let tail = Hex.encode(low | 1 << 63, digits: 16, uppercase: false)
        return "\(text.prefix(8))-\(text.suffix(4))-7\(Hex.encode(high, digits: 3, uppercase: false))"
            + "-\(tail.prefix(4))-\(tail.suffix(12))"
    }
}
