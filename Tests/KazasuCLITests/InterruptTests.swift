// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Signals", .waits)
struct InterruptTests {
    /// What a trace on standard error leaves of the messages.
    private func messages(_ result: ChildResult) -> ChildResult {
        var result = result
        result.errors = result.errors.split(separator: "\n").filter { !$0.hasPrefix("{") }.joined(separator: "\n")
        return result
    }

    @Test("While waiting for a card", arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 130)] as [(Int32, Int32)])
    func waiting(signal: Int32, status: Int32) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            Array(Card.transit(faults: #"{"fault":"absent","from":1}"#).utf8), as: "absent.json")
        let reader = try SimulatedReader(file, link: "\(folder.path)/pn532")
        let child = try Kazasu.start("balance", "-t", "forever", "-r", reader.id, "--trace", "/dev/stderr")
        for _ in 0..<5 { _ = try child.line(of: .errors) }
        child.send(signal)
        let result = messages(child.finish())
        #expect(result.end == .exited(status))
        #expect(result.errors == "kazasu: interrupted")
        #expect(result.output.isEmpty)
        // The reader is free again: the next program gets as far as waiting.
        try Kazasu.run("poll", "-t", "0", "-r", reader.id).expectError(75)
        #expect(reader.interrupt().end == .exited(0))
        #expect(folder.names == ["absent.json"], "the link is gone")
    }

    @Test("While watching readers", arguments: [SIGINT, SIGTERM])
    func watching(signal: Int32) throws {
        let child = try Kazasu.start("readers", "--watch", "--lang", "en")
        #expect(try child.line(of: .errors) == "kazasu: watching; press Ctrl-C to stop")
        child.send(signal)
        let result = child.finish()
        #expect(result.end == .exited(0))
        #expect(result.errors == "kazasu: watching; press Ctrl-C to stop\n")
    }

    @Test("While simulating a reader", arguments: [SIGINT, SIGTERM])
    func simulating(signal: Int32) throws {
        let folder = try TemporaryFolder()
        let reader = try SimulatedReader(Card.file("suica-p1"), link: "\(folder.path)/pn532")
        reader.send(signal)
        #expect(reader.finish().end == .exited(0))
        #expect(folder.names.isEmpty, "the link is gone")
    }

    /// coreutils' `timeout` signals twice. The second must not cut the release short.
    @Test("Twice at once", arguments: 1...20)
    func twice(_: Int) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            Array(Card.transit(faults: #"{"fault":"absent","from":1}"#).utf8), as: "absent.json")
        let reader = try SimulatedReader(
            file, link: "\(folder.path)/pn532", options: ["--stats", "\(folder.path)/stats"])
        let child = try Kazasu.start("balance", "-t", "forever", "-r", reader.id, "--trace", "/dev/stderr")
        for _ in 0..<5 { _ = try child.line(of: .errors) }
        child.send(SIGTERM)
        child.send(SIGINT)
        #expect([.exited(130), .exited(143)].contains(child.finish().end))
        #expect(reader.interrupt().end == .exited(0))
        #expect(try folder.text("stats").contains(#""fieldOn": false"#))
    }

    /// The other end of a FIFO, as soon as somebody has opened it for reading.
    private func writer(of fifo: String) throws -> Int32 {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            let descriptor = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 { return descriptor }
            try #require(errno == ENXIO)
            sched_yield()
        }
        throw NobodyReads()
    }

    private struct NobodyReads: Error {}

    /// Commands that wait for a file; `FIFO` is one.
    static let waits = [
        "decode FIFO", "diff FIFO FIFO", "convert --to json FIFO", "dump --resume FIFO", "balance -r virtual:FIFO",
        "balance -r replay:FIFO", "simulate FIFO", "apdu FIFO", "stations lookup --stations FIFO 0-3-13",
        "apdu 00200081PIN1 --pin1-from file:FIFO",
    ]

    @Test("While waiting for a file", arguments: waits, [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func file(command: String, signal: (number: Int32, status: Int32)) throws {
        let folder = try TemporaryFolder()
        let fifo = "\(folder.path)/fifo"
        #expect(mkfifo(fifo, 0o600) == 0)
        let words = command.split(separator: " ").map { String($0).replacing("FIFO", with: fifo) }
        let child = try RunningChild(Kazasu.path, words, environment: Kazasu.environment)
        let end = try writer(of: fifo)
        defer { close(end) }
        child.send(signal.number)
        let result = child.finish()
        #expect(result.end == .exited(signal.status), "\(result)")
        #expect(result.errors == "kazasu: interrupted\n")
        #expect(result.output.isEmpty)
    }

    @Test("While waiting for standard input")
    func input() throws {
        let folder = try TemporaryFolder()
        let fifo = "\(folder.path)/fifo"
        #expect(mkfifo(fifo, 0o600) == 0)
        let child = try RunningChild(
            "/bin/sh", ["-c", #"exec "$KAZASU" decode --json - < "$FIFO""#],
            environment: Kazasu.environment.merging(["KAZASU": Kazasu.path, "FIFO": fifo]) { $1 })
        let end = try writer(of: fifo)
        defer { close(end) }
        #expect(write(end, "{", 1) == 1)
        // The program has read it, and waits for more.
        var unread: Int32 = 1
        while unread > 0, ioctl(end, UInt(FIONREAD), &unread) == 0 { sched_yield() }
        child.send(SIGTERM)
        let result = child.finish()
        #expect(result.end == .exited(143))
        #expect(result.errors.contains(#""status":143,"reason":"interrupted""#))
    }

    @Test("While waiting for a reader of the trace")
    func trace() throws {
        let folder = try TemporaryFolder()
        let fifo = "\(folder.path)/fifo"
        #expect(mkfifo(fifo, 0o600) == 0)
        let child = try Kazasu.start("balance", "-v", "-r", Card.fixture("suica-p1"), "--trace", fifo)
        #expect(try child.line(of: .errors)?.hasPrefix("kazasu: reader ") == true)
        child.send(SIGTERM)
        // On a busy machine, the signal may come after the three seconds that it waits.
        #expect([.exited(143), .exited(73)].contains(child.finish().end))
    }

    /// Without a reader at once; with one after what was read had its chance.
    @Test("While nobody reads the answer", arguments: [false, true])
    func output(usesReader: Bool) throws {
        let folder = try TemporaryFolder()
        let file = Card.file("suica-p1")
        let card = try folder.card(Card.long())
        let arguments = usesReader ? ["dump", "-r", card] : ["decode"] + [String](repeating: file, count: 100)
        let child = try RunningChild(Kazasu.path, arguments, environment: Kazasu.environment, pipeSize: 4096)
        #expect(try child.line(of: .output) != nil)
        child.send(SIGTERM)
        #expect(child.end() == .exited(143))
    }

    @Test("While dumping, what was read is kept")
    func dumping() throws {
        let folder = try TemporaryFolder()
        let card = try folder.card(Card.long())
        let part = "\(folder.path)/part"
        let child = try Kazasu.start("dump", "-o", part, "-r", card, "--trace", "/dev/stderr", pipeSize: 4096)
        for _ in 0..<30 { _ = try child.line(of: .errors) }
        child.send(SIGINT)
        let result = messages(child.finish())
        #expect(result.end == .exited(130))
        #expect(result.errors.hasPrefix("kazasu: interrupted; the data read so far is kept\n"))
        #expect(result.errors.hasSuffix("continue with: kazasu dump --resume \(part) -o \(part)"))
        let kept = try CardDump(parsing: TestFiles.read(part))
        #expect(!kept.isComplete)
        #expect(kept.missing.map(\.reason).allSatisfy { $0 == .cancelled } && !kept.missing.isEmpty)
        #expect(kept.systems.first?.services.contains { !$0.blocks.isEmpty } == true)
        let rest = try Kazasu.run("dump", "--resume", part, "-o", part, "-r", card)
        #expect(rest.hasEnded(0), "\(rest.errors)")
        let whole = try CardDump(parsing: TestFiles.read(part))
        #expect(whole.isComplete)
        #expect(whole.systems.first?.services.map(\.blocks.count).max() == 4000)
    }

    @Test("In the language of the user, and for scripts")
    func words() throws {
        let folder = try TemporaryFolder()
        let card = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1}"#))
        for (option, word) in [("--lang=ja", "kazasu: 中断しました"), ("--json", #""reason":"interrupted""#)] {
            let child = try Kazasu.start(
                "scan", "-t", "forever", "-r", card, option, "--trace", "\(folder.path)/trace", "-v")
            _ = try child.line(of: .errors)
            child.send(SIGINT)
            let result = child.finish()
            #expect(result.end == .exited(130))
            #expect(result.errors.contains(word))
        }
    }
}
