// SPDX-License-Identifier: Apache-2.0

import CardModel
import LibNFCReader
import NFCTransport
import Testing
import VirtualReader

/// Selecting and exchanging, through the real libnfc and the simulated chip.
struct RoundTripTests {
    @Test(arguments: FeliCaBitRate.allCases) func selectsACard(_ bitRate: FeliCaBitRate) throws {
        let bench = try Bench()
        let target = try bench.activate(bitRate: bitRate)
        #expect(target?.idm.bytes == TestCard.idm)
        #expect(target?.pmm.bytes == TestCard.pmm)
        #expect(target?.requestData == nil)
        #expect(target?.bitRate == bitRate)
    }

    @Test func asksForTheSystemCode() throws {
        let bench = try Bench()
        #expect(try bench.reader.activateFeliCa(systems: [.any], requestCode: 1)?.requestData == 0x0003)
    }

    @Test func aMissingSystemIsNoCardAndOneHostCommand() throws {
        let bench = try Bench()
        try bench.activate()
        let before = bench.hostCommands
        #expect(try bench.activate(.ndef) == nil)
        #expect(bench.hostCommands - before == 1)
    }

    @Test func everyExchangeIsOneHostCommand() throws {
        let bench = try Bench(speed: ":115200")
        let opening = bench.hostCommands
        try bench.activate()
        // libnfc writes registers that it changed while opening (2), then INFINITE_SELECT off and the Polling.
        #expect(bench.hostCommands == opening + 4)
        try bench.activate()
        #expect(bench.hostCommands == opening + 5)
        for _ in 0..<10 { #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes) }
        #expect(bench.hostCommands == opening + 15)
        // What nfc_open costs; a change of it is worth knowing.
        #expect(opening == 4)
    }

    @Test func closingReleasesTheCardAndSwitchesTheFieldOff() throws {
        let bench = try Bench()
        try bench.activate()
        let before = bench.server.statistics.commandsByCode
        bench.reader.close()
        let after = bench.server.statistics.commandsByCode
        // InRelease, RFConfiguration, PowerDown, and nothing else.
        #expect(after.values.reduce(0, +) - before.values.reduce(0, +) == 3)
        #expect([0x52, 0x32, 0x16].allSatisfy { after[$0, default: 0] == before[$0, default: 0] + 1 })
        bench.reader.close()
        #expect(bench.server.statistics.commandsByCode == after)
        #expect(throws: TransportError.readerUnavailable(reason: .absent, detail: .init(.closed))) {
            try bench.activate()
        }
    }

    @Test func aFrameMayBe255BytesLong() throws {
        let bench = try Bench()
        try bench.activate()
        let frame: [UInt8] = [255, 0xF0, 0x00] + (0..<252).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try bench.exchange(frame) == [255, 0xF1, 0x00] + frame[3...])
    }

    @Test(arguments: [262, 263, 300, 5000]) func longerFramesNeverReachLibnfc(_ length: Int) throws {
        let bench = try Bench()
        try bench.activate()
        let before = bench.hostCommands
        #expect(throws: TransportError.frameTooLong(length: length, limit: 261)) {
            try bench.exchange([UInt8](repeating: 0xFF, count: length))
        }
        #expect(bench.hostCommands == before)
    }

    @Test func theLongestFrameIsSent() throws {
        let bench = try Bench()
        try bench.activate()
        #expect(throws: TransportError.noAnswer) { try bench.exchange([UInt8](repeating: 0xFF, count: 261)) }
        #expect(try bench.exchange(TestCard.requestResponse) == TestCard.mode)
    }

    @Test func namesTheReader() throws {
        let bench = try Bench()
        #expect(bench.reader.information.id == bench.server.connectionString)
        #expect(bench.reader.information.name.hasPrefix("pn532_uart:"))
        #expect(bench.reader.information.blocksPerRead == 15)
    }
}
