// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("Faults between chip and host")
struct ChipFaultTests {
    private static let answer = "0000ff06fad50332010607e800"

    /// What the host gets for GetFirmwareVersion; the next one is answered again.
    static let table: [(fault: InjectedSerialFault, sent: [String])] = [
        (.noAcknowledge, []),
        (.acknowledgeOnly, [ChipBench.ack]),
        (.notAcknowledge, [ChipBench.nack]),
        (.syntaxError, [ChipBench.ack, ChipBench.error]),
        (.wrongDataChecksum, [ChipBench.ack, "0000ff06fad50332010607e900"]),
        (.wrongLengthChecksum, [ChipBench.ack, "0000ff06fbd50332010607e800"]),
        (.truncated(count: 4), [ChipBench.ack, "0000ff06"]),
        (.truncated(count: -1), [ChipBench.ack, ""]),
        (.junkBefore([0xA5, 0x00]), [ChipBench.ack, "a500" + answer]),
        (.split(count: 5, pause: .milliseconds(20)), [ChipBench.ack, "0000ff06fa", "d50332010607e800"]),
        (.late(.milliseconds(300)), [ChipBench.ack, answer]),
        (.twice, [ChipBench.ack, answer + answer]),
    ]

    @Test(arguments: table)
    func onceAndNoMore(fault: InjectedSerialFault, sent: [String]) throws {
        let command = try ChipBench.frame("d402")
        let bench = ChipBench(
            [HostBytes(command), HostBytes(at: .seconds(1), command)],
            faults: InjectedSerialFaults([.command(1): fault]))
        #expect(bench.sent == sent + [ChipBench.ack, Self.answer])
    }

    @Test func splitAndLateTakeTheirTime() throws {
        let plan = InjectedSerialFaults([
            .command(1): .split(count: 5, pause: .milliseconds(20)), .command(2): .late(.milliseconds(300)),
        ])
        let bench = try ChipBench(commands: ["d402", "d402"], faults: plan)
        #expect(bench.line.sent.map(\.at) == [0, 0, 20, 20, 320].map { .milliseconds($0) })
    }

    @Test func hostThatAbortsGetsNoLateAnswer() throws {
        let bench = ChipBench(
            [
                try HostBytes(command: "d402"), HostBytes(at: .milliseconds(100), PN532Frame.acknowledge),
                try HostBytes(at: .milliseconds(400), command: "d40001"),
            ], faults: InjectedSerialFaults([.command(1): .late(.milliseconds(300))]))
        #expect(bench.answers == ["d50100"])
        #expect(bench.counters.statistics.abortedCommands == 1)
    }

    @Test func deadChipStaysSilent() throws {
        let bench = try ChipBench(
            commands: ["d402", "d402", "d402"], faults: InjectedSerialFaults([.command(2): .dead]))
        #expect(bench.sent == [ChipBench.ack, Self.answer])
        #expect(bench.counters.statistics.hostCommands == 3)
    }

    @Test func statusBitsAreAdded() throws {
        let plan = InjectedSerialFaults([.code(0x44): .statusBits(0x80)])
        #expect(try ChipBench(commands: ["d44401"], faults: plan).answers == ["d545a7"])
        let empty = InjectedSerialFaults([.code(0x12): .statusBits(0x80)])
        #expect(try ChipBench(commands: ["d41200"], faults: empty).answers == ["d513"])
    }

    @Test func lengthChecksumOfAnExtendedFrame() throws {
        let echo = "d400" + String(repeating: "00", count: 256)
        let bench = try ChipBench(commands: [echo], faults: InjectedSerialFaults([.command(1): .wrongLengthChecksum]))
        #expect(bench.sent.last?.hasPrefix("0000ffffff0102fe") == true)
    }

    /// What was not acknowledged was not carried out.
    @Test(arguments: [
        (InjectedSerialFault.noAcknowledge, 0), (.notAcknowledge, 0), (.syntaxError, 0), (.acknowledgeOnly, 1),
    ])
    func cardReceivesWhatTheChipReceived(fault: InjectedSerialFault, exchanges: Int) throws {
        let bench = try ChipBench(
            commands: ["d44a010100ffff0100"], faults: InjectedSerialFaults([.command(1): fault]))
        #expect(bench.field.frames.count == exchanges)
    }

    @Test func faultOfTheSecondCommandWithACode() throws {
        let plan = InjectedSerialFaults([.code(0x02, after: 1): .notAcknowledge])
        let bench = try ChipBench(commands: ["d40001", "d402", "d40001", "d402", "d402"], faults: plan)
        #expect(bench.answers == ["d50100", "d50332010607", "d50100", ChipBench.nack, "d50332010607"])
    }

    @Test func numberWinsOverCode() {
        let plan = InjectedSerialFaults([.command(4): .twice, .code(0x02): .dead])
        #expect(plan.fault(number: 4, code: 0x02, before: 0) == .twice)
        #expect(plan.fault(number: 3, code: 0x02, before: 0) == .dead)
        #expect(plan.fault(number: 3, code: 0x02, before: 1) == nil)
    }

    @Test func repeatedAnswerIsTheUndamagedOne() throws {
        let bench = ChipBench(
            [try HostBytes(command: "d402"), HostBytes(PN532Frame.notAcknowledge)],
            faults: InjectedSerialFaults([.command(1): .wrongDataChecksum]))
        #expect(bench.answers.last == "d50332010607")
    }
}
