// SPDX-License-Identifier: Apache-2.0

import NFCTransport
import ReaderConformance
import Testing
import VirtualReader

@testable import PaSoRiReader

/// What every reader must do, on a simulated RC-S380.
struct Port100ConformanceTests {
    @Test func rcs380() throws {
        let bench = try Port100Bench([ReaderConformance.card()])
        var conformance = ReaderConformance(bench.reader, field: bench.field, cancellation: bench.cancellation)
        conformance.run()
        #expect(conformance.breaches == [])
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test func rcs380WithTypesAAndB() throws {
        let bench = try Port100Bench([])
        var conformance = ISO14443Conformance(
            bench.reader, stage: ConformanceStage(bench.field), cancellation: bench.cancellation)
        try conformance.run()
        #expect(conformance.breaches == [])
        #expect(conformance.skipped == [])
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test func aCardIsAskedWhetherItIsThere() throws {
        let bench = try Port100Bench([])
        let breaches = try presenceBreaches(bench.reader, ConformanceStage(bench.field))
        #expect(breaches == [])
        #expect(bench.chip.statistics.complaints == [])
    }
}
