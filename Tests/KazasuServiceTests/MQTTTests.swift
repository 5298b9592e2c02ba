// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CardModel
import Glibc
import TestSupport
import Testing

@testable import KazasuService

@Suite("MQTT names and addresses")
struct MQTTNameTests {
    static let names: [(text: String, name: String)] = [
        ("door", "door"), ("rcs380:serial=0123456", "rcs380-serial-0123456"), ("a b/c+d#", "a-b-c-d-"), ("", "-"),
        ("入口", "--"), ("A_z-9", "A_z-9"), ("é", "-"),
    ]

    @Test("Names in topics", arguments: names)
    func name(_ row: (text: String, name: String)) {
        #expect(MQTTTopics.name(row.text) == row.name)
    }

    @Test("Reserved names are no readers", arguments: ["status", "health", "ack"])
    func reserved(name: String) {
        #expect(MQTTTopics.reader(name) == name + "-")
        let topics = MQTTTopics(prefix: "kazasu", site: "tokyo")
        #expect(![topics.status, topics.health, topics.ack].contains("kazasu/tokyo/\(MQTTTopics.reader(name))"))
    }

    static let addresses: [(text: String, host: String, port: UInt16, user: String?, isSecure: Bool)] = [
        ("mqtt://pi", "pi", 1883, nil, false), ("mqtts://pi", "pi", 8883, nil, true),
        ("mqtt://tokyo@broker.example:2883/", "broker.example", 2883, "tokyo", false),
        ("mqtts://[::1]:8884", "::1", 8884, nil, true), ("mqtt://[::1]", "::1", 1883, nil, false),
    ]

    @Test("Addresses", arguments: addresses)
    func address(_ row: (text: String, host: String, port: UInt16, user: String?, isSecure: Bool)) throws {
        let broker = try MQTTBroker(address: row.text)
        #expect(broker.host == row.host)
        #expect(broker.port == row.port)
        #expect(broker.user == row.user)
        #expect((broker.tls != nil) == row.isSecure)
    }

    static let wrong: [(text: String, error: MQTTBroker.AddressError)] = [
        ("http://pi", .scheme), ("pi", .scheme), ("mqtt://", .host), ("mqtt://:1883", .host), ("mqtt://pi:x", .port),
        ("mqtt://pi:0", .port), ("mqtt://pi:70000", .port), ("mqtt://me:secret@pi", .password),
        ("mqtt://pi/topic", .path), ("mqtt://[::1]x", .port),
    ]

    @Test("Wrong addresses", arguments: wrong)
    func wrongAddress(_ row: (text: String, error: MQTTBroker.AddressError)) {
        #expect(throws: row.error) { try MQTTBroker(address: row.text) }
    }

    @Test(
        "Prefixes",
        arguments: [
            ("kazasu", true), ("a/b", true), ("a//b", false), ("#", false), ("a+b", false), ("$SYS", false),
            ("", false), ("a\u{0}", false), ("/a", false),
        ])
    func prefix(text: String, isValid: Bool) {
        #expect(MQTTTopics.isPrefix(text) == isValid)
    }

    static let acknowledgements: [(text: String, upTo: Int?)] = [
        (#"{"reader":"door","upTo":7}"#, 7), (#"{"upTo":0,"reader":"door","more":1}"#, 0),
        (#"{"reader":"door","upTo":-1}"#, nil), (#"{"reader":"door","upTo":1.5}"#, nil), (#"{"reader":"door"}"#, nil),
        (#"{"reader":7,"upTo":7}"#, nil), ("[]", nil), ("", nil), ("\u{1}", nil),
        (#"{"upTo":99999999999999999999}"#, nil),
    ]

    @Test("Acknowledgements", arguments: acknowledgements)
    func acknowledgement(_ row: (text: String, upTo: Int?)) {
        #expect((try? Acknowledgement(parsing: Array(row.text.utf8)))?.upTo == row.upTo)
    }

    @Test("An acknowledgement comes back as it was sent", arguments: [nil, 9])
    func acknowledgement(before: Int?) throws {
        let one = Acknowledgement(reader: "door", upTo: 7, before: before)
        #expect(try Acknowledgement(parsing: Array(one.json.compactText.utf8)) == one)
    }
}

@Suite("MQTT sink with mosquitto", .enabled(if: MosquittoServer.isInstalled, "mosquitto is not installed"))
struct MQTTSinkTests {
    static func settings(_ server: MosquittoServer, _ version: MQTTBroker.Version = .v5) -> MQTTSink.Settings {
        var broker = server.broker
        broker.version = version
        var settings = MQTTSink.Settings(broker: broker, site: "tokyo")
        settings.patience = .seconds(30)
        settings.adjust = { $0.firstPause = .milliseconds(20) }
        return settings
    }

    @Test("Events, states, status and farewell", arguments: MQTTBroker.Version.allCases)
    func topics(version: MQTTBroker.Version) async throws {
        let server = try MosquittoServer()
        let subscriber = await Subscriber(server.broker, ["kazasu/#"])
        let sink = MQTTSink(Self.settings(server, version))
        let events = [
            OutboxEvent.made(1, type: "reader", tag: nil, state: "ready"), .made(2), .made(3, type: "off"),
        ]
        #expect(await sink.deliver(events) == [.delivered, .delivered, .delivered])
        #expect(sink.counters.published == 3)
        await sink.close()
        let got = await subscriber.wait(for: 6) { !$0.topic.hasSuffix("/health") }
        #expect(
            got.map(\.topic)
                == ["status", "door/event", "door/state", "door/event", "door/event", "status"].map {
                    "kazasu/tokyo/" + $0
                })
        #expect(got.first?.text == "online")
        #expect(got.last?.text == "offline")
        #expect(got.filter { $0.topic.hasSuffix("event") }.map(\.text) == events.map(\.line))
        #expect(got[2].text == #"{"state":"ready","since":"2026-11-21T20:45:00.123+09:00"}"#)
        // Who comes later gets what is retained, and no event is.
        let late = await Subscriber(server.broker, ["kazasu/#"], id: "late")
        let kept = await late.wait(for: 2) { _ in true }
        #expect(Set(kept.map(\.topic)) == ["kazasu/tokyo/status", "kazasu/tokyo/door/state"])
        #expect(kept.allSatisfy { $0.isRetained })
        await late.close()
        await subscriber.close()
    }

    @Test("The broker dies and comes back: nothing is lost, status and states are published again")
    func restart() async throws {
        let server = try MosquittoServer()
        let sink = MQTTSink(Self.settings(server))
        #expect(await sink.deliver([.made(1, type: "reader", tag: nil, state: "ready")]) == [.delivered])
        server.kill()
        // It waits for the broker, or has noticed in the middle.
        var first: [DeliveryResult] = []
        async let second = sink.deliver([.made(2)])
        try server.start()
        let subscriber = await Subscriber(server.broker, ["kazasu/#"])
        first = await second
        while first != [.delivered] { first = await sink.deliver([.made(2)]) }
        #expect(await sink.deliver([.made(3)]) == [.delivered])
        let got = await subscriber.wait(for: 1) { $0.text == OutboxEvent.made(3).line }
        #expect(got.count == 1)
        let topics = await Set(subscriber.messages.map(\.topic))
        #expect(topics.isSuperset(of: ["kazasu/tokyo/status", "kazasu/tokyo/door/state"]))
        await sink.close()
        await subscriber.close()
    }

    /// A sink whose first attempt to connect is over.
    static func sinkThatFailed(_ settings: MQTTSink.Settings) async -> MQTTSink {
        let (notices, continuation) = AsyncStream<MQTTNotice>.makeStream()
        let sink = MQTTSink(settings, tell: { continuation.yield($0) })
        for await notice in notices {
            if case .disconnected = notice { break }
        }
        return sink
    }

    @Test("No broker: a retry with its reason, and an end in time")
    func absent() async throws {
        let port = try LoopbackPort.free()
        var settings = MQTTSink.Settings(broker: MQTTBroker(host: "127.0.0.1", port: port), site: "tokyo")
        settings.patience = .milliseconds(300)
        let sink = await Self.sinkThatFailed(settings)
        let results = await sink.deliver([.made(1), .made(2)])
        #expect(results == Array(repeating: .retry("unreachable", after: .seconds(1)), count: 2))
        await sink.close()
        #expect(await sink.deliver([.made(1)]).first != .delivered)
    }

    @Test("A connection is reported when the broker has answered the subscriptions, as others publish from then on")
    func subscribed() async throws {
        let port = try LoopbackPort.free()
        let server = LoopbackPort.makeSocket()
        defer { close(server) }
        try #require(LoopbackPort.withAddress(port) { bind(server, $0, $1) } == 0)
        try #require(listen(server, 1) == 0)
        var broker = MQTTBroker(host: "127.0.0.1", port: port)
        broker.version = .v311
        var settings = MQTTConnection.Settings(broker: broker, clientID: "client")
        settings.subscriptions = ["one", "two"]
        let (events, continuation) = AsyncStream<MQTTConnection.Event>.makeStream()
        let connection = MQTTConnection(settings) { continuation.yield($0) }
        connection.start()
        let client = accept(server, nil, nil)
        defer { close(client) }
        func receive(_ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            let received = recv(client, &bytes, count, Int32(MSG_WAITALL))
            #expect(received == count)
            return bytes
        }
        func packet(_ type: UInt8) -> [UInt8] {
            let head = receive(2)
            #expect(head[0] == type)
            return receive(Int(head[1]))
        }
        func send(_ bytes: [UInt8]) { #expect(Glibc.send(client, bytes, bytes.count, 0) == bytes.count) }

        // CONNECT and CONNACK, then twice SUBSCRIBE and SUBACK.
        _ = packet(0x10)
        send([0x20, 2, 0, 0])
        let numbers = (0..<2).map { _ in packet(0x82).prefix(2) }
        // A message of the session that the broker kept.
        send([0x30, 4, 0, 1, 0x61, 0x62])
        for number in numbers { send([0x90, 3] + number + [1]) }
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == .message(MQTTMessage("a", "b", quality: 0)))
        #expect(await iterator.next() == .connected)
        await connection.close()
    }

    @Test("Acknowledgements come through, but no retained one; malformed ones are counted and ignored")
    func acknowledgements() async throws {
        let server = try MosquittoServer()
        let consumer = await Subscriber(server.broker, [])
        _ = await consumer.publish("kazasu/tokyo/ack", #"{"reader":"door","upTo":99}"#, isRetained: true)
        let sink = MQTTSink(Self.settings(server))
        #expect(await sink.deliver([.made(1)]) == [.delivered])
        for payload in ["nonsense", #"{"reader":"door"}"#, #"{"reader":"door","upTo":1}"#] {
            _ = await consumer.publish("kazasu/tokyo/ack", payload)
        }
        var iterator = sink.acknowledgements.makeAsyncIterator()
        #expect(await iterator.next() == Acknowledgement(reader: "door", upTo: 1))
        #expect(sink.counters.malformedAcknowledgements == 2)
        await consumer.close()
        await sink.close()
        #expect(await iterator.next() == nil)
    }

    @Test("A user without rights is refused with a reason, a wrong password too")
    func refused() async throws {
        let folder = try TemporaryFolder()
        let passwords = "\(folder.path)/passwords"
        let made = try ChildProcess.run("/usr/bin/mosquitto_passwd", ["-c", "-b", passwords, "osaka", "right"])
        #expect(made.end == .exited(0))
        let server = try MosquittoServer(
            ["allow_anonymous false", "password_file \(passwords)", "acl_file FOLDER/acl"],
            files: ["acl": "pattern readwrite kazasu/%u/#\n"])
        var settings = Self.settings(server)
        settings.broker.user = "osaka"
        settings.broker.password = MQTTBroker.Password(SecretBytes(Array("right".utf8)))
        settings.patience = .seconds(30)
        let other = MQTTSink(settings)
        // MQTT 5 says so in the PUBACK; the site is tokyo, the user osaka.
        #expect(
            await other.deliver([.made(1), .made(2)])
                == Array(repeating: .retry("refused135", after: .seconds(10)), count: 2))
        await other.close()
        settings.site = "osaka"
        let own = MQTTSink(settings)
        #expect(await own.deliver([.made(1)]) == [.delivered])
        await own.close()
        settings.broker.password = MQTTBroker.Password(SecretBytes(Array("wrong".utf8)))
        settings.patience = .milliseconds(300)
        let stranger = await Self.sinkThatFailed(settings)
        #expect(await stranger.deliver([.made(1)]) == [.retry("refused135", after: .seconds(1))])
        await stranger.close()
    }

    @Test("Home Assistant: announced at the start, at its birth and after a broker's restart; late taps are no tags")
    func homeAssistant() async throws {
        let server = try MosquittoServer()
        var settings = Self.settings(server)
        settings.homeAssistant = HomeAssistant.Settings(version: "1.0.0")
        let now = 1_700_000_000_000
        let subscriber = await Subscriber(
            server.broker, ["homeassistant/+/+/config", "kazasu/+/+/tag", "kazasu/+/+/event"])
        let sink = MQTTSink(settings, now: { now })
        let events = [
            OutboxEvent.made(1, time: now - 10_001), .made(2, time: now - 10_000), .made(3, type: "off", time: now),
            .made(4, time: now, tag: nil), .made(5, time: now + 3_600_000), .made(6, time: now, tag: "ff"),
        ]
        #expect(await sink.deliver(events).allSatisfy { $0 == .delivered })
        // Delivered once more, as after a lost PUBACK: the event comes again, the tag does not.
        #expect(await sink.deliver(events).allSatisfy { $0 == .delivered })
        _ = await subscriber.wait(for: 12) { $0.topic.hasSuffix("/event") }
        let tags = await subscriber.messages.filter { $0.topic.hasSuffix("/tag") }
        #expect(tags.map(\.text) == [#"{"tag":"0114B34DAA012345"}"#, #"{"tag":"ff"}"#])
        #expect(sink.counters.lateTags == 4)
        let isConfiguration: @Sendable (MQTTMessage) -> Bool = { $0.topic.hasSuffix("/config") }
        let first = await subscriber.wait(for: 5, where: isConfiguration)
        #expect(Set(first.map(\.topic)).count == 5)
        _ = await subscriber.publish("homeassistant/status", "offline")
        _ = await subscriber.publish("homeassistant/status", "online")
        let again = await subscriber.wait(for: 10, where: isConfiguration)
        #expect(again.count == 10)
        #expect(Set(again.map(\.text)) == Set(first.map(\.text)))
        await subscriber.close()
        server.kill()
        try server.start()
        let other = await Subscriber(server.broker, ["homeassistant/+/+/config"], id: "other")
        #expect(await other.wait(for: 5, where: isConfiguration).count >= 5)
        await other.close()
        await sink.close()
    }
}
