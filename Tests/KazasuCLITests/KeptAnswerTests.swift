// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Answers that a file which cannot be written does not take along", .waits)
struct KeptAnswerTests {
    private static let license = LicenseTests.reader("sample")
    private static let pins = ["P1": "1234", "P2": "5678"]
    private static let withPINs = ["license", "-r", license, "--pin1-from", "env:P1", "--pin2-from", "env:P2"]

    static let traced: [[String]] = [
        ["poll", "-r", Card.fixture("edy")], ["balance", "-r", Card.fixture("edy")],
        ["history", "-r", Card.fixture("edy")], ["scan", "-r", Card.fixture("edy")],
        ["read", "110B", "-r", Card.fixture("edy")], ["felica", "0C:IDM", "-r", Card.fixture("edy")],
        ["apdu", "00A40000", "-r", license], withPINs,
    ]

    @Test("A trace on a full disk", arguments: traced, [[], ["--json"]])
    func trace(command: [String], options: [String]) throws {
        let whole = try Kazasu.run(command + options, environment: Self.pins)
        #expect(whole.hasEnded(0), "\(whole.errors)")
        let result = try Kazasu.run(command + options + ["--trace", "/dev/full"], environment: Self.pins)
        #expect(result.hasEnded(73), "\(result.errors)")
        #expect(result.output == whole.output, "the answer is there")
        #expect(result.errors.contains("/dev/full"))
    }

    @Test("A dump or a photo on a full disk, when the PINs were sent")
    func outputs() throws {
        let whole = try Kazasu.run(Self.withPINs, environment: Self.pins)
        for option in ["-o", "--photo"] {
            let result = try Kazasu.run(Self.withPINs + [option, "/dev/full"], environment: Self.pins)
            result.expectError(73, "/dev/full")
            #expect(result.output == whole.output)
        }
        let reader = "virtual:\(TestFiles.root)/Fixtures/iso7816/mynumber/face.json"
        let authority = "\(TestFiles.root)/Fixtures/iso7816/mynumber/authority.bin"
        let line = ["mynumber", "-r", reader, "--pin1-from", "env:P", "--ca", authority]
        let answer = try Kazasu.run(line, environment: ["P": "2222"])
        let result = try Kazasu.run(line + ["-o", "/dev/full"], environment: ["P": "2222"])
        result.expectError(73, "/dev/full")
        #expect(answer.hasEnded(0) && result.output == answer.output)
    }

    @Test("When the command fails as well, that is its status, and both are said")
    func both() throws {
        let line = ["license", "-r", Self.license, "--pin1-from", "env:P1", "-o", "/dev/full"]
        let result = try Kazasu.run(line, environment: ["P1": "9999"])
        #expect(result.hasEnded(77), "\(result.errors)")
        #expect(result.errors.contains("/dev/full") && result.errors.contains("PIN 1"))
        let json = try Kazasu.run(line + ["--json"], environment: ["P1": "9999"])
        let statuses = try json.messages.map { line in
            try JSONCursor(JSONValue(parsing: Array(line.utf8))).required("status").integer()
        }
        #expect(statuses == [73, 77])
    }

    // MARK: Dumps

    private func dump(_ folder: TemporaryFolder, _ name: String) throws -> CardDump {
        try CardDump(parsing: try TestFiles.read("\(folder.path)/\(name)"))
    }

    @Test("A dump in part never takes the place of a whole one; the hint goes on with it", arguments: ["en", "ja"])
    func incomplete(language: String) throws {
        let folder = try TemporaryFolder()
        let whole = try folder.card(Card.transit(), as: "whole.json")
        let leaving = try folder.card(Card.transit(faults: #"{"fault":"absent","from":12}"#))
        let (out, name) = ("\(folder.path)/it's my card.json", "it's my card.json")
        #expect(try Kazasu.run("dump", "-o", out, "-r", whole).hasEnded(0))
        let first = try folder.text(name)
        for _ in 0..<2 {
            let result = try Kazasu.run("dump", "-o", out, "-r", leaving, "-t", "0", "--lang", language)
            #expect(result.hasEnded(74))
            #expect(result.errors.contains(language == "en" ? "was kept" : "残しました"), "\(result.errors)")
            #expect(try folder.text(name) == first, "the whole one is kept")
            #expect(try !dump(folder, "\(name).incomplete").isComplete)
            // The hint is a command that a shell takes as it is.
            let hint = try #require(result.errors.firstMatch(of: /kazasu dump --resume .*/)).output
            let resumed = try Kazasu.shell("\(hint) -r '\(whole)'")
            #expect(resumed.hasEnded(0), "\(hint) \(resumed.errors)")
            #expect(try dump(folder, name).isComplete)
            #expect(try folder.text(name).contains(#""complete": true"#))
            _ = try folder.write(Array(first.utf8), as: name)
        }
        // What is beside it may be a whole one by now.
        _ = try folder.write(Array(first.utf8), as: "\(name).incomplete")
        #expect(try Kazasu.run("dump", "-o", out, "-r", leaving, "-t", "0").hasEnded(74))
        #expect(try folder.text("\(name).incomplete") == first)
        #expect(try !dump(folder, "\(name).incomplete2").isComplete)
    }

    @Test("Replaces incomplete dumps and files that are not dumps")
    func replaced() throws {
        let folder = try TemporaryFolder()
        let leaving = try folder.card(Card.transit(faults: #"{"fault":"absent","from":12}"#))
        for old in ["", "hello", #"{"schema":"kazasu.dump/1","complete":false,"card":{"technology":"felica"}}"#] {
            let out = try folder.write(Array(old.utf8), as: "out")
            #expect(try Kazasu.run("dump", "-o", out, "-r", leaving, "-t", "0").hasEnded(74))
            #expect(try !dump(folder, "out").isComplete)
            #expect(folder.names == ["card.json", "out"])
        }
    }

    // MARK: Standard streams

    @Test("Started without standard error, no message lands in the output file")
    func closedError() throws {
        let folder = try TemporaryFolder()
        let leaving = try folder.card(Card.transit(faults: #"{"fault":"absent","from":12}"#))
        let out = "\(folder.path)/out.json"
        let result = try Kazasu.shell("kazasu dump -v -t 0 -o '\(out)' -r '\(leaving)' 2>&-")
        #expect(result.hasEnded(74))
        #expect(try !dump(folder, "out.json").isComplete)
        let trace = "\(folder.path)/trace"
        #expect(try Kazasu.shell("kazasu poll -v --trace '\(trace)' -r '\(leaving)' 2>&-").hasEnded(0))
        #expect(try folder.text("trace").split(separator: "\n").allSatisfy { $0.hasPrefix("{") })
    }

    @Test("Started without standard output, the answer does not land in another file, and that is an error")
    func closedOutput() throws {
        let folder = try TemporaryFolder()
        let trace = "\(folder.path)/trace"
        let result = try Kazasu.shell("kazasu balance --trace '\(trace)' -r '\(Card.fixture("edy"))' >&-")
        result.expectError(73, "standard output")
        #expect(try !folder.text("trace").contains("\n10814"))
        let input = try Kazasu.shell("kazasu decode - <&-")
        input.expectError(66, "standard input")
    }
}
