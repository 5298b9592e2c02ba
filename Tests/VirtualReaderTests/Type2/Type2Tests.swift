// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@Suite("Type 2 Tags")
struct Type2Tests {
    static let uid: [UInt8] = [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80]

    /// A reader with a tag before it, selected.
    struct Bench {
        let tag: VirtualType2Tag
        let reader: InProcessReader

        init(_ model: Type2Model, _ prepare: (inout Type2Memory) -> Void = { _ in }) throws {
            var memory = try #require(Type2Memory(model, uid: Type2Tests.uid))
            prepare(&memory)
            tag = VirtualType2Tag(memory)
            reader = InProcessReader(tag)
            try select()
        }

        func select() throws { _ = try #require(try reader.activate(.typeA())) }

        /// The answer in hexadecimal; silence is `nil`. A NAK leads to a new selection, as a reader does it.
        func ask(_ text: String) throws -> String? {
            do throws(TransportError) {
                let answer = try reader.transceive((try? Hex.decode(text)) ?? [], timeout: .seconds(1))
                if answer.count == 1, answer[0] < 0x0A { _ = try reader.activate(.typeA()) }
                return Hex.encode(answer)
            } catch {
                _ = try reader.activate(.typeA())
                return nil
            }
        }
    }

    struct Version: Sendable {
        let model: Type2Model
        let answer: String?
        let pages: Int
        let capability: String
    }

    /// GET_VERSION as in the public suites (PV1 to PV3), and the table of models.
    static let versions: [Version] = [
        Version(model: .ultralight, answer: nil, pages: 16, capability: "00000000"),
        Version(model: .ultralightC, answer: nil, pages: 44, capability: "e1101200"),
        Version(model: .mf0ul11, answer: "0004030101000b03", pages: 20, capability: "00000000"),
        Version(model: .mf0ulh11, answer: "0004030201000b03", pages: 20, capability: "00000000"),
        Version(model: .mf0ul21, answer: "0004030101000e03", pages: 41, capability: "00000000"),
        Version(model: .mf0ulh21, answer: "0004030201000e03", pages: 41, capability: "00000000"),
        Version(model: .ntag203, answer: "00", pages: 42, capability: "e1101200"),
        Version(model: .ntag210, answer: "0004040101000b03", pages: 20, capability: "e1100600"),
        Version(model: .ntag212, answer: "0004040101000e03", pages: 41, capability: "e1101000"),
        Version(model: .ntag213, answer: "0004040201000f03", pages: 45, capability: "e1101200"),
        Version(model: .ntag215, answer: "0004040201001103", pages: 135, capability: "e1103e00"),
        Version(model: .ntag216, answer: "0004040201001303", pages: 231, capability: "e1106d00"),
    ]

    @Test(arguments: versions) func modelInformation(_ version: Version) throws {
        let bench = try Bench(version.model)
        #expect(try bench.ask("60") == version.answer)
        #expect(try bench.ask("3000") == "04a8d8fc62bc2b8075480000" + version.capability)
        let last = UInt8(version.pages - 1)
        let rolled = try bench.ask("30" + Hex.encode([last]))
        #expect(rolled?.hasSuffix("04a8d8fc62bc2b8075480000") == true, "after the last page the first follows")
        #expect(try bench.ask("30" + Hex.encode([last + 1])) == "00")
        let authentication = try bench.ask("1a00")?.prefix(2)
        #expect(authentication == (version.model == .ultralightC ? "af" : version.answer == nil ? nil : "00"))
    }

    @Test func factoryMessages() throws {
        #expect(try Bench(.ntag213).ask("3004") == "0103a00c340300fe0000000000000000")
        #expect(try Bench(.ntag212).ask("3004") == "0103900a340300fe0000000000000000")
        #expect(try Bench(.ntag203).ask("3004") == "0103a010440300fe0000000000000000")
        #expect(try Bench(.ntag216).ask("3004") == "0300fe00000000000000000000000000")
    }

    @Test func writing() throws {
        let bench = try Bench(.ntag213)
        #expect(try bench.ask("a2040102030a") == "0a")
        #expect(try bench.ask("3004")?.prefix(8) == "0102030a")
        #expect(try bench.ask("a005") == "0a")
        #expect(try bench.ask("11223344000000000000000000000000") == "0a")
        #expect(try bench.ask("3005")?.prefix(8) == "11223344")
        #expect(try bench.ask("a20001020304") == "00", "the UID")
        #expect(try bench.ask("a22d01020304") == "00", "past the end")
        #expect(try bench.ask("a205010203") == "00")
        #expect(try bench.ask("a005") == "0a")
        #expect(try bench.ask("3005") == "00", "not the 16 bytes that it waits for")
    }

    /// Bits of page 3 and of the locks can only be set.
    @Test func bitsThatStaySet() throws {
        let bench = try Bench(.mf0ul11)
        #expect(try bench.ask("a20300f00001") == "0a")
        #expect(try bench.ask("a2030f000002") == "0a")
        #expect(try bench.ask("3003")?.prefix(8) == "0ff00003")
        #expect(try bench.ask("a202ffff1000") == "0a", "only the lock bytes change")
        #expect(try bench.ask("3002")?.prefix(8) == "75481000")
        #expect(try bench.ask("a20411111111") == "00")
        #expect(try bench.ask("a20511111111") == "0a")
        #expect(try bench.ask("a20200000200") == "0a")
        #expect(try bench.ask("a2020000e003") == "0a", "frozen: pages 4 to 9 keep their lock bits")
        #expect(try bench.ask("3002")?.prefix(8) == "75481200")
        #expect(try bench.ask("a202000008fc") == "0a")
        #expect(try bench.ask("a20300000004") == "00")
        #expect(try bench.ask("a20f00000004") == "00")
    }

    struct Lock: Sendable {
        let model: Type2Model
        let write: String
        let locked: [UInt8]
        let open: [UInt8]
    }

    static let locks: [Lock] = [
        Lock(model: .ntag213, write: "a22801000000", locked: [0x10, 0x11], open: [0x12, 0x27]),
        Lock(model: .ntag213, write: "a22800080000", locked: [0x26, 0x27], open: [0x10, 0x25]),
        Lock(model: .ntag215, write: "a28280000000", locked: [0x80, 0x81], open: [0x7F, 0x10]),
        Lock(model: .ntag216, write: "a2e200200000", locked: [0xE0, 0xE1], open: [0xDF]),
        Lock(model: .mf0ul21, write: "a22400020000", locked: [0x22, 0x23], open: [0x21]),
        Lock(model: .ultralightC, write: "a22802000000", locked: [0x10, 0x13], open: [0x14]),
        Lock(model: .ultralightC, write: "a22880000000", locked: [0x24, 0x27], open: [0x23]),
        Lock(model: .ultralightC, write: "a22800200000", locked: [0x2A], open: [0x29, 0x2B]),
        Lock(model: .ntag203, write: "a22820000000", locked: [0x1C, 0x1F], open: [0x1B, 0x20]),
    ]

    @Test(arguments: locks) func dynamicLocks(_ lock: Lock) throws {
        let bench = try Bench(lock.model)
        #expect(try bench.ask(lock.write) == "0a")
        for page in lock.locked { #expect(try bench.ask("a2" + Hex.encode([page]) + "01020304") == "00") }
        for page in lock.open { #expect(try bench.ask("a2" + Hex.encode([page]) + "01000000") == "0a") }
    }

    /// A bit that freezes others, all bits set after it, and what is there then.
    static let frozen: [(model: Type2Model, page: String, freeze: String, result: String)] = [
        (.ntag213, "28", "00000100", "fcff0100"), (.ntag213, "28", "00002000", "fff32000"),
        (.ntag215, "82", "00000800", "3fff0800"), (.ntag216, "e2", "00004000", "ffcf4000"),
        (.ntag212, "24", "00001000", "fffc1000"), (.mf0ul21, "24", "00000200", "f3ff0200"),
        (.ultralightC, "28", "01000000", "f1ff0000"), (.ultralightC, "28", "10090000", "1f6f0000"),
        (.ntag203, "28", "10010000", "1fef0000"),
    ]

    @Test(arguments: frozen)
    func frozenDynamicLocks(_ row: (model: Type2Model, page: String, freeze: String, result: String)) throws {
        let bench = try Bench(row.model)
        #expect(try bench.ask("a2" + row.page + row.freeze) == "0a")
        #expect(try bench.ask("a2" + row.page + "ffff0000") == "0a")
        #expect(try bench.ask("30" + row.page)?.prefix(8) == row.result.prefix(8))
    }

    @Test func fastReadAndSignature() throws {
        let bench = try Bench(.ntag213) { $0.signature = [UInt8](repeating: 0x5A, count: 32) }
        #expect(try bench.ask("3a0001") == "04a8d8fc62bc2b80")
        #expect(try bench.ask("3a002c")?.count == 360)
        #expect(try bench.ask("3a0100") == "00")
        #expect(try bench.ask("3a002d") == "00")
        #expect(try bench.ask("3c00") == String(repeating: "5a", count: 32))
        #expect(try bench.ask("3c01") == "00")
        #expect(try Bench(.ultralight).ask("3a0001") == nil)
        #expect(try Bench(.ntag203).ask("3a0001") == "00")
    }

    @Test func countersOfEV1() throws {
        let bench = try Bench(.mf0ul11) { $0.counters = [0, 0xFFFFFE, 7] }
        #expect(try bench.ask("3902") == "070000")
        #expect(try bench.ask("a502020100") == "00", "too short")
        #expect(try bench.ask("a50002010000") == "0a")
        #expect(try bench.ask("3900") == "020100")
        #expect(try bench.ask("a50101000000") == "0a")
        #expect(try bench.ask("a50101000000") == "04", "overflow")
        #expect(try bench.ask("3903") == "00")
        #expect(try bench.ask("3e00") == "bd")
    }

    /// The counter of an NTAG: off from the factory, then one for each time in the field.
    @Test func counterOfNTAG() throws {
        let bench = try Bench(.ntag213)
        #expect(try bench.ask("3902") == "00")
        #expect(try bench.ask("a22a10000000") == "0a")
        #expect(try bench.ask("3902") == "000000")
        #expect(try bench.ask("3000")?.count == 32)
        #expect(try bench.ask("3000")?.count == 32)
        #expect(try bench.ask("3902") == "010000")
        try bench.select()
        #expect(try bench.ask("3a0000") == "04a8d8fc")
        #expect(try bench.ask("3902") == "020000")
        #expect(try bench.ask("3900") == "00")
        #expect(try bench.ask("a50201000000") == "00")
    }

    @Test func counterInAPage() throws {
        let bench = try Bench(.ntag203)
        #expect(try bench.ask("a229f0ff0000") == "0a")
        #expect(try bench.ask("a2290f000000") == "0a")
        #expect(try bench.ask("a22901000000") == "04")
        #expect(try bench.ask("3029")?.prefix(8) == "ffff0000")
    }

    @Test func passwordAgainstWriting() throws {
        let bench = try Bench(.ntag213) { memory in
            memory.write(0x29, [0, 0, 0, 0x06])
            memory.write(0x2B, [0x11, 0x22, 0x33, 0x44])
            memory.write(0x2C, [0x55, 0x66, 0, 0])
        }
        #expect(try bench.ask("a20500000001") == "0a")
        #expect(try bench.ask("a20600000001") == "00")
        #expect(try bench.ask("3006") != "00")
        #expect(try bench.ask("302b")?.prefix(16) == "0000000000000000", "password and answer are not shown")
        #expect(try bench.ask("1b11223345") == "00")
        #expect(try bench.ask("1b11223344") == "5566")
        #expect(try bench.ask("a20600000001") == "0a")
        try bench.select()
        #expect(try bench.ask("a20600000001") == "00", "forgotten")
    }

    @Test func passwordAgainstReadingAndItsLimit() throws {
        let bench = try Bench(.ntag213) { memory in
            memory.write(0x29, [0, 0, 0, 0x06])
            memory.write(0x2A, [0x82, 0, 0, 0])
        }
        #expect(try bench.ask("3006") == "00")
        #expect(try bench.ask("3004") == "0103a00c340300fe04a8d8fc62bc2b80", "what is open rolls over")
        #expect(try bench.ask("3a0406") == "00")
        #expect(try bench.ask("1b00000000") == "00")
        #expect(try bench.ask("1bffffffff") == "0000")
        #expect(try bench.ask("3006") != "00")
        try bench.select()
        #expect(try bench.ask("1b00000000") == "00")
        #expect(try bench.ask("1b00000000") == "04", "the one that reaches the limit")
        #expect(try bench.ask("1bffffffff") == "04", "too many wrong ones: for good")
    }

    @Test func configurationCanBeLocked() throws {
        let bench = try Bench(.ntag213)
        #expect(try bench.ask("a22a40000000") == "0a")
        #expect(try bench.ask("a22a40000000") == "0a", "from the next selection on")
        try bench.select()
        #expect(try bench.ask("a22a00000000") == "00")
        #expect(try bench.ask("a22900000000") == "00")
        #expect(try bench.ask("a22b01020304") == "0a")
    }

    @Test func ultralightCWithoutKey() throws {
        let bench = try Bench(.ultralightC) { $0.write(0x2A, [0x05, 0, 0, 0]) }
        #expect(try bench.ask("3004")?.hasPrefix("0000000004a8d8fc") == true)
        #expect(try bench.ask("3005") == "00")
        #expect(try bench.ask("1a00")?.count == 18)
        #expect(try bench.ask("af00112233445566778899aabbccddeeff") == "00")
        #expect(try bench.ask("af00112233445566778899aabbccddeeff") == nil, "no second part without a first")
        #expect(try bench.ask("1a01") == "00")
        #expect(try bench.ask("3005") == "00")
    }

    @Test func frameWithoutChecksum() throws {
        let bench = try Bench(.ntag213)
        let answer = bench.tag.answer(RadioFrame(.typeA, [0x30, 0x00], hasCRC: false))
        #expect(answer == CardAnswer([0x01], lastByteBits: 4, hasCRC: false))
        #expect(bench.tag.answer(RadioFrame(.typeA, [0x30, 0x00])) == nil, "it fell back")
    }

    /// Whatever is sent: no trap, answers of the right shape, and the UID stays.
    @Test(arguments: Type2Model.allCases) func randomCommands(_ model: Type2Model) throws {
        let bench = try Bench(model)
        var random = SeededGenerator(seed: model.rawValue.utf8.reduce(3) { $0 &* 31 &+ UInt64($1) })
        let codes: [UInt8] = [0x30, 0xA2, 0xA0, 0x1A, 0x60, 0x3A, 0x3C, 0x1B, 0x39, 0xA5, 0x3E, 0xC2]
        var answered = 0
        for _ in TestEffort.rounds(600) {
            var frame = [codes.randomElement(using: &random) ?? 0]
            for _ in 0..<Int.random(in: 0...17, using: &random) { frame.append(.random(in: 0...0xFF, using: &random)) }
            if Bool.random(using: &random) { frame = Array(frame.prefix(frame[0] == 0xA2 ? 6 : 2)) }
            if try bench.ask(Hex.encode(frame)) != nil { answered += 1 }
        }
        #expect(answered > 20)
        #expect(bench.tag.memory.uid == Self.uid)
    }
}
