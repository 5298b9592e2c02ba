// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import PN53xReader

/// The chip's time-out, libnfc's, and when a host command is spent on them.
@Suite(.waits)
struct TimeoutTests {
    /// Time asked for in microseconds → the chip's step in microseconds.
    static let steps: [(Int, Int)] = [
        (0, 100), (100, 100), (101, 200), (51_200, 51_200), (51_201, 102_400), (102_400, 102_400),
        (102_401, 204_800), (204_800, 204_800), (409_600, 409_600), (614_000, 819_200), (819_200, 819_200),
        (819_201, 1_638_400), (3_276_800, 3_276_800), (3_276_801, 3_276_800), (60_000_000, 3_276_800), (-5, 100),
    ]

    @Test(arguments: steps) func chipTimeIsRoundedUp(_ asked: Int, _ step: Int) {
        #expect(ChipTimeout(atLeast: .microseconds(asked)).duration == .microseconds(step))
    }

    @Test func timeoutsFollowTheStepsOfTheChip() {
        #expect(ChipTimeout.initial.duration == .microseconds(51_200))
        #expect(ChipTimeout.initial.code == 0x0A)
        #expect(ChipTimeout.longest.duration == .microseconds(3_276_800))
        #expect(ChipTimeout(atLeast: .milliseconds(614)).code == 0x0E)
        #expect(ChipTimeout.longest.steps(above: .initial) == 6)
    }

    /// Real waiting time in microseconds → what libnfc is told on a serial port and on USB.
    static let hostTimes: [(Int, Int32, Int32)] = [
        (0, 1, 201), (-100, 1, 201), (1, 1, 201), (999, 1, 201), (1000, 1, 201), (1001, 2, 202), (200_000, 200, 400),
        (350_000, 350, 550), (451_200, 452, 652), (1_000_000, 1000, 1200), (600_000_000, 600_000, 600_200),
        (601_500_000, 600_000, 600_200),
    ]

    @Test(arguments: hostTimes) func usbDriversLose200Milliseconds(_ time: Int, _ serial: Int32, _ usb: Int32) {
        #expect(HostTimeout(waiting: .microseconds(time), overUSB: false).milliseconds == serial)
        #expect(HostTimeout(waiting: .microseconds(time), overUSB: true).milliseconds == usb)
    }

    @Test(arguments: [Duration.zero, .milliseconds(10), .seconds(1), .seconds(100), .seconds(Int64.max)])
    func timeoutsAreFiniteAndLongEnoughForUSB(_ time: Duration) {
        for overUSB in [false, true] {
            let told = HostTimeout(
                waiting: ChipTimeout(atLeast: time).duration + Chipset.allowance, overUSB: overUSB
            ).milliseconds
            #expect(told >= 400 + (overUSB ? 200 : 0))
            #expect(HostTimeout(waiting: time, overUSB: overUSB).milliseconds > (overUSB ? 200 : 0))
        }
    }

    /// The chip grants a card the time that it asks for, and the host waits for the chip, far longer than its caller allows.
    @Test func aCardMayAskForMoreThanTheCallerAllows() throws {
        let late = InjectedSerialFaults([.code(0x40, after: 1): .late(.milliseconds(1500))])
        let bench = try Bench(.serial, card: try ISO14443Tests.cardA(), serial: late, patience: 1)
        #expect(bench.reader.information.longestExtension == .seconds(60))
        #expect(try bench.reader.activate(.typeA()) != nil)
        for _ in 0..<3 { #expect(try bench.exchange(ISO14443Tests.select) == [0x90, 0x00]) }
    }

    // MARK: When to spend a command

    struct Step: Sendable {
        var time: Int
        var silent = false
        var change: UInt8?
    }

    static let runs: [[Step]] = [
        // Short ones need none.
        [Step(time: 5), Step(time: 51), Step(time: 0, silent: true), Step(time: 5, silent: true)],
        // Raised once, kept for those that follow.
        [Step(time: 614, change: 0x0E), Step(time: 614), Step(time: 5), Step(time: 700), Step(time: 5)],
        // A silence that cost too much is not paid twice.
        [
            Step(time: 614, change: 0x0E), Step(time: 5, silent: true), Step(time: 5, silent: true, change: 0x0A),
            Step(time: 614, change: 0x0E), Step(time: 5, change: 0x0A),
        ],
        // One step above is not worth it.
        [Step(time: 60, change: 0x0B), Step(time: 5, silent: true), Step(time: 5, silent: true)],
        // A silence that lasted as long as expected is not a reason.
        [Step(time: 614, silent: true, change: 0x0E), Step(time: 5)],
    ]

    @Test(arguments: runs) func sendsTheSpeedCommandOnlyWhenWorthwhile(_ steps: [Step]) {
        var policy = ChipTimeoutPolicy()
        for step in steps {
            let time = Duration.milliseconds(step.time)
            let change = policy.change(for: time)
            #expect(change?.code == step.change)
            if let change { policy.didSet(change) }
            if step.silent { policy.didMeetSilence(within: time) }
        }
    }

    @Test func configuresAnUnknownChipFirst() {
        var policy = ChipTimeoutPolicy()
        policy.forget()
        #expect(policy.change(for: .zero) == .initial)
        policy.didMeetSilence(within: .zero)
        policy.didSet(.initial)
        #expect(policy.change(for: .zero) == nil)
    }

    @Test func chipWaitsAsLongAsTheCardMayTake() throws {
        let bench = try Bench(timing: .off)
        try bench.activate()
        let before = bench.server.statistics.commandsByCode[0x32, default: 0]
        _ = try bench.exchange(TestCard.requestSystemCode, within: .milliseconds(614))
        #expect(bench.server.statistics.commandsByCode[0x32] == before + 1)
        for _ in 0..<5 { _ = try bench.exchange(TestCard.requestSystemCode, within: .milliseconds(614)) }
        for _ in 0..<5 { _ = try bench.exchange(TestCard.requestSystemCode, within: .milliseconds(5)) }
        #expect(bench.server.statistics.commandsByCode[0x32] == before + 1)
    }
}
