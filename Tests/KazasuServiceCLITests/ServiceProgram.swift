// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// The second program, run as a user runs it.
enum Service {
    /// The folder of the programs that were built with these tests.
    static let folder: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let bundle = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        // With Swift Testing alone, the process is the toolchain's helper, and the bundle one of its arguments.
        let candidates = [bundle] + CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
        let folders = candidates.map { $0.split(separator: "/", omittingEmptySubsequences: false).dropLast() }
            .map { $0.joined(separator: "/") }
        return folders.first { access($0 + "/kazasud", X_OK) == 0 } ?? "."
    }()

    /// What of the user's own environment must not change an answer, nor be changed.
    static func environment(_ data: TemporaryFolder) -> [String: String] {
        [
            "LC_ALL": "C.UTF-8", "LC_MESSAGES": "", "LANG": "", "KAZASU_READER": "", "KAZASU_LEDGER": "",
            "KAZASU_STATIONS": "", "NO_COLOR": "", "TZ": "Asia/Tokyo", "XDG_DATA_HOME": data.path,
        ]
    }

    /// Runs `kazasu`, which hands what is not its own to `kazasud`.
    static func run(
        _ arguments: [String], data: TemporaryFolder, environment: [String: String] = [:]
    ) throws -> ChildResult {
        try ChildProcess.run(
            folder + "/kazasu", arguments, environment: Self.environment(data).merging(environment) { $1 },
            limit: .seconds(60))
    }
}
