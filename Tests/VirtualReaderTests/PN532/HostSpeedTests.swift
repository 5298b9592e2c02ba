// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("The chip follows the host to a new line speed")
struct HostSpeedTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let acknowledges: Bool
        let hostSpeed: SerialSpeed?
        let isFast: Bool
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "ACK came", acknowledges: true, hostSpeed: nil, isFast: true),
        Case(name: "ACK was flushed away", acknowledges: false, hostSpeed: .baud921600, isFast: true),
        Case(name: "no ACK, host did not change", acknowledges: false, hostSpeed: .baud115200, isFast: false),
        Case(name: "no ACK, line does not tell", acknowledges: false, hostSpeed: nil, isFast: false),
    ]

    @Test(arguments: cases)
    func speed(_ example: Case) {
        let setSpeed = PN532Frame.encode([0xD4, 0x10, SerialSpeed.baud921600.rawValue])
        let version = PN532Frame.encode([0xD4, 0x02])
        let line = ScriptedLine(
            hostSpeed: example.hostSpeed,
            script: [setSpeed] + (example.acknowledges ? [PN532Frame.acknowledge] : []) + [version])
        let timing = TimeModel(serialLine: true, radio: false)
        PN532Chip(field: EmptyField(), line: line, timing: timing).run()

        // ACK (6 bytes) and answer (13 bytes) to GetFirmwareVersion, as long as they were on the line.
        #expect(line.durationOfLastWrite == (example.isFast ? .baud921600 : SerialSpeed.baud115200).byteTime * 13)
    }

    /// A host that says what it has to say and hangs up; its clock is moved only by waiting.
    private final class ScriptedLine: HostLine {
        /// The host changes its own end after its first words.
        private(set) var hostSpeed: SerialSpeed? = .baud115200
        var now = Duration.zero
        var durationOfLastWrite = Duration.zero
        private let nextSpeed: SerialSpeed?
        private var isFirst = true
        private var script: ArraySlice<[UInt8]>
        private var timeOfLastWrite = Duration.zero

        init(hostSpeed: SerialSpeed?, script: [[UInt8]]) {
            nextSpeed = hostSpeed
            self.script = script[...]
        }

        func read(until deadline: Duration?) -> LineEvent {
            if !isFirst { hostSpeed = nextSpeed }
            isFirst = false
            return script.popFirst().map { .bytes($0) } ?? .closed
        }

        func write(_ bytes: [UInt8]) {
            durationOfLastWrite = now - timeOfLastWrite
            timeOfLastWrite = now
        }

        func sleep(until deadline: Duration) {
            now = max(now, deadline)
        }
    }

    private final class EmptyField: RadioField {
        func exchange(_ frame: RadioFrame) -> FieldResult { .silence }
        func switchOff() {}
    }
}
