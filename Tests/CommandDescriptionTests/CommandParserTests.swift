// SPDX-License-Identifier: Apache-2.0

import CardModel
import CommandDescription
import TestSupport
import Testing

/// Options that two commands share.
private struct Shared: ParsableArguments {
    @Flag(reach: .never, name: [.short, .long], help: words) var quiet = false
    @Flag(reach: .never, name: [.short, .long], help: words) var verbose = false
}

private let words = ArgumentHelp(LocalizedText("What it is.", "説明。"))

private enum Color: String, CaseIterable, ExpressibleByArgument { case red, green }

private struct Paint: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "paint", abstract: "Paint.")

    @OptionGroup(title: "Shared") var shared: Shared
    @Option(reach: .network, name: .joined("c"), help: words) var color: Color?
    @Option(reach: .network, name: .long, parsing: .unconditional, help: words) var coats = 1
    @Option(reach: .local, name: .long, help: words) var layer: [String] = []
    @Option(reach: .never, name: .long, defaultAsFlag: "matt", help: words) var varnish: String?
    @Argument(reach: .network, help: words) var wall: String?

    func validate() throws { if coats == 0 { throw ValidationError("no coat") } }
}

private struct Mix: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "mix", abstract: "Mix.")

    @Option(required: "", reach: .never, name: .long, help: words) var into: String
    @Argument(required: [], reach: .network, help: words) var parts: [Int]
}

private struct Wash: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "wash", abstract: "Wash.")

    @Flag(
        reach: .network, name: .long,
        help: ArgumentHelp(
            LocalizedText("With --soft-water, not --hot2. Default: ask on the terminal.", "--soft-water で。")))
    var gently = false
    @Flag(
        reach: .network, name: .long,
        help: ArgumentHelp(LocalizedText("See 'root'.", "'root' 参照。"), programs: LocalizedText("See root.", "root 参照。"))
    )
    var twice = false
}

private struct Tools: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tools", abstract: "Tools.", subcommands: [Mix.self])

    @Flag(reach: .never, name: .long, help: words) var all = false
}

private struct Root: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "root", abstract: "All.", subcommands: [Paint.self, Tools.self])
}

@Suite("The parser of command lines", .timeLimit(.minutes(5)))
struct CommandParserTests {
    /// What a command line does.
    private func outcome(_ line: String) -> String {
        let words = line.isEmpty ? [] : line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        do {
            switch try Root.parseAsRoot(words) {
            case let paint as Paint:
                let (color, coats) = (paint.color?.rawValue ?? "-", paint.coats)
                let flags = (paint.shared.quiet ? "q" : "") + (paint.shared.verbose ? "v" : "")
                return "paint \(color) \(coats) \(paint.layer) \(paint.varnish ?? "-") \(paint.wall ?? "-") \(flags)"
            case let mix as Mix: return "mix \(mix.into) \(mix.parts)"
            case let tools as Tools: return "tools \(tools.all)"
            case let other: return "\(type(of: other))"
            }
        } catch ParserAnswer.help(let commands) {
            return "help " + commands.map { $0.configuration.commandName }.joined(separator: " ")
        } catch ParserAnswer.version {
            return "version"
        } catch let failure as ParserFailure {
            return failure.command.joined(separator: " ") + ": \(failure.reason)"
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("", "help root"), ("paint", "paint - 1 [] - - "), ("paint wall -q", "paint - 1 [] - wall q"),
        ("paint -qv", "paint - 1 [] - - qv"), ("paint -cred", "paint red 1 [] - - "),
        ("paint -c=green", "paint green 1 [] - - "), ("paint -qc red", "paint red 1 [] - - q"),
        ("paint -qcred", "paint red 1 [] - - q"), ("paint --color red --color green", "paint green 1 [] - - "),
        ("paint --coats -5", "paint - -5 [] - - "), ("paint --layer a --layer=b,c", #"paint - 1 ["a", "b,c"] - - "#),
        ("paint --varnish -q", "paint - 1 [] matt - q"), ("paint --varnish", "paint - 1 [] matt - "),
        ("paint --varnish=gloss wall", "paint - 1 [] gloss wall "), ("paint --varnish gloss", "paint - 1 [] gloss - "),
        ("paint -- --color", "paint - 1 [] - --color "), ("paint -", "paint - 1 [] - - "),
        ("tools", "tools false"), ("tools --all", "tools true"), ("tools mix --into pot 1 2", "mix pot [1, 2]"),
        ("help", "help root"), ("help tools mix", "help root tools mix"), ("tools mix --help", "help root tools mix"),
        ("paint --nosuch -h", "help root paint"), ("paint --version", "version"), ("--version", "version"),
    ])
    func understands(_ line: String, _ expected: String) { #expect(outcome(line) == expected, "\(line)") }

    @Test(arguments: [
        ("pain", #"root: unknownCommand("pain")"#), ("--all", #"root: unknownOption("--all")"#),
        ("help nosuch", #"root: unknownCommand("nosuch")"#),
        ("paint --nosuch=1", #"root paint: unknownOption("--nosuch")"#),
        ("paint -qx", #"root paint: unknownOption("-x")"#),
        ("paint --color", #"root paint: missingValue(option: "--color")"#),
        ("paint --color --quiet", #"root paint: missingValue(option: "--color")"#),
        ("paint --color=", #"root paint: missingValue(option: "--color")"#),
        ("paint -c blue", #"root paint: invalidValue("blue", option: Optional("-c"), argument: "-c")"#),
        ("paint --quiet=1", #"root paint: needlessValue(option: "--quiet")"#),
        ("paint a b c", #"root paint: extra(["b", "c"])"#), ("paint --coats 0", #"root paint: rejected("no coat")"#),
        ("tools mix --into pot", #"root tools mix: missingArgument("<parts> ...")"#),
        ("tools mix 1", #"root tools mix: missingArgument("--into <into>")"#),
        ("tools mix --into pot 1 x", #"root tools mix: invalidValue("x", option: nil, argument: "<parts>")"#),
        ("tools nosuch", #"root tools: extra(["nosuch"])"#),
    ])
    func refuses(_ line: String, _ expected: String) { #expect(outcome(line) == expected, "\(line)") }

    @Test("Any words are a command or are refused: none trap, and none take a value that they do not have")
    func anyWords() {
        let parts = [
            "paint", "tools", "mix", "help", "--", "-", "", "--color", "--color=red", "-c", "-cred", "-qv", "-=", "--=",
            "--varnish", "--coats", "-1", "x", "--into", "-h", "かざす", "-か", "--into=",
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let line = (0..<Int.random(in: 0...5, using: &generator)).map { _ in parts.randomElement() ?? "" }
            let outcome = outcome(line.joined(separator: " "))
            #expect(!outcome.isEmpty)
            if !line.contains(where: { $0.contains("red") }) { #expect(!outcome.hasPrefix("paint red"), "\(line)") }
        }
    }

    @Test("Two commands of one type keep their own values")
    func ownValues() throws {
        let (first, second) = (try Paint.parse(["--color", "red"]), try Paint.parse([]))
        #expect(first.color == .red && second.color == nil)
    }

    @Test("A description has everything that help and programs need")
    func description() throws {
        let spec = CommandSpec(Paint.self)
        #expect(spec.arguments.map(\.name).prefix(6) == ["quiet", "verbose", "color", "coats", "layer", "varnish"])
        let color = try #require(spec.option("-c"))
        #expect(color.names == ["-c", "--color"] && color.values == ["red", "green"] && color.reach == .network)
        #expect(spec.option("--coats")?.kind == .integer && spec.option("--coats")?.defaultValue == "1")
        #expect(spec.option("--quiet")?.section == "Shared" && spec.option("--color")?.section == nil)
        #expect(spec.named("<wall>")?.form == .positional && spec.option("wall") == nil)
        #expect(!CommandSpec(Root.self).runs && CommandSpec(Tools.self).runs)
    }

    @Test("Programs read the names of parameters in place of options, or words of their own")
    func programWords() {
        let words = CommandSpec(Wash.self).arguments.map(\.programWords)
        #expect(words.map(\.english) == ["With softWater, not hot2.", "See root."])
        #expect(words.map(\.japanese) == ["softWater で。", "root 参照。"])
    }
}
