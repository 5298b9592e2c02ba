// SPDX-License-Identifier: Apache-2.0

import CardModel
import Dispatch
import Glibc
import PN53xReader
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

/// What cancellations leave behind, in the long run. `make soak` asks for 20,000 of them.
@Suite(.waits)
struct CancellationSoakTests {
    private static let count = getenv("KAZASU_SOAK").flatMap { Int(String(cString: $0)) } ?? 160
    private static let chips = 8

    @Test(arguments: Way.allCases) func leavesNoDescriptorOpen(_ way: Way) async {
        await #expect(processExitsWith: .success) { [count = Self.count as Int, way = way as Way] in
            let (before, after) = try Self.soak(way, count)
            #expect(after == before)
        }
    }

    /// Cancels so often, on several chips at once.
    ///
    /// - Returns: how many descriptors are open before and after.
    private static func soak(_ way: Way, _ count: Int) throws -> (before: Int, after: Int) {
        let servers = try (0..<chips).map { _ in try PN532Server(field: VirtualField(cards: [TestCard()])) }
        // Whatever the process opens once, and keeps.
        for server in servers { try? cancel(server, way, after: 5) }
        let before = openDescriptors()
        DispatchQueue.concurrentPerform(iterations: chips) { chip in
            var random = SeededGenerator(seed: UInt64(chip))
            for _ in 0..<(count / chips) {
                try? cancel(servers[chip], way, after: Int.random(in: 0..<40, using: &random))
            }
        }
        let after = openDescriptors()
        for server in servers {
            #expect(!server.statistics.isFieldOn)
            server.stop()
        }
        return (before, after)
    }

    /// Cancels a run from another thread when the chip has got so many more commands; half of the time no call waits then.
    private static func cancel(_ server: PN532Server, _ way: Way, after commands: Int) throws {
        let cancellation = CancellationToken()
        let isOver = Atomic(false)
        let last = server.statistics.hostCommands + commands
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            while server.statistics.hostCommands < last, !isOver.load(ordering: .relaxed) { sched_yield() }
            cancellation.cancel()
        }
        defer {
            isOver.store(true, ordering: .relaxed)
            group.wait()
        }
        guard let reader = try way.driver(patience: 20).open(way.id(server.path), cancellation: cancellation) else {
            return
        }
        defer { reader.close() }
        for _ in 0..<60 { _ = try reader.activateFeliCa(systems: [.transit]) }
    }

    private static func openDescriptors() -> Int {
        (0..<Int32(1024)).count { fcntl($0, F_GETFD) >= 0 }
    }
}
