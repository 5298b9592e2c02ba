// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import Synchronization
import TestSupport
import Testing

/// The program under test, run as a user runs it.
enum Kazasu {
    /// The first program, and the second one, which has all commands.
    static let (path, service) = (TestFiles.program("kazasu"), TestFiles.program("kazasud"))

    /// The program's own listing of all commands, printed once for each language.
    static func listing(_ language: String = "en") throws -> JSONCursor {
        try listings.withLock { listings in
            if let known = listings[language] { return JSONCursor(known) }
            let answer = try ChildProcess.run(
                service, ["---describe", "--lang", language], environment: environment)
            let listing = try JSONValue(parsing: Array(answer.output.utf8))
            listings[language] = listing
            return JSONCursor(listing)
        }.required("command")
    }

    private static let listings = Mutex<[String: JSONValue]>([:])

    /// Whether it was built with a sanitizer, which takes memory of its own.
    static let isSanitized = path.contains(".build-asan") || path.contains(".build-tsan")

    /// What of the user's own environment must not change an answer, nor be changed: there is no such data folder.
    static let environment = [
        "LC_ALL": "C.UTF-8", "LC_MESSAGES": "", "LANG": "", "KAZASU_READER": "", "NO_COLOR": "", "TERM": "",
        "COLUMNS": "80",
        "TZ": "Asia/Tokyo", "XDG_DATA_HOME": "/dev/null/kazasu-tests", "XDG_STATE_HOME": "/dev/null/kazasu-tests",
        "XDG_CACHE_HOME": "/dev/null/kazasu-tests",
        "KAZASU_STATIONS": "", "KAZASU_LEDGER": "", "KAZASU_OUTBOX": "", "KAZASU_CONFIG": "",
    ]

    /// Runs one command line to its end.
    static func run(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildResult {
        try run(arguments, environment: environment)
    }

    /// Runs one command line to its end.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildResult {
        try ChildProcess.run(
            path, arguments, environment: Self.environment.merging(environment) { $1 }, limit: .seconds(120)
        ).checkingSchemas(arguments)
    }

    /// Runs a line of the shell, in which `kazasu` is the program.
    static func shell(_ line: String, environment: [String: String] = [:]) throws -> ChildResult {
        try ChildProcess.run(
            "/bin/sh", ["-c", "kazasu() { \"$KAZASU\" \"$@\"; }\n\(line)"],
            environment: Self.environment.merging(["KAZASU": path]) { $1 }.merging(environment) { $1 },
            limit: .seconds(120)
        ).checkingSchemas([])
    }

    /// Starts a command line that the test goes on talking with.
    static func start(_ arguments: String..., pipeSize: Int? = nil) throws -> RunningChild {
        try RunningChild(path, arguments, environment: environment, pipeSize: pipeSize)
    }
}

extension ChildResult {
    /// Checks its documents against their schemas.
    func checkingSchemas(_ arguments: [String]) -> ChildResult {
        if let problem = schemaProblem(arguments) {
            Issue.record("kazasu \(arguments.joined(separator: " ")): \(problem)")
        }
        return self
    }
}
