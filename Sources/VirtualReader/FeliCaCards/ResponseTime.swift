// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// How long a card may take, from its PMm.
enum ResponseTime {
    /// 256 · 16 / fc.
    private static let unit = Duration.nanoseconds(302_065)

    /// T · ((B + 1) · n + (A + 1)) · 4^E, where A is bits 2–0, B bits 5–3 and E bits 7–6 of the class's byte.
    static func maximum(_ pmm: PMm, byte: Int, units: Int) -> Duration {
        let parameter = Int(UInt8(truncatingIfNeeded: pmm.rawValue >> UInt64(8 * (7 - byte & 7))))
        let (base, perUnit, exponent) = (parameter & 7, parameter >> 3 & 7, parameter >> 6)
        return unit * ((perUnit + 1) * min(max(units, 0), 255) + base + 1) * (1 << (2 * exponent))
    }

    /// When the answer to a Polling starts in time slot `slot`: 512 · 64 / fc and 256 · 64 / fc a slot.
    static func polling(slot: Int) -> Duration {
        .nanoseconds(2_416_519) + .nanoseconds(1_208_260) * slot
    }
}
