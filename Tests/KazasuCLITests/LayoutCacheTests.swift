// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What `scan` and `dump` keep of unknown cards.
@Suite("Layouts of cards seen before", .waits)
struct LayoutCacheTests {
    private let folder: TemporaryFolder
    private let reader: SimulatedReader

    /// A card whose nodes no known card has.
    init() throws {
        folder = try TemporaryFolder()
        let card = try folder.write(
            Array(
                """
                {"schema":"kazasu.card/1","idm":"\(Card.idm)","pmm":"01368b868fbecbff",
                 "systems":[{"code":"8ABC","keyVersion":"0001",
                  "nodes":["0040-07FF","0048","0088","00C8","0108","0148","0188","0800-0FFF","0808","0848"],
                  "blocks":{"008B":["00000000000000002000000a000001e3"]}}]}
                """.utf8), as: "card.json")
        reader = try SimulatedReader(card, link: "\(folder.path)/pn532")
    }

    private var cache: String { "\(folder.path)/cache" }
    private var file: String { "\(cache)/kazasu/layouts" }
    private static let text =
        "kazasu.layouts/1\n8ABC 8ABC 0000 0040 0048 0088 008B 00C8 0108 0148 0188 0800 0808 0848\n"

    /// Runs a command with `-v` on the card; again if the simulated chip was too late on a busy machine.
    private func run(_ arguments: String...) throws -> ChildResult {
        var result = try once(arguments)
        for _ in 0..<4 where result.errors.contains("stopped answering") { result = try once(arguments) }
        return result
    }

    private func once(_ arguments: [String]) throws -> ChildResult {
        try Kazasu.run(arguments + ["-v", "--reader", reader.id], environment: ["XDG_CACHE_HOME": cache])
    }

    /// How many exchanges the system took.
    private func exchanges(_ result: ChildResult) throws -> Int {
        #expect(result.hasEnded(0), "\(result.errors)")
        let line = try #require(result.messages.first { $0.contains("system 8ABC: ") })
        return try #require(line.split(separator: " ").dropLast().last.flatMap { Int($0) })
    }

    private func kept() throws -> String? {
        folder.names.contains("cache") ? try? folder.text("cache/kazasu/layouts") : nil
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test(
        "The next card of the same kind takes fewer exchanges, and its answer is the same", arguments: ["scan", "dump"])
    func nextCard(_ command: String) throws {
        let first = try run(command)
        #expect(first.errors.contains("kazasu: kept the layout of system 8ABC in "))
        #expect(try kept() == Self.text)
        #expect(mode(file) == 0o600 && mode("\(cache)/kazasu") == 0o700 && mode(cache) == 0o700)
        for again in ["scan", "dump"] {
            let second = try run(again)
            #expect(try exchanges(second) < exchanges(first))
            #expect(!second.errors.contains("kept"))
            if again == command { #expect(second.output == first.output) }
            #expect(try run(again, "--no-cache").output == second.output)
        }
        #expect(try exchanges(run("scan", "--no-cache")) == exchanges(first))
        #expect(folder.names == ["cache", "card.json", "pn532"])
        _ = reader.interrupt()
    }

    @Test("Nothing is kept", arguments: [["scan", "--no-cache"], ["scan", "--trace"], ["dump", "--system", "8ABC"]])
    func nothingKept(_ arguments: [String]) throws {
        let trace = arguments.last == "--trace" ? ["\(folder.path)/trace.jsonl"] : []
        let result = try Kazasu.run(
            arguments + trace + ["--reader", reader.id], environment: ["XDG_CACHE_HOME": cache])
        #expect(result.hasEnded(0))
        let virtual = try Kazasu.run(
            "scan", "--reader", "virtual:\(folder.path)/card.json", environment: ["XDG_CACHE_HOME": cache])
        #expect(virtual.hasEnded(0))
        #expect(!folder.names.contains("cache"))
        _ = reader.interrupt()
    }

    /// A shell's line that puts something else into the place of the file, and whether it is replaced.
    static let others: [(line: String, isReplaced: Bool)] = [
        ("printf 'kazasu.layouts/1\\n8ABC 8ABC 0000' > layouts", true), (": > layouts", true),
        ("head -c 300000 /dev/zero > layouts", true), ("printf 'kazasu.layouts/9\\n' > layouts", true),
        ("mkfifo layouts", true), ("echo other > ../other; ln -s ../other layouts", true), ("ln -s . layouts", true),
        ("mkdir layouts", false), ("cd ..; rmdir kazasu; : > kazasu", false),
        ("cd ..; rmdir kazasu; ln -s nowhere kazasu", false),
    ]

    @Test("A file that is not ours is not used, and breaks nothing", arguments: others)
    func otherFile(_ line: String, isReplaced: Bool) throws {
        let plain = try run("scan", "--no-cache")
        #expect(try Kazasu.shell("mkdir -p '\(cache)/kazasu' && cd '\(cache)/kazasu' && \(line)").hasEnded(0))
        let result = try run("scan")
        #expect(result.hasEnded(0))
        #expect(result.output == plain.output)
        #expect(try exchanges(result) == exchanges(plain))
        #expect(try (kept() == Self.text) == isReplaced)
        if line.contains("other") { #expect(try folder.text("cache/other") == "other\n") }
        _ = reader.interrupt()
    }

    @Test("A folder of another user is left alone", .enabled(if: geteuid() == 0, "only root can give a folder away"))
    func foreignFolder() throws {
        #expect(mkdir(cache, 0o777) == 0 && chown(cache, 12345, 12345) == 0)
        #expect(try exchanges(run("scan")) > 5)
        #expect(try Kazasu.shell("ls -A '\(cache)'").output.isEmpty)
        #expect(chown(cache, 0, 0) == 0)
        _ = try run("scan")
        #expect(try kept() == Self.text)
        #expect(chown(file, 12345, 12345) == 0)
        #expect(try exchanges(run("scan")) > 5, "a file of another user is not read")
        _ = reader.interrupt()
    }

    @Test(
        "A full disk or a missing home directory breaks nothing",
        arguments: ["ulimit -f 0", "unset XDG_CACHE_HOME HOME"])
    func cannotBeKept(_ line: String) throws {
        let result = try Kazasu.shell(
            "trap '' XFSZ; \(line); kazasu scan -v -r '\(reader.id)' 2>&1 >/dev/null",
            environment: ["XDG_CACHE_HOME": cache])
        #expect(result.hasEnded(0), "\(result.output)")
        #expect(!result.output.contains("kept"))
        #expect(try kept() == nil)
        _ = reader.interrupt()
    }
}
