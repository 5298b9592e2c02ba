// SPDX-License-Identifier: Apache-2.0

/// How often answers arrive damaged, which decides how long they had better be: a lost answer is sent again as a whole.
struct FrameLosses: Hashable, Sendable {
    /// The number of damaged answers, and the bytes on air of all exchanges.
    private var (damaged, bytes) = (0, 0)

    /// One damaged answer may have any cause.
    private static let needed = 2
    /// A Read Without Encryption and its answer on air besides the blocks, and what each block adds.
    private static let (read, block) = (27 + 2 * ExchangeTime.frame, 18)

    /// Adds an exchange.
    ///
    /// - Parameter count: the bytes of its packets.
    mutating func add(_ count: Int, isDamaged: Bool) {
        bytes += count + 2 * ExchangeTime.frame
        if isDamaged { damaged += 1 }
    }

    /// The number of blocks at which each takes the least time, repetitions included; all that are allowed while nothing is lost.
    ///
    /// The share of bytes that damage an exchange is taken from those so far.
    func best(upTo limit: Int, _ time: ExchangeTime) -> Int {
        guard damaged >= Self.needed, limit > 1 else { return limit }
        let share = min(Double(damaged) / Double(max(bytes, 1)), 0.5)
        func cost(_ blocks: Int) -> Double {
            var whole = 1.0
            for _ in 0..<Self.read + Self.block * blocks { whole *= 1 - share }
            return (time.read + time.block * blocks) / .milliseconds(1) / (whole * Double(blocks))
        }
        return (1...limit).min { cost($0) < cost($1) } ?? limit
    }
}
