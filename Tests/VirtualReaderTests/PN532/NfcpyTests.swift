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
    /// Runs statements with `reader` open on a card of the fixtures, and gives what they print.
    private func run(_ statements: String, card: String, timing: TimeModel = .off) throws -> (String, ChipStatistics) {
        let card = try VirtualCardFile.load(try TestFiles.read("Fixtures/cards/\(card)/card.json"))
        let name = "ttyKAZASU\(getpid())x\(UInt32.random(in: 0...UInt32.max))"
        let server = try PN532Server(field: VirtualField(cards: [card]), timing: timing, link: "/dev/\(name)")
        defer { server.stop() }
        let lines = statements.split(separator: "\n").map { "    \($0)\n" }
        let opening = "import nfc\nwith nfc.ContactlessFrontend('tty:\(name):pn532') as reader:\n"
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
    @Test func findsNothingWhereNothingIs() throws {
        let (output, _) = try run(
            """
            print(reader.sense(nfc.clf.RemoteTarget("212F", sensf_req=bytearray.fromhex("00AFFE0100"))))
            print(reader.sense(nfc.clf.RemoteTarget("106A"), nfc.clf.RemoteTarget("106B")))
            print(reader.sense(nfc.clf.RemoteTarget("424F", atr_req=bytearray(b"\\xD4" + bytes(15)))))
            """, card: "suica-p1")
        #expect(output == "None\nNone\nNone\n")
    }
}
