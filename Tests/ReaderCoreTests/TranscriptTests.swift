// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import Testing
import TestSupport

/// The document `kazasu.trace/1`.
struct TranscriptTests {
    static let reader = ReaderInformation(
        id: "pn532_uart:/dev/ttyUSB0", name: "A \"reader\" – かざす", longestFeliCaAnswer: 244,
        feliCaBitRates: [.kbps212])
    static let header = """
        {"schema":"kazasu.trace/1","reader":{"id":"x","name":"y"}}
        """

    static let errors: [TransportError] = [
        .noAnswer, .corrupted(status: 0x02), .cardReleased, .readerTimeout,
        .readerFailed(detail: .init(.text, "a\nb\"c")),
        .frameTooLong(length: 300, limit: 262), .answerTooLong, .cardTooSlow,
        .readerUnavailable(reason: .busy, detail: .init(.text, "held")), .unsupported(detail: .init(.text, "no")),
        .cancelled,
        .outOfScript(detail: .init(.text, "line 3")),
    ]

    @Test(arguments: errors) func errorsComeBack(_ error: TransportError) throws {
        let entries = [
            TranscriptEntry(time: .milliseconds(1), event: .activate(.felica(.any), .failure(error))),
            TranscriptEntry(
                time: .microseconds(1_234_567), event: .transceive([1, 2], timeout: .microseconds(1), .failure(error))),
        ]
        let transcript = Transcript(reader: Self.reader, entries: entries)
        #expect(try Transcript(parsing: Array(transcript.text.utf8)) == transcript)
    }

    @Test(arguments: TransportError.Reason.Code.allCases.filter { $0 != .text })
    func reasonsRoundTrip(_ code: TransportError.Reason.Code) throws {
        for reason in [.init(code), .init(code, "a"), .init(code, "a", "b", reader: "r")] as [TransportError.Reason] {
            try errorsComeBack(.readerFailed(detail: reason))
        }
    }

    @Test func randomTranscriptsRoundTrip() throws {
        var random = SeededGenerator(seed: 20)
        for _ in 0..<50 {
            let entries = (0..<Int.random(in: 0...12, using: &random)).map { _ in Self.entry(&random) }
            let transcript = Transcript(reader: Self.reader, entries: entries)
            #expect(try Transcript(parsing: Array(transcript.text.utf8)) == transcript)
        }
    }

    private static func entry(_ random: inout SeededGenerator) -> TranscriptEntry {
        func bytes() -> [UInt8] {
            (0..<Int.random(in: 0...262, using: &random)).map { _ in .random(in: 0...255, using: &random) }
        }
        let time = Duration.microseconds(Int64.random(in: 0...1_000_000_000, using: &random))
        guard Bool.random(using: &random) else {
            let entry = TranscriptEntry(
                time: time, event: .transceive(bytes(), timeout: .milliseconds(30), .success(bytes())))
            return Bool.random(using: &random) ? entry.masking(Int.random(in: 0...20, using: &random)..<25) : entry
        }
        let target = FeliCaTarget(
            idm: IDm(rawValue: random.next()), pmm: PMm(rawValue: random.next()),
            requestData: Bool.random(using: &random) ? .random(in: 0...0xFFFF, using: &random) : nil,
            bitRate: .kbps424)
        let request = ActivationRequest.felica(
            SystemCode(rawValue: .random(in: 0...0xFFFF, using: &random)), requestCode: 2, timeSlots: 15,
            bitRate: .kbps424)
        return TranscriptEntry(
            time: time, event: .activate(request, .success(Bool.random(using: &random) ? .felica(target) : nil)))
    }

    @Test func emptyLinesAndCarriageReturnsDoNotMatter() throws {
        let text =
            "\n" + Self.header + "\r\n\r\n"
            + "{\"t\":0,\"op\":\"transceive\",\"tx\":\"00\",\"timeoutMs\":1,\"rx\":\"\"}\r\n"
        let transcript = try Transcript(parsing: Array(text.utf8))
        #expect(transcript.lines.map(\.number) == [4])
        #expect(transcript.reader == ReaderInformation(id: "x", name: "y"))
    }

    struct Wrong: CustomTestStringConvertible, Sendable {
        let line: String
        let names: String
        var testDescription: String { names }
    }

    static let wrong: [Wrong] = [
        Wrong(line: "{", names: "one JSON object"),
        Wrong(line: "[]", names: ""),
        Wrong(line: "{}", names: "op"),
        Wrong(line: "{\"t\":\"now\"}", names: "op"),
        Wrong(line: "{\"t\":-1}", names: "op"),
        Wrong(line: "{\"t\":1e300}", names: "op"),
        Wrong(line: "{\"t\":0}", names: "op"),
        Wrong(line: "{\"t\":0,\"op\":\"sleep\"}", names: "op"),
        Wrong(line: "{\"t\":0,\"op\":\"activate\"}", names: "request"),
        Wrong(
            line: "{\"t\":0,\"op\":\"activate\",\"request\":{\"technology\":\"typeC\"}}", names: "request.technology"),
        Wrong(
            line: "{\"t\":0,\"op\":\"activate\",\"request\":{\"technology\":\"felica\",\"systemCode\":\"x\"}}",
            names: "request.systemCode"),
        Wrong(
            line: """
                {"t":0,"op":"activate","request":{"technology":"felica","systemCode":"FFFF","bitRate":106}}
                """, names: "request.bitRate"),
        Wrong(
            line: """
                {"t":0,"op":"activate","request":{"technology":"felica","systemCode":"FFFF","bitRate":212},
                """.replacing("\n", with: "") + "\"picc\":{\"technology\":\"felica\",\"idm\":\"00\"}}",
            names: "picc.idm"),
        Wrong(line: "{\"t\":0,\"op\":\"transceive\"}", names: "tx"),
        Wrong(line: "{\"t\":0,\"op\":\"transceive\",\"tx\":\"0\"}", names: "tx"),
        Wrong(line: "{\"t\":0,\"op\":\"transceive\",\"tx\":\"00\"}", names: "timeoutMs"),
        Wrong(line: "{\"t\":0,\"op\":\"transceive\",\"tx\":\"00\",\"timeoutMs\":1}", names: "rx"),
        Wrong(line: "{\"t\":0,\"op\":\"transceive\",\"tx\":\"00\",\"timeoutMs\":1,\"error\":\"fire\"}", names: "error"),
        Wrong(
            line: "{\"t\":0,\"op\":\"transceive\",\"tx\":\"00\",\"timeoutMs\":1,\"error\":\"corrupted\"}",
            names: "status"),
        Wrong(
            line: """
                {"t":0,"op":"transceive","tx":"00","timeoutMs":1,"rx":"","masked":{"from":0,"count":2}}
                """, names: "masked.count"),
        Wrong(
            line: """
                {"t":0,"op":"transceive","tx":"00","timeoutMs":1,"rx":"","masked":{"from":1,"count":1}}
                """, names: "masked.from"),
    ]

    @Test(arguments: wrong) func namesWrongLines(_ wrong: Wrong) throws {
        let text = Self.header + "\n\n" + wrong.line
        let error = try #require(throws: DocumentError.self) { try Transcript(parsing: Array(text.utf8)) }
        guard case .malformedLine(let line, let expected) = error else {
            Issue.record("no line: \(error)")
            return
        }
        #expect(line == 3)
        #expect(expected.key == wrong.names || expected.values.first == wrong.names || expected.code == .jsonObject)
    }

    @Test func wrongDocuments() {
        func parse(_ text: String) throws -> Transcript { try Transcript(parsing: Array(text.utf8)) }
        #expect(throws: DocumentError.missing(key: "schema")) { try parse("") }
        #expect(throws: DocumentError.missing(key: "schema")) { try parse("\n \n") }
        #expect(throws: DocumentError.malformedLine(line: 1, expected: .init(.member, "schema"))) { try parse("{}") }
        #expect(throws: DocumentError.malformedLine(line: 1, expected: .init(.member, "reader"))) {
            try parse("{\"schema\":\"kazasu.trace/1\"}")
        }
        #expect(throws: DocumentError.unknownSchema(found: "kazasu.trace/2", supported: "kazasu.trace/1")) {
            try parse("{\"schema\":\"kazasu.trace/2\"}")
        }
        let long = Self.header + "\n" + String(repeating: "x", count: Transcript.longestLine + 1)
        #expect(
            throws: DocumentError.malformedLine(line: 2, expected: .init(.atMostBytes, "\(Transcript.longestLine)"))
        ) {
            try parse(long)
        }
        let huge = [UInt8](repeating: 0x20, count: Transcript.longestDocument + 1)
        #expect(throws: DocumentError.tooLong(bytes: huge.count, limit: Transcript.longestDocument)) {
            try Transcript(parsing: huge)
        }
    }

    @Test func truncatedTranscriptsAreErrors() throws {
        let transcript = Transcript(
            reader: Self.reader,
            entries: [TranscriptEntry(time: .zero, event: .transceive([1], timeout: .zero, .success([2])))])
        let bytes = Array(transcript.text.utf8)
        for length in 0..<bytes.count - 1 {
            let part = try? Transcript(parsing: Array(bytes.prefix(length)))
            #expect(part == nil || part?.lines.isEmpty == true)
        }
    }

    /// Any byte may be wrong: an error that names the line, or a transcript that can be written and read again.
    @Test func changedTranscriptsNeverTrap() throws {
        var random = SeededGenerator(seed: 21)
        let entries =
            (0..<6).map { _ in Self.entry(&random) }
            + Self.errors.map {
                TranscriptEntry(time: .milliseconds(1), event: .transceive([1], timeout: .zero, .failure($0)))
            }
        let original = Array(Transcript(reader: Self.reader, entries: entries).text.utf8)
        var read = 0
        for _ in 0..<300 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            do throws(DocumentError) {
                let transcript = try Transcript(parsing: bytes)
                read += 1
                let again = try Transcript(parsing: Array(transcript.text.utf8))
                #expect(again.entries == transcript.entries)
            } catch {
                switch error {
                case .malformedLine(let line, _): #expect((1...entries.count + 3).contains(line))
                case .unknownSchema: break
                default: Issue.record("\(error)")
                }
            }
        }
        #expect((1..<300).contains(read), "both outcomes are seen")
    }

    @Test func countsEmptyLines() throws {
        let lines = String(repeating: "\n", count: 1000)
        let entry = TranscriptEntry(time: .zero, event: .transceive([1], timeout: .zero, .success([])))
        let text = lines + Self.header + lines + entry.line
        let transcript = try Transcript(parsing: Array(text.utf8))
        #expect(transcript.lines == [Transcript.Line(number: 2001, entry: entry)])
        #expect(try Transcript(parsing: Array((text + lines).utf8)) == transcript)
    }

    @Test func masksExistingBytesOnly() {
        let frame = TranscriptEntry(time: .zero, event: .transceive([1, 2, 3], timeout: .zero, .success([])))
        #expect(frame.masking(1..<9).masked == 1..<3)
        #expect(frame.masking(5..<9).masked == nil)
        #expect(frame.masking(-4..<1).masked == 0..<1)
        let activation = TranscriptEntry(time: .zero, event: .activate(.felica(.any), .success(nil)))
        #expect(activation.masking(0..<4) == activation)
    }

    @Test func timesNeverUnderflowOrOverflow() throws {
        for time in [Duration.seconds(-5), .seconds(Int64.max), .nanoseconds(1)] {
            let entry = TranscriptEntry(time: time, event: .activate(.felica(.any), .success(nil)))
            #expect(entry.line.hasPrefix("{\"t\":"))
            #expect(!entry.line.contains("-"))
        }
    }
}
