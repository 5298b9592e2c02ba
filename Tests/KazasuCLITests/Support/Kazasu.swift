// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// The program under test, run as a user runs it.
enum Kazasu {
    /// The one that `KAZASU_PROGRAM` names, as one built with a package trait, else that beside the test bundle which this
    /// process runs.
    static let path: String = {
        if let named = getenv("KAZASU_PROGRAM"), named.pointee != 0 { return String(cString: named) }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let bundle = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        // With Swift Testing alone, the process is the toolchain's helper, and the bundle one of its arguments.
        let candidates = [bundle] + CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
        let programs = candidates.map { $0.split(separator: "/", omittingEmptySubsequences: false).dropLast() }
            .map { ($0 + ["kazasu"]).joined(separator: "/") }
        return programs.first { access($0, X_OK) == 0 } ?? "kazasu"
    }()

    /// Whether it was built with a sanitizer, which takes memory of its own.
    static let isSanitized = path.contains(".build-asan") || path.contains(".build-tsan")

    /// What of the user's own environment must not change an answer, nor be changed: there is no such data folder.
    static let environment = [
        "LC_ALL": "C.UTF-8", "LC_MESSAGES": "", "LANG": "", "KAZASU_READER": "", "NO_COLOR": "", "TERM": "",
        "COLUMNS": "80",
        "TZ": "Asia/Tokyo", "XDG_DATA_HOME": "/dev/null/kazasu-tests", "KAZASU_STATIONS": "",
    ]

    /// Runs one command line to its end.
    static func run(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildResult {
        try run(arguments, environment: environment)
    }

    /// Runs one command line to its end.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildResult {
        try ChildProcess.run(
            path, arguments, environment: Self.environment.merging(environment) { $1 }, limit: .seconds(60)
        ).checkingSchemas(arguments)
    }

    /// Runs a line of the shell, in which `kazasu` is the program.
    static func shell(_ line: String, environment: [String: String] = [:]) throws -> ChildResult {
        try ChildProcess.run(
            "/bin/sh", ["-c", "kazasu() { \"$KAZASU\" \"$@\"; }\n\(line)"],
            environment: Self.environment.merging(["KAZASU": path]) { $1 }.merging(environment) { $1 },
            limit: .seconds(60)
        ).checkingSchemas([])
    }

    /// Starts a command line that the test goes on talking with.
    static func start(_ arguments: String..., pipeSize: Int? = nil) throws -> RunningChild {
        try RunningChild(path, arguments, environment: environment, pipeSize: pipeSize)
    }
}
