// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReaderCore
import TapSupport
import TestSupport
import Testing

@testable import KazasuTaps

@Suite("Sinks")
struct BuiltInSinkTests {
    private static let clock = EventClock { .init(wall: 100_000, boot: 0, isSynchronized: true) }

    private static func event(
        tag: String? = "0123abcd", type: String = "on", time: Int = 99_000, name: String? = nil
    ) -> StoredEvent {
        var event = TapEvent.made(1, reader: "r", type: type, time: time, tag: tag)
        event.id = "id"
        if case .on(var card, let content) = event.kind {
            card.name = name
            event.kind = .on(card, content)
        }
        return StoredEvent(event)
    }

    // MARK: exec

    static let ends: [(String, DeliveryResult)] = [
        ("exit 0", .delivered), ("exit 3", .retry("exit3")), ("kill -9 $$", .retry("signal9")),
        ("cat > /dev/null", .delivered),
    ]

    @Test("A program's end decides", arguments: ends)
    func endDecides(script: String, expected: DeliveryResult) async throws {
        let folder = try TemporaryFolder()
        let sink = ExecSink(try folder.script(script))
        #expect(await sink.deliver([Self.event()]) == [expected])
    }

    @Test("The event is standard input, and in the environment")
    func input() async throws {
        let folder = try TemporaryFolder()
        let sink = ExecSink(
            try folder.script("cat > '\(folder.path)/in'; env | grep ^KAZASU_ | sort > '\(folder.path)/env'"))
        let event = Self.event(name: "山田")
        #expect(await sink.deliver([event]) == [.delivered])
        #expect(String(decoding: try TestFiles.read("\(folder.path)/in"), as: UTF8.self) == event.line + "\n")
        #expect(
            String(decoding: try TestFiles.read("\(folder.path)/env"), as: UTF8.self) == """
                KAZASU_EVENT_ID=id
                KAZASU_EVENT_NAME=山田
                KAZASU_EVENT_READER=r
                KAZASU_EVENT_TAG=0123abcd
                KAZASU_EVENT_TYPE=on

                """)
    }

    @Test(
        "A program runs for cards that come, and for other events only if it is told to",
        arguments: TapEvent.EventType.allCases, [false, true])
    func types(type: TapEvent.EventType, isForAll: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.script("echo \"$KAZASU_EVENT_TYPE\" >> '\(folder.path)/ran'")
        let sink = isForAll ? ExecSink(path, types: Set(TapEvent.EventType.allCases)) : ExecSink(path)
        #expect(await sink.deliver([Self.event(type: type.rawValue)]) == [.delivered])
        let ran = (try? TestFiles.read("\(folder.path)/ran")).map { String(decoding: $0, as: UTF8.self) }
        #expect(ran == (isForAll || type == .on ? "\(type.rawValue)\n" : nil))
    }

    @Test("A program that needs proof does not run for a card without a tag", arguments: ["0123abcd", nil])
    func proof(tag: String?) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.script(": > '\(folder.path)/ran'")
        let sink = ExecSink(path, types: [.on], needsTag: true, timeout: .seconds(60))
        #expect(await sink.deliver([Self.event(tag: tag)]) == [.delivered])
        #expect((access("\(folder.path)/ran", F_OK) == 0) == (tag != nil))
    }

    @Test("A program that hangs is killed, also one that ignores SIGTERM", arguments: ["", "trap '' TERM; "])
    func hangs(trap: String) async throws {
        let folder = try TemporaryFolder()
        let sink = ExecSink(
            try folder.script(trap + "exec sleep 600"), timeout: .milliseconds(50),
            grace: .milliseconds(50))
        #expect(await sink.deliver([Self.event()]) == [.retry("timeout")])
    }

    @Test("A sink is known by the absolute path of its program")
    func absoluteName() throws {
        let folder = try #require(getcwd(nil, 0))
        defer { free(folder) }
        let path = String(cString: folder)
        #expect(ExecSink("./x/../on-tap").name == "exec:\(path)/on-tap")
        #expect(ExecSink("on-tap").name == "exec:\(path)/on-tap")
        #expect(ExecSink("/usr/../bin/./true").name == "exec:/bin/true")
    }

    @Test("Reports before the first event why a program cannot run")
    func obstacles() throws {
        let folder = try TemporaryFolder()
        let script = try folder.script("exit 0", as: "on tap")
        let text = try folder.write(Array("#!/bin/sh\n".utf8), as: "text")
        #expect(ExecSink(script).obstacle == nil)
        #expect(ExecSink("/bin/true").obstacle == nil)
        #expect(ExecSink(text).obstacle == .notExecutable)
        #expect(ExecSink(folder.path).obstacle == .folder)
        #expect(ExecSink("\(folder.path)/none").obstacle == .unreadable(errno: ENOENT))
        #expect(ExecSink("\(text)/none").obstacle == .unreadable(errno: ENOTDIR))
        #expect(ExecSink("\(script) --now 1").obstacle == .arguments(program: script))
        #expect(ExecSink("/bin/true x").obstacle == .arguments(program: "/bin/true"))
    }

    @Test("A script whose interpreter is missing, and a program that is none")
    func notPrograms() async throws {
        let folder = try TemporaryFolder()
        let script = try folder.write(Array("#!/nowhere/sh\n".utf8), as: "script")
        let text = try folder.write(Array("hello\n".utf8), as: "text")
        for path in [script, text] { try #require(chmod(path, 0o700) == 0) }
        #expect(await ExecSink(script).deliver([Self.event()]) == [.retry("noInterpreter")])
        #expect(await ExecSink(text).deliver([Self.event()]) == [.retry("errno\(ENOEXEC)")])
    }

    @Test("A program that still runs when its delivery is cancelled is ended", arguments: ["", "trap '' TERM; "])
    func cancelled(trap: String) async throws {
        let folder = try TemporaryFolder()
        let pipe = "\(folder.path)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let program = try folder.script(trap + "echo runs > '\(pipe)'; exec sleep 600")
        let sink = ExecSink(program, grace: .milliseconds(50))
        let delivery = Task { await sink.deliver([Self.event()]) }
        // The program has begun once it writes.
        let runs = await BlockingWork.run { try? TestFiles.read(pipe) }
        #expect(runs == Array("runs\n".utf8))
        delivery.cancel()
        #expect(await delivery.value == [.retry("cancelled")])
    }

    /// More web servers hang than there are processors.
    @Test("A program does not wait for web servers that hang", .timeLimit(.minutes(5)))
    func hangingServers() async throws {
        let server = LoopbackPort.makeSocket()
        defer { close(server) }
        let port = try LoopbackPort.free()
        try #require(LoopbackPort.withAddress(port) { bind(server, $0, $1) } == 0)
        try #require(listen(server, 128) == 0)
        let sinks = (0..<80).map { WebhookSink("http://127.0.0.1:\(port)/\($0)", timeout: .seconds(600)) }
        let posts = sinks.map { sink in Task { await sink.deliver([Self.event()]) } }
        // Each has sent its request, which is never answered.
        let connections = await BlockingWork.run { sinks.map { _ in accept(server, nil, nil) } }
        defer { for connection in connections { close(connection) } }
        let folder = try TemporaryFolder()
        let program = ExecSink(try folder.script("cat > /dev/null"))
        let events = [Self.event(), Self.event(), Self.event()]
        #expect(await program.deliver(events) == [.delivered, .delivered, .delivered])
        for post in posts { post.cancel() }
        for post in posts { #expect(await post.value != [.delivered]) }
    }

    @Test("A program that is not there is tried again")
    func missing() async {
        let sink = ExecSink("/nowhere/program")
        #expect(await sink.deliver([Self.event(), Self.event()]) == [.retry("errno2"), .retry("errno2")])
    }

    // MARK: webhook

    static let names: [(String, String)] = [
        ("https://user:pw@example.com/taps?token=secret", "webhook:example.com/taps"),
        ("http://localhost:8080", "webhook:localhost:8080"), ("https://example.com/a@b", "webhook:example.com/a@b"),
    ]

    @Test("The name of a webhook has no secrets", arguments: names)
    func name(url: String, name: String) {
        #expect(WebhookSink(url).name == name)
    }

    @Test("A signature is over the time and the body")
    func signature() {
        // printf 100.body | openssl dgst -sha256 -hmac key
        #expect(
            WebhookSink.signature("body", Array("key".utf8), 100_999)
                == "t=100,v1=" + Self.hex(MessageAuthentication.sha256(key: Array("key".utf8), Array("100.body".utf8))))
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("A request that was cancelled, or a sink that was closed, does not fail those after it")
    func cancelledWebhook() async throws {
        let sink = WebhookSink("http://127.0.0.1:1/")
        let cancelled = Task {
            while !Task.isCancelled { await Task.yield() }
            return await sink.deliver([Self.event()])
        }
        cancelled.cancel()
        _ = await cancelled.value
        #expect(await sink.deliver([Self.event()]) == [.retry("noConnection")])
        await sink.close()
        #expect(await sink.deliver([Self.event()]) == [.retry("noConnection")])
    }

    @Test("Nobody listens, however long a request may take", arguments: [Duration.seconds(10), .seconds(Int64.max)])
    func noServer(timeout: Duration) async {
        let sink = WebhookSink("http://127.0.0.1:1/", timeout: timeout)
        #expect(await sink.deliver([Self.event()]) == [.retry("noConnection")])
    }

    // MARK: keyboard

    /// The keys in the order in which they are pressed (KEY_… of linux/input-event-codes.h).
    static let layouts: [(KeyboardLayout, String, [UInt16], Bool)] = [
        (.us, "01afbc", [11, 2, 30, 33, 48, 46], false), (.jp, "9d", [10, 32], false), (.de, "9e", [10, 18], false),
        (.fr, "1a", [2, 16], true), (.keypad, "0100", [80, 76, 77], false), (.keypad, "00", [82], false),
    ]

    @Test("Layouts", arguments: layouts)
    func strokes(layout: KeyboardLayout, tag: String, keys: [UInt16], shifted: Bool) {
        let strokes = layout.strokes(for: tag)
        #expect(strokes.dropLast().map(\.key) == keys)
        #expect(strokes.last?.key == (layout == .keypad ? 96 : 28))
        #expect(strokes.contains { $0.shift } == shifted)
    }

    @Test("A tag as a decimal number")
    func decimal() {
        #expect(KeyboardLayout.decimal([0x01, 0x14, 0xB3, 0x4D, 0xAA, 0x01, 0x23, 0x45]) == "77884239718196037")
        #expect(KeyboardLayout.decimal(Array(repeating: 0xFF, count: 8)) == "18446744073709551615")
        #expect(
            KeyboardLayout.decimal(Array(repeating: 0xFF, count: 16)) == "340282366920938463463374607431768211455")
        #expect(KeyboardLayout.decimal([]) == "0")
        #expect(KeyboardLayout.keypad.strokes(for: String(repeating: "f", count: 34)).isEmpty)
    }

    @Test("Keys are pressed, reported and released; nothing is typed for what is late, or no card")
    func typing() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        do {
            let sink = KeyboardSink(.us, descriptor: ends[1], clock: Self.clock)
            let events = [
                Self.event(tag: "01"), Self.event(type: "off"), Self.event(tag: nil), Self.event(time: 80_000),
            ]
            #expect(await sink.deliver(events) == Array(repeating: .delivered, count: 4))
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &bytes, bytes.count)
        // struct input_event: 16 bytes of time, type, code, value; each key is followed by SYN_REPORT.
        let events = stride(from: 0, to: count, by: 24).map { Array(bytes[$0 + 16..<$0 + 24]) }
        let expected = [11, 2, 28].flatMap { (key: UInt8) -> [[UInt8]] in
            [
                [1, 0, key, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [1, 0, key, 0, 0, 0, 0, 0],
                [0, 0, 0, 0, 0, 0, 0, 0],
            ]
        }
        #expect(events == expected)
    }
}
