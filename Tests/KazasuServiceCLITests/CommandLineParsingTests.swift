// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KazasuCLI

/// Commands that are parsed without the others: the same command comes of it, or the parser for all decides.
struct CommandLineParsingTests {
    @Test(arguments: [
        ["balance"], ["balance", "--all", "--json", "-r", "rcs380"], ["balance", "--card", "suica"],
        ["history", "--since", "2024-04-01", "card.json"], ["decode", "card.json"], ["poll", "-t", "0"],
    ])
    func plainCommands(_ arguments: [String]) throws {
        let quick = try CommandLineParsing.command(arguments)
        let full = try CommandLineParsing.fullCommand(arguments)
        #expect(type(of: quick) == type(of: full))
        #expect("\(quick)" == "\(full)")
        #expect(!CommandLineParsing.isPlain)
    }

    /// Help, mistakes and all other commands.
    @Test(arguments: [
        [], ["--version"], ["help", "balance"], ["balance", "--help"], ["balance", "-h"], ["balance", "--nosuch"],
        ["balance", "--card", "nosuch"], ["balance", "--experimental-dump-help"], ["balance", "a.json", "b.json"],
        ["balanc"], ["tag", "info"], ["readers"], ["--generate-completion-script", "bash"],
    ])
    func theRestIsLeftToTheFullParser(_ arguments: [String]) {
        #expect(
            outcome { try CommandLineParsing.command(arguments) }
                == outcome { try CommandLineParsing.fullCommand(arguments) })
    }

    /// The type of the command, or the parser's error.
    private func outcome(_ parse: () throws -> Any) -> String {
        do {
            return "\(type(of: try parse()))"
        } catch {
            return "\(error)"
        }
    }
}
