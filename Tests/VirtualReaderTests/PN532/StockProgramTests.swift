// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing
import VirtualReader

/// Programs that know nothing of this project: Debian's libnfc tools.
@Suite("Stock libnfc programs take the server for a PN532")
struct StockProgramTests {
    private func run(_ program: String, _ arguments: [String] = [], on server: PN532Server) throws -> ChildResult {
        try ChildProcess.run(program, arguments, environment: ["LIBNFC_DEVICE": server.connectionString])
    }

    @Test func nfcListSeesTheCardAtBothSpeeds() throws {
        let server = try PN532Server(field: PlainField())
        defer { server.stop() }
        let result = try run("/usr/bin/nfc-list", on: server)
        #expect(result.end == .exited(0))
        #expect(result.output.contains("ID (NFCID2): 01  02  03  04  05  06  07  08"))
        #expect(result.output.contains("Parameter (PAD): f1  f2  f3  f4  f5  f6  f7  f8"))
        #expect(result.output.contains("System Code (SC): aa  bb"))
        #expect(result.output.contains("FeliCa (212 kbps)"))
        #expect(result.output.contains("FeliCa (424 kbps)"))
        #expect(server.statistics.damagedFrames == 0)
    }

    /// The same with the time model on, and twice, since a port serves many programs.
    @Test func nfcListAgainInRealTime() throws {
        let server = try PN532Server(field: PlainField(), timing: .full)
        defer { server.stop() }
        for _ in 0..<2 {
            let result = try run("/usr/bin/nfc-list", ["-t", "4"], on: server)
            #expect(result.output.contains("1 Felica (424 kbps) passive target(s) found"))
        }
        #expect(server.statistics.answeredExchanges == 2)
    }

    @Test func nfcListWithoutACard() throws {
        let server = try PN532Server(field: PlainField(hasCard: false))
        defer { server.stop() }
        let result = try run("/usr/bin/nfc-list", on: server)
        #expect(result.end == .exited(0))
        #expect(!result.output.contains("ID (NFCID2)"))
    }

    /// InAutoPoll finds the card, and the card leaves: nfc-poll waits for that.
    @Test func nfcPollSeesTheCardComeAndGo() throws {
        let field = PlainField(Dictionary(uniqueKeysWithValues: (3..<40).map { ($0, .silence) }))
        let server = try PN532Server(field: field)
        defer { server.stop() }
        let result = try run("/usr/bin/nfc-poll", on: server)
        #expect(result.end == .exited(0))
        #expect(result.output.contains("FeliCa (212 kbps) target:"))
        #expect(result.output.contains("ID (NFCID2): 01  02  03  04  05  06  07  08"))
        #expect(result.output.contains("Waiting for card removing...done."))
    }

    /// Selects system 12FC, reads the attribute block and then the message, a block a command.
    @Test func nfcReadForumTag3ReadsTheMessage() throws {
        let card = try VirtualCardFile.load(try TestFiles.read("Fixtures/cards/felica-lite-s/card.json"))
        let server = try PN532Server(field: VirtualField(cards: [card]))
        defer { server.stop() }
        let result = try run("/usr/bin/nfc-read-forum-tag3", ["-o", "-"], on: server)
        #expect(result.end == .exited(0))
        #expect(result.errors.contains("* Maximum nr of blocks available for NDEF data:     13 blocks (208 bytes)"))
        #expect(result.errors.contains("* Checksum: ok"))
        #expect(result.output.contains("kazasu.example"))
        #expect(result.output.contains("Hold a card over the reader"))
    }

    /// libnfc 1.8.0 calls `abort()` when bit 7 of a status is set: what `SerialFault/statusBits(_:)` is for.
    @Test func statusWithBit7KillsStockLibnfc() throws {
        let server = try PN532Server(
            field: PlainField(), faults: SerialFaultPlan([.code(0x42): .statusBits(0x80)]))
        defer { server.stop() }
        #expect(try run("/usr/bin/nfc-read-forum-tag3", ["-o", "-"], on: server).end == .signalled(SIGABRT))
    }
}
