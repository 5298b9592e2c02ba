// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import Kazasu
import KazasuCLI
import TestSupport
import Testing
import KazasuTaps

@testable import KazasuServiceCLI

@Suite("Settings of kazasu watch", .waits)
struct SettingsTests {
    private static func settings(
        _ yaml: String, _ arguments: [String] = [], _ environment: [String: String] = [:]
    ) throws -> WatchSettings<Watch> {
        let folder = try TemporaryFolder()
        let file = try folder.write(Array(yaml.utf8), as: "watch.yaml")
        return try WatchSettings<Watch>.current(
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
        #expect(file.basics.reader == ["door=rcs380", "back=rcs300"])
        #expect(file.basics.read == .balance)
        #expect(file.cards.phones && !file.cards.wildcard)
        #expect(file.cards.debounce == 3)
        #expect(file.outbox.keepDays == 2)
        #expect(file.basics.webhook == ["https://a.example", "https://b.example"])
        #expect(file.sinks.secretFrom == [.file("/a")])
        let both = try Self.settings(
            yaml, ["--site", "line", "-r", "x"], ["KAZASU_DEBOUNCE": "4", "KAZASU_SITE": "environment"])
        #expect(
            (both.options.cards.site, both.options.cards.debounce, both.options.basics.reader) == ("line", 4, ["x"]))
        let other = try Self.settings(yaml, ["--webhook", "https://c.example"]).options
        #expect(other.basics.webhook == ["https://c.example"])
        #expect(other.sinks.secretFrom.isEmpty)
    }

    @Test("A variable may have the secret of the webhook in another one; that of the command line has its own")
    func secretInVariable() throws {
        let folder = try TemporaryFolder()
        let secret = "file:" + (try folder.write(Array("key\n".utf8), as: "key"))
        let variables = ["KAZASU_WEBHOOK": "https://a.example", "KAZASU_SECRET_FROM": secret]
        let both = try Self.settings("", [], variables)
        #expect(both.options.sinks.secretFrom == [SecretSource(argument: secret)])
        #expect(try WebhookForm.sinks(both.words).map { $0().name } == ["webhook:a.example"])
        let line = try Self.settings("", ["--webhook", "https://b.example"], variables)
        #expect(line.options.sinks.secretFrom.isEmpty)
        #expect(try WebhookForm.sinks(line.words).map { $0().name } == ["webhook:b.example"])
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
        ("read: id\ncolor: red\n", "line 2"), ("read: everything\n", "line 1"), ("\n\ndebounce: [1, 2]\n", "line 3"),
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

    /// What is wrong, the line, and what else the error says, in English and in Japanese.
    static let faults: [(String, String, [String], [String])] = [
        (
            "site: a\nread: histry\n", "2", ["invalid value 'histry' for read", "did you mean 'history'"],
            ["read の値 'histry' は正しくありません"]
        ),
        ("keyboard: uk\n", "1", ["one of us, jp, de, fr, keypad"], ["使える値: us、jp、de、fr、keypad"]),
        ("debounce: abc\n", "1", ["invalid value 'abc' for debounce"], ["debounce の値 'abc' は正しくありません"]),
        ("\nkeep_days: 3\n", "2", ["unknown option 'keep_days'", "'keep-days'"], ["'keep-days' のことですか"]),
        ("Reader: x\n", "1", ["did you mean 'reader'"], ["'reader' のことですか"]),
        ("webhook:\n- url: http://a\n  secret_from: b\n", "3", ["did you mean 'secret-from'"], ["のことですか"]),
        ("site: a\nread: id\n'site' : b\n", "3", ["'site' is given twice"], ["重複"]),
        ("read: id\nsite: a\nsite: b\nread: id\n", "3", ["'site' is given twice"], ["重複"]),
        ("keep-days: -1\n", "1", ["--keep-days takes 0 to 36500"], ["--keep-days は 0～36500"]),
        ("reader:\n- a=x\n- status=y\n", "3", ["'status' cannot be the name"], ["リーダーの名前"]),
    ]

    @Test("Errors of the file are in Kazasu's words, and name the line and the nearest option", arguments: faults)
    func words(yaml: String, line: String, english: [String], japanese: [String]) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Array(yaml.utf8), as: "watch.yaml")
        for (language, place, texts) in [
            ("en", "watch.yaml, line \(line): ", english), ("ja", "watch.yaml の \(line) 行目: ", japanese),
        ] {
            let result = try Service.run("watch", "--config", file, "--lang", language)
            #expect(result.end == .exited(65))
            for text in [place] + texts { #expect(result.errors.contains(text), "\(result.errors)") }
        }
    }

    @Test("Errors of variables are in Kazasu's words")
    func variables() throws {
        let result = try Service.run("watch", "--lang", "ja", environment: ["KAZASU_READ": "histry"])
        #expect(result.end == .exited(64))
        #expect(result.errors.contains("KAZASU_READ の値 'histry' は正しくありません"), "\(result.errors)")
    }

    @Test("Options that need each other may come from different places")
    func together() throws {
        let yaml = "mqtt: mqtts://broker\nmqtt-cert: a\nmqtt-key: b\nhome-assistant: ha\nconfirm: true\n"
        let options = try Self.settings(yaml + "wildcard: true\n", ["--phones"]).options
        #expect(options.mqtt.homeAssistant == "ha")
        #expect(options.outbox.confirm && options.cards.wildcard)
        let line = try Self.settings("mqtt: mqtt://broker\n", ["--home-assistant=ha", "--phones"]).options
        #expect(line.mqtt.homeAssistant == "ha" && line.cards.phones)
        for alone in ["mqtt-cert: a\n", "home-assistant: ha\n", "confirm: true\n", "wildcard: true\n"] {
            let error = #expect(throws: CommandError.self) { try Self.settings(alone) }
            #expect(error?.status == .usage)
        }
    }

    @Test("A file that is not UTF-8, or too long, is an error")
    func bytes() throws {
        let folder = try TemporaryFolder()
        for (bytes, text) in [
            (Array("read: id\nsite: ".utf8) + [0xFF, 0xFE], "line 2: it is not UTF-8"),
            ([UInt8](repeating: 0x23, count: 1 << 20 + 1), "longer than 1 MiB"),
        ] {
            let file = try folder.write(bytes, as: "watch.yaml")
            let error = #expect(throws: CommandError.self) {
                try WatchSettings<Watch>.current(arguments: ["watch", "--config", file], environment: [:])
            }
            #expect(error?.status == .badFile)
            #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        }
    }

    @Test("Accepts an empty file", arguments: ["", "# nothing\n", "~\n"])
    func empty(yaml: String) throws {
        #expect(try Self.settings(yaml).options.reading == .id)
    }

    static let readers: [(String, String, String)] = [
        ("rcs380", "rcs380", "rcs380"), ("door=rcs380", "door", "rcs380"),
        ("rcs380:serial=0123", "rcs380:serial=0123", "rcs380:serial=0123"),
        ("door=rcs380:serial=0123", "door", "rcs380:serial=0123"), ("virtual:a=b", "virtual:a=b", "virtual:a=b"),
    ]

    /// The example file with each of its commented settings in turn, and those above it that belong to it.
    private static func variants(of example: String) throws -> [String] {
        let blocks = String(decoding: try TestFiles.read(example), as: UTF8.self).split(separator: "\n\n")
        var variants: [String] = []
        for (index, block) in blocks.enumerated() {
            var lines = block.split(separator: "\n").map(String.init)
            for (line, text) in lines.enumerated() where text.wholeMatch(of: /#([a-z-]+:| {2}).*/) != nil {
                lines[line] = String(text.dropFirst())
                // A list below it belongs to it.
                if line + 1 < lines.count, lines[line + 1].hasPrefix("#  ") { continue }
                var changed = blocks.map(String.init)
                changed[index] = lines.joined(separator: "\n")
                variants.append(changed.joined(separator: "\n\n"))
            }
        }
        return variants
    }

    @Test("Every line of the examples works when its # is taken off", arguments: ["watch", "serve"])
    func examples(command: String) throws {
        let folder = try TemporaryFolder()
        let variants = try Self.variants(of: "packaging/\(command).yaml.example")
        #expect(variants.count > 8)
        for text in variants {
            let file = try folder.write(Array(text.utf8), as: "example.yaml")
            #expect(throws: Never.self, "\(text)") {
                if command == "watch" {
                    _ = try WatchSettings<Watch>.current(arguments: ["watch", "--config", file], environment: [:])
                } else {
                    _ = try WatchSettings<Serve>.current(arguments: ["serve", "--config", file], environment: [:])
                }
            }
        }
    }

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

    @Test("HUP leaves a reader alone that is watched as before, and ends one that is not watched any more")
    func reloadReaders() throws {
        let folder = try TemporaryFolder()
        let (card, other) = ("virtual:\(Service.card)", "virtual:\(Service.edy)")
        func write(_ lines: String) throws -> String { try folder.write(Array(lines.utf8), as: "watch.yaml") }
        let file = try write("debounce: 60\nreader: [entrance=\(card)]\n")
        let child = try Service.watch("--config", file, "--outbox", "\(folder.path)/o")
        let on = try child.event(of: "on")
        _ = try write("debounce: 60\nreader: [entrance=\(card), back=\(other)]\n")
        child.send(SIGHUP)
        // The next events are those of the second reader alone.
        let added = try (0..<2).map { _ in try child.event() }
        #expect(added.map { $0["reader"] } == ["back", "back"])
        #expect(added.map { $0["type"] } == ["reader", "on"])
        _ = try write("debounce: 60\nreader: [entrance=\(card)]\n")
        child.send(SIGHUP)
        let removed = try (0..<2).map { _ in try child.event() }
        #expect(removed.map { $0["reader"] } == ["back", "back"])
        #expect(removed.map { $0["type"] } == ["off", "reader"])
        #expect(removed[0]["reason"] == "shutdown" && removed[1]["state"] == "gone")
        // What is read changes: the reader is opened again, and its card is a new visit within the debounce time.
        _ = try write("debounce: 60\nread: balance\nreader: [entrance=\(card)]\n")
        child.send(SIGHUP)
        let again = try (0..<2).map { _ in try child.event() }
        #expect(again.map { $0["type"] } == ["off", "on"])
        #expect(again[0]["on"] == on["id"] && again[1]["balances"] != nil)
        #expect(again.map { $0["seq"] } == [3, 4])
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("HUP adds, changes and removes --ask while an asker hangs; at the end its program is gone")
    func reloadAsker() throws {
        let folder = try TemporaryFolder()
        // Each program that is asked names the event and itself.
        let log = "test \"$KAZASU_EVENT_TYPE\" = on && echo \"$KAZASU_EVENT_ID $$\" >> '\(folder.path)"
        let hanging = try folder.script("\(log)/hanging'; trap '' TERM; exec sleep 600", as: "hang")
        let quick = try folder.script("\(log)/quick'; exit 10", as: "quick")
        func write(_ lines: String) throws -> String {
            try folder.write(
                Array("reader: [door=virtual:\(Service.visitor)]\nread: id\n\(lines)".utf8), as: "watch.yaml")
        }
        func asked(_ name: String) -> [Substring] {
            (try? folder.text(name))?.split(separator: "\n").compactMap { $0.split(separator: " ").first } ?? []
        }
        let child = try Service.watch("--config", try write(""), "--outbox", "\(folder.path)/o")
        _ = try child.event(of: "on")
        _ = try write("ask: \(hanging)\nask-timeout: 60\n")
        child.send(SIGHUP)
        _ = try child.message(containing: "settings were read again")
        // Cards come and go without an answer.
        while asked("hanging").isEmpty { _ = try child.event(of: "on") }
        _ = try write("ask: \(quick)\nask-timeout: 60\n")
        child.send(SIGHUP)
        _ = try child.message(containing: "settings were read again")
        let answer = try child.event(of: "answer")
        #expect(answer["answer"] == "no")
        #expect(asked("quick").contains { answer["on"] == .string(String($0)) })
        // Settings that are wrong leave the asker that there is.
        _ = try write("ask: /nowhere/program\n")
        child.send(SIGHUP)
        _ = try child.message(containing: "the old settings stay")
        #expect(try child.event(of: "answer")["answer"] == "no")
        _ = try write("")
        child.send(SIGHUP)
        _ = try child.message(containing: "settings were read again")
        /// Reads what comes until a card leaves; whether an answer was among it.
        func isAnswered() throws -> Bool {
            var event = try child.event()
            var found = false
            while event["type"] != "off" {
                found = found || event["type"] == "answer"
                event = try child.event()
            }
            return found
        }
        // What was written before is read first.
        var quiet = 0
        while quiet < 3 { quiet = try isAnswered() ? 0 : quiet + 1 }
        let count = asked("quick").count
        for _ in 0..<2 { #expect(try !isAnswered()) }
        #expect(asked("quick").count == count)
        child.send(SIGTERM)
        #expect(child.finish().checkingSchemas().end == .exited(0))
        let programs = try folder.text("hanging").split(separator: "\n").compactMap { line in
            line.split(separator: " ").last.flatMap { pid_t($0) }
        }
        #expect(!programs.isEmpty)
        for program in programs { #expect(kill(program, 0) == -1 && errno == ESRCH) }
    }

    @Test("HUP succeeds with secrets of a variable and of a pipe, which give them once")
    func reloadSecrets() throws {
        let folder = try TemporaryFolder()
        let arguments = [
            "-r", "virtual:\(Service.card)", "--outbox", "\(folder.path)/o", "--mqtt", "mqtt://user@127.0.0.1:1",
            "--mqtt-password-from", "env:SECRET", "--id-key", "fd:3",
        ]
        let child = try RunningChild(
            "/bin/sh", ["-c", "exec \"$0\" watch \"$@\" 3<<END\nkey\nEND", Service.path] + arguments,
            environment: Service.environment.merging(["SECRET": "password"]) { $1 }, limit: .seconds(120),
            hasTerminal: false)
        _ = try child.event(of: "on")
        for _ in 0..<2 {
            child.send(SIGHUP)
            _ = try child.message(containing: "settings were read again")
        }
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    /// Starts a command on a terminal of its own, hangs up once it watches, and prints how it ended.
    private static let hangsUp = """
        import os, pty, sys

        child, terminal = pty.fork()
        if child == 0:
            os.execv(sys.argv[1], sys.argv[1:])
        seen = b""
        while b"watching" not in seen:
            seen += os.read(terminal, 4096)
        os.close(terminal)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """

    @Test("A terminal that hangs up ends it", arguments: [["watch"], ["serve", "--listen", "127.0.0.1:0"]])
    func terminalHangsUp(command: [String]) throws {
        let folder = try TemporaryFolder()
        let script = try folder.write(Array(Self.hangsUp.utf8), as: "hangs-up.py")
        let result = try ChildProcess.run(
            "/usr/bin/python3",
            [script, Service.path] + command + ["-r", "virtual:\(Service.card)", "--outbox", "\(folder.path)/o"],
            environment: Service.environment, limit: .seconds(120))
        #expect(result.output == "0\n", "\(result.errors)")
    }

    @Test("nohup: a terminal that hangs up ends nothing, and HUP reads the settings again")
    func nohup() throws {
        let child = try RunningChild(
            "/usr/bin/nohup", [Service.path, "watch", "-r", "virtual:\(Service.card)"],
            environment: Service.environment, limit: .seconds(120))
        _ = try child.event(of: "on")
        child.send(SIGHUP)
        _ = try child.message(containing: "settings were read again")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("HUP says what needs a restart")
    func restartNeeded() throws {
        let folder = try TemporaryFolder()
        func write(_ lines: String) throws -> String { try folder.write(Array(lines.utf8), as: "watch.yaml") }
        let file = try write("reader: [virtual:\(Service.card)]\noutbox: \(folder.path)/o\n")
        let child = try Service.watch("--config", file)
        _ = try child.event(of: "on")
        let port = try LoopbackPort.free()
        _ = try write(
            "reader: [virtual:\(Service.card)]\noutbox: \(folder.path)/other\nmetrics: 127.0.0.1:\(port)\n")
        child.send(SIGHUP)
        #expect(try child.message(containing: "restart").contains("outbox and metrics"))
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
        // Named as systemd names the stream: the shell's own standard error.
        let child = try RunningChild(
            "/bin/sh",
            [
                "-c", #"export JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2); exec "$0" "$@""#, Service.path,
                "watch", "-r", "virtual:\(Service.card)",
            ],
            environment: Service.environment.merging(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "60000000"]) { $1 },
            limit: .seconds(120))
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

    @Test("A program of a service whose messages go elsewhere does not write for the journal")
    func inheritedJournal() throws {
        let child = try Service.watch("-r", "virtual:\(Service.card)", environment: ["JOURNAL_STREAM": "1:2"])
        #expect(try child.message(containing: "watching").hasPrefix("kazasu: watching"))
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }
}
