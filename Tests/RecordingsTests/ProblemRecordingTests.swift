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

    @Test("Each command that reads a card is kept by its name")
    func commands() {
        let words = CommandRow.all.values.filter { $0.card != nil }.compactMap { $0.name.split(separator: " ").first }
        #expect(words.count > 30)
        #expect(Set(words.map(String.init)).subtracting(RecordingWords.commands) == [])
    }

    /// Whatever a command sends and a card answers: blocks, files, writes, PINs.
    @Test("Whatever was exchanged is masked, and passes the check", arguments: CourseTests.cards)
    func isMasked(card: String) throws {
        var recording = ProblemRecording()
        let reader = RecordingReader(
            InProcessReader(try VirtualField(cardFile: TestFiles.read(card))), note: { recording.add($0) })
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
        #expect(text.contains("\"left\":[\"beginning\",\"contents\"]"))
        #expect(RecordingCheck(Array(text.utf8), name: nil).faults == [])
    }

    private static let idm: [UInt8] = [0x01, 0x12, 0x03, 0x12, 0xAB, 0xCD, 0x00, 0x42]

    private static func found(_ time: Int = 1) throws -> TranscriptEntry {
        let card = FeliCaTarget(
            idm: try #require(IDm(idm)), pmm: try #require(PMm([1, 2, 3, 4, 5, 6, 7, 8])), requestData: nil,
            bitRate: .kbps212)
        return TranscriptEntry(
            time: .milliseconds(time), event: .activate(.felica(.any), .success(.felica(card))))
    }

    /// A read of one block, and the block.
    private static func read(_ time: Int) -> TranscriptEntry {
        TranscriptEntry(
            time: .milliseconds(time),
            event: .transceive(
                [0x10, 0x06] + idm + [1, 0x8B, 0x00, 1, 0x80, 0x00], timeout: .milliseconds(20),
                .success([0x1D, 0x07] + idm + [0, 0, 1] + [UInt8](repeating: 0x5A, count: 16))))
    }

    @Test("Traffic is kept in the order of its times, and masked by type")
    func traffic() throws {
        let frame = [0xD4, 0x42, 0x10, 0x06] + Self.idm + [1, 0x8B, 0x00, 1, 0x80, 0x00]
        let line =
            [0x00, 0x00, 0xFF, UInt8(frame.count), 0 &- UInt8(frame.count)] + frame
            + [0 &- frame.reduce(0, &+), 0x00]
        var recording = ProblemRecording()
        recording.add(try Self.found(), [LinkEvent(time: .zero, .sent([0x55, 0x55, 0x00, 0x00]))])
        recording.add(
            Self.read(2),
            [
                LinkEvent(time: .milliseconds(1), .failed("/dev/ttyUSB0 of taro")),
                LinkEvent(time: .milliseconds(3), .sent(line)),
                LinkEvent(time: .milliseconds(4), .received([0x5A, 0x5A, 0x5A])),
            ])
        let text = Self.text(recording)
        #expect(RecordingCheck(Array(text.utf8), name: nil).faults == [])
        for part in ["taro", "ttyUSB0", "0312abcd0042", "5a5a"] { #expect(!text.contains(part), "\(part)") }
        let times = text.split(separator: "\n").compactMap { line in
            line.split(separator: ",").first { $0.hasPrefix("{\"t\":") }
        }
        #expect(times == [0, 1, 1, 2, 3, 4].map { "{\"t\":\($0)" })
        #expect(text.contains("\"tx\":\"0000ff12eed44210060112000000000001018b00018000"))
    }

    @Test("Contents of cards are left out, as the recording says, and never replayed")
    func contents() throws {
        var recording = ProblemRecording()
        recording.add(try Self.found())
        recording.add(Self.read(2))
        let text = Self.text(recording)
        #expect(text.contains("\"left\":[\"contents\"]"))
        let reader = ReplayReader(try Transcript(parsing: Array(text.utf8)))
        guard case .felica(let card)? = try reader.activate(.felica(.any)) else {
            Issue.record("no card")
            return
        }
        #expect(card.idm.bytes == [0x01, 0x12, 0, 0, 0, 0, 0, 1])
        let error = #expect(throws: TransportError.self) {
            try reader.transceive(
                [0x10, 0x06] + card.idm.bytes + [1, 0x8B, 0x00, 1, 0x80, 0x00], timeout: .milliseconds(20))
        }
        #expect(error == .outOfScript(detail: .init(.transcriptLeavesOut, "4")))
    }

    @Test("A command that was cut still knows its card")
    func cutCard() throws {
        var recording = ProblemRecording()
        recording.add(try Self.found())
        for time in 2..<8000 { recording.add(Self.read(time)) }
        let text = Self.text(recording)
        #expect(text.contains("\"left\":[\"beginning\",\"contents\"]"))
        #expect(!text.contains("0312abcd") && text.contains("10060112000000000001"))
        #expect(RecordingCheck(Array(text.utf8), name: nil).faults == [])
    }

    @Test("Frames without a known card are not written")
    func unknownCard() {
        var recording = ProblemRecording()
        recording.add(Self.read(2))
        let text = Self.text(recording)
        #expect(text.contains("\"tx\":\"00000000000000000000000000000000\""))
        #expect(RecordingCheck(Array(text.utf8), name: nil).faults == [])
    }

    @Test("Words that are in no list are not written")
    func words() {
        let text = ProblemRecording().text(header: Self.header, command: "taro", status: 4711, reason: "of taro")
        #expect(!text.contains("taro") && text.contains("\"status\":70,\"reason\":\"other\""))
        #expect(RecordingCheck(Array(text.utf8), name: nil).faults == [])
    }
}
