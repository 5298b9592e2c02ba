// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Files in folders that others can write to")
struct FileSafetyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A run that has its output file open and waits for a card that never comes.
    private func waiting(_ file: String = "card.json") throws -> RunningChild {
        let absent = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1}"#), as: "absent.json")
        let child = try Kazasu.start(
            "dump", "-v", "-t", "forever", "-o", "\(folder.path)/\(file)", "-r", absent, "--lang", "en")
        // It names the reader after it has opened the file.
        #expect(try child.line(of: .errors)?.hasPrefix("kazasu: reader") == true)
        return child
    }

    private var parts: [String] { folder.names.filter { $0.hasSuffix(".part") } }

    private func mode(_ name: String) -> mode_t? {
        var status = stat()
        return lstat("\(folder.path)/\(name)", &status) == 0 ? status.st_mode : nil
    }

    @Test("The file that is written first has a name nobody can guess, and belongs to its owner alone")
    func unguessable() throws {
        let (first, second) = (try waiting("a"), try waiting("b"))
        #expect(parts.count == 2, "\(folder.names)")
        for name in parts {
            #expect(name.wholeMatch(of: /\.kazasu-[0-9a-f]{16}\.part/) != nil, "\(name)")
            #expect(mode(name) == S_IFREG | 0o600)
        }
        for child in [first, second] {
            child.send(SIGTERM)
            _ = child.finish()
        }
        #expect(parts.isEmpty)
    }

    @Test(
        "No signal that can be handled leaves it behind",
        arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGALRM, SIGXCPU])
    func signals(number: Int32) throws {
        let child = try waiting()
        #expect(parts.count == 1)
        child.send(number)
        let end = child.finish().end
        if ![SIGINT, SIGTERM, SIGHUP].contains(number) { #expect(end == .signalled(number), "\(end)") }
        #expect(parts.isEmpty, "\(folder.names)")
    }

    @Test("Removes what a killed run left, but no file in use and none of the user's")
    func stale() throws {
        let killed = try waiting("killed")
        let left = try #require(parts.first)
        killed.send(SIGKILL)
        _ = killed.finish()
        #expect(parts == [left])
        let running = try waiting("running")
        #expect(!parts.contains(left), "waiting for a card, it has removed what the other left")
        let written = try #require(parts.first)
        // Names that are close to it, and such names of other things.
        _ = try folder.write([1], as: ".kazasu-0123456789ABCDEF.part")
        _ = try folder.write([1], as: ".kazasu-0123456789abcde.part")
        _ = try folder.write([1], as: "notes.12.part")
        let name = "\(folder.path)/.kazasu-000000000000000"
        #expect(mkdir("\(name)1.part", 0o700) == 0)
        #expect(symlink("absent.json", "\(name)2.part") == 0)
        #expect(mkfifo("\(name)3.part", 0o600) == 0)
        #expect(link("\(folder.path)/absent.json", "\(name)4.part") == 0)
        let names = Set(parts)
        #expect(names.count == 8)
        #expect(try Kazasu.run("dump", "-o", "\(folder.path)/new", "-r", Card.fixture("edy")).hasEnded(0))
        #expect(Set(parts) == names && names.contains(written), "\(parts)")
        running.send(SIGTERM)
        _ = running.finish()
        #expect(Set(parts) == names.subtracting([written]))
    }

    // MARK: udev rules

    private func rules() throws -> FileTree {
        let tree = try FileTree()
        try tree.plugIn("054c:06c1", interfaces: [("ff", "port100")], port: "1-4", device: 8)
        try tree.makeFolder("/etc/udev/rules.d")
        return tree
    }

    @Test("doctor --fix follows no link at a rule's place", arguments: ["en", "ja"])
    func linkedRule(language: String) throws {
        let tree = try rules()
        let target = try folder.write(Array("mine".utf8), as: "mine")
        chmod(target, 0o600)
        try tree.link("/etc/udev/rules.d/93-kazasu.rules", to: target)
        let result = try Kazasu.run("doctor", "--root", tree.root, "--fix", "--yes", "--lang", language)
        result.expectError(73, language == "en" ? "is a link to \(target)" : "\(target) へのリンク")
        #expect(mode("mine") == S_IFREG | 0o600)
        #expect(try folder.text("mine") == "mine")
        #expect(access("\(tree.root)/etc/udev/rules.d/70-kazasu.rules", F_OK) != 0, "nothing was written at all")
    }

    @Test("A rule that is masked stays so, and the message says what that means", arguments: ["en", "ja"])
    func maskedRule(language: String) throws {
        let tree = try rules()
        try tree.link("/etc/udev/rules.d/70-kazasu.rules", to: "/dev/null")
        var before = stat()
        #expect(stat("/dev/null", &before) == 0)
        let result = try Kazasu.run("doctor", "--root", tree.root, "--fix", "--yes", "--lang", language)
        result.expectError(73, language == "en" ? "is masked" : "無効にされています")
        #expect(result.errors.contains("sudo rm \(tree.root)/etc/udev/rules.d/70-kazasu.rules"))
        var after = stat()
        #expect(stat("/dev/null", &after) == 0 && after.st_mode == before.st_mode)
    }

    @Test("Neither is a folder replaced, nor a FIFO waited for")
    func irregularRule() throws {
        for make in [{ mkdir($0, 0o700) }, { mkfifo($0, 0o600) }] as [(String) -> Int32] {
            let tree = try rules()
            #expect(make("\(tree.root)/etc/udev/rules.d/70-kazasu.rules") == 0)
            let result = try Kazasu.run("doctor", "--root", tree.root, "--fix", "--yes")
            result.expectError(73, "is not a regular file")
        }
    }

    @Test("An older rule is replaced by a new file, and no other name of the old one changes")
    func olderRule() throws {
        let tree = try rules()
        try tree.write("/etc/udev/rules.d/70-kazasu.rules", "old")
        let other = "\(folder.path)/other"
        #expect(link("\(tree.root)/etc/udev/rules.d/70-kazasu.rules", other) == 0)
        chmod(other, 0o600)
        #expect(try Kazasu.run("doctor", "--root", tree.root, "--fix", "--yes").hasEnded(0))
        #expect(try folder.text("other") == "old\n")
        #expect(mode("other") == S_IFREG | 0o600)
    }
}
