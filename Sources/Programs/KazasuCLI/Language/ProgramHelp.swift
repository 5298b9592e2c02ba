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

    /// A command in the list, and what it does.
    private struct Entry {
        let name: String
        let words: LocalizedText

        init(_ name: String, _ english: String, _ japanese: String) {
            (self.name, words) = (name, LocalizedText(english, japanese))
        }
    }

    /// Commands for one purpose; those that are alike share a line.
    private struct Group {
        let heading: LocalizedText
        let lines: [[Entry]]
    }

    /// The groups; a command that the program lacks is left out.
    private static let groups: [Group] = [
        Group(
            heading: LocalizedText("Read a card", "カードを読む"),
            lines: [
                [
                    Entry("balance", "the balance, one number", "残高（数字だけ）"),
                    Entry("history", "journeys and payments", "乗車と支払いの履歴"),
                ],
                [
                    Entry("poll", "which card it is", "カードの種類"),
                    Entry("scan", "its systems, areas and services", "システム・エリア・サービスの一覧"),
                ],
                [
                    Entry("dump", "every block without a key", "鍵なしで読めるブロックすべて"),
                    Entry("read", "chosen blocks", "指定したブロック"),
                ],
                [
                    Entry("license", "Japanese driver's licenses", "運転免許証"),
                    Entry("residence", "residence cards", "在留カード・特別永住者証明書"),
                ],
                [
                    Entry("mynumber", "My Number cards", "マイナンバーカード"),
                    Entry("passport", "passports", "パスポート"),
                ],
                [
                    Entry("tag", "NFC tags, also writing", "NFC タグの読み書き"),
                    Entry("write", "blocks of a FeliCa service", "FeliCa のサービスに書き込む"),
                ],
                [
                    Entry("classic", "MIFARE Classic", "MIFARE Classic"),
                    Entry("desfire", "MIFARE DESFire", "MIFARE DESFire"),
                ],
                [
                    Entry("lite", "FeliCa Lite-S", "FeliCa Lite-S"),
                    Entry("standard", "keys of FeliCa Standard", "FeliCa Standard の鍵"),
                ],
            ]),
        Group(
            heading: LocalizedText("Keep and report", "履歴を残す・まとめる"),
            lines: [
                [
                    Entry(
                        "ledger", "records saved with --keep: lists, totals, claims, reports",
                        "台帳（--keep で保存）: 一覧・集計・精算・レポート")
                ]
            ]),
        Group(
            heading: LocalizedText("Watch and serve", "知らせる・つなぐ"),
            lines: [
                [Entry("watch", "report cards placed on or removed from readers", "カードが置かれた・離れたときに知らせる")],
                [
                    Entry("outbox", "stored events of watch", "watch が保存したイベント"),
                    Entry("collect", "those of many sites", "複数拠点のイベントを集める"),
                ],
                [
                    Entry("serve", "readers for web pages (HTTP)", "リーダーを HTTP で公開"),
                    Entry("rpc", "for programs (JSON-RPC)", "プログラムから JSON-RPC で使う"),
                ],
                [Entry("bridge", "any reader as a PC/SC reader", "リーダーを PC/SC のリーダーとして使う")],
            ]),
        Group(
            heading: LocalizedText("Tools", "道具"),
            lines: [
                [
                    Entry("readers", "connected readers", "接続中のリーダー"),
                    Entry("doctor", "why one does not work, and the fix", "使えない原因と直し方"),
                ],
                [
                    Entry("contribute", "record your reader, for a test", "リーダーの動作を記録してテストにする"),
                    Entry("decode", "what a dump contains", "ダンプの中身"),
                ],
                [
                    Entry("convert", "a dump in another format", "ダンプの形式を変換"),
                    Entry("diff", "what changed between two", "2 つのダンプの違い"),
                ],
                [
                    Entry("felica", "raw FeliCa packets", "FeliCa のパケットを送る"),
                    Entry("apdu", "command APDUs", "APDU を送る"),
                ],
                [
                    Entry("simulate", "a PN532 reader with a card, for other programs", "カードを載せた PN532 として動く（他のプログラム用）")
                ],
                [
                    Entry("stations", "names of stations", "駅名・バス停名"),
                    Entry("completion", "for bash, zsh or fish", "シェルの補完スクリプト"),
                ],
            ]),
    ]

    private static let labelWidth = 22

    /// The page.
    package static var page: String {
        let known = Set(RootCommand.configuration.subcommands.map { $0.configuration.commandName })
        let groups = groups.map { group in
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
