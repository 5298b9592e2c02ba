// SPDX-License-Identifier: Apache-2.0

import CardModel
import Dispatch
import Glibc
import PN53xReader
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Cancelling from another thread.
@Suite(.waits)
struct CancellationTests {
    /// Cancels an exchange that the chip answers too late.
    ///
    /// - Parameter patience: how often the canceller steps aside, so that libnfc can begin to wait.
    /// - Returns: whether the call was ended and the field is off. On a busy machine the call may only have run into its
    ///   time-out: then the reader was brought back with Diagnose, or the canceller's turn came too late; or the chip
    ///   was too late for the command that switches the field off.
    private func cancelsABlockedExchange(_ way: Way, _ patience: Int) throws -> Bool {
        let bench = try Bench(way, serial: InjectedSerialFaults([.code(0x42): .late(.seconds(60))]), patience: 1)
        try bench.activate()
        let (server, cancellation) = (bench.server, bench.cancellation)
        let before = server.statistics
        let cancelled = DispatchSemaphore(value: 0)
        DispatchQueue(label: "canceller").async {
            // The command has come and its ACK is out, so libnfc waits for the answer or is about to.
            while server.statistics.bytesToHost < before.bytesToHost + 6 { sched_yield() }
            for _ in 0..<patience { sched_yield() }
            cancellation.cancel()
            cancelled.signal()
        }
        let error = #expect(throws: TransportError.self) {
            try bench.exchange(TestCard.requestSystemCode, within: .seconds(3))
        }
        cancelled.wait()
        if error == .readerTimeout { return false }
        #expect(error == .cancelled)
        let asked = server.statistics.commandsByCode[0x00] != before.commandsByCode[0x00]
        // Whatever comes next is cancelled without a word to the reader; closing works and switches the field off.
        let commands = bench.hostCommands
        #expect(throws: TransportError.cancelled) { try bench.activate() }
        #expect(throws: TransportError.cancelled) { try bench.exchange(TestCard.requestSystemCode) }
        #expect(bench.hostCommands == commands)
        bench.reader.close()
        return !asked && !server.statistics.isFieldOn
    }

    @Test(arguments: Way.allCases) func endsABlockedExchange(_ way: Way) throws {
        // A cancellation that comes a moment before libnfc begins to wait is heard only at its end. On a busy machine
        // that moment is long, and so is each time that the processor is given to others: then few of them are enough.
        for power in [10, 11, 12, 13, 14, 6, 8, 3, 0, 15, 16, 17, 18, 19]
        where try cancelsABlockedExchange(way, 1 << power) { return }
        Issue.record("no blocked call was ended")
    }

    @Test(arguments: Way.allCases) func opensNothingWithACancelledToken(_ way: Way) throws {
        let server = try PN532Server(field: VirtualField())
        defer { server.stop() }
        let cancellation = CancellationToken()
        cancellation.cancel()
        #expect(throws: TransportError.cancelled) {
            try way.driver().open(way.id(server.path), cancellation: cancellation)
        }
        #expect(server.statistics.hostCommands == 0)
    }

    @Test(arguments: Way.allCases) func cancellationAfterClosingIsHarmless(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        bench.reader.close()
        bench.cancellation.cancel()
        #expect(throws: TransportError.self) { try bench.activate() }
        #expect(throws: TransportError.self) { try bench.exchange(TestCard.requestSystemCode) }
    }

    @Test(arguments: Way.allCases) func cancellingBetweenTwoExchanges(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
        bench.cancellation.cancel()
        #expect(throws: TransportError.cancelled) { try bench.exchange(TestCard.requestSystemCode) }
        bench.reader.close()
        #expect(!bench.server.statistics.isFieldOn)
    }
}
