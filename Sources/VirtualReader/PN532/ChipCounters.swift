// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Statistics that one thread writes and another reads.
final class ChipCounters: Sendable {
    private let state = Mutex(ChipStatistics())

    var statistics: ChipStatistics { state.withLock { $0 } }

    func count(_ change: (inout ChipStatistics) -> Void) {
        state.withLock { change(&$0) }
    }
}
