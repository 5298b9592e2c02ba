// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import SimulatedChips
import Testing
import VirtualReader

@testable import PaSoRiReader

/// Cards of type A and B: single frames through the chip, the rest in software.
struct Port100TypeABTests {
    /// A card of files of each type, and what is found of it.
    static let files = """
        "masterFile": {"files": {"2F01": {"data": "450b303038200706", "size": 300, "fill": "5a", "shortID": 1}}}
        """

    private func card(_ type: String) throws -> any VirtualCard {
        let text = "{\"schema\": \"kazasu.card/1\", \(type), \(Self.files)}"
        return try #require(try VirtualCardFile.loadCards(Array(text.utf8)).first)
    }

    private func hex(_ reader: PaSoRiReader, _ command: String) throws -> String {
        Hex.encode(try reader.transceive(try Hex.decode(command), timeout: .seconds(1)))
    }

    @Test func typeA() throws {
        let bench = try Port100Bench([card(#""typeA": {"uid": "01020304"}"#)])
        guard case .typeA(let target)? = try bench.reader.activate(.typeA()) else {
            Issue.record("no card")
            return
        }
        #expect(target.uid == [1, 2, 3, 4])
        #expect(target.isISODEP)
        #expect(try hex(bench.reader, "00a4020c022f01") == "9000")
        #expect(try hex(bench.reader, "00b0000008") == "450b3030382007069000")
        // Longer than a frame: the card chains.
        #expect(try hex(bench.reader, "00b00000000100").hasSuffix("5a5a5a9000"))
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test func typeB() throws {
        let bench = try Port100Bench([card(#""typeB": {"pupi": "0a0b0c0d"}"#)])
        guard case .typeB(let target)? = try bench.reader.activate(.typeB()) else {
            Issue.record("no card")
            return
        }
        #expect(target.pupi == [0x0A, 0x0B, 0x0C, 0x0D])
        #expect(try hex(bench.reader, "00a4020c022f01") == "9000")
        #expect(try hex(bench.reader, "00b0000003") == "450b309000")
    }

    @Test func noneOfThem() throws {
        let bench = try Port100Bench()
        #expect(try bench.reader.activate(.typeA()) == nil)
        #expect(try bench.reader.activate(.typeB()) == nil)
        #expect(throws: TransportError.cardReleased) { try hex(bench.reader, "00a4000c") }
        #expect(try bench.activate() != nil)
    }

    @Test func wakeUpLikeTheVectors() throws {
        let bench = try Port100Bench([card(#""typeA": {"uid": "01020304"}"#)])
        _ = bench.link.takeLog()
        _ = try bench.reader.activate(.typeA(isoDEP: false))
        let sent = bench.link.takeLog().filter { $0.hasPrefix(">") }
        // InSetRF, every value of InSetProtocol, and WUPA as a frame of seven bits.
        #expect(sent[0].contains("d60002030f03"))
        #expect(sent[1].contains("d60200060100020003000400050106000707"))
        #expect(sent[2].contains("d604") && sent[2].contains("0052"))
    }

    /// nfcpy and the kernel give a card 30 ms: silence is rare once it was heard.
    @Test func givesTimeToACardThatAnswered() throws {
        let bench = try Port100Bench([card(#""typeA": {"uid": "01020304"}"#)])
        _ = bench.link.takeLog()
        _ = try bench.reader.activate(.typeA())
        let sent = bench.link.takeLog().filter { $0.hasPrefix(">") }
        for frame in ["d60436019320", "d60436019370", "d6043601e0"] { #expect(sent.contains { $0.contains(frame) }) }
        #expect(sent.contains { $0.contains("d6046e0052") })
    }

    @Test func sequentialWork() throws {
        let suica = try Port100Bench.suica()
        let bench = try Port100Bench([suica, card(#""typeA": {"uid": "01020304"}"#)])
        for _ in 0..<2 {
            let target = try #require(try bench.activate())
            #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
            #expect(try bench.reader.activate(.typeA()) != nil)
            #expect(try hex(bench.reader, "00a4020c022f01") == "9000")
        }
    }
}
