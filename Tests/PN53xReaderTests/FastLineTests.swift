// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import PN53xReader
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// A long session runs at 921600 baud, and nobody who comes later notices.
@Suite(.waits)
struct FastLineTests {
    @Test(arguments: Way.allCases) func raisesTheSpeedAfterThreeExchanges(_ way: Way) throws {
        let bench = try Bench(way)
        let opening = bench.hostCommands
        try bench.activate()
        try bench.work(2)
        // As in a session that is never raised: libnfc's registers or the chip's time-out, one try for each Polling, three
        // exchanges.
        let before = 2
        #expect(bench.hostCommands == opening + before + 3)
        #expect(bench.speedCommands == 0)
        #expect(bench.server.comes(to: 115_200))
        try bench.work(1)
        // SetSerialBaudRate, the firmware version that proves it, and the exchange.
        #expect(bench.hostCommands == opening + before + 3 + 3)
        #expect(bench.server.comes(to: 921_600))
        try bench.work(50)
        try bench.activate()
        #expect(bench.hostCommands == opening + before + 3 + 3 + 51)
        #expect(bench.server.statistics.damagedFrames == 0)
    }

    /// Also where the reader is wrapped by a recorder.
    @Test(arguments: Way.allCases) func longJobsRaiseTheSpeedBeforeTheFirstSearch(_ way: Way) throws {
        let bench = try Bench(way)
        let opening = bench.hostCommands
        RecordingReader(bench.reader, write: { _ in }).expectLongJob()
        #expect(bench.hostCommands == opening)
        #expect(try bench.activate(.ndef) == nil)
        #expect(bench.speedCommands == 1)
        #expect(bench.server.comes(to: 921_600))
        #expect(try bench.activate() != nil)
        #expect(bench.server.statistics.damagedFrames == 0)
    }

    @Test(.needs("/usr/bin/nfc-list"), arguments: Way.allCases) func closingResetsTheReader(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        try bench.work(20)
        let before = bench.hostCommands
        bench.reader.close()
        #expect(bench.server.comes(to: 115_200))
        // SetSerialBaudRate, and what closes a reader.
        #expect(bench.hostCommands == before + 1 + way.closingCommands.count)
        let list = try ChildProcess.run(
            "/usr/bin/nfc-list", environment: ["LIBNFC_DEVICE": bench.server.connectionString])
        #expect(list.output.contains("ID (NFCID2): 01  01  03  12  34  56  78  90"))
    }

    @Test(arguments: Way.allCases) func resetsAReaderOnDeinit(_ way: Way) throws {
        let server = try PN532Server(field: VirtualField(cards: [TestCard()]))
        defer { server.stop() }
        do {
            let reader = try way.open(server)
            for _ in 0..<12 { _ = try reader.activateFeliCa(systems: [.any]) }
            #expect(server.comes(to: 921_600))
        }
        #expect(server.comes(to: 115_200))
    }

    @Test(arguments: Way.allCases) func closesAShortSession(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        try bench.work(1)
        bench.reader.close()
        #expect(bench.speedCommands == 0)
    }

    @Test(arguments: Way.allCases) func waitingCostsNoCommands(_ way: Way) throws {
        let bench = try Bench(way)
        for _ in 0..<20 { #expect(try bench.activate(.ndef) == nil) }
        try bench.activate()
        try bench.work(2)
        #expect(bench.speedCommands == 0)
    }

    @Test(arguments: Way.allCases) func keepsARequestedSpeed(_ way: Way) throws {
        let bench = try Bench(way, speed: ":115200")
        try bench.activate()
        try bench.work(40)
        #expect(bench.speedCommands == 0)
    }

    @Test(arguments: [("115200", 0), ("9600", 0), ("921600", 1), ("", 1)])
    func obeysTheEnvironment(_ setting: (String, Int)) async {
        await #expect(processExitsWith: .success) { [value = setting.0 as String, changes = setting.1 as Int] in
            setenv("KAZASU_SERIAL_SPEED", value, 1)
            let bench = try Bench()
            try bench.activate()
            try bench.work(40)
            guard bench.speedCommands == changes else { exit(3) }
        }
    }

    @Test(arguments: Way.allCases) func cancellationBetweenExchangesResetsTheReader(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        try bench.work(20)
        bench.cancellation.cancel()
        #expect(throws: TransportError.cancelled) { try bench.exchange(TestCard.requestSystemCode) }
        bench.reader.close()
        #expect(bench.server.comes(to: 115_200))
        #expect(!bench.server.statistics.isFieldOn)
    }

    /// In the middle of an exchange, and of the change itself, where libnfc's own way to give up is an ACK and so
    /// confirms the new speed to the chip.
    @Test(arguments: [InjectedSerialFaultPlace.code(0x42, after: 15), .code(0x10)], Way.allCases)
    func resetsAfterACancelledBlockedCall(_ place: InjectedSerialFaultPlace, _ way: Way) throws {
        let bench = try Bench(way, serial: InjectedSerialFaults([place: .late(.seconds(60))]))
        try bench.activate()
        let canceller = Canceller(of: bench.cancellation, whenBlockedAt: place, server: bench.server)
        #expect(throws: TransportError.cancelled) {
            for _ in 0..<30 { _ = try bench.exchange(TestCard.requestSystemCode, within: .seconds(3)) }
        }
        canceller.wait()
        bench.reader.close()
        #expect(bench.server.comes(to: 115_200))
        let reader = try way.open(bench.server)
        #expect(try reader.activateFeliCa(systems: [.transit]) != nil)
        reader.close()
    }

    @Test(arguments: ["", ":115200"], Way.allCases) func openingResetsAFastChip(
        _ speed: String, _ way: Way
    ) throws {
        let bench = try Bench(way, initialSpeed: 921_600, speed: speed)
        #expect(bench.server.comes(to: 115_200))
        try bench.activate()
        try bench.work(20)
    }

    @Test(arguments: Way.allCases) func cleansUpAfterAKilledProcess(_ way: Way) async throws {
        let server = try PN532Server(field: VirtualField(cards: [TestCard()]))
        defer { server.stop() }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [id = way.id(server.path) as String, way = way as Way] in
            let reader = try #require(try way.driver().open(id, cancellation: CancellationToken()))
            for _ in 0..<20 { _ = try reader.activateFeliCa(systems: [.transit]) }
            kill(getpid(), SIGKILL)
        }
        #expect(server.comes(to: 921_600))
        let reader = try way.open(server)
        #expect(server.comes(to: 115_200))
        #expect(try reader.activateFeliCa(systems: [.transit]) != nil)
        #expect(try reader.transceive(TestCard.requestSystemCode, timeout: .zero) == TestCard.systemCodes)
        reader.close()
    }
}
