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
    /// The broker does not let the user publish these topics.
    case notAllowed(user: String?, topics: String)
    /// The broker ends each connection soon after it began, as when another client has the same name.
    case sharedName(site: String)
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
        /// How long `deliver` waits for a connection before it asks for a retry.
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
        /// The message for Home Assistant.
        var shown: HomeAssistant.Reader
        var state: (word: String, since: String)?
        /// Whether there was an event of it in this run.
        var isSeen = false
        /// The last event that was published for Home Assistant, or that precedes this run: a repeated event opens no door.
        var toldUpTo = 0
    }

    private struct State {
        /// In the order in which they came.
        var readers: [Reader] = []
        /// The currencies of a new reader.
        var currencies: [HomeAssistant.Currency] = []
        var counters = Counters()
        var fault: MQTTFault?
        /// When the connection was made, and how many in a row did not last.
        var connected: ContinuousClock.Instant?
        var shortConnections = 0
        /// The topics that are not allowed, as they were told.
        var forbidden: Set<String> = []
        /// Called when there is a connection.
        var retry: (@Sendable () -> Void)?
        /// By the readers as in topics: what was acknowledged, and when a repeat was last passed on.
        var acknowledged: [String: (upTo: Int, asked: ContinuousClock.Instant)] = [:]

        /// Whether the consumer said the same before, and it is time to listen to it.
        mutating func isRepeated(_ one: Acknowledgement, pause: Duration) -> Bool {
            let now = ContinuousClock.now
            let last = acknowledged[one.reader]
            // Readers of this site only: anybody may invent names.
            guard readers.contains(where: { MQTTTopics.reader($0.shown.name) == one.reader }) else { return false }
            let isAsking = last.map { $0.upTo == one.upTo && now - $0.asked >= pause } ?? false
            acknowledged[one.reader] = (one.upTo, isAsking || last == nil ? now : last?.asked ?? now)
            return isAsking
        }

        /// Whether this is the third connection in a row that the broker ended soon after it began.
        ///
        /// mosquitto 2.0.11 gives no reason (8E, session taken over) when another client connects with the same ID.
        mutating func isShared(_ fault: MQTTFault) -> Bool {
            guard case .ended = fault, let connected, .now - connected < .seconds(20) else {
                if case .ended = fault { shortConnections = 0 }
                return false
            }
            shortConnections += 1
            return shortConnections == 3
        }

        /// The place of a reader.
        mutating func place(of name: String) -> Int {
            if let place = readers.firstIndex(where: { $0.shown.name == name }) { return place }
            readers.append(Reader(shown: HomeAssistant.Reader(name)))
            readers[readers.count - 1].shown.currencies = currencies
            return readers.count - 1
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
        if settings.homeAssistant?.hasBalances == true { state.value.withLock { $0.currencies = [.yen] } }
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
        // A door should not wait long for a broker that is back.
        connecting.longestPause = .seconds(10)
        settings.adjust(&connecting)
        let announce: @Sendable () -> [MQTTMessage] = {
            let readers = state.value.withLock { $0.readers }
            return readers.compactMap { Self.stateMessage(topics, $0) } + (homeAssistant?.siteMessages ?? [])
                + readers.filter(\.isSeen).flatMap { homeAssistant?.messages($0.shown) ?? [] }
        }
        let link = ConnectionLink()
        let connection = MQTTConnection(
            // States first: when Home Assistant believes them again, they are those of now.
            connecting, birth: { announce() + [MQTTMessage(topics.status, "online", isRetained: true)] }
        ) { event in
            switch event {
            case .connected:
                let retry = state.value.withLock { state in
                    state.counters.connections += 1
                    state.fault = nil
                    state.forbidden = []
                    state.connected = .now
                    return state.retry
                }
                tell(.connected)
                retry?()
            case .disconnected(let fault):
                let (isNew, isShared) = state.value.withLock { state in
                    defer { (state.fault, state.connected) = (fault, nil) }
                    return (state.fault != fault, state.isShared(fault))
                }
                // A broker that is away for a week is one line.
                if isNew { tell(.disconnected(fault)) }
                if isShared { tell(.sharedName(site: settings.site)) }
            case .notPublished(let topic, 0x87):
                // All topics of the site are one rule of the broker, and so are those of Home Assistant.
                let below =
                    topic.hasPrefix("\(topics.root)/")
                    ? topics.root : homeAssistant.map(\.settings.prefix) ?? topics.root
                if state.value.withLock({ $0.forbidden.insert(below).inserted }) {
                    tell(.notAllowed(user: settings.broker.user, topics: below))
                }
            case .notPublished: break
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

    package func whenReady(_ retry: @escaping @Sendable () -> Void) {
        state.value.withLock { $0.retry = retry }
    }

    package func know(_ readers: [ReaderStatus]) {
        let start = EventClock.text(now())
        let messages = state.value.withLock { state in
            var messages: [MQTTMessage] = []
            for status in readers {
                let isNew = !state.readers.contains { $0.shown.name == status.name }
                let place = state.place(of: status.name)
                var reader = state.readers[place]
                let before = (reader.shown, reader.state?.word)
                reader.shown.isNamed = status.isNamed
                reader.shown.product = status.product ?? reader.shown.product
                if isNew {
                    reader.toldUpTo = status.sequence
                    reader.state = status.state
                    reader.isSeen = status.state != nil
                }
                if !status.isWatched { reader.isSeen = false }
                if !status.isWatched && reader.state?.word != "gone" || reader.state == nil {
                    reader.state = ("gone", start)
                }
                state.readers[place] = reader
                if reader.state?.word != before.1, let message = Self.stateMessage(topics, reader) {
                    messages.append(message)
                }
                if reader.isSeen, reader.shown != before.0 { messages += homeAssistant?.messages(reader.shown) ?? [] }
            }
            return messages
        }
        if !messages.isEmpty { connection.post(messages) }
    }

    /// Adds the messages of one event.
    private func learn(_ event: OutboxEvent, _ messages: inout [MQTTMessage], _ places: inout [Int]) {
        let isTap = event.type == "on" || event.type == "off"
        let isLate = homeAssistant.map { abs(now() - event.time) > $0.settings.maxAge.milliseconds } ?? true
        let tap = isTap && !isLate ? homeAssistant?.tap(event) : nil
        var stateMessage: MQTTMessage?
        let (isAnnounced, isTold, shown) = state.value.withLock { state in
            let place = state.place(of: event.reader)
            var reader = state.readers[place]
            let (wasSeen, known) = (reader.isSeen, reader.shown)
            reader.isSeen = true
            if event.type == "reader", case .object(let members)? = try? JSONValue(parsing: Array(event.line.utf8)),
                case .string(let word)? = members["state"], case .string(let since)? = members["at"]
            {
                reader.state = (word, since)
                stateMessage = Self.stateMessage(topics, reader)
            }
            if let currency = tap?.currency, !reader.shown.currencies.contains(currency) {
                reader.shown.currencies.append(currency)
            }
            let isTold = isTap && event.sequence > reader.toldUpTo
            if isTold { reader.toldUpTo = event.sequence }
            if homeAssistant != nil, event.type == "on", event.tag != nil, isLate { state.counters.lateTags += 1 }
            state.readers[place] = reader
            return (wasSeen && reader.shown == known, isTold, reader.shown)
        }
        if !isAnnounced, let homeAssistant { messages += homeAssistant.messages(shown) }
        places.append(messages.count)
        messages.append(MQTTMessage(topics.event(event.reader), event.line))
        if isTold, let tap { messages += tap.messages }
        if let stateMessage { messages.append(stateMessage) }
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
            // An operator has to change the broker's rules, or its quota.
            case .refused(0x87): result = .retry("notAllowed", after: .seconds(10))
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

    private static func stateMessage(_ topics: MQTTTopics, _ reader: Reader) -> MQTTMessage? {
        guard let state = reader.state else { return nil }
        let payload: JSONValue = ["state": .string(state.word), "since": .string(state.since)]
        return MQTTMessage(topics.state(reader.shown.name), payload.compactText, isRetained: true)
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
