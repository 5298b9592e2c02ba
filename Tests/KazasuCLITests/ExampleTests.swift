// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// Every command that the help and the documents show is run as it is written.
@Suite("Examples", .waits)
struct ExampleTests {
    @Test("There are examples in the help, in documents and in their text")
    func found() {
        #expect(ExamplePage.help.contains { $0.name == "kazasu (ja)" && $0.lines.count > 3 })
        #expect(ExamplePage.documents.contains { $0.name.hasPrefix("README.ja.md") })
        #expect(ExamplePage.mentions.contains("kazasu balance"))
    }

    /// The exit statuses of lines that do not end with 0: what is in the line, and what it may end with where readers may
    /// be connected or not.
    private static let statuses: [(part: String, statuses: Set<Int32>)] = [
        // No virtual card is signed by the authorities whose keys are built in, or that are known as the ministry's; a picture of a
        // card that nothing opens is not written.
        ("--face --photo", [77]), ("--face", [0, 65]), ("--free", [0]), ("kazasu mynumber", [0, 65]),
        ("--ca authorities.pem --check", [65]), ("passport lists", [66]),
        // The virtual passport has no key, and is opened with what the line does not name. The dump has no picture.
        ("--check --require-chip", [65]), ("--can-from", [64]), ("decode card.json --photo", [76]),
        // There is no terminal to ask on.
        ("contribute --check", [65, 66]), ("contribute", [0, 64, 69]),
        ("doctor", [0, 69]), ("[ $? = 75 ]", [1]), ("rcs380", [0, 69, 75]), ("rcs300", [0, 69, 75]),
        ("/dev/ttyUSB0", [0, 69, 75]), ("pcsc:", [0, 69, 75]), ("| head", [0, 141]), ("stations lookup", [0, 1]),
        // There is one card, which the first of two examples removes, and no outbox.
        ("ledger link", [64]), ("ledger forget", [0, 64]), ("outbox drop", [64, 66]), ("kazasu outbox", [66]),
        // New keys are not those of the card; a journal without a key.
        // Without keys there is nothing to dump.
        ("classic dump --", [0]), ("classic dump", [64]),
        ("lite verify", [0, 77]), ("lite resume", [0, 64]), ("last-try.json", [77]),
    ]

    private static func expected(_ line: String) -> Set<Int32> {
        statuses.first { line.contains($0.part) }?.statuses ?? [0]
    }

    /// Whether a line runs until it is stopped, with readers, a broker or a client that are not here, or asks such a run.
    /// `WatchTests` and the tests of sites, `serve` and `bridge` have such runs.
    private static func runsOn(_ line: String) -> Bool {
        line.contains(/kazasu (watch|collect|serve|bridge)\b|^(curl|xdg-open|opensc-tool|pkcs11-tool|pkcs15-tool)\b/)
    }

    /// Runs a page and checks the exit status of each line.
    private func check(_ page: ExamplePage, sourceLocation: SourceLocation = #_sourceLocation) throws {
        var page = page
        page.lines.removeAll(where: Self.runsOn)
        let shell = try ExampleShell(isJapanese: page.name.contains(".ja.md"))
        let (statuses, outputs, result) = try shell.run(page.lines)
        #expect(statuses.count == page.lines.count, "\(page.lines)\n\(result)", sourceLocation: sourceLocation)
        for (line, status) in zip(page.lines, statuses) {
            #expect(
                Self.expected(line).contains(status), "\(line) ended with \(status)\n\(result.errors)",
                sourceLocation: sourceLocation)
        }
        for (line, output) in zip(page.lines, outputs) {
            // The lines of a page come without the blank ones.
            let printed = output.split(separator: "\n").map { $0 + "\n" }.joined()
            if let shown = page.outputs[line] { #expect(printed == shown, "\(line)", sourceLocation: sourceLocation) }
        }
        // What jq selects is there.
        let selected = (try? shell.folder.text("selected")) ?? ""
        #expect(!selected.split(separator: "\n").contains("null"), "\(selected)", sourceLocation: sourceLocation)
    }

    /// Whether a line needs a program that is not part of a small Debian.
    private static func needsOthers(_ page: ExamplePage) -> Bool {
        page.lines.contains { $0.contains(/\b(jq|nfc-list|sqlite3|openssl)\b/) }
    }

    @Test("Of the help", arguments: ExamplePage.help.filter { !needsOthers($0) })
    func help(_ page: ExamplePage) throws {
        try checkHelp(page)
    }

    @Test(
        "Of the help, with programs of others", .needs("/usr/bin/jq", "/usr/bin/nfc-list"),
        arguments: ExamplePage.help.filter(needsOthers))
    func helpWithOthers(_ page: ExamplePage) throws {
        try checkHelp(page)
    }

    private func checkHelp(_ page: ExamplePage) throws {
        try check(page)
        for line in page.lines {
            let width = line.unicodeScalars.reduce(2) { $0 + ($1.value >= 0x2E80 ? 2 : 1) }
            #expect(width <= 80, "does not fit into 80 columns: \(line)")
        }
    }

    /// Programs that set a machine up; what `make` is told to do is checked.
    private static let setUp: Set<Substring> = ["make", "git", "cd", "apt", "apt-get", "swift"]

    @Test("Of a block in a document", arguments: ExamplePage.documents.filter { !needsOthers($0) })
    func document(_ page: ExamplePage) throws {
        try checkDocument(page)
    }

    @Test(
        "Of a block in a document, with programs of others", .needs("/usr/bin/jq", "/usr/bin/nfc-list"),
        arguments: ExamplePage.documents.filter(needsOthers))
    func documentWithOthers(_ page: ExamplePage) throws {
        try checkDocument(page)
    }

    private func checkDocument(_ page: ExamplePage) throws {
        let makefile = String(decoding: try TestFiles.read("Makefile"), as: UTF8.self)
        var page = page
        page.lines.removeAll { line in
            let words = line.split(separator: " ").drop { $0 == "sudo" }
            guard let program = words.first, Self.setUp.contains(program) else { return false }
            if program == "make" {
                for target in words.dropFirst().prefix(while: { $0 != "#" }) where target.allSatisfy({ $0.isLowercase })
                {
                    #expect(makefile.contains("\n\(target):"), "there is no make \(target)")
                }
            }
            return true
        }
        try check(page)
    }

    /// Part of a command may be meant, such as `kazasu simulate --timing`: then an argument is missing, nothing else.
    @Test("In the text of a document", arguments: ExamplePage.mentions.filter { !runsOn($0) })
    func mention(_ line: String) throws {
        let table =
            line.contains("stations")
            ? "StationCode.csv" : line.contains(/--report|replay:/) ? "report.jsonl" : "card.json"
        let command = ["FILE", "ファイル"].reduce(line) { $0.replacing($1, with: table) }
            .replacing("COMMAND", with: "balance").replacing("コマンド", with: "balance")
        let shell = try ExampleShell()
        let report = command.contains("replay:report.jsonl") ? ["kazasu doctor --report report.jsonl"] : []
        let (statuses, _, result) = try shell.run(report + [command])
        let isPart = statuses.last == 64 && result.errors.contains("missing argument")
        #expect(
            isPart || statuses.last.map(Self.expected(command).contains) == true,
            "\(command) ended with \(statuses)\n\(result.errors)")
    }

    /// The lines that notify somebody.
    private static let alarms = (ExamplePage.help + ExamplePage.documents).map(\.lines).joined()
        .filter { $0.contains("notify-send") }

    @Test("An alarm is for a low balance, not for a missing reader")
    func alarm() throws {
        let low = Card.fixture("suica-p1")
        let high = Card.fixture("five-systems")
        #expect(Self.alarms.count >= 4, "help and README, in both languages")
        for line in Set(Self.alarms) {
            for (reader, isTold) in [(low, true), (high, false), ("pn532_uart:/nonexistent", false)] {
                let shell = try ExampleShell(reader: reader)
                let statuses = try shell.run([line]).statuses
                #expect(statuses.map { $0 == 0 } == [isTold], "\(line) with \(reader)")
                #expect(shell.folder.names.contains("notified") == isTold, "\(line) with \(reader)")
            }
        }
    }

    @Test("No card is not the same as no reader")
    func noCard() throws {
        let lines = ExamplePage.help.map(\.lines).joined().filter { $0.contains("[ $? = 75 ]") }
        #expect(lines.count == 2)
        for line in lines {
            let folder = try TemporaryFolder()
            let card = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1}"#))
            #expect(try ExampleShell(reader: card).run([line]).statuses == [0])
            #expect(try ExampleShell(reader: "pn532_uart:/nonexistent").run([line]).statuses == [1])
        }
    }
}
