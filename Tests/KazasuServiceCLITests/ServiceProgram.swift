// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// The second program, run as a user runs it.
enum Service {
    /// It and the first program.
    static let (path, kazasu) = (TestFiles.program("kazasud"), TestFiles.program("kazasu"))

    /// Whether a sanitizer, which needs memory and time of its own, is in the programs.
    static let isSanitized = path.contains(".build-asan") || path.contains(".build-tsan")

    /// A card that lies on a virtual reader.
    static let card = "\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
    /// Another card that lies on one.
    static let edy = "\(TestFiles.root)/Fixtures/cards/edy/card.json"
    /// A card that comes for a few frames, and goes.
    static let visitor = "\(TestFiles.root)/Fixtures/felica/short-visits.json"

    /// What of the user's own environment must not change an answer, nor be changed: there are no such folders.
    static let environment = [
        "LC_ALL": "C.UTF-8", "LC_MESSAGES": "", "LANG": "", "KAZASU_READER": "", "KAZASU_LEDGER": "",
        "KAZASU_OUTBOX": "", "KAZASU_CONFIG": "", "KAZASU_STATIONS": "", "NO_COLOR": "", "TERM": "", "COLUMNS": "80",
        "TZ": "Asia/Tokyo", "XDG_DATA_HOME": "/dev/null/kazasu", "XDG_STATE_HOME": "/dev/null/kazasu",
        "XDG_CACHE_HOME": "/dev/null/kazasu", "JOURNAL_STREAM": "",
    ]

    /// Runs one command line of `kazasud` to its end.
    static func run(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildResult {
        try run(path, arguments, environment)
    }

    /// Runs `kazasu`, which hands what is not its own to `kazasud`.
    ///
    /// - Parameter data: the data folder, with the ledger.
    static func run(
        _ arguments: [String], data: TemporaryFolder, environment: [String: String] = [:]
    ) throws -> ChildResult {
        try run(kazasu, arguments, ["XDG_DATA_HOME": data.path].merging(environment) { $1 })
    }

    private static func run(
        _ program: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> ChildResult {
        try ChildProcess.run(
            program, arguments, environment: Self.environment.merging(environment) { $1 }, limit: .seconds(120)
        ).checkingSchemas(arguments)
    }

    /// Starts `watch`.
    static func watch(_ arguments: String..., environment: [String: String] = [:]) throws -> RunningChild {
        try watch(arguments, environment: environment)
    }

    /// Starts `watch`, without a terminal as a service manager does.
    static func watch(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningChild {
        try RunningChild(
            path, ["watch"] + arguments, environment: Self.environment.merging(environment) { $1 },
            limit: .seconds(120), hasTerminal: false)
    }
}

extension ChildResult {
    /// Checks its documents against their schemas.
    @discardableResult
    func checkingSchemas(_ arguments: [String] = ["--json"]) -> ChildResult {
        if let problem = schemaProblem(arguments) {
            Issue.record("kazasud \(arguments.joined(separator: " ")): \(problem)")
        }
        return self
    }
}

extension RunningChild {
    /// The next event; fails when there is none.
    func event(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONObject {
        let line = try #require(try line(of: .output), sourceLocation: sourceLocation)
        return try JSONCursor(JSONValue(parsing: Array(line.utf8))).object()
    }

    /// Reads events until one of this type.
    func event(of type: String) throws -> JSONObject {
        while true {
            let event = try event()
            if event["type"] == .string(type) { return event }
        }
    }

    /// Reads messages until one that contains this text.
    func message(containing text: String) throws -> String {
        while let line = try line(of: .errors) {
            if line.contains(text) { return line }
        }
        Issue.record("no message with '\(text)'")
        return ""
    }
}

extension TemporaryFolder {
    func text(_ name: String) throws -> String {
        String(decoding: try TestFiles.read("\(path)/\(name)"), as: UTF8.self)
    }
}
