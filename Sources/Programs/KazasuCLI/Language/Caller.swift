// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// The reader of a message: in a request, options and commands have other names than on the command line.
package enum Caller: Sendable {
    case commandLine
    /// A client of the HTTP server.
    case http
    /// A program that speaks JSON-RPC with `kazasu rpc`.
    case rpc
    /// The Python package, which names itself to the program that it starts.
    case python

    /// The variable with which a program that starts `kazasu rpc` says in which words its users think.
    package static let variable = "KAZASU_CALLER"

    /// Whom the command on this thread answers.
    package static var current: Caller { CommandHost.current?.caller ?? .commandLine }

    /// The program that started this one.
    package static var ofProcess: Caller { SystemEnvironment.all[variable] == "python" ? .python : .rpc }

    /// A long option, as in `--pin1-from env:NAME`, `pin1From=env:NAME` or `pin1_from="env:NAME"`.
    ///
    /// - Parameters:
    ///   - name: the option without hyphens before it, as in `pin1-from`.
    ///   - value: its value, or what stands for it; for a flag of a request, that it is set.
    package func option(_ name: String, _ value: String? = nil) -> String {
        let words = name.split(separator: "-")
        switch self {
        case .commandLine: return "--\(name)" + (value.map { " \($0)" } ?? "")
        case .http, .rpc:
            let camelCase = words.prefix(1) + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
            return camelCase.joined() + (value.map { "=\($0)" } ?? "")
        case .python: return words.joined(separator: "_") + (value.map { "=\($0)" } ?? "")
        }
    }

    /// A flag that is set, as in `--permanent`, `permanent=true` or `permanent=True`.
    package func flag(_ name: String) -> String {
        switch self {
        case .commandLine: option(name)
        case .http, .rpc: option(name, "true")
        case .python: option(name, "True")
        }
    }

    /// A command, as its method where it is one, as in `'kazasu poll --applications'`,
    /// `GET /v1/poll?applications=true`, `card.poll (applications=true)` or `kazasu.poll(applications=True)`; else as a
    /// command line, which works for everybody. This is the only way to write a command in a message.
    ///
    /// - Parameters:
    ///   - words: its words, as in `tag info`.
    ///   - arguments: what follows them.
    package func command(_ words: String, _ arguments: CommandArgument...) -> String { command(words, arguments) }

    /// The same with arguments of a table.
    package func command(_ words: String, _ arguments: [CommandArgument]) -> String {
        let parts = words.split(separator: " ").map(String.init)
        let method = self == .commandLine ? nil : Program.access(parts).methods.first
        guard let method, let name = name(of: method, arguments) else {
            return "'" + (["kazasu", words] + arguments.map(\.onCommandLine)).joined(separator: " ") + "'"
        }
        let parameters = arguments.compactMap { $0.parameter(for: self) }
        let joined = parameters.joined(separator: self == .http ? "&" : ", ")
        switch self {
        case .http: return name + (joined.isEmpty ? "" : "?\(joined)")
        case .rpc: return name + (joined.isEmpty ? "" : " (\(joined))")
        case .python, .commandLine: return "\(name)(\(joined))"
        }
    }

    /// What the caller calls a method; `nil` if it cannot call it.
    private func name(of method: DeclaredMethod, _ arguments: [CommandArgument]) -> String? {
        switch self {
        case .commandLine: return nil
        case .rpc: return method.name
        case .python: return "kazasu." + method.pythonName
        case .http:
            if arguments.contains(where: \.isLocal) { return nil }
            switch method.route {
            case .get(let path): return "GET /v1/" + path
            case .post(let path): return "POST /v1/" + path
            case .none: return nil
            }
        }
    }

    /// Where the options of a command are listed.
    ///
    /// - Parameter command: as in `kazasu tag write`.
    package func optionList(of command: String) -> String {
        switch self {
        case .commandLine:
            tr("'\(command) --help' lists the options", "オプションの一覧は '\(command) --help' で確認できます")
        case .http: tr("/openapi.json lists the parameters", "パラメーターの一覧は /openapi.json にあります")
        case .rpc:
            tr(
                "\(Caller.describing) lists the parameters", "パラメーターの一覧は \(Caller.describing) で確認できます")
        case .python:
            tr(
                "help(kazasu.\(function(of: command))) lists the parameters",
                "パラメーターの一覧は help(kazasu.\(function(of: command))) で確認できます")
        }
    }

    private static let describing = commandLine.command("rpc", "describe")

    private func function(of command: String) -> String {
        let words = command.split(separator: " ").dropFirst()
        return Program.access(words.map(String.init)).methods.first?.pythonName ?? words.joined(separator: "_")
    }
}

/// What follows the words of a command in a message.
package enum CommandArgument: ExpressibleByStringLiteral, Sendable {
    /// A flag that is set.
    case flag(String)
    /// A flag that is set, which no client of the network may set.
    case localFlag(String)
    case option(String, String)
    /// What only a command line has, as it is written there.
    case shell(String)

    package init(stringLiteral flag: String) { self = .flag(flag) }

    /// A file.
    package static var file: CommandArgument { .shell(tr("FILE", "ファイル")) }
    /// The file that the command writes.
    package static var output: CommandArgument { .shell(tr("-o FILE", "-o ファイル")) }

    /// The journal of an issuance.
    package static var journal: CommandArgument { .option("journal", tr("FILE", "ファイル")) }

    fileprivate var isLocal: Bool { if case .localFlag = self { true } else { false } }

    fileprivate var onCommandLine: String {
        switch self {
        case .flag(let name), .localFlag(let name): Caller.commandLine.flag(name)
        case .option(let name, let value): Caller.commandLine.option(name, value)
        case .shell(let text): text
        }
    }

    /// As a parameter of a method; `nil` if methods have none for it.
    fileprivate func parameter(for caller: Caller) -> String? {
        switch self {
        case .flag(let name), .localFlag(let name): caller.flag(name)
        case .option(let name, let value): caller.option(name, caller == .python ? "\"\(value)\"" : value)
        case .shell: nil
        }
    }
}
