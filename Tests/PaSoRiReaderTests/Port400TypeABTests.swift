// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NFCTransport
import Testing
import VirtualReader

@testable import PaSoRiReader

/// Cards of type A and B on an RC-S300: single frames through the reader, the rest in software.
struct Port400TypeABTests {
    static func card(_ type: String) throws -> any VirtualCard {
        let text = "{\"schema\": \"kazasu.card/1\", \(type), \(Port100TypeABTests.files)}"
        return try #require(try VirtualCardFile.loadCards(Array(text.utf8)).first)
    }

    private static func hex(_ reader: Port400Reader, _ command: String) throws -> String {
        Hex.encode(try reader.transceive(try Hex.decode(command), timeout: .seconds(1)))
    }

    static let types: [(String, ActivationRequest)] = [
        (#""typeA": {"uid": "01020304"}"#, .typeA()), (#""typeA": {"uid": "01020304050607"}"#, .typeA()),
        (#""typeB": {"pupi": "0a0b0c0d"}"#, .typeB()),
    ]

    @Test(arguments: types) func carriesAPDUs(_ type: String, _ request: ActivationRequest) throws {
        let bench = try Port400Bench([Self.card(type)])
        #expect(try bench.reader.activate(request)?.isISODEP == true)
        #expect(try Self.hex(bench.reader, "00a4020c022f01") == "9000")
        #expect(try Self.hex(bench.reader, "00b0000008") == "450b3030382007069000")
        // Longer than a frame: the card chains.
        #expect(try Self.hex(bench.reader, "00b00000000100").hasSuffix("5a5a5a9000"))
        // Found again, though it was in the middle of ISO-DEP.
        #expect(try bench.reader.activate(request)?.isISODEP == true)
        #expect(try Self.hex(bench.reader, "00a4020c022f01") == "9000")
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test func theWakeUpIsAFrameOfSevenBitsWithoutCRC() throws {
        let bench = try Port400Bench([Self.card(#""typeA": {"uid": "01020304"}"#)])
        _ = bench.link.takeLog()
        _ = try bench.reader.activate(.typeA(isoDEP: false))
        let sent = bench.link.takeLog().filter { $0.hasPrefix(">") }
        #expect(sent[0].hasSuffix("ff500002048f02000300"))
        // Flags 0013: no CRC added, none checked, no prologue; 7 bits; the byte 52.
        #expect(sent[1].hasSuffix("900200139101079582000152000000"))
    }

    @Test func noneOfThem() throws {
        let bench = try Port400Bench()
        #expect(try bench.reader.activate(.typeA()) == nil)
        #expect(try bench.reader.activate(.typeB()) == nil)
        #expect(throws: TransportError.cardReleased) { try Self.hex(bench.reader, "00a4000c") }
        #expect(try bench.activate() != nil)
    }

    @Test func oneAfterTheOther() throws {
        let bench = try Port400Bench([
            Port100Bench.suica(), Self.card(#""typeA": {"uid": "01020304"}"#),
            Self.card(#""typeB": {"pupi": "0a0b0c0d"}"#),
        ])
        for _ in 0..<3 {
            let target = try #require(try bench.activate())
            #expect(try bench.requestSystemCode(target).first == 0x11)
            for request in [ActivationRequest.typeA(), .typeB()] {
                #expect(try bench.reader.activate(request) != nil)
                #expect(try Self.hex(bench.reader, "00a4020c022f01") == "9000")
            }
        }
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test func aType2TagsShortAnswers() throws {
        let text = #"{"schema": "kazasu.card/1", "type2": {"model": "ntag213", "uid": "04a8d862bc2b80"}}"#
        let bench = try Port400Bench(VirtualCardFile.loadCards(Array(text.utf8)))
        #expect(try bench.reader.activate(.typeA())?.isISODEP == false)
        #expect(try Self.hex(bench.reader, "3000").count == 32)
        #expect(try Self.hex(bench.reader, "a20401020304") == "0a")
        #expect(try Self.hex(bench.reader, "3004").hasPrefix("01020304"))
    }
}
