// SPDX-License-Identifier: Apache-2.0

import CardModel
import PN53xReader
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Selecting and exchanging, through the real libnfc and the simulated chip.
@Suite(.waits)
struct RoundTripTests {
    @Test(arguments: FeliCaBitRate.allCases, Way.allCases) func selectsACard(_ bitRate: FeliCaBitRate, _ way: Way)
        throws
    {
        let bench = try Bench(way)
        let target = try bench.activate(bitRate: bitRate)
        #expect(target?.idm.bytes == TestCard.idm)
        #expect(target?.pmm.bytes == TestCard.pmm)
        #expect(target?.requestData == nil)
        #expect(target?.bitRate == bitRate)
    }

    @Test(arguments: Way.allCases) func asksForTheSystemCode(_ way: Way) throws {
        let bench = try Bench(way)
        #expect(try bench.reader.activateFeliCa(systems: [.any], requestCode: 1)?.requestData == 0x0003)
    }

    @Test(arguments: Way.allCases) func missingSystemCostsOneHostCommand(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        let before = bench.hostCommands
        #expect(try bench.activate(.ndef) == nil)
        #expect(bench.hostCommands - before == 1)
    }

    @Test(arguments: Way.allCases) func usesOneHostCommandForEachExchange(_ way: Way) throws {
        let bench = try Bench(way, speed: ":115200")
        let opening = bench.hostCommands
        try bench.activate()
        // The registers that libnfc changed while opening, or without it the chip's time-out; then no repeats, and the Polling.
        let first = 3
        #expect(bench.hostCommands == opening + first)
        #expect(bench.server.statistics.commandsByCode[0x06] == nil)
        try bench.activate()
        #expect(bench.hostCommands == opening + first + 1)
        for _ in 0..<10 { #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes) }
        #expect(bench.hostCommands == opening + first + 11)
        // What opening costs; a change of it is worth knowing.
        #expect(opening == (way == .libnfc ? 4 : 1))
    }

    @Test(arguments: Way.allCases) func closingReleasesTheCardAndSwitchesTheFieldOff(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        let before = bench.server.statistics.commandsByCode
        bench.reader.close()
        let after = bench.server.statistics.commandsByCode
        // These and nothing else.
        #expect(after.values.reduce(0, +) - before.values.reduce(0, +) == way.closingCommands.count)
        #expect(way.closingCommands.allSatisfy { after[$0, default: 0] == before[$0, default: 0] + 1 })
        bench.reader.close()
        #expect(bench.server.statistics.commandsByCode == after)
        #expect(throws: TransportError.readerUnavailable(reason: .absent, detail: .init(.closed))) {
            try bench.activate()
        }
    }

    @Test(arguments: Way.allCases) func acceptsFramesOf255Bytes(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        let frame: [UInt8] = [255, 0xF0, 0x00] + (0..<252).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try bench.exchange(frame) == [255, 0xF1, 0x00] + frame[3...])
    }

    @Test(arguments: [262, 263, 300, 5000], Way.allCases) func longerFramesNeverReachLibnfc(_ length: Int, _ way: Way)
        throws
    {
        let bench = try Bench(way)
        try bench.activate()
        let before = bench.hostCommands
        #expect(throws: TransportError.frameTooLong(length: length, limit: 261)) {
            try bench.exchange([UInt8](repeating: 0xFF, count: length))
        }
        #expect(bench.hostCommands == before)
    }

    @Test(arguments: Way.allCases) func sendsTheLongestFrame(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        #expect(throws: TransportError.noAnswer) { try bench.exchange([UInt8](repeating: 0xFF, count: 261)) }
        #expect(try bench.exchange(TestCard.requestResponse) == TestCard.mode)
    }

    @Test(arguments: Way.allCases) func namesTheReader(_ way: Way) throws {
        let bench = try Bench(way)
        #expect(bench.reader.information.id == way.id(bench.server.path))
        #expect(bench.reader.information.name.hasPrefix(way == .libnfc ? "pn532_uart:" : "PN532"))
        #expect(bench.reader.information.blocksPerRead == 15)
    }
}
