// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import ReaderTesting
import TestSupport
import Testing
import VirtualReader

/// The conformance suites on a simulated PN532, through the real libnfc and on a serial port.
@Suite(.waits)
struct LibNFCConformanceTests {
    @Test(arguments: Way.allCases) func feliCa(_ way: Way) throws {
        #expect(try run(ReaderConformance.feliCa, way) == ConformanceReport())
    }

    @Test(arguments: Way.allCases) func typesAAndB(_ way: Way) throws {
        #expect(try run(ReaderConformance.iso14443, way) == ConformanceReport())
    }

    @Test(arguments: Way.allCases) func presence(_ way: Way) throws {
        #expect(try run(ReaderConformance.presence, way) == ConformanceReport())
    }

    @Test("cards that answer but cannot be selected", arguments: Way.allCases) func heard(_ way: Way) throws {
        #expect(try run(ReaderConformance.heard, way) == ConformanceReport())
    }

    @Test("Classic and passwords", arguments: Way.allCases) func protectedCards(_ way: Way) throws {
        #expect(try run(ReaderConformance.protectedCards, way) == ConformanceReport())
    }

    private func run(
        _ suite: (any Reader, ConformanceStage, CancellationToken) throws -> ConformanceReport, _ way: Way
    ) throws -> ConformanceReport {
        let bench = try Bench(way, collision: .damaged)
        bench.field.removeCards()
        return try suite(bench.reader, ConformanceStage(bench.field), bench.cancellation)
    }
}
