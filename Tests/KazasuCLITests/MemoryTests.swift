// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A release build takes at most 64 MiB for each of these; here a debug build has half as much more.
@Suite("Memory for files of hostile length", .disabled(if: Kazasu.isSanitized))
struct MemoryTests {
    private static let limit = 96

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

    @Test("A history of 65,536 blocks", arguments: [[], ["--json"]])
    func history(options: [String]) throws {
        let blocks = (0..<65_536).map { number in
            let serial = String(number, radix: 16)
            let digits = String(repeating: "0", count: 4 - serial.count) + serial
            return #""\#(digits)":"16010002166ce33be6210a0000\#(digits)00""#
        }
        let text = """
            {"schema":"kazasu.dump/1","card":{"technology":"felica","idm":"\(Card.idm)","pmm":"0120220427674eff"},"felica":\
            {"systems":[{"systemCode":"0003","idm":"\(Card.idm)","pmm":"0120220427674eff","areas":[],"services":[\
            {"code":"008B","state":"read","blocks":{"0000":"00000000000000002000000a000001e3"}},\
            {"code":"090F","state":"read","blocks":{\(blocks.joined(separator: ","))}}]}]}}
            """
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(text.utf8), as: "long.json")
        for command in [["decode", path], ["convert", path, "--to", "json"], ["convert", path, "--to", "hex"]] {
            let (status, mebibytes) = try run(command + options)
            #expect(status == .exited(0))
            #expect(mebibytes <= Self.limit, "\(command): \(mebibytes) MiB")
        }
    }
}
