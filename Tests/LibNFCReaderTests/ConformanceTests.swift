// SPDX-License-Identifier: Apache-2.0

import NFCTransport
import ReaderConformance
import TestSupport
import Testing
import VirtualReader

/// What every reader must do, on a simulated PN532 through the real libnfc.
@Suite(.waits)
struct LibNFCConformanceTests {
    @Test(arguments: Way.allCases) func pn532(_ way: Way) throws {
        let bench = try Bench(way, card: ReaderConformance.card())
        var conformance = ReaderConformance(bench.reader, field: bench.field, cancellation: bench.cancellation)
        conformance.run()
        #expect(conformance.breaches == [])
    }

    @Test(arguments: Way.allCases) func pn532WithTypesAAndB(_ way: Way) throws {
        let bench = try Bench(way)
        bench.field.removeCards()
        var conformance = ISO14443Conformance(
            bench.reader, stage: ConformanceStage(bench.field), cancellation: bench.cancellation)
        try conformance.run()
        #expect(conformance.breaches == [])
        #expect(conformance.skipped == [])
    }

    @Test(arguments: Way.allCases) func aCardIsAskedWhetherItIsThere(_ way: Way) throws {
        let bench = try Bench(way)
        bench.field.removeCards()
        let breaches = try presenceBreaches(bench.reader, ConformanceStage(bench.field))
        #expect(breaches == [])
    }
}
