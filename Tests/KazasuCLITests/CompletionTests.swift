// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// The completion scripts, in the shells that they are for.
@Suite("Shell completion", .waits)
struct CompletionTests {
    /// What is typed before the Tab key, and the last word after it.
    static let rows: [(typed: String, completed: String)] = [
        ("bal", "balance"), ("tag rea", "read"), ("stations imp", "import"), ("scan --red", "--redact"),
        ("balance --card trans", "transit"), ("history --kind adj", "adjustment"), ("history --format nd", "ndjson"),
        ("history --kind rail,adj", "rail,adjustment"), ("serve --allow ledger,wr", "ledger,write"),
        ("watch --webhook-types on,of", "on,off"), ("watch --webhook-body disc", "discord"),
        ("watch --answer no", "none"), ("watch --answer le", "led:"),
        ("convert card.json --to flip", "flipper"), ("dump --format metro", "metrodroid"),
        ("decode car", "card.json"), ("diff card.json oth", "other.json"), ("simulate car", "card.json"),
        ("convert card.json --output oth", "other.json"), ("dump --resume car", "card.json"),
        ("history --stations tab", "table.csv"), ("stations import tab", "table.csv"),
        ("doctor --root fol", "folder/"), ("mynumber --certificates fol", "folder/"),
        ("apdu car", "card.json"), ("poll --trace tab", "table.csv"),
        ("poll --reader rep", "replay:"), ("scan -r virtual:car", "virtual:card.json"),
        ("scan -r virtual:folder/in", "virtual:folder/inner.json"), ("scan -r replay:fol", "replay:folder/"),
        ("scan -r pn532_uart:/dev/conf", "pn532_uart:/dev/configured"),
        ("license --pin1-from env", "env:"), ("license --pin1-from file:tab", "file:table.csv"),
        ("tag read --key-from fd", "fd:"), ("scan -r virt", "virtual:"), ("scan -r virtual:fol", "virtual:folder/"),
        ("help bal", "balance"), ("help tag rea", "read"), ("ledger su", "sum"), ("ledger sum --by mon", "month"),
        ("compl", "completion"), ("completion fi", "fish"),
    ]

    private let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        for name in ["card.json", "other.json", "table.csv"] { _ = try folder.write([], as: name) }
        // Prints its arguments, and lets the program answer what the completion asks.
        let program = """
            #!/bin/sh
            case $1 in ---*) exec "$KAZASU" "$@" ;; esac
            printf '<%s>' "$@"
            echo '[done]'
            """
        _ = try folder.write(Array(program.utf8), as: "kazasu")
        for shell in ["bash", "zsh", "fish"] {
            let script = try ChildProcess.run(
                Kazasu.path, ["completion", shell], environment: Kazasu.environment)
            try #require(script.hasEnded(0))
            _ = try folder.write(Array(script.output.utf8), as: "kazasu.\(shell)")
        }
        let made = try Kazasu.shell(
            """
            cd '\(folder.path)' && mkdir folder bin && touch folder/inner.json && chmod +x kazasu && mv kazasu bin
            """)
        try #require(made.hasEnded(0))
        environment = [
            "KAZASU": Kazasu.path, "HOME": folder.path, "ZDOTDIR": folder.path, "TERM": "dumb", "COLUMNS": "200",
            "LIBNFC_DEFAULT_DEVICE": "pn532_uart:/dev/configured",
        ]
    }

    /// The words that the shell passes to the program after the Tab key, line by line.
    private func typed(_ shell: [String]) throws -> [String] {
        let lines = Self.rows.enumerated().map { index, row in
            (index == 0 ? "ready> " : "[done]") + "=kazasu \(row.typed)\t"
        }
        let result = try Typist.run(shell, typing: lines + ["[done]=exit"], environment: environment)
        let passed = result.output.matches(of: /(?m)^((?:<[^>\n]*>)+)\[done\]/).map { String($0.1) }
        #expect(passed.count == Self.rows.count, "\(result)")
        return passed
    }

    /// Checks that every word was completed; zsh takes the slash of a folder back.
    private func check(_ passed: [String]) {
        for (row, words) in zip(Self.rows, passed) {
            let before = row.typed.split(separator: " ").dropLast().map { "<\($0)>" }.joined()
            let expected = "\(before)<\(row.completed)>"
            #expect([expected, expected.replacing("/>", with: ">")].contains(words), "\(row.typed)")
        }
    }

    @Test("The script is the same from either program and in both languages", arguments: ["bash", "zsh", "fish"])
    func command(shell: String) throws {
        let script = try Kazasu.run("completion", shell)
        #expect(script.hasEnded(0) && script.errors.isEmpty && script.output.contains("---completion \(shell)"))
        let japanese = try ChildProcess.run(
            Kazasu.service, ["completion", shell, "--lang", "ja"], environment: Kazasu.environment)
        #expect(japanese.output == script.output)
    }

    @Test("Completions are described in the user's language; bash shows no descriptions")
    func descriptions() throws {
        func answer(_ shell: String, _ words: String..., language: String = "C") throws -> String {
            let request = ["---completion", shell, "\(words.count)", "kazasu"] + words
            let result = try Kazasu.run(request, environment: ["LC_ALL": language])
            #expect(result.hasEnded(0) && result.errors.isEmpty)
            return result.output
        }
        #expect(try answer("bash", "bal") == "balance\n")
        #expect(try answer("zsh", "bal") == "balance\tPrint the card's balance: one number.\n")
        #expect(try answer("fish", "bal", language: "ja_JP.UTF-8") == "balance\tカードの残高を数字だけで表示する。\n")
        #expect(try answer("bash", "ledger", "redec") == "redecode\n", "a command of the other program")
        #expect(try answer("bash", "balance", "--card=tran") == "--card=transit\n")
        #expect(try answer("bash", "balance", "--", "--ca").isEmpty, "an argument")
        #expect(try answer("bash", "nosuch", "x").isEmpty)
    }

    /// Whatever a shell sends is answered.
    @Test(arguments: [
        ["---completion"], ["---completion", "zsh", "-1", "kazasu"], ["---completion", "zsh", "x", "kazasu", "b"],
    ])
    func wrongRequest(_ request: [String]) throws {
        #expect(try Kazasu.run(request).hasEnded(64))
    }

    @Test(arguments: [
        ["1", "kazasu"], ["99", "kazasu", "balance"], ["1", "", "balance"], ["2", "kazasu", "--card", ""],
    ])
    func oddRequest(_ words: [String]) throws {
        #expect(try Kazasu.run(["---completion", "fish"] + words).hasEnded(0))
    }

    @Test func bash() throws {
        let start = """
            cd '\(folder.path)'
            PATH="$PWD/bin:$PATH"
            PS1='ready> '
            . ./kazasu.bash
            """
        _ = try folder.write(Array(start.utf8), as: "start.bash")
        check(try typed(["/bin/bash", "--noprofile", "--rcfile", "\(folder.path)/start.bash", "-i"]))
        // What bash shows while typing: no backslash before the colon, one slash after a folder.
        let shown = try Typist.run(
            ["/bin/bash", "--noprofile", "--rcfile", "\(folder.path)/start.bash", "-i"],
            typing: ["ready> =kazasu scan -r virt\t", "[done]=kazasu scan -r virtual:fol\t", "[done]=exit"],
            environment: environment)
        #expect(shown.output.contains("<virtual:>") && !shown.output.contains("virtual\\:"), "\(shown.output)")
        #expect(shown.output.contains("<virtual:folder/>"), "\(shown.output)")
    }

    @Test(.needs("/usr/bin/zsh")) func zsh() throws {
        let start = """
            cd '\(folder.path)'
            PATH="$PWD/bin:$PATH"
            PROMPT='ready> '
            autoload -Uz compinit && compinit -u -D
            . ./kazasu.zsh
            """
        _ = try folder.write(Array(start.utf8), as: ".zshrc")
        check(try typed(["/usr/bin/env", "zsh", "-d", "-i"]))
    }

    @Test(.needs("/usr/bin/fish")) func fish() throws {
        let start = """
            cd '\(folder.path)'
            set -x PATH "$PWD/bin" $PATH
            function fish_prompt; printf 'ready> '; end
            function fish_greeting; end
            source kazasu.fish
            """
        check(try typed(["/usr/bin/env", "fish", "--no-config", "-i", "-C", start]))
    }

    @Test("A file is completed wherever one is expected")
    func files() throws {
        func check(_ command: JSONCursor) throws {
            let name = try command.required("commandName").text()
            for argument in try command.optional("arguments")?.list({ one throws(DocumentError) in one }) ?? [] {
                let value = try argument.optional("valueName")?.text() ?? ""
                guard try argument.required("kind").text() != "flag", ["file", "folder", "path"].contains(value) else {
                    continue
                }
                #expect(
                    try argument.optional("isCompleted") != nil, "kazasu … \(name): <\(value)> completes nothing")
            }
            for below in try command.optional("subcommands")?.list({ one throws(DocumentError) in one }) ?? [] {
                try check(below)
            }
        }
        try check(Kazasu.listing())
    }
}
