// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import ReaderCore
import VirtualReader

/// Cancels from another thread as soon as the chip holds a command back.
final class Canceller: Sendable {
    private let done = DispatchSemaphore(value: 0)

    init(of cancellation: CancellationToken, whenBlockedAt place: InjectedSerialFaultPlace, server: PN532Server) {
        DispatchQueue(label: "canceller").async { [done] in
            while !Self.isReached(place, server.statistics) { sched_yield() }
            // The ACK goes out and libnfc begins to wait. One that comes too early is heard at the end of the wait.
            for _ in 0..<50 { sched_yield() }
            cancellation.cancel()
            done.signal()
        }
    }

    private static func isReached(_ place: InjectedSerialFaultPlace, _ statistics: ChipStatistics) -> Bool {
        switch place {
        case .command(let number): statistics.hostCommands >= number
        case .code(let code, let after): statistics.commandsByCode[code, default: 0] > after
        case .every(let code, _): statistics.commandsByCode[code, default: 0] > 0
        }
    }

    /// Returns when it has cancelled.
    func wait() {
        done.wait()
    }
}
