// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing

@testable import KazasuService

@Suite("Work that computes for long")
struct WorkTests {
    @Test("It runs a few at a time, in order; what is cancelled meanwhile can end at once")
    func fewAtATime() async {
        let executor = WorkExecutor(threads: 1)
        let (gate, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let events = Mutex<[String]>([])
        let first = Task(executorPreference: executor) {
            begun.signal()
            gate.wait()
            events.withLock { $0.append("first") }
        }
        let others = (0..<20).map { number in
            Task(executorPreference: executor) {
                events.withLock { $0.append(Task.isCancelled ? "cancelled" : "\(number)") }
            }
        }
        others[3].cancel()
        // Other tasks go on while all threads of the executor are busy.
        await Task { begun.wait() }.value
        #expect(events.withLock { $0.isEmpty })
        gate.signal()
        await first.value
        for other in others { await other.value }
        #expect(events.withLock { $0 } == ["first"] + (0..<20).map { $0 == 3 ? "cancelled" : "\($0)" })
    }

    @Test("Large bodies wait for room, the first first, and get it when another is over")
    func room() {
        let room = BodyRoom(100)
        let granted = Mutex<[(name: String, lease: BodyRoom.Lease)]>([])
        func ask(_ name: String, _ bytes: Int) -> BodyRoom.Lease? {
            room.lease(bytes) { lease in granted.withLock { $0.append((name, lease)) } }
        }
        var first = ask("first", 60)
        #expect(first != nil)
        #expect(ask("second", 60) == nil)
        // There is room for it, but it came later.
        #expect(ask("third", 30) == nil)
        #expect(granted.withLock { $0.isEmpty })
        first = nil
        #expect(granted.withLock { $0.map(\.name) } == ["second", "third"])
        let all = granted.withLock { leases in
            defer { leases = [] }
            return leases
        }
        #expect(ask("fourth", 60) == nil)
        withExtendedLifetime(all) {}
    }
}
