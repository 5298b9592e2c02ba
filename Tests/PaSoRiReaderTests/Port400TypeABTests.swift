// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import SimulatedChips
import Testing
import VirtualReader

@testable import PaSoRiReader

/// Cards of type A and B on an RC-S300: single frames through the reader, the rest in software.
struct Port400TypeABTests {
    static func card(_ type: String) throws -> any VirtualCard {
        let text = "{\"schema\": \"kazasu.card/1\", \(type), \(Port100TypeABTests.files)}"
        return try #require(try VirtualCardFile.loadCards(Array(text.utf8)).first)
    }

    private static func hex(_ reader: PaSoRiReader, _ command: String) throws -> String {
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

    /// Where the reader selects no card by itself.
    @Test func wakeUpHasSevenBitsAndNoCRC() throws {
        var behavior = Port400Behavior()
        behavior.layerThree = .switches
        let bench = try Port400Bench([Self.card(#""typeA": {"uid": "01020304"}"#)], behavior: behavior)
        _ = bench.link.takeLog()
        _ = try bench.reader.activate(.typeA(isoDEP: false))
        let sent = bench.link.takeLog().filter { $0.hasPrefix(">") }
        #expect(sent[0].hasSuffix("ff500002048f02000300"))
        #expect(sent[1].hasSuffix("ffca0000"))
        // Flags 0013: no CRC added, none checked, no prologue; 7 bits; the byte 52.
        #expect(sent[2].hasSuffix("900200139101079582000152000000"))
    }

    /// What an RC-S300 was seen to do, what its drivers assumed before, and what lies between.
    static let behaviors: [Port400Behavior] = {
        var all: [Port400Behavior] = []
        for layerThree in [Port400Behavior.LayerThree.selects, .requests, .switches] {
            for statusWithoutCard in [UInt16(0x6401), 0x6A81, 0x6300, 0x9000] {
                for (describesCard, givesUID) in [(true, true), (true, false), (false, true), (false, false)] {
                    var behavior = Port400Behavior()
                    behavior.layerThree = layerThree
                    behavior.statusWithoutCard = statusWithoutCard
                    behavior.describesCard = describesCard
                    behavior.givesUID = givesUID
                    all.append(behavior)
                }
            }
        }
        return all
    }()

    @Test(arguments: behaviors) func everyKindOfReaderFindsEveryCard(_ behavior: Port400Behavior) throws {
        let tag = #"{"schema": "kazasu.card/1", "type2": {"model": "ntag213", "uid": "04a8d862bc2b80"}}"#
        for (type, request) in Self.types {
            let bench = try Port400Bench([Self.card(type), Port100Bench.suica()], behavior: behavior)
            for _ in 0..<3 {
                #expect(try bench.reader.activate(request)?.isISODEP == true)
                #expect(try Self.hex(bench.reader, "00a4020c022f01") == "9000")
                #expect(try Self.hex(bench.reader, "00b0000008") == "450b3030382007069000")
            }
            #expect(try bench.activate() != nil)
            #expect(try bench.reader.activate(request)?.isISODEP == true)
            bench.field.removeCards()
            for _ in 0..<2 {
                #expect(try bench.reader.activate(.typeA()) == nil)
                #expect(try bench.reader.activate(.typeB()) == nil)
                #expect(try bench.activate() == nil)
            }
            bench.field.place(try Self.card(type))
            #expect(try bench.reader.activate(request)?.isISODEP == true)
            #expect(bench.chip.statistics.complaints == [])
        }
        let bench = try Port400Bench(VirtualCardFile.loadCards(Array(tag.utf8)), behavior: behavior)
        for isoDEP in [true, false, true] {
            guard case .typeA(let target)? = try bench.reader.activate(.typeA(isoDEP: isoDEP)) else {
                Issue.record("no tag")
                return
            }
            #expect(target.uid == [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80])
            #expect(!target.isISODEP)
            #expect(target.sak == 0 || target.sak == nil)
            #expect(try Self.hex(bench.reader, "3000").hasPrefix("04a8d8"))
            #expect(try bench.reader.activate(.typeB()) == nil)
        }
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test func noneOfThem() throws {
        let bench = try Port400Bench()
        #expect(try bench.reader.activate(.typeA()) == nil)
        #expect(try bench.reader.activate(.typeB()) == nil)
        #expect(throws: TransportError.cardReleased) { try Self.hex(bench.reader, "00a4000c") }
        #expect(try bench.activate() != nil)
    }

    @Test func sequentialWork() throws {
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

    @Test func shortAnswersOfAType2Tag() throws {
        let text = #"{"schema": "kazasu.card/1", "type2": {"model": "ntag213", "uid": "04a8d862bc2b80"}}"#
        let bench = try Port400Bench(VirtualCardFile.loadCards(Array(text.utf8)))
        #expect(try bench.reader.activate(.typeA())?.isISODEP == false)
        #expect(try Self.hex(bench.reader, "3000").count == 32)
        #expect(try Self.hex(bench.reader, "a20401020304") == "0a")
        #expect(try Self.hex(bench.reader, "3004").hasPrefix("01020304"))
    }
}
