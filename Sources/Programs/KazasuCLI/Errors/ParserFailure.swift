// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import Glibc
import Kazasu

extension CommandSpec {
    /// The whole program.
    package static var root: CommandSpec { CommandSpec(RootCommand.self) }

    /// Whether an option of the command, or of one below it, names where a secret is.
    var acceptsSecrets: Bool {
        arguments.contains { $0.reach == .secret } || subcommands.contains { CommandSpec($0).acceptsSecrets }
    }
}

/// Why a command line was refused, in the language of this run.
extension ParserFailure {
    /// The error as it is reported.
    ///
    /// - Parameters:
    ///   - words: hides what may be a secret.
    ///   - parents: the commands above the one that was parsed, if that was parsed alone.
    ///   - name: what the option is called where it was given, if not on the command line.
    package func error(
        _ words: ParserMessage, below parents: some Sequence<String> = [], named name: String? = nil
    ) -> CommandError {
        let command = Array(parents) + command
        let path = command.joined(separator: " ")
        let lists = Caller.current.optionList(of: path)
        let spec = CommandSpec.root.command(command.dropFirst())
        func shown(_ option: String) -> String {
            name ?? (option.hasPrefix("--") ? Caller.current.option(String(option.dropFirst(2))) : option)
        }
        let (message, hint): (String, String)
        switch reason {
        case .invalidValue(let value, let option, let argument):
            message =
                option.map { tr("invalid value '\(value)' for \(shown($0))", "\(shown($0)) の値 '\(value)' は正しくありません") }
                ?? tr("invalid argument '\(value)'", "引数 '\(value)' は正しくありません")
            let known = spec?.named(argument)
            if let known, known.kind != .list, value.contains(",") {
                return CommandError(.commandLine, words.withoutSecrets(message), values: [Self.single(known)])
            }
            // A value close to a known one is not a secret.
            if let nearest = known.flatMap({ Self.nearest(value, among: $0.values) }) {
                return CommandError(.commandLine, message, values: [Remedy.didYouMean.text(nearest)])
            }
            hint = known.map { Self.explained($0, shown(argument)) } ?? lists
        case .missingValue(let option):
            message = tr("\(shown(option)) needs a value", "\(shown(option)) に値がありません")
            hint = spec?.option(option).map { Self.explained($0, shown(option)) } ?? lists
        case .missingArgument(let name):
            message = tr("missing argument \(name)", "引数 \(name) がありません")
            hint = lists
        case .needlessValue(let option):
            message = tr("\(shown(option)) takes no value", "\(shown(option)) に値は付けられません")
            hint = lists
        case .extra(let extra):
            let list = extra.map { "'\($0)'" }.joined(separator: " ")
            message = tr("unexpected argument\(extra.count == 1 ? "" : "s") \(list)", "余分な引数 \(list)")
            hint = spec.flatMap { Self.elsewhere(extra, $0) } ?? lists
        case .unknownOption(let option):
            message = tr("unknown option '\(option)'", "'\(option)' というオプションはありません")
            hint = lists
        case .unknownCommand(let word):
            message = tr("unknown command '\(word)'", "'\(word)' というコマンドはありません")
            hint = Remedy.listCommands.text(path)
        case .rejected(let sentence): (message, hint) = (sentence, lists)
        }
        return CommandError(.commandLine, words.withoutSecrets(message), values: [hint])
    }

    /// Where an argument belongs that the command does not have: a PIN, or a file with a dump.
    private static func elsewhere(_ extra: [String], _ command: CommandSpec) -> String? {
        if command.options.contains(where: { $0.name.hasPrefix("pin") }),
            extra.contains(where: { $0.wholeMatch(of: /[0-9]{4,16}/) != nil })
        {
            return tr(
                "a PIN is typed when the command asks for it, never as an argument; if this was one, it is now in your "
                    + "shell's history: delete it there",
                "暗証番号は引数に書かず、尋ねられたときに入力してください。今の値が暗証番号なら、シェルの履歴に残っているので消してください")
        }
        if command.option("--number-from") != nil || command.option("--mrz-from") != nil,
            extra.contains(where: ParserMessage.mayBeSecret)
        {
            return Remedy.numberInArguments.text()
        }
        guard command.option("--reader") != nil, command.named("<file>") == nil,
            let file = extra.first(where: ParserMessage.isFile)
        else { return nil }
        let decode = Caller.current.command("decode", .shell(ShellWord.quoted(file)))
        return tr(
            "this command reads a card; \(decode) shows what a saved dump contains",
            "このコマンドはカードを読みます。保存したダンプの中身は \(decode) で確認できます")
    }

    /// How an option is given that has one value, where several were.
    private static func single(_ option: ArgumentDefinition) -> String {
        let values = Self.list(option.values)
        if option.isRepeating {
            return values.isEmpty
                ? tr("repeat the option for each value", "値ごとにオプションを繰り返してください")
                : tr("repeat the option for each of: \(values)", "値ごとにオプションを繰り返してください: \(values)")
        }
        let form = option.example.map { tr(", written as \($0.english)", "（\($0.japanese) の形）") } ?? ""
        return values.isEmpty
            ? tr("one value only\(form)", "値は 1 つだけ指定してください\(form)")
            : tr("one value only: \(values)", "値は 1 つだけ指定してください: \(values)")
    }

    private static func list(_ values: [String]) -> String {
        values.prefix(40).joined(separator: tr(", ", "、")) + (values.count > 40 ? tr(", …", "、…") : "")
    }

    /// How the value of an option or argument is written, which values it may have, or else what it is for.
    private static func explained(_ option: ArgumentDefinition, _ name: String?) -> String {
        guard option.values.isEmpty else {
            return tr("one of \(list(option.values))", "使える値: \(list(option.values))")
        }
        if let example = option.example {
            return tr("write it as \(example.english)", "\(example.japanese) のように書いてください")
        }
        switch (option.kind, option.bounds) {
        case (.integer, let bounds?) where bounds.upperBound < Int.max:
            return tr(
                "write a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
                "\(bounds.lowerBound)～\(bounds.upperBound) の整数で書いてください")
        case (.integer, let bounds?):
            return tr(
                "write a whole number, \(bounds.lowerBound) or more", "\(bounds.lowerBound) 以上の整数で書いてください")
        case (.integer, nil): return tr("write a whole number", "整数で書いてください")
        case (.number, _): return tr("write a number, as in 2 or 0.5", "2 や 0.5 のような数で書いてください")
        default: return "\(name.map { "\($0): " } ?? "")\(firstSentence(option.words[Language.current]))"
        }
    }

    /// The part of a help text that says what a value is.
    private static func firstSentence(_ text: String) -> String {
        let end = text.firstMatch(of: /[.;] |。/).map(\.range.lowerBound) ?? text.endIndex
        return String(text[..<end]).trimmingSuffix { ".;。".contains($0) }
    }

    /// The value, or list of values with commas, that was probably meant; `nil` when none is near.
    private static func nearest(_ value: String, among values: [String]) -> String? {
        let parts = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let nearest = parts.compactMap { values.contains($0) ? $0 : NearestName.of($0, among: values) }
        return nearest.count == parts.count ? nearest.joined(separator: ",") : nil
    }
}

extension CommandError {
    /// Why a command cannot have these options, which do not come from the command line alone.
    ///
    /// - Parameters:
    ///   - command: the command that was parsed.
    ///   - words: what was parsed.
    ///   - parents: the commands above it, as in `tag`.
    ///   - name: what the option is called where it was given; `nil` for the command line.
    package init(
        _ error: any Error, parsing command: any ParsableCommand.Type, _ words: [String],
        below parents: some Sequence<String> = [], named name: String? = nil
    ) {
        if let error = error as? CommandError {
            self = error
            return
        }
        let names = ["kazasu"] + parents
        if let failure = error as? ParserFailure {
            self = failure.error(ParserMessage(words), below: names, named: name)
            return
        }
        let page = (names + [command.configuration.commandName]).joined(separator: " ")
        self.init(
            .commandLine, ParserMessage(words).withoutSecrets("\(error)"), values: [Caller.current.optionList(of: page)]
        )
    }
}

extension String {
    /// The text without the characters at its end that are such.
    fileprivate func trimmingSuffix(while isLeftOut: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, isLeftOut(last) { text.removeLast() }
        return text
    }
}
