// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Outputs that would destroy a file of the command, and pipes that nobody serves", .waits)
struct OutputSafetyTests {
    private let folder: TemporaryFolder

    /// A folder with a copy of each file that the lines below name.
    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.write(try TestFiles.read(Card.file("suica-p1")), as: "card.json")
        _ = try folder.write(try TestFiles.read("Fixtures/iso7816/license/sample.json"), as: "license.json")
        _ = try folder.write(try TestFiles.read("Fixtures/tags/ntag213.json"), as: "tag.json")
        _ = try folder.write(Array("Date = date\nFare = fare\n".utf8), as: "columns.txt")
        _ = try folder.write(Array("1234\n".utf8), as: "pin")
        _ = try folder.write(Array("5678\n".utf8), as: "pin2")
        _ = try folder.write(Array("00A4040007D276000085010100\n".utf8), as: "card.apdu")
        _ = try folder.write(Array(StationsTests.own.utf8), as: "stations.csv")
        let kept = try run("history card.json --keep --ledger ledger.sqlite")
        try #require(kept.hasEnded(0), "\(kept.errors)")
        _ = try folder.write(try TestFiles.read("\(folder.path)/ledger.sqlite"), as: "ledger.html")
    }

    /// Runs a line in the folder.
    private func run(_ line: String) throws -> ChildResult {
        try ChildProcess.run(
            "/bin/sh", ["-c", "cd '\(folder.path)' && exec \"$KAZASU\" \(line)"],
            environment: Kazasu.environment.merging(["KAZASU": Kazasu.service]) { $1 }, limit: .seconds(120))
    }

    /// The contents of the folder.
    private func contents() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in folder.names { files[name] = try TestFiles.read("\(folder.path)/\(name)") }
        return files
    }

    static let conflicts = [
        "convert card.json --to json -o card.json", "convert card.json --to json -o ./../$(basename $PWD)/card.json",
        "convert - --to json -o card.json < card.json",
        "history card.json -o card.json", "history card.json --stations stations.csv -o stations.csv",
        "history card.json --keep --ledger ledger.sqlite -o ledger.sqlite",
        "history card.json --keep --ledger ledger.sqlite -o ledger.sqlite-wal",
        "history card.json -o ledger.sqlite",
        "dump -r virtual:card.json -o card.json", "dump -r virtual:card.json --trace card.json",
        "dump -r virtual:card.json --resume card.json --trace card.json",
        "dump -r virtual:card.json --trace x -o x", "dump -r virtual:card.json --trace ledger.sqlite",
        "dump -r virtual:card.json --virtual-writes x -o x",
        "balance -r virtual:card.json --virtual-writes ledger.sqlite",
        "license -r virtual:license.json --pin1-from file:pin --pin2-from file:pin2 --photo pin2",
        "license -r virtual:license.json --pin1-from file:pin -o pin",
        "license -r virtual:license.json --pin1-from file:pin --photo x -o x",
        "tag read -r virtual:tag.json --raw tag.json", "apdu card.apdu -r virtual:tag.json --trace card.apdu",
        "simulate card.json --stats card.json", "simulate card.json --stats ledger.sqlite",
        "doctor --report ledger.sqlite --yes",
        "ledger list --format csv --ledger ledger.sqlite -o ledger.sqlite",
        "ledger export csv --ledger ledger.sqlite -o ledger.sqlite",
        "ledger export csv --claim --columns columns.txt --ledger ledger.sqlite -o columns.txt",
        "ledger report --ledger ledger.html -o ledger.html",
        "ledger cards --ledger ledger.sqlite -o ledger.sqlite-journal",
    ]

    @Test("They are refused, and everything stays as it was", arguments: conflicts)
    func conflict(line: String) throws {
        let before = try contents()
        let result = try run(line)
        #expect(result.hasEnded(64), "\(result)")
        #expect(result.errors.contains("kazasu: ") && !result.errors.contains("--help"), "\(result.errors)")
        #expect(try contents() == before)
    }

    @Test("The reason has a word")
    func reason() throws {
        let result = try run("convert card.json --to json -o card.json --json")
        #expect(try result.errorDocument().required("reason").text() == "fileInUse")
    }

    @Test("A hard link and a link are the same file")
    func links() throws {
        #expect(Glibc.link("\(folder.path)/card.json", "\(folder.path)/hard.json") == 0)
        #expect(symlink("card.json", "\(folder.path)/soft.json") == 0)
        let before = try contents()
        for name in ["hard.json", "soft.json"] {
            let result = try run("convert card.json --to json -o \(name)")
            #expect(result.hasEnded(name == "soft.json" && geteuid() == 0 ? 73 : 64), "\(result.errors)")
        }
        #expect(try contents() == before)
    }

    @Test("A dump that is continued and a virtual card that is written to are replaced")
    func replaced() throws {
        #expect(try run("dump -r virtual:card.json -o d.json").hasEnded(0))
        #expect(try run("dump -r virtual:card.json --resume d.json -o d.json").hasEnded(0))
        let result = try run("tag write --text hello --yes -r virtual:tag.json --virtual-writes tag.json")
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(try run("tag read -r virtual:tag.json").output.contains("hello"))
    }

    // MARK: Links and devices

    @Test("As root no link is followed, and nobody's disk is written to", arguments: ["en", "ja"])
    func link(language: String) throws {
        #expect(symlink("target", "\(folder.path)/link") == 0)
        for line in ["dump -r virtual:card.json -o link", "balance -r virtual:card.json --trace link"] {
            let result = try run("\(line) --lang \(language)")
            guard geteuid() == 0 else {
                #expect(result.hasEnded(0))
                continue
            }
            result.expectError(73, language == "en" ? "link is a link" : "link はリンクです")
            #expect(!folder.names.contains("target"))
        }
    }

    // MARK: Pipes

    static let readers = [
        "decode pipe", "decode card.json pipe", "convert pipe --to json", "apdu pipe -r virtual:tag.json",
        "history card.json --stations pipe", "ledger import pipe --ledger new.sqlite",
        "ledger export csv --columns pipe --ledger ledger.sqlite",
        "license -r virtual:license.json --pin1-from file:pipe", "watch --config pipe",
        "balance -r virtual:pipe",
    ]

    @Test("A FIFO that nobody writes to is not waited for", arguments: readers)
    func unwritten(line: String) throws {
        #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
        let result = try run(line)
        #expect(result.hasEnded(66), "\(result)")
        #expect(result.errors.contains("pipe is a pipe (FIFO) that no program writes to"), "\(result.errors)")
    }

    @Test(
        "Nor is one that nobody reads",
        arguments: ["convert card.json --to json -o pipe", "dump -r virtual:card.json --trace pipe"])
    func unread(line: String) throws {
        #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
        try run(line).expectError(73, "no program reads from it")
        try run(line + " --lang ja").expectError(73, "読み出すプログラムがありません")
    }

    @Test("Pipes with a program at the other end, as shells make them, work")
    func shells() throws {
        let lines = [
            "mkfifo pipe && { cat card.json > pipe & } && \"$KAZASU\" decode pipe | head -1",
            "\"$KAZASU\" decode <(cat card.json) | head -1", "cat card.json | \"$KAZASU\" decode - | head -1",
            "cat card.json | \"$KAZASU\" decode /dev/stdin | head -1",
            "\"$KAZASU\" convert card.json --to json -o /dev/stdout | \"$KAZASU\" decode - | head -1",
            "\"$KAZASU\" convert card.json --to json -o >(\"$KAZASU\" decode - | head -1); wait $!",
            "\"$KAZASU\" convert card.json --to json -o /dev/fd/3 3> out && \"$KAZASU\" decode out | head -1",
            "mkfifo back && { \"$KAZASU\" decode back | head -1 & } && \"$KAZASU\" convert card.json --to json -o back; wait",
        ]
        for line in lines {
            let result = try ChildProcess.run(
                "/bin/bash", ["-c", "cd '\(folder.path)' && \(line)"],
                environment: Kazasu.environment.merging(["KAZASU": Kazasu.service]) { $1 }, limit: .seconds(120))
            #expect(result.output == "IDm     0101031234567890\n", "\(line): \(result)")
        }
    }

    // MARK: Messages

    static let messages: [(String, String, String, String)] = [
        ("decode card.json >&-", "en", "it is closed", "redirect it"),
        ("decode card.json >&-", "ja", "閉じられています", "リダイレクト"),
        ("decode card.json > /dev/full", "en", "the disk is full", "make room"),
        ("decode card.json > /dev/full", "ja", "ディスクに空きがありません", "空き容量"),
        ("convert card.json --to json -o /dev/full", "en", "the disk is full", "make room"),
        ("convert card.json --to json -o none/x", "en", "no such file or folder", "the folder must exist"),
        ("convert card.json --to json -o .", "en", "it is a folder", "name a file in it"),
    ]

    @Test("Describes unwritable outputs, with a hint", arguments: messages)
    func message(line: String, language: String, what: String, hint: String) throws {
        let words = line.split(separator: " ", maxSplits: 1)
        let result = try run("\(words[0]) --lang \(language) \(words[1])")
        result.expectError(73, what)
        #expect(result.messages.last?.contains(hint) == true, "\(result.errors)")
    }
}
