// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("A serial line whose ends run at different speeds")
struct SerialLineModelTests {
    /// Worked by hand. To a receiver eight times as fast a lone low bit is a start bit and seven low data bits, so 80;
    /// longer lows are a 00 without a stop bit. To one eight times as slow a whole byte is a start bit and silence.
    static let vectors: [([UInt8], Int, Int, [UInt8])] = [
        ([0xFF], 115_200, 921_600, [0x80]), ([0x00], 115_200, 921_600, [0x00]),
        ([0x55], 115_200, 921_600, [0x80, 0x80, 0x80, 0x80, 0x80]),
        ([0xAA], 115_200, 921_600, [0x00, 0x80, 0x80, 0x80]), ([0x00], 921_600, 115_200, [0xFF]),
        ([0x12, 0x34], 9600, 9600, [0x12, 0x34]), ([], 115_200, 921_600, []),
    ]

    @Test(arguments: vectors)
    func isSampledAsAUARTDoes(_ bytes: [UInt8], _ sentAt: Int, _ sampledAt: Int, _ received: [UInt8]) {
        #expect(SerialSampling.received(bytes, sentAt: sentAt, sampledAt: sampledAt) == received)
    }

    @Test(arguments: SerialSpeed.allCases) func noFrameSurvivesAnotherSpeed(_ host: SerialSpeed) {
        let commands: [[UInt8]] = [[0xD4, 0x02], [0xD4, 0x10, 0x07], [0xD4, 0x42] + [UInt8](0...40)]
        for chip in SerialSpeed.allCases {
            for command in commands {
                var parser = HostFrameParser()
                let bytes = PN532Frame.encode(command)
                parser.feed(SerialLineModel.plain.atChip(bytes, host: host, chip: chip))
                #expect(parser.next() == (host == chip ? .command(Array(command.dropFirst())) : nil))
                let answer = SerialLineModel.plain.atHost(bytes, host: host, chip: chip)
                #expect((answer == bytes) == (host == chip))
            }
        }
    }

    @Test func limitsToTheSpeedOfTheSender() {
        let bytes = PN532Frame.encode([0xD4, 0x02])
        let line = SerialLineModel(fastestToHost: 115_200)
        #expect(line.atHost(bytes, host: .baud115200, chip: .baud115200) == bytes)
        #expect(line.atHost(bytes, host: .baud921600, chip: .baud921600) != bytes)
        #expect(line.atChip(bytes, host: .baud921600, chip: .baud921600) == bytes)
    }

    @Test func fieldCanBeSwitchedOff() {
        let line = SerialLineModel(needsSameSpeed: false, fastestToChip: 9600, fastestToHost: 9600)
        #expect(line.atChip([1, 2, 3], host: .baud9600, chip: .baud921600) == [1, 2, 3])
        #expect(line.atHost([1, 2, 3], host: .baud9600, chip: .baud921600) == [1, 2, 3])
    }

    @Test func acceptsAHostOfUnknownSpeed() {
        #expect(SerialLineModel.plain.atChip([1, 2, 3], host: nil, chip: .baud921600) == [1, 2, 3])
    }
}
