// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Kazasu
import KazasuCLI
import Server

/// The parameters of a request as the options of its command. They are never seen by a shell.
struct CommandParameters {
    /// The reader's name or ID; `nil` for the usual one.
    private(set) var reader: String?
    /// How long to wait for a card; `nil` for no limit.
    private(set) var timeout: Duration? = .seconds(10)
    /// The dump of the request.
    private(set) var input: [UInt8]?
    /// The number of the tag that may be overwritten.
    private(set) var confirmed: String?
    /// The command's options and arguments.
    private(set) var arguments: [String] = []
    /// Whether the process that started Kazasu asks.
    private let isLocal: Bool
    private var flags: [String] = []
    /// The arguments, by their place.
    private var values: [Int: [String]] = [:]

    /// The longest that a client of the network may wait.
    private static let longestWait = 60.0

    // MARK: Parameters that no option is

    static let reader = ServiceMethod.Parameter(
        "reader", .text,
        LocalizedText(
            "The name or ID of the reader. Default: KAZASU_READER, else the first named reader, else the first ready one.",
            "リーダーの名前または ID。省略時は KAZASU_READER、なければ最初に指定されたもの、それもなければ、使えるもののうち最初に見つかったもの。"))

    /// - Parameter isLocal: whether for the process that started Kazasu, which may wait for as long as it likes.
    static func ofReaders(isLocal: Bool) -> [ServiceMethod.Parameter] {
        let words =
            isLocal
            ? LocalizedText(
                #"How long to wait for a card: seconds, 0 for one try, or "forever". Default: 10."#,
                #"カードを待つ秒数。0 で 1 回だけ、"forever" で来るまで。省略時は 10。"#)
            : LocalizedText(
                "How long to wait for a card: seconds up to \(Int(longestWait)), 0 for one try. Default: 10.",
                "カードを待つ秒数（\(Int(longestWait)) まで）。0 で 1 回だけ。省略時は 10。")
        return [reader, ServiceMethod.Parameter("timeout", .number, words)]
    }

    static let ofDumps = [
        ServiceMethod.Parameter(
            "text", .text, LocalizedText("The dump, if it is text.", "ダンプ（テキストの場合）。")),
        ServiceMethod.Parameter(
            "base64", .text, LocalizedText("The dump in Base64, of any format.", "ダンプ（Base64、すべての形式）。")),
    ]

    static func confirm(isRequired: Bool) -> ServiceMethod.Parameter {
        ServiceMethod.Parameter(
            "confirm", .text, isRequired: isRequired, pattern: "^([0-9a-f]{2})+$",
            LocalizedText(
                "The number (UID or IDm) of the tag or card that may be overwritten, as tag.info or card.poll tells it.",
                "上書きしてよいタグまたはカードの番号（UID または IDm）。tag.info か card.poll で確認できます。"))
    }

    // MARK: Reading

    /// - Throws: ``CommandError`` with status 64.
    init(
        _ params: JSONObject, of method: CommandMethod, from origin: ServiceRequest.Origin
    ) throws(CommandError) {
        isLocal = if case .standardInput = origin { true } else { false }
        for member in params.members where member.value != .null {
            if try take(member.key, member.value, of: method) { continue }
            try add(try option(member.key, member.value, of: method), member.value)
        }
        if let missing = method.options.first(where: { $0.parameter.isRequired && params[$0.parameter.name] == nil }) {
            throw Self.missing(missing.parameter.name)
        }
        if method.declared.subject == .dump, input == nil { throw Self.missing("text") }
        if method.permission == .write, !isLocal, confirmed == nil { throw Self.missing("confirm") }
        if method.declared.subject == .card { flags += ["--timeout=0"] }
        if !method.printsText { flags.append("--json") }
        if !isLocal { flags += method.declared.networkFixed }
        var seen: Set<String> = []
        arguments =
            flags.filter { $0 != "--free" && $0 != "--yes" || seen.insert($0).inserted } + method.declared.fixed
            + (values.isEmpty ? [] : ["--"] + values.sorted { $0.key < $1.key }.flatMap(\.value))
    }

    /// Takes a parameter that is not an option of the command.
    ///
    /// - Returns: whether it is one.
    private mutating func take(
        _ name: String, _ value: JSONValue, of method: CommandMethod
    ) throws(CommandError) -> Bool {
        switch (name, method.declared.subject) {
        case ("reader", .card):
            let id = try Self.text(name, value)
            guard isLocal || !["virtual:", "replay:"].contains(where: id.hasPrefix) else { throw Self.notLocal(name) }
            reader = id
        case ("timeout", .card): timeout = try Self.timeout(value, isLocal: isLocal)
        case ("text", .dump), ("base64", .dump):
            guard input == nil else {
                throw Self.bad(tr("give either text or base64", "text と base64 はどちらか一方です"))
            }
            let text = try Self.text(name, value, isData: true)
            guard let bytes = name == "text" ? Array(text.utf8) : Data(base64Encoded: text).map(Array.init) else {
                throw Self.bad(tr("base64 is not Base64", "base64 が Base64 ではありません"))
            }
            input = bytes
        case ("confirm", _) where method.permission == .write:
            let number = try Self.text(name, value).lowercased().filter { !" :-".contains($0) }
            guard !number.isEmpty, number.allSatisfy(\.isHexDigit) else {
                throw Self.bad(tr("confirm is not the number of a tag", "confirm がタグの番号ではありません"))
            }
            confirmed = number
            if method.asks { flags.append("--yes") }
        default: return false
        }
        return true
    }

    /// The option of that name, which the caller may give.
    private func option(
        _ name: String, _ value: JSONValue, of method: CommandMethod
    ) throws(CommandError) -> CommandMethod.Option {
        guard let option = method.options.first(where: { $0.parameter.name == name }) else {
            throw Self.unknown(name, among: method.method(isLocal: isLocal).parameters.map(\.name))
        }
        let isNone = option.name == "--stations" && (try? Self.list(name, value)) == ["none"]
        guard isLocal || !option.isLocal || isNone else { throw Self.notLocal(name) }
        return option
    }

    private mutating func add(_ option: CommandMethod.Option, _ value: JSONValue) throws(CommandError) {
        let name = option.parameter.name
        switch option.parameter.kind {
        case .flag:
            guard let isOn = Self.flag(value) else {
                throw Self.bad(tr("\(name) is true or false", "\(name) は true または false です"))
            }
            if isOn, let flag = option.name { flags.append(flag) }
        case .list:
            let list = try Self.list(name, value)
            guard let flag = option.name else {
                values[option.place] = list
                return
            }
            // A record's data may be in a file, which is for the command line.
            if ["mime", "external"].contains(name), list.contains(where: { $0.contains("=@") }) {
                throw Self.bad(tr("\(name) names no file", "\(name) にファイルは指定できません"))
            }
            if option.isLocal, list.contains("-") { throw Self.bad(tr("\(name): no file", "\(name): ファイル名がありません")) }
            if option.isRepeating {
                flags += list.map { "\(flag)=\($0)" }
            } else {
                flags.append("\(flag)=\(list.joined(separator: ","))")
            }
        case .text, .number, .integer, .names:
            let text = try Self.text(name, value)
            if option.isLocal, text == "-" { throw Self.bad(tr("\(name): no file", "\(name): ファイル名がありません")) }
            if let flag = option.name { flags.append("\(flag)=\(text)") } else { values[option.place] = [text] }
        }
    }

    // MARK: Values

    private static func text(_ name: String, _ value: JSONValue, isData: Bool = false) throws(CommandError) -> String {
        let text: String
        switch value {
        case .string(let string): text = string
        case .integer(let number): text = String(number)
        case .number where !isData: text = value.compactText
        default: throw bad(tr("\(name) is a text", "\(name) は文字列です"))
        }
        guard isData || !text.utf8.contains(0) else { throw bad(tr("\(name) has a NUL", "\(name) に NUL があります")) }
        return text
    }

    private static func list(_ name: String, _ value: JSONValue) throws(CommandError) -> [String] {
        guard case .array(let values) = value else {
            return try text(name, value).split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        var texts: [String] = []
        for value in values { texts.append(try text(name, value)) }
        return texts
    }

    private static func flag(_ value: JSONValue) -> Bool? {
        switch value {
        case .bool(let isOn): isOn
        case "true": true
        case "false": false
        default: nil
        }
    }

    private static func timeout(_ value: JSONValue, isLocal: Bool) throws(CommandError) -> Duration? {
        let text = try text("timeout", value)
        guard let timeout = CardTimeout(argument: text) else {
            throw bad(tr("timeout is a number of seconds", "timeout は秒数です"))
        }
        if !isLocal {
            guard case .seconds(let seconds) = timeout, seconds <= longestWait else {
                throw bad(tr("timeout is at most \(Int(longestWait))", "timeout は \(Int(longestWait)) 以下です"))
            }
        }
        return timeout.duration
    }

    // MARK: Errors

    private static func bad(_ message: String) -> CommandError { CommandError(.parameterWrong, message) }

    private static func unknown(_ name: String, among names: [String]) -> CommandError {
        var failure = bad(tr("unknown parameter '\(name)'", "'\(name)' というパラメーターはありません"))
        if let nearest = NearestName.of(name, among: names) {
            failure.hint = Remedy.didYouMean.text(nearest)
        } else if !names.isEmpty {
            failure.hint = names.joined(separator: ", ")
        }
        return failure
    }

    private static func missing(_ name: String) -> CommandError {
        bad(tr("\(name) is missing", "\(name) がありません"))
    }

    /// A client of the network names something of this computer.
    private static func notLocal(_ name: String) -> CommandError {
        var failure = bad(tr("\(name) cannot be given over the network", "\(name) はネットワーク経由では指定できません"))
        failure.hint = Remedy.staysLocal.text()
        return failure
    }
}
