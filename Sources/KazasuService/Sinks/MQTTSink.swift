// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import Glibc
internal import Synchronization

/// What an operator should know about a connection to a broker.
package enum MQTTNotice: Hashable, Sendable {
    case connected
    case disconnected(MQTTFault)
    /// The broker refused a subscription, with this code.
    case notSubscribed(Int32)
    /// An acknowledgement was ignored.
    case malformedAcknowledgement(bytes: Int)
}

/// Publishes events to an MQTT broker, and tells Home Assistant about the readers.
///
/// An event counts as delivered at the broker's PUBACK. Consumers that store events answer with an
/// ``Acknowledgement`` on the topic `ack`; a consumer that misses events repeats its last one, which asks for those
/// after it once more (``Acknowledgement/isRepeated``, at most every few seconds a reader).
package final class MQTTSink: Sink {
    package struct Settings: Sendable {
        package var broker: MQTTBroker
        package var site: String
        package var prefix = "kazasu"
        package var homeAssistant: HomeAssistant.Settings?
        package var window = 20
        /// How long an event waits for a connection before the outbox hears about it.
        package var patience = Duration.seconds(5)
        /// The pause between two messages on the topic `health`.
        package var healthPause = Duration.seconds(60)
        /// How often a repeated acknowledgement of a reader is passed on as such.
        package var repeatPause = Duration.seconds(4)
        /// Changes how the connection behaves; for tests.
        package var adjust: @Sendable (inout MQTTConnection.Settings) -> Void = { _ in }

        package init(broker: MQTTBroker, site: String) {
            self.broker = broker
            self.site = site
        }
    }

    /// What the outbox knows, for the topic `health`.
    package struct Backlog: Hashable, Sendable {
        /// The events that are not delivered yet.
        package var pending: Int
        /// The age of the oldest of them in seconds; `nil` without any.
        package var oldest: Int?

        package init(pending: Int, oldest: Int?) {
            self.pending = pending
            self.oldest = oldest
        }
    }

    /// What the sink has done since it was made.
    package struct Counters: Hashable, Sendable {
        package var published = 0
        package var retried = 0
        package var dead = 0
        package var connections = 0
        package var acknowledgements = 0
        package var malformedAcknowledgements = 0
        package var lateTags = 0
    }

    private struct Reader {
        var state: String?
        var since: String?
        /// The last event whose tag was published, so that a repeated event does not open a door again.
        var taggedUpTo = 0
    }

    private struct State {
        /// In the order in which they came, by their names in events.
        var readers: [(name: String, reader: Reader)] = []
        var counters = Counters()
        var fault: MQTTFault?
        /// By the readers as in topics: what was acknowledged, and when a repeat was last passed on.
        var acknowledged: [String: (upTo: Int, asked: ContinuousClock.Instant)] = [:]

        /// Whether the consumer said the same before, and it is time to listen to it.
        mutating func isRepeated(_ one: Acknowledgement, pause: Duration) -> Bool {
            let now = ContinuousClock.now
            let last = acknowledged[one.reader]
            // Readers of this site only: anybody may invent names.
            guard readers.contains(where: { MQTTTopics.reader($0.name) == one.reader }) else { return false }
            let isAsking = last.map { $0.upTo == one.upTo && now - $0.asked >= pause } ?? false
            acknowledged[one.reader] = (one.upTo, isAsking || last == nil ? now : last?.asked ?? now)
            return isAsking
        }

        mutating func with<Result>(_ name: String, _ body: (inout Reader) -> Result) -> (result: Result, isNew: Bool) {
            if let index = readers.firstIndex(where: { $0.name == name }) {
                return (body(&readers[index].reader), false)
            }
            var reader = Reader()
            let result = body(&reader)
            readers.append((name, reader))
            return (result, true)
        }
    }

    package let name: String
    package var window: Int { settings.window }
    package let topics: MQTTTopics
    /// The acknowledgements of consumers, as they come.
    package let acknowledgements: AsyncStream<Acknowledgement>

    private let settings: Settings
    private let homeAssistant: HomeAssistant?
    private let now: @Sendable () -> Int
    private let backlog: @Sendable () async -> Backlog?
    private let state: SharedState
    private let connection: MQTTConnection
    private let acknowledged: AsyncStream<Acknowledgement>.Continuation
    private let healthTask: Task<Void, Never>

    private final class SharedState: Sendable {
        let value = Mutex(State())
    }

    /// Makes a sink and begins to connect.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - backlog: asked once a minute for the topic `health`.
    ///   - tell: receives what an operator should know; it must not block.
    package init(
        _ settings: Settings, now: @escaping @Sendable () -> Int = MQTTSink.wallClock,
        backlog: @escaping @Sendable () async -> Backlog? = { nil },
        tell: @escaping @Sendable (MQTTNotice) -> Void = { _ in }
    ) {
        let topics = MQTTTopics(prefix: settings.prefix, site: settings.site)
        let homeAssistant = settings.homeAssistant.map { HomeAssistant($0, topics: topics, site: settings.site) }
        let state = SharedState()
        let (stream, continuation) = AsyncStream<Acknowledgement>.makeStream(bufferingPolicy: .bufferingNewest(10_000))
        self.settings = settings
        self.topics = topics
        self.homeAssistant = homeAssistant
        self.now = now
        self.backlog = backlog
        self.state = state
        acknowledgements = stream
        acknowledged = continuation
        name = "mqtt:\(settings.broker.host):\(settings.broker.port)/\(settings.prefix)"

        // The same ID for each connection of a site: the broker then ends the old one, and publishes its will, before
        // it accepts the new one.
        var connecting = MQTTConnection.Settings(broker: settings.broker, clientID: "kazasu-\(topics.site)")
        connecting.will = MQTTMessage(topics.status, "offline", isRetained: true)
        connecting.subscriptions = [topics.ack] + (homeAssistant.map { [$0.statusTopic] } ?? [])
        settings.adjust(&connecting)
        let announce: @Sendable () -> [MQTTMessage] = {
            let readers = state.value.withLock { $0.readers }
            return readers.compactMap { Self.stateMessage(topics, $0.name, $0.reader) }
                + (homeAssistant?.siteMessages ?? [])
                + readers.flatMap { homeAssistant?.messages(reader: $0.name) ?? [] }
        }
        let link = ConnectionLink()
        let connection = MQTTConnection(
            connecting, birth: { [MQTTMessage(topics.status, "online", isRetained: true)] + announce() }
        ) { event in
            switch event {
            case .connected:
                state.value.withLock { state in
                    state.counters.connections += 1
                    state.fault = nil
                }
                tell(.connected)
            case .disconnected(let fault):
                let isNew = state.value.withLock { state in
                    defer { state.fault = fault }
                    return state.fault != fault
                }
                // A broker that is away for a week is one line.
                if isNew { tell(.disconnected(fault)) }
            case .notSubscribed(let code):
                tell(.notSubscribed(code))
            case .message(let message) where message.topic == topics.ack:
                // A retained one may be about events of an outbox that was lost.
                guard !message.isRetained else { break }
                do throws(DocumentError) {
                    var one = try Acknowledgement(parsing: message.payload)
                    one.isRepeated = state.value.withLock { state in
                        state.counters.acknowledgements += 1
                        return state.isRepeated(one, pause: settings.repeatPause)
                    }
                    continuation.yield(one)
                } catch {
                    state.value.withLock { $0.counters.malformedAcknowledgements += 1 }
                    tell(.malformedAcknowledgement(bytes: message.payload.count))
                }
            case .message(let message):
                guard let homeAssistant, message.topic == homeAssistant.statusTopic,
                    message.payload == Array("online".utf8)
                else { return }
                link.connection?.post(announce())
            }
        }
        link.connection = connection
        self.connection = connection
        let (pause, health) = (settings.healthPause, topics.health)
        healthTask = Task {
            while !Task.isCancelled {
                if connection.isConnected {
                    let payload = Self.health(await backlog(), state.value.withLock { $0.counters })
                    connection.post([MQTTMessage(health, payload.compactText, quality: 0)])
                }
                try? await Task.sleep(for: connection.isConnected ? pause : min(pause, .seconds(1)))
            }
        }
        connection.start()
    }

    /// The callback needs the connection that is made with it.
    private final class ConnectionLink: Sendable {
        private struct Weak { weak var connection: MQTTConnection? }
        private let link = Mutex(Weak())
        var connection: MQTTConnection? {
            get { link.withLock { $0.connection } }
            set { link.withLock { $0.connection = newValue } }
        }
    }

    package var counters: Counters { state.value.withLock { $0.counters } }
    package var isConnected: Bool { connection.isConnected }

    /// Why there is no connection; `nil` while there is one or none was tried.
    package var fault: MQTTFault? { state.value.withLock { $0.fault } }

    package func deliver(_ events: [OutboxEvent]) async -> [DeliveryResult] {
        let events = Array(events)
        guard await connection.waitUntilConnected(for: settings.patience) else {
            return retries(events.count, fault?.token ?? "disconnected")
        }
        // Where each event's acknowledgement is among those of all messages.
        var messages: [MQTTMessage] = []
        var places: [Int] = []
        for event in events { learn(event, &messages, &places) }
        let answers = await connection.publish(messages)
        return results(places.map { answers.indices.contains($0) ? answers[$0] : .disconnected })
    }

    /// Adds the messages of one event.
    private func learn(_ event: OutboxEvent, _ messages: inout [MQTTMessage], _ places: inout [Int]) {
        let document = event.type == "reader" ? try? JSONValue(parsing: Array(event.line.utf8)) : nil
        let age = abs(now() - event.time)
        let (change, isNew) = state.value.withLock { state in
            let limit = homeAssistant.map { $0.settings.maxAge }
            let found = state.with(event.reader) { reader in
                var change: (state: MQTTMessage?, isTagged: Bool) = (nil, false)
                if let document, case .object(let members) = document, case .string(let text)? = members["state"],
                    case .string(let since)? = members["at"]
                {
                    (reader.state, reader.since) = (text, since)
                    change.state = Self.stateMessage(topics, event.reader, reader)
                }
                if let limit, event.type == "on", event.tag != nil, event.sequence > reader.taggedUpTo {
                    reader.taggedUpTo = event.sequence
                    change.isTagged = age <= limit.milliseconds
                }
                return change
            }
            if limit != nil, event.type == "on", event.tag != nil, age > limit?.milliseconds ?? 0 {
                state.counters.lateTags += 1
            }
            return (found.result, found.isNew)
        }
        if isNew, let homeAssistant { messages += homeAssistant.messages(reader: event.reader) }
        places.append(messages.count)
        messages.append(MQTTMessage(topics.event(event.reader), event.line))
        if change.isTagged, let tag = event.tag {
            messages.append(MQTTMessage(topics.tag(event.reader), (["tag": .string(tag)] as JSONValue).compactText))
        }
        if let message = change.state { messages.append(message) }
    }

    private func results(_ answers: [MQTTPublishResult]) -> [DeliveryResult] {
        var results: [DeliveryResult] = []
        var stop: DeliveryResult?
        for answer in answers {
            let result: DeliveryResult
            switch answer {
            case .acknowledged: result = .delivered
            case .impossible: result = .dead("tooLarge")
            // Packet too large, topic name invalid, payload format invalid: about this message alone.
            case .refused(0x95), .refused(0x90), .refused(0x99): result = .dead("refused")
            // Usually not authorized: an operator has to change the broker's rules.
            case .refused(let code): result = .retry("refused\(code)", after: .seconds(10))
            case .timedOut: result = .retry("timeout", after: .seconds(1))
            case .disconnected: result = .retry("disconnected", after: .seconds(1))
            }
            results.append(stop ?? result)
            if case .retry = result { stop = stop ?? result }
        }
        state.value.withLock { state in
            for result in results {
                switch result {
                case .delivered: state.counters.published += 1
                case .retry: state.counters.retried += 1
                case .dead: state.counters.dead += 1
                }
            }
        }
        return results
    }

    private func retries(_ count: Int, _ reason: String) -> [DeliveryResult] {
        state.value.withLock { $0.counters.retried += count }
        return Array(repeating: .retry(reason, after: .seconds(1)), count: count)
    }

    package func close() async {
        healthTask.cancel()
        await connection.close(farewell: [MQTTMessage(topics.status, "offline", isRetained: true)])
        acknowledged.finish()
    }

    // MARK: Payloads

    private static func stateMessage(_ topics: MQTTTopics, _ name: String, _ reader: Reader) -> MQTTMessage? {
        guard let state = reader.state, let since = reader.since else { return nil }
        let payload: JSONValue = ["state": .string(state), "since": .string(since)]
        return MQTTMessage(topics.state(name), payload.compactText, isRetained: true)
    }

    private static func health(_ backlog: Backlog?, _ counters: Counters) -> JSONValue {
        [
            "pending": .optional(backlog?.pending), "oldestSeconds": .optional(backlog?.oldest),
            "published": .int(counters.published), "retried": .int(counters.retried), "dead": .int(counters.dead),
            "connections": .int(counters.connections), "acknowledgements": .int(counters.acknowledgements),
            "malformedAcknowledgements": .int(counters.malformedAcknowledgements),
            "lateTags": .int(counters.lateTags),
        ]
    }

    /// Milliseconds since 1970.
    package static let wallClock: @Sendable () -> Int = {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
