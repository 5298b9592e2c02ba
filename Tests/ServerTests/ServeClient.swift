// SPDX-License-Identifier: Apache-2.0

import CardModel
import Dispatch
import Foundation
import Glibc
import Kazasu
import Synchronization
import TestSupport

@testable import Server
@testable import KazasuTaps

struct NoConnection: Error {}

/// A client that sends the bytes it is told to, right or wrong. Its calls wait on threads of their own.
final class ServeClient: Sendable {
    private let socket: Int32
    private let rest = Mutex<[UInt8]>([])
    private let isEnded = Mutex(false)

    /// Connects.
    init(_ port: UInt16) throws {
        socket = LoopbackPort.makeSocket()
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard LoopbackPort.withAddress(port, { connect(socket, $0, $1) }) == 0 else { throw NoConnection() }
    }

    deinit { close(socket) }

    private static func off<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            // Dispatch has few threads for many clients that wait.
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    /// Sends bytes; what the server does not take any more is dropped.
    func send(_ bytes: [UInt8]) async {
        await Self.off { [socket] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    func send(_ text: String) async { await send(Array(text.utf8)) }

    /// Sends nothing more, but still receives.
    func finish() { shutdown(socket, Int32(SHUT_WR)) }

    /// Closes with a reset, as when the program was killed with unread data.
    func reset() { shutdown(socket, Int32(SHUT_RDWR)) }

    /// The next bytes; `nil` at the end of the connection, or when the server said nothing for long.
    private func more() async -> [UInt8]? {
        await Self.off { [self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(socket, &buffer, buffer.count, 0)
            if count == 0 { isEnded.withLock { $0 = true } }
            return count > 0 ? Array(buffer.prefix(count)) : nil
        }
    }

    /// Everything until the server closes; `nil` if it does not.
    func whole() async -> String? {
        let text = await rest()
        return isEnded.withLock(\.self) ? text : nil
    }

    /// Everything until the server closes, or says nothing for long.
    func rest() async -> String {
        var bytes = rest.withLock { rest in
            defer { rest = [] }
            return rest
        }
        while let more = await more() { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Everything up to some text, with it; less if the server closes before.
    func text(to end: String) async -> String {
        let end = Array(end.utf8)
        while true {
            let found = rest.withLock { rest -> [UInt8]? in
                guard let range = rest.firstRange(of: end) else { return nil }
                defer { rest.removeSubrange(..<range.upperBound) }
                return Array(rest[..<range.upperBound])
            }
            if let found { return String(decoding: found, as: UTF8.self) }
            guard let more = await more() else {
                return String(decoding: rest.withLock { $0 }, as: UTF8.self)
            }
            rest.withLock { $0 += more }
        }
    }

    /// A number of bytes; fewer if the server closes before.
    func bytes(_ count: Int) async -> [UInt8] {
        while rest.withLock({ $0.count < count }), let more = await more() { rest.withLock { $0 += more } }
        return rest.withLock { rest in
            defer { rest.removeFirst(min(count, rest.count)) }
            return Array(rest.prefix(count))
        }
    }

    /// One response with a length.
    func response() async -> (status: Int, head: String, body: String) {
        let head = await text(to: "\r\n\r\n")
        let length = head.firstMatch(of: /content-length: ([0-9]+)/.ignoresCase()).flatMap { Int($0.1) } ?? 0
        let status = head.firstMatch(of: #/^HTTP/1\.[01] ([0-9]{3})/#).flatMap { Int($0.1) } ?? 0
        return (status, head, String(decoding: await bytes(length), as: UTF8.self))
    }
}

/// Methods that answer what they were asked, wait or fail.
final class ScriptedMethods: ServiceMethods {
    let methods: [ServiceMethod] = [
        ServiceMethod(
            "card.balance", .init(.get, "/v1/balance"),
            parameters: [
                .init("reader", .text, LocalizedText("", "")), .init("timeout", .number, LocalizedText("", "")),
                .init("system", .list, LocalizedText("", "")), .init("all", .flag, LocalizedText("", "")),
                .init("limit", .integer, LocalizedText("", "")),
            ], schema: "kazasu.balance/1", LocalizedText("", "")),
        ServiceMethod("card.poll", .init(.get, "/v1/poll"), schema: "kazasu.poll/1", LocalizedText("", "")),
        ServiceMethod(
            "card.read", .init(.get, "/v1/read"), parameters: [.init("fail", .integer, LocalizedText("", ""))],
            schema: "kazasu.read/1", LocalizedText("", "")),
        ServiceMethod(
            "card.apdu", .init(.post, "/v1/apdu"), permission: .raw,
            parameters: [.init("commands", .list, LocalizedText("", ""))], schema: "kazasu.apdu/1",
            LocalizedText("", "")),
        ServiceMethod(
            "convert", .init(.post, "/v1/convert"),
            parameters: [
                .init("text", .text, LocalizedText("", "")), .init("base64", .text, LocalizedText("", "")),
                .init("to", .text, LocalizedText("", "")),
            ], LocalizedText("", "")),
        ServiceMethod(
            "decode", .init(.post, "/v1/decode"), parameters: [.init("text", .text, LocalizedText("", ""))],
            computes: true, LocalizedText("", "")),
        ServiceMethod("ledger.list", .init(.get, "/v1/ledger/records"), permission: .ledger, LocalizedText("", "")),
    ]

    /// Gets what happens to `card.poll`, which waits until it is cancelled.
    let waits: AsyncStream<String>
    private let wait: AsyncStream<String>.Continuation

    /// Gets what `decode` decodes.
    let decodes: AsyncStream<String>
    private let decode: AsyncStream<String>.Continuation

    init() {
        (waits, wait) = AsyncStream.makeStream(of: String.self)
        (decodes, decode) = AsyncStream.makeStream(of: String.self)
    }

    /// Computes, and so keeps its thread, until the task is cancelled.
    private static func compute() async {
        let end = DispatchSemaphore(value: 0)
        func block() { end.wait() }
        await withTaskCancellationHandler {
            block()
        } onCancel: {
            end.signal()
        }
    }

    func call(_ name: String, _ request: ServiceRequest) async throws(ServiceFailure) -> JSONValue {
        switch name {
        case "card.poll":
            wait.yield("began")
            // Ends when the task is cancelled.
            for await _ in AsyncStream<Void>.makeStream().stream {}
            wait.yield("cancelled")
            throw .cancelled
        case "card.read":
            guard case .integer(let status)? = request.params["fail"] else { return .object(request.params) }
            if status == 1 { throw .badParameters(JSONObject([("schema", "kazasu.error/1"), ("status", 64)])) }
            throw .failed(
                ExitStatus(rawValue: Int32(status)) ?? .bug,
                JSONObject([("schema", "kazasu.error/1"), ("status", .integer(status))]))
        case "decode":
            guard case .string(let text)? = request.params["text"] else { return .null }
            decode.yield(text)
            if text == "endless" { await Self.compute() }
            if Task.isCancelled { throw .cancelled }
            return ["decoded": .string(text)]
        case "convert":
            if let bytes = request.params["base64"] { return ["format": "proxmark", "base64": bytes] }
            guard case .string(let format)? = request.params["to"] else { return .null }
            return ["format": .string(format), "text": .string("to \(format)")]
        default: return .object(request.params)
        }
    }
}

/// Begins the sessions of WebSockets.
struct Connector {
    var connect: WebSocketSession.Connect

    init(_ connect: @escaping WebSocketSession.Connect) { self.connect = connect }
}

/// Makes the document of the methods.
struct Description {
    var make: @Sendable () -> JSONValue

    init(_ make: @escaping @Sendable () -> JSONValue) { self.make = make }
}

/// A server of the tests on a port that the system chose.
struct ServeStand {
    let methods = ScriptedMethods()
    let hub: TapHub
    let metrics = Metrics()
    let server: HTTPServer
    let port: UInt16
    private let thread = HTTPThread()

    init(
        _ limits: HTTPLimits = HTTPLimits(), outbox: Outbox? = nil, heartbeat: Duration = .seconds(3600),
        description: Description = Description { ["openapi": "3.1.0"] },
        connect: Connector = Connector { _ in WebSocketSession(receive: { _ in }, close: {}) },
        _ change: (inout ServeSite.Settings) -> Void = { _ in }
    ) async throws {
        var settings = ServeSite.Settings()
        settings.page = { .kiosk }
        change(&settings)
        hub = TapHub(outbox, on: thread, heartbeat: heartbeat)
        let site = ServeSite(
            settings, methods: methods, hub: hub, metrics: metrics, document: description.make,
            connect: connect.connect)
        server = try await HTTPServer.start([.internet(host: "127.0.0.1", port: 0)], on: thread, limits, site: site)
        guard case .internet(_, let port)? = server.addresses.first else { throw NoConnection() }
        self.port = port
    }

    func client() throws -> ServeClient { try ServeClient(port) }

    /// Sends one request and returns everything until the server closes.
    func ask(
        _ method: String, _ path: String, _ headers: [String] = [], body: String = "", host: String? = nil
    ) async throws -> (status: Int, head: String, body: String) {
        let client = try client()
        let host = ["Host: \(host ?? "127.0.0.1:\(port)")"]
        let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
        let lines = ["\(method) \(path) HTTP/1.1"] + host + length + headers + ["Connection: close", "", body]
        await client.send(lines.joined(separator: "\r\n"))
        return await client.response()
    }

    func stop() async {
        await server.stop()
        await thread.stop()
    }
}
