// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Rules for the help of every command at once.
@Suite("The help of all commands", .waits)
struct CommandHelpTests {
    /// The options of many commands, which nobody looks for in the help of one.
    static let shared = [
        "--json", "--redact", "-v, --verbose", "-q, --quiet", "--lang", "--color", "--timeout", "--trace",
        "--wait-reader", "--virtual-writes", "--version", "-h, --help",
    ]

    @Test(
        "A command's own options come first, those of many commands behind them, in groups of their own",
        arguments: SnapshotTests.commands.filter { !$0.isEmpty }, ["en", "ja"])
    func ownOptionsFirst(command: String, language: String) throws {
        let page = try Kazasu.run(command.split(separator: " ").map(String.init) + ["--help", "--lang", language]).output
        let (heading, common, reader) =
            language == "ja"
            ? ("\nオプション:\n", "\n共通のオプション:\n", "\nリーダー:\n") : ("\nOPTIONS:\n", "\nCOMMON OPTIONS:\n", "\nREADER:\n")
        guard let end = page.firstRange(of: common)?.lowerBound else {
            #expect(!page.contains("  --json "), "a command without commands of its own has common options")
            return
        }
        let start = [heading, reader].compactMap { page.firstRange(of: $0)?.lowerBound }.min() ?? end
        #expect(start <= end)
        let own = page[..<(page.firstRange(of: reader)?.lowerBound ?? end)]
        for option in Self.shared where own.contains("\n  \(option) ") {
            // What waits for no card, or for many, has a time of its own.
            #expect(option == "--timeout", "\(option) is in front of \(common)")
        }
        #expect(page[end...].contains("\n  -h, --help "))
    }
}
