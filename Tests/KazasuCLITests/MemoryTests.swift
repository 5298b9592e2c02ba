// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A release build takes at most 64 MiB for each of these.
@Suite("Memory for files of hostile length", .waits, .disabled(if: Kazasu.isSanitized))
struct MemoryTests {
    /// For the parsers of a debug build, which need half as much more.
    private static let limit = 96
    /// A debug build takes some 8 MiB more for its code alone. One copy of all records are 24.
    private static let historyLimit = 72

    /// Runs a command line, and adds the most memory that it had to its messages.
    private static let program = """
        import resource, subprocess, sys
        status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
        sys.exit(status)
        """

    private func run(_ arguments: [String]) throws -> (status: ChildResult.End, mebibytes: Int) {
        let result = try ChildProcess.run(
            "/usr/bin/env", ["python3", "-c", Self.program, Kazasu.path] + arguments, environment: Kazasu.environment,
            limit: .seconds(300))
        return (result.end, try #require(Int(result.output.split(separator: "\n").last ?? "")))
    }

    /// What is repeated up to 8 MiB, and what stands around it.
    static let repeated = [
        ("[", "1,", "1]"), ("[", "{},", "{}]"), ("[", "\"abcdefghijklmnop\",", "1]"), ("[", "[0],", "1]"),
        (#"{"schema":"kazasu.dump/1","x":["#, "1,", "1]}"),
        (#"{"schema":"kazasu.dump/1","x":{"#, #""a":{},"#, #""b":1}}"#),
    ]

    @Test("8 MiB of JSON values", arguments: repeated)
    func values(_ text: (before: String, value: String, after: String)) throws {
        let folder = try TemporaryFolder()
        let room = 8 << 20 - text.before.utf8.count - text.after.utf8.count
        let values = String(repeating: text.value, count: room / text.value.utf8.count)
        let path = try folder.write(Array((text.before + values + text.after).utf8), as: "values.json")
        for command in [["decode", path], ["convert", path, "--to", "hex"], ["poll", "-r", "virtual:\(path)"]] {
            let (status, mebibytes) = try run(command)
            #expect(status == .exited(65))
            #expect(mebibytes <= Self.limit, "\(command[0]): \(mebibytes) MiB")
        }
    }

    /// A system, its history, and a record of it; the digits of its number are put in where the asterisk is.
    static let histories = [
        (system: "0003", service: "090F", record: "16010002166ce33be6210a0000*00"),
        (system: "832C", service: "898F", record: "305c6401fd000300045200d20000*"),
    ]

    @Test("A history of 65,536 blocks", arguments: histories, [[], ["--json"]])
    func history(_ history: (system: String, service: String, record: String), options: [String]) throws {
        let parts = history.record.split(separator: "*", omittingEmptySubsequences: false)
        let blocks = (0..<65_536).map { number in
            let serial = String(number, radix: 16)
            let digits = String(repeating: "0", count: 4 - serial.count) + serial
            return #""\#(digits)":"\#(parts.joined(separator: digits))""#
        }
        let text = """
            {"schema":"kazasu.dump/1","card":{"technology":"felica","idm":"\(Card.idm)","pmm":"0120220427674eff"},"felica":\
            {"systems":[{"systemCode":"\(history.system)","idm":"\(Card.idm)","pmm":"0120220427674eff","areas":[],"services":[\
            {"code":"\(history.service)","state":"read","blocks":{\(blocks.joined(separator: ","))}}]}]}}
            """
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(text.utf8), as: "long.json")
        // What is converted is not decoded.
        let conversions = ["json", "hex"].filter { options.isEmpty || $0 == "json" }.map {
            ["convert", path, "--to", $0]
        }
        for command in [["decode", path]] + (history.system == "0003" ? conversions : []) {
            let (status, mebibytes) = try run(command + options)
            #expect(status == .exited(0))
            #expect(mebibytes <= Self.historyLimit, "\(command): \(mebibytes) MiB")
        }
    }
}
