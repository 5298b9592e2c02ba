// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import Kazasu
import KazasuCLI
import KazasuService
import TestSupport
import Testing

@testable import KazasuServiceCLI

@Suite("Settings of kazasu watch")
struct SettingsTests {
    private static func settings(
        _ yaml: String, _ arguments: [String] = [], _ environment: [String: String] = [:]
    ) throws -> WatchSettings {
        let folder = try TemporaryFolder()
        let file = try folder.write(Array(yaml.utf8), as: "watch.yaml")
        return try WatchSettings.current(
            arguments: ["watch", "--config", file] + arguments, environment: environment)
    }

    @Test("The command line comes before the environment, and that before the file")
    func order() throws {
        let yaml = """
            # of the file
            reader: [door=rcs380, back=rcs300]
            read: balance
            phones: true
            wildcard: false
            debounce: 3
            site: file
            keep-days: 2
            webhook:
              - url: https://a.example
                secret-from: file:/a
              - https://b.example
            """
        let file = try Self.settings(yaml).options
        #expect(file.reader == ["door=rcs380", "back=rcs300"])
        #expect(file.read == .balance)
        #expect(file.phones && !file.wildcard)
        #expect(file.debounce == 3)
        #expect(file.outbox.keepDays == 2)
        #expect(file.sinks.webhook == ["https://a.example", "https://b.example"])
        #expect(file.sinks.secretFrom == [.file("/a")])
        let both = try Self.settings(
            yaml, ["--site", "line", "-r", "x"], ["KAZASU_DEBOUNCE": "4", "KAZASU_SITE": "environment"])
        #expect((both.options.site, both.options.debounce, both.options.reader) == ("line", 4, ["x"]))
        let other = try Self.settings(yaml, ["--webhook", "https://c.example"]).options
        #expect(other.sinks.webhook == ["https://c.example"])
        #expect(other.sinks.secretFrom.isEmpty)
    }

    @Test("--keep reads histories; its ledger is an option, the variable of every command, or the usual file")
    func keep() throws {
        #expect(try Self.settings("keep: true\nledger: /a\n").options.reading == .history)
        let both = try Self.settings("keep: true\n", ["--ledger", "/b"], ["KAZASU_LEDGER": "/c"]).options
        #expect(both.sinks.place.ledger == "/b")
        #expect(try Self.settings("site: here\n", [], ["KAZASU_LEDGER": "/c"]).options.sinks.place.ledger == nil)
        #expect(throws: (any Error).self) { try Self.settings("ledger: /a\n") }
        #expect(throws: (any Error).self) { try Self.settings("keep: true\n", ["--read", "balance"]) }
    }

    static let wrong: [(String, String)] = [
        ("read: id\ncolour: red\n", "line 2"), ("read: everything\n", "line 1"), ("\n\ndebounce: [1, 2]\n", "line 3"),
        ("phones: perhaps\n", "line 1"), ("- read\n", "line 1"), ("read: id\nread: balance\n", "line"),
        ("a: b: c\n", "line 1"), ("json: true\n", "line 1"), ("site:\n  a: b\n", "line"),
    ]

    @Test("A wrong file is 65 and names the line", arguments: wrong)
    func wrongFile(yaml: String, place: String) {
        let error = #expect(throws: CommandError.self) { try Self.settings(yaml) }
        #expect(error?.status == .badFile)
        #expect(error?.reason == "badFile")
        #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
    }

    @Test("An empty file is no error", arguments: ["", "# nothing\n", "~\n"])
    func empty(yaml: String) throws {
        #expect(try Self.settings(yaml).options.reading == .id)
    }

    static let readers: [(String, String, String)] = [
        ("rcs380", "rcs380", "rcs380"), ("door=rcs380", "door", "rcs380"),
        ("rcs380:serial=0123", "rcs380:serial=0123", "rcs380:serial=0123"),
        ("door=rcs380:serial=0123", "door", "rcs380:serial=0123"), ("virtual:a=b", "virtual:a=b", "virtual:a=b"),
    ]

    @Test("Names of readers", arguments: readers)
    func readerName(value: String, name: String, id: String) throws {
        #expect(try NamedReader.parse([value]) == [NamedReader(name: name, id: id)])
    }

    @Test("HUP reads the file again; a broken one changes nothing")
    func reload() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Array("site: one\nread: id\n".utf8), as: "watch.yaml")
        let child = try Service.watch(
            "-r", "virtual:\(Service.visitor)", "--config", file, "--outbox", "\(folder.path)/o")
        #expect(try child.event(of: "on")["site"] == "one")
        _ = try folder.write(Array("sight: two\n".utf8), as: "watch.yaml")
        child.send(SIGHUP)
        #expect(try child.message(containing: "the old settings stay").contains("line 1"))
        #expect(try child.event(of: "off")["site"] == "one")
        _ = try folder.write(Array("site: two\n".utf8), as: "watch.yaml")
        child.send(SIGHUP)
        _ = try child.message(containing: "read again")
        var site = try child.event()["site"]
        while site == "one" { site = try child.event()["site"] }
        #expect(site == "two")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("A service manager hears that it is ready and stopping; logs have priorities")
    func serviceManager() throws {
        let folder = try TemporaryFolder()
        let file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(file) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = "\(folder.path)/notify"
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        func received() -> String {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(file, &buffer, buffer.count, 0)
            return count < 0 ? "nothing came in a minute" : String(decoding: buffer.prefix(count), as: UTF8.self)
        }
        let child = try Service.watch(
            "-r", "virtual:\(Service.card)",
            environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "60000000", "JOURNAL_STREAM": "1:2"])
        var texts: [String] = []
        while !["READY=1", "WATCHDOG=1"].allSatisfy({ text in texts.contains { $0.hasPrefix(text) } }) {
            texts.append(received())
            try #require(texts.last?.hasPrefix("nothing") == false, "\(texts)")
        }
        #expect(try child.message(containing: "ready").hasPrefix("<6>"))
        child.send(SIGTERM)
        while texts.last != "STOPPING=1", texts.last?.hasPrefix("nothing") == false { texts.append(received()) }
        #expect(texts.last == "STOPPING=1")
        #expect(child.finish().end == .exited(0))
    }
}
