// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import Testing
import VirtualReader

/// The rules of NXP's data sheet MF0ICU2, §7.5.5 to §7.5.8, for the key of an Ultralight C.
@Suite("The key of an Ultralight C")
struct UltralightCKeyTests {
    typealias Bench = Type2Tests.Bench

    /// The key from the factory.
    static let factory = Array("IEMKAERB!NACUOYF".utf8)

    /// Both parts of AUTHENTICATE by the reader's side, as the data sheet has them; the answer to the second.
    private func authenticate(_ bench: Bench, _ key: [UInt8]) throws -> String? {
        let key = try TripleDESKey(SecretBytes(key))
        let first = try Hex.decode(#require(try bench.ask("1a00")))
        #expect(first.first == 0xAF)
        let cipher = Array(first.dropFirst())
        let number = try key.decrypt(cipher)
        let own: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        let both = try key.encrypt(own + number.dropFirst() + number.prefix(1), after: UInt64(block: cipher))
        let answer = try bench.ask("af" + Hex.encode(both))
        guard let answer, answer.hasPrefix("00"), answer.count == 18 else { return answer }
        let proof = try key.decrypt(Hex.decode(answer.dropFirst(2)), after: UInt64(block: both.suffix(8)))
        #expect(proof == [2, 3, 4, 5, 6, 7, 8, 1])
        return "proved"
    }

    @Test("AUTH0 05, AUTH1 00: pages from 5 on are neither read nor written without the key")
    func readingAndWriting() throws {
        let bench = try Bench(.ultralightC) { $0.write(0x2A, [5, 0, 0, 0]) }
        #expect(try bench.ask("3005") == "00" && bench.ask("a20511223344") == "00")
        #expect(try bench.ask("a20411223344") == "0a")
        #expect(try authenticate(bench, Self.factory) == "proved")
        #expect(try bench.ask("a20511223344") == "0a")
        #expect(try bench.ask("3004")?.hasPrefix("1122334411223344") == true)
        try bench.select()
        #expect(try bench.ask("3005") == "00", "forgotten")
    }

    @Test("AUTH1 01: only writing needs the key")
    func writing() throws {
        let bench = try Bench(.ultralightC) { memory in
            memory.write(0x2A, [3, 0, 0, 0])
            memory.write(0x2B, [1, 0, 0, 0])
        }
        #expect(try bench.ask("3003") != "00")
        #expect(try bench.ask("a20311000000") == "00" && bench.ask("a22a30000000") == "00")
        #expect(try authenticate(bench, Self.factory) == "proved")
        #expect(try bench.ask("a22a30000000") == "0a")
    }

    @Test("Wrong keys are rejected, and every challenge differs")
    func wrong() throws {
        let bench = try Bench(.ultralightC)
        var challenges: Set<String> = []
        for bit in 0..<8 {
            // Bit 0 is parity, which DES does not look at.
            var key = Self.factory
            key[3] ^= 1 << UInt8(bit)
            #expect(try authenticate(bench, key) == (bit == 0 ? "proved" : "00"))
            challenges.insert(try #require(try bench.ask("1a00")))
            try bench.select()
        }
        #expect(challenges.count == 8)
    }

    @Test("A first part is valid for one second part only")
    func once() throws {
        let bench = try Bench(.ultralightC)
        #expect(try bench.ask("1a00")?.count == 18)
        #expect(try bench.ask("3000") == "00", "it waits for the second part")
        #expect(try bench.ask("3000")?.hasPrefix("04a8d8fc") == true)
        #expect(try authenticate(bench, Self.factory) == "proved")
        #expect(try bench.ask("1a00")?.count == 18)
        #expect(try bench.ask("af0011") == "00")
    }

    @Test("A new key is written in reverse order, is never readable, and applies from the next selection")
    func newKey() throws {
        let bench = try Bench(.ultralightC)
        for (page, bytes) in [("2c", "07060504"), ("2d", "03020100"), ("2e", "0f0e0d0c"), ("2f", "0b0a0908")] {
            #expect(try bench.ask("a2" + page + bytes) == "0a")
        }
        #expect(try bench.ask("302b")?.hasPrefix("0000000004a8d8fc") == true, "what follows is page 0")
        for page in ["2c", "2d", "2e", "2f"] { #expect(try bench.ask("30" + page) == "00") }
        #expect(try authenticate(bench, Array(0..<16)) == "proved")
        #expect(try authenticate(bench, Self.factory) == "00")
    }

    @Test("Lock bit 7 of the second byte keeps the key as it is")
    func locked() throws {
        let bench = try Bench(.ultralightC)
        #expect(try bench.ask("a22800800000") == "0a")
        for page in ["2c", "2d", "2e", "2f"] { #expect(try bench.ask("a2" + page + "00000000") == "00") }
        #expect(try authenticate(bench, Self.factory) == "proved")
    }

    @Test("A key in a card file, and none for other models")
    func cardFile() throws {
        func load(_ model: String, _ key: String) throws {
            let text =
                #"{"schema":"kazasu.card/1","type2":{"model":"\#(model)","uid":"04112233445566","key":"\#(key)"}}"#
            _ = try VirtualField(cardFile: Array(text.utf8))
        }
        try load("ultralightC", "00112233445566778899aabbccddeeff")
        #expect(throws: (any Error).self) { try load("ultralightC", "0011") }
        #expect(throws: (any Error).self) { try load("ntag213", "00112233445566778899aabbccddeeff") }
    }
}
