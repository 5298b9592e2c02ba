// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Ctrl-C")
struct InterruptTests {
    /// What a trace on standard error leaves of the messages.
    private func messages(_ result: ChildResult) -> ChildResult {
        var result = result
        result.errors = result.errors.split(separator: "\n").filter { !$0.hasPrefix("{") }.joined(separator: "\n")
        return result
    }

    @Test("While waiting for a card", arguments: [SIGINT, SIGTERM, SIGHUP])
    func waiting(signal: Int32) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            Array(Card.transit(faults: #"{"fault":"absent","from":1}"#).utf8), as: "absent.json")
        let reader = try SimulatedReader(file, link: "\(folder.path)/pn532")
        let child = try Kazasu.start("balance", "-t", "forever", "-r", reader.id, "--trace", "/dev/stderr")
        for _ in 0..<5 { _ = try child.line(of: .errors) }
        child.send(signal)
        let result = messages(child.finish())
        #expect(result.end == .exited(130))
        #expect(result.errors == "kazasu: interrupted")
        #expect(result.output.isEmpty)
        // The reader is free again: the next program gets as far as waiting.
        try Kazasu.run("poll", "-t", "0", "-r", reader.id).expectFailure(75)
        #expect(reader.interrupt().end == .exited(0))
        #expect(folder.names == ["absent.json"], "the link is gone")
    }

    @Test("While watching readers", arguments: [SIGINT, SIGTERM])
    func watching(signal: Int32) throws {
        let child = try Kazasu.start("readers", "--watch", "--lang", "en")
        #expect(try child.line(of: .errors) == "kazasu: watching; Ctrl-C ends it")
        child.send(signal)
        let result = child.finish()
        #expect(result.end == .exited(130))
        #expect(result.errors == "kazasu: watching; Ctrl-C ends it\nkazasu: interrupted\n")
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
        #expect(result.errors.hasPrefix("kazasu: interrupted; what was read before is kept\n"))
        #expect(result.errors.hasSuffix("go on with: kazasu dump --resume \(part) -o \(part)"))
        let kept = try CardDump(parsing: TestFiles.read(part))
        #expect(!kept.complete)
        #expect(kept.missing.map(\.reason).allSatisfy { $0 == "cancelled" } && !kept.missing.isEmpty)
        #expect(kept.systems.first?.services.contains { !$0.blocks.isEmpty } == true)
        let rest = try Kazasu.run("dump", "--resume", part, "-o", part, "-r", card)
        #expect(rest.hasEnded(0), "\(rest.errors)")
        let whole = try CardDump(parsing: TestFiles.read(part))
        #expect(whole.complete)
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
