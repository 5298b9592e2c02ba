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

    /// A command that answers requests, too, as in `'kazasu poll --applications'`, `GET /v1/poll?applications=true`,
    /// `card.poll (applications=true)` or `kazasu.poll(applications=True)`.
    ///
    /// - Parameter words: its words, as in `tag info`.
    package func command(_ words: String, _ flags: String...) -> String {
        let set = flags.map(flag)
        let parts = words.split(separator: " ")
        switch self {
        case .commandLine: return "'" + (["kazasu", words] + set).joined(separator: " ") + "'"
        case .http:
            let verb = words == "tag write" ? "POST" : "GET"
            let query = set.isEmpty ? "" : "?" + set.joined(separator: "&")
            return "\(verb) /v1/" + parts.joined(separator: "/") + query
        case .rpc:
            let name =
                words == "readers" ? "readers.list" : parts.count > 1 ? parts.joined(separator: ".") : "card.\(words)"
            return name + (set.isEmpty ? "" : " (\(set.joined(separator: ", ")))")
        case .python: return "kazasu." + parts.joined(separator: "_") + "(\(set.joined(separator: ", ")))"
        }
    }

    /// Where the options of a command are listed.
    ///
    /// - Parameter command: as in `kazasu tag write`.
    func optionList(of command: String) -> String {
        switch self {
        case .commandLine:
            tr("'\(command) --help' lists the options", "オプションの一覧は '\(command) --help' で確認できます")
        case .http: tr("/openapi.json lists the parameters", "パラメーターの一覧は /openapi.json にあります")
        case .rpc:
            tr("'kazasu rpc --describe' lists the parameters", "パラメーターの一覧は 'kazasu rpc --describe' で確認できます")
        case .python:
            tr(
                "help(kazasu.\(function(of: command))) lists the parameters",
                "パラメーターの一覧は help(kazasu.\(function(of: command))) で確認できます")
        }
    }

    private func function(of command: String) -> String {
        command.split(separator: " ").dropFirst().joined(separator: "_")
    }
}
