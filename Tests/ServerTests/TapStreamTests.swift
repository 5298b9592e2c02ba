// SPDX-License-Identifier: Apache-2.0

import CardModel
import TapSupport
import TestSupport
import Testing

@testable import Server
@testable import KazasuTaps

// One at a time: each has a server of its own, and libnfc, which other suites use, cannot work with 1,024 open files.
@Suite("Serve: streams of taps", .serialized)
struct TapStreamTests {
    /// A watcher's end of the outbox and the hub.
    private struct Site {
        let outbox: Outbox
        let stand: ServeStand
        private let folder: TemporaryFolder

        init(_ limits: HTTPLimits = HTTPLimits(), heartbeat: Duration = .seconds(3600), stored: Int = 0) async throws {
            folder = try TemporaryFolder()
            outbox = try Outbox(folder.path + "/outbox.sqlite", isWatcher: true)
            if stored > 0 { try await outbox.store((1...stored).map { .made($0) }, for: []) }
            stand = try await ServeStand(limits, outbox: outbox, heartbeat: heartbeat)
            await stand.hub.resume()
        }

        func happens(_ event: StoredEvent) async throws {
            try await outbox.store([event], for: [])
            stand.hub.publish(event)
        }

        func client(after id: String? = nil) async throws -> ServeClient {
            let client = try stand.client()
            let resume = id.map { "Last-Event-ID: \($0)\r\n" } ?? ""
            await client.send("GET /v1/taps HTTP/1.1\r\nHost: localhost\r\n\(resume)\r\n")
            let head = await client.text(to: "\r\n\r\n")
            #expect(head.contains("200 OK") && head.contains("Content-Type: text/event-stream"))
            #expect(await client.message() == "retry: 1000")
            return client
        }

        func stop() async {
            await stand.stop()
            await outbox.close()
        }
    }

    private static func id(_ number: Int) -> String { TapEvent.made(number).id }

    @Test("A stream begins with the state of each reader, and goes on with events by their ids and types")
    func states() async throws {
        let site = try await Site()
        try await site.happens(.made(1, reader: "back", type: "reader", state: .error, epoch: 1))
        try await site.happens(.made(1, type: "reader", state: .ready, epoch: 2))
        let on = StoredEvent.made(2, epoch: 3)
        try await site.happens(on)
        let client = try await site.client()
        #expect(
            await client.message()
                == "id: \(on.id)\nevent: state\ndata: {\"reader\":\"back\",\"state\":\"error\",\"on\":null}")
        #expect(
            await client.message()
                == "id: \(on.id)\nevent: state\ndata: {\"reader\":\"door\",\"state\":\"ready\",\"on\":\(on.line)}")
        let off = StoredEvent.made(3, type: "off", epoch: 4)
        try await site.happens(off)
        #expect(await client.message() == "id: \(off.id)\nevent: off\ndata: \(off.line)")
        let gone = StoredEvent.made(4, type: "reader", state: .gone, epoch: 5)
        try await site.happens(gone)
        #expect(await client.message() == "id: \(gone.id)\nevent: reader\ndata: \(gone.line)")
        let later = try await site.client()
        _ = await later.message()
        #expect(await later.message().hasSuffix("{\"reader\":\"door\",\"state\":\"gone\",\"on\":null}"))
        await site.stop()
    }

    @Test("A stream sends the text that was stored, when it happens and to a client that resumes")
    func text() async throws {
        let site = try await Site(stored: 1)
        let event = try StoredEvent(parsing: TapEvent.made(2).line.dropLast() + #","later":{"a":1}}"#)
        let (client, message) = (try await site.client(), "id: \(event.id)\nevent: on\ndata: \(event.line)")
        try await site.happens(event)
        #expect(await client.message() == message)
        #expect(await (try site.client(after: Self.id(1))).message() == message)
        await site.stop()
    }

    @Test("Cards that are kept from the sinks are not sent, as they are not stored")
    func hidden() async throws {
        let site = try await Site()
        let client = try await site.client()
        site.stand.hub.publish(.made(0))
        try await site.happens(.made(1))
        #expect(await client.message().contains(Self.id(1)))
        await site.stop()
    }

    @Test("A client resumes after any event without a gap, while more happen", arguments: [1, 255, 256, 257, 700, 999])
    func resumes(_ last: Int) async throws {
        let site = try await Site(stored: 1000)
        let happening = Task { for number in 1001...1200 { try await site.happens(.made(number)) } }
        let client = try await site.client(after: Self.id(last))
        for number in last + 1...1200 {
            let message = await client.message()
            try #require(message.hasPrefix("id: \(Self.id(number))\n"), "\(number): \(message)")
        }
        try await happening.value
        try await site.happens(.made(1201))
        #expect(await client.message().hasPrefix("id: \(Self.id(1201))\n"))
        await site.stop()
    }

    @Test("A client that has the last event gets the next one, also after a restart")
    func resumesAtTheEnd() async throws {
        let site = try await Site(stored: 3)
        let client = try await site.client(after: Self.id(3))
        try await site.happens(.made(4))
        #expect(await client.message().hasPrefix("id: \(Self.id(4))\n"))
        // One that begins learns the last event's id with the state, if there is one.
        await site.stop()
    }

    @Test(
        "An event that is unknown or no longer kept gives a gap, then all that is stored",
        arguments: ["nothing", "\"{}\"", "駅"])
    func gap(_ id: String) async throws {
        let site = try await Site(stored: 300)
        let client = try await site.client(after: id)
        let gap = JSONValue.object(JSONObject([("after", .string(id))])).compactText
        #expect(await client.message() == "event: gap\ndata: \(gap)")
        for number in 1...300 {
            let message = await client.message()
            try #require(message.hasPrefix("id: \(Self.id(number))\n"))
        }
        try await site.happens(.made(301))
        #expect(await client.message().hasPrefix("id: \(Self.id(301))\n"))
        await site.stop()
    }

    @Test("With nothing stored, an id gives a gap, and what happens next")
    func gapOfNothing() async throws {
        let site = try await Site()
        let client = try await site.client(after: "x")
        #expect(await client.message() == "event: gap\ndata: {\"after\":\"x\"}")
        try await site.happens(.made(1))
        #expect(await client.message().hasPrefix("id: \(Self.id(1))\n"))
        await site.stop()
    }

    @Test("A client that does not read is told where to resume, and is closed; others go on")
    func overflow() async throws {
        // A client that takes nothing for so long is closed without a word, which is not what is tested here.
        var limits = HTTPLimits()
        limits.sending = .seconds(3600)
        let site = try await Site(limits)
        let slow = try await site.client()
        let quick = try await site.client()
        // More than its socket and its queue hold.
        let wide = String(repeating: "x", count: 16_000)
        for number in 1...4000 {
            site.stand.hub.publish(.made(number, site: wide))
            let message = await quick.message()
            try #require(message.hasPrefix("id: \(Self.id(number))\n"))
        }
        var seen = 0
        var message = await slow.message()
        while message.contains("event: on") {
            seen += 1
            try #require(message.hasPrefix("id: \(Self.id(seen))\n"))
            message = await slow.message()
        }
        #expect(message == "event: overflow\ndata: {\"after\":\"\(Self.id(seen))\"}")
        #expect(seen < 4000)
        #expect(await slow.rest().hasSuffix("0\r\n\r\n"))
        await site.stop()
    }

    @Test("Many small events may wait for a client that is slow")
    func slowClient() async throws {
        let site = try await Site()
        let (slow, quick) = (try await site.client(), try await site.client())
        // More than its socket holds, and less than may wait.
        let wide = String(repeating: "x", count: 4000)
        for number in 1...5000 {
            site.stand.hub.publish(.made(number, site: wide))
            try #require(await quick.message().hasPrefix("id: \(Self.id(number))\n"))
        }
        for number in 1...5000 { try #require(await slow.message().hasPrefix("id: \(Self.id(number))\nevent: on")) }
        await site.stop()
    }

    @Test("A comment keeps the stream alive")
    func heartbeat() async throws {
        let site = try await Site(heartbeat: .milliseconds(10))
        let client = try await site.client()
        for _ in 0..<3 { #expect(await client.message() == ":") }
        await site.stop()
    }

    @Test("HEAD has no stream, and a stream of HTTP/1.0 no chunks")
    func versions() async throws {
        let site = try await Site()
        let head = try site.stand.client()
        await head.send("HEAD /v1/taps HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(await head.rest().hasSuffix("\r\n\r\n"))
        let old = try site.stand.client()
        await old.send("GET /v1/taps HTTP/1.0\r\n\r\n")
        #expect(await !old.text(to: "\r\n\r\n").lowercased().contains("chunked"))
        #expect(await old.text(to: "\n\n") == "retry: 1000\n\n")
        await site.stop()
    }

    // MARK: Stored events

    @Test("Stored events come in pages, oldest first")
    func pages() async throws {
        let site = try await Site(stored: 250)
        func page(_ query: String, _ headers: [String] = []) async throws -> (status: Int, body: JSONValue) {
            let answer = try await site.stand.ask("GET", "/v1/events\(query)", headers)
            return (answer.status, try JSONValue(parsing: Array(answer.body.utf8)))
        }
        func numbers(_ body: JSONValue) -> [Int] {
            guard case .object(let members) = body, case .array(let events)? = members["events"] else { return [] }
            return events.compactMap {
                if case .object(let event) = $0, case .integer(let number)? = event["seq"] { Int(number) } else { nil }
            }
        }
        let first = try await page("")
        #expect(numbers(first.body) == Array(1...100))
        guard case .object(let members) = first.body else { return }
        #expect(members["schema"] == "kazasu.events/1" && members["next"] == .string(Self.id(100)))
        let last = try await page("?after=\(Self.id(200))&limit=50")
        #expect(numbers(last.body) == Array(201...250))
        if case .object(let members) = last.body { #expect(members["next"] == .null) }
        if case .object(let members) = try await page("?after=\(Self.id(250))").body {
            #expect(members["events"] == [] && members["next"] == .null)
        }
        for query in ["?limit=0", "?limit=1001", "?limit=x", "?limit=-1", "?before=1"] {
            #expect(try await page(query).status == 400, "\(query)")
        }
        #expect(try await page("?after=unknown").status == 404)
        #expect(try await page("?after=").status == 404)
        let lines = try await site.stand.ask("GET", "/v1/events?limit=2", ["Accept: application/x-ndjson"])
        #expect(lines.body == TapEvent.made(1).line + "\n" + TapEvent.made(2).line + "\n")
        #expect(lines.head.contains("Content-Type: application/x-ndjson"))
        #expect(lines.head.contains("Kazasu-Next: \(Self.id(2))"))
        await site.stop()
    }
}

extension ServeClient {
    /// The next message of a stream of server-sent events, without the lines of chunks.
    fileprivate func message() async -> String {
        let text = await text(to: "\n\n")
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: true)
        return lines.filter { $0.wholeMatch(of: /[0-9a-f]+/) == nil }.joined().trimmed
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last == "\n" { text.removeLast() }
        return String(text)
    }
}
