// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CardModel
import Glibc
import TapSupport
import TestSupport
import Testing

@testable import MQTT
@testable import KazasuTaps

@Suite("MQTT names and addresses")
struct MQTTNameTests {
    static let names: [(text: String, name: String)] = [
        ("door", "door"), ("rcs380:serial=0123456", "rcs380-serial-0123456"), ("a b/c+d#", "a-b-c-d-"), ("", "-"),
        ("A_z-9", "A_z-9"), ("--", "--"),
        // printf 入口 | sha256sum
        ("入口", "1a793027"), ("2号機", "2-697c1286"), ("東京 door/é", "door-b5b4d3d4"),
    ]

    @Test("Names in topics", arguments: names)
    func name(_ row: (text: String, name: String)) {
        #expect(MQTTTopics.name(row.text) == row.name)
    }

    @Test("Names outside of ASCII differ in topics, and are names of topics themselves")
    func nameOutsideASCII() {
        let names = ["東京", "大阪", "入口", "出口", "é", "è", "門", "🚪", "\u{0}é", "入口 "]
        let mapped = names.map(MQTTTopics.name)
        #expect(Set(mapped).count == names.count)
        #expect(mapped.map(MQTTTopics.name) == mapped)
    }

    @Test("Reserved names are not accepted for readers", arguments: ["status", "health", "ack"])
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
            StoredEvent.made(1, type: "reader", tag: nil, state: .ready), .made(2), .made(3, type: "off"),
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

    @Test(
        "An answer has a topic of its own, is not retained, and is not published there when it comes late",
        arguments: MQTTBroker.Version.allCases)
    func answers(version: MQTTBroker.Version) async throws {
        let server = try MosquittoServer()
        let subscriber = await Subscriber(server.broker, ["kazasu/+/+/answer", "kazasu/+/+/event"])
        let sink = MQTTSink(Self.settings(server, version), now: { 10_000 })
        func answer(_ number: Int, _ verdict: TapEvent.Verdict, age: Int) -> StoredEvent {
            let made = TapEvent.made(number, time: 10_000 - age)
            let kind = TapEvent.Kind.answer(TapEvent.Answer(on: "card-\(number)", verdict: verdict, milliseconds: 53))
            return StoredEvent(
                TapEvent(
                    id: made.id, sequence: number, kind: kind, moment: made.moment, site: made.site,
                    reader: made.reader))
        }
        let events = [
            StoredEvent.made(1), answer(2, .yes, age: 0), answer(3, .no, age: 2001), answer(4, .no, age: 2000),
            answer(5, .yes, age: 86_400_000), answer(6, .fault, age: 3),
        ]
        #expect(await sink.deliver(events) == events.map { _ in .delivered })
        let told = await subscriber.wait(for: 3) { $0.topic == "kazasu/tokyo/door/answer" }
        let at = "2026-11-21T20:45:00.123+09:00"
        #expect(
            told.map(\.text)
                == [("card-2", "yes"), ("card-4", "no"), ("card-6", "fault")].map {
                    #"{"on":"\#($0.0)","answer":"\#($0.1)","ms":53,"at":"\#(at)"}"#
                })
        #expect(told.allSatisfy { !$0.isRetained })
        // As events, all of them are there.
        let all = await subscriber.wait(for: 6) { $0.topic == "kazasu/tokyo/door/event" }
        #expect(all.map(\.text) == events.map(\.line))
        let late = await Subscriber(server.broker, ["kazasu/#"], id: "late")
        _ = await late.wait(for: 1) { $0.topic == "kazasu/tokyo/status" }
        #expect(await late.messages.allSatisfy { !$0.topic.hasSuffix("/answer") })
        await sink.close()
        await late.close()
        await subscriber.close()
    }

    @Test("The broker dies and comes back: nothing is lost, status and states are published again")
    func restart() async throws {
        let server = try MosquittoServer()
        let sink = MQTTSink(Self.settings(server))
        #expect(await sink.deliver([.made(1, type: "reader", tag: nil, state: .ready)]) == [.delivered])
        server.kill()
        // It waits for the broker, or has noticed in the middle.
        var first: [DeliveryResult] = []
        async let second = sink.deliver([.made(2)])
        try server.start()
        let subscriber = await Subscriber(server.broker, ["kazasu/#"])
        first = await second
        while first != [.delivered] { first = await sink.deliver([.made(2)]) }
        #expect(await sink.deliver([.made(3)]) == [.delivered])
        let got = await subscriber.wait(for: 1) { $0.text == TapEvent.made(3).line }
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
        await sink.start()
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
        let (told, notices) = AsyncStream<MQTTNotice>.makeStream()
        let other = MQTTSink(settings, tell: { notices.yield($0) })
        // MQTT 5 says so in the PUBACK; the site is tokyo, the user osaka.
        #expect(
            await other.deliver([.made(1), .made(2)])
                == Array(repeating: .retry("notAllowed", after: .seconds(10)), count: 2))
        await other.close()
        notices.finish()
        #expect(
            await told.reduce(into: []) { $0.append($1) } == [
                .connected, .notAllowed(user: "osaka", topics: "kazasu/tokyo"),
            ])
        settings.site = "osaka"
        let own = MQTTSink(settings)
        #expect(await own.deliver([.made(1)]) == [.delivered])
        await own.close()
        settings.broker.password = MQTTBroker.Password(SecretBytes(Array("wrong".utf8)))
        settings.patience = .milliseconds(300)
        let stranger = await Self.sinkThatFailed(settings)
        #expect(await stranger.deliver([.made(1)]) == [.retry("loginRefused", after: .seconds(1))])
        await stranger.close()
    }

    @Test("Home Assistant: announced at the start, at its birth and after a broker's restart; young taps once")
    func homeAssistant() async throws {
        let server = try MosquittoServer()
        var settings = Self.settings(server)
        settings.homeAssistant = HomeAssistant.Settings(version: "1.0.0")
        settings.homeAssistant?.hasBalances = true
        let now = 1_700_000_000_000
        let subscriber = await Subscriber(
            server.broker, ["homeassistant/+/+/config", "kazasu/+/+/tag", "kazasu/+/+/tap", "kazasu/+/+/event"])
        let sink = MQTTSink(settings, now: { now })
        let events = [
            StoredEvent.made(1, time: now - 10_001), .made(2, time: now - 10_000), .made(3, type: "off", time: now),
            .made(4, time: now, tag: nil), .made(5, time: now + 3_600_000), .made(6, time: now, tag: "ff"),
        ]
        #expect(await sink.deliver(events).allSatisfy { $0 == .delivered })
        // Delivered once more, as after a lost PUBACK: the event comes again, nothing for Home Assistant does.
        #expect(await sink.deliver(events).allSatisfy { $0 == .delivered })
        _ = await subscriber.wait(for: 12) { $0.topic.hasSuffix("/event") }
        let at = #""at":"2026-11-21T20:45:00.123+09:00"}"#
        let tags = await subscriber.messages.filter { $0.topic.hasSuffix("/tag") }
        #expect(tags.map(\.text) == [#"{"tag":"0114B34DAA012345",\#(at)"#, #"{"tag":"ff",\#(at)"#])
        let taps = await subscriber.messages.filter { $0.topic.hasSuffix("/tap") }
        let shown = [("on", #""0114B34DAA012345""#), ("off", #""0114B34DAA012345""#), ("on", "null"), ("on", #""ff""#)]
        #expect(
            taps.map(\.text)
                == shown.flatMap {
                    [
                        #"{"type":"\#($0.0)","tag":\#($0.1),\#(at)"#,
                        #"{"type":"idle","last":"\#($0.0)","tag":\#($0.1),\#(at)"#,
                    ]
                })
        #expect((taps + tags).allSatisfy { !$0.isRetained })
        #expect(sink.counters.lateTags == 4)
        let isConfiguration: @Sendable (MQTTMessage) -> Bool = { $0.topic.hasSuffix("/config") }
        let first = await subscriber.wait(for: 7, where: isConfiguration)
        #expect(Set(first.map(\.topic)).count == 7)
        // Entities that stand for what happened must not come back, or they would seem to have changed.
        for name in ["card", "balance"] {
            let one = try #require(first.first { $0.topic.hasSuffix("-\(name)/config") })
            #expect(!one.text.contains("availability"))
        }
        _ = await subscriber.publish("homeassistant/status", "offline")
        _ = await subscriber.publish("homeassistant/status", "online")
        let again = await subscriber.wait(for: 14, where: isConfiguration)
        #expect(again.count == 14)
        #expect(Set(again.map(\.text)) == Set(first.map(\.text)))
        await subscriber.close()
        server.kill()
        try server.start()
        let other = await Subscriber(server.broker, ["homeassistant/+/+/config"], id: "other")
        #expect(await other.wait(for: 7, where: isConfiguration).count >= 7)
        await other.close()
        await sink.close()
    }

    static func status(
        _ name: String, isNamed: Bool = true, isWatched: Bool = true, state: TapEvent.ReaderState? = nil,
        sequence: Int = 0,
        product: String? = nil
    ) -> ReaderStatus {
        ReaderStatus(
            name: name, isNamed: isNamed, isWatched: isWatched, state: state, since: "since", sequence: sequence,
            product: product)
    }

    @Test("A reader that was not heard of in this run is gone; one that is not watched any more, too")
    func goneReaders() async throws {
        let server = try MosquittoServer()
        let subscriber = await Subscriber(server.broker, ["kazasu/+/+/state", "homeassistant/+/+/config"])
        var settings = Self.settings(server)
        settings.homeAssistant = HomeAssistant.Settings(version: "1.0.0")
        let sink = MQTTSink(settings)
        sink.know([Self.status("old", isWatched: false), Self.status("door"), Self.status("gate", state: .ready)])
        #expect(await sink.deliver([.made(1, type: "reader", tag: nil, state: .ready)]) == [.delivered])
        var states = await subscriber.wait(for: 4) { $0.topic.hasSuffix("/state") }
        func word(_ reader: String) -> String? {
            states.last { $0.topic == "kazasu/tokyo/\(reader)/state" }?.text.split(separator: "\"")[3].description
        }
        #expect(word("old") == "gone")
        #expect(word("gate") == "ready")
        #expect(word("door") == "ready")
        sink.know([Self.status("gate", isWatched: false), Self.status("door", product: "Sony RC-S380/S")])
        states = await subscriber.wait(for: 5) { $0.topic.hasSuffix("/state") }
        #expect(word("gate") == "gone")
        #expect(word("door") == "ready")
        let models = await subscriber.wait(for: 1) { $0.text.contains("RC-S380") }
        #expect(models.allSatisfy { $0.topic.contains("kazasu-tokyo-door") })
        // Nobody is told again of a device that was deleted.
        #expect(await !subscriber.messages.contains { $0.topic.contains("kazasu-tokyo-old") })
        await sink.close()
        await subscriber.close()
    }

    @Test("Events of an earlier run, such as a restart leaves, are nothing for Home Assistant")
    func eventsFromBefore() async throws {
        let server = try MosquittoServer()
        let subscriber = await Subscriber(server.broker, ["kazasu/#"])
        var settings = Self.settings(server)
        settings.homeAssistant = HomeAssistant.Settings(version: "1.0.0")
        let sink = MQTTSink(settings, now: { 1000 })
        sink.know([Self.status("door", sequence: 2)])
        #expect(
            await sink.deliver([.made(1, time: 1000), .made(2, type: "off", time: 1000), .made(3, time: 1000)])
                == Array(repeating: .delivered, count: 3))
        let taps = await subscriber.wait(for: 1) { $0.topic.hasSuffix("/tag") }
        #expect(taps.count == 1)
        #expect(await subscriber.messages.count { $0.topic.hasSuffix("/tap") } == 2)
        await sink.close()
        await subscriber.close()
    }

    @Test("A connection ends the pauses of the outbox")
    func connectionEndsPauses() async throws {
        let server = try MosquittoServer()
        server.kill()
        var settings = Self.settings(server)
        settings.patience = .milliseconds(1)
        let sink = MQTTSink(settings)
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        try await outbox.store([.made(1)], for: [sink.name])
        // A pause that does not end by itself.
        let (paused, pauses) = AsyncStream<Void>.makeStream()
        let (forever, end) = AsyncStream<Void>.makeStream()
        let queue = SinkQueue(
            sink, outbox,
            sleep: { _ in
                pauses.yield()
                for await _ in forever {}
            }
        ) { _ in }
        let run = Task { await queue.run() }
        for await _ in paused { break }
        try server.start()
        while try await !outbox.readersWaiting(for: sink.name).isEmpty { await Task.yield() }
        end.finish()
        queue.end()
        await run.value
    }

    @Test("Signs of another client with the same ID")
    func sharedNameSigns() {
        typealias Row = (fault: MQTTFault, lasted: Duration?, isNew: Bool)
        let short: Row = (.ended(7), .seconds(1), false)
        let takenOver: Int32 = 0x8E
        let sequences: [[Row]] = [
            // The broker's word is enough, also before the connection was ready; it is passed on once.
            [(.ended(takenOver), nil, true), (.ended(takenOver), .seconds(1), false), short, short],
            [short, (.ended(takenOver), nil, true)],
            // Without it, three in a row.
            [short, short, (.ended(7), .seconds(19), true), short, short, short],
            // A broker that is away, or never let us subscribe, is not another client.
            [short, short, (.unreachable(111), nil, false), short, short, (.ended(7), .zero, true)],
            [short, short, (.ended(7), nil, false), short, short],
            // After a connection that lasted, it is told again.
            [short, short, (.ended(7), .seconds(20), false), short, short],
            [(.ended(takenOver), nil, true), (.ended(7), .seconds(60), false), (.ended(takenOver), nil, true)],
        ]
        for rows in sequences {
            var signs = SharedNameSigns()
            #expect(rows.map { signs.isNew($0.fault, after: $0.lasted) } == rows.map(\.isNew), "\(rows)")
        }
    }

    @Test("Two watchers of one name are told")
    func sharedName() async throws {
        let server = try MosquittoServer()
        let (told, notices) = AsyncStream<MQTTNotice>.makeStream()
        let sinks = (0..<2).map { _ in MQTTSink(Self.settings(server), tell: { notices.yield($0) }) }
        for sink in sinks { await sink.start() }
        for await notice in told where notice == .sharedName(site: "tokyo") { break }
        for sink in sinks { await sink.close() }
    }

    @Test("A broker that is away again and again is not another watcher of the name")
    func brokerAwayAgain() async throws {
        let server = try MosquittoServer()
        let (told, notices) = AsyncStream<MQTTNotice>.makeStream()
        let sink = MQTTSink(Self.settings(server), tell: { notices.yield($0) })
        await sink.start()
        var all: [MQTTNotice] = []
        var (kills, isAway) = (0, false)
        for await notice in told {
            all.append(notice)
            if notice == .connected {
                guard kills < 3 else { break }
                server.kill()
                (kills, isAway) = (kills + 1, true)
            } else if case .disconnected(.unreachable) = notice, isAway {
                try server.start()
                isAway = false
            }
        }
        await sink.close()
        #expect(all.count { if case .disconnected(.ended) = $0 { true } else { false } } == 3, "\(all)")
        #expect(!all.contains(.sharedName(site: "tokyo")))
    }

    @Test("Home Assistant, which subscribes a moment after the first numbers of the outbox, soon gets more")
    func outboxSoon() async throws {
        let server = try MosquittoServer()
        let subscriber = await Subscriber(server.broker, ["kazasu/+/health"])
        var settings = Self.settings(server)
        // Nothing after this pause is seen here.
        settings.healthPause = .seconds(86_400)
        let sink = MQTTSink(settings)
        await sink.start()
        #expect(await subscriber.wait(for: 2) { $0.text.contains("\"pending\"") }.count == 2)
        await sink.close()
        await subscriber.close()
    }

    @Test("A certificate that nobody vouches for", arguments: MQTTBroker.Version.allCases)
    func certificate(version: MQTTBroker.Version) async throws {
        let folder = try TemporaryFolder()
        let made = try ChildProcess.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2", "-keyout",
                "\(folder.path)/key", "-out", "\(folder.path)/certificate",
            ])
        #expect(made.end == .exited(0))
        let server = try MosquittoServer([
            "allow_anonymous true", "certfile \(folder.path)/certificate", "keyfile \(folder.path)/key",
        ])
        var settings = Self.settings(server, version)
        settings.patience = .milliseconds(1)
        settings.broker.tls = MQTTBroker.TLS()
        let sink = await Self.sinkThatFailed(settings)
        #expect(sink.fault == .certificate)
        await sink.close()
    }
}

@Suite("What Home Assistant shows of a reader")
struct HomeAssistantReaderTests {
    static let readers: [(name: String, isNamed: Bool, product: String?, shown: [String?])] = [
        ("entrance", true, nil, ["Kazasu entrance", nil, nil]),
        (
            "rcs380", false, "Sony RC-S380/S (firmware 1.11)",
            ["Kazasu Sony RC-S380/S", "Sony", "RC-S380/S (firmware 1.11)"]
        ),
        ("door", true, "SONY / RC-S330", ["Kazasu door", "Sony", "RC-S330"]),
        (
            "acr122_usb:001:004", false, "ACS / ACR122U PICC Interface",
            ["Kazasu ACS ACR122U PICC Interface", "ACS", "ACR122U PICC Interface"]
        ),
        ("pn532_uart:/dev/ttyUSB0", false, "pn532_uart:/dev/ttyUSB0", ["Kazasu PN532", "NXP", "PN532"]),
        ("virtual:a.json", false, "virtual PN532", ["Kazasu virtual PN532", "Kazasu", "virtual PN532"]),
        ("x", false, "", ["Kazasu x", nil, nil]), ("x", false, "Sony", ["Kazasu Sony", "Sony", "Sony"]),
    ]

    @Test("Name, manufacturer and model", arguments: readers)
    func device(_ row: (name: String, isNamed: Bool, product: String?, shown: [String?])) throws {
        let home = HomeAssistant(
            HomeAssistant.Settings(version: "1"), topics: MQTTTopics(prefix: "kazasu", site: "home"), site: "home")
        var reader = HomeAssistant.Reader(row.name)
        (reader.isNamed, reader.product) = (row.isNamed, row.product)
        let message = try #require(home.messages(reader).first)
        let device = try JSONCursor(JSONValue(parsing: message.payload)).required("device")
        #expect(try ["name", "manufacturer", "model"].map { try device.optional($0)?.text() } == row.shown)
    }

    static let balances: [(json: String, shown: String?)] = [
        (
            #"[{"amount":1234,"currency":"JPY","exponent":0},{"amount":1,"currency":"HKD","exponent":2}]"#,
            #"{"amount":1234,"currency":"JPY","exponent":0}"#
        ),
        (#"[{"amount":-1440,"currency":"HKD","exponent":2}]"#, #"{"amount":-1440,"currency":"HKD","exponent":2}"#),
        (#"[{"amount":null,"currency":"HKD","exponent":2}]"#, nil), ("[]", nil), ("[7]", nil),
        (#"[{"amount":1.5,"currency":"JPY","exponent":0}]"#, nil),
        (#"[{"amount":1,"currency":"X","exponent":-1}]"#, nil),
        (#"[{"amount":1,"currency":"X","exponent":99}]"#, nil),
    ]

    @Test("The newest record of a tap, with the names of its stations")
    func record() throws {
        let home = HomeAssistant(
            HomeAssistant.Settings(version: "1"), topics: MQTTTopics(prefix: "kazasu", site: "home"), site: "home")
        let records =
            #"[{"date":"2026-11-20","time":null,"kind":"rail","entry":{"area":0,"name":"渋谷","nameEn":"Shibuya"},"#
            + #""exit":null,"amount":-160,"raw":"00"},{"date":"2026-11-19","kind":"bus"}]"#
        let event = try TapEvent(parsing: TapEvent.made(1).line.dropLast() + #","records":\#(records)}"#)
        let tap = try JSONCursor(JSONValue(parsing: #require(home.tap(event).messages.first).payload))
        #expect(
            try tap.required("record").value.compactText
                == #"{"date":"2026-11-20","time":null,"kind":"rail","amount":-160,"entry":"渋谷","entryEn":"Shibuya","#
                + #""exit":null,"exitEn":null}"#)
    }

    @Test("A tag that Home Assistant's app has written is the one that the phone knows, with the UID beside it")
    func writtenTag() throws {
        let home = HomeAssistant(
            HomeAssistant.Settings(version: "1"), topics: MQTTTopics(prefix: "kazasu", site: "home"), site: "home")
        let plain = TapEvent.made(1)
        let written = try TapEvent(parsing: plain.line.dropLast() + #","homeAssistantTag":"8d3f-00"}"#)
        for (event, tag, uid) in [(plain, plain.card?.tag, nil), (written, "8d3f-00", plain.card?.tag)] {
            let messages = home.tap(event).messages
            #expect(messages.count == 3)
            for message in messages {
                let members = try JSONCursor(JSONValue(parsing: message.payload)).object()
                #expect(members["tag"] == .text(tag))
                #expect(members["uid"] == uid.map { .string($0) })
            }
        }
    }

    @Test("A card without a known amount makes the balance unknown; removals and what is late change nothing")
    func unknownBalance() throws {
        let home = HomeAssistant(
            HomeAssistant.Settings(version: "1"), topics: MQTTTopics(prefix: "kazasu", site: "home"), site: "home")
        var reader = HomeAssistant.Reader("door")
        reader.currencies = [.yen, HomeAssistant.Currency("HKD", 2)]
        let templates = try home.messages(reader).filter { $0.topic.contains("-balance") }.map {
            try JSONCursor(JSONValue(parsing: $0.payload)).required("value_template").text()
        }
        let isFresh = "(as_timestamp(now()) - as_timestamp(value_json.at)) | abs <= 10.0"
        // None is an unknown state in Home Assistant, and an empty text none at all.
        let rest = "else 'None' if value_json.type == 'on' else '') if \(isFresh) else '' }}"
        #expect(
            templates == [
                "{{ ('%.0f' | format(value_json.balance.amount / 10 ** 0) if "
                    + "value_json.get('balance', {}).get('currency') == 'JPY' \(rest)",
                "{{ ('%.2f' | format(value_json.balance.amount / 10 ** 2) if "
                    + "value_json.get('balance', {}).get('currency') == 'HKD' \(rest)",
            ])
        // Such a card's message is `on` without a balance.
        let event = try TapEvent(parsing: TapEvent.made(1).line.dropLast() + #","balances":[{"amount":null}]}"#)
        let tap = try JSONCursor(JSONValue(parsing: #require(home.tap(event).messages.first).payload))
        #expect(try tap.required("type").text() == "on" && tap.optional("balance") == nil)
    }

    @Test("Balances of taps", arguments: balances)
    func balance(_ row: (json: String, shown: String?)) throws {
        let home = HomeAssistant(
            HomeAssistant.Settings(version: "1"), topics: MQTTTopics(prefix: "kazasu", site: "home"), site: "home")
        let event = try TapEvent(parsing: TapEvent.made(1).line.dropLast() + #","balances":\#(row.json)}"#)
        let (messages, currency) = home.tap(event)
        let tap = try JSONCursor(JSONValue(parsing: #require(messages.first).payload))
        #expect(try tap.optional("balance")?.value.compactText == row.shown)
        #expect((currency == nil) == (row.shown == nil))
        // No door opens for what waited in the broker, either.
        #expect(messages.allSatisfy { $0.expiry == 10 })
    }
}
