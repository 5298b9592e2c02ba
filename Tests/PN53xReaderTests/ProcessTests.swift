// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import PN53xReader
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// What concerns the whole process: two of them on one port, what libnfc prints, and when it dies.
@Suite(.waits)
struct ProcessTests {
    @Test(arguments: Way.allCases) func secondOpenInThisProcessIsBusy(_ way: Way) throws {
        let bench = try Bench(way)
        let busy = TransportError.readerUnavailable(
            reason: .busy, detail: .init(.deviceInUse, bench.server.path))
        #expect(throws: busy) { try way.driver().open(way.id(bench.server.path), cancellation: .init()) }
        try bench.activate()
        bench.reader.close()
        let second = try way.open(bench.server)
        #expect(try second.activateFeliCa(systems: [.transit])?.idm.bytes == TestCard.idm)
        second.close()
    }

    @Test func secondProcessIsRefused() async throws {
        let bench = try Bench()
        try bench.activate()
        await #expect(processExitsWith: .exitCode(69)) { [id = bench.server.connectionString as String] in
            do {
                _ = try LibNFCDriver().open(id, cancellation: CancellationToken())
            } catch TransportError.readerUnavailable(.busy, _) {
                exit(69)
            }
        }
        #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
    }

    @Test func standardErrorStaysClean() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent, \.standardOutputContent]
        ) {
            let driver = LibNFCDriver()
            _ = driver.list()
            let dead = try PN532Server(field: VirtualField(), faults: InjectedSerialFaults([.command(1): .dead]))
            let wrong = [
                dead.connectionString, "pn532_uart:/dev/null", "arygon:/dev/null", "ACR122S:/dev/null",
                "pn532_spi:/dev/null", "pn532_i2c:/dev/null", "pn53x_usb:999:998", "acr122_usb:999:998", "usb:999",
                "pn532_uart:/dev/null:1", "pcsc:none",
            ]
            for id in wrong {
                #expect(throws: TransportError.self) { try driver.open(id, cancellation: CancellationToken()) }
            }
            let bench = try Bench(serial: InjectedSerialFaults([.code(0x42): .wrongDataChecksum]))
            try bench.activate()
            _ = try? bench.exchange(TestCard.requestSystemCode)
            dead.stop()
        }
        #expect(String(decoding: result.standardErrorContent, as: UTF8.self) == "")
    }

    @Test func keepsOutputOfOtherThreads() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let dead = try PN532Server(field: VirtualField(), faults: InjectedSerialFaults([.command(1): .dead]))
            let id = dead.connectionString
            let opening = Task.detached { _ = try? LibNFCDriver().open(id, cancellation: CancellationToken()) }
            // The chip has heard its first command, so libnfc waits for the answer now, with stderr replaced.
            while dead.statistics.hostCommands == 0 { await Task.yield() }
            perror("someone else")
            await opening.value
            perror("and after")
            dead.stop()
        }
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("someone else: ") == true)
        #expect(lines.last?.hasPrefix("and after: ") == true)
    }

    /// libnfc 1.8.0 calls `abort()` when the chip's status byte has bit 7 set: the answer is lost, and nothing else.
    @Test func survivesAStatusWithBit7() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench(
                serial: InjectedSerialFaults([
                    .code(0x42): .statusBits(0x80), .code(0x42, after: 1): .statusBits(0x81),
                    .code(0x4A, after: 2): .statusBits(0x80),
                ]))
            try bench.activate()
            for _ in 0..<2 {
                #expect(throws: TransportError.corrupted(status: 0)) {
                    try bench.exchange(TestCard.requestSystemCode)
                }
            }
            #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
        }
    }

    /// Any other call of `abort()` ends the process, as do those of before the first exchange.
    @Test func otherAbortsEndTheProcess() async {
        await #expect(processExitsWith: .signal(SIGABRT)) {
            let bench = try Bench()
            try bench.activate()
            abort()
        }
    }

    @Test func acceptsAStatusWithBit7WithoutLibnfc() throws {
        let bench = try Bench(.serial, serial: InjectedSerialFaults([.code(0x42): .statusBits(0x80)]))
        try bench.activate()
        #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
    }
}
