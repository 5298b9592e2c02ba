// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import Recordings

@Suite("The recording of a command that failed")
struct ProblemRecordingTests {
    private static let header = Recording.Header(
        course: .problem, tool: "kazasu 0.3.0", day: "2026-11-28",
        reader: ReaderInformation(id: "rcs380", name: "rc-s380"),
        isSimulated: false, system: [:])

    private static func text(_ recording: ProblemRecording, reason: String = "cardLost") -> String {
        recording.text(header: header, command: "dump", status: 74, reason: reason)
    }

    /// Whatever a command sends and a card answers: blocks, files, writes, PINs.
    @Test("Whatever was exchanged is masked, and passes the check", arguments: CourseTests.cards)
    func isMasked(card: String) throws {
        var recording = ProblemRecording()
        let reader = RecordingReader(
            InProcessReader(try VirtualField(cardFile: TestFiles.read(card))),
            redact: { entry in
                recording.add(entry)
                return entry
            }, write: nil)
        var generator = SeededGenerator(seed: 53)
        for request in [ActivationRequest.felica(.any), .typeA(), .typeB()] {
            guard let picc = try? reader.activate(request) else { continue }
            for code: UInt8 in [0x06, 0x08, 0x16, 0x30, 0x3C, 0xA2, 0xB0, 0xD6, 0x1B, 0x20] {
                let number: [UInt8] =
                    switch picc {
                    case .felica(let target): target.idm.bytes
                    case .typeA(let target): target.uid
                    case .typeB(let target): target.pupi ?? []
                    }
                let rest = (0..<20).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
                let body = [code] + number + rest
                _ = try? reader.transceive([UInt8(body.count + 1)] + body, timeout: .milliseconds(10))
                _ = try? reader.transceive([0x00, code, 0, 0, 8] + number + rest, timeout: .milliseconds(10))
                _ = try? reader.transceive([code, 4], timeout: .milliseconds(10))
            }
        }
        let check = RecordingCheck(Array(Self.text(recording).utf8), name: nil)
        #expect(check.faults == [])
        #expect(check.items.count > 10)
        #expect(check.header?.course == .problem)
    }

    @Test("A long command keeps its end, and says so")
    func isCut() throws {
        var recording = ProblemRecording()
        for number in 0..<40_000 {
            var entry = TranscriptEntry(
                time: .milliseconds(number),
                event: .transceive(
                    [0x06, 0x06], timeout: .milliseconds(20), .success([UInt8](repeating: 0, count: 200))))
            entry.took = .milliseconds(1)
            recording.add(entry)
        }
        let text = Self.text(recording)
        #expect(text.utf8.count <= ProblemRecording.longestFile && text.utf8.count > ProblemRecording.longestFile / 5)
        #expect(text.contains("\"t\":39999,") && !text.contains("\"t\":0,"))
        #expect(text.contains("\"left\":[\"beginning\"]"))
        #expect(RecordingCheck(Array(text.utf8), name: nil).faults == [])
    }

    @Test("Words that are in no list are not written")
    func words() {
        let text = ProblemRecording().text(header: Self.header, command: "taro", status: 4711, reason: "of taro")
        #expect(!text.contains("taro") && text.contains("\"status\":70,\"reason\":\"other\""))
        #expect(RecordingCheck(Array(text.utf8), name: nil).faults == [])
    }
}
