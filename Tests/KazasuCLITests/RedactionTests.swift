// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

/// Every command, in every form, over every card of the fixtures: what `--redact` hides is nowhere.
///
/// The commands of `kazasud` that store events or records are in `ServiceRedactionTests`.
@Suite("--redact, over all commands", .waits)
struct RedactionTests {
    /// A command of the program's own listing.
    private struct Command {
        var name: String
        /// The options that choose its form, each with a value; without one, text and JSON.
        var forms: [[String]]

        /// All commands that do something.
        static func all() throws -> [Command] { try commands(Kazasu.listing(), "") }

        private static func commands(_ command: JSONCursor, _ path: String) throws -> [Command] {
            let below = try command.optional("subcommands")?.elements() ?? []
            let name = path.isEmpty ? "" : path + " "
            let inner = try below.flatMap { try commands($0, name + $0.required("commandName").text()) }
            guard try command.required("runs").bool() else { return inner }
            var forms: [[String]] = []
            for option in try command.optional("arguments")?.elements() ?? [] {
                let option = try (
                    option.optional("name")?.text(), option.optional("values")
                )
                guard let word = option.0, ["format", "to"].contains(word) else { continue }
                forms += try (option.1?.elements() ?? []).map { ["--\(word)", try $0.text()] }
            }
            // Both write dumps by the same function, so each of its formats is one run.
            if path == "dump" || path == "convert" {
                forms = forms.enumerated().filter { ($0.offset % 2 == 0) == (path == "dump") }.map(\.element)
            }
            return [Command(name: path, forms: forms.isEmpty ? [[], ["--json"]] : forms)] + inner
        }
    }

    private static let commands = (try? Command.all()) ?? []

    @Test("Each command is here, or a reason why it is not")
    func complete() throws {
        let names = Set(Self.commands.map(\.name))
        let stored = names.filter { ["watch", "ledger", "outbox"].contains($0.split(separator: " ")[0]) }
        #expect(stored.count > 10)
        #expect(names.subtracting(stored) == Set(CommandRow.all.keys.filter { !stored.contains($0) }))
    }

    static let fixtures =
        TestFiles.names(in: "Fixtures/cards").map { "Fixtures/cards/\($0)/card.json" }
        + (IdentityReport.kinds.map { "iso7816/\($0.kind.rawValue)" } + ["tags", "virtual"]).flatMap { folder in
            // A MIFARE Classic has a command of its own, and ClassicCommandTests.
            TestFiles.names(in: "Fixtures/\(folder)").filter { $0.hasSuffix(".json") && $0 != "classic-1k.json" }.map {
                "Fixtures/\(folder)/\($0)"
            }
        }

    /// The command that makes a dump of a card: its own, as `OwnDumpTests` opens it or another one of its kind.
    private static func reading(_ fixture: String) -> [String] {
        let own =
            OwnDumpTests.kinds.first { fixture == "Fixtures/\($0.card).json" }
            ?? OwnDumpTests.kinds.first { fixture.hasPrefix("Fixtures/iso7816/\($0.kind)/") }
        return own.map { $0.command + $0.options } ?? ["dump"]
    }

    /// What opens the card. Number, birth date and expiry of a passport are those of its own file.
    private static func secrets(_ fixture: String) throws -> [String: String] {
        var secrets = OwnDumpTests.secrets
        let text = String(decoding: try TestFiles.read(fixture), as: UTF8.self)
        if let zone = text.firstMatch(of: /"information": "(.{9})\d(\d{6})\d(\d{6})\d"/) {
            secrets["MRZ"] = "\(zone.1),\(zone.2),\(zone.3)"
        }
        return secrets
    }

    @Test("Numbers and names of the card are nowhere", arguments: fixtures)
    func card(_ fixture: String) throws {
        let folder = try TemporaryFolder()
        let reader = ["-t", "0", "-r", "virtual:\(TestFiles.root)/\(fixture)"]
        let file = "\(folder.path)/card.json"
        let secrets = try Self.secrets(fixture)
        let made = try Kazasu.run(Self.reading(fixture) + reader + ["-o", file], environment: secrets)
        try #require(folder.names.contains("card.json"), "\(made)")
        let text = try folder.text("card.json")
        let dump = try CardDump(parsing: Array(text.utf8))
        let values = PersonalValues(of: dump, written: text)
        #expect(dump.card.technology == .typeB || !values.leaks(text).isEmpty, "what is looked for is right")
        for command in Self.commands {
            let line: [String]
            var more: [String] = []
            let technology = "\(dump.card.technology)"
            switch CommandRow.all[command.name]?.redaction {
            case .reader(let kinds, let words) where kinds?.contains(technology) ?? true: (line, more) = (words, reader)
            case .file(let kinds, let words) where kinds?.contains(technology) ?? true: line = words
            default: continue
            }
            for arguments in Self.services(line, dump) {
                for form in command.forms {
                    let given = arguments.map { word in
                        word == "FILE" ? file : word.hasPrefix("Fixtures/") ? "\(TestFiles.root)/\(word)" : word
                    }
                    let words = command.name.split(separator: " ").map(String.init) + given + form + more + ["--redact"]
                    let result = try ChildProcess.run(
                        Kazasu.path, words, environment: Kazasu.environment.merging(secrets) { $1 })
                    let leaks = values.leaks((result.output + result.errors).replacing(folder.path, with: ""))
                    #expect(leaks.isEmpty, "\(words.joined(separator: " "))")
                }
            }
        }
    }

    /// A line for each service that holds something personal; else the line as it is, for the first service.
    private static func services(_ line: [String], _ dump: CardDump) -> [[String]] {
        guard line.contains("SERVICE") else { return [line] }
        let readable = dump.systems.flatMap { system in
            system.services.filter { !$0.blocks.isEmpty }.map { (system.systemCode, $0) }
        }
        let personal = readable.filter { code, service in
            service.blocks.contains { PersonalData.standard.isPersonal($0.0, of: service.code, in: code) }
        }
        return (personal.isEmpty ? Array(readable.prefix(1)) : personal).map { code, service in
            line.map { $0 == "SERVICE" ? service.code.description : $0 == "SYSTEM" ? code.description : $0 }
        }
    }
}

extension PersonalValues {
    /// What the decoders mark in a dump, and the numbers in its document.
    init(of dump: CardDump, written text: String) {
        self.init()
        add(numbersIn: text)
        var days: Set<String> = []
        for decoder in DecoderRegistry.standard.recognizing(dump) {
            guard let report = try? decoder.decode(dump) else { continue }
            // Some days are those of records, too, which are shown.
            days.formUnion(report.historyReport?.records.compactMap { $0.date?.description } ?? [])
            texts += report.fields.filter(\.isPersonal).map(\.value)
        }
        var named: [String] = []
        func note(_ value: String) -> String {
            named.append(value)
            return value
        }
        for report in IdentityReport.all(in: dump) { _ = report.document.json(.japanese, redact: note) }
        texts += named
        texts.removeAll { $0.count < 4 || !$0.contains { $0 != "0" } || days.contains($0) }
        for system in dump.systems {
            for service in system.services {
                for (number, block) in service.blocks {
                    let masked = PersonalData.standard.masked(
                        block, at: number, of: service.code, in: system.systemCode)
                    let changed = (0..<16).filter { block[$0] != masked[$0] }
                    // Fewer than four bytes would stand anywhere.
                    guard let first = changed.first, let last = changed.last, last - first > 2 else { continue }
                    digits.append(
                        block.bytes[first...last].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
                }
            }
        }
    }
}
