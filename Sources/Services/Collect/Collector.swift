// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import Synchronization
package import MQTT

/// Stores the events of all sites and acknowledges them.
package final class Collector: Sendable {
    /// Where events go.
    package enum Destination: Hashable, Sendable {
        case sqlite(path: String)
        /// An address as libpq takes it, without a password.
        case postgreSQL(url: String)

        package enum AddressError: Error, Hashable, Sendable {
            case unknown
            /// It contains a password, which every user of the machine could read.
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
        /// Part of the client ID, for which the broker keeps the messages while the collector is away.
        package var name: String
        package var gapLimit = Duration.seconds(60)
        package var silenceLimit = Duration.seconds(180)
        /// How often gaps and silent sites are checked.
        package var tick = Duration.seconds(1)
        /// How often missing events are requested.
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
        /// The tables can be used but not improved.
        case notImproved(EventStore.Improvement, EventStoreError)
    }

    private struct Inbox {
        var messages: [MQTTMessage] = []
        var isOnline = false
        /// Whether a failed attempt was reported since the start.
        var wasTold = false
    }

    private static let batch = 500

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
        // The broker keeps what is not stored, even if this process is killed.
        connecting.holdsMessages = true
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
            case .notPublished: break
            case .message(let message): inbox.value.withLock { $0.messages.append(message) }
            }
            continuation.yield()
        }
        (signals, signal, self.inbox) = (stream, continuation, inbox)
        (self.settings, self.destination, self.tell, self.report) = (settings, destination, tell, report)
    }

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
            await collectAll(&monitor)
            monitor.setOnline(inbox.value.withLock { $0.isOnline }, at: .now)
            if ContinuousClock.now >= nextLook {
                nextLook = .now + tick
                await look(&monitor, &nextQuestion)
            }
        }
        ticker.cancel()
        await collectAll(&monitor)
        await connection.close()
        await store.close()
    }

    /// Makes the tables. A server may start later than this.
    private func prepare() async throws(EventStoreError) {
        while true {
            do throws(EventStoreError) {
                for (improvement, error) in try await store.prepare() { tell(.notImproved(improvement, error)) }
                return
            } catch .unreachable(let reason) {
                guard case .postgreSQL = destination else { throw .unreachable(reason) }
                tell(.database(.unreachable(reason), waiting: 0))
                guard (try? await Task.sleep(for: .seconds(2))) != nil else { throw .unreachable(reason) }
            }
        }
    }

    /// Handles what came; the broker learns it batch by batch. When the task is cancelled before the database has a batch,
    /// the broker sends it again at the next start.
    private func collectAll(_ monitor: inout SiteMonitor) async {
        while true {
            let messages = inbox.value.withLock { inbox in
                let messages = Array(inbox.messages.prefix(Self.batch))
                inbox.messages.removeFirst(messages.count)
                return messages
            }
            guard !messages.isEmpty, await collect(messages, &monitor) else { return }
            connection.release(messages.count)
        }
    }

    /// - Returns: `false` when the task was cancelled before the events were stored.
    private func collect(_ messages: [MQTTMessage], _ monitor: inout SiteMonitor) async -> Bool {
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
        if !events.isEmpty {
            guard let batch = await stored(events) else { return false }
            for (event, reason) in batch.refused {
                refuse("\(settings.prefix)/\(event.topicSite)/\(event.topicReader)/event", reason)
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
        return true
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

    /// Tries until the database has the events. Meanwhile the collector is not connected: a broker would wait for the
    /// acknowledgement and end the connection.
    ///
    /// - Returns: `nil` when the task was cancelled before.
    private func stored(_ events: [CollectedEvent]) async -> StoredBatch? {
        var pause = Duration.milliseconds(250)
        defer { connection.setPaused(false) }
        while true {
            do throws(EventStoreError) {
                return try await store.store(events, at: Timestamp.now.text(.utc))
            } catch {
                tell(.database(error, waiting: events.count))
                connection.setPaused(true)
                inbox.value.withLock { $0.isOnline = false }
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
}
