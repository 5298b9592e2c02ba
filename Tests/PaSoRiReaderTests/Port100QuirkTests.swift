// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import ReaderTesting
import SimulatedChips
import TestSupport
import Testing
import VirtualReader

@testable import PaSoRiReader

/// An RC-S380 with each oddity of `Docs/quirks.md` that a switch imitates: what is read is right, or there is one clear error.
struct Port100QuirkTests {
    private static func bench(_ quirk: String) throws -> Port100Bench {
        let text = """
            {"schema":"kazasu.card/1","idm":"0101031234567890","pmm":"0120220427674eff",
             "systems":[{"code":"0003","nodes":["0000-FFFE"],"blocks":{"090F":20}}],"virtual":{"quirks":["\(quirk)"]}}
            """
        return try Port100Bench(VirtualField(cardFile: Array(text.utf8)))
    }

    private static let idm: [UInt8] = [0x01, 0x01, 0x03, 0x12, 0x34, 0x56, 0x78, 0x90]
    private static let systems = [0x0D, 0x0D] + idm + [0x01, 0x00, 0x03]

    @Test(arguments: ["rcs380-stale", "rcs380-no-zlp", "version"]) func works(_ quirk: String) throws {
        let bench = try Self.bench(quirk)
        let target = try #require(try bench.activate())
        #expect(target.idm.bytes == Self.idm)
        for _ in 0..<3 { #expect(try bench.requestSystemCode(target) == Self.systems) }
        // Twelve blocks: an answer of several packets.
        let list = (0..<12).flatMap { (block: UInt8) -> [UInt8] in [0x80, block] }
        let read = [UInt8(14 + list.count), 0x06] + Self.idm + [1, 0x0F, 0x09, 12] + list
        #expect(try bench.reader.transceive(read, timeout: .milliseconds(100)).count == 13 + 12 * 16)
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test(arguments: ["rcs380-stale", "rcs380-no-zlp"]) func conforms(_ quirk: String) throws {
        var benches: [Port100Bench] = []
        let report = try ReaderConformance.check(readerQuirks: [quirk]) { field, cancellation in
            let bench = try Port100Bench(field, cancellation)
            benches.append(bench)
            return bench.reader
        }
        #expect(report == ConformanceReport())
        #expect(benches.flatMap(\.chip.statistics.complaints) == [])
    }

    /// One damaged answer, and the next works.
    @Test func goesOnAfterTheShortErrorFrame() throws {
        let bench = try Self.bench("rcs380-error")
        #expect(throws: TransportError.corrupted(status: 0)) { try bench.activate() }
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target) == Self.systems)
    }

    @Test func saysThatItIsTooHot() throws {
        let bench = try Self.bench("rcs380-hot")
        #expect(throws: TransportError.readerFailed(detail: .init(.tooHot))) { try bench.activate() }
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target) == Self.systems)
    }

    /// A firmware without command type 1 is not used.
    @Test func refusesAReaderWithoutTheCommandSet() throws {
        let error = #expect(throws: TransportError.self) { try Self.bench("rcs380-type0") }
        #expect(error?.isReaderError == true)
    }
}
