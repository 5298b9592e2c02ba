// SPDX-License-Identifier: Apache-2.0

internal import CMosquitto
internal import Glibc
internal import ReaderCore

/// A message to publish, or a received one.
package struct MQTTMessage: Hashable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    /// 0 or 1.
    package var quality: Int32 = 1
    package var isRetained = false
    /// Seconds after which the broker does not deliver it any more (MQTT 5).
    package var expiry: UInt32?

    package init(
        _ topic: String, _ payload: String, quality: Int32 = 1, isRetained: Bool = false, expiry: UInt32? = nil
    ) {
        self.init(topic, Array(payload.utf8), quality: quality, isRetained: isRetained)
        self.expiry = expiry
    }

    package init(_ topic: String, _ payload: [UInt8], quality: Int32 = 1, isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.quality = quality
        self.isRetained = isRetained
    }
}

/// Why there is no connection.
package enum MQTTFault: Error, Hashable, Sendable {
    /// No response at the address; `errno`, or 0.
    case unreachable(Int32)
    /// The name of the host is unknown.
    case unresolved
    /// The broker's certificate is not signed by a trusted authority, or is for another host.
    case certificate
    /// The TLS handshake failed; the words are OpenSSL's.
    case tls(String)
    /// The broker refused the login: the code of CONNACK in the version that is spoken.
    case refused(Int32)
    /// The broker ended the connection: a reason code of MQTT 5 (128 and above) or an error of libmosquitto.
    case ended(Int32)
    /// The broker did not answer in time.
    case timeout
    /// libmosquitto does not accept the settings, such as a certificate that it cannot read.
    case settings(Int32)

    /// A short word for logs and results.
    package var token: String {
        switch self {
        case .unreachable: "unreachable"
        case .unresolved: "unresolved"
        case .certificate: "certificate"
        case .tls: "tls"
        case .refused: "loginRefused"
        case .ended(0x8E): "takenOver"
        case .ended: "disconnected"
        case .timeout: "timeout"
        case .settings: "settings"
        }
    }
}

/// The result of publishing a message.
package enum MQTTPublishResult: Hashable, Sendable {
    /// The broker has it (PUBACK), or it was sent with QoS 0.
    case acknowledged
    /// The broker refused this message: a reason code of MQTT 5.
    case refused(Int32)
    /// It is longer than the broker accepts, or cannot be encoded.
    case impossible
    /// There is no connection, or it ended before the acknowledgement.
    case disconnected
    /// The acknowledgement did not come in time; the connection is closed.
    case timedOut
}

/// A connection to a broker that reconnects automatically.
///
/// libmosquitto is used from one thread, and each attempt uses a new client. So nothing is queued without the caller's
/// knowledge: a message is acknowledged, or the caller learns that it is not and publishes it again.
package final class MQTTConnection: Sendable {
    package struct Settings: Sendable {
        package var broker: MQTTBroker
        package var clientID: String
        /// What the broker publishes when the connection breaks.
        package var will: MQTTMessage?
        /// Subscribed to after each connection, with QoS 1.
        package var subscriptions: [String] = []
        /// Whether the broker keeps the session, for MQTT 5 during this number of seconds.
        package var sessionExpiry: UInt32?
        /// Whether a message is acknowledged to the broker only when it was handled: ``MQTTConnection/release(_:)``. One that
        /// was not comes again after the next connection.
        package var holdsMessages = false
        /// Keep-alive interval in seconds.
        package var keepAlive: Int32 = 15
        /// How long CONNACK and PUBACK may take.
        package var answerLimit = Duration.seconds(15)
        /// The first pause before another attempt; it doubles up to ``longestPause``.
        package var firstPause = Duration.milliseconds(500)
        package var longestPause = Duration.seconds(30)

        package init(broker: MQTTBroker, clientID: String) {
            self.broker = broker
            self.clientID = clientID
        }
    }

    package enum Event: Hashable, Sendable {
        /// The broker has answered every subscription.
        case connected
        case disconnected(MQTTFault)
        /// The broker did not accept a subscription.
        case notSubscribed(code: Int32)
        /// The broker did not accept a message on this topic: a reason code of MQTT 5.
        case notPublished(topic: String, code: Int32)
        case message(MQTTMessage)
    }

    enum Command: Sendable {
        case publish([MQTTMessage], @Sendable ([MQTTPublishResult]) -> Void)
        case close([MQTTMessage])
    }

    struct State {
        var commands: [Command] = []
        var isConnected = false
        var isClosing = false
        var isOver = false
        var isPaused = false
        /// How many received messages are not released.
        var held = 0
    }

    let settings: Settings
    /// Called on the connection's thread.
    let birth: @Sendable () -> [MQTTMessage]
    /// Called on the connection's thread.
    let onEvent: @Sendable (Event) -> Void
    let state = Gate(State())
    /// An eventfd that wakes the thread.
    let wakeDescriptor: Int32

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - birth: the first messages on each connection.
    ///   - onEvent: receives events on the connection's own thread; it must not block.
    package init(
        _ settings: Settings, birth: @escaping @Sendable () -> [MQTTMessage] = { [] },
        onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.settings = settings
        self.birth = birth
        self.onEvent = onEvent
        wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    /// Starts the thread.
    package func start() {
        let box = unsafe Unmanaged.passRetained(self)
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { pointer in
                if let pointer = unsafe pointer {
                    let connection = unsafe Unmanaged<MQTTConnection>.fromOpaque(pointer).takeRetainedValue()
                    MQTTLoop(connection).run()
                }
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            unsafe box.release()
            finish()
            return
        }
        pthread_detach(thread)
    }

    deinit { if wakeDescriptor >= 0 { Glibc.close(wakeDescriptor) } }

    package var isConnected: Bool { state.withLock { $0.isConnected } }

    /// Publishes messages in order and waits until the broker has acknowledged or refused each.
    package func publish(_ messages: [MQTTMessage]) async -> [MQTTPublishResult] {
        let results = OneShot<[MQTTPublishResult]>()
        send(messages) { results.give($0) }
        return await results.value
    }

    /// Publishes messages in order without waiting.
    package func post(_ messages: [MQTTMessage]) {
        send(messages) { _ in }
    }

    private func send(_ messages: [MQTTMessage], _ completion: @escaping @Sendable ([MQTTPublishResult]) -> Void) {
        let isAccepted = state.withLock { state in
            guard state.isConnected, !state.isClosing, !messages.isEmpty else { return false }
            state.commands.append(.publish(messages, completion))
            return true
        }
        if isAccepted { wake() } else { completion(messages.map { _ in .disconnected }) }
    }

    /// Acknowledges received messages, with settings that hold them. Nothing is read or written until all are released.
    package func release(_ count: Int) {
        state.withLock { $0.held -= count }
        wake()
    }

    /// Leaves the broker without acknowledging what is held, or connects again. Neither is an event of its own.
    package func setPaused(_ isPaused: Bool) {
        state.withLock { $0.isPaused = isPaused }
        wake()
    }

    /// Waits for a connection.
    ///
    /// - Returns: `false` when there was none in time, or the task was cancelled.
    package func waitUntilConnected(for limit: Duration) async -> Bool {
        await state.waitUnlessCancelled(within: limit) { $0.isConnected ? true : $0.isClosing ? false : nil } ?? false
    }

    /// Publishes the last messages, disconnects, and waits for the end, at most a few seconds.
    package func close(farewell: [MQTTMessage] = []) async {
        state.withLock { state in
            if !state.isClosing { state.commands.append(.close(farewell)) }
            state.isClosing = true
        }
        wake()
        if await state.wait(within: .seconds(5), until: { $0.isOver ? () : nil }) == nil {
            state.withLock { $0.isConnected = false }
        }
    }

    private func wake() {
        _ = eventfd_write(wakeDescriptor, 1)
    }

    /// The thread has ended, or never began.
    func finish() {
        let commands = state.withLock { state in
            defer { state.commands = [] }
            (state.isOver, state.isClosing, state.isConnected) = (true, true, false)
            return state.commands
        }
        for case .publish(let messages, let completion) in commands {
            completion(messages.map { _ in .disconnected })
        }
    }
}
