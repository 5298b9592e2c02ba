// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("Passwords and mirrors of virtual Type 2 Tags")
struct Type2PasswordTests {
    /// Sends commands in hexadecimal to a tag and gives the answers; it is selected again after a NAK.
    private final class Bench {
        let reader: InProcessReader

        init(_ memory: Type2Memory) throws {
            reader = InProcessReader(VirtualType2Tag(memory))
            try select()
        }

        convenience init(uid: String = "04E141124C2880") throws {
            try self.init(#require(Type2Memory(.ntag213, uid: Hex.decode(uid))))
        }

        func select() throws { _ = try #require(try reader.activate(.typeA())) }

        func ask(_ text: String) throws -> String {
            let answer = try reader.transceive(try Hex.decode(text), timeout: .milliseconds(100))
            if answer.count == 1, answer[0] != 0x0A { try select() }
            return Hex.encode(answer, uppercase: true)
        }
    }

    @Test("W1: what a real NTAG213 answers, up to the password that locks it")
    func limit() throws {
        let bench = try Bench()
        for write in ["A22A82050000", "A22BDEADBEAF", "A2290400000A"] { #expect(try bench.ask(write) == "0A") }
        try bench.select()
        #expect(try bench.ask("1BDEADBEA0") == "00")
        #expect(try bench.ask("1BDEADBEAF") == "0000")
        #expect(try bench.ask("1BDEADBEA0") == "00")
        #expect(try bench.ask("1BDEADBEA0") == "04")
        #expect(try bench.ask("1BDEADBEAF") == "04")
    }

    @Test("W4, W5: UID and counter in place of the memory")
    func mirror() throws {
        var memory = try #require(Type2Memory(.ntag213, uid: Hex.decode("04E141124C2880")))
        memory.write(0x29, [0xD4, 0, 0x0C, 0xFF])
        memory.counters[2] = 0x003F31
        var bench = try Bench(memory)
        memory.write(0x2A, [0x10, 0x05, 0, 0])
        memory.counters[2] -= 1
        bench = try Bench(memory)
        #expect(try bench.ask("3902") == "303F00")
        let pages = try Hex.decode(bench.ask("3A0C11"))
        #expect(String(decoding: pages[1..<22], as: UTF8.self) == "04E141124C2880x003F31")
        #expect(try bench.ask("3902") == "313F00")
        #expect(pages[0] == 0 && pages[22...].allSatisfy { $0 == 0 })
        memory.write(0x29, [0x54, 0, 0x0C, 0xFF])
        #expect(try String(decoding: Hex.decode(Bench(memory).ask("300C"))[1..<15], as: UTF8.self) == "04E141124C2880")
        memory.write(0x29, [0x94, 0, 0x0C, 0xFF])
        #expect(try String(decoding: Hex.decode(Bench(memory).ask("300C"))[1..<7], as: UTF8.self) == "003F31")
        memory.write(0x29, [0xD4, 0, 0x03, 0xFF])
        #expect(try Bench(memory).ask("300C") == String(repeating: "00", count: 16))
    }

    @Test("W6: writing and reading near the first protected page")
    func protection() throws {
        let bench = try Bench()
        #expect(try bench.ask("A22900000004") == "0A")
        try bench.select()
        #expect(try bench.ask("3004").count == 32)
        #expect(try bench.ask("A20400000000") == "00")
        try bench.select()
        #expect(try bench.ask("1BFFFFFFFF") == "0000")
        #expect(try bench.ask("A22A80050000") == "0A")
        try bench.select()
        let pages = try bench.ask("3001")
        #expect(pages.suffix(8) == "04E1412C", "pages 01 to 03, then 00")
        #expect(try bench.ask("3004") == "00")
    }

    @Test("W7: AUTH0 counts from the next selection on")
    func nextSelection() throws {
        let bench = try Bench()
        #expect(try bench.ask("A2290000000A") == "0A")
        #expect(try bench.ask("A20A01020304") == "0A")
        try bench.select()
        #expect(try bench.ask("A20A01020304") == "00")
    }
}
