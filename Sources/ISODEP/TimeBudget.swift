// SPDX-License-Identifier: Apache-2.0

/// How much of the time that a caller gives for a whole exchange is left.
struct TimeBudget {
    /// What an extension costs at least, so that a card cannot ask for them without end.
    private static let leastCharge = Duration.milliseconds(1)

    private let start = ContinuousClock.now
    private var limit: Duration

    init(_ limit: Duration) {
        self.limit = limit
    }

    /// What is left; zero or less when nothing is.
    var remaining: Duration { limit - start.duration(to: .now) }

    /// Counts one extension.
    mutating func chargeExtension() {
        limit -= Self.leastCharge
    }
}
