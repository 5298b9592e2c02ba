// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("kazasu watch", .waits)
struct WatchTests {
    @Test("A card that lies there: ready, on, and at the end off")
    func events() throws {
        let child = try Service.watch("-r", "door=virtual:\(Service.card)", "--read", "history", "--site", "here", "-q")
        let (ready, on) = (try child.event(), try child.event())
        #expect(ready["type"] == "reader")
        #expect(ready["state"] == "ready")
        #expect(on["type"] == "on")
        #expect(on["reader"] == "door")
        #expect(on["site"] == "here")
        #expect(on["system"] == "0003")
        #expect(on["identity"] == "fixed")
        #expect(on["balances"] != nil)
        #expect(on["records"] != nil)
        child.send(SIGTERM)
        let result = child.finish()
        #expect(result.end == .exited(0))
        #expect(result.errors.isEmpty)
        result.checkingSchemas()
        let last = try #require(result.output.split(separator: "\n").last)
        let off = try JSONCursor(JSONValue(parsing: Array(last.utf8))).object()
        #expect(off["type"] == "off")
        #expect(off["reason"] == "shutdown")
        #expect(off["on"] == on["id"])
        #expect([ready, on, off].map { $0["seq"] } == [1, 2, 3])
    }

    @Test("Without a terminal no bell rings among the lines")
    func noBell() throws {
        let child = try Service.watch("-r", "virtual:\(Service.visitor)", "--bell", "-q")
        // The line after that of a card.
        _ = try child.event(of: "off")
        child.send(SIGTERM)
        let result = child.finish().checkingSchemas()
        #expect(!result.output.contains("\u{7}") && result.errors.isEmpty)
    }

    @Test("A card that comes and goes gives pairs in order")
    func visits() throws {
        let child = try Service.watch("-r", "virtual:\(Service.visitor)", "--read", "balance")
        var open: JSONValue?
        var seen = 0
        while seen < 6 {
            let event = try child.event()
            switch event["type"] {
            case "on":
                #expect(open == nil)
                open = event["id"]
            case "off":
                #expect(event["on"] == open)
                #expect(event["reason"] == nil)
                open = nil
            default: continue
            }
            seen += 1
            #expect(event["seq"] == .int(seen + 1))
        }
        child.send(SIGINT)
        #expect(child.finish().end == .exited(0))
    }

    @Test("With --id-key the number of the card is nowhere")
    func key() throws {
        let folder = try TemporaryFolder()
        let key = try folder.write(Array("secret\n".utf8), as: "key")
        let child = try Service.watch(
            "-r", "virtual:\(Service.card)", "--read", "history", "--id-key", "file:\(key)", "-q")
        _ = try child.event(of: "on")
        child.send(SIGTERM)
        let result = child.finish().checkingSchemas()
        let dump = JSONCursor(try JSONValue(parsing: TestFiles.read(Service.card)))
        let idm = try dump.required("card").required("idm").text()
        #expect(!result.output.contains(idm))
    }

    @Test(
        "--keep adds the history to the ledger; with --id-key, the number of the card is not there",
        arguments: [false, true])
    func keep(isKeyed: Bool) throws {
        let data = try TemporaryFolder()
        let key = try data.write(Array("secret\n".utf8), as: "key")
        let child = try Service.watch(
            ["-r", "door=virtual:\(Service.card)", "--keep", "--outbox", "\(data.path)/o"]
                + (isKeyed ? ["--id-key", "file:\(key)"] : []),
            environment: ["XDG_DATA_HOME": data.path])
        let on = try child.event(of: "on")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
        let cards = try Service.run(["ledger", "cards", "--json"], data: data)
        let (number, tag) = ("0101031234567890", try #require(on["tag"]))
        #expect(tag == .string(number) || isKeyed)
        let card = try #require(
            try JSONCursor(JSONValue(parsing: Array(cards.output.utf8))).required("cards").elements().first)
        #expect(try card.required("records").integer() == 20)
        #expect(cards.output.contains(number) != isKeyed)
        let again = try Service.run(["history", Service.card, "--keep"], data: data)
        #expect(again.errors.contains(isKeyed ? "20 new records" : "0 new records, 20 known"), "\(again.errors)")
    }

    @Test(
        "With --require-mac only a genuine Lite-S card has a tag; a copy, another card and a Lite have none",
        arguments: [
            ("felica/lite-s-issued.json", true, nil), ("felica/lite-s.json", false, "notGenuine"),
            ("cards/suica-p1/card.json", false, "otherCard"), ("virtual/ntag213.json", false, "otherCard"),
        ] as [(String, Bool, String?)])
    func genuine(_ card: String, _ isGenuine: Bool, _ reason: String?) throws {
        let folder = try TemporaryFolder()
        let key = try folder.write(Array("000102030405060708090A0B0C0D0E0F1011121314151617\n".utf8), as: "master")
        let names = try folder.write(Array("012E34E829CE1E71\tHanako\n012E4CD2C0FFEE42\tCopy\n".utf8), as: "names")
        let child = try Service.watch(
            "-r", "door=virtual:\(TestFiles.root)/Fixtures/\(card)", "--require-mac", "file:\(key)", "--only", names,
            "-q")
        let on = try child.event(of: "on")
        child.send(SIGTERM)
        let result = child.finish().checkingSchemas()
        #expect(on["tag"] == (isGenuine ? "012e34e829ce1e71" : nil))
        #expect(on["name"] == (isGenuine ? "Hanako" : nil))
        #expect(on["readError"] == reason.map { .string($0) })
        let last = try #require(result.output.split(separator: "\n").last)
        let off = try JSONCursor(JSONValue(parsing: Array(last.utf8))).object()
        #expect(off["type"] == "off" && off["on"] == on["id"] && off["tag"] == on["tag"])
        if !isGenuine { #expect(!result.output.lowercased().contains("c0ffee42")) }
    }

    static let wrong: [([String], Int32, String)] = [
        (["-r", "virtual:/nowhere"], 66, "unreadable"), (["-r", "toaster"], 64, "unknownReader"),
        (["-r", "pn532:"], 69, "unsupported"), (["-r", "acr122_usb:x"], 69, "unsupported"),
        (["-r", "rcs380:x"], 69, "unsupported"),
        (["-r", "ack=rcs380"], 64, "usage"), (["-r", "a=x", "-r", "a=y"], 64, "usage"),
        (["--webhook", "ftp://x"], 64, "usage"), (["--id-key", "secret"], 64, "usage"),
        (["--require-mac", "secret"], 64, "usage"), (["--require-mac", "env:KEY"], 64, "usage"),
        (["--require-mac", "file:/nowhere"], 66, "unreadable"), (["--require-mac", "file:/dev/null"], 64, "noKey"),
        (["--require-mac", "file:x", "--read", "balance"], 64, "usage"),
        (["--metrics", "0.0.0.0:80"], 64, "usage"), (["--debounce", "-1"], 64, "usage"),
        (["--config", "/nowhere"], 66, "unreadable"), (["--ledger", "/nowhere"], 64, "usage"),
        (["--keep", "--read", "balance"], 64, "usage"), (["--keep", "--ledger", "/dev/null/x"], 73, "cannotWrite"),
        (["--confirm"], 64, "usage"), (["--wildcard"], 64, "usage"), (["--home-assistant"], 64, "usage"),
        (["--mqtt", "mqtts://x", "--mqtt-cert", "x"], 64, "usage"), (["--webhook", "http://"], 64, "usage"),
        (["--outbox", "/nowhere/o"], 73, "cannotWrite"), (["--outbox", "/"], 73, "cannotWrite"),
        (["--ask", "/nowhere/program"], 66, "unreadable"), (["--ask", "/etc/passwd"], 66, "notExecutable"),
        (["--ask", "ftp://x"], 64, "usage"), (["--ask", ""], 64, "usage"), (["--ask-timeout", "1"], 64, "usage"),
        (["--ask", "/bin/true", "--ask-timeout", "0"], 64, "usage"), (["--answer", "reader"], 64, "usage"),
        (["--ask", "/bin/true", "--answer", "lamp"], 64, "usage"),
        (["--ask", "/bin/true", "--answer", "led:kazasu-none,kazasu-none"], 66, "unreadable"),
        (["--ask", "/bin/true", "--answer", "none", "--answer", "reader"], 64, "usage"),
        (["--ask", "/bin/true", "--answer", "gpio:kazasu-none:17,22"], 66, "unreadable"),
        (["--ask", "/bin/true", "--answer", "gpio:null:17,22"], 66, "unreadable"),
        (["--ask", "/bin/true", "--answer", "gpio:gpiochip0:17,17"], 64, "usage"),
        (["--ask", "/bin/true", "--answer", "gpio:gpiochip0:17"], 64, "usage"),
        (["--ask", "/bin/true", "--answer", "gpio:gpiochip0:+1,2"], 64, "usage"),
        (["--ask", "/bin/true", "--answer", "gpio:17,22"], 64, "usage"),
    ]

    @Test(
        "An asker decides, and a reader without lights is named once",
        arguments: [(0, "yes"), (10, "no"), (3, "fault")])
    func asks(status: Int, answer: String) throws {
        let folder = try TemporaryFolder()
        let program = try folder.script("grep -q '\"type\":\"on\"' && exit \(status)")
        let child = try Service.watch("-r", "door=virtual:\(Service.card)", "--ask", program, "--quiet-reader")
        let on = try child.event(of: "on")
        let answered = try child.event(of: "answer")
        #expect(answered["on"] == on["id"])
        #expect(answered["answer"] == .string(answer))
        #expect(answered["seq"] == 3)
        #expect(
            try child.message(containing: "no lights").contains(
                "reader door has no lights that can be set; see --answer"))
        child.send(SIGTERM)
        let result = child.finish().checkingSchemas()
        #expect(result.end == .exited(0))
    }

    @Test("Wrong command lines", arguments: wrong)
    func wrongLine(arguments: [String], status: Int32, reason: String) throws {
        let child = try RunningChild(
            Service.path, ["watch", "--json"] + arguments, environment: Service.environment, limit: .seconds(120))
        let result = child.finish()
        #expect(result.end == .exited(status), "\(result.errors)")
        let last = try #require(result.errors.split(separator: "\n").last)
        #expect(try JSONCursor(JSONValue(parsing: Array(last.utf8))).required("reason").text() == reason)
    }

    static let programs: [(String, Int32, String, String)] = [
        ("./nowhere", 66, "unreadable", "PATH is not searched"), ("/bin/echo hello", 64, "usage", "a script that runs"),
        ("/etc/passwd", 66, "notExecutable", "chmod +x /etc/passwd"), ("/etc", 66, "unreadable", "path of a program"),
    ]

    @Test("A program that cannot run is an error at the start", arguments: programs)
    func wrongProgram(path: String, status: Int32, reason: String, hint: String) throws {
        let folder = try TemporaryFolder()
        let result = try Service.run("watch", "--json", "--outbox", "\(folder.path)/o", "--exec", path)
        #expect(result.end == .exited(status))
        let error = JSONCursor(try JSONValue(parsing: Array(result.errors.utf8)))
        #expect(try error.required("reason").text() == reason)
        #expect(try error.required("hint").text().contains(hint), "\(result.errors)")
    }

    @Test("An ID that no driver knows is an error, and nothing is watched before")
    func unknownReader() throws {
        let result = try Service.run("watch", "-r", "nonsense")
        #expect(result.end == .exited(64))
        #expect(!result.errors.contains("watching"), "\(result.errors)")
    }

    @Test("Without a reader it says that it waits for one")
    func noReader() throws {
        let listing = try Service.run("readers", "--json").output
        let readers = try JSONCursor(JSONValue(parsing: Array(listing.utf8))).required("readers").elements()
        // On a machine with a reader there is nothing to wait for.
        guard try !readers.contains(where: { try $0.required("state").text() == "ready" }) else { return }
        let child = try Service.watch()
        _ = try child.message(containing: "waiting for one")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("The log has the reader's name, and says what was kept")
    func log() throws {
        let data = try TemporaryFolder()
        let child = try Service.watch(
            ["-r", "door=virtual:\(Service.card)", "--keep", "--outbox", "\(data.path)/o"],
            environment: ["XDG_DATA_HOME": data.path])
        #expect(try child.message(containing: "watching").contains("Ctrl-C"))
        #expect(try child.message(containing: "is ready").contains("reader door is ready"))
        #expect(try child.message(containing: "ledger: ").contains("20 new records"))
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("The brand of a card is in its events", arguments: ["balance", "history"])
    func brand(read: String) throws {
        let child = try Service.watch("-r", "virtual:\(Service.card)", "--read", read)
        let card = JSONCursor(try #require(try child.event(of: "on")["card"]))
        let known = try Service.run("history", Service.card, "--json")
        let expected = try JSONCursor(JSONValue(parsing: Array(known.output.utf8))).required("card").required("brand")
        #expect(try card.required("brand").text() == expected.text())
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("A program does not get the key in a variable")
    func inheritedKey() throws {
        let folder = try TemporaryFolder()
        let program = try folder.script("echo \"variable: [$SECRET]\"")
        let child = try Service.watch(
            "-r", "virtual:\(Service.card)", "--outbox", "\(folder.path)/o", "--id-key", "env:SECRET", "--exec",
            program, environment: ["SECRET": "key"])
        #expect(try child.message(containing: "variable: ") == "variable: []")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("A second Ctrl-C leaves what a program has not taken for the next start")
    func leave() throws {
        let folder = try TemporaryFolder()
        let program = try folder.script("trap '' INT; exec sleep 600")
        let child = try Service.watch(
            "-r", "virtual:\(Service.card)", "--outbox", "\(folder.path)/o", "--exec-all", program)
        _ = try child.event(of: "on")
        child.send(SIGINT)
        #expect(try child.message(containing: "press Ctrl-C again").contains("exec:\(program)"))
        child.send(SIGINT)
        #expect(try child.message(containing: "for the next start").contains("3 events"))
        #expect(child.finish().end == .exited(0))
        let status = try Service.run("outbox", "status", "--json", "--outbox", "\(folder.path)/o")
        let sink = try #require(
            try JSONCursor(JSONValue(parsing: Array(status.output.utf8))).required("sinks").elements().first)
        #expect(try (sink.required("pending").integer(), sink.required("attempts").integer()) == (3, 0))
    }

    @Test("Six readers, each with its own trouble: an asker's answer is its reader's alone, and nothing is lost")
    func sixAskers() throws {
        let folder = try TemporaryFolder()
        let program = try folder.script(
            """
            echo $$ >> '\(folder.path)/pids'
            case "$KAZASU_EVENT_READER" in
            yes) exit 0 ;;
            no) exit 10 ;;
            twice) (sleep 0.1; exit 10) & exit 0 ;;
            crash) kill -SEGV $$ ;;
            late) exec sleep 600 ;;
            hang) trap '' TERM; exec sleep 600 ;;
            esac
            """)
        let expected = [
            "yes": "yes", "no": "no", "twice": "yes", "crash": "fault", "late": "fault", "hang": "fault",
        ]
        var readers: [String] = []
        for name in expected.keys {
            let card = try folder.write(try TestFiles.read(Service.visitor), as: "\(name).json")
            readers += ["-r", "\(name)=virtual:\(card)"]
        }
        let child = try Service.watch(
            readers + ["--ask", program, "--ask-timeout", "0.4", "--outbox", "\(folder.path)/o", "-q"])
        var (cards, answers, sequences) = ([JSONValue: JSONValue](), [String: Int](), [JSONValue: [JSONValue]]())
        while expected.keys.contains(where: { answers[$0, default: 0] < 2 }) {
            let event = try child.event()
            let reader = try #require(event["reader"])
            sequences[reader, default: []].append(try #require(event["seq"]))
            switch event["type"] {
            case "on": cards[try #require(event["id"])] = reader
            case "answer":
                guard case .string(let name) = reader else { continue }
                #expect(event["answer"] == expected[name].map { .string($0) })
                // Each card is answered once, at its own reader.
                #expect(cards.removeValue(forKey: try #require(event["on"])) == reader)
                answers[name, default: 0] += 1
            default: break
            }
        }
        child.send(SIGTERM)
        let result = child.finish().checkingSchemas()
        #expect(result.end == .exited(0))
        for (_, numbers) in sequences { #expect(numbers == (1...numbers.count).map { .integer(Int64($0)) }) }
        for line in try folder.text("pids").split(separator: "\n") {
            let process = try #require(pid_t(line))
            #expect(kill(process, 0) == -1 && errno == ESRCH)
        }
    }

    @Test("Nobody is asked about an event that is sent again")
    func replaysAreNotAsked() throws {
        let folder = try TemporaryFolder()
        let sink = try folder.script(
            "test -e '\(folder.path)/works' && echo \"$KAZASU_EVENT_ID\" >> '\(folder.path)/sent'", as: "sink")
        let asker = try folder.script("echo \"$KAZASU_EVENT_ID\" >> '\(folder.path)/asked'", as: "asker")
        let arguments = [
            "-r", "door=virtual:\(Service.card)", "--exec-all", sink, "--ask", asker, "--outbox", "\(folder.path)/o",
        ]
        let first = try Service.watch(arguments)
        let old = try first.event(of: "answer")
        first.send(SIGKILL)
        _ = first.finish()
        _ = try folder.write([], as: "works")
        let second = try Service.watch(arguments)
        let new = try second.event(of: "answer")
        second.send(SIGTERM)
        #expect(second.finish().end == .exited(0))
        let asked = try folder.text("asked").split(separator: "\n").map { JSONValue.string(String($0)) }
        #expect(asked == [old["on"], new["on"]])
        // It was sent, though.
        let sent = try folder.text("sent").split(separator: "\n").map { JSONValue.string(String($0)) }
        #expect(sent.contains(try #require(old["on"])))
        #expect(sent.contains(try #require(old["id"])))
    }

    @Test(
        "The answer is at the lights of the computer, which are off at the end",
        .enabled(if: MountNamespace.obstacle == nil, "\(MountNamespace.obstacle ?? "")"))
    func lights() throws {
        let folder = try TemporaryFolder()
        let program = try folder.script("exit 10")
        for light in ["green", "red"] {
            _ = try ChildProcess.run("/bin/mkdir", ["-p", "\(folder.path)/class/leds/\(light)"])
            _ = try folder.write(Array("0".utf8), as: "class/leds/\(light)/brightness")
        }
        func lights() throws -> [String] {
            try ["green", "red"].map { try folder.text("class/leds/\($0)/brightness") }
        }
        let child = try MountNamespace.start(
            "mount --bind '\(folder.path)/class' /sys/class && exec '\(Service.path)' watch "
                + "-r 'door=virtual:\(Service.visitor)' --ask '\(program)' --answer led:green,red",
            environment: Service.environment)
        while try lights() != ["0", "1"] { _ = try child.event() }
        child.send(SIGTERM)
        #expect(child.finish().checkingSchemas().end == .exited(0))
        #expect(try lights() == ["0", "0"])
    }

    @Test(
        "Lights are off before the first reader is opened, and after the program was killed",
        .enabled(if: MountNamespace.obstacle == nil, "\(MountNamespace.obstacle ?? "")"))
    func guardedLights() throws {
        let folder = try TemporaryFolder()
        let program = try folder.script("exit 0")
        for light in ["green", "red"] {
            _ = try ChildProcess.run("/bin/mkdir", ["-p", "\(folder.path)/class/leds/\(light)"])
            // As a program that was killed has left them.
            _ = try folder.write(Array("1".utf8), as: "class/leds/\(light)/brightness")
        }
        func lights() throws -> [String] {
            try ["green", "red"].map { try folder.text("class/leds/\($0)/brightness") }
        }
        func start(_ reader: String) throws -> RunningChild {
            try MountNamespace.start(
                "mount --bind '\(folder.path)/class' /sys/class && exec '\(Service.path)' watch "
                    + "-r 'door=\(reader)' --ask '\(program)' --answer led:green,red",
                environment: Service.environment)
        }
        let waiting = try start("pn532_uart:/dev/nowhere")
        #expect(try waiting.event(of: "reader")["state"] == "error")
        #expect(try lights() == ["0", "0"])
        waiting.send(SIGKILL)
        _ = waiting.finish()
        let child = try start("virtual:\(Service.visitor)")
        while try lights() != ["1", "0"] { _ = try child.event() }
        child.send(SIGKILL)
        #expect(child.finish().end == .signalled(SIGKILL))
        // What is left of it puts them off; nothing else does.
        while try lights() != ["0", "0"] { sched_yield() }
    }

    @Test(
        "Lines of a GPIO chip that keeps their state are off after the program was killed",
        .enabled(if: MadeUpGPIOChip.obstacle == nil, "\(MadeUpGPIOChip.obstacle ?? "")"))
    func guardedLines() throws {
        let folder = try TemporaryFolder()
        let program = try folder.script("exit 0")
        let chip = try MadeUpGPIOChip(folder)
        let arguments = ["--ask", program, "--answer", "gpio:\(chip.path):17,22"]
        let child = try Service.watch(
            ["-r", "door=virtual:\(Service.visitor)"] + arguments, environment: chip.environment)
        while try chip.lines(17, 22) != ["1", "0"] { _ = try child.event() }
        child.send(SIGKILL)
        #expect(child.finish().end == .signalled(SIGKILL))
        // The chip itself leaves them as they were.
        while try chip.lines(17, 22) != ["0", "0"] { sched_yield() }
        // The next program gets the lines, and they are off at its end.
        let next = try Service.watch(
            ["-r", "door=virtual:\(Service.visitor)"] + arguments, environment: chip.environment)
        while try chip.lines(17, 22) != ["1", "0"] { _ = try next.event() }
        next.send(SIGTERM)
        #expect(next.finish().end == .exited(0))
        #expect(try chip.lines(17, 22) == ["0", "0"])
    }

    static let faults: [(script: String, reason: String, words: String)] = [
        ("exit 3", "exit3", "exit status 3"), ("exec sleep 600", "timeout", "no answer within"),
        ("kill -9 $$", "signal9", "killed by signal 9"),
    ]

    @Test("A fault says why: on the line, in the event, and once in the log", arguments: faults)
    func reasons(script: String, reason: String, words: String) throws {
        let folder = try TemporaryFolder()
        try checkReasons(of: try folder.script(script), reason, words)
    }

    @Test("So does that of an interpreter that is missing, and of a web server")
    func otherReasons() throws {
        let folder = try TemporaryFolder()
        let missing = try folder.write(Array("#!/nowhere/sh\n".utf8), as: "asker")
        try #require(chmod(missing, 0o700) == 0)
        try checkReasons(of: missing, "noInterpreter", "does not exist")
        try checkReasons(of: "http://127.0.0.1:9/", "noConnection", "no connection")
        let program = try folder.write(Array(WebServer.program.utf8), as: "server.py")
        let server = try WebServer(program, answers: "500 500 500 500 500 500 500 500")
        try checkReasons(of: "http://127.0.0.1:\(server.port)/", "status500", "HTTP status 500")
    }

    private func checkReasons(of asker: String, _ reason: String, _ words: String) throws {
        for format in ["json", "text"] {
            let child = try Service.watch(
                "-r", "door=virtual:\(Service.visitor)", "--ask", asker, "--ask-timeout", "0.5", "--format", format)
            let line = try #require(try child.line(of: .output) { $0.contains("fault") })
            #expect(line.contains(format == "json" ? "\"reason\":\"\(reason)\"" : words), "\(line)")
            _ = try child.line(of: .output) { $0.contains("fault") }
            child.send(SIGTERM)
            let result = child.finish()
            #expect(result.end == .exited(0))
            #expect(result.errors.ranges(of: "does not decide").count == 1, "\(result.errors)")
            #expect(result.errors.contains(words.replacing("no answer within", with: "timed out")))
        }
    }

    @Test(
        "A tag of Home Assistant's app is read when something is read", arguments: [("id", false), ("balance", true)])
    func homeAssistantTag(read: String, isRead: Bool) throws {
        let folder = try TemporaryFolder()
        let name = "8d3f4c5a-0000-4000-8000-1234567890ab"
        // A URI record whose prefix is https://www., in the message of an NTAG213.
        let link = [2] + Array("home-assistant.io/tag/\(name)".utf8)
        let record = [0xD1, 1, UInt8(link.count), 0x55] + link
        let bytes = [1, 3, 0xA0, 0x0C, 0x34, 3, UInt8(record.count)] + record + [0xFE]
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let card = try folder.write(
            Array(
                #"{"schema":"kazasu.card/1","type2":{"model":"ntag213","uid":"04a8d862bc2b80","data":"\#(hex)"}}"#.utf8),
            as: "tag.json")
        let child = try Service.watch("-r", "door=virtual:\(card)", "--read", read)
        let on = try child.event(of: "on")
        #expect(on["tag"] == "04a8d862bc2b80")
        #expect(on["homeAssistantTag"] == (isRead ? .string(name) : nil))
        #expect(on["readError"] == nil)
        child.send(SIGTERM)
        #expect(child.finish().checkingSchemas(["--json"]).end == .exited(0))
    }

    // MARK: The outbox

    /// Watches with a program that kills the watcher the first time it runs, then again without.
    ///
    /// - Returns: the ids of the `on` that were printed, and what the program got.
    private func killed(before: String, after: String) throws -> (printed: JSONValue?, delivered: [JSONObject]) {
        let folder = try TemporaryFolder()
        let kill = "test -e '\(folder.path)/once' || { : > '\(folder.path)/once'; kill -9 $PPID; exit 1; }"
        let program = try folder.script(
            "event=$(cat)\n\(before)\n".replacing("KILL", with: kill)
                + "printf '%s\\n' \"$event\" >> '\(folder.path)/got'\n" + after.replacing("KILL", with: kill))
        let outbox = "\(folder.path)/outbox.sqlite"
        let arguments = ["-r", "door=virtual:\(Service.card)", "--exec-all", program, "--outbox", outbox]
        let first = try Service.watch(arguments)
        let firstResult = first.finish()
        #expect(firstResult.end == .signalled(SIGKILL))
        let second = try Service.watch(arguments)
        let on = try second.event(of: "on")
        second.send(SIGTERM)
        let result = second.finish()
        #expect(result.end == .exited(0), "\(result.errors)")
        let lines = try folder.text("got").split(separator: "\n")
        let events = try lines.map { try JSONCursor(JSONValue(parsing: Array($0.utf8))).object() }
        let status = try Service.run("outbox", "status", "--json", "--outbox", outbox)
        let sinks = try JSONCursor(JSONValue(parsing: Array(status.output.utf8))).required("sinks").elements()
        #expect(sinks.isEmpty, "\(status.output)")
        return (on["id"], events)
    }

    static let kills = [("KILL", ""), ("", "KILL")]

    @Test("Killed before and after an event is delivered: nothing is lost, and the order is kept", arguments: kills)
    func killPoints(before: String, after: String) throws {
        let (printed, delivered) = try killed(before: before, after: after)
        var sequences: [Int] = []
        var ids: Set<JSONValue> = []
        for event in delivered {
            let id = try #require(event["id"])
            guard ids.insert(id).inserted else { continue }
            if case .integer(let number)? = event["seq"] { sequences.append(Int(number)) }
        }
        #expect(sequences == Array(1...sequences.count))
        #expect(ids.contains(try #require(printed)))
        // The one that was delivered when the watcher was killed comes twice.
        #expect(delivered.count - ids.count == (after.isEmpty ? 0 : 1))
        let ons = delivered.filter { $0["type"] == "on" }.map { $0["id"] }
        let offs = delivered.filter { $0["type"] == "off" }.map { $0["on"] }
        #expect(ons == offs)
    }

    @Test("A watcher that was killed with a card on it closes that visit at its next start")
    func restart() throws {
        let folder = try TemporaryFolder()
        let arguments = ["-r", "virtual:\(Service.card)", "--outbox", "\(folder.path)/o"]
        let first = try Service.watch(arguments)
        let on = try first.event(of: "on")
        let locked = try Service.run("watch", "--outbox", "\(folder.path)/o", "--json")
        #expect(locked.end == .exited(73))
        #expect(locked.errors.contains(#""reason":"locked""#))
        first.send(SIGKILL)
        #expect(first.finish().end == .signalled(SIGKILL))
        let second = try Service.watch(arguments)
        let off = try second.event()
        #expect(off["type"] == "off")
        #expect(off["on"] == on["id"])
        #expect(off["reason"] == "restart")
        #expect(off["dwellMs"] == .some(.null))
        #expect(off["seq"] == 3)
        second.send(SIGTERM)
        second.finish().checkingSchemas()
    }

    @Test("A damaged outbox is set aside, and the reading goes on")
    func damaged() throws {
        let folder = try TemporaryFolder()
        let start = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 52) + Array("kzob".utf8)
        let path = try folder.write(start + [UInt8](repeating: 0x5A, count: 4_000), as: "o")
        let child = try Service.watch("-r", "virtual:\(Service.card)", "--outbox", path)
        #expect(try child.message(containing: "is damaged").contains("damaged-1"))
        _ = try child.event(of: "on")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("A file that is not an outbox ends the command and stays", arguments: ["no database ", "SQLite format 3\0"])
    func foreign(text: String) throws {
        let folder = try TemporaryFolder()
        let bytes = Array(String(repeating: text, count: 200).utf8)
        let path = try folder.write(bytes, as: "o")
        let child = try Service.watch("-r", "virtual:\(Service.card)", "--outbox", path)
        let result = child.finish()
        #expect(result.end == .exited(65))
        #expect(result.errors.contains("not an outbox"), "\(result.errors)")
        #expect(try TestFiles.read(path) == bytes)
    }

    @Test("The outbox of the settings is not taken for one either")
    func foreignOutboxOfSettings() throws {
        let folder = try TemporaryFolder()
        let bytes = try TestFiles.read(Service.card)
        let path = try folder.write(bytes, as: "card.json")
        let settings = try folder.write(Array("outbox: \(path)\n".utf8), as: "watch.yaml")
        let result = try Service.run("watch", "--json", "--config", settings)
        #expect(result.end == .exited(65))
        #expect(result.errors.contains(#""reason":"notAnOutbox""#), "\(result.errors)")
        #expect(try TestFiles.read(path) == bytes)
    }

    @Test("Dead letters are listed, sent again and dropped")
    func dead() throws {
        let folder = try TemporaryFolder()
        let (outbox, page) = ("\(folder.path)/o", "\(folder.path)/server.py")
        _ = try folder.write(Array(WebServer.program.utf8), as: "server.py")
        let server = try WebServer(page, answers: "404 200 409 500 200")
        let url = "http://127.0.0.1:\(server.port)/taps"
        let key = try folder.write(Array("secret\n".utf8), as: "key")
        let child = try Service.watch(
            "-r", "virtual:\(Service.card)", "--outbox", outbox, "--webhook", url, "--secret-from", "file:\(key)")
        let first = try #require(try server.request())
        #expect(first.contains(" ok "), "\(first)")
        let on = try child.event(of: "on")
        #expect(try #require(try server.request()).contains(JSONValue.text(nil) == on["id"] ? "?" : " ok "))
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
        let dead = try Service.run("outbox", "dead", "--json", "--outbox", outbox)
        let letters = try JSONCursor(JSONValue(parsing: Array(dead.output.utf8))).required("letters").elements()
        #expect(try letters.map { try $0.required("error").text() } == ["status404"])
        let resent = try Service.run("outbox", "resend", "--json", "--outbox", outbox)
        #expect(resent.output.contains("\"count\": 1") || resent.output.contains("\"count\":1"))
        let dropped = try Service.run("outbox", "drop", "--pending", "--yes", "--outbox", outbox)
        #expect(dropped.end == .exited(0))
        #expect(dropped.errors.contains("discarded: "))
        #expect(try Service.run("outbox", "status", "--outbox", outbox).output.isEmpty)
    }
}

extension RunningChild {
    /// Reads lines until one that is meant.
    fileprivate func line(of stream: Stream, _ isMeant: (String) -> Bool) throws -> String? {
        while let line = try line(of: stream) {
            if isMeant(line) { return line }
        }
        return nil
    }
}
