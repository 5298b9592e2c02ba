// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import Server

@Suite("Room for the bodies of requests")
struct BodyRoomTests {
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
