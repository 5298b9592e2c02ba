// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Kazasu

extension Language {
    /// The language of this run: `--lang`, else `LC_ALL`, `LC_MESSAGES`, `LANG`, the first that is set.
    package static let current = choose(arguments: ProgramArguments.all) { name in
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }

    /// The language of `--lang`, or `nil` where it was not given.
    package static let asked = option(in: CommandLine.arguments)

    static func choose(arguments: [String], environment: (String) -> String?) -> Language {
        if let language = option(in: arguments) { return language }
        for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
            if let value = environment(name), !value.isEmpty { return value.hasPrefix("ja") ? .japanese : .english }
        }
        return .english
    }

    /// The help texts are made before the command line is parsed, so `--lang` is looked up by hand.
    private static func option(in arguments: [String]) -> Language? {
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { break }
            if argument == "--lang", let next = arguments.dropFirst(index + 1).first,
                let language = Language(rawValue: next)
            {
                return language
            }
            if argument.hasPrefix("--lang="), let language = Language(rawValue: String(argument.dropFirst(7))) {
                return language
            }
        }
        return nil
    }
}

extension Language {
    /// The arguments without `--lang`, which was already looked up and can be anywhere. An invalid value stays, for the
    /// parser to report.
    package static func removed(from arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        var rest: [String] = []
        var index = 0
        while index < end {
            let (argument, next) = (arguments[index], index + 1 < end ? arguments[index + 1] : "")
            if argument == "--lang", Language(rawValue: next) != nil {
                index += 2
                continue
            }
            if !argument.hasPrefix("--lang=") || Language(rawValue: String(argument.dropFirst(7))) == nil {
                rest.append(argument)
            }
            index += 1
        }
        return rest + arguments[end...]
    }
}

/// The text in the language of this run.
package func tr(_ english: String, _ japanese: String) -> String {
    Language.current == .japanese ? japanese : english
}

/// The fixed texts of ArgumentParser's pages, in the language of this run.
enum HelpText {
    /// The beginnings of lines of a page.
    private static let headings: [(String, String)] = [
        ("OVERVIEW: ", "概要: "), ("USAGE: ", "使い方: "), ("ARGUMENTS:", "引数:"), ("OPTIONS:", "オプション:"),
        ("SUBCOMMANDS:", "コマンド:"), ("  See '", "  詳しくは '"),
    ]
    /// The ends of lines of a page.
    private static let endings: [(String, String)] = [
        ("' for detailed help.", "' を見てください。"), ("Show the version.", "バージョンを表示する。"),
        ("Show help information.", "このヘルプを表示する。"),
    ]
    /// The text that ArgumentParser adds to the help of an option.
    private static let additions: [(String, String)] = [
        (" (default as flag:", "（値を省略したとき:"), (" (default:", "（省略時:"), (" (values:", "（値:"),
    ]

    /// The description of an option, with what ArgumentParser adds in Japanese.
    private static func additions(_ text: String) -> String {
        guard text.hasSuffix(")"), let (old, new) = additions.first(where: { text.contains($0.0) }) else { return text }
        return text.dropLast().replacing(old, with: new).replacing("; default:", with: "、省略時:") + "）"
    }

    /// The names of values, where they are not clear by themselves.
    private static let values: [(String, String)] = [
        ("<options>", "オプション"), ("<subcommand>", "<コマンド>"), ("<file>", "<ファイル>"), ("<file|none>", "<ファイル|none>"),
        ("<folder>", "<フォルダー>"), ("<seconds>", "<秒>"), ("<source>", "<入力元>"), ("<date>", "<日付>"), ("<month>", "<月>"),
        ("<year>", "<年>"),
        ("<card>", "<カード>"), ("<kind>", "<種類>"), ("<kinds>", "<種別>"), ("<format>", "<形式>"), ("<name>", "<名前>"),
        ("<station>", "<駅>"), ("<line>", "<路線>"), ("<weekdays>", "<曜日>"), ("<days>", "<日数>"), ("<text>", "<文字列>"),
        ("<path>", "<パス>"),
        ("<code>", "<コード>"), ("<codes>", "<コード>"), ("<code|name>", "<コード|名前>"), ("<number>", "<番号>"),
        ("<numbers>", "<番号>"), ("<new>", "<新>"), ("<old>", "<旧>"), ("<hex-separator>", "<区切り>"), ("<hex>", "<16進>"),
        ("<topic>", "<トピック>"), ("<size>", "<大きさ>"), ("<sink>", "<送り先>"), ("<prefix>", "<接頭辞>"),
        ("<service>", "<サービス>"), ("<account>", "<科目>"), ("<page>", "<ページ>"), ("<pages>", "<ページ>"),
        ("<version>", "<版>"), ("<layout>", "<配列>"), ("<type=data>", "<型=データ>"), ("<group>", "<グループ>"),
        ("<database>", "<保存先>"), ("<data>", "<データ>"), ("<id>", "<ID>"), ("<[name=]id>", "<[名前=]ID>"), ("<by>", "<単位>"),
        ("<color>", "<色>"), ("<count>", "<件数>"), ("<shell>", "<シェル>"), ("<read>", "<内容>"),
    ]
    /// Headings that the parser writes in capitals.
    private static let capitals = [
        ("WEB サーバー", "Web サーバー"), ("HOME ASSISTANT", "Home Assistant"), ("（OUTBOX）", "（outbox）"),
    ]

    private static func translated(_ text: some StringProtocol) -> String {
        values.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }

    /// The usage in one line: the command, what it needs, `[<options>]` for all that may be left out.
    private static func usage(_ lines: [Substring]) -> [Substring] {
        guard let first = lines.firstIndex(where: { $0.hasPrefix("USAGE: ") }) else { return lines }
        let end = lines[first...].firstIndex { $0.isEmpty } ?? lines.endIndex
        var text = lines[first..<end].joined(separator: " ")
        text.replace(/\ \[-[^\]]*(\[[^\]]*\][^\]]*)?\]/, with: "")
        text.replace(/\ \[?<options>\]?/, with: "")
        if text.contains("<subcommand>") { return lines }
        let words = text.split(separator: " ")
        let names = words.prefix { !$0.hasPrefix("<") && !$0.hasPrefix("[") && !$0.hasPrefix("-") }
        let line = (names + ["[<options>]"] + words.dropFirst(names.count)).joined(separator: " ")
        return lines[..<first] + [Substring(line)] + lines[end...]
    }

    /// Moves the options that many commands have behind those of the command: ArgumentParser lists groups with a heading
    /// first, and its own options last.
    private static func ownOptionsFirst(_ lines: [Substring]) -> [Substring] {
        guard let usage = lines.firstIndex(where: { $0.hasPrefix("USAGE: ") }) else { return lines }
        var parts = lines[usage...].split(separator: "", omittingEmptySubsequences: false).map { Array($0) }
        func remove(_ heading: String) -> [Substring]? {
            parts.firstIndex { $0.first == "\(heading.uppercased()):" }.map { parts.remove(at: $0) }
        }
        guard var common = remove(CommonOptions.title) else { return lines }
        let reader = remove(ReaderOptions.title)
        guard let place = parts.firstIndex(where: { $0.first == "OPTIONS:" }) else { return lines }
        let own = parts[place].prefix { !$0.hasPrefix("  --version ") }
        common += parts[place].dropFirst(own.count)
        parts.replaceSubrange(
            place...place, with: (own.count > 1 ? [Array(own)] : []) + [reader, common].compactMap(\.self))
        return Array(lines[..<usage]) + parts.joined(separator: [""])
    }

    /// A page of help.
    ///
    /// - Parameter width: the number of terminal columns.
    static func page(_ text: String, width: Int = Output.lineWidth ?? 80) -> String {
        let parsed = ownOptionsFirst(usage(text.split(separator: "\n", omittingEmptySubsequences: false)))
        guard Language.current == .japanese else { return parsed.joined(separator: "\n") }
        let lines = parsed.map { line in
            var line = String(line)
            if let (old, new) = headings.first(where: { line.hasPrefix($0.0) }) {
                line =
                    new + (old == "USAGE: " ? translated(line.dropFirst(old.count)) : String(line.dropFirst(old.count)))
            }
            if line.hasSuffix(":") { line = capitals.reduce(line) { $0.replacing($1.0, with: $1.1) } }
            if let (old, new) = endings.first(where: { line.hasSuffix($0.0) }) { line = line.dropLast(old.count) + new }
            return line
        }
        return Self.lines(lines, width: max(width, 2 * labelWidth)).joined(separator: "\n")
    }

    /// How many columns ArgumentParser keeps for the names of options.
    private static let labelWidth = 26

    /// Breaks paragraphs and the descriptions of options again, by terminal columns: ArgumentParser counts every
    /// character as one column and breaks lines at spaces only.
    private static func lines(_ lines: [String], width: Int) -> [String] {
        let indent = String(repeating: " ", count: labelWidth)
        var blocks: [(label: String?, text: String)] = []
        func label(_ names: String, _ text: String) -> [(label: String?, text: String)] {
            var names = translated(names)
            while names.hasSuffix(" ") { names.removeLast() }
            let missing = labelWidth - names.terminalWidth
            return missing > 0
                ? [(names + String(repeating: " ", count: missing), text)] : [(nil, names), (indent, text)]
        }
        // Lists of options come after the usage, some with a heading of their own.
        var (isAfterUsage, isList, isOpen) = (false, false, false)
        for line in lines {
            isAfterUsage = isAfterUsage || line.hasPrefix("使い方: ")
            let characters = Array(line)
            let isLabel = isList && line.hasPrefix("  ") && !line.hasPrefix("   ") && !line.hasPrefix("  詳")
            switch true {
            case isLabel && characters.count > labelWidth && characters[labelWidth - 1] == " ":
                blocks += label(String(characters[..<labelWidth]), String(characters[labelWidth...]))
                isOpen = true
            case isLabel:
                // The description begins below a label that is too long.
                blocks += label(line, "")
                isOpen = true
            case isList && isOpen && line.hasPrefix(indent):
                // ArgumentParser breaks at spaces only.
                let text = blocks[blocks.count - 1].text
                blocks[blocks.count - 1].text = (text.isEmpty ? "" : text + " ") + line.dropFirst(labelWidth)
            case !isList && isOpen && !line.isEmpty && !line.hasPrefix(" "):
                blocks[blocks.count - 1].text = LineBreaker.joined(blocks[blocks.count - 1].text, line)
            default:
                isList = isList || isAfterUsage && !line.hasPrefix(" ") && line.hasSuffix(":")
                isOpen = !isList && !line.isEmpty && !line.hasPrefix(" ") && !line.hasSuffix(":")
                blocks.append((isOpen ? "" : nil, line))
            }
        }
        return blocks.flatMap { label, text -> [String] in
            guard let label else { return [text] }
            let text = additions(text)
            guard !label.isEmpty else { return LineBreaker.lines(text, width: width) }
            return LineBreaker.lines(text, width: width - labelWidth).enumerated().map { index, line in
                (index == 0 ? label : indent) + line
            }
        }
    }
}

/// Breaks text into lines by terminal columns.
package enum LineBreaker {
    /// Characters that must not begin a line.
    private static let closing = Set("。、，．・：；！？）］｝」』】〉》ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々)]},.:;!?")
    /// Characters that must not end a line.
    private static let opening = Set("（［｛「『【〈《([{")

    /// Two lines as one: without a space between two wide characters, and beside wide punctuation.
    package static func joined(_ first: String, _ second: String) -> String {
        guard let last = first.last, let next = second.first else { return first + second }
        let wide = [last, next].map { String($0).terminalWidth == 2 }
        let isTight = wide == [true, true] || wide[0] && closing.contains(last) || wide[1] && opening.contains(next)
        return first + (isTight || last == " " ? "" : " ") + second
    }

    /// The text in lines of at most `width` columns; a longer word has a line of its own.
    static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for piece in pieces(text) {
            let trimmed = piece.hasSuffix(" ") ? String(piece.dropLast()) : piece
            if !line.isEmpty, line.terminalWidth + trimmed.terminalWidth > width {
                while line.hasSuffix(" ") { line.removeLast() }
                lines.append(line)
                line = ""
            }
            line += piece
        }
        while line.hasSuffix(" ") { line.removeLast() }
        return lines + [line]
    }

    /// The parts between which a line may end: words with the space behind them, and single wide characters.
    private static func pieces(_ text: String) -> [String] {
        var pieces: [String] = []
        for character in text {
            let previous = pieces.last?.last ?? " "
            let isBoundary =
                previous == " " || String(previous).terminalWidth == 2 || String(character).terminalWidth == 2
            if pieces.isEmpty
                || isBoundary && character != " " && !closing.contains(character) && !opening.contains(previous)
            {
                pieces.append(String(character))
            } else {
                pieces[pieces.count - 1].append(character)
            }
        }
        return pieces
    }
}
