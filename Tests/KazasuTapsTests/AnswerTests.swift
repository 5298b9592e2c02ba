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

    static let programs: [(String, Answering.Decision)] = [
        ("exit 0", .yes), ("exit 10", .no), ("exit 1", .fault("exit1")), ("exit 127", .fault("exit127")),
        ("kill -SEGV $$", .fault("signal11")),
        ("cat > /dev/null", .yes), ("grep -q '\"type\":\"on\"' || exit 10", .yes), ("grep -q nobody || exit 10", .no),
    ]

    private static func decision(_ asker: Asker, within limit: Duration = .seconds(60)) async -> Answering.Decision {
        await asker.ask(about: .made(1), within: limit).decision
    }

    @Test("A program's status decides, and a fault says why", arguments: programs)
    func programDecides(script: String, expected: Answering.Decision) async throws {
        let folder = try TemporaryFolder()
        let asker = Asker.program(try folder.script(script))
        #expect(await Self.decision(asker) == expected)
        #expect(await asker.answer(to: .made(1), within: .seconds(60)) == expected.verdict)
    }

    @Test("A program that hangs, cannot be started, or is not there, is a fault", arguments: ["", "trap '' TERM; "])
    func programHangs(trap: String) async throws {
        let folder = try TemporaryFolder()
        let hanging = Asker.program(try folder.script(trap + "exec sleep 600"))
        #expect(await Self.decision(hanging, within: .milliseconds(50)) == .fault("timeout"))
        #expect(await Self.decision(.program("/nowhere/program")) == .fault("errno\(ENOENT)"))
        let script = try folder.write(Array("#!/nowhere/sh\n".utf8), as: "script")
        try #require(chmod(script, 0o700) == 0)
        #expect(await Self.decision(.program(script)) == .fault("noInterpreter"))
    }

    static let servers: [(String, Answering.Decision)] = [
        ("200 OK", .yes), ("204 No Content", .yes), ("403 Forbidden", .no), ("404 Not Found", .fault("status404")),
        ("409 Conflict", .fault("status409")), ("500 Error", .fault("status500")), ("", .fault("curl52")),
    ]

    @Test("A server's status decides, and a fault says why", arguments: servers)
    func serverDecides(status: String, expected: Answering.Decision) async throws {
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
        #expect(await Self.decision(.url("http://127.0.0.1:\(port)/")) == expected)
        await answering.value
    }

    @Test("Without a server there is no answer")
    func noServer() async {
        #expect(await Self.decision(.url("http://127.0.0.1:1/")) == .fault("noConnection"))
    }

    @Test("The output of a program is passed on up to a limit, and a cut is marked")
    func chattyProgram() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/log"
        let log = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(log) }
        let output = ProgramOutput(to: log)
        let runs = try (0..<3).map { _ in try #require(output.begin()) }
        let sizes = [10, ProgramOutput.most, 10 * ProgramOutput.most]
        for (run, size) in zip(runs, sizes) {
            await BlockingWork.run {
                let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: size)
                var sent = 0
                while sent < size {
                    let count = bytes[sent...].withUnsafeBytes { write(run.descriptor, $0.baseAddress, $0.count) }
                    guard count > 0 else { return }
                    sent += count
                }
            }
            output.started(run)
            output.ended(run)
        }
        let text = String(decoding: try TestFiles.read(path), as: UTF8.self)
        #expect(text.count { $0 == "x" } == 10 + 2 * ProgramOutput.most)
        // Whoever prints just as much has left nothing out, but nobody knows that yet.
        #expect(text.components(of: ProgramOutput.mark) == 2)
    }

    // MARK: The desk

    /// Askers whose answers come when the test says so, and what was shown; the clock is the test's, too.
    private final class Desk: Sendable {
        private let waiting = Mutex<[String: OneShot<Answering.Decision>]>([:])
        private let log = Mutex<[String]>([])
        private let clock: SharedTime
        /// What happens between an answer and its light.
        private let meanwhile = Mutex<@Sendable () -> Void>({})
        let desk: AnswerDesk
        /// When the card came that is asked about.
        static let card = ContinuousClock.now

        init() {
            let time = SharedTime()
            clock = time
            desk = AnswerDesk(clock: EventClock { .init(wall: 0, boot: time.now, isSynchronized: true) })
        }

        final class SharedTime: Sendable {
            private let value = Mutex(0)
            var now: Int { value.withLock { $0 } }
            func pass(_ milliseconds: Int) { value.withLock { $0 += milliseconds } }
        }

        var shown: [String] { log.withLock { $0 } }

        func pass(_ milliseconds: Int) { clock.pass(milliseconds) }
        func beforeShowing(_ work: @escaping @Sendable () -> Void) { meanwhile.withLock { $0 = work } }

        private func shot(_ id: String) -> OneShot<Answering.Decision> {
            waiting.withLock { waiting in
                let shot = waiting[id] ?? OneShot()
                waiting[id] = shot
                return shot
            }
        }

        /// - Parameter card: when it came.
        func ask(_ event: StoredEvent, card: ContinuousClock.Instant = card, within limit: Duration = .seconds(60)) {
            if case .on = event.kind { desk.note(card, on: event.reader) }
            let answering = Answering(
                within: limit, ask: { await self.shot($0.id).value },
                show: { reader, verdict, isCurrent in
                    self.meanwhile.withLock { $0 }()
                    self.log.withLock { $0.append("\(reader) \(isCurrent() ? "shows" : "hides") \(verdict)") }
                })
            desk.ask(answering, about: event, card: card) { decision, time in
                let reason = decision.reason.map { " (\($0), \(time) ms)" } ?? ""
                self.log.withLock { $0.append("\(event.reader) \(decision.verdict)\(reason)") }
            }
        }

        func answer(_ event: StoredEvent, _ decision: Answering.Decision) { shot(event.id).give(decision) }

        func wait(for count: Int) async {
            while shown.count < count { await Task.yield() }
        }

        /// Waits until everything is shown that will be.
        func end() async { await desk.end().value }
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
        desk.answer(hanging, .fault("exit3"))
        await desk.wait(for: 4)
        #expect(desk.shown.suffix(2) == ["a fault (exit3, 0 ms)", "a shows fault"])
    }

    /// What can happen while an asker thinks, after which its answer is an event and no light.
    enum Meanwhile: String, CaseIterable, Sendable {
        case left, nextCard, newPlan, old, pulled
    }

    @Test(
        "An answer belongs to its question: nothing lights up for a card that is gone, an old tap or an old plan",
        arguments: Meanwhile.allCases, [false, true])
    func late(meanwhile: Meanwhile, whileBusy: Bool) async {
        let desk = Desk()
        let first = StoredEvent.made(1)
        desk.ask(first)
        let happens: @Sendable () -> Void = {
            switch meanwhile {
            case .left, .pulled: desk.desk.note(nil, on: "door")
            case .nextCard: desk.desk.note(Desk.card + .seconds(1), on: "door")
            case .newPlan: desk.desk.changePlan()
            case .old: desk.pass(2001)
            }
        }
        // Before the answer, or while the lights are busy.
        if whileBusy { desk.beforeShowing(happens) } else { happens() }
        desk.answer(first, .yes)
        await desk.wait(for: whileBusy ? 2 : 1)
        // Of the next card, the answer is shown.
        desk.beforeShowing {}
        let second = StoredEvent(
            TapEvent.made(2).at(uptime: meanwhile == .old ? 2001 : 0))
        desk.ask(second, card: Desk.card + .seconds(2))
        desk.answer(second, .no)
        await desk.wait(for: whileBusy ? 4 : 3)
        #expect(desk.shown == ["door yes"] + (whileBusy ? ["door hides yes"] : []) + ["door no", "door shows no"])
    }

    @Test("An answer that took longer than the limit is a fault, whoever came first, as of a computer that slept")
    func slept() async {
        let desk = Desk()
        let event = StoredEvent.made(1)
        desk.ask(event, within: .seconds(1))
        desk.pass(5300)
        desk.answer(event, .yes)
        await desk.wait(for: 1)
        await desk.end()
        #expect(desk.shown == ["door fault (timeout, 5300 ms)"])
    }

    @Test("An answer within the limit is one, however close")
    func justInTime() async {
        let desk = Desk()
        let event = StoredEvent.made(1)
        desk.ask(event, within: .seconds(1))
        desk.pass(1000)
        desk.answer(event, .yes)
        await desk.wait(for: 2)
        #expect(desk.shown == ["door yes", "door shows yes"])
    }

    @Test("Nobody is asked about what is old, and about anything but a card that came")
    func notAsked() async {
        let desk = Desk()
        desk.pass(2001)
        let old = StoredEvent.made(1)
        let fresh = StoredEvent(TapEvent.made(3).at(uptime: 1))
        for event in [old, fresh] { desk.answer(event, .yes) }
        desk.ask(old)
        for type in TapEvent.EventType.allCases where type != .on {
            let event = StoredEvent(TapEvent.made(2, type: type.rawValue).at(uptime: 2001))
            desk.answer(event, .yes)
            desk.ask(event)
        }
        desk.ask(fresh)
        await desk.wait(for: 2)
        await desk.end()
        #expect(desk.shown == ["door yes", "door shows yes"])
    }

    private static let still = EventClock { .init(wall: 0, boot: 0, isSynchronized: true) }

    @Test(
        "At the end nobody is asked any more, programs are ended, and nothing of them is noted",
        arguments: ["exec sleep 600", "trap '' TERM; exec sleep 600"])
    func ends(script: String) async throws {
        let folder = try TemporaryFolder()
        let asker = Asker.program(try folder.script("echo $$ > '\(folder.path)/pid'; \(script)"))
        let desk = AnswerDesk(clock: Self.still)
        let noted = Mutex<[String]>([])
        let answering = Answering(asker, within: .seconds(600)) { reader, _, _ in
            noted.withLock { $0.append("shown at \(reader)") }
        }
        desk.ask(answering, about: .made(1), card: .now) { decision, _ in
            noted.withLock { $0.append("\(decision)") }
        }
        var process: pid_t?
        while process == nil {
            let text = (try? TestFiles.read("\(folder.path)/pid")).map { String(decoding: $0, as: UTF8.self) }
            process = text.flatMap { $0.hasSuffix("\n") ? pid_t($0.dropLast()) : nil }
            await Task.yield()
        }
        await desk.end().value
        #expect(kill(try #require(process), 0) == -1 && errno == ESRCH)
        desk.ask(answering, about: .made(2), card: .now) { decision, _ in
            noted.withLock { $0.append("\(decision)") }
        }
        await desk.end().value
        #expect(noted.withLock { $0 } == [])
    }

    @Test("A program that took too long is not forgotten before it has ended")
    func endsLate() async throws {
        let folder = try TemporaryFolder()
        let script = "trap '' TERM; echo $$ > '\(folder.path)/pid'; exec sleep 600"
        let desk = AnswerDesk(clock: Self.still)
        let noted = OneShot<Answering.Decision>()
        let answering = Answering(.program(try folder.script(script)), within: .seconds(1)) { _, _, _ in }
        desk.ask(answering, about: .made(1), card: .now) { decision, _ in noted.give(decision) }
        #expect(await noted.value == .fault("timeout"))
        await desk.end().value
        let text = String(decoding: try TestFiles.read("\(folder.path)/pid"), as: UTF8.self)
        #expect(kill(try #require(pid_t(text.dropLast())), 0) == -1 && errno == ESRCH)
    }

    // MARK: Events

    @Test(
        "A watcher's answer is an event with a number, and its text can be read", arguments: TapEvent.Verdict.allCases)
    func event(verdict: TapEvent.Verdict) async throws {
        let decision = Answering.Decision(verdict: verdict, reason: verdict == .fault ? "exit3" : nil)
        let card = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        var plan = Watcher.Plan(site: "here", readers: [card], names: [card: "door"], sinks: [])
        let shown = Mutex<[String]>([])
        plan.answering = Answering(
            ask: { _ in decision },
            show: { reader, answer, isCurrent in
                if isCurrent() { shown.withLock { $0.append("\(reader) \(answer)") } }
            })
        var events: [StoredEvent] = []
        let told = Mutex<[String?]>([])
        let watching = Watcher.events(plan, outbox: nil) { notice in
            if case .asker(let fault) = notice { told.withLock { $0.append(fault) } }
        }
        for try await event in watching {
            events.append(event)
            if case .answer = event.kind, shown.withLock({ $0.isEmpty }) { await Task.yield() }
            if case .answer = event.kind { break }
        }
        #expect(events.map(\.kind.word) == ["reader", "on", "answer"])
        #expect(events.map(\.sequence) == [1, 2, 3])
        let answer = try #require(events.last)
        guard case .answer(let found) = answer.kind else { return }
        #expect((found.on, found.verdict, found.reason) == (events[1].id, verdict, decision.reason))
        #expect(told.withLock { $0 } == (verdict == .fault ? ["exit3"] : []))
        #expect(try StoredEvent(parsing: answer.line) == answer)
        while shown.withLock({ $0.isEmpty }) { await Task.yield() }
        #expect(shown.withLock { $0 } == ["door \(verdict)"])
    }

    @Test("Settings that are read again ask somebody else, without opening the reader again")
    func changed() async throws {
        let card = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let plan = Watcher.Plan(site: "here", readers: [card], names: [card: "door"], sinks: [])
        var asking = plan
        asking.answering = Answering(ask: { _ in .yes }, show: { _, _, _ in })
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

extension TapEvent {
    /// The same at another moment of the computer's time.
    fileprivate func at(uptime: Int) -> TapEvent {
        var event = self
        event.moment = Moment(EventClock.Reading(wall: 0, boot: uptime, isSynchronized: true))
        return event
    }
}

extension String {
    /// How often it has another text.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
