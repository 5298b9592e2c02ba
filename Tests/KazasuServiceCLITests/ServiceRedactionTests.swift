// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
@testable import KazasuTaps
import TestSupport
import Testing

/// `--redact` over the commands that run for long or store something; the others are in `RedactionTests`.
@Suite("--redact, over everything that is stored", .waits)
struct ServiceRedactionTests {
    static let cards = TestFiles.names(in: "Fixtures/cards").map { "\(TestFiles.root)/Fixtures/cards/\($0)/card.json" }

    /// The numbers of all these cards.
    private static func values(_ files: [String]) throws -> PersonalValues {
        var values = PersonalValues()
        for file in files { values.add(numbersIn: String(decoding: try TestFiles.read(file), as: UTF8.self)) }
        return values
    }

    /// The names of the commands below one, and the values that a positional argument of each may have.
    private static func commands(below name: String) throws -> [(name: String, formats: [String])] {
        let listing = try Service.run("---describe").output
        let all = try JSONCursor(JSONValue(parsing: Array(listing.utf8))).required("command").required("subcommands")
        let command = try #require(try all.elements().first { try $0.required("commandName").text() == name })
        return try command.required("subcommands").elements().map { command in
            var formats: [String] = []
            for argument in try command.required("arguments").elements() {
                let option = try argument.optional("name")?.text()
                guard option == "format" || option == nil else { continue }
                formats += try (argument.optional("values")?.elements() ?? []).map {
                    (option == nil ? "" : "--format=") + (try $0.text())
                }
            }
            return (try command.required("commandName").text(), formats)
        }
    }

    // MARK: watch and outbox

    /// What each command of `outbox` is given.
    private static let outboxLines = ["status": "", "dead": "", "resend": "", "drop": "--yes --pending"]

    @Test("watch and outbox show no card's number; the sinks get it")
    func watch() async throws {
        let folder = try TemporaryFolder()
        let tags = ["tags/ntag213.json", "tags/type4.json"].map { "\(TestFiles.root)/Fixtures/\($0)" }
        let files = Self.cards + tags
        let values = try Self.values(files)
        let program = try folder.script("cat >> '\(folder.path)/delivered'\n")
        let outbox = "\(folder.path)/outbox.sqlite"
        let readers = files.enumerated().flatMap { ["-r", "r\($0.offset)=virtual:\($0.element)"] }
        let child = try Service.watch(
            readers + [
                "--read", "history", "--redact", "-v", "--outbox", outbox, "--exec-all", program, "--exec",
                "/bin/false",
            ])
        for _ in files { #expect(try child.event(of: "on")["redacted"] == true) }
        child.send(SIGTERM)
        let result = child.finish()
        #expect(result.end == .exited(0))
        #expect(values.leaks(result.output + result.errors).isEmpty)
        #expect(result.output.contains(#""tag":"0101000000000000""#))
        // What is delivered is what was configured; --id-key hides numbers there.
        #expect(try values.leaks(folder.text("delivered")).contains("031234567890"))

        let stored = try Outbox(outbox, isWatcher: false)
        for number in files.indices {
            let waiting = try await stored.waiting(for: "exec:/bin/false", of: "r\(number)", limit: 9).events
            try await stored.record(waiting.map { .init(event: $0, result: .dead("status1")) }, at: "exec:/bin/false")
        }
        await stored.close()
        let commands = try Self.commands(below: "outbox").map(\.name)
        #expect(Set(commands) == Set(Self.outboxLines.keys))
        for name in commands {
            for form in [[], ["--json"]] {
                let words = (Self.outboxLines[name] ?? "").split(separator: " ").map(String.init)
                let line = ["outbox", name] + words + form + ["--outbox", outbox]
                if name == "dead", form == ["--json"] {
                    #expect(try !values.leaks(Service.run(line, data: folder).output).isEmpty, "they are there")
                }
                let result = try Service.run(line + ["--redact"], data: folder)
                #expect(result.end == .exited(0) && values.leaks(result.output + result.errors).isEmpty, "\(line)")
            }
        }
    }

    @Test("The keyed hash of a number is masked as well")
    func keyedTags() throws {
        let folder = try TemporaryFolder()
        let key = try folder.write(Array("secret\n".utf8), as: "key")
        let child = try Service.watch("-r", "virtual:\(Service.card)", "--id-key", "file:\(key)", "--redact", "-q")
        #expect(try child.event(of: "on")["tag"] == .string(String(repeating: "0", count: 32)))
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    // MARK: The ledger

    /// What each command of `ledger` is given; FILES are all dumps, and OUT is a file that is looked at.
    private static let ledgerLines = [
        "list": "", "sum": "--by card", "gaps": "", "cards": "", "import": "FILES", "export": "-o OUT",
        "report": "-o OUT",
        "name": "0101031234567890 Tarou-Yamada", "link": "0101031234567890 01120312abcd0042", "redecode": "",
        "forget": "--list",
        "backup": "COPY", "merge": "COPY", "undo": "",
    ]

    @Test("The ledger's commands show no card's number and no name that its owner gave")
    func ledger() throws {
        let data = try TemporaryFolder()
        _ = try Service.run(["ledger", "import"] + Self.cards, data: data)
        _ = try Service.run(["ledger", "name", "Edy", "Hanako-Yamada"], data: data)
        var values = try Self.values(Self.cards)
        values.texts = ["Tarou", "Hanako", "Yamada"]
        #expect(try !values.leaks(Service.run(["ledger", "cards"], data: data).output).isEmpty, "they are there")
        let commands = try Self.commands(below: "ledger")
        #expect(Set(commands.map(\.name)) == Set(Self.ledgerLines.keys))
        for (name, formats) in commands {
            let words = (Self.ledgerLines[name] ?? "").split(separator: " ").flatMap { word in
                word == "FILES"
                    ? Self.cards : word == "OUT" || word == "COPY" ? ["\(data.path)/\(word)"] : [String(word)]
            }
            for form in formats.isEmpty ? [[], ["--json"]] : formats.map({ [$0] }) {
                let line = ["ledger", name] + form + words + ["--redact"]
                let result = try Service.run(line, data: data)
                let written = (try? data.text("OUT")) ?? ""
                let message = "\(line.prefix(4)) \(result.errors)"
                #expect(values.leaks(result.output + result.errors + written).isEmpty, "\(message)")
            }
        }
    }
}
