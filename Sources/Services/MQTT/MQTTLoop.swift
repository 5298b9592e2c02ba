// SPDX-License-Identifier: Apache-2.0

internal import CMosquitto
internal import Glibc
internal import ReaderCore

/// The thread of an ``MQTTConnection``: connects, serves the connection until it ends, and tries again.
///
/// All of libmosquitto's calls and callbacks are on this thread.
@safe
final class MQTTLoop {
    private enum Phase { case connecting, open, closing, over }

    /// How many messages are read at once when they are held.
    private static let mostHeld = 500

    private static let isReady = mosquitto_lib_init() == 0

    private let connection: MQTTConnection
    private let settings: MQTTConnection.Settings
    private var client: OpaquePointer?
    private var phase = Phase.connecting
    private var fault: MQTTFault?
    private var lastLog = ""
    /// By message ID: its batch and its index in it.
    private var pending: [Int32: (batch: MQTTBatch, index: Int)] = [:]
    /// Subscriptions that the broker has not answered yet.
    private var openSubscriptions = 0
    /// How often libmosquitto called back; while it does, there may be more to read.
    private var callbacks = 0

    init(_ connection: MQTTConnection) {
        self.connection = connection
        settings = connection.settings
    }

    /// Runs until the connection is closed.
    func run() {
        var pause = settings.firstPause
        while !connection.state.withLock({ $0.isClosing }) {
            if isPaused {
                rest(for: .seconds(60)) { !isPaused }
                continue
            }
            let start = ContinuousClock.now
            let fault = attempt()
            fail()
            if phase == .over, connection.state.withLock({ $0.isClosing }) { break }
            if isPaused { continue }
            connection.onEvent(.disconnected(fault))
            // A connection that lasted is tried again at once, one that is refused again and again more and more rarely.
            if ContinuousClock.now - start > .seconds(10) { pause = settings.firstPause }
            rest(for: pause * Double.random(in: 0.5...1))
            pause = min(pause * 2, settings.longestPause)
        }
        connection.finish()
    }

    /// Connects and serves the connection until its end.
    private func attempt() -> MQTTFault {
        (phase, fault, lastLog) = (.connecting, nil, "")
        guard MQTTLoop.isReady,
            let client = unsafe mosquitto_new(
                settings.clientID, settings.sessionExpiry == nil, Unmanaged.passUnretained(self).toOpaque())
        else { return .settings(errno) }
        unsafe self.client = client
        defer {
            unsafe mosquitto_destroy(client)
            unsafe self.client = nil
        }
        let prepared = prepare()
        guard prepared == 0 else { return .settings(prepared) }
        if let fault = connect() { return fault }
        let deadline = ContinuousClock.now + settings.answerLimit
        var closeDeadline: ContinuousClock.Instant?
        while phase != .over, fault == nil {
            let now = ContinuousClock.now
            if isPaused { return .ended(0) }
            if phase == .connecting, now > deadline { return .timeout }
            if phase == .connecting, connection.state.withLock({ $0.isClosing }) {
                phase = .over
                break
            }
            if pending.values.contains(where: { $0.batch.deadline < now }) {
                for one in Array(pending.values) where one.batch.deadline < now { one.batch.fail(.timedOut) }
                return .timeout
            }
            if phase == .open { takeCommands() }
            if phase == .closing {
                closeDeadline = closeDeadline ?? now + .seconds(2)
                if isHolding {
                    // Anything that is written now would acknowledge what is held.
                    phase = .over
                } else if pending.isEmpty || now > closeDeadline ?? now {
                    _ = unsafe mosquitto_disconnect_v5(client, 0, nil)
                    while unsafe mosquitto_want_write(client), unsafe mosquitto_loop_write(client, 1) == 0 {}
                    phase = .over
                }
            }
            guard phase != .over, fault == nil else { break }
            step()
        }
        return fault ?? .ended(0)
    }

    // MARK: Connecting

    private func prepare() -> Int32 {
        let broker = settings.broker
        let version = broker.version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        var codes = [unsafe mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, version)]
        unsafe codes.append(mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1))
        // The library then writes nothing, acknowledgements neither, but in mosquitto_loop_write.
        if settings.holdsMessages { unsafe codes.append(mosquitto_threaded_set(client, true)) }
        // The window is the caller's.
        unsafe mosquitto_max_inflight_messages_set(client, 1000)
        if broker.user != nil || broker.password != nil {
            if let password = broker.password {
                var text = password.bytes.map { CChar(bitPattern: $0) } + [0]
                unsafe codes.append(mosquitto_username_pw_set(client, broker.user ?? "", text))
                unsafe explicit_bzero(&text, text.count)
            } else {
                unsafe codes.append(mosquitto_username_pw_set(client, broker.user ?? "", nil))
            }
        }
        if let tls = broker.tls {
            if tls.authorities == nil {
                unsafe codes.append(mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1))
            }
            if tls.authorities != nil || tls.certificate != nil {
                // A key with a passphrase would be asked for on the terminal.
                unsafe codes.append(
                    mosquitto_tls_set(
                        client, tls.authorities, tls.authorities == nil ? "/etc/ssl/certs" : nil, tls.certificate,
                        tls.key
                    ) { _, _, _, _ in 0 })
            }
        }
        if let will = settings.will {
            unsafe codes.append(
                mosquitto_will_set_v5(
                    client, will.topic, Int32(clamping: will.payload.count), will.payload, will.quality,
                    will.isRetained, nil))
        }
        setCallbacks()
        return codes.first { $0 != 0 } ?? 0
    }

    private func setCallbacks() {
        unsafe mosquitto_connect_v5_callback_set(client) { _, context, code, _, _ in
            unsafe MQTTLoop.of(context)?.connected(code)
        }
        unsafe mosquitto_disconnect_v5_callback_set(client) { _, context, code, _ in
            unsafe MQTTLoop.of(context)?.disconnected(code)
        }
        unsafe mosquitto_publish_v5_callback_set(client) { _, context, number, code, _ in
            unsafe MQTTLoop.of(context)?.acknowledged(number, code)
        }
        unsafe mosquitto_subscribe_v5_callback_set(client) { _, context, _, count, codes, _ in
            guard let codes = unsafe codes else { return }
            let granted = unsafe Array(UnsafeBufferPointer(start: codes, count: Int(max(0, count))))
            unsafe MQTTLoop.of(context)?.subscribed(granted)
        }
        unsafe mosquitto_message_v5_callback_set(client) { _, context, message, _ in
            guard let message = unsafe message?.pointee, let topic = unsafe message.topic else { return }
            let payload = unsafe UnsafeRawBufferPointer(start: message.payload, count: Int(max(0, message.payloadlen)))
            unsafe MQTTLoop.of(context)?.received(
                MQTTMessage(
                    String(cString: topic), Array(payload), quality: message.qos, isRetained: message.retain))
        }
        unsafe mosquitto_log_callback_set(client) { _, context, level, text in
            guard level == MOSQ_LOG_ERR, let text = unsafe text else { return }
            unsafe MQTTLoop.of(context)?.lastLog = unsafe String(cString: text)
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> MQTTLoop? {
        unsafe context.map { unsafe Unmanaged<MQTTLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    private func connect() -> MQTTFault? {
        var properties: OpaquePointer?
        if settings.broker.version == .v5, let expiry = settings.sessionExpiry {
            unsafe mosquitto_property_add_int32(
                &properties, Int32(MQTT_PROP_SESSION_EXPIRY_INTERVAL.rawValue), expiry)
        }
        defer { unsafe mosquitto_property_free_all(&properties) }
        errno = 0
        let code = unsafe mosquitto_connect_bind_v5(
            client, settings.broker.host, Int32(settings.broker.port), settings.keepAlive, nil, properties)
        let number = errno
        switch code {
        case MOSQ_ERR_SUCCESS.rawValue: return nil
        case MOSQ_ERR_EAI.rawValue: return .unresolved
        case MOSQ_ERR_TLS.rawValue, MOSQ_ERR_TLS_HANDSHAKE.rawValue: return tlsFault
        case MOSQ_ERR_ERRNO.rawValue, MOSQ_ERR_CONN_REFUSED.rawValue, MOSQ_ERR_NO_CONN.rawValue,
            MOSQ_ERR_CONN_LOST.rawValue:
            return .unreachable(number)
        default: return .settings(code)
        }
    }

    /// OpenSSL's error code in the last message of libmosquitto's log, as in `error:0A000086:`.
    private var tlsError: UInt32? {
        lastLog.split(separator: ":").lazy.compactMap { $0.utf8.count == 8 ? UInt32($0, radix: 16) : nil }.first
    }

    /// The lowest twelve bits of OpenSSL's code are the reason; 134 is SSL_R_CERTIFICATE_VERIFY_FAILED (openssl/sslerr.h).
    private var tlsFault: MQTTFault { tlsError.map { $0 & 0xFFF } == 134 ? .certificate : .tls(lastLog) }

    // MARK: Serving

    /// Waits for the socket, a command or a second, and lets libmosquitto work.
    private func step() {
        let socket = unsafe mosquitto_socket(client)
        guard socket >= 0 else { return end(.ended(MOSQ_ERR_CONN_LOST.rawValue)) }
        var code: Int32 = 0
        // What was released goes before more is read, which would hold it up.
        if settings.holdsMessages, wantsToWrite { code = unsafe mosquitto_loop_write(client, 1) }
        let wanted = (isHolding ? 0 : POLLIN) | (wantsToWrite ? POLLOUT : 0)
        var places = [
            pollfd(fd: socket, events: Int16(wanted), revents: 0),
            pollfd(fd: connection.wakeDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = unsafe poll(&places, 2, 1000)
        if places[1].revents != 0 {
            var count: eventfd_t = 0
            unsafe eventfd_read(connection.wakeDescriptor, &count)
        }
        if code == 0, Int32(places[0].revents) & ~POLLOUT != 0 {
            // A TLS record may hold several packets, of which poll knows nothing once they are decrypted. After a DISCONNECT of
            // the broker, libmosquitto 2.0.21 calls back at each call, and reports no error.
            var before: Int
            repeat {
                before = callbacks
                code = unsafe mosquitto_loop_read(client, 1)
            } while code == 0 && fault == nil && callbacks != before
                && connection.state.withLock { $0.held } < Self.mostHeld
        }
        if code == 0, fault == nil, wantsToWrite { code = unsafe mosquitto_loop_write(client, 1) }
        if code == 0, fault == nil { code = unsafe mosquitto_loop_misc(client) }
        if code != 0, fault == nil { end(faultThatEnded(code)) }
    }

    /// Why the connection ended.
    ///
    /// - Parameter code: a reason code of MQTT 5, or an error of libmosquitto; which of its functions reports an error, and
    ///   whether it does so by a callback, depends on its version.
    private func faultThatEnded(_ code: Int32) -> MQTTFault {
        switch code {
        case MOSQ_ERR_TLS.rawValue, MOSQ_ERR_TLS_HANDSHAKE.rawValue: tlsFault
        case MOSQ_ERR_ERRNO.rawValue where phase == .connecting && tlsError != nil: tlsFault
        case MOSQ_ERR_KEEPALIVE.rawValue: .timeout
        default: .ended(code)
        }
    }

    private var isPaused: Bool { connection.state.withLock { $0.isPaused } }

    /// Whether messages wait to be released.
    private var isHolding: Bool { phase != .connecting && connection.state.withLock { $0.held } > 0 }

    private var wantsToWrite: Bool { unsafe mosquitto_want_write(client) && !isHolding }

    private func end(_ reason: MQTTFault) {
        fault = fault ?? reason
    }

    private func takeCommands() {
        let commands = connection.state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
        for command in commands {
            switch command {
            case .publish(let messages, let completion): publish(messages, completion)
            case .close(let messages):
                publish(messages) { _ in }
                phase = .closing
            }
        }
    }

    private func publish(_ messages: [MQTTMessage], _ completion: @escaping @Sendable ([MQTTPublishResult]) -> Void) {
        let batch = MQTTBatch(messages.map(\.topic), until: .now + settings.answerLimit, completion)
        for (index, message) in messages.enumerated() {
            var number: Int32 = 0
            var properties: OpaquePointer?
            // MQTT 3.1.1 has no properties.
            if let expiry = message.expiry, settings.broker.version == .v5 {
                unsafe mosquitto_property_add_int32(
                    &properties, Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue), expiry)
            }
            defer { unsafe mosquitto_property_free_all(&properties) }
            let code = unsafe mosquitto_publish_v5(
                client, &number, message.topic, Int32(clamping: message.payload.count), message.payload,
                message.quality, message.isRetained, properties)
            switch code {
            case MOSQ_ERR_SUCCESS.rawValue:
                if message.quality == 0 { batch.set(index, .acknowledged) } else { pending[number] = (batch, index) }
            case MOSQ_ERR_OVERSIZE_PACKET.rawValue, MOSQ_ERR_PAYLOAD_SIZE.rawValue, MOSQ_ERR_MALFORMED_UTF8.rawValue,
                MOSQ_ERR_INVAL.rawValue:
                batch.set(index, .impossible)
            default:
                end(.ended(code))
                return batch.fail(.disconnected)
            }
        }
    }

    /// Answers what the broker will not acknowledge any more.
    private func fail() {
        let open = connection.state.withLock { state in
            state.isConnected = false
            defer { state.commands = [] }
            return state.commands
        }
        for one in Array(pending.values) { one.batch.fail(.disconnected) }
        pending = [:]
        for case .publish(let messages, let completion) in open { completion(messages.map { _ in .disconnected }) }
    }

    private func rest(for pause: Duration, unless isOver: () -> Bool = { false }) {
        let end = ContinuousClock.now + pause
        while !connection.state.withLock({ $0.isClosing }), !isOver() {
            let left = (end - .now).count(of: .milliseconds(1), roundedUp: true)
            guard left > 0 else { return }
            var place = pollfd(fd: connection.wakeDescriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&place, 1, Int32(clamping: left)) > 0 else { return }
            var count: eventfd_t = 0
            unsafe eventfd_read(connection.wakeDescriptor, &count)
        }
    }

    // MARK: Callbacks

    private func connected(_ code: Int32) {
        callbacks += 1
        guard code == 0 else { return end(.refused(code)) }
        openSubscriptions = settings.subscriptions.count
        for filter in settings.subscriptions {
            _ = unsafe mosquitto_subscribe_v5(client, nil, filter, 1, 0, nil)
        }
        phase = .open
        // The broker reads the subscriptions before these, and these before what comes from now on: no change is lost.
        connection.state.withLock { $0.isConnected = true }
        publish(connection.birth()) { _ in }
        if openSubscriptions == 0 { connection.onEvent(.connected) }
    }

    private func disconnected(_ code: Int32) {
        callbacks += 1
        if fault == nil, phase == .open || phase == .connecting { end(faultThatEnded(code)) }
    }

    private func acknowledged(_ number: Int32, _ code: Int32) {
        callbacks += 1
        // 0x10: nobody has subscribed, which is none of the publisher's business.
        guard let one = pending.removeValue(forKey: number) else { return }
        if code >= 0x80, one.batch.topics.indices.contains(one.index) {
            connection.onEvent(.notPublished(topic: one.batch.topics[one.index], code: code))
        }
        one.batch.set(one.index, code < 0x80 ? .acknowledged : .refused(code))
    }

    private func subscribed(_ granted: [Int32]) {
        callbacks += 1
        for code in granted where code >= 0x80 { connection.onEvent(.notSubscribed(code: code)) }
        openSubscriptions -= 1
        // Nothing that others publish from now on is missed.
        if openSubscriptions == 0 { connection.onEvent(.connected) }
    }

    private func received(_ message: MQTTMessage) {
        callbacks += 1
        if settings.holdsMessages { connection.state.withLock { $0.held += 1 } }
        connection.onEvent(.message(message))
    }
}

/// Messages that were published together and are answered together.
private final class MQTTBatch {
    let topics: [String]
    var results: [MQTTPublishResult?]
    var left: Int
    let deadline: ContinuousClock.Instant
    let completion: @Sendable ([MQTTPublishResult]) -> Void

    init(
        _ topics: [String], until deadline: ContinuousClock.Instant,
        _ completion: @escaping @Sendable ([MQTTPublishResult]) -> Void
    ) {
        self.topics = topics
        results = Array(repeating: nil, count: topics.count)
        left = topics.count
        self.deadline = deadline
        self.completion = completion
    }

    func set(_ index: Int, _ result: MQTTPublishResult) {
        guard results.indices.contains(index), results[index] == nil else { return }
        results[index] = result
        left -= 1
        if left == 0 { completion(results.map { $0 ?? .disconnected }) }
    }

    func fail(_ result: MQTTPublishResult) {
        for index in results.indices { set(index, result) }
    }
}
