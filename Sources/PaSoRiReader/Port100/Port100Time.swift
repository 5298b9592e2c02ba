// SPDX-License-Identifier: Apache-2.0

/// How long a Port-100 waits for a card: InCommRF's two bytes, in tenths of a millisecond.
enum Port100Time {
    /// The number for a time, rounded up, with the millisecond more that nfcpy gives; never 0, which is for ever.
    static func tenths(_ time: Duration) -> UInt16 {
        let (seconds, attoseconds) = time.components
        guard seconds < 7 else { return .max }
        let part = (max(attoseconds, 0) + 99_999_999_999_999) / 100_000_000_000_000
        return UInt16(clamping: max(seconds, 0) * 10_000 + part + 10)
    }

    /// The time that a number stands for.
    static func duration(_ tenths: UInt16) -> Duration {
        .microseconds(Int(tenths) * 100)
    }
}
