// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import ReaderCore
import Synchronization
import TapSupport
import TestSupport
import Testing

@testable import KazasuTaps

@Suite("Answers")
struct AnswerTests {
    // MARK: Askers

    static let programs: [(String, TapEvent.Verdict)] = [
        ("exit 0", .yes), ("exit 10", .no), ("exit 1", .fault), ("exit 127", .fault), ("kill -SEGV $$", .fault),
        ("cat > /dev/null", .yes), ("grep -q '\"type\":\"on\"' || exit 10", .yes), ("grep -q nobody || exit 10", .no),
    ]

    @Test("A program's status decides", arguments: programs)
    func programDecides(script: String, expected: TapEvent.Verdict) async throws {
        let folder = try TemporaryFolder()
        let asker = Asker.program(try folder.script(script))
        #expect(await asker.answer(to: .made(1), within: .seconds(60)) == expected)
    }

    @Test("A program that hangs, or is not there, is a fault", arguments: ["", "trap '' TERM; "])
    func programHangs(trap: String) async throws {
        let folder = try TemporaryFolder()
        let hanging = Asker.program(try folder.script(trap + "while :; do read x < /dev/zero; done"))
        #expect(await hanging.answer(to: .made(1), within: .milliseconds(50)) == .fault)
        #expect(await Asker.program("/nowhere/program").answer(to: .made(1), within: .seconds(60)) == .fault)
    }

    static let servers: [(String, TapEvent.Verdict)] = [
        ("200 OK", .yes), ("204 No Content", .yes), ("403 Forbidden", .no), ("404 Not Found", .fault),
        ("409 Conflict", .fault), ("500 Error", .fault), ("", .fault),
    ]

    @Test("A server's status decides", arguments: servers)
    func serverDecides(status: String, expected: TapEvent.Verdict) async throws {
        let server = LoopbackPort.makeSocket()
        defer { close(server) }
        let port = try LoopbackPort.free()
        try #require(LoopbackPort.withAddress(port) { bind(server, $0, $1) } == 0)
        try #require(listen(server, 8) == 0)
        let answering = Task {
            await BlockingWork.run {
                let connection = accept(server, nil, nil)
                var buffer = [UInt8](repeating: 0, count: 8192)
                _ = read(connection, &buffer, buffer.count)
                // Twice: the second answer changes nothing.
                let answer = Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n".utf8)
                if !status.isEmpty { _ = write(connection, answer + answer, answer.count * 2) }
                close(connection)
            }
        }
        let asker = Asker.url("http://127.0.0.1:\(port)/")
        #expect(await asker.answer(to: .made(1), within: .seconds(60)) == expected)
        await answering.value
    }

    @Test("Without a server there is no answer")
    func noServer() async {
        #expect(await Asker.url("http://127.0.0.1:1/").answer(to: .made(1), within: .seconds(60)) == .fault)
    }

    // MARK: The desk

    /// Askers whose answers come when the test says so, and what was shown.
    private final class Desk: Sendable {
        private let waiting = Mutex<[String: OneShot<TapEvent.Verdict>]>([:])
        private let log = Mutex<[String]>([])
        private let desk = AnswerDesk()

        var shown: [String] { log.withLock { $0 } }

        private func shot(_ id: String) -> OneShot<TapEvent.Verdict> {
            waiting.withLock { waiting in
                let shot = waiting[id] ?? OneShot()
                waiting[id] = shot
                return shot
            }
        }

        func ask(_ event: StoredEvent, age: Int = 0) {
            let answering = Answering(
                ask: { await self.shot($0.id).value },
                show: { reader, verdict in self.log.withLock { $0.append("\(reader) shows \(verdict)") } })
            desk.ask(answering, about: event, age: age) { verdict, _ in
                self.log.withLock { $0.append("\(event.reader) \(verdict)") }
            }
        }

        func answer(_ event: StoredEvent, _ verdict: TapEvent.Verdict) { shot(event.id).give(verdict) }

        func wait(for count: Int) async {
            while shown.count < count { await Task.yield() }
        }
    }

    @Test("An answer is shown, and a hanging asker delays nobody else's")
    func shows() async {
        let desk = Desk()
        let (hanging, quick) = (StoredEvent.made(1, reader: "a"), StoredEvent.made(1, reader: "b"))
        desk.ask(hanging)
        desk.ask(quick)
        desk.answer(quick, .no)
        await desk.wait(for: 2)
        #expect(desk.shown == ["b no", "b shows no"])
        desk.answer(hanging, .fault)
        await desk.wait(for: 4)
        #expect(desk.shown.suffix(2) == ["a fault", "a shows fault"])
    }

    @Test("An answer that comes when the next card is there is noted and not shown")
    func late() async {
        let desk = Desk()
        let (first, second) = (StoredEvent.made(1), StoredEvent.made(2))
        desk.ask(first)
        desk.ask(second)
        desk.answer(first, .yes)
        await desk.wait(for: 1)
        desk.answer(first, .no)
        desk.answer(second, .no)
        await desk.wait(for: 3)
        #expect(desk.shown == ["door yes", "door no", "door shows no"])
    }

    @Test("Nobody is asked about what is old, and about anything but a card that came")
    func notAsked() async {
        let desk = Desk()
        let (old, off, fresh) = (StoredEvent.made(1), StoredEvent.made(2, type: "off"), StoredEvent.made(3))
        for event in [old, off, fresh] { desk.answer(event, .yes) }
        desk.ask(old, age: 2001)
        desk.ask(off)
        desk.ask(.made(4, type: "reader"))
        desk.ask(fresh, age: 2000)
        await desk.wait(for: 2)
        #expect(desk.shown == ["door yes", "door shows yes"])
    }

    @Test(
        "At the end nobody is asked any more, programs are ended, and nothing of them is noted",
        arguments: ["exec sleep 600", "trap '' TERM; while :; do sleep 1; done"])
    func ends(script: String) async throws {
        let folder = try TemporaryFolder()
        let asker = Asker.program(try folder.script("echo $$ > '\(folder.path)/pid'; \(script)"))
        let desk = AnswerDesk()
        let noted = Mutex<[String]>([])
        let answering = Answering(asker, within: .seconds(600)) { reader, _ in
            noted.withLock { $0.append("shown at \(reader)") }
        }
        desk.ask(answering, about: .made(1), age: 0) { verdict, _ in noted.withLock { $0.append("\(verdict)") } }
        var process: pid_t?
        while process == nil {
            let text = (try? TestFiles.read("\(folder.path)/pid")).map { String(decoding: $0, as: UTF8.self) }
            process = text.flatMap { $0.hasSuffix("\n") ? pid_t($0.dropLast()) : nil }
            await Task.yield()
        }
        await desk.end().value
        #expect(kill(try #require(process), 0) == -1 && errno == ESRCH)
        desk.ask(answering, about: .made(2), age: 0) { verdict, _ in noted.withLock { $0.append("\(verdict)") } }
        await desk.end().value
        #expect(noted.withLock { $0 } == [])
    }

    @Test("A program that took too long is not forgotten before it has ended")
    func endsLate() async throws {
        let folder = try TemporaryFolder()
        let script = "trap '' TERM; echo $$ > '\(folder.path)/pid'; while :; do sleep 1; done"
        let desk = AnswerDesk()
        let noted = OneShot<TapEvent.Verdict>()
        let answering = Answering(.program(try folder.script(script)), within: .seconds(1)) { _, _ in }
        desk.ask(answering, about: .made(1), age: 0) { verdict, _ in noted.give(verdict) }
        #expect(await noted.value == .fault)
        await desk.end().value
        let text = String(decoding: try TestFiles.read("\(folder.path)/pid"), as: UTF8.self)
        #expect(kill(try #require(pid_t(text.dropLast())), 0) == -1 && errno == ESRCH)
    }

    // MARK: Events

    @Test(
        "A watcher's answer is an event with a number, and its text can be read", arguments: TapEvent.Verdict.allCases)
    func event(verdict: TapEvent.Verdict) async throws {
        let card = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        var plan = Watcher.Plan(site: "here", readers: [card], names: [card: "door"], sinks: [])
        let shown = Mutex<[String]>([])
        plan.answering = Answering(
            ask: { _ in verdict }, show: { reader, answer in shown.withLock { $0.append("\(reader) \(answer)") } })
        var events: [StoredEvent] = []
        for try await event in Watcher.events(plan, outbox: nil) {
            events.append(event)
            if case .answer = event.kind, shown.withLock({ $0.isEmpty }) { await Task.yield() }
            if case .answer = event.kind { break }
        }
        #expect(events.map(\.kind.word) == ["reader", "on", "answer"])
        #expect(events.map(\.sequence) == [1, 2, 3])
        let answer = try #require(events.last)
        guard case .answer(let found) = answer.kind else { return }
        #expect((found.on, found.verdict) == (events[1].id, verdict))
        #expect(try StoredEvent(parsing: answer.line) == answer)
        while shown.withLock({ $0.isEmpty }) { await Task.yield() }
        #expect(shown.withLock { $0 } == ["door \(verdict)"])
    }

    @Test("Settings that are read again ask somebody else, without opening the reader again")
    func changed() async throws {
        let card = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let plan = Watcher.Plan(site: "here", readers: [card], names: [card: "door"], sinks: [])
        var asking = plan
        asking.answering = Answering(ask: { _ in .yes }, show: { _, _ in })
        let changed = asking
        let words = Mutex<[String]>([])
        let running = Mutex<Watcher?>(nil)
        let watcher = Watcher(plan, outbox: nil) { event, _ in
            words.withLock { $0.append(event.kind.word) }
            if case .on = event.kind { running.withLock { $0 }?.change(to: changed) }
            if case .on = event.kind { running.withLock { $0 }?.stop() }
        } tell: { _ in
        }
        running.withLock { $0 = watcher }
        try await watcher.run()
        // The card that lies there came before anybody was to be asked.
        #expect(words.withLock { $0 } == ["reader", "on", "off"])
    }

    @Test(
        "A document that is not an answer",
        arguments: [
            #""answer":"maybe","on":"x","ms":1"#, #""answer":"yes","ms":1"#, #""answer":"yes","on":"x","ms":-1"#,
            #""answer":"yes","on":"x""#,
        ])
    func malformed(members: String) throws {
        let line = StoredEvent.made(1, type: "reader").line
        let text = line.replacing(#""type":"reader""#, with: #""type":"answer""#)
            .replacing(#""state":"ready""#, with: members)
        #expect(throws: (any Error).self) { try StoredEvent(parsing: text) }
    }
}
