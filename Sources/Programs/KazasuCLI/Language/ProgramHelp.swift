// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu

/// The help of the program itself, which fits a screen: usage, examples, and the commands by what they are for. Statuses,
/// environment variables and files are in the man page.
enum ProgramHelp {
    /// What to type first. The man page repeats them.
    static let examples = tr(
        """
        Examples:
          kazasu balance                        # the card's balance, one number
          kazasu history --keep                 # journeys, added to the ledger
          kazasu ledger report -o report.html   # a page with charts
          kazasu dump -o card.json              # every block without a key
          kazasu watch --bell                   # a line for each card
        """,
        """
        例:
          kazasu balance                        # 残高を数字だけで表示
          kazasu history --keep                 # 履歴を表示し、台帳に追加
          kazasu ledger report -o report.html   # 台帳からグラフ付きのレポート
          kazasu dump -o card.json              # 鍵なしで読めるブロックをすべて
          kazasu watch --bell                   # カードが置かれるたびに 1 行表示
        """)

    private static let labelWidth = 22

    /// The page.
    package static var page: String {
        let known = Set(RootCommand.configuration.subcommands.map { $0.configuration.commandName })
        let groups = Program.groups.map { group in
            let rows = group.lines.compactMap { line -> String? in
                let entries = line.filter { known.contains($0.name) }
                guard !entries.isEmpty else { return nil }
                let label = "  " + entries.map(\.name).joined(separator: ", ")
                return label + String(repeating: " ", count: max(labelWidth - label.count, 2))
                    + entries.map { $0.words[Language.current] }.joined(separator: tr("; ", "、"))
            }
            return ([group.heading[Language.current] + ":"] + rows).joined(separator: "\n")
        }
        let head = tr(
            """
            Kazasu reads contactless cards: FeliCa, ISO 14443, NFC tags.
            Usage: kazasu COMMAND [OPTION ...]
            """,
            """
            Kazasu は非接触カード（FeliCa、ISO 14443、NFC タグ）を読みます。
            使い方: kazasu コマンド [オプション ...]
            """)
        let end = tr(
            """
            Options and examples of a command: kazasu COMMAND --help
            Exit statuses, environment variables, files: man kazasu
            """,
            """
            各コマンドのオプションと例: kazasu コマンド --help
            終了ステータス・環境変数・ファイル: man kazasu
            """)
        return ([head, examples] + groups + [end]).joined(separator: "\n\n") + "\n"
    }

    /// A command line in the parser's own form, where it asks for help or the version in another one: `--help balance`,
    /// `balance help`, `ledger help sum`, `ledger -V`.
    package static func usual(_ arguments: [String]) -> [String] {
        if let first = arguments.first, ["-h", "--help"].contains(first), arguments.count > 1,
            !arguments[1].hasPrefix("-"), arguments[1] != "help"
        {
            return ["help"] + arguments.dropFirst()
        }
        var commands: [any ParsableCommand.Type] = RootCommand.configuration.subcommands
        var path: [String] = []
        var rest = arguments[...]
        while let command = commands.first(where: { $0.configuration.commandName == rest.first }) {
            path += rest.prefix(1)
            rest = rest.dropFirst()
            commands = command.configuration.subcommands
        }
        guard !path.isEmpty else { return arguments }
        if Array(rest) == ["-V"] { return ["--version"] }
        // A file may have that name.
        guard rest.first == "help", !commands.isEmpty || rest.count == 1 && access("help", F_OK) != 0 else {
            return arguments
        }
        return ["help"] + path + rest.dropFirst()
    }

    /// The answer to a command line that asks the program itself, and no command, for its help or version.
    package static func answer(_ arguments: [String]) -> String? {
        if ["version", "-V", "--version"].contains(arguments.joined(separator: " ")) {
            return RootCommand.version + "\n"
        }
        let isAsked = arguments.allSatisfy { $0 == "help" || $0 == "-h" || $0 == "--help" }
        return isAsked ? page : nil
    }
}
