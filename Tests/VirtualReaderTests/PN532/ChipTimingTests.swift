// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("Time model, on a clock that advances only while the chip waits")
struct ChipTimingTests {
    private static let byte = Duration.nanoseconds(86_805)
    private static let select = "d44a010100ffff0100"
    private static let serial = TimeModel(serialLine: true, radio: false)
    private static let radio = TimeModel(serialLine: false, radio: true)

    /// When the answers to commands were complete, each command sent after the answer to the one before.
    private func ends(
        _ commands: [String], timing: TimeModel, field: PlainField = PlainField()
    ) throws -> [Duration] {
        try ChipBench(commands: commands, field: field, timing: timing).line.sent.map(\.at)
    }

    @Test func offTakesNoTime() throws {
        let field = PlainField([1: .silence])
        #expect(try ends([Self.select, "d4420a0c", "d44600"], timing: .off, field: field).allSatisfy { $0 == .zero })
    }

    /// 9 bytes to the chip, 6 of ACK, 13 of answer, at 115 200 baud.
    @Test func serialLineBothWays() throws {
        #expect(try ends(["d402"], timing: Self.serial) == [Self.byte * 15, Self.byte * 28])
    }

    @Test func chipOverheadComesOnTop() throws {
        let timing = TimeModel(serialLine: false, radio: false, chipOverhead: .milliseconds(2))
        #expect(try ends(["d402", "d402"], timing: timing) == [0, 2, 2, 4].map { .milliseconds($0) })
    }

    /// The new speed holds from the host's ACK on, not from the answer on, and not without the ACK.
    @Test func speedChangesWithTheAcknowledge() throws {
        let fast = Duration.nanoseconds(10_850)
        let change = try ChipBench.frame("d41007")
        let version = try ChipBench.frame("d402")
        let acknowledged = ChipBench(
            [
                HostBytes(change), HostBytes(at: .milliseconds(5), PN532Frame.acknowledge),
                HostBytes(at: .milliseconds(10), version),
            ],
            timing: Self.serial)
        #expect(acknowledged.line.sent.last?.at == .milliseconds(10) + fast * 28)
        let ignored = ChipBench([HostBytes(change), HostBytes(at: .milliseconds(10), version)], timing: Self.serial)
        #expect(ignored.line.sent.last?.at == .milliseconds(10) + Self.byte * 28)
    }

    /// LEN and 10 more bytes at 37.76 µs and 18.88 µs: the figures of the facts, to a microsecond.
    @Test(arguments: [
        (0x06, FeliCaBitRate.kbps212, 604), (0x06, .kbps424, 302), (0x10, .kbps212, 981), (0x14, .kbps212, 1132),
        (0x1D, .kbps424, 736), (0xFD, .kbps212, 9_930), (0xFD, .kbps424, 4_965),
    ])
    func airTime(length: Int, bitRate: FeliCaBitRate, microseconds: Int) {
        let time = TimeModel.airTime(length, .felica(bitRate))
        #expect(time >= .microseconds(microseconds) && time < .microseconds(microseconds + 1))
    }

    /// Polling 06 on air, 2.417 ms to the first slot, answer 14 on air.
    @Test func pollingWithAnAnswer() throws {
        let end = try #require(try ends([Self.select], timing: Self.radio).last)
        #expect(
            end == TimeModel.airTime(6, .felica(.kbps212)) + TimeModel.firstTimeSlot
                + TimeModel.airTime(20, .felica(.kbps212)))
        #expect(end > .microseconds(4_153) && end < .microseconds(4_155))
    }

    /// No answer: 2.417 ms and one slot of 1.208 ms, 16 slots; each retry again.
    @Test(arguments: [("00", 0, 4_228), ("00", 2, 12_686), ("0f", 0, 22_352)])
    func pollingWithoutAnAnswer(timeSlots: String, retries: Int, microseconds: Int) throws {
        let field = PlainField(hasCard: false)
        let end = try #require(
            try ends(["d4320500000\(retries)", "d44a010100ffff01" + timeSlots], timing: Self.radio, field: field).last)
        #expect(end >= .microseconds(microseconds) && end < .microseconds(microseconds + 1))
    }

    @Test func thinkingTimeOfTheCard() throws {
        let field = PlainField([1: .answer(CardAnswer([0x02, 0x0D], thinkingTime: .milliseconds(7)))])
        let ends = try ends([Self.select, "d4420a0c"], timing: Self.radio, field: field)
        let exchange =
            TimeModel.airTime(2, .felica(.kbps212)) + .milliseconds(7) + TimeModel.airTime(2, .felica(.kbps212))
        #expect(ends.last == ends[1] + exchange)
    }

    /// RFConfiguration 02 sets the wait in steps of 100 µs doubled: 0A is 51.2 ms, 10 is 3.28 s.
    @Test(arguments: [(0x01, 100), (0x0A, 51_200), (0x0D, 409_600), (0x10, 3_276_800), (0xFF, 3_276_800)])
    func chipTimeout(index: UInt8, microseconds: Int) throws {
        let field = PlainField([1: .silence])
        let hex = (index < 0x10 ? "0" : "") + String(index, radix: 16)
        let ends = try ends(
            [Self.select, "d432020b0b\(hex)", "d4420a0c"], timing: Self.radio, field: field)
        #expect(ends.last == ends[1] + TimeModel.airTime(2, .felica(.kbps212)) + .microseconds(microseconds))
    }

    /// A card that thinks longer than the chip waits is silent to the host, whatever it says later.
    @Test func slowCardIsSilent() throws {
        let field = PlainField([1: .answer(CardAnswer([0x02, 0x0D], thinkingTime: .milliseconds(60)))])
        let bench = try ChipBench(commands: [Self.select, "d4420a0c"], field: field, timing: Self.radio)
        #expect(bench.answers.last == "d54301")
    }

    /// Index 0 waits until the host gives up, time model or not.
    @Test(arguments: [TimeModel.off, .full])
    func noTimeoutAtAll(timing: TimeModel) throws {
        let field = PlainField([1: .silence])
        let script: [HostBytes] = [
            try HostBytes(command: Self.select), try HostBytes(at: .seconds(1), command: "d432020b0b00"),
            try HostBytes(at: .seconds(2), command: "d4420a0c"), HostBytes(at: .seconds(60), PN532Frame.acknowledge),
            try HostBytes(at: .seconds(61), command: "d402"),
        ]
        let bench = ChipBench(script, field: field, timing: timing)
        #expect(bench.answers.suffix(2) == ["d533", "d50332010607"])
        #expect(bench.counters.statistics.abortedCommands == 1)
    }

    @Test func searchesWithoutCardsTakeTime() throws {
        let times = try ends(
            ["d43205000000", "d44a0100", "d44a010300", "d4460001ff"], timing: Self.radio)
        #expect(times[3] == .milliseconds(1))
        #expect(times[5] == .milliseconds(6))
        #expect(times[7] == .milliseconds(6) + .microseconds(102_400))
    }

    /// A host that sends the next command during the wait gets its answer, and only that.
    @Test func commandDuringAWaitEndsIt() throws {
        let field = PlainField([1: .silence])
        let bench = ChipBench(
            [
                try HostBytes(command: Self.select), try HostBytes(at: .milliseconds(10), command: "d4420a0c"),
                try HostBytes(at: .milliseconds(20), command: "d402"),
            ], field: field, timing: Self.radio)
        #expect(bench.answers.suffix(1) == ["d50332010607"])
        #expect(bench.line.now == .milliseconds(20))
    }
}
