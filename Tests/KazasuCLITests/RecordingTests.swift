// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// The traces in `Fixtures/recordings`, with the frames below them and with the answers of the commands; RecordingsTests
/// play the other files. With `KAZASU_RECORD=1` the answers in the files are written again.
@Suite("Recordings of readers", .waits)
struct RecordingTests {
    /// A command of a recording and how it ended.
    struct Section: Sendable, CustomTestStringConvertible {
        let file: String
        let command: String
        let outcome: JSONObject
        /// The number of the outcome's line, from 0.
        let line: Int
        var testDescription: String { "\(file) \(command)" }
    }

    private static let folder = "Fixtures/recordings"
    static let files = TestFiles.names(in: folder).filter { name in
        guard name.hasSuffix(".jsonl"), let bytes = try? TestFiles.read("\(folder)/\(name)") else { return false }
        return !bytes.starts(with: #"{"schema":"kazasu.recording/"#.utf8)
    }
    static let sections = files.flatMap { (try? sections(of: $0)) ?? [] }

    private static func lines(of file: String) throws -> [JSONObject] {
        try TestFiles.read("\(folder)/\(file)").split(separator: UInt8(ascii: "\n")).map {
            try JSONCursor(try JSONValue(parsing: Array($0))).object()
        }
    }

    private static func sections(of file: String) throws -> [Section] {
        var sections: [Section] = []
        var command = ""
        for (number, line) in try lines(of: file).enumerated() {
            if line["op"] == "section", case .string(let name)? = line["command"] { command = name }
            guard line["op"] == "outcome" else { continue }
            sections.append(Section(file: file, command: command, outcome: line, line: number))
        }
        return sections
    }

    @Test("Each command ends as it did when it was recorded", arguments: sections)
    func outcome(of section: Section) throws {
        guard case .integer(let status)? = section.outcome["status"] else {
            Issue.record("the outcome has no status")
            return
        }
        // Who waited in vain then waits no longer now.
        let result = try Kazasu.run(
            section.command, "--json", "--redact", "--timeout", status == 75 ? "0" : "10", "--reader",
            "replay:\(TestFiles.root)/\(Self.folder)/\(section.file)")
        #expect(result.hasEnded(Int32(clamping: status)), "\(result.errors)")
        if case .object(let error)? = section.outcome["error"] {
            #expect(try result.errorDocument().object()["reason"] == error["reason"])
        }
        guard section.outcome["answer"] != nil || !result.output.isEmpty else { return }
        let answer = try JSONValue(parsing: Array(result.output.utf8))
        if let record = getenv("KAZASU_RECORD"), record.pointee != 0 { try Self.record(answer, section) }
        #expect(Self.stable(answer) == Self.stable(section.outcome["answer"]))
    }

    /// Without what another run, program or reader has otherwise, and without how the card was asked: later versions ask
    /// in another order.
    private static func stable(_ answer: JSONValue?) -> JSONValue? {
        guard case .object(let object)? = answer else { return answer }
        return unasked(.object(object.without(["tool", "readAt", "reader"])))
    }

    private static func unasked(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object):
            let kept = object.without(["bitRate", "listing", "searchedNodes"])
            return .object(JSONObject(kept.members.map { ($0.key, unasked($0.value)) }))
        case .array(let values): return .array(values.map(unasked))
        default: return value
        }
    }

    private static func record(_ answer: JSONValue, _ section: Section) throws {
        var lines = try lines(of: section.file)
        lines[section.line]["answer"] = answer
        let text = lines.map { JSONValue.object($0).compactText + "\n" }.joined()
        let file = try #require(fopen("\(TestFiles.root)/\(folder)/\(section.file)", "wb"))
        fputs(text, file)
        fclose(file)
    }

    @Test("There is a recording of every family of drivers")
    func families() throws {
        let ids = try Self.files.map { file in
            try JSONCursor(.object(Self.lines(of: file)[0])).required("reader").required("id").text()
        }
        for family in ["virtual:", "rcs380", "rcs300", "acr122_usb:", "pn53x_usb:", "pcsc:"] {
            #expect(ids.contains { $0.hasPrefix(family) }, "\(family)")
        }
        #expect(Self.sections.count { $0.command == "dump" } >= 5)
    }

    @Test("No recording holds the number of a card or of a reader", arguments: files)
    func redacted(file: String) throws {
        let lines = try Self.lines(of: file)
        let text = String(decoding: try TestFiles.read("\(Self.folder)/\(file)"), as: UTF8.self)
        for number in ["0312abcd0042", "123456789", "serial=0", "serial=1"] {
            #expect(!text.contains(number), "\(number)")
        }
        let frames = lines.filter { $0["op"] == "link" && ($0["tx"] != nil || $0["rx"] != nil) }
        #expect(frames.count > 50, "the frames between computer and reader")
    }
}
