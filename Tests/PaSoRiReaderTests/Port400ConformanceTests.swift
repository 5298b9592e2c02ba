// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import ReaderTesting
import SimulatedChips
import Testing
import VirtualReader

@testable import PaSoRiReader

/// The conformance suites on a simulated RC-S300.
struct Port400ConformanceTests {
    @Test func rcs300() throws {
        var benches: [Port400Bench] = []
        let report = try ReaderConformance.check { field, cancellation in
            let bench = try Port400Bench(field, cancellation)
            benches.append(bench)
            return bench.reader
        }
        #expect(report == ConformanceReport())
        #expect(benches.flatMap(\.chip.statistics.complaints) == [])
    }

    /// Neither does Crypto1 for a host as far as anybody published; passwords go through as any frame.
    @Test("Passwords; MIFARE Classic is refused") func protectedCards() throws {
        let (field, cancellation) = (VirtualField(), CancellationToken())
        let bench = try Port400Bench(field, cancellation)
        let report = try ReaderConformance.protectedCards(bench.reader, ConformanceStage(field), cancellation)
        #expect(report.breaches == [])
        #expect(report.skipped == ["MIFARE Classic"])
    }
}
