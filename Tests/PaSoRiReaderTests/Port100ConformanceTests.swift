// SPDX-License-Identifier: Apache-2.0

import ReaderTesting
import SimulatedChips
import Testing

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
}
