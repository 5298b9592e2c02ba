// SPDX-License-Identifier: Apache-2.0

import ReaderTesting
import SimulatedChips
import Testing

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
}
