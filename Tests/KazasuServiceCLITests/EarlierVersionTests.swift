// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// Files that the programs of 0.1.0 wrote.
@Suite("Files of 0.1.0", .waits)
struct EarlierVersionTests {
    private static func copy(of name: String) throws -> (folder: TemporaryFolder, path: String) {
        let folder = try TemporaryFolder()
        return (folder, try folder.write(TestFiles.read("Fixtures/0.1.0/\(name)"), as: name))
    }

    @Test("A ledger is brought up to date, and a copy stays; nothing of it is lost")
    func ledger() throws {
        let (folder, path) = try Self.copy(of: "ledger.sqlite")
        let list = try Service.run("ledger", "list", "--format", "csv", "--ledger", path)
        #expect(list.end == .exited(0) && list.errors.contains("ledger.sqlite.version-1"), "\(list.errors)")
        #expect(list.output.split(separator: "\r\n").count == 1 + 20 + 6)
        let copy = try Service.run(
            "ledger", "list", "--format", "csv", "--ledger", folder.path + "/ledger.sqlite.version-1")
        #expect(copy.output == list.output && copy.errors.contains("version-1.version-1"), "\(copy.errors)")
        let cards = try Service.run("ledger", "cards", "--format", "csv", "--ledger", path)
        #expect(cards.errors.isEmpty && cards.output.contains("0x0101031234567890"), "\(cards.errors)")
        let again = try Service.run(
            "ledger", "import", "\(TestFiles.root)/Fixtures/cards/suica-p1/card.json", "--ledger", path)
        #expect(again.output == "0 new records, 20 known already\n")
    }

    @Test("After a step back, the ledger is left as it is, and the copy of its version is named")
    func stepBack() throws {
        let (folder, path) = try Self.copy(of: "ledger.sqlite")
        var bytes = try TestFiles.read(path)
        // user_version of a later program, beside the copies that two updates have kept.
        bytes[63] = 99
        _ = try folder.write(bytes, as: "ledger.sqlite")
        let without = try Service.run("ledger", "list", "--json", "--ledger", path)
        #expect(without.end == .exited(65) && without.errors.contains(#""hint":"update Kazasu""#), "\(without.errors)")
        for name in ["version-1", "version-3", "version-3-2", "version-98"] {
            _ = try folder.write(Array("copy".utf8), as: "ledger.sqlite.\(name)")
        }
        let result = try Service.run("ledger", "list", "--json", "--ledger", path)
        #expect(result.end == .exited(65))
        #expect(result.errors.contains("--ledger \(path).version-3-2"), "\(result.errors)")
        #expect(try TestFiles.read(path) == bytes)
    }

    @Test("An outbox keeps what waits for its sink, and takes what comes")
    func outbox() throws {
        let (folder, path) = try Self.copy(of: "outbox.sqlite")
        func pending() throws -> [String: Int] {
            let status = try Service.run("outbox", "status", "--json", "--outbox", path)
            let sinks = try JSONCursor(JSONValue(parsing: Array(status.output.utf8))).required("sinks").elements()
            return try Dictionary(
                uniqueKeysWithValues: sinks.map {
                    (try $0.required("sink").text(), try $0.required("pending").integer())
                })
        }
        let old = try pending()
        #expect(Array(old.values) == [3])
        let program = try folder.script("cat >> \"$TAPS\"; echo >> \"$TAPS\"", as: "keep")
        let child = try Service.watch(
            "-r", "virtual:\(Service.edy)", "--outbox", path, "--exec-all", program,
            environment: ["TAPS": folder.path + "/taps"])
        _ = try child.event(of: "on")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
        #expect(try folder.text("taps").contains(#""type":"on""#))
        #expect(try pending()[#require(old.keys.first)] == 3)
    }
}
