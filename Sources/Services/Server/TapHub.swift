// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import NIOCore
internal import Synchronization
package import KazasuTaps

/// Sends the events of a watcher to the clients of `/v1/taps`.
///
/// Everything happens on the event loop of the server, so that a client that asks for what is stored and one that gets
/// what comes miss nothing in between.
package final class TapHub: Sendable {
    private struct State {
        var readers: [String: Reader] = [:]
        /// The readers that the user named; empty for all that are connected.
        var named: Set<String> = []
        var streams: [ObjectIdentifier: TapStream] = [:]
        /// The clients of RPC.
        var listeners: [Int: Listener] = [:]
        var lastListener = 0
        /// The last event that was published or, before the first one, stored by an earlier run.
        var lastID: String?
        var beat: RepeatedTask?
    }

    /// A client of RPC, and which events it wants.
    private struct Listener: Sendable {
        var reader: String?
        /// The client's own names for cards.
        var known: KnownCards?
        var onlyKnown = false
        let send: @Sendable (JSONValue) -> Void

        /// - Throws: for a parameter that is not there, or that is the server's to decide.
        init(
            _ params: JSONObject, _ send: @escaping @Sendable (JSONValue) -> Void
        ) throws(ServeError) {
            self.send = send
            for member in params.members {
                switch (member.key, member.value) {
                case (_, .null): continue
                case ("reader", .string(let name)): reader = name
                case ("onlyKnown", .bool(let isOn)): onlyKnown = isOn
                case ("only", .object(let names)):
                    do throws(KnownCards.Refusal) {
                        known = try KnownCards(names)
                    } catch {
                        throw .badParameter("only", error.words)
                    }
                case ("reader", _): throw .badParameter("reader", LocalizedText("it must be a text", "文字列を指定してください"))
                case ("onlyKnown", _):
                    throw .badParameter(
                        "onlyKnown", LocalizedText("it must be true or false", "true か false を指定してください"))
                case ("only", _):
                    throw .badParameter(
                        "only", LocalizedText("it must be an object of names by tags", "tag と名前のオブジェクトを指定してください"))
                case (let name, _):
                    let isServers = ServiceDescription.tapParameters.contains { $0.name == name }
                    throw isServers ? .decidedByServer(name) : .unknownParameter(name, among: Self.parameters)
                }
            }
        }

        private static let parameters = ["reader", "only", "onlyKnown"]

        /// Sends an event that the client wants, with its name for the card.
        func send(_ published: Published, _ document: (TapEvent) -> JSONValue) {
            guard reader == nil || reader == published.event.reader else { return }
            guard let card = published.event.card else { return send(published.json) }
            guard let known else {
                if !onlyKnown || card.name != nil { send(published.json) }
                return
            }
            let name = known.name(of: card)
            guard name != nil || !onlyKnown else { return }
            guard name != card.name else { return send(published.json) }
            var event = published.event
            event.setName(name ?? card.name)
            send(document(event))
        }
    }

    /// What is known of a reader.
    fileprivate struct Reader {
        var state: TapEvent.ReaderState?
        /// The `on` of the card that lies there.
        var card: JSONValue?
    }

    /// An event for the clients.
    private struct Published: Sendable {
        var event: TapEvent
        var json: JSONValue
        var message: ByteBuffer
    }

    /// How long the event loop has for other things before more events are sent: it does nothing else while it has tasks.
    private static let pause = TimeAmount.milliseconds(1)

    let outbox: Outbox?
    private let eventLoop: any EventLoop
    private let heartbeat: Duration
    private let language: Language
    private let mask: (@Sendable (JSONValue) -> JSONValue)?
    private let state: NIOLoopBoundBox<State>
    /// What is not sent yet, and whether a task is going to.
    private let published = Mutex<(events: [Published], isSending: Bool)>(([], false))

    /// - Parameters:
    ///   - thread: that of the server.
    ///   - heartbeat: how often clients get a comment.
    ///   - language: the language of messages.
    ///   - mask: masks personal data in events; `nil` for none.
    package init(
        _ outbox: Outbox?, on thread: HTTPThread, heartbeat: Duration = .seconds(15), language: Language = .english,
        mask: (@Sendable (JSONValue) -> JSONValue)? = nil
    ) {
        (self.outbox, eventLoop, self.heartbeat) = (outbox, thread.eventLoop, heartbeat)
        (self.language, self.mask) = (language, mask)
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
    }

    /// Begins with the readers that the user named, connected or not, and forgets those of before.
    package func watch(readers: [String]) {
        eventLoop.execute { [state] in
            let named = Set(readers)
            for reader in state.value.named.subtracting(named) { state.value.readers[reader] = nil }
            if !named.isEmpty { state.value.readers = state.value.readers.filter { named.contains($0.key) } }
            for reader in named where state.value.readers[reader] == nil {
                state.value.readers[reader] = Reader(state: .gone)
            }
            state.value.named = named
        }
    }

    /// Takes up where an earlier run stopped. Called before anything is published.
    package func resume() async {
        guard let outbox, let memory = try? await outbox.memory(), let last = memory.lastID,
            (try? await outbox.events(after: last, limit: 0)) != nil
        else { return }
        try? await eventLoop.submit { [state] in
            if state.value.lastID == nil { state.value.lastID = last }
        }.get()
    }

    /// Sends an event that is stored. Called for one event after another.
    package func publish(_ event: StoredEvent) {
        // Cards that are kept from the sinks are not stored, so that no client could resume after them.
        guard event.sequence > 0 else { return }
        let event = Published(event: event.event, json: document(of: event.event), message: message(event))
        let isFirst = published.withLock { published in
            published.events.append(event)
            defer { published.isSending = true }
            return !published.isSending
        }
        if isFirst { eventLoop.execute { self.send() } }
    }

    /// Sends what was published until now.
    package func finish() async { try? await eventLoop.submit { self.send() }.get() }

    /// Sends everything that was published, to each client at once: one that is behind catches up, however many there are.
    private func send() {
        let events = published.withLock { published in
            defer { published.events = [] }
            if published.events.isEmpty { published.isSending = false }
            return published.events
        }
        guard !events.isEmpty else { return }
        for published in events {
            let event = published.event
            // One that was removed ends its visits after that.
            if state.value.named.isEmpty || state.value.named.contains(event.reader) {
                state.value.readers[event.reader, default: Reader()].note(event.kind, published.json)
            }
            state.value.lastID = event.id
        }
        for stream in state.value.streams.values {
            for published in events { stream.push(published.event.id, published.message) }
        }
        for listener in state.value.listeners.values {
            for published in events { listener.send(published, document(of:)) }
        }
        eventLoop.scheduleTask(in: Self.pause) { self.send() }
    }

    /// What clients get of an event.
    func document(of event: TapEvent) -> JSONValue { mask?(event.json) ?? event.json }

    /// The same as text.
    func line(of event: StoredEvent) -> String { mask?(event.event.json).compactText ?? event.line }

    /// An event as one of server-sent events.
    func message(_ event: StoredEvent) -> ByteBuffer {
        Self.message(event.kind.word, id: event.id, line(of: event))
    }

    /// One of server-sent events.
    static func message(_ name: String, id: String? = nil, _ data: String) -> ByteBuffer {
        ByteBuffer(string: (id.map { "id: \($0)\n" } ?? "") + "event: \(name)\ndata: \(data)\n\n")
    }

    // MARK: Clients; on the event loop

    /// The last event that was published.
    var lastID: String? { state.value.lastID }

    /// What clients get that do not resume. It has the id of the last event, so that a client that loses its connection
    /// before the next one resumes, too.
    var states: [ByteBuffer] {
        state.value.readers.sorted { $0.key < $1.key }.map { name, reader in
            let document: JSONValue = [
                "reader": .string(name), "state": .string((reader.state ?? .ready).rawValue),
                "on": reader.card ?? .null,
            ]
            return Self.message("state", id: state.value.lastID, document.compactText)
        }
    }

    func add(_ stream: TapStream) {
        state.value.streams[ObjectIdentifier(stream)] = stream
        guard state.value.beat == nil else { return }
        let pause = TimeAmount(heartbeat)
        state.value.beat = eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [state] _ in
            for stream in state.value.streams.values { stream.beat() }
        }
    }

    func remove(_ stream: TapStream) {
        state.value.streams[ObjectIdentifier(stream)] = nil
        guard state.value.streams.isEmpty else { return }
        state.value.beat?.cancel()
        state.value.beat = nil
    }
}

extension TapHub.Reader {
    fileprivate mutating func note(_ kind: TapEvent.Kind, _ json: JSONValue) {
        switch kind {
        case .on: card = json
        case .off: card = nil
        case .reader(let new): state = new
        case .answer: break
        }
    }
}

/// One client of `/v1/taps`. Used only on the event loop.
final class TapStream: HTTPStreamSource {
    private static let page = 256

    private let hub: TapHub
    private let stream: HTTPStream
    /// Events that wait until the client takes more.
    private var queue = CircularBuffer<(id: String, message: ByteBuffer)>()
    /// Their bytes.
    private var waiting = 0
    /// The last event that was written.
    private var lastID: String?
    private var isReplaying = false
    /// Whether the next page waits until the client takes more, and after which event it begins.
    private var (isReplayPaused, resumption) = (false, String?.none)
    private var isEnded = false

    /// - Parameter id: the last event that the client has; `nil` for one that begins.
    init(_ stream: HTTPStream, _ hub: TapHub, after id: String?) {
        (self.stream, self.hub) = (stream, hub)
        stream.write(ByteBuffer(string: "retry: 1000\n\n"))
        hub.add(self)
        if let id {
            isReplaying = true
            replay(after: id)
        } else {
            lastID = hub.lastID
            for message in hub.states { stream.write(message) }
        }
    }

    /// Takes an event that was published.
    func push(_ id: String, _ message: ByteBuffer) {
        // What is published meanwhile is stored, too.
        guard !isEnded, !isReplaying, lastID.map({ id > $0 }) ?? true else { return }
        guard !queue.isEmpty || !stream.isWritable else { return write(id, message) }
        queue.append((id, message))
        waiting += message.readableBytes
        if waiting > OutputLimit.bytes { overflow() }
    }

    func beat() {
        if !isEnded, stream.isWritable { stream.write(ByteBuffer(string: ":\n\n")) }
    }

    func becameWritable() {
        if isReplayPaused {
            isReplayPaused = false
            return replay(after: resumption)
        }
        while stream.isWritable, let next = queue.popFirst() {
            waiting -= next.message.readableBytes
            write(next.id, next.message)
        }
    }

    func closed() {
        isEnded = true
        queue.removeAll()
        hub.remove(self)
    }

    private func write(_ id: String, _ message: ByteBuffer) {
        lastID = id
        stream.write(message)
    }

    /// Tells the client where to resume, and ends.
    private func overflow() {
        isEnded = true
        queue.removeAll()
        stream.write(Self.notice("overflow", after: lastID))
        hub.remove(self)
        stream.end()
    }

    private static func notice(_ name: String, after id: String?) -> ByteBuffer {
        let document: JSONValue = ["after": .text(id)]
        return TapHub.message(name, document.compactText)
    }

    // MARK: Resuming

    /// Reads a page of stored events.
    private func replay(after id: String?) {
        guard let outbox = hub.outbox else { return end() }
        let bound = NIOLoopBound(self, eventLoop: stream.eventLoop)
        let published = hub.lastID
        let page = stream.eventLoop.makeFutureWithTask { await Self.page(of: outbox, after: id) }
        page.whenSuccess { bound.value.take($0, after: id, published) }
    }

    private static func page(of outbox: Outbox, after id: String?) async -> Result<[StoredEvent]?, OutboxError> {
        do throws(OutboxError) {
            return .success(try await outbox.events(after: id, limit: page))
        } catch {
            return .failure(error)
        }
    }

    /// - Parameter published: the last event that was published when the page was asked for.
    private func take(_ result: Result<[StoredEvent]?, OutboxError>, after id: String?, _ published: String?) {
        guard !isEnded else { return }
        let events: [StoredEvent]
        switch result {
        case .success(let found?): events = found
        case .failure: return end()
        case .success(nil):
            stream.write(Self.notice("gap", after: id))
            return replay(after: nil)
        }
        // Ids grow, so that nothing is sent twice when retention has removed the client's last event meanwhile.
        for event in events where lastID.map({ event.id > $0 }) ?? true {
            write(event.id, hub.message(event))
        }
        // What was published since is stored, but may have been too late for the page.
        if events.isEmpty, hub.lastID == published {
            isReplaying = false
        } else if stream.isWritable {
            replay(after: events.last?.id ?? id)
        } else {
            (isReplayPaused, resumption) = (true, events.last?.id ?? id)
        }
    }

    private func end() {
        isEnded = true
        hub.remove(self)
        stream.end()
    }
}

/// The taps of clients that speak RPC.
extension TapHub: ServiceTaps {
    package func subscribe(
        _ params: JSONObject, _ send: @escaping @Sendable (JSONValue) -> Void
    ) async throws(ServiceFailure) -> @Sendable () async -> Void {
        let listener: Listener
        do throws(ServeError) {
            listener = try Listener(params, send)
        } catch {
            throw .badParameters(error.document(in: language))
        }
        let add = eventLoop.submit { [state] in
            state.value.lastListener += 1
            state.value.listeners[state.value.lastListener] = listener
            return state.value.lastListener
        }
        guard let number = try? await add.get() else { throw .cancelled }
        return { [eventLoop, state] in
            try? await eventLoop.submit { state.value.listeners[number] = nil }.get()
        }
    }
}
