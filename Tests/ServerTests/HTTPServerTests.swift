// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import Server
@testable import KazasuTaps

// One at a time: each has a server of its own, and libnfc, which other suites use, cannot work with 1,024 open files.
@Suite("HTTP server", .serialized)
struct HTTPServerTests {
    private static func limits(_ change: (inout HTTPLimits) -> Void) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.lingering = .milliseconds(200)
        change(&limits)
        return limits
    }

    /// Sends a text and returns everything until the server closes.
    private static func exchange(_ stand: ServeStand, _ text: String) async throws -> String {
        let client = try stand.client()
        await client.send(text.replacing("HOST", with: "Host: 127.0.0.1"))
        return await client.rest()
    }

    // MARK: Malformed requests

    private static func post(_ headers: String, _ body: String) -> String {
        "POST /v1/apdu HTTP/1.1\r\nHOST\r\n\(headers)\r\n\r\n\(body)"
    }

    /// A request that hides another one, or may be understood in two ways. Nothing after it is answered.
    private static let smuggled: [(String, String)] = [
        ("a length and chunks", post("Content-Length: 4\r\nTransfer-Encoding: chunked", "0\r\n\r\n")),
        ("chunks and a length", post("Transfer-Encoding: chunked\r\nContent-Length: 4", "0\r\n\r\n")),
        ("two lengths", post("Content-Length: 4\r\nContent-Length: 5", "{  }")),
        ("the same length twice", post("Content-Length: 4\r\nContent-Length: 4", "{  }")),
        ("a list of lengths", post("Content-Length: 4, 4", "{  }")),
        ("a length with a sign", post("Content-Length: +4", "{  }")),
        ("a negative length", post("Content-Length: -4", "{  }")),
        ("a length in hexadecimal", post("Content-Length: 0x4", "{  }")),
        ("a length beyond 64 bits", post("Content-Length: 99999999999999999999", "{  }")),
        ("a space before the colon", post("Transfer-Encoding : chunked", "0\r\n\r\n")),
        ("a folded header", post("Transfer-Encoding:\r\n chunked", "0\r\n\r\n")),
        ("another folded header", post("X: a\r\n b\r\nContent-Length: 2", "{}")),
        ("chunks not last", post("Transfer-Encoding: chunked, identity", "0\r\n\r\n")),
        ("an unknown coding", post("Transfer-Encoding: xchunked", "0\r\n\r\n")),
        ("chunks twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n")),
        ("chunks in HTTP/1.0", "POST /v1/apdu HTTP/1.0\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("a chunk size that is none", post("Transfer-Encoding: chunked", "xyz\r\n\r\n")),
        ("a chunk size beyond 64 bits", post("Transfer-Encoding: chunked", "FFFFFFFFFFFFFFFFF\r\n\r\n")),
        ("a chunk that is too long", post("Transfer-Encoding: chunked", "2\r\n{}x\r\n0\r\n\r\n")),
        ("a lone line feed", "POST /v1/apdu HTTP/1.1\nHOST\nContent-Length: 2\n\n{}"),
        ("a lone carriage return", post("X: a\rContent-Length: 2", "{}")),
        ("a zero", post("X: a\0b\r\nContent-Length: 2", "{}")),
        ("no host", "POST /v1/apdu HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"),
        ("two hosts", post("Host: localhost\r\nContent-Length: 2", "{}")),
        ("no version", "GET /healthz\r\n\r\n"),
        ("an unknown version", "GET /healthz HTTP/3.7\r\nHOST\r\n\r\n"),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("TLS", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{FC}\u{3}\u{3}"),
        ("a method that is none", "{} /healthz HTTP/1.1\r\nHOST\r\n\r\n"),
        ("a target with a space", "GET /health z HTTP/1.1\r\nHOST\r\n\r\n"),
    ]

    @Test("Refuses ambiguous requests and reads nothing after them", arguments: smuggled)
    func smuggling(_ what: String, _ text: String) async throws {
        let stand = try await ServeStand(Self.limits { $0.arrival = .seconds(2) }) { $0.allowed = [.raw] }
        let answer = try await Self.exchange(stand, text + "GET /metrics HTTP/1.1\r\nHOST\r\n\r\n")
        let status = try #require(answer.firstMatch(of: #/^HTTP/1\.[01] ([0-9]+) /#), "\(what): \(answer)")
        #expect(["400", "501", "505"].contains(status.1), "\(what): \(answer)")
        #expect(!answer.contains("kazasu_taps_total"), "\(what)")
        #expect(answer.contains("\"schema\":\"kazasu.error/1\""), "\(what): \(answer)")
        await stand.stop()
    }

    // MARK: Limits

    private static let large: [(String, String, String)] = [
        ("header", "GET /healthz HTTP/1.1\r\nHOST\r\nX: \(String(repeating: "a", count: 17_000))\r\n\r\n", "431"),
        ("target", "GET /\(String(repeating: "a", count: 17_000)) HTTP/1.1\r\nHOST\r\n\r\n", "431"),
        (
            "many headers",
            "GET /healthz HTTP/1.1\r\nHOST\r\n" + String(repeating: "X: aaaaaaaaaa\r\n", count: 2000) + "\r\n", "431"
        ),
        ("length", "POST /v1/apdu HTTP/1.1\r\nHOST\r\nContent-Length: 1025\r\n\r\n", "413"),
        (
            "chunks",
            "POST /v1/apdu HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(repeating: "100\r\n\(String(repeating: "a", count: 256))\r\n", count: 5), "413"
        ),
    ]

    @Test("Refuses what is too large", arguments: large)
    func tooLarge(_ what: String, _ text: String, _ status: String) async throws {
        let stand = try await ServeStand(Self.limits { $0.body = 1024 }) { $0.allowed = [.raw] }
        let answer = try await Self.exchange(stand, text)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(what): \(answer)")
        #expect(answer.contains("\"reason\":\"tooLarge\""), "\(what)")
        await stand.stop()
    }

    @Test("A body of just the limit is taken, in one piece and in chunks")
    func largestBody() async throws {
        let stand = try await ServeStand(Self.limits { $0.body = 1024 }) { $0.allowed = [.raw] }
        let body = "{\"a\":\"" + String(repeating: "b", count: 1016) + "\"}"
        let whole = try await stand.ask("POST", "/v1/apdu", body: body)
        #expect(whole.status == 200 && whole.body == body + "\n")
        let half = body.utf8.count / 2
        let chunks = "200\r\n\(body.prefix(half))\r\n200\r\n\(body.dropFirst(half))\r\n0\r\n\r\n"
        let client = try stand.client()
        await client.send("POST /v1/apdu HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        #expect(await client.response().body == body + "\n")
        await stand.stop()
    }

    private static let slow = [
        "GET /heal", "GET /healthz HTTP/1.1\r\nX: a\r\n",
        "POST /v1/apdu HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
        "POST /v1/apdu HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
    ]

    @Test("A request that never arrives wholly is answered 408", arguments: slow)
    func tooSlow(_ text: String) async throws {
        let stand = try await ServeStand(Self.limits { $0.arrival = .milliseconds(50) }) { $0.allowed = [.raw] }
        let answer = try await Self.exchange(stand, text)
        #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
        await stand.stop()
    }

    @Test("A client that sends a byte now and then gains no time")
    func slowloris() async throws {
        let stand = try await ServeStand(Self.limits { $0.arrival = .milliseconds(100) })
        let client = try stand.client()
        await client.send("GET /healthz HTTP/1.1\r\nX: ")
        let dripping = Task {
            while !Task.isCancelled {
                await client.send("a")
            }
        }
        let answer = await client.rest()
        dripping.cancel()
        #expect(answer.hasPrefix("HTTP/1.1 408 "))
        await stand.stop()
    }

    /// Lets every request send its body.
    private struct OpenSite: HTTPSite {
        func admit(_ head: HTTPHead) -> HTTPAdmission { .accepted { _ in .response(HTTPResponse(text: "")) } }
        func response(to fault: ServeError) -> HTTPResponse { fault.response(in: .english) }
    }

    @Test("A body gains no time for the head before it")
    func slowBody() throws {
        let channel = EmbeddedChannel()
        let connection = HTTPConnection(
            OpenSite(), Self.limits { $0.arrival = .seconds(15) }, BodyRoom(1 << 20), from: HTTPPeer(isUnixSocket: true)
        )
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(HTTPArrivalMonitor { connection.bytesArrived() })
        try pipeline.addHandler(HTTPResponseEncoder())
        try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
        try pipeline.addHandler(connection)
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/a")).wait()
        try channel.writeInbound(ByteBuffer(string: "POST / HTTP/1.1\r\n"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(14))
        try channel.writeInbound(ByteBuffer(string: "Content-Length: 2\r\n\r\n{"))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        let answer = try channel.readOutbound(as: ByteBuffer.self)
        #expect(answer.map { String(buffer: $0).hasPrefix("HTTP/1.1 408 ") } == true)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("A connection without any request is closed without an answer, as is one that is idle after one")
    func idle() async throws {
        let stand = try await ServeStand(
            Self.limits {
                $0.arrival = .milliseconds(50)
                $0.idle = .milliseconds(50)
            })
        #expect(try await stand.client().rest() == "")
        let client = try stand.client()
        await client.send("GET /kazasu.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(await client.response().status == 200)
        #expect(await client.rest() == "")
        await stand.stop()
    }

    @Test("More connections than allowed are refused, and there is room again when one is closed")
    func tooMany() async throws {
        let stand = try await ServeStand(Self.limits { $0.connections = 2 })
        let clients = [try stand.client(), try stand.client()]
        for client in clients {
            await client.send("GET /kazasu.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await client.response().status == 200)
        }
        let refused = try await stand.client().rest()
        #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("\"reason\":\"busy\""))
        clients[0].finish()
        #expect(await clients[0].rest() == "")
        // The refused one may still be closing.
        while true {
            let next = try stand.client()
            await next.send("GET /kazasu.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
            if await next.response().status == 200 { break }
        }
        await stand.stop()
    }

    @Test("A client that does not read its answer is given up")
    func neverReads() async throws {
        let limits = Self.limits { ($0.sending, $0.connections) = (.milliseconds(100), 1) }
        let stand = try await ServeStand(limits) { $0.allowed = [.raw] }
        let client = try stand.client()
        // More than sockets hold.
        let body = "{\"a\":\"" + String(repeating: "b", count: 8_000_000) + "\"}"
        let head = "POST /v1/apdu HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        await client.send(head + body)
        while try await stand.ask("GET", "/kazasu.js").status != 200 {}
        #expect(await client.rest().utf8.count < body.utf8.count)
        await stand.stop()
    }

    // MARK: What is allowed

    @Test("Requests that are sent at once are answered in order")
    func pipelined() async throws {
        let stand = try await ServeStand()
        let client = try stand.client()
        let requests = (1...50).map { "GET /v1/balance?limit=\($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }
        await client.send(requests.joined())
        for number in 1...50 { #expect(await client.response().body == "{\"limit\":\(number)}\n") }
        await stand.stop()
    }

    @Test(
        "The time as headers have it",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (1_795_145_696, "Fri, 20 Nov 2026 03:34:56 GMT"), (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"),
        ])
    func date(_ second: Int, _ text: String) {
        #expect(HTTPDate.text(second) == text)
    }

    @Test("Every response has one date", arguments: ["/healthz", "/nothing", "/", "/v1/taps?x=1", "/v1/taps"])
    func dates(path: String) async throws {
        let stand = try await ServeStand()
        let client = try stand.client()
        await client.send("HEAD \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        let head = await client.rest()
        let dates = head.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("date: ") }
        #expect(dates.count == 1, "\(head)")
        let shape = /Date: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} ([0-9]{2}:){2}[0-9]{2} GMT/
        #expect(dates.first?.wholeMatch(of: shape) != nil)
        await stand.stop()
    }

    @Test("HEAD is answered as GET without the body")
    func head() async throws {
        let stand = try await ServeStand()
        let client = try stand.client()
        for method in ["HEAD", "GET"] {
            await client.send("\(method) /kazasu.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let head = await client.text(to: "\r\n\r\n")
            #expect(head.contains("200 OK") && head.contains("Content-Length: "))
        }
        await stand.stop()
    }

    @Test("HTTP/1.0 needs no host and closes, unless the client asks to keep it open")
    func oldVersion() async throws {
        let stand = try await ServeStand()
        let closed = try await Self.exchange(stand, "GET /kazasu.js HTTP/1.0\r\n\r\n")
        #expect(closed.hasPrefix("HTTP/1.0 200 ") && closed.contains("Connection: close"))
        let client = try stand.client()
        for _ in 0..<2 {
            await client.send("GET /kazasu.js HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let response = await client.response()
            #expect(response.status == 200 && response.head.contains("Connection: keep-alive"))
        }
        await stand.stop()
    }

    @Test("A client that waits for permission to send its body gets it, or the refusal")
    func expectations() async throws {
        let stand = try await ServeStand { $0.allowed = [.raw] }
        let head = "POST /v1/apdu HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: "
        let client = try stand.client()
        await client.send(head + "100-continue\r\n\r\n")
        #expect(await client.text(to: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        await client.send("{}")
        #expect(await client.response().status == 200)
        #expect(try await Self.exchange(stand, head + "the-moon\r\n\r\n").hasPrefix("HTTP/1.1 417 "))
        let refused = head.replacing("apdu", with: "ledger/records") + "100-continue\r\n\r\n"
        #expect(try await Self.exchange(stand, refused).hasPrefix("HTTP/1.1 405 "))
        await stand.stop()
    }

    @Test("A client that half-closes after its request gets its answer")
    func halfClosed() async throws {
        let stand = try await ServeStand()
        let client = try stand.client()
        await client.send("GET /v1/balance?limit=7 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.finish()
        #expect(await client.rest().hasSuffix("{\"limit\":7}\n"))
        await stand.stop()
    }

    @Test("A stream ends for a client that half-closes, at once or later", arguments: [true, false])
    func halfClosedStream(atOnce: Bool) async throws {
        let stand = try await ServeStand()
        let client = try stand.client()
        await client.send("GET /v1/taps HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if atOnce { client.finish() }
        #expect(await client.text(to: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        if !atOnce {
            _ = await client.text(to: "retry: 1000")
            client.finish()
        }
        #expect(await client.whole() != nil)
        await stand.stop()
    }

    // MARK: What follows an error

    /// Requests with their statuses.
    private static let routine: [(String, Int)] = [
        ("GET /nothing", 404), ("HEAD /nothing", 404), ("DELETE /v1/balance", 405), ("GET /v1/balance?x=1", 400),
        ("GET /v1/read?fail=75", 504), ("GET /v1/read?fail=76", 409), ("GET /v1/read?fail=77", 403),
        ("GET /v1/ledger/records", 403), ("OPTIONS /v1/balance", 204), ("POST /v1/apdu", 403),
        ("POST /v1/nothing", 404),
    ]

    @Test("A routine answer keeps the connection for the next request", arguments: routine)
    func keepsConnection(_ request: String, _ status: Int) async throws {
        let stand = try await ServeStand()
        let client = try stand.client()
        // A body that nobody wants is read all the same.
        let body = request.hasPrefix("POST") ? "{\"commands\":[]}" : ""
        let head = "\(request) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        await client.send(head + body)
        let answer = await client.text(to: "\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && !answer.contains("Connection: close"), "\(answer)")
        let length = answer.firstMatch(of: /Content-Length: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
        if !request.hasPrefix("HEAD") { _ = await client.bytes(length) }
        await client.send("GET /v1/balance?limit=7 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(await client.response().body == "{\"limit\":7}\n")
        await stand.stop()
    }

    @Test("A request without the token keeps the connection for the one with it")
    func keepsConnectionWithoutToken() async throws {
        let stand = try await ServeStand { $0.access = ServeAccess(token: Array("secret".utf8)) }
        let client = try stand.client()
        await client.send("GET /v1/balance HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(await client.response().status == 401)
        await client.send("GET /v1/balance HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n")
        #expect(await client.response().status == 200)
        await stand.stop()
    }

    private static let unwanted: [(String, String, Int)] = [
        ("another host", "GET /kazasu.js HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        ("a long body", "POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", 404),
        ("chunks", "POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", 404),
    ]

    @Test("A request for another server, or with a body of any length, closes the connection", arguments: unwanted)
    func closesConnection(_ what: String, _ text: String, _ status: Int) async throws {
        let stand = try await ServeStand(Self.limits { _ in })
        let client = try stand.client()
        await client.send(text)
        let answer = try #require(await client.whole(), "\(what)")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains("Connection: close"), "\(what): \(answer)")
        await stand.stop()
    }

    @Test("A client that goes away cancels its request, whether or not it sent more", arguments: ["", "GET /"])
    func goesAway(_ more: String) async throws {
        let stand = try await ServeStand()
        var client: ServeClient? = try stand.client()
        await client?.send("GET /v1/poll HTTP/1.1\r\nHost: localhost\r\n\r\n")
        var waits = stand.methods.waits.makeAsyncIterator()
        #expect(await waits.next() == "began")
        await client?.send(more)
        client?.reset()
        client = nil
        #expect(await waits.next() == "cancelled")
        await stand.stop()
    }

    @Test("Ends work for a client that went away, starts none that waited for one, and delays nothing else")
    func abandonedWork() async throws {
        let stand = try await ServeStand { $0.work = WorkExecutor(threads: 1) }
        func decode(_ text: String) async throws -> ServeClient {
            let client = try stand.client()
            let body = "{\"text\":\"\(text)\"}"
            let head = "POST /v1/decode HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            await client.send("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return client
        }
        var decodes = stand.methods.decodes.makeAsyncIterator()
        let running = try await decode("endless")
        #expect(await decodes.next() == "endless")
        let queued = try await decode("queued")
        let last = try await decode("last")
        // Connections have one thread: with this answer, it has taken the requests before, then the end of one of them.
        #expect(try await stand.ask("GET", "/healthz").status == 503)
        queued.reset()
        #expect(try await stand.ask("GET", "/healthz").status == 503)
        running.reset()
        #expect(await decodes.next() == "last")
        let answer = await last.response()
        #expect(answer.status == 200 && answer.body.contains("\"last\""), "\(answer)")
        await stand.stop()
    }

    @Test("A server that stops cancels what runs")
    func stops() async throws {
        let stand = try await ServeStand()
        let client = try stand.client()
        await client.send("GET /v1/poll HTTP/1.1\r\nHost: localhost\r\n\r\n")
        var waits = stand.methods.waits.makeAsyncIterator()
        #expect(await waits.next() == "began")
        await stand.stop()
        #expect(await waits.next() == "cancelled")
        #expect(await client.rest() == "")
    }

    // MARK: Addresses

    @Test(
        "Addresses are IP addresses with a port, or paths of sockets",
        arguments: [
            ("127.0.0.1:7878", "http://127.0.0.1:7878", true), ("[::1]:80", "http://[::1]:80", true),
            ("localhost:1", "http://127.0.0.1:1", true), ("0.0.0.0:7878", "http://0.0.0.0:7878", false),
            ("[::]:7878", "http://[::]:7878", false), ("192.168.1.2:80", "http://192.168.1.2:80", false),
            ("unix:/run/a", "unix:/run/a", true), ("127.0.0.1", nil, false), ("127.0.0.1:70000", nil, false),
            ("::1:80", nil, false), ("[127.0.0.1]:80", nil, false), ("example.com:80", nil, false),
            ("unix:", nil, false), (":80", nil, false), ("127.0.0.1:+1", nil, false), ("127.0.0.1:", nil, false),
            ("unix:/" + String(repeating: "a", count: 107), nil, false), ("127.evil.example:80", nil, false),
        ] as [(String, String?, Bool)])
    func addresses(_ text: String, _ described: String?, _ isLocal: Bool) {
        let address = ListenAddress(text)
        #expect(address?.description == described)
        #expect((address?.isLocal ?? false) == isLocal)
    }

    @Test("A socket is its owner's alone, replaces a dead server's, and is removed at the end")
    func unixSocket() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/serve.sock"
        let thread = HTTPThread()
        let site = MetricsSite(Metrics(), nil, language: .english)
        func start() async throws(ListenError) -> HTTPServer {
            try await HTTPServer.start([.unix(path: path)], on: thread, site: site)
        }
        // What a server leaves that was killed.
        let dead = try UnixListener(path)
        #expect(throws: ListenError.self) { try UnixListener(path) }
        Glibc.close(dead.descriptor)
        dead.abandon()
        var status = stat()
        #expect(lstat(path, &status) == 0)
        let server = try await start()
        #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600 && status.st_mode & S_IFMT == S_IFSOCK)
        let busy = await #expect(throws: ListenError.self) { try await start() }
        #expect(busy?.reason == .busy)
        await server.stop()
        #expect(lstat(path, &status) != 0)
        // A file that is none is left as it is.
        _ = try folder.write([1, 2, 3], as: "serve.sock")
        let foreign = await #expect(throws: ListenError.self) { try await start() }
        #expect(foreign?.reason == .notASocket)
        #expect(lstat(path, &status) == 0 && status.st_size == 3)
        await thread.stop()
    }

    @Test("While a server waits for the lock of another, a third one does not get a lock of its own")
    func unixLock() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/serve.sock"
        let first = try UnixListener(path)
        // The second server has the file open when the first one ends, and locks it then.
        let second = open(path + ".lock", O_RDWR)
        defer { close(second) }
        close(first.descriptor)
        first.remove()
        try #require(flock(second, LOCK_EX | LOCK_NB) == 0)
        #expect(throws: ListenError.self) {
            let third = try UnixListener(path)
            close(third.descriptor)
            third.remove()
        }
    }

    @Test("A port that is taken is an error, and the other addresses are free again")
    func portTaken() async throws {
        let stand = try await ServeStand()
        let thread = HTTPThread()
        let free = try LoopbackPort.free()
        let addresses: [ListenAddress] = [
            .internet(host: "127.0.0.1", port: free), .internet(host: "127.0.0.1", port: stand.port),
        ]
        let site = MetricsSite(Metrics(), nil, language: .english)
        let error = await #expect(throws: ListenError.self) {
            try await HTTPServer.start(addresses, on: thread, site: site)
        }
        #expect(error?.reason == .busy && error?.address == addresses[1])
        #expect(!LoopbackPort.accepts(free))
        await thread.stop()
        await stand.stop()
    }
}
