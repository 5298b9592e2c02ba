// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Glibc
import Kazasu

/// Why the argument parser refused a command line, in the language of this run.
///
/// The parser's errors are internal to it, and its sentences exist in English only. Their cases are looked up by
/// reflection. If a later version has other ones, its own sentence is shown.
struct ParserFailure {
    /// The command, as in `kazasu tag write`.
    private let command: [String]
    private let failure: Failure

    private enum Failure {
        case invalidValue(String, option: String?)
        case missingValue(option: String)
        case missingArgument
        case missingCommand
        case needlessValue(option: String)
        case extra([String])
        case unknownOption(String)
        /// The command's own check failed; the sentence is Kazasu's.
        case rejected
    }

    /// `nil` for an error that is not one of the parser's, and for help.
    ///
    /// - Parameter parents: the commands above the one that was parsed, if that was parsed alone.
    init?(_ error: any Error, below parents: some Sequence<String> = []) {
        guard let stack = Self.member("commandStack", of: error) as? [any ParsableCommand.Type],
            let parserError = Self.member("parserError", of: error),
            var (name, values) = Self.enumCase(parserError)
        else { return nil }
        // Nothing at all follows the command's name.
        if name == "noArguments", let inner = values.first.flatMap(Self.enumCase) { (name, values) = inner }
        command = Array(parents) + stack.compactMap { $0.configuration.commandName }
        let texts = values.compactMap { $0 as? String }
        // The last one is the option as it was written: `-tx` may be `-t` with a value, or several flags.
        let option = values.compactMap(Self.optionName).last
        switch (name, option) {
        case ("unableToParseValue", _):
            guard let value = texts.first else { return nil }
            failure = .invalidValue(value, option: option)
        case ("missingValueForOption", let option?): failure = .missingValue(option: option)
        case ("noValue", _): failure = .missingArgument
        case ("missingSubcommand", _): failure = .missingCommand
        case ("unexpectedValueForOption", let option?): failure = .needlessValue(option: option)
        case ("unexpectedExtraValues", _):
            guard let extra = values.first as? [Any] else { return nil }
            failure = .extra(
                extra.compactMap { Mirror(reflecting: $0).children.compactMap { $0.value as? String }.first })
        case ("unknownOption", let option?), ("missingValueOrUnknownCompositeOption", let option?):
            failure = .unknownOption(option)
        case ("userValidationError", _): failure = .rejected
        default: return nil
        }
    }

    /// The error as it is reported.
    ///
    /// - Parameters:
    ///   - sentence: the parser's sentence; it names what is missing.
    ///   - words: hides what may be a secret.
    ///   - name: what the option is called where it was given, if not on the command line.
    func error(_ sentence: String, _ words: ParserMessage, named name: String? = nil) -> CommandError {
        let path = command.joined(separator: " ")
        let lists = Caller.current.optionList(of: path)
        func known(_ option: String?) -> CommandTree.Option? {
            option.flatMap { CommandTree.root?.command(command.dropFirst())?.options[$0] }
        }
        func shown(_ option: String) -> String {
            name ?? (option.hasPrefix("--") ? Caller.current.option(String(option.dropFirst(2))) : option)
        }
        let (message, hint): (String, String)
        switch failure {
        case .invalidValue(let value, let option):
            message =
                option.map { tr("invalid value '\(value)' for \(shown($0))", "\(shown($0)) の値 '\(value)' は正しくありません") }
                ?? tr("invalid argument '\(value)'", "引数 '\(value)' は正しくありません")
            let argument = option ?? Self.argument(sentence)
            if let known = known(argument), !known.takesList, value.contains(",") {
                return CommandError(.usage, "usage", words.withoutSecrets(message), hint: Self.single(known))
            }
            // A value close to a known one is not a secret.
            if let nearest = known(argument).flatMap({ Self.nearest(value, among: $0.values) }) {
                return CommandError(
                    .usage, "usage", message,
                    hint: tr("did you mean '\(nearest)'?", "'\(nearest)' のことですか？"))
            }
            hint = known(argument).flatMap { Self.explained($0, argument.map(shown)) } ?? lists
        case .missingValue(let option):
            message = tr("\(shown(option)) needs a value", "\(shown(option)) に値がありません")
            hint = known(option).flatMap { Self.explained($0, shown(option)) } ?? lists
        case .missingArgument:
            let name = Self.quoted(sentence) ?? ""
            message = tr("missing argument \(name)", "引数 \(name) がありません")
            hint = lists
        case .missingCommand:
            message = tr("\(path) needs a command", "\(path) にはコマンドが必要です")
            hint = tr("'\(path) --help' lists the commands", "コマンドの一覧は '\(path) --help' で確認できます")
        case .needlessValue(let option):
            message = tr("\(shown(option)) takes no value", "\(shown(option)) に値は付けられません")
            hint = lists
        case .extra(let extra):
            let list = extra.map { "'\($0)'" }.joined(separator: " ")
            message = tr("unexpected argument\(extra.count == 1 ? "" : "s") \(list)", "余分な引数 \(list)")
            hint = CommandTree.root?.command(command.dropFirst()).flatMap { Self.elsewhere(extra, $0) } ?? lists
        case .unknownOption(let option):
            message = tr("unknown option '\(option)'", "'\(option)' というオプションはありません")
            hint = lists
        case .rejected: (message, hint) = (sentence, lists)
        }
        return CommandError(.usage, "usage", words.withoutSecrets(message), hint: hint)
    }

    /// Where an argument belongs that the command does not have: a PIN, or a file with a dump.
    private static func elsewhere(_ extra: [String], _ command: CommandTree) -> String? {
        if command.options.keys.contains(where: { $0.hasPrefix("--pin") }),
            extra.contains(where: { $0.wholeMatch(of: /[0-9]{4,16}/) != nil })
        {
            return tr(
                "a PIN is typed when the command asks for it, never as an argument; if this was one, it is now in your "
                    + "shell's history: delete it there",
                "暗証番号は引数に書かず、尋ねられたときに入力してください。今の値が暗証番号なら、シェルの履歴に残っているので消してください")
        }
        guard command.options["--reader"] != nil, command.options["<file>"] == nil,
            let file = extra.first(where: { $0.contains(/[.\/]/) && access($0, F_OK) == 0 })
        else { return nil }
        let name = ShellWord.quoted(file)
        return tr(
            "this command reads a card; 'kazasu decode \(name)' shows what a saved dump contains",
            "このコマンドはカードを読みます。保存したダンプの中身は 'kazasu decode \(name)' で確認できます")
    }

    /// How an option is given that has one value, where several were.
    private static func single(_ option: CommandTree.Option) -> String {
        let values = Self.list(option.values)
        let form = form(option).map { tr(", written as \($0)", "（\($0) の形）") } ?? ""
        return values.isEmpty
            ? tr("one value only\(form)", "値は 1 つだけ指定してください\(form)")
            : tr("one value only: \(values)", "値は 1 つだけ指定してください: \(values)")
    }

    private static func list(_ values: [String]) -> String {
        values.prefix(40).joined(separator: tr(", ", "、")) + (values.count > 40 ? tr(", …", "、…") : "")
    }

    /// What a value looks like, where that is fixed, or where the help has an example.
    private static func form(_ option: CommandTree.Option) -> String? {
        switch option.valueName {
        case "date": return "2026-04-01"
        case "month": return "2026-04"
        case let name? where name.contains(":"): return name.replacing("port", with: "PORT")
        default: return option.example
        }
    }

    /// How the value of an option or argument is written, which values it may have, or else what it is for.
    private static func explained(_ option: CommandTree.Option, _ name: String?) -> String? {
        if ["service", "code", "codes"].contains(option.valueName), option.values.isEmpty {
            return tr("a code has up to four hexadecimal digits, as in 090F", "コードは 090F のような 16 進 4 桁以内です")
        }
        guard option.values.isEmpty else {
            return tr("one of \(list(option.values))", "使える値: \(list(option.values))")
        }
        if let form = form(option) {
            return switch option.valueName {
            case "date": tr("write a day as \(form)", "\(form) の形で書いてください")
            case "month": tr("write a month as \(form)", "\(form) の形で書いてください")
            default: tr("write it as \(form)", "\(form) のように書いてください")
            }
        }
        return option.help.map { "\(name.map { "\($0): " } ?? "")\($0)" }
    }

    /// The value, or list of values with commas, that was probably meant; `nil` when none is near.
    private static func nearest(_ value: String, among values: [String]) -> String? {
        let parts = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let nearest = parts.compactMap { values.contains($0) ? $0 : NearestName.of($0, among: values) }
        return nearest.count == parts.count ? nearest.joined(separator: ",") : nil
    }

    /// The argument that a sentence of the parser ends with, as in `<file>`.
    private static func argument(_ sentence: String) -> String? {
        sentence.lastIndex(of: "<").flatMap { start in
            sentence[start...].firstIndex(of: ">").map { String(sentence[start...$0]) }
        }
    }

    /// The part of a sentence between its first and its last quotation mark.
    private static func quoted(_ sentence: String) -> String? {
        guard let first = sentence.firstIndex(of: "'"), let last = sentence.lastIndex(of: "'"), first < last else {
            return nil
        }
        return String(sentence[sentence.index(after: first)..<last])
    }

    // MARK: Reflection

    private static func member(_ name: String, of value: Any) -> Any? {
        Mirror(reflecting: value).children.first { $0.label == name }?.value
    }

    /// The name of an enumeration's case and its associated values.
    private static func enumCase(_ value: Any) -> (name: String, values: [Any])? {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .enum else { return nil }
        guard let child = mirror.children.first, let label = child.label else { return ("\(value)", []) }
        let payload = Mirror(reflecting: child.value)
        return (label, payload.displayStyle == .tuple ? payload.children.map(\.value) : [child.value])
    }

    /// The name of an option with its hyphens, if the value is one, optional or not.
    private static func optionName(_ value: Any) -> String? {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.first.flatMap { optionName($0.value) } }
        guard let (name, values) = enumCase(value), let text = values.first else { return nil }
        switch name {
        case "long": return "--\(text)"
        case "short", "longWithSingleDash": return "-\(text)"
        default: return nil
        }
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
        let (sentence, message) = (command.message(for: error), ParserMessage(words))
        let names = ["kazasu"] + parents
        let page = (names + [command.configuration.commandName].compactMap(\.self)).joined(separator: " ")
        self =
            ParserFailure(error, below: names)?.error(sentence, message, named: name)
            ?? CommandError(
                .usage, "usage", message.withoutSecrets(sentence),
                hint: Caller.current.optionList(of: page))
    }
}
