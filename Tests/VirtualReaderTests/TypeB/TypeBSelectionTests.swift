// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import Testing
import VirtualReader

@Suite("Type B: states")
struct TypeBSelectionTests {
    /// The card of nfcpy's tests: ATQB 50 30702A1C 00000011 008185.
    private static func card(pupi: String? = "30702a1c", family: UInt8 = 0) throws -> VirtualFileCard {
        let identity = TypeBIdentity(
            pupi: try pupi.map { try Hex.decode($0) }, applicationData: [0, 0, 0, 0x11],
            protocolInfo: [0x00, 0x81, 0x85], applicationFamily: family)
        return VirtualFileCard(.typeB(try #require(identity)), files: VirtualFileTree())
    }

    @Test func requestAndAttribute() throws {
        let raw = RawCard(card: try Self.card(), technology: .typeB)
        #expect(try raw.ask("050000") == "5030702a1c00000011008185")
        #expect(try raw.ask("1d30702a1c00080100") == "00")
        #expect(try raw.ask("0200a40000") == "029000")
        #expect(try raw.ask("050008") == nil, "a card in ISO-DEP hears no WUPB")
        #expect(try raw.ask("c2") == "c2")
        #expect(try raw.ask("050000") == nil, "halted")
        #expect(try raw.ask("050008") == "5030702a1c00000011008185")
    }

    @Test func withACID() throws {
        let raw = RawCard(card: try Self.card(), technology: .typeB)
        _ = try raw.ask("050000")
        #expect(try raw.ask("1d30702a1c00050101") == "01")
        #expect(try raw.ask("0200a40000") == nil)
        #expect(try raw.ask("0a0100a40000") == "0a019000")
    }

    @Test func haltAndWakeUp() throws {
        let raw = RawCard(card: try Self.card(), technology: .typeB)
        _ = try raw.ask("050000")
        #expect(try raw.ask("5030702a1c") == "00")
        #expect(try raw.ask("050000") == nil)
        #expect(try raw.ask("1d30702a1c00080100") == nil)
        #expect(try raw.ask("050008") != nil)
    }

    /// In one of the slots, and in only one, the card answers.
    @Test(arguments: 0..<5) func timeSlots(code: Int) throws {
        let raw = RawCard(card: try Self.card(), technology: .typeB)
        for _ in 0..<20 {
            var answers = 0
            if try raw.ask("0500" + Hex.encode([UInt8(code)])) != nil { answers += 1 }
            for slot in 1..<16 where try raw.ask(Hex.encode([UInt8(slot << 4 | 5)])) != nil { answers += 1 }
            #expect(answers == 1)
        }
    }

    @Test(arguments: [(UInt8(0x00), true), (0x10, true), (0x12, true), (0x02, true), (0x20, false), (0x13, false)])
    func families(called: UInt8, isAnswered: Bool) throws {
        let reader = InProcessReader(try Self.card(family: 0x12))
        #expect(try (reader.activate(.typeB(applicationFamily: called)) != nil) == isAnswered)
    }

    @Test(arguments: [
        "", "05", "0500", "05000000", "050005", "060000", "1d30702a1c00080100", "1d30702a1d00080100", "5030702a1c",
    ])
    func ignoresUnexpectedCommands(_ frame: String) throws {
        #expect(try RawCard(card: Self.card(), technology: .typeB).ask(frame) == nil)
        #expect(try RawCard(card: Self.card(), technology: .typeA).ask("26", bits: 7, crc: false) == nil)
        #expect(try RawCard(card: Self.card(), technology: .typeB).ask("050000", crc: false) == nil)
    }

    @Test func randomPUPIChangesAfterLossOfPower() throws {
        let reader = InProcessReader(try Self.card(pupi: nil))
        var seen: Set<[UInt8]> = []
        for _ in 0..<5 {
            guard case .typeB(let target) = try reader.activate(.typeB()) else { break }
            #expect(target.applicationData == [0, 0, 0, 0x11])
            #expect(target.protocolInfo == [0x00, 0x81, 0x85])
            seen.insert(target.pupi ?? [])
        }
        #expect(seen.count == 5)
    }
}
