// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("PN532: exchanging frames with a card")
struct ChipExchangeTests {
    private static let select = "d44a010100ffff0100"
    private static let read = "10060102030405060708010b00018000"
    private static let block = "1d070102030405060708000001100101000d000000000000000000001f"

    /// The published frames: read block 0 of service 000B, both ways.
    @Test func readByEitherCommand() throws {
        let bench = try ChipBench(commands: [Self.select, "d442" + Self.read, "d44001" + Self.read])
        #expect(bench.answers.dropFirst() == ["d54300" + Self.block, "d54100" + Self.block])
        #expect(bench.counters.statistics.readCommands == 2)
        #expect(bench.counters.statistics.exchanges == 3)
    }

    /// The command as in the list of published frames, checksum and all.
    @Test func publishedReadFrame() throws {
        let field = PlainField()
        let bench = ChipBench(
            [
                try HostBytes(command: Self.select),
                HostBytes(try Hex.decode("0000FF13EDD44001 1006 0102030405060708 010B00018000 2400")),
            ], field: field)
        #expect(bench.answers.last == "d54100" + Self.block)
        #expect(field.frames.last.map { Hex.encode($0) } == Self.read)
    }

    @Test(arguments: [
        (FieldResult.silence, "01"), (.damaged(status: 0x02), "02"), (.damaged(status: 0x06), "06"),
        (.answer(CardAnswer([])), "00"), (.answer(CardAnswer([0xFF])), "00ff"),
    ])
    func statusOfAnExchange(outcome: FieldResult, status: String) throws {
        let field = PlainField([1: outcome, 2: outcome])
        let bench = try ChipBench(commands: [Self.select, "d442" + Self.read, "d44001" + Self.read], field: field)
        #expect(bench.answers.dropFirst() == ["d543" + status, "d541" + status])
    }

    @Test func exchangeIsRetriedAsOftenAsAsked() throws {
        let field = PlainField([1: .silence, 2: .damaged(status: 0x02)])
        let bench = try ChipBench(commands: [Self.select, "d4320402", "d44001" + Self.read], field: field)
        #expect(bench.answers.last == "d54100" + Self.block)
        #expect(bench.counters.statistics.retriedFrames == 2)
    }

    /// A wrong target number, and a card that was never selected.
    @Test func unknownTarget() throws {
        let bench = try ChipBench(commands: ["d44001" + Self.read, Self.select, "d44002" + Self.read])
        #expect(bench.answers.first == "d54127")
        #expect(bench.answers.last == "d54127")
    }

    @Test func longCommandComesInParts() throws {
        let bench = try ChipBench(commands: [
            Self.select, "d44041" + Self.read.prefix(10), "d44041" + Self.read.dropFirst(10).prefix(6),
            "d44001" + Self.read.dropFirst(16),
        ])
        #expect(bench.answers.dropFirst() == ["d54100", "d54100", "d54100" + Self.block])
        #expect(bench.field.frames.count == 2)
    }

    @Test func longAnswerGoesInParts() throws {
        let long = (0..<600).map { UInt8($0 & 0xFF) }
        let field = PlainField([1: .answer(CardAnswer(long))])
        let bench = try ChipBench(commands: [Self.select, "d44001" + Self.read, "d44001", "d44001"], field: field)
        let parts = [long[..<262], long[262..<524], long[524...]].map { Hex.encode($0) }
        #expect(bench.answers.dropFirst() == ["d54140" + parts[0], "d54140" + parts[1], "d54100" + parts[2]])
        #expect(field.frames.count == 2)
    }

    /// 253 bytes of a card, 15 blocks: more than a normal frame holds.
    @Test func fifteenBlocksComeInAnExtendedFrame() throws {
        let answer = [0xFD] + [UInt8](repeating: 0x07, count: 252)
        let field = PlainField([1: .answer(CardAnswer(answer))])
        let bench = try ChipBench(commands: [Self.select, "d442" + Self.read], field: field)
        #expect(bench.sent.last?.hasPrefix("0000ffffff0100ffd54300fd07") == true)
    }

    // MARK: Registers that matter

    @Test func fieldOffIsSilence() throws {
        let bench = try ChipBench(commands: [Self.select, "d4320100", "d442" + Self.read, "d44001" + Self.read])
        #expect(bench.answers.suffix(2) == ["d54301", "d54101"])
        #expect(bench.field.frames.count == 1)
    }

    @Test(arguments: [("92", 1), ("a2", 1), ("82", 0), ("80", 0), ("93", 0)])
    func speedAndFramingFollowTheRegisters(mode: String, exchanges: Int) throws {
        let bench = try ChipBench(commands: ["d4320101", "d4086302\(mode)6303\(mode)", "d442" + Self.read])
        #expect(bench.field.frames.count == exchanges)
        #expect(bench.answers.last == (exchanges == 1 ? "d54300" + Self.block : "d54301"))
    }

    /// CRCs of proxmark3 and of flipperzero's issue 3871.
    @Test(arguments: [
        ("0600ffff0000", "0921"), ("0600ffff0100", "3a10"), ("0600ffff0200", "6f43"), ("060088b40000", "f725"),
    ])
    func checksum(packet: String, crc: String) throws {
        #expect(Hex.encode(FeliCaChecksum.bytes(of: try Hex.decode(packet))) == crc)
    }

    @Test func hostMayMakeTheChecksum() throws {
        let manual = "d408630212630312"
        let bench = try ChipBench(commands: [
            "d4320101", manual, "d4420600ffff00000921", "d4420600ffff00000922", "d44200", "d442",
        ])
        let response = "12010102030405060708f1f2f3f4f5f6f7f8"
        let crc = Hex.encode(FeliCaChecksum.bytes(of: try Hex.decode(response)))
        #expect(bench.answers.dropFirst(2) == ["d54300" + response + crc, "d54301", "d54301", "d54301"])
        #expect(bench.field.frames.count == 1)
    }
}
