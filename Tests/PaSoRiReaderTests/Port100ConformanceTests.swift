// SPDX-License-Identifier: Apache-2.0

import ReaderTesting
import SimulatedChips
import Testing
import VirtualReader

@testable import PaSoRiReader

/// The conformance suites on a simulated RC-S380.
struct Port100ConformanceTests {
    @Test func rcs380() throws {
        var benches: [Port100Bench] = []
        let report = try ReaderConformance.check { field, cancellation in
            let bench = try Port100Bench(field, cancellation)
            benches.append(bench)
            return bench.reader
        }
        #expect(report == ConformanceReport())
        #expect(benches.flatMap(\.chip.statistics.complaints) == [])
    }

    /// Passwords as on other readers; MIFARE Classic needs a cipher that no public program switches on here.
    @Test func protectedCards() throws {
        let field = VirtualField()
        let bench = try Port100Bench(field)
        let report = try ReaderConformance.protectedCards(bench.reader, ConformanceStage(field), bench.cancellation)
        #expect(report.breaches == [])
        #expect(report.skipped == ["MIFARE Classic"])
        #expect(bench.chip.statistics.complaints == [])
    }
}
