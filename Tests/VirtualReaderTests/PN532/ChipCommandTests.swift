// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("PN532 commands that need no card")
struct ChipCommandTests {
    /// One command and the answer's content; an error frame is written whole.
    static let table: [(command: String, answer: String)] = [
        ("d402", "d50332010607"),
        ("d40000313233", "d50100313233"),
        ("d40001", "d50100"),
        ("d40002", "d50100"),
        ("d40009", ChipBench.error),
        ("d400", ChipBench.error),
        ("d404", "d50500000000"),
        ("d406630263036304", "d507000000"),
        ("d40663", ChipBench.error),
        ("d406", ChipBench.error),
        ("d40863028063030a", "d509"),
        ("d40863", ChipBench.error),
        ("d408", ChipBench.error),
        ("d40c", "d50d3f0600"),
        ("d40e8082", "d50f"),
        ("d40e80", ChipBench.error),
        ("d41007", "d511"),
        ("d41009", ChipBench.error),
        ("d410", ChipBench.error),
        ("d41214", "d513"),
        ("d412", ChipBench.error),
        ("d41401", "d515"),
        ("d414010000", "d515"),
        ("d41400", ChipBench.error),
        ("d41405", ChipBench.error),
        ("d416b0", "d51700"),
        ("d416f000", "d51700"),
        ("d416", ChipBench.error),
        ("d4320101", "d533"),
        ("d43202000b0a", "d533"),
        ("d4320400", "d533"),
        ("d43205000102", "d533"),
        ("d4320a59f43f114d85616f266287", "d533"),
        ("d4320b69ff3f114185616f", "d533"),
        ("d4320cff0485", "d533"),
        ("d4320d85158a8508b28501da", "d533"),
        ("d43203", ChipBench.error),
        ("d4320500", ChipBench.error),
        ("d432", ChipBench.error),
        ("d44001", "d54127"),
        ("d440", ChipBench.error),
        ("d44400", "d54500"),
        ("d44401", "d54527"),
        ("d45200", "d55300"),
        ("d45402", "d55527"),
        ("d44600", "d54701"),
        ("d456010000", "d55701"),
        ("d45001", "d55127"),
        ("d44e010000", "d54f27"),
        ("d48c0004", ChipBench.error),
        ("d458", ChipBench.error),
        ("d4ff", ChipBench.error),
        ("d4", ChipBench.error),
    ]

    @Test(arguments: table)
    func answer(command: String, answer: String) throws {
        let bench = try ChipBench(commands: [command])
        #expect(bench.sent.first == ChipBench.ack)
        #expect(bench.answers == [answer])
        #expect(bench.counters.statistics.hostCommands == 1)
        #expect(bench.field.frames.isEmpty)
    }

    /// nfcpy's test of the line: the longest frame that there is, back as it came.
    @Test func longestLineTest() throws {
        let parameters = [0x00] + (0..<262).map { UInt8($0 & 0xFF) }
        let bench = try ChipBench(commands: ["d400" + Hex.encode(parameters)])
        #expect(bench.answers == ["d501" + Hex.encode(parameters)])
        #expect(bench.sent.last?.hasPrefix("0000ffffff0109f6d501") == true)
    }

    @Test func registersKeepWhatIsWritten() throws {
        let bench = try ChipBench(commands: ["d4086302806338aa", "d4066338630263ff"])
        #expect(bench.answers == ["d509", "d507aa8000"])
    }

    @Test func pinsChangeOnlyWithBit7() throws {
        let bench = try ChipBench(commands: ["d40e9502", "d40c", "d40e0084", "d40c"])
        #expect(bench.answers == ["d50f", "d50d150600", "d50f", "d50d150400"])
    }

    /// nfcpy looks at TxControl to know whether the field is on.
    @Test(arguments: [
        (["d4320101"], "03", 0), (["d4320101", "d4320102"], "00", 1), (["d4320100"], "00", 0),
        (["d408630483"], "83", 0), (["d4320101", "d408630480"], "80", 1), (["d4320101", "d41601"], "00", 1),
    ])
    func fieldShowsInTxControl(commands: [String], value: String, switchedOff: Int) throws {
        let bench = try ChipBench(commands: commands + ["d4066304"])
        #expect(bench.answers.last == "d507" + value)
        #expect(bench.field.switchedOff == switchedOff)
    }

    @Test func notAcknowledgeRepeatsTheLastAnswer() throws {
        let nack = try Hex.decode(ChipBench.nack)
        let bench = ChipBench([HostBytes(nack), try HostBytes(command: "d402"), HostBytes(nack), HostBytes(nack)])
        #expect(bench.answers == ["", "d50332010607", "d50332010607", "d50332010607"])
        #expect(bench.counters.statistics.hostCommands == 1)
    }

    @Test func damagedCommandGetsNoAnswer() throws {
        let bench = ChipBench([HostBytes(try Hex.decode("0000ff02fed4022b00")), try HostBytes(command: "d402")])
        #expect(bench.sent == [ChipBench.ack, "0000ff06fad50332010607e800"])
        #expect(bench.counters.statistics.damagedFrames == 1)
    }

    /// A frame that ends half-way swallows nothing: after 100 ms its start is taken for noise.
    @Test func discardsAnUnfinishedFrame() throws {
        let half: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0x01, 0xD4]
        let bench = ChipBench([HostBytes(half), try HostBytes(at: .milliseconds(1), command: "d402")])
        #expect(bench.answers == ["d50332010607"])
        #expect(bench.line.now == .milliseconds(101))
    }

    @Test func bytesAreCounted() throws {
        let bench = try ChipBench(commands: ["d402"])
        #expect(bench.counters.statistics.bytesFromHost == 9)
        #expect(bench.counters.statistics.bytesToHost == 6 + 13)
        #expect(bench.counters.statistics.commandsByCode == [0x02: 1])
    }
}
