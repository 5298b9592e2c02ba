// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ReaderCore
internal import Synchronization
package import KazasuTaps

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
    /// An acknowledgement could not be stored.
    case notStored(OutboxError)
}

/// Publishes events to an MQTT broker, and tells Home Assistant about the readers.
///
/// An event counts as delivered at the broker's PUBACK. Consumers that store events answer with an ``Acknowledgement`` on
/// the topic `ack`, which the sink passes on to the outbox. A consumer that misses events repeats its last one, which asks
/// for those after it once more (``Acknowledgement/isRepeated``, at most every few seconds a reader).
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
        var state: (state: TapEvent.ReaderState, since: String)?
        /// Whether there was an event of it in this run.
        var isSeen = false
        /// The number of the last event that was published for Home Assistant, or that precedes this run: a repeated event
        /// opens no door.
        var toldUpTo = 0
    }

    private struct State {
        /// Set after init: the callback is created before the connection.
        weak var connection: MQTTConnection?
        /// In the order of their first events.
        var readers: [Reader] = []
        /// The currencies of a new reader.
        var currencies: [HomeAssistant.Currency] = []
        var counters = Counters()
        var fault: MQTTFault?
        /// When the connection was made.
        var connected: ContinuousClock.Instant?
        var sharedName = SharedNameSigns()
        /// The topics that are not allowed, as they were told.
        var forbidden: Set<String> = []
        /// Called after each connection.
        var retry: (@Sendable () -> Void)?
        var isStarted = false
        /// By the readers as in topics: what was acknowledged, and when a repeat was last passed on.
        var acknowledged: [String: (upTo: Int, asked: ContinuousClock.Instant)] = [:]

        /// Whether the consumer repeats itself, and its last repetition was long enough ago.
        mutating func isRepeated(_ one: Acknowledgement, pause: Duration) -> Bool {
            let now = ContinuousClock.now
            let last = acknowledged[one.reader]
            // Readers of this site only: anyone could make up names.
            guard readers.contains(where: { MQTTTopics.reader($0.shown.name) == one.reader }) else { return false }
            let isAsking = last.map { $0.upTo == one.upTo && now - $0.asked >= pause } ?? false
            acknowledged[one.reader] = (one.upTo, isAsking || last == nil ? now : last?.asked ?? now)
            return isAsking
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
    /// The acknowledgements of consumers, for a caller that gave no outbox.
    package let acknowledgements: AsyncStream<Acknowledgement>

    private let settings: Settings
    private let homeAssistant: HomeAssistant?
    private let now: @Sendable () -> Int
    private let outbox: Outbox?
    private let tell: @Sendable (MQTTNotice) -> Void
    private let state: SharedState
    private let connection: MQTTConnection
    private let acknowledged: AsyncStream<Acknowledgement>.Continuation
    private let tasks = Mutex<[Task<Void, Never>]>([])

    private final class SharedState: Sendable {
        let value = Mutex(State())
    }

    /// Makes a sink, which connects when it is started.
    ///
    /// - Parameters:
    ///   - outbox: gets the acknowledgements, and is what the topic `health` is about.
    ///   - now: milliseconds since 1970.
    ///   - tell: receives what an operator should know; it must not block.
    package init(
        _ settings: Settings, outbox: Outbox? = nil,
        now: @escaping @Sendable () -> Int = { Timestamp.now.milliseconds },
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
        (self.outbox, self.tell) = (outbox, tell)
        self.state = state
        acknowledgements = stream
        acknowledged = continuation
        name = "mqtt:\(settings.broker.host):\(settings.broker.port)/\(settings.prefix)"

        let callbacks = Callbacks(
            settings: settings, topics: topics, homeAssistant: homeAssistant, state: state, tell: tell,
            acknowledge: continuation)
        connection = MQTTConnection(
            // States first: when Home Assistant believes them again, they are those of now.
            Self.connecting(settings, topics, homeAssistant),
            birth: { callbacks.announcement + [MQTTMessage(topics.status, "online", isRetained: true)] },
            onEvent: callbacks.handle)
        state.value.withLock { [connection] in $0.connection = connection }
    }

    /// How the broker is connected to.
    private static func connecting(
        _ settings: Settings, _ topics: MQTTTopics, _ homeAssistant: HomeAssistant?
    ) -> MQTTConnection.Settings {
        // The same ID for each connection of a site: the broker then ends the old one, and publishes its will, before
        // it accepts the new one.
        var connecting = MQTTConnection.Settings(broker: settings.broker, clientID: "kazasu-\(topics.site)")
        connecting.will = MQTTMessage(topics.status, "offline", isRetained: true)
        connecting.subscriptions = [topics.ack] + (homeAssistant.map { [$0.statusTopic] } ?? [])
        // A door should not wait long for a broker that is back.
        connecting.longestPause = .seconds(10)
        settings.adjust(&connecting)
        return connecting
    }

    /// What the connection calls.
    private struct Callbacks: Sendable {
        let settings: Settings
        let topics: MQTTTopics
        let homeAssistant: HomeAssistant?
        let state: SharedState
        let tell: @Sendable (MQTTNotice) -> Void
        let acknowledge: AsyncStream<Acknowledgement>.Continuation

        /// The readers, for those who begin to listen.
        var announcement: [MQTTMessage] {
            let readers = state.value.withLock { $0.readers }
            return readers.compactMap { MQTTSink.stateMessage(topics, $0) } + (homeAssistant?.siteMessages ?? [])
                + readers.filter(\.isSeen).flatMap { homeAssistant?.messages($0.shown) ?? [] }
        }

        func handle(_ event: MQTTConnection.Event) {
            switch event {
            case .connected: connected()
            case .disconnected(let fault): disconnected(fault)
            case .notPublished(let topic, 0x87): notAllowed(topic)
            case .notPublished: break
            case .notSubscribed(let code): tell(.notSubscribed(code))
            case .message(let message) where message.topic == topics.ack: acknowledged(message)
            case .message(let message):
                guard let homeAssistant, message.topic == homeAssistant.statusTopic,
                    message.payload == Array("online".utf8)
                else { return }
                state.value.withLock(\.connection)?.post(announcement)
            }
        }

        private func connected() {
            let retry = state.value.withLock { state in
                state.counters.connections += 1
                state.fault = nil
                state.forbidden = []
                state.connected = .now
                return state.retry
            }
            tell(.connected)
            retry?()
        }

        private func disconnected(_ fault: MQTTFault) {
            let (isNew, isShared) = state.value.withLock { state in
                defer { (state.fault, state.connected) = (fault, nil) }
                let lasted = state.connected.map { .now - $0 }
                return (state.fault != fault, state.sharedName.isNew(fault, after: lasted))
            }
            // A broker that is away for a week is one line.
            if isNew { tell(.disconnected(fault)) }
            if isShared { tell(.sharedName(site: settings.site)) }
        }

        private func notAllowed(_ topic: String) {
            // All topics of the site are one rule of the broker, and so are those of Home Assistant.
            let below =
                topic.hasPrefix("\(topics.root)/")
                ? topics.root : homeAssistant.map(\.settings.prefix) ?? topics.root
            if state.value.withLock({ $0.forbidden.insert(below).inserted }) {
                tell(.notAllowed(user: settings.broker.user, topics: below))
            }
        }

        private func acknowledged(_ message: MQTTMessage) {
            // A retained one may be about events of an outbox that was lost.
            guard !message.isRetained else { return }
            do throws(DocumentError) {
                var one = try Acknowledgement(parsing: message.payload)
                one.isRepeated = state.value.withLock { state in
                    state.counters.acknowledgements += 1
                    return state.isRepeated(one, pause: settings.repeatPause)
                }
                acknowledge.yield(one)
            } catch {
                state.value.withLock { $0.counters.malformedAcknowledgements += 1 }
                tell(.malformedAcknowledgement(bytes: message.payload.count))
            }
        }
    }

    /// Begins to connect.
    package func start() async { startNow() }

    private func startNow() {
        let isFirst = state.value.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard isFirst else { return }
        var tasks = [
            Task { [settings, topics, connection, outbox, state] in
                // Home Assistant subscribes a moment after it learns of the topic, and nothing is retained for it.
                let first = min(settings.healthPause, .seconds(2))
                var pause = first
                while !Task.isCancelled {
                    if connection.isConnected {
                        let payload = Self.health(try? await outbox?.status(), state.value.withLock { $0.counters })
                        connection.post([MQTTMessage(topics.health, payload.compactText, quality: 0)])
                        try? await Task.sleep(for: pause)
                        pause = min(pause * 2, settings.healthPause)
                    } else {
                        pause = first
                        try? await Task.sleep(for: min(pause, .seconds(1)))
                    }
                }
            }
        ]
        if let outbox {
            tasks.append(
                Task { [acknowledgements, name, tell] in
                    for await one in acknowledgements {
                        do throws(OutboxError) {
                            try await Self.pass(one, of: name, to: outbox)
                        } catch {
                            tell(.notStored(error))
                        }
                    }
                })
        }
        self.tasks.withLock { [tasks] in $0 = tasks }
        connection.start()
    }

    /// Marks what a consumer has as acknowledged. A consumer that repeats itself gets what follows once more.
    private static func pass(_ one: Acknowledgement, of sink: String, to outbox: Outbox) async throws(OutboxError) {
        let isReader: @Sendable (String) -> Bool = { MQTTTopics.reader($0) == one.reader }
        try await outbox.confirm(upTo: one.upTo, where: isReader)
        guard one.isRepeated else { return }
        try await outbox.resendUnconfirmed(to: sink, before: one.before ?? .max, where: isReader)
    }

    package var counters: Counters { state.value.withLock { $0.counters } }

    /// Why there is no connection; `nil` while there is one or none was tried.
    package var fault: MQTTFault? { state.value.withLock { $0.fault } }

    package func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
        startNow()
        guard await connection.waitUntilConnected(for: settings.patience) else {
            return retries(events.count, fault?.token ?? "disconnected")
        }
        // The index of each event among the messages.
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
        let start = Timestamp(milliseconds: now()).text()
        let messages = state.value.withLock { state in
            var messages: [MQTTMessage] = []
            for status in readers {
                let isNew = !state.readers.contains { $0.shown.name == status.name }
                let place = state.place(of: status.name)
                var reader = state.readers[place]
                let before = (reader.shown, reader.state?.state)
                reader.shown.isNamed = status.isNamed
                reader.shown.product = status.product ?? reader.shown.product
                if isNew {
                    reader.toldUpTo = status.sequence
                    reader.state = status.state.map { ($0, status.since ?? start) }
                    reader.isSeen = status.state != nil
                }
                if !status.isWatched { reader.isSeen = false }
                if !status.isWatched && reader.state?.state != .gone || reader.state == nil {
                    reader.state = (.gone, start)
                }
                state.readers[place] = reader
                if reader.state?.state != before.1, let message = Self.stateMessage(topics, reader) {
                    messages.append(message)
                }
                if reader.isSeen, reader.shown != before.0 { messages += homeAssistant?.messages(reader.shown) ?? [] }
            }
            return messages
        }
        if !messages.isEmpty { connection.post(messages) }
    }

    /// How old an answer may be that has a topic of its own, in milliseconds.
    private static let answerAge = 2000

    /// Adds the messages of one event.
    private func learn(_ event: StoredEvent, _ messages: inout [MQTTMessage], _ places: inout [Int]) {
        let time = event.moment.milliseconds
        let isLate = homeAssistant.map { abs(now() - time) > $0.settings.maxAge.count(of: .milliseconds(1)) } ?? true
        let tap = isLate || event.card == nil ? nil : homeAssistant?.tap(event.event)
        var stateMessage: MQTTMessage?
        let (isAnnounced, isTold, shown) = state.value.withLock { state in
            let place = state.place(of: event.reader)
            var reader = state.readers[place]
            let (wasSeen, known) = (reader.isSeen, reader.shown)
            reader.isSeen = true
            if case .reader(let new) = event.kind {
                reader.state = (new, event.moment.text)
                stateMessage = Self.stateMessage(topics, reader)
            }
            if let currency = tap?.currency, !reader.shown.currencies.contains(currency) {
                reader.shown.currencies.append(currency)
            }
            let isTold = event.card != nil && event.sequence > reader.toldUpTo
            if isTold { reader.toldUpTo = event.sequence }
            if homeAssistant != nil, case .on(let card, _) = event.kind, card.tag != nil, isLate {
                state.counters.lateTags += 1
            }
            state.readers[place] = reader
            return (wasSeen && reader.shown == known, isTold, reader.shown)
        }
        if !isAnnounced, let homeAssistant { messages += homeAssistant.messages(shown) }
        places.append(messages.count)
        messages.append(MQTTMessage(topics.event(event.reader), event.line))
        // A light that comes late would be taken for another person's.
        if case .answer(let answer) = event.kind, abs(now() - time) <= Self.answerAge {
            let document: JSONValue = [
                "on": .string(answer.on), "answer": .string(answer.verdict.rawValue), "ms": .int(answer.milliseconds),
                "at": .string(event.moment.text),
            ]
            messages.append(MQTTMessage(topics.answer(event.reader), document.compactText, expiry: 2))
        }
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
            // Packet too large, topic name invalid, payload format invalid: only about this message.
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
        for task in tasks.withLock({ $0 }) { task.cancel() }
        if state.value.withLock(\.isStarted) {
            await connection.close(farewell: [MQTTMessage(topics.status, "offline", isRetained: true)])
        }
        acknowledged.finish()
    }

    // MARK: Payloads

    private static func stateMessage(_ topics: MQTTTopics, _ reader: Reader) -> MQTTMessage? {
        guard let state = reader.state else { return nil }
        let payload: JSONValue = ["state": .string(state.state.rawValue), "since": .string(state.since)]
        return MQTTMessage(topics.state(reader.shown.name), payload.compactText, isRetained: true)
    }

    private static func health(_ outbox: Outbox.Status?, _ counters: Counters) -> JSONValue {
        let queues = outbox?.sinks.filter { $0.sink.hasPrefix("mqtt:") }
        let oldest = queues?.compactMap(\.oldest).min()
        return [
            "pending": .optional(queues.map { $0.reduce(0) { $0 + $1.pending } }),
            "oldestSeconds": .optional(oldest.map { max(0, Timestamp.now.milliseconds - $0.milliseconds) / 1000 }),
            "published": .int(counters.published), "retried": .int(counters.retried), "dead": .int(counters.dead),
            "connections": .int(counters.connections), "acknowledgements": .int(counters.acknowledgements),
            "malformedAcknowledgements": .int(counters.malformedAcknowledgements),
            "lateTags": .int(counters.lateTags),
        ]
    }
}
