// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import Glibc
internal import Synchronization

/// Stores the events of all sites and acknowledges them.
package final class Collector: Sendable {
    /// Where events go.
    package enum Destination: Hashable, Sendable {
        case sqlite(path: String)
        /// An address as libpq takes it, without a password.
        case postgreSQL(url: String)

        package enum AddressError: Error, Hashable, Sendable {
            case unknown
            /// It contains a password, which everybody on the machine could read.
            case password
        }

        /// Reads `sqlite:FILE` or `postgresql://…`.
        package init(_ text: String) throws(AddressError) {
            if text.hasPrefix("sqlite:"), text.utf8.count > 7, !text.utf8.contains(0) {
                self = .sqlite(path: String(text.dropFirst(7)))
                return
            }
            guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://"), !text.utf8.contains(0) else {
                throw .unknown
            }
            let rest = text.drop { $0 != "/" }.dropFirst(2)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            if let at = authority.lastIndex(of: "@"), authority[..<at].contains(":") { throw .password }
            if rest.contains("password=") { throw .password }
            self = .postgreSQL(url: text)
        }
    }

    package struct Settings: Sendable {
        package var broker: MQTTBroker
        package var prefix = "kazasu"
        /// The group whose members share the events; `nil` to get all of them.
        package var shared: String?
        /// Part of the client ID, by which the broker keeps the messages while nobody collects.
        package var name: String
        package var gapLimit = Duration.seconds(60)
        package var silenceLimit = Duration.seconds(180)
        /// How often gaps and silence are looked at.
        package var tick = Duration.seconds(1)
        /// How often the events of a gap are asked for.
        package var questionPause = Duration.seconds(5)
        /// How long the broker keeps the messages.
        package var sessionExpiry: UInt32 = 14 * 24 * 3600
        /// Changes how the connection behaves; for tests.
        package var adjust: @Sendable (inout MQTTConnection.Settings) -> Void = { _ in }

        package init(broker: MQTTBroker, name: String) {
            self.broker = broker
            self.name = name
        }
    }

    /// What an operator should know.
    package enum Notice: Hashable, Sendable {
        case broker(MQTTNotice)
        /// Events, or the start with 0, wait for the database.
        case database(EventStoreError, waiting: Int)
    }

    private struct Inbox {
        var messages: [MQTTMessage] = []
        /// Whether the connection was told to stop reading.
        var isFull = false
        var isOnline = false
        /// Whether a failed attempt was reported since the start.
        var wasTold = false
    }

    private static let batch = 500
    private static let fullInbox = 5000

    private let settings: Settings
    private let destination: Destination
    private let store: EventStore
    private let tell: @Sendable (Notice) -> Void
    private let report: @Sendable (CollectReport) -> Void
    private let inbox: Shared<Inbox>
    private let connection: MQTTConnection
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    private final class Shared<Value: Sendable>: Sendable {
        let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
    }

    /// Opens the database.
    ///
    /// - Parameters:
    ///   - tell: receives what an operator should know; it must not block.
    ///   - report: receives gaps, silent sites and malformed events.
    package init(
        _ settings: Settings, to destination: Destination, tell: @escaping @Sendable (Notice) -> Void = { _ in },
        report: @escaping @Sendable (CollectReport) -> Void
    ) throws(EventStoreError) {
        switch destination {
        case .sqlite(let path): store = EventStore(try SQLiteDatabase(path: path))
        case .postgreSQL(let url): store = EventStore(PostgreSQLDatabase(url: url))
        }
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let inbox = Shared(Inbox())
        var connecting = MQTTConnection.Settings(
            broker: settings.broker,
            clientID: "kazasu-collect-"
                + MQTTTopics.name([settings.shared, settings.name].compactMap { $0 }.joined(separator: "-")))
        connecting.sessionExpiry = settings.sessionExpiry
        let group = settings.shared.map { "$share/\($0)/" } ?? ""
        connecting.subscriptions = [
            "\(group)\(settings.prefix)/+/+/event", "\(settings.prefix)/+/status", "\(settings.prefix)/+/health",
        ]
        settings.adjust(&connecting)
        connection = MQTTConnection(connecting) { event in
            switch event {
            case .connected:
                inbox.value.withLock { $0.isOnline = true }
                tell(.broker(.connected))
            case .disconnected(let fault):
                let (wasOnline, isFirst) = inbox.value.withLock { inbox in
                    defer { (inbox.isOnline, inbox.wasTold) = (false, true) }
                    return (inbox.isOnline, !inbox.wasTold)
                }
                if wasOnline || isFirst { tell(.broker(.disconnected(fault))) }
            case .notSubscribed(let code):
                tell(.broker(.notSubscribed(code)))
            case .message(let message): inbox.value.withLock { $0.messages.append(message) }
            }
            continuation.yield()
        }
        (signals, signal, self.inbox) = (stream, continuation, inbox)
        (self.settings, self.destination, self.tell, self.report) = (settings, destination, tell, report)
    }

    package var isConnected: Bool { connection.isConnected }

    /// Collects until the task is cancelled.
    ///
    /// - Throws: ``EventStoreError`` when the database cannot be used at the start.
    package func run() async throws(EventStoreError) {
        try await prepare()
        var monitor = SiteMonitor(gapLimit: settings.gapLimit, silenceLimit: settings.silenceLimit)
        for reader in try await store.progress() {
            monitor.expect(site: reader.topicSite, at: .now)
            _ = monitor.store(reader, at: .now)
        }
        connection.start()
        let (tick, signal) = (settings.tick, signal)
        let ticker = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: tick)
                signal.yield()
            }
        }
        var (nextLook, nextQuestion) = (ContinuousClock.now, ContinuousClock.now)
        for await _ in signals {
            while let messages = takeMessages() { await collect(messages, &monitor) }
            monitor.setOnline(inbox.value.withLock { $0.isOnline }, at: .now)
            if ContinuousClock.now >= nextLook {
                nextLook = .now + tick
                await look(&monitor, &nextQuestion)
            }
        }
        ticker.cancel()
        // The broker has been told that these were received.
        connection.setReading(false)
        while let messages = takeMessages() { await collect(messages, &monitor) }
        await connection.close()
        await store.close()
    }

    /// Makes the tables. A server may start later than this.
    private func prepare() async throws(EventStoreError) {
        while true {
            do throws(EventStoreError) {
                return try await store.prepare()
            } catch .unreachable(let reason) {
                guard case .postgreSQL = destination else { throw .unreachable(reason) }
                tell(.database(.unreachable(reason), waiting: 0))
                guard (try? await Task.sleep(for: .seconds(2))) != nil else { throw .unreachable(reason) }
            }
        }
    }

    /// The next messages; stops reading while too many wait.
    private func takeMessages() -> [MQTTMessage]? {
        let (messages, isFull, changed) = inbox.value.withLock { inbox in
            let messages = Array(inbox.messages.prefix(Self.batch))
            inbox.messages.removeFirst(messages.count)
            let isFull = inbox.messages.count > Self.fullInbox
            defer { inbox.isFull = isFull }
            return (messages, isFull, isFull != inbox.isFull)
        }
        if changed { connection.setReading(!isFull) }
        return messages.isEmpty ? nil : messages
    }

    private func collect(_ messages: [MQTTMessage], _ monitor: inout SiteMonitor) async {
        var events: [CollectedEvent] = []
        var asking: Set<String> = []
        for message in messages {
            if let site = siteOfStatus(message) {
                if message.payload != Array("offline".utf8) {
                    monitor.hear(site: site, at: .now).forEach(report)
                    if message.topic.hasSuffix("/status") { asking.insert(site) }
                } else {
                    monitor.expect(site: site, at: .now)
                }
                continue
            }
            do throws(CollectedEvent.Malformed) {
                let event = try CollectedEvent(message, prefix: settings.prefix)
                events.append(event)
                monitor.hear(site: event.topicSite, at: .now).forEach(report)
            } catch {
                refuse(message.topic, error)
            }
        }
        if !events.isEmpty, let batch = await stored(events) {
            for event in batch.refused {
                refuse("\(settings.prefix)/\(event.topicSite)/\(event.topicReader)/event", .database)
            }
            for event in batch.late { report(.late(event.source, sequence: event.sequence)) }
            for reader in batch.progress { monitor.store(reader, at: .now).forEach(report) }
            // A repeated acknowledgement would ask for the events after a gap; that is done once in a while.
            connection.post(batch.progress.filter { $0.afterGap == nil }.map(acknowledgement))
        }
        // A site that has just connected may have missed acknowledgements.
        if !asking.isEmpty, let all = try? await store.progress() {
            connection.post(all.filter { asking.contains($0.topicSite) }.map(acknowledgement))
        }
    }

    private func refuse(_ topic: String, _ reason: CollectedEvent.Malformed) {
        report(.malformed(topic: topic, reason))
    }

    /// The site of a message on `status` or `health`.
    private func siteOfStatus(_ message: MQTTMessage) -> String? {
        guard message.topic.hasPrefix(settings.prefix + "/") else { return nil }
        let levels = message.topic.dropFirst(settings.prefix.count + 1).split(separator: "/")
        guard levels.count == 2, levels[1] == "status" || levels[1] == "health" else { return nil }
        return String(levels[0])
    }

    /// Tries until the database has the events.
    ///
    /// - Returns: `nil` when the task was cancelled before.
    private func stored(_ events: [CollectedEvent]) async -> StoredBatch? {
        var pause = Duration.milliseconds(250)
        while true {
            do throws(EventStoreError) {
                return try await store.store(events, at: Self.time())
            } catch {
                tell(.database(error, waiting: events.count))
                guard (try? await Task.sleep(for: pause)) != nil else { return nil }
                pause = min(pause * 2, .seconds(30))
            }
        }
    }

    private func acknowledgement(_ reader: ReaderProgress) -> MQTTMessage {
        let one = Acknowledgement(reader: reader.topicReader, upTo: reader.upTo, before: reader.afterGap)
        return MQTTMessage("\(settings.prefix)/\(reader.topicSite)/ack", one.json.compactText)
    }

    private func look(_ monitor: inout SiteMonitor, _ nextQuestion: inout ContinuousClock.Instant) async {
        let now = ContinuousClock.now
        monitor.silences(at: now).forEach(report)
        for source in monitor.overdue(at: now) {
            guard let after = try? await store.skipGap(source) else { continue }
            // Unless another collector was first, or the events came meanwhile.
            if let skipped = after.skipped {
                report(.gap(source, from: skipped.lowerBound, to: skipped.upperBound))
            }
            _ = monitor.store(after, at: now)
            connection.post([acknowledgement(after)])
        }
        if now >= nextQuestion {
            nextQuestion = now + settings.questionPause
            connection.post(monitor.withGaps.map(acknowledgement))
        }
    }

    /// Now, in UTC with milliseconds.
    private static func time() -> String {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        var seconds = now.tv_sec
        let milliseconds = now.tv_nsec / 1_000_000
        var parts = unsafe tm()
        unsafe gmtime_r(&seconds, &parts)
        let numbers = unsafe [
            parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        ]
        let texts = numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }
        let fraction = String("\(1000 + milliseconds)".suffix(3))
        return texts.prefix(3).joined(separator: "-") + "T" + texts.suffix(3).joined(separator: ":") + ".\(fraction)Z"
    }
}
