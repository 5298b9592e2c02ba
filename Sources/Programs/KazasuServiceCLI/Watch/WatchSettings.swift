// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// The options of `watch` or `serve` from all three places: the command line, then `KAZASU_*`, then the file of
/// `--config`.
struct WatchSettings<Options: WatchingCommand> {
    /// The options.
    var options: Options
    /// The same as a command line, for options whose order matters.
    var words: [String]
    /// The file of `--config`.
    var file: String?

    /// Options that only the command line has.
    private static var excluded: Set<String> {
        Set(CommandSpec(CommonOptions.self).options.map(\.name)).union(["config"])
    }
    /// Options that are taken from the same place as the option they modify.
    private static var companions: [String: String] {
        Dictionary(uniqueKeysWithValues: WebhookForm.companions.map { (String($0.dropFirst(2)), "webhook") })
    }

    /// Reads all three places.
    static func current(
        arguments: [String] = ProgramArguments.all,
        environment: [String: String] = SystemEnvironment.all
    ) throws -> WatchSettings {
        let known = knownOptions
        let given = Array(Language.removed(from: arguments).drop { $0 != command }.dropFirst())
        let onLine = Set(
            given.prefix { $0 != "--" }.compactMap { word -> String? in
                if word.hasPrefix("--") { return String(word.dropFirst(2).prefix { $0 != "=" }) }
                return word.hasPrefix("-r") ? "reader" : nil
            })
        var names = onLine
        var words: [String] = []
        // An option comes after the one that it belongs to.
        let sorted = known.sorted { (companions[$0.key] ?? "", $0.key) < (companions[$1.key] ?? "", $1.key) }
        for (name, option) in sorted {
            let variable = "KAZASU_" + name.uppercased().replacing("-", with: "_")
            // The ledger's variable is for every command; here only --keep uses it, which looks it up. That of the
            // station tables holds several paths.
            guard name != "ledger", name != "stations", !onLine.contains(companions[name] ?? name),
                let value = environment[variable],
                !value.isEmpty
            else { continue }
            let isOff = !option.takesValue && ["0", "no", "false", "off"].contains(value.lowercased())
            let own = option.takesValue ? ["--\(name)", value] : (isOff ? [] : ["--\(name)"])
            do {
                _ = try Options.parse(own)
            } catch {
                throw CommandError(error, parsing: Options.self, own, named: variable)
            }
            words += own
            names.insert(name)
        }
        let options = try Options.parse(given)
        let file = options.basics.config ?? environment["KAZASU_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        if let file {
            let settings = try fileWords(file, known)
            words = settings.filter { !names.contains(companions[$0.name] ?? $0.name) }.flatMap(\.words) + words
        }
        words += given
        do {
            let all = try Options.parse(words)
            try all.checkTogether()
            return WatchSettings(options: all, words: words, file: file)
        } catch {
            throw CommandError(error, parsing: Options.self, words)
        }
    }

    /// The options of the command, by their long names.
    private static var knownOptions: [String: ArgumentDefinition] {
        let named = CommandSpec(Options.self).options.map { ($0.name, $0) }
        return Dictionary(named) { first, _ in first }.filter { !excluded.contains($0.key) }
    }

    // MARK: The file

    private typealias Setting = (name: String, words: [String])

    private static func fileWords(_ path: String, _ known: [String: ArgumentDefinition]) throws(CommandError)
        -> [Setting]
    {
        let text = try text(path)
        let root: YAML?
        do {
            root = try YAML.document(in: text)
        } catch {
            switch error {
            case .repeated(let key, let line): throw bad(.settingsTwice, path, line, VisibleText.line(key))
            case .malformed(let line): throw bad(.settingsNotYAML, path, line)
            }
        }
        guard let root, !root.isNull else { return [] }
        guard case .mapping(let mapping) = root.content else {
            throw bad(.settingsNotOptions, path, root.line)
        }
        var settings: [Setting] = []
        for (key, value) in mapping {
            let name = key.text ?? ""
            guard let option = known[name] else {
                throw unknown(name, path, key.line, among: known.keys.sorted())
            }
            for element in try elements(value, of: name, option, path) {
                let own = try words(element, name, option, known, path)
                do {
                    _ = try Options.parse(own)
                } catch {
                    let failure = CommandError(error, parsing: Options.self, own, named: name)
                    throw bad(
                        .settingsValue, path, element.line, failure.message, hint: failure.hint)
                }
                settings.append((name, own))
            }
        }
        return settings
    }

    private static func elements(
        _ value: YAML, of name: String, _ option: ArgumentDefinition, _ path: String
    ) throws(CommandError) -> [YAML] {
        guard case .sequence(let elements) = value.content else { return [value] }
        guard option.isRepeating else {
            throw bad(.settingsOneValue, path, value.line, name)
        }
        return elements
    }

    /// One value: text, true or false for a flag, or a mapping with `url` and the options that follow it.
    private static func words(
        _ value: YAML, _ name: String, _ option: ArgumentDefinition, _ known: [String: ArgumentDefinition],
        _ path: String
    ) throws(CommandError) -> [String] {
        if !option.takesValue {
            guard let isOn = value.flag else {
                throw bad(.settingsFlag, path, value.line, name)
            }
            return isOn ? ["--\(name)"] : []
        }
        if case .mapping(let mapping) = value.content,
            let main = mapping.first(where: { $0.key.text == "url" })?.value.text
        {
            var words = ["--\(name)=\(main)"]
            let names = companions.filter { $0.value == name }.map(\.key).sorted()
            for (key, value) in mapping where key.text != "url" {
                let given = key.text ?? ""
                // Within a webhook, its types are those of the webhook.
                guard let own = names.first(where: { $0 == given || $0 == "\(name)-\(given)" }) else {
                    let short = names.map { $0.hasPrefix("\(name)-") ? String($0.dropFirst(name.count + 1)) : $0 }
                    throw unknown(given, path, key.line, among: short)
                }
                let values = if case .sequence(let elements) = value.content { elements } else { [value] }
                let texts = values.compactMap(\.text)
                guard texts.count == values.count, !texts.isEmpty else {
                    throw bad(.settingsTextOrList, path, value.line, given)
                }
                words.append("--\(own)=\(texts.joined(separator: ","))")
            }
            return words
        }
        guard let text = value.text else {
            throw bad(.settingsTextOrNumber, path, value.line, name)
        }
        return ["--\(name)=\(text)"]
    }

    private static func text(_ path: String) throws(CommandError) -> String {
        let bytes = try Files.read(path, limit: 1 << 20)
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        throw CommandError(.fileNotUTF8, values: [CommandError.place(path, line.map { $0 + 1 })])
    }

    private static func unknown(_ name: String, _ path: String, _ line: Int?, among names: [String]) -> CommandError {
        bad(
            .settingsUnknown, path, line, VisibleText.line(name),
            hint: NearestName.of(name, among: names).map { Remedy.didYouMean.text($0) })
    }

    private static var command: String { Options.configuration.commandName }

    /// - Parameter name: that of the option, or what is wrong with its value.
    private static func bad(
        _ code: CommandError.Code, _ path: String, _ line: Int?, _ name: String = "", hint: String? = nil
    ) -> CommandError {
        let hint = hint ?? Caller.commandLine.optionList(of: "kazasu \(command)")
        return CommandError(code, values: [CommandError.place(path, line), name, hint])
    }
}
