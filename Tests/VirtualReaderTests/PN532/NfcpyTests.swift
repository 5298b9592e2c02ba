// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing
import VirtualReader

/// nfcpy from PyPI, which opens a PN532 in its own way: line test, analogue settings, 921600 baud, power-down.
@Suite(
    "nfcpy takes the server for a PN532",
    .enabled(if: Nfcpy.canLinkInDev, "nfcpy opens only files directly in /dev, and no link can be made there"),
    .enabled(if: Nfcpy.isThere, "KAZASU_PYTHON names no Python that has nfcpy"))
struct NfcpyTests {
    /// nfcpy gives a chip 100 ms to acknowledge a command. A simulated chip on a busy machine may be later.
    private static let patience = """
        import nfc, nfc.clf.transport
        read = nfc.clf.transport.TTY.read
        nfc.clf.transport.TTY.read = lambda line, timeout: read(line, max(timeout, 10_000))

        """

    /// Runs statements with `reader` open on a card of the fixtures, and gives what they print.
    private func run(_ statements: String, card: String, timing: TimeModel = .off) throws -> (String, ChipStatistics) {
        let file = card.contains("/") ? card : "virtual/\(card)"
        let path = card.hasSuffix(".json") ? "Fixtures/\(file)" : "Fixtures/cards/\(card)/card.json"
        let field = try VirtualField(cardFile: try TestFiles.read(path))
        let name = "ttyKAZASU\(getpid())x\(UInt32.random(in: 0...UInt32.max))"
        let server = try PN532Server(field: field, timing: timing, link: "/dev/\(name)")
        defer { server.stop() }
        let lines = statements.split(separator: "\n").map { "    \($0)\n" }
        let opening = Self.patience + "with nfc.ContactlessFrontend('tty:\(name):pn532') as reader:\n"
        let result = try ChildProcess.run(Nfcpy.python, ["-c", opening + lines.joined()])
        #expect(result.end == .exited(0), "\(result.errors)")
        return (result.output, server.statistics)
    }

    @Test(arguments: [TimeModel.off, .full])
    func readsATagAndItsMessage(timing: TimeModel) throws {
        let (output, statistics) = try run(
            """
            targets = [nfc.clf.RemoteTarget(name) for name in ("106A", "106B", "212F")]
            tag = nfc.tag.activate(reader, reader.sense(*targets))
            print(tag)
            print(*tag.ndef.records)
            """, card: "felica-lite-s", timing: timing)
        #expect(output.contains("FeliCa Lite-S"))
        #expect(output.contains("https://kazasu.example"))
        #expect(output.contains("Hold a card over the reader"))
        #expect(statistics.damagedFrames == 0)
        #expect(statistics.abortedCommands == 0)
    }

    /// nfcpy's dump of a whole card: one block a command. The first block is the newest journey of the public dump.
    @Test func dumpsAFeliCaCard() throws {
        let (output, statistics) = try run(
            """
            tag = reader.connect(rdwr={"targets": ["212F"], "on-connect": lambda tag: False})
            print("\\n".join(tag.dump()))
            """, card: "suica-p1")
        #expect(output.contains("16 01 00 02 16 6c e3 3b e6 21 0a 00 00 01 e3 00"))
        #expect(statistics.readCommands > 20)
        #expect(statistics.damagedFrames == 0)
    }

    /// A system that is not there, a speed that is asked for, and a peer-to-peer target that does not exist.
    @Test func findsNothingInAnEmptyField() throws {
        let (output, _) = try run(
            """
            print(reader.sense(nfc.clf.RemoteTarget("212F", sensf_req=bytearray.fromhex("00AFFE0100"))))
            print(reader.sense(nfc.clf.RemoteTarget("106A"), nfc.clf.RemoteTarget("106B")))
            print(reader.sense(nfc.clf.RemoteTarget("424F", atr_req=bytearray(b"\\xD4" + bytes(15)))))
            """, card: "suica-p1")
        #expect(output == "None\nNone\nNone\n")
    }

    struct Tag: Sendable {
        let fixture: String
        let kind: String
    }

    static let tags = [
        Tag(fixture: "ntag213.json", kind: "Type2Tag 'NXP NTAG213'"), Tag(fixture: "type4.json", kind: "Type4ATag"),
        Tag(fixture: "type4-b.json", kind: "Type4BTag"),
    ]

    /// nfcpy drives anticollision results, GET_VERSION, ISO-DEP blocks and NDEF itself, and writes a message of its own.
    @Test(arguments: tags, [TimeModel.off, .full])
    func readsAndWritesTags(tag: Tag, timing: TimeModel) throws {
        let (output, statistics) = try run(
            """
            target = reader.sense(nfc.clf.RemoteTarget("106A"), nfc.clf.RemoteTarget("106B"))
            tag = nfc.tag.activate(reader, target)
            print(tag)
            print(*[record.uri if hasattr(record, "uri") else record.text for record in tag.ndef.records])
            import ndef
            tag.ndef.records = [ndef.TextRecord("written by nfcpy " * 6)]
            target = reader.sense(nfc.clf.RemoteTarget("106A"), nfc.clf.RemoteTarget("106B"))
            print(nfc.tag.activate(reader, target).ndef.records[0].text)
            """, card: tag.fixture, timing: timing)
        #expect(output.contains(tag.kind))
        #expect(output.contains("https://kazasu.example/tag Hold a card over it"))
        #expect(output.contains(String(repeating: "written by nfcpy ", count: 6)))
        #expect(statistics.damagedFrames == 0)
    }

    /// nfcpy enciphers with pyDes, so neither side here checks itself: a wrong key, the right one, and a new one.
    @Test func authenticatesAnUltralightC() throws {
        let (output, _) = try run(
            """
            key, other = bytes.fromhex("00112233445566778899aabbccddeeff"), b"sixteen letters."
            find = lambda: nfc.tag.activate(reader, reader.sense(nfc.clf.RemoteTarget("106A")))
            print(find())
            print(find().authenticate(other))
            tag = find()
            print(tag.authenticate(key), tag.read(5)[:4].hex(), tag.ndef.records[0].uri)
            print(tag.protect(other, read_protect=True, protect_from=8))
            print(find().authenticate(key))
            tag = find()
            print(tag.authenticate(other), tag.read(8)[:4].hex())
            """, card: "ultralight-c.json")
        #expect(
            output == """
                Type2Tag 'Mifare Ultralight C (MF01CU2)' ID=04C0FFEE123456
                False
                True 1155046b https://kazasu.example/c
                True
                False
                True 616d706c

                """)
    }

    @Test func protectsAnNTAGWithAPassword() throws {
        let (output, _) = try run(
            """
            tag = nfc.tag.activate(reader, reader.sense(nfc.clf.RemoteTarget("106A")))
            print(tag.signature.hex())
            print(tag.protect(b"123456", read_protect=True))
            tag = nfc.tag.activate(reader, reader.sense(nfc.clf.RemoteTarget("106A")))
            print(tag.authenticate(b"654321"))
            tag = nfc.tag.activate(reader, reader.sense(nfc.clf.RemoteTarget("106A")))
            print(tag.authenticate(b"123456"), len(tag.read(8)))
            """, card: "ntag213.json")
        #expect(output == String(repeating: "00", count: 32) + "\nTrue\nFalse\nTrue 16\n")
    }

    /// nfcpy enciphers with pyDes: a wrong key, the right one, blocks with MACs, and a card that it protects.
    @Test func authenticatesALiteS() throws {
        let (output, _) = try run(
            """
            find = lambda: nfc.tag.activate(reader, reader.sense(nfc.clf.RemoteTarget("212F")))
            tag = find()
            print(tag)
            print(tag.authenticate(b"fedcba9876543210"))
            print(tag.authenticate(b"0123456789abcdef"))
            print(tag.read_with_mac(0, 0x82).hex())
            tag.write_with_mac(bytes(range(16, 32)), 5)
            print(tag.read_with_mac(5, 0x90).hex())
            print(tag.protect("sixteen letters.", read_protect=True, protect_from=1))
            reader.device.mute()
            tag = find()
            try: tag.read_without_mac(5)
            except nfc.tag.TagCommandError as error: print(error)
            print(tag.authenticate(b"0123456789abcdef"))
            print(tag.authenticate(b"sixteen letters."))
            print(tag.read_with_mac(5).hex(), tag.read_without_mac(0x88).hex(), tag.read_without_mac(0x90).hex()[:6])
            tag.write_with_mac(bytes(16), 5)
            print(tag.read_with_mac(5).hex())
            try: tag.write_without_mac(bytes(16), 5)
            except nfc.tag.TagCommandError as error: print(error)
            """, card: "felica/lite-s.json")
        #expect(
            output == """
                Type3Tag 'FeliCa Lite-S (RC-S966)' ID=012E4CD2C0FFEE42 PMM=00F1000000014300 SYS=88B4
                False
                True
                000102030405060708090a0b0c0d0e0f012e4cd2c0ffee420068000000000000
                101112131415161718191a1b1c1d1e1f02feff00000000000000000000000000
                True
                authentication required to read (first block in list)
                False
                True
                101112131415161718191a1b1c1d1e1f ffff00010701fe3ffe3ffe3f00000000 010000
                00000000000000000000000000000000
                tag command error 434 (0x1b2)

                """)
    }
}
