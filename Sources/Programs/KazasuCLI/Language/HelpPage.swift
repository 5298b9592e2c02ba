// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu

/// The help of a command, in the language of this run.
struct HelpPage {
    private let path: String
    private let command: any ParsableCommand.Type
    private let spec: CommandSpec
    /// The number of terminal columns.
    private let width: Int

    /// How many columns the names of options have.
    private static let labelWidth = 26

    /// - Parameter commands: that of the page, below those above it.
    init(_ commands: [any ParsableCommand.Type], width: Int = Output.lineWidth ?? 80) {
        path = commands.map { $0.configuration.commandName }.joined(separator: " ")
        command = commands.last ?? RootCommand.self
        spec = CommandSpec(command)
        self.width = max(width, 2 * Self.labelWidth)
    }

    package var text: String {
        let configuration = command.configuration
        let overview = tr("OVERVIEW: ", "概要: ") + configuration.abstract
        var parts = [Self.broken(overview, width)]
        if !configuration.discussion.isEmpty { parts.append(paragraphs(configuration.discussion)) }
        parts.append([usage])
        parts += sections
        if !spec.subcommands.isEmpty { parts.append(subcommands) }
        let page = parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
        guard spec.subcommands.isEmpty else {
            return page + "\n\n"
                + tr("  See '\(example)' for detailed help.", "  詳しくは '\(example)' を見てください。")
        }
        return page + "\n"
    }

    /// How the help of a command below it is asked for.
    private var example: String {
        (["kazasu", "help"] + path.split(separator: " ").dropFirst().map(String.init) + [tr("<subcommand>", "<コマンド>")])
            .joined(separator: " ")
    }

    /// Examples and other lists keep their lines. In Japanese, the lines of a paragraph are one text.
    private func paragraphs(_ text: String) -> [String] {
        var lines: [String] = []
        var isOpen = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            let isText = !line.isEmpty && !line.hasPrefix(" ")
            if isOpen, isText, let last = lines.popLast() {
                lines.append(LineBreaker.joined(last, line))
            } else {
                lines.append(line)
                isOpen = isText && !line.hasSuffix(":") && Language.current == .japanese
            }
            isOpen = isOpen && isText
        }
        return lines.flatMap { $0.hasPrefix(" ") ? [$0] : Self.broken($0, width) }
    }

    /// The text in lines of at most so many columns. English breaks at spaces only, and there is room for the space behind a word.
    private static func broken(_ text: String, _ width: Int) -> [String] {
        guard Language.current == .english else { return LineBreaker.lines(text, width: width) }
        var lines = [""]
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        for (index, word) in words.enumerated() {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + 1 + word.count < width + (index == words.count - 1 ? 1 : 0) {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    // MARK: Usage

    private var usage: String {
        let start = tr("USAGE: ", "使い方: ") + path
        guard spec.runs else { return start + tr(" <subcommand>", " <コマンド>") }
        let required = spec.shownOptions.filter(\.isRequired).map { "--\($0.name) \(Self.value($0))" }
        let arguments = spec.positionals.map { argument in
            let text = Self.value(argument) + (argument.isRepeating ? " ..." : "")
            return argument.isRequired ? text : "[\(text)]"
        }
        let below = spec.subcommands.isEmpty ? [] : [tr("[<subcommand>]", "[<コマンド>]")]
        return ([start, tr("[<options>]", "[オプション]")] + required + arguments + below).joined(separator: " ")
    }

    // MARK: Options

    /// Groups with a heading come before the command's other options, and those that many commands have after both.
    private var sections: [[String]] {
        var titles: [String] = []
        for case let title? in spec.shownOptions.map(\.section) where !titles.contains(title) { titles.append(title) }
        let hasCommon = titles.contains(CommonOptions.title)
        titles.removeAll { [CommonOptions.title, ReaderOptions.title].contains($0) }
        func rows(_ title: String?) -> [[String]] { spec.shownOptions.filter { $0.section == title }.map(row) }
        func section(_ title: String, _ rows: [[String]]) -> [String]? {
            rows.isEmpty ? nil : [tr(title.uppercased(), title) + ":"] + rows.flatMap(\.self)
        }
        let options = tr("OPTIONS", "オプション")
        return [section(tr("ARGUMENTS", "引数"), spec.positionals.map(row))].compactMap(\.self)
            + titles.compactMap { section($0, rows($0)) }
            + [
                section(options, rows(nil) + (hasCommon ? [] : usual)),
                section(ReaderOptions.title, rows(ReaderOptions.title)),
                hasCommon ? section(CommonOptions.title, rows(CommonOptions.title) + usual) : nil,
            ].compactMap(\.self)
    }

    /// What every command answers.
    package static var usual: [(names: [String], words: String)] {
        [
            (["--version"], tr("Show the version.", "バージョンを表示する。")),
            (["-h", "--help"], tr("Show help information.", "このヘルプを表示する。")),
        ]
    }

    private var usual: [[String]] {
        Self.usual.map { names, words in described(names.joined(separator: ", "), words) }
    }

    private func row(_ argument: ArgumentDefinition) -> [String] {
        var label = argument.names.joined(separator: ", ")
        if argument.takesValue {
            let value = Self.value(argument)
            label += (label.isEmpty ? "" : " ") + (argument.flagValue == nil ? value : "[\(value)]")
        }
        return described(label, argument.words[Language.current] + Self.additions(argument))
    }

    /// A name and what it is, beside it or, if the name is long, below it.
    private func described(_ label: String, _ text: String) -> [String] {
        let indent = String(repeating: " ", count: Self.labelWidth)
        let label = "  " + label
        let missing = Self.labelWidth - label.terminalWidth
        let lines = Self.broken(text, width - Self.labelWidth)
        guard missing > 0 else { return [label] + lines.map { indent + $0 } }
        return lines.enumerated().map { index, line in
            (index == 0 ? label + String(repeating: " ", count: missing) : indent) + line
        }
    }

    /// The values that an option may have, and that which it has without being given.
    private static func additions(_ argument: ArgumentDefinition) -> String {
        let values = argument.values
        var parts = values.isEmpty ? [] : [tr("values: ", "値: ") + values.joined(separator: ", ")]
        if let value = argument.defaultValue, !value.isEmpty { parts.append(tr("default: ", "省略時: ") + value) }
        if let value = argument.flagValue { parts.append(tr("default as flag: ", "値を省略したとき: ") + value) }
        return parts.isEmpty ? "" : tr(" (\(parts.joined(separator: "; ")))", "（\(parts.joined(separator: "、"))）")
    }

    /// The name of a value, in Japanese where it is not clear by itself.
    private static func value(_ argument: ArgumentDefinition) -> String {
        let name = argument.valueName
        return "<\(Language.current == .japanese ? japanese[name] ?? name : name)>"
    }

    private static let japanese = [
        "file": "ファイル", "file|none": "ファイル|none", "folder": "フォルダー", "seconds": "秒", "source": "入力元", "date": "日付",
        "month": "月", "year": "年", "card": "カード", "kind": "種類", "kinds": "種別", "format": "形式", "name": "名前",
        "station": "駅", "line": "路線", "weekdays": "曜日", "days": "日数", "text": "文字列", "path": "パス", "code": "コード",
        "codes": "コード", "code|name": "コード|名前", "number": "番号", "numbers": "番号", "new": "新", "old": "旧",
        "hex-separator": "区切り", "hex": "16進", "topic": "トピック", "size": "大きさ", "sink": "送り先", "prefix": "接頭辞",
        "service": "サービス", "account": "科目", "page": "ページ", "pages": "ページ", "version": "版", "layout": "配列",
        "type=data": "型=データ", "group": "グループ", "database": "保存先", "data": "データ", "offset": "位置", "method": "方法",
        "id": "ID", "[name=]id": "[名前=]ID",
        "by": "単位", "color": "色", "count": "件数", "shell": "シェル", "read": "内容", "types": "種別", "permissions": "許可",
        "service|file": "サービス|ファイル",
    ]

    // MARK: Commands below it

    private var subcommands: [String] {
        [tr("SUBCOMMANDS", "コマンド") + ":"]
            + spec.subcommands.flatMap { described($0.configuration.commandName, $0.configuration.abstract) }
    }
}
