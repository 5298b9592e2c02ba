// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// Rules for every command at once: its help, what is said of a wrong value, and the hints.
@Suite("Rules for all commands", .waits)
struct CommandHelpTests {
    /// The options of many commands, which nobody looks for in the help of one.
    static let shared = [
        "--json", "--redact", "-v, --verbose", "-q, --quiet", "--lang", "--color", "--trace", "--wait-reader",
        "--virtual-writes", "--version", "-h, --help",
    ]

    @Test(
        "A command's own options come first, those of many commands behind them, in groups of their own",
        arguments: SnapshotTests.commands.filter { !$0.isEmpty }, ["en", "ja"])
    func ownOptionsFirst(command: String, language: String) throws {
        let page = try #require(try SnapshotTests.page(of: command, language))
        let (common, reader) =
            language == "ja" ? ("\n共通のオプション:\n", "\nリーダー:\n") : ("\nCOMMON OPTIONS:\n", "\nREADER:\n")
        guard let end = page.firstRange(of: common)?.lowerBound else {
            #expect(!page.contains("\n  --json "), "the options of many commands are not in their group")
            return
        }
        let own = page[..<(page.firstRange(of: reader)?.lowerBound ?? end)]
        for option in Self.shared {
            #expect(!own.contains("\n  \(option) "), "\(option)")
        }
        #expect(page[end...].contains("\n  -h, --help "))
    }

    // MARK: Values

    /// An option with a list of values, and the command that has it.
    struct Choice: Sendable, CustomTestStringConvertible {
        var command: [String]
        var option: String
        var values: [String]
        var valueName: String
        var testDescription: String { (command + [option]).joined(separator: " ") }

        /// Each option of each command; one that all commands have, of one command.
        static let all: [Choice] = {
            var seen: Set<String> = []
            func choices(_ command: JSONCursor, _ path: [String]) throws -> [Choice] {
                var found: [Choice] = []
                for argument in try command.optional("arguments")?.elements() ?? [] {
                    guard try argument.required("kind").text() == "option",
                        let name = try argument.optional("name")?.text()
                    else { continue }
                    let values = try (argument.optional("values")?.elements() ?? []).map { try $0.text() }
                    guard values.count > 1, seen.insert(name + values.joined()).inserted else { continue }
                    let valueName = try argument.optional("valueName")?.text() ?? ""
                    found.append(Choice(command: path, option: "--\(name)", values: values, valueName: valueName))
                }
                for below in try command.optional("subcommands")?.elements() ?? [] {
                    found += try choices(below, path + [below.required("commandName").text()])
                }
                return found
            }
            return (try? choices(Kazasu.listing(), [])) ?? []
        }()
    }

    @Test("Two values where one is wanted: the hint says so and lists them", arguments: Choice.all, ["en", "ja"])
    func oneValue(choice: Choice, language: String) throws {
        let value = choice.values.prefix(2).joined(separator: ",")
        // A service would start with a list that it takes.
        let isList = ["kinds", "types", "permissions"].contains(choice.valueName)
        let given = isList && choice.valueName != "kinds" ? value + ",nothing" : value
        let result = try Kazasu.run(choice.command + [choice.option, given, "--lang", language])
        if isList {
            #expect(!result.errors.contains("one value only") && !result.errors.contains("1 つだけ"))
            return
        }
        #expect(result.hasEnded(64))
        let hint = language == "ja" ? "値は 1 つだけ指定してください: \(choice.values[0])、" : "one value only: \(choice.values[0]), "
        #expect(result.messages.last?.contains(hint) == true, "\(result.errors)")
    }

    /// Each option with a value of its own form, and a command that has it.
    private static let formed: [(command: [String], option: String)] = {
        var seen: Set<String> = []
        func options(_ command: JSONCursor, _ path: [String]) throws -> [(command: [String], option: String)] {
            let own = try (command.optional("arguments")?.elements() ?? []).filter { argument in
                try argument.required("kind").text() == "option"
                    && (argument.optional("values")?.elements() ?? []).isEmpty
            }.compactMap { try $0.optional("name")?.text() }.filter { seen.insert($0).inserted }
            let below = try command.optional("subcommands")?.elements() ?? []
            return try own.map { (path, "--\($0)") }
                + below.flatMap { try options($0, path + [$0.required("commandName").text()]) }
        }
        return (try? options(Kazasu.listing(), [])) ?? []
    }()

    @Test("The hint about a wrong value says in one line how it is written", arguments: ["en", "ja"])
    func wrongValue(language: String) throws {
        var count = 0
        for (command, option) in Self.formed {
            let result = try Kazasu.run(command + [option, "~!~", "--lang", language, "-t", "0"])
            guard result.hasEnded(64), result.errors.contains(language == "ja" ? "の値 '~!~'" : "invalid value '~!~'")
            else { continue }
            count += 1
            let hint = result.messages.last ?? ""
            let columns = hint.unicodeScalars.reduce(0) { $0 + ($1.value > 0x2E7F ? 2 : 1) }
            #expect(columns <= 84, "\(option): \(hint)")
        }
        #expect(count > 30)
    }

    @Test("There are such options")
    func choicesAreListed() {
        let names = Set(Choice.all.map(\.option))
        #expect(
            names.isSuperset(of: ["--by", "--format", "--lang", "--read", "--to", "--card", "--header", "--color"]))
    }

    // MARK: Hints

    /// The options of other programs that messages name, and `--pin1-from`, whose number is put in.
    private static let foreign: Set<String> = [
        "--now", "--user", "--device", "--group-add", "--list-readers", "--wsl", "--busid", "--pin",
    ]

    /// The texts of the program's sources.
    private static func texts() throws -> [String] {
        let folders = ["Sources/Programs/KazasuCLI", "Sources/Programs/KazasuServiceCLI"]
        func files(_ path: String) -> [String] {
            if path.hasSuffix(".swift") { return [path] }
            return TestFiles.names(in: path).flatMap { files("\(path)/\($0)") }
        }
        let tables = [
            "Sources/Readers/ReaderDiagnosis/Data/checks.tsv",
            "Sources/Protocols/ReaderCore/Data/transport-reasons.tsv",
        ]
        return try (folders.flatMap(files) + tables).map { String(decoding: try TestFiles.read($0), as: UTF8.self) }
    }

    /// The long options of each command, by its words, with those that it takes without listing them.
    private static func options() throws -> [String: Set<String>] {
        var all: [String: Set<String>] = [:]
        func add(_ command: JSONCursor, _ path: [String]) throws {
            var names: Set<String> = []
            for argument in try command.optional("arguments")?.elements() ?? [] {
                for name in try argument.optional("names")?.elements() ?? [] {
                    names.insert(try name.text())
                }
            }
            all[path.joined(separator: " ")] = names
            for below in try command.optional("subcommands")?.elements() ?? [] {
                try add(below, path + [below.required("commandName").text()])
            }
        }
        try add(Kazasu.listing(), [])
        return all
    }

    @Test("Every option that a message or a help text names exists, and the command that it names with it has it")
    func hints() throws {
        let options = try Self.options()
        let known = options.values.reduce(Self.foreign) { $0.union($1) }
        var count = 0
        for text in try Self.texts() {
            for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                for found in line.matches(of: /(?:^|[^\w\-])(--[a-z][a-z0-9]+(?:-[a-z0-9]+)*)/) {
                    count += 1
                    let option = String(found.1)
                    #expect(known.contains(option), "\(option) in: \(line)")
                }
                for found in line.matches(of: /'kazasu ([a-z]+(?: [a-z]+)?)((?: [^']*)?)'/) {
                    let words = found.1.split(separator: " ").map(String.init)
                    let names = options[words.joined(separator: " ")] ?? options[words.prefix(1).joined()]
                    #expect(names != nil || words[0] == "help", "no such command in: \(line)")
                    for option in found.2.matches(of: /--[a-z][a-z0-9-]+/) where names != nil {
                        #expect(names?.contains(String(option.output)) == true, "\(option.output) in: \(line)")
                    }
                }
            }
        }
        #expect(count > 200)
    }
}
