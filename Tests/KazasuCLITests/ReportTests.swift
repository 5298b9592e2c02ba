// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("kazasu doctor --report", .waits)
struct ReportTests {
    private let folder: TemporaryFolder
    private let system: FileTree

    init() throws {
        folder = try TemporaryFolder()
        system = try FileTree()
    }

    private var path: String { "\(folder.path)/report.jsonl" }

    private func report(
        _ card: String, _ options: String..., environment: [String: String] = [:]
    ) throws -> ChildResult {
        try Kazasu.run(
            ["doctor", "--root", system.root, "--report", path, "-r", card] + options, environment: environment)
    }

    private func lines() throws -> [JSONObject] {
        try TestFiles.read(path).split(separator: UInt8(ascii: "\n")).map {
            try JSONCursor(try JSONValue(parsing: Array($0))).object()
        }
    }

    @Test("One file with findings, versions, and a scan and a dump that can be played")
    func whole() throws {
        let result = try report(Card.fixture("edy"), "--dump", "--yes")
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.output.contains("virtual:card.json answers"))
        let lines = try lines()
        #expect(lines[0]["schema"] == "kazasu.trace/1")
        let found = JSONCursor(.object(lines[1]))
        #expect(try found.required("schema").text() == "kazasu.report/1")
        #expect(try found.required("doctor").required("schema").text() == "kazasu.doctor/1")
        #expect(try found.required("versions").required("libnfc").text().hasPrefix("1."))
        #expect(try found.required("versions").required("libusb").text().hasPrefix("1."))
        for command in ["scan", "dump"] {
            let played = try Kazasu.run(command, "--json", "--redact", "-r", "replay:\(path)")
            #expect(played.hasEnded(0), "\(played.errors)")
            let real = try Kazasu.run(command, "--json", "--redact", "-r", Card.fixture("edy"))
            #expect(try Self.stable(played) == Self.stable(real))
        }
    }

    private static func stable(_ result: ChildResult) throws -> JSONObject {
        try JSONCursor(JSONValue(parsing: Array(result.output.utf8))).object().without(["readAt", "reader"])
    }

    /// The card's number is 01 12 03 12 AB CD 00 42, and Edy's own number stands in service 110B.
    @Test("Neither the exchanges nor the frames below them hold what is personal, and their checksums fit")
    func redacted() throws {
        #expect(try report(Card.fixture("edy"), "--dump", "--yes").hasEnded(0))
        let text = try folder.text("report.jsonl")
        for number in ["0312abcd0042", Card.file("edy"), folder.path] { #expect(!text.contains(number)) }
        let dump = String(decoding: try TestFiles.read(Card.file("edy")), as: UTF8.self)
        let number = try #require(dump.firstRange(of: "110B")).upperBound
        let block = try #require(dump[number...].firstMatch(of: /"0000": ?"([0-9a-fA-F]{32})"/)).output.1
        #expect(block.contains { $0 != "0" } && !text.contains(block.lowercased()), "\(block)")
        // The chip's frames in the log of libnfc: what was sent in one line, what came in several.
        var run: [UInt8] = []
        var frames = 0
        for line in try lines() {
            if case .string(let digits)? = line["rx"] {
                run += try JSONCursor(.string(digits)).bytes()
            } else if line["tx"] != nil {
                frames += Self.checkFrames(run)
                run = []
            }
        }
        #expect(frames > 60)
    }

    /// Checks the checksum of every PN53x frame in a run of bytes.
    private static func checkFrames(_ bytes: [UInt8]) -> Int {
        var frames = 0
        var start = 0
        while start + 5 < bytes.count {
            let length = Int(bytes[start + 3])
            guard bytes[start..<start + 3] == [0, 0, 0xFF], length > 0, start + 5 + length < bytes.count else {
                start += 1
                continue
            }
            #expect(bytes[start + 5..<start + 6 + length].reduce(0, &+) == 0)
            frames += 1
            start += length + 6
        }
        return frames
    }

    @Test("The user sees what the file contains, and is asked", arguments: [("y", true), ("n", false)])
    func asked(answer: String, writes: Bool) throws {
        let result = try Typist.run(
            ["doctor", "--root", system.root, "--report", path, "-r", Card.fixture("edy")],
            typing: ["? [y/N] =\(answer)"])
        #expect(result.end == .exited(writes ? 0 : 130), "\(result.output)")
        #expect((access(path, F_OK) == 0) == writes)
        for words in ["The report contains:", "libnfc 1.", "exchanges with the card", "(--dump adds them)", "Masked"] {
            #expect(result.output.contains(words), "\(words)")
        }
        let japanese = try Kazasu.run(
            "doctor", "--root", system.root, "--report", path, "-r", Card.fixture("edy"), "--yes", "--lang=ja")
        for words in ["レポートの内容:", "カードとのやりとり", "伏せるもの", "に書きました"] {
            #expect(japanese.errors.contains(words), "\(words)")
        }
        let dump = try report(Card.fixture("edy"), "--dump", "--yes").errors
        #expect(dump.contains("Not masked") && dump.contains("journeys, payments and balances"), "\(dump)")
    }

    @Test("Where nobody can be asked nothing is read, and nothing is written")
    func unasked() throws {
        try report(Card.fixture("edy")).expectError(64, "cannot ask for confirmation: no terminal", after: 1)
        #expect(access(path, F_OK) != 0)
        #expect(try Kazasu.run("doctor", "--dump").hasEnded(64))
        #expect(try Kazasu.run("doctor", "--report", "-", "--yes").hasEnded(64))
        try Kazasu.run("doctor", "--root", system.root, "--report", "/dev/null/x", "--yes").expectError(73, after: 1)
    }

    @Test("No reader, and one that does not open: the findings are worth a report")
    func noReader() throws {
        let none = try Kazasu.run("doctor", "--root", system.root, "--report", path, "--yes")
        #expect(none.hasEnded(69))
        #expect(none.errors.contains("none can be used"))
        #expect(try lines().count == 2)
        let mute = try report("pn532_uart:/dev/nowhere", "--yes")
        #expect(mute.hasEnded(69))
        let found = JSONCursor(.object(try lines()[1]))
        #expect(try found.required("readerError").required("reason").text() == "absent")
    }

    @Test("Why a reader does not open says neither where the home folder is nor the reader's serial number")
    func scrubbedFailure() throws {
        let home = "\(folder.path)/home"
        for reader in ["virtual:\(home)/none.json", "rcs380:serial=1234567"] {
            #expect(try report(reader, "--yes", environment: ["HOME": home]).hasEnded(69))
            let text = try folder.text("report.jsonl")
            #expect(!text.contains(home) && !text.contains("1234567"), "\(text)")
        }
    }

    @Test("Ctrl-C at the question ends the command, also while the reader is held")
    func interruptedQuestion() throws {
        let result = try Typist.run(
            ["doctor", "--root", system.root, "--report", path, "-r", Card.fixture("edy")], typing: ["? [y/N] =^C"])
        #expect(result.end == .exited(130), "\(result.output)")
        #expect(access(path, F_OK) != 0)
    }

    @Test("Another kind of card, and one that leaves: what was seen until then is in the report, and is played so")
    func failures() throws {
        let tag = "virtual:\(TestFiles.root)/Fixtures/virtual/ntag213.json"
        let leaving = try folder.card(Card.transit(faults: #"{"fault":"absent","from":12}"#))
        for (card, expected) in [(leaving, Int64(74)), (tag, 76)] {
            #expect(try report(card, "--yes", "--timeout", "0").hasEnded(0))
            let outcome = try #require(try lines().first { $0["op"] == "outcome" })
            #expect(outcome["status"] == .integer(expected))
            let played = try Kazasu.run("scan", "--json", "--timeout", "0", "-r", "replay:\(path)")
            #expect(played.hasEnded(Int32(clamping: expected)), "\(played.errors)")
        }
    }
}
