// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing
import VirtualReader

/// Programs that know nothing of this project: Debian's libnfc tools.
@Suite(
    "Stock libnfc programs accept the server as a PN532",
    .needs("/usr/bin/nfc-list", "/usr/bin/nfc-poll", "/usr/bin/nfc-read-forum-tag3", "/usr/bin/mifare-ultralight-info"))
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

    /// libfreefare, which has OpenSSL encipher: it finds the tag, halts it, selects it by its UID, and authenticates with
    /// the key from the factory.
    @Test(arguments: [true, false]) func freefareAuthenticatesAnUltralightC(hasFactoryKey: Bool) throws {
        let uid: [UInt8] = [0x04, 0xC0, 0xFF, 0xEE, 0x12, 0x34, 0x56]
        var memory = try #require(Type2Memory(.ultralightC, uid: uid))
        if !hasFactoryKey { memory.write(0x2C, [1, 2, 3, 4]) }
        let server = try PN532Server(field: VirtualField(cards: [VirtualType2Tag(memory)]))
        defer { server.stop() }
        let result = try run("/usr/bin/mifare-ultralight-info", on: server)
        #expect(result.end == .exited(0))
        #expect(result.output.contains("Tag with UID 04c0ffee123456 is a Mifare UltraLightC"))
        #expect(
            result.output.lowercased().contains("default key: " + (hasFactoryKey ? "success" : "fail")),
            "\(result.output)")
    }

    /// libfreefare reads the directory, opens each sector of NDEF with its public key, and joins their blocks.
    @Test func freefareReadsTheMessageOfTheClassicFixture() throws {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/virtual/classic-1k.json"))
        let server = try PN532Server(field: field)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/message"
        let result = try run("/usr/bin/mifare-classic-read-ndef", ["-y", "-o", file], on: server)
        #expect(result.end == .exited(0), "\(result)")
        #expect(
            try TestFiles.read(file)
                == Array("\u{D1}\u{01}\u{0F}U\u{04}kazasu.example".unicodeScalars.map { UInt8($0.value) }))
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

    /// libnfc 1.8.0 calls `abort()` when bit 7 of a status is set: what `InjectedSerialFault/statusBits(_:)` is for.
    @Test func statusWithBit7KillsStockLibnfc() throws {
        let server = try PN532Server(
            field: PlainField(), faults: InjectedSerialFaults([.code(0x42): .statusBits(0x80)]))
        defer { server.stop() }
        #expect(try run("/usr/bin/nfc-read-forum-tag3", ["-o", "-"], on: server).end == .signalled(SIGABRT))
    }

    private func server(_ fixture: String) throws -> PN532Server {
        try PN532Server(field: VirtualField(cardFile: TestFiles.read("Fixtures/virtual/\(fixture).json")))
    }

    /// A phone that is three cards at once.
    @Test func nfcListSeesAPhone() throws {
        let server = try server("phone")
        defer { server.stop() }
        let result = try run("/usr/bin/nfc-list", ["-v"], on: server)
        #expect(result.end == .exited(0))
        #expect(result.output.contains("UID (NFCID3): 08  a1  b2  c3"))
        #expect(result.output.contains("SAK (SEL_RES): 20"))
        #expect(result.output.contains("ATS: 78  00  81  02"))
        #expect(result.output.contains("ID (NFCID2): 01  30  01  02  03  04  05  06"))
        #expect(result.output.contains("1 ISO14443B passive target(s) found"))
        #expect(server.statistics.damagedFrames == 0)
    }

    @Test(arguments: [("ultralight", "MIFARE Ultralight"), ("ntag213", "MIFARE Ultralight")])
    func nfcListNamesTags(fixture: String, name: String) throws {
        let server = try server(fixture)
        defer { server.stop() }
        let result = try run("/usr/bin/nfc-list", ["-v"], on: server)
        #expect(result.output.contains("ATQA (SENS_RES): 00  44"))
        #expect(result.output.contains(name))
    }

    @Test func nfcListSeesTypeB() throws {
        let server = try server("type4-b")
        defer { server.stop() }
        let result = try run("/usr/bin/nfc-list", ["-v"], on: server)
        #expect(result.output.contains("PUPI: e8  25  3e  ec"))
        #expect(result.output.contains("Application Data: 00  00  00  11"))
        #expect(result.output.contains("Protocol Info: 00  81  85"))
    }

    /// Its own REQA, anticollision, SELECT, RATS and HLTA, bit framing and CRCs included.
    @Test func nfcAnticolSelectsByHand() throws {
        let server = try server("type4")
        defer { server.stop() }
        let result = try run("/usr/bin/nfc-anticol", on: server)
        #expect(result.end == .exited(0))
        #expect(result.output.contains("UID: 04517ce1ed2580"))
        #expect(result.output.contains("ATQA: 0344"))
        #expect(result.output.contains("SAK: 20"))
        #expect(result.output.contains("ATS: 05  78  00  81  02"))
    }

    @Test(arguments: ["ultralight", "ntag213"]) func nfcMFUltralightReadsATag(fixture: String) throws {
        let server = try server(fixture)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let result = try run("/usr/bin/nfc-mfultralight", ["r", folder.path + "/dump.mfd"], on: server)
        #expect(result.end == .exited(0))
        let dump = try TestFiles.read(folder.path + "/dump.mfd")
        #expect(dump.count >= 64)
        let card = try VirtualCardFile.loadCards(TestFiles.read("Fixtures/virtual/\(fixture).json"))
        let tag = try #require(card.first as? VirtualType2Tag)
        #expect(dump.prefix(64) == tag.memory.bytes.prefix(64))
    }

    @Test(arguments: ["ultralight", "type4", "type4-b"]) func nfcPollFindsCards(fixture: String) throws {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/virtual/\(fixture).json"))
        // After some exchanges the card is taken away, so that nfc-poll ends.
        field.plan(.cardAway(from: 40))
        let server = try PN532Server(field: field)
        defer { server.stop() }
        let result = try run("/usr/bin/nfc-poll", on: server)
        #expect(result.end == .exited(0))
        #expect(result.output.contains("target:"))
        #expect(result.output.contains("done."))
    }
}
