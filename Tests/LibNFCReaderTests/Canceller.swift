// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import NFCTransport
import VirtualReader

/// Cancels from another thread as soon as the chip holds a command back.
final class Canceller: Sendable {
    private let done = DispatchSemaphore(value: 0)

    init(of cancellation: CancellationToken, whenBlockedAt place: SerialFaultPlace, server: PN532Server) {
        DispatchQueue(label: "canceller").async { [done] in
            while !Self.isReached(place, server.statistics) { sched_yield() }
            let before = server.statistics.bytesToHost
            // The ACK is out or was already; libnfc waits for the answer or is about to.
            for _ in 0..<2000 where server.statistics.bytesToHost == before { sched_yield() }
            cancellation.cancel()
            done.signal()
        }
    }

    private static func isReached(_ place: SerialFaultPlace, _ statistics: ChipStatistics) -> Bool {
        switch place {
        case .command(let number): statistics.hostCommands >= number
        case .code(let code, let after): statistics.commandsByCode[code, default: 0] > after
        }
    }

    /// Returns when it has cancelled.
    func wait() {
        done.wait()
    }
}
