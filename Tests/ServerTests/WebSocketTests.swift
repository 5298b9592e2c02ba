// SPDX-License-Identifier: Apache-2.0

import CardModel
import NIOCore
import NIOEmbedded
import Synchronization
import TestSupport
import Testing

@testable import Server

// One at a time: each has a server of its own, and libnfc, which other suites use, cannot work with 1,024 open files.
@Suite("Serve: WebSocket", .serialized)
struct WebSocketTests {
    /// Sends every message back, and says when the client is gone.
    private static func echo(_ ended: AsyncStream<Void>.Continuation? = nil) -> Connector {
        Connector { send in
            WebSocketSession(
                receive: { send(String(decoding: $0, as: UTF8.self)) },
                close: { ended?.yield() })
        }
    }

    private static let handshake = [
        "GET /v1/rpc HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: keep-alive, Upgrade",
        "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
    ]

    /// A client after its handshake.
    private static func open(_ stand: ServeStand, with early: [UInt8] = []) async throws -> ServeClient {
        let client = try stand.client()
        await client.send(Array(handshake.joined(separator: "\r\n").utf8) + early)
        let head = await client.text(to: "\r\n\r\n")
        #expect(
            head.hasPrefix("HTTP/1.1 101 ") && head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        return client
    }

    /// A frame of a client (RFC 6455, 5.2).
    private static func frame(
        _ opcode: UInt8, _ payload: [UInt8], isLast: Bool = true, isMasked: Bool = true, reserved: UInt8 = 0
    ) -> [UInt8] {
        var bytes = [(isLast ? 0x80 : 0) | reserved | opcode]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case ..<126: bytes.append(mask | UInt8(payload.count))
        case ..<65_536: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: bytes += [mask | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        guard isMasked else { return bytes + payload }
        let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }

    private static func frame(_ text: String) -> [UInt8] { frame(1, Array(text.utf8)) }

    @Test("Messages go both ways, also those that came with the handshake, in pieces, byte by byte")
    func messages() async throws {
        let stand = try await ServeStand(connect: Self.echo())
        let client = try await Self.open(stand, with: Self.frame("early"))
        #expect(await client.received() == .init(opcode: 1, payload: "early"))
        await client.send(Self.frame("駅"))
        #expect(await client.received() == .init(opcode: 1, payload: "駅"))
        let pieces = Self.frame(1, Array("a".utf8), isLast: false) + Self.frame(0, [], isLast: false)
        await client.send(pieces + Self.frame(9, Array("ping".utf8)) + Self.frame(0, Array("b".utf8)))
        #expect(await client.received() == .init(opcode: 10, payload: "ping"))
        #expect(await client.received() == .init(opcode: 1, payload: "ab"))
        // A character of three bytes may be cut anywhere.
        let station = Array("駅".utf8)
        await client.send(
            Self.frame(1, [station[0]], isLast: false) + Self.frame(0, [station[1]], isLast: false)
                + Self.frame(0, [station[2]]))
        #expect(await client.received() == .init(opcode: 1, payload: "駅"))
        for byte in Self.frame("slow") { await client.send([byte]) }
        #expect(await client.received() == .init(opcode: 1, payload: "slow"))
        let long = String(repeating: "x", count: 1 << 20)
        await client.send(Self.frame(long))
        #expect(await client.received() == .init(opcode: 1, payload: long))
        await client.send(Self.frame(10, []) + Self.frame("after a pong"))
        #expect(await client.received() == .init(opcode: 1, payload: "after a pong"))
        await stand.stop()
    }

    @Test("A long message in very many pieces arrives whole")
    func manyPieces() async throws {
        let stand = try await ServeStand(connect: Self.echo())
        let client = try await Self.open(stand)
        let (begin, count) = ([UInt8](repeating: 0x61, count: 4 << 20), 20_000)
        await client.send(Self.frame(1, begin, isLast: false))
        await client.send([[UInt8]](repeating: Self.frame(0, [0x62], isLast: false), count: count).flatMap(\.self))
        await client.send(Self.frame(0, []))
        let whole = String(decoding: begin, as: UTF8.self) + String(repeating: "b", count: count)
        #expect(await client.received() == .init(opcode: 1, payload: whole))
        await stand.stop()
    }

    /// Says when the connection wants to read more.
    private final class ReadMonitor: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        private let reads: AsyncStream<Void>.Continuation

        init(_ reads: AsyncStream<Void>.Continuation) { self.reads = reads }

        func read(context: ChannelHandlerContext) { reads.yield() }
    }

    @Test("While long messages wait for the session, nothing more is read")
    func waitingMessages() async throws {
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let connector = Connector { _ in
            WebSocketSession(receive: { _ in for await _ in opened { return } }, close: {})
        }
        let (reads, read) = AsyncStream.makeStream(of: Void.self)
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext {
            try channel.pipeline.syncOperations.addHandler(ReadMonitor(read))
            try WebSocketConnection.add(to: channel, connector.connect)
        }
        let message = ByteBuffer(bytes: Self.frame(1, [UInt8](repeating: 0x61, count: 4 << 20)))
        for _ in 0..<4 {
            try await channel.writeInbound(message)
            try await channel.testingEventLoop.executeInContext { channel.read() }
        }
        // It reads once after the first message, and again when all but one are taken.
        for _ in 0..<3 { open.yield() }
        var count = 0
        for await _ in reads {
            count += 1
            if count == 2 { break }
        }
        try await channel.close()
        read.finish()
        for await _ in reads { count += 1 }
        #expect(count == 2)
    }

    @Test("A client that closes is answered, and its session ends")
    func closes() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let stand = try await ServeStand(connect: Self.echo(end))
        let client = try await Self.open(stand)
        await client.send(Self.frame(8, [0x03, 0xE8] + Array("bye".utf8)))
        #expect(await client.closeCode() == 1000)
        client.finish()
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        let gone = try await Self.open(stand)
        gone.reset()
        #expect(await iterator.next() != nil)
        await stand.stop()
    }

    private static let wrong: [(String, [UInt8], Int)] = [
        ("not masked", frame(1, Array("a".utf8), isMasked: false), 1002),
        ("a reserved bit", frame(1, Array("a".utf8), reserved: 0x40), 1002),
        ("an unknown opcode", frame(3, []), 1002), ("an unknown control opcode", frame(11, []), 1002),
        ("a piece of nothing", frame(0, Array("a".utf8)), 1002),
        ("a message within another", frame(1, [0x61], isLast: false) + frame(1, [0x62]), 1002),
        ("a ping in pieces", frame(9, [], isLast: false), 1002),
        ("a long ping", frame(9, [UInt8](repeating: 0, count: 126)), 1002),
        ("bytes that are not UTF-8", frame(1, [0xFF]), 1007), ("half a character", frame(1, [0xE9, 0xA7]), 1007),
        ("half a character in pieces", frame(1, [0xE9], isLast: false) + frame(0, [0xA7]), 1007),
        ("a surrogate", frame(1, [0xED, 0xA0, 0x80]), 1007),
        ("binary", frame(2, [1, 2, 3]), 1003),
        ("a close of one byte", frame(8, [3]), 1002), ("a close with an unknown code", frame(8, [0x03, 0xED]), 1002),
        ("a close with a code beyond", frame(8, [0xFF, 0xFF]), 1002),
        ("a close with no text", frame(8, [0x03, 0xE8, 0xFF]), 1007),
        ("a frame that is too large", [0x81, 0xFF, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4], 1009),
        ("a length beyond 63 bits", [0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4], 1009),
    ]

    @Test("Protocol errors close the connection with their code", arguments: wrong)
    func wrongFrames(_ what: String, _ bytes: [UInt8], _ code: Int) async throws {
        let stand = try await ServeStand(connect: Self.echo())
        let client = try await Self.open(stand)
        await client.send(bytes)
        let answered = await client.closeCode()
        #expect(answered == code, "\(what)")
        client.finish()
        #expect(await client.bytes(1).isEmpty)
        await stand.stop()
    }

    @Test("A message that is too large in pieces is refused")
    func tooLarge() async throws {
        let stand = try await ServeStand(connect: Self.echo())
        let client = try await Self.open(stand)
        let piece = [UInt8](repeating: 0x61, count: 1 << 20)
        await client.send(Self.frame(1, piece, isLast: false))
        for _ in 0..<8 { await client.send(Self.frame(0, piece, isLast: false)) }
        #expect(await client.closeCode() == 1009)
        await stand.stop()
    }

    @Test("A client that asks and never reads is given up")
    func neverReads() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let stand = try await ServeStand(connect: Self.echo(end))
        let client = try await Self.open(stand)
        let message = Self.frame(String(repeating: "x", count: 1 << 20))
        let sending = Task { for _ in 0..<100 { await client.send(message) } }
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        await sending.value
        await stand.stop()
    }

    /// A client that reads nothing: what is written stays here.
    private final class FullPipe: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = ByteBuffer

        /// The last bytes that were written.
        let last = Mutex<[UInt8]>([])
        private let promises = Mutex<[EventLoopPromise<Void>]>([])

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            let bytes = Self.unwrapOutboundIn(data).readableBytesView.suffix(4)
            last.withLock { $0 = ($0 + bytes).suffix(4) }
            if let promise { promises.withLock { $0.append(promise) } }
        }

        func end() { for promise in promises.withLock({ $0 }) { promise.fail(ChannelError.ioOnClosedChannel) } }
    }

    @Test("A client that does not read is told at the end that messages are missing")
    func missingMessages() async throws {
        let sender = Mutex<(@Sendable (String) -> Void)?>(nil)
        let connector = Connector { send in
            sender.withLock { $0 = send }
            return WebSocketSession(receive: { _ in }, close: {})
        }
        let pipe = FullPipe()
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext {
            try channel.pipeline.syncOperations.addHandler(pipe)
            try WebSocketConnection.add(to: channel, connector.connect)
        }
        let send = try #require(sender.withLock { $0 })
        let message = String(repeating: "x", count: 1 << 20)
        for _ in 0..<32 { send(message) }
        await channel.testingEventLoop.run()
        #expect(pipe.last.withLock { $0 } == Array("xxxx".utf8))
        for _ in 0..<8 { send(message) }
        await channel.testingEventLoop.run()
        // A close frame: policy violation.
        #expect(pipe.last.withLock { $0 } == [0x88, 2, 0x03, 0xF0])
        pipe.end()
        try? await channel.close()
    }

    @Test("Refuses incomplete handshakes with the missing part")
    func handshakes() async throws {
        let stand = try await ServeStand(connect: Self.echo()) { $0.access = ServeAccess(token: Array("secret".utf8)) }
        func ask(_ lines: [String]) async throws -> (status: Int, head: String, body: String) {
            let client = try stand.client()
            await client.send(lines.joined(separator: "\r\n"))
            return await client.response()
        }
        let token = "Authorization: Bearer secret"
        #expect(try await ask(Self.handshake).status == 401)
        let whole = Array(Self.handshake.dropLast(2)) + [token, "", ""]
        #expect(try await ask(whole).status == 101)
        #expect(try await ask(["GET /v1/rpc HTTP/1.1", "Host: localhost", token, "", ""]).status == 426)
        let version = whole.map { $0.replacing("Version: 13", with: "Version: 8") }
        let old = try await ask(version)
        #expect(old.status == 426 && old.head.contains("Sec-WebSocket-Version: 13"))
        let key = whole.map { $0.replacing("dGhlIHNhbXBsZSBub25jZQ==", with: "c2hvcnQ=") }
        #expect(try await ask(key).status == 400)
        #expect(try await ask(whole.dropLast(2) + ["Origin: https://evil.example", "", ""]).status == 403)
        #expect(try await ask(whole.map { $0.replacing("Host: localhost", with: "Host: evil.example") }).status == 421)
        await stand.stop()
    }
}

/// A frame of the server.
private struct Frame: Equatable {
    var opcode: UInt8
    var payload: String
}

extension ServeClient {
    /// The next frame, which has no mask and is not a piece. A ping is passed over: on a busy machine one comes between any two
    /// frames, as the server sends it after half a minute.
    fileprivate func received() async -> Frame? {
        while true {
            let head = await bytes(2)
            guard head.count == 2, head[0] & 0x80 != 0, head[1] & 0x80 == 0 else { return nil }
            var length = Int(head[1])
            if length == 126 { length = await bytes(2).reduce(0) { $0 << 8 | Int($1) } }
            if length == 127 { length = await bytes(8).reduce(0) { $0 << 8 | Int($1) } }
            let payload = await bytes(length)
            if head[0] & 0x0F == 9 { continue }
            return Frame(opcode: head[0] & 0x0F, payload: String(decoding: payload, as: UTF8.self))
        }
    }

    /// The code of the close frame, after whatever comes before it.
    fileprivate func closeCode() async -> Int? {
        while true {
            let head = await bytes(2)
            guard head.count == 2 else { return nil }
            let payload = await bytes(Int(head[1]))
            if head[0] & 0x0F == 8 { return payload.prefix(2).reduce(0) { $0 << 8 | Int($1) } }
        }
    }
}
