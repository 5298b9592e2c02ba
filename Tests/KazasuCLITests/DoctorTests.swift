// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("The doctor", .waits)
struct DoctorTests {
    /// A system with a reader of each kind of trouble.
    private static func troubled() throws -> FileTree {
        let tree = try FileTree()
        try tree.write("/proc/sys/kernel/osrelease", "6.1.0-26-amd64")
        try tree.plugIn("072f:2200", interfaces: [("0b", "usbfs")], files: ["bcdDevice": "0215"])
        try tree.run("pcscd", process: 612, holding: "/dev/bus/usb/001/005")
        try tree.plugIn("054c:0dc8", interfaces: [("0b", nil), ("ff", nil)], port: "1-2", device: 6, hasNode: false)
        try tree.plugIn("6869:1256", port: "1-3", device: 7)
        try tree.write("/etc/nfc/libnfc.conf", "allow_autoscan = false")
        try tree.write("/dev/ttyUSB0", "")
        return tree
    }

    /// The same, and an RC-S380 that is well.
    private static func mended() throws -> FileTree {
        let tree = try troubled()
        try tree.plugIn("054c:06c1", interfaces: [("ff", "port100")], port: "1-4", device: 8)
        return tree
    }

    @Test("Shows each fault with its fix", arguments: ["en", "ja"])
    func wrong(language: String) throws {
        let tree = try Self.troubled()
        let result = try Kazasu.run("doctor", "--root", tree.root, "--lang", language)
        #expect(result.end == .exited(69))
        try Snapshot.check(result.output, "answers/doctor-troubled.\(language).txt")
        try Snapshot.check(result.errors, "answers/doctor-troubled.\(language).err.txt")
    }

    @Test("A document that scripts can read")
    func document() throws {
        let tree = try Self.troubled()
        let result = try Kazasu.run("doctor", "--root", tree.root, "--json")
        #expect(result.end == .exited(69))
        try Snapshot.check(result.output, "answers/doctor-troubled.json")
        #expect(try result.errorDocument().required("reason").text() == "busy")
    }

    @Test("One reader that can be used is enough")
    func ready() throws {
        let tree = try Self.mended()
        let result = try Kazasu.run("doctor", "--root", tree.root, "--json")
        #expect(result.end == .exited(0))
        #expect(result.errors.isEmpty)
        let document = try JSONCursor(JSONValue(parsing: Array(result.output.utf8)))
        #expect(try document.required("schema").text() == "kazasu.doctor/1")
        let readers = try document.required("readers").elements()
        #expect(
            try readers.map { try $0.optional("id")?.text() } == [
                "acr122_usb:port=1-1", "rcs300:port=1-2", nil, "rcs380:port=1-4",
            ])
    }

    @Test("This very system can be examined")
    func here() throws {
        let result = try Kazasu.run("doctor")
        #expect(result.end == .exited(0) || result.end == .exited(69))
        #expect(!result.output.isEmpty)
    }

    @Test("A reader that is named is tried")
    func trial() throws {
        let folder = try TemporaryFolder()
        let card = try SimulatedReader(Card.file("edy"), link: "\(folder.path)/pn532")
        let good = try Kazasu.run("doctor", "--reader", card.id)
        #expect(good.end == .exited(0))
        #expect(good.output.contains("\(card.id) answers"))
        let bad = try Kazasu.run("doctor", "--root", folder.path, "--reader", "pn532_uart:/dev/nowhere")
        #expect(bad.end == .exited(69))
        #expect(bad.output.contains("pn532_uart:/dev/nowhere cannot be used"))
        let unknown = try Kazasu.run("doctor", "--root", folder.path, "--reader", "foo", "--lang=ja")
        #expect(unknown.end == .exited(69))
        #expect(unknown.output.contains("リーダー ID 'foo' はありません"))
    }

    @Test("A virtual reader is tried as any other, and that no reader is on the USB is then no fault")
    func virtual() throws {
        let tree = try FileTree()
        try tree.write("/.dockerenv", "")
        let alone = try Kazasu.run("doctor", "--root", tree.root)
        #expect(alone.hasEnded(69) && alone.output.contains("FAULT"), "\(alone.output)")
        let result = try Kazasu.run("doctor", "--root", tree.root, "--reader", Card.fixture("edy"))
        #expect(result.hasEnded(0) && result.errors.isEmpty, "\(result.errors)")
        #expect(result.output.contains("\(Card.fixture("edy")) answers"), "\(result.output)")
        #expect(!result.output.contains("FAULT") && result.output.contains("no supported reader"), "\(result.output)")
        let missing = try Kazasu.run("doctor", "--root", tree.root, "--reader", "virtual:/no/such/card.json")
        #expect(missing.hasEnded(69) && missing.output.contains("/no/such/card.json"), "\(missing.output)")
    }

    @Test("The udev rules are installed after asking, for nobody but the user and plugdev")
    func fix() throws {
        let tree = try Self.mended()
        try tree.makeFolder("/etc/udev/rules.d")
        let unasked = try Kazasu.run("doctor", "--root", tree.root, "--fix")
        #expect(unasked.end == .exited(64), "nobody can be asked")
        #expect(access("\(tree.root)/etc/udev/rules.d/70-kazasu.rules", F_OK) != 0)
        let result = try Kazasu.run("doctor", "--root", tree.root, "--fix", "--yes")
        #expect(result.end == .exited(0))
        #expect(result.errors.contains("unplug the reader and plug it back in"))
        for name in ["70-kazasu.rules", "93-kazasu.rules"] {
            let path = "\(tree.root)/etc/udev/rules.d/\(name)"
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o644)
            #expect(try TestFiles.read(path) == TestFiles.read("packaging/udev/\(name)"))
        }
    }

    @Test("Without the right to write, root is named", .enabled(if: ReaderTests.canBeNobody))
    func fixAsNobody() throws {
        let tree = try Self.mended()
        try tree.makeFolder("/etc/udev/rules.d")
        let result = try ChildProcess.run(
            "/usr/bin/setpriv", ReaderTests.nobody + ["doctor", "--root", tree.root, "--fix", "--yes"],
            environment: Kazasu.environment.merging(["LLVM_PROFILE_FILE": "/dev/null"]) { $1 })
        result.expectError(73, "only root may write")
        #expect(result.errors.contains("sudo kazasu doctor --fix"))
    }

    @Test("A folder that is not there")
    func noFolder() throws {
        let tree = try FileTree()
        try Kazasu.run("doctor", "--root", tree.root, "--fix", "--yes").expectError(73)
    }
}
