// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Files in folders that others can write to", .waits)
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

    private func mode(_ name: String) -> mode_t? {
        var status = stat()
        return lstat("\(folder.path)/\(name)", &status) == 0 ? status.st_mode : nil
    }

    /// The files in the folder beside the card.
    private var written: [String] { folder.names.filter { $0 != "absent.json" } }

    @Test("The output has no name before it is complete, and then belongs to its owner alone")
    func unnamed() throws {
        let child = try waiting()
        #expect(written.isEmpty, "\(folder.names)")
        child.send(SIGTERM)
        _ = child.finish()
        #expect(written.isEmpty)
        #expect(try Kazasu.run("dump", "-o", "\(folder.path)/new", "-r", Card.fixture("edy")).hasEnded(0))
        #expect(written == ["new"])
        #expect(mode("new") == S_IFREG | 0o600)
    }

    @Test(
        "No signal leaves anything behind",
        arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGALRM, SIGXCPU, SIGKILL])
    func signals(number: Int32) throws {
        let child = try waiting()
        child.send(number)
        let end = child.finish().end
        if ![SIGINT, SIGTERM, SIGHUP].contains(number) { #expect(end == .signalled(number), "\(end)") }
        #expect(written.isEmpty, "\(folder.names)")
    }

    @Test("Other files in the folder stay as they are")
    func others() throws {
        let left = ".kazasu-0123456789abcdef.part"
        _ = try folder.write([1], as: left)
        #expect(symlink("absent.json", "\(folder.path)/new") == 0)
        let absent = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1}"#), as: "absent.json")
        let before = try folder.text("absent.json")
        #expect(try !Kazasu.run("dump", "-t", "0", "-o", "\(folder.path)/other", "-r", absent).hasEnded(0))
        #expect(Set(written) == [left, "new"])
        #expect(try folder.text("absent.json") == before)
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
