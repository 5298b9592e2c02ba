// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CCurl
internal import Glibc
internal import ReaderCore
internal import Synchronization

/// `--webhook URL`: one POST for each event, by libcurl.
///
/// The consumer recognizes an event that comes twice by `Idempotency-Key`.
public final class WebhookSink: Sink {
    /// The key of its queue.
    public let name: String
    /// How many events it takes at a time.
    public let window = 1

    private let url: String
    /// What it calls itself.
    private let agent: String
    private let secret: [UInt8]?
    private let types: Set<TapEvent.EventType>
    private let body: WebhookBody
    private let timeout: Duration
    private let clock: EventClock
    /// Connections that are kept open between events; each is used by one thread at a time.
    private let idle = Mutex<[Handle]>([])

    /// - Parameters:
    ///   - url: `http` or `https`.
    ///   - types: the events that are posted. The others count as delivered.
    ///   - secret: signs the requests.
    ///   - timeout: how long a request may take.
    public convenience init(
        _ url: String, types: Set<TapEvent.EventType> = Set(TapEvent.EventType.allCases), secret: [UInt8]? = nil,
        timeout: Duration = .seconds(10)
    ) {
        self.init(url, types: types, secret: secret, timeout: timeout, agent: "kazasu", clock: .system)
    }

    /// - Parameters:
    ///   - types: the events that are posted; `nil` for those that are usual for the body.
    ///   - body: what is posted.
    ///   - agent: the program, as in `kazasu/1.0.0`.
    package init(
        _ url: String, types: Set<TapEvent.EventType>? = nil, body: WebhookBody = .event, secret: [UInt8]?,
        timeout: Duration = .seconds(10), agent: String, clock: EventClock = .system
    ) {
        (self.url, self.body, self.secret, self.timeout) = (url, body, secret, timeout)
        (self.agent, self.clock) = (agent, clock)
        self.types = types ?? body.usualTypes ?? Set(TapEvent.EventType.allCases)
        // The path of a chat's address is a secret.
        name = "webhook:" + (body.isEvent ? Self.withoutSecrets(url) : Self.withoutPath(url))
    }

    /// The host and port of a URL, and a digest that distinguishes its path and query.
    static func withoutPath(_ url: String) -> String {
        let host = withoutSecrets(url).prefix { $0 != "/" }
        return "\(host)/\(Hex.encode(MessageDigest.sha256(Array(url.utf8)).prefix(6)))"
    }

    /// The URL without user, password and query, any of which may be a secret.
    static func withoutSecrets(_ url: String) -> String {
        var rest = url.prefix { $0 != "?" && $0 != "#" }
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        let host = rest.prefix { $0 != "/" }
        if let at = host.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        return String(rest)
    }

    /// Delivers events of one reader, oldest first.
    public func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
        await DeliveryResult.inOrder(events) { event in
            types.contains(event.kind.type) ? await post(event) : .delivered
        }
    }

    /// Releases what it holds.
    public func close() async { idle.withLock { $0 = [] } }

    /// What came of a request.
    enum Response: Sendable {
        /// An answer with this status, and after how many seconds to try again.
        case status(Int, after: Int)
        /// None.
        case failed(String)
    }

    private func post(_ event: StoredEvent) async -> DeliveryResult {
        switch await response(to: event) {
        case .failed(let reason): .retry(reason)
        case .status(200..<300, _), .status(409, _): .delivered
        case .status(let status, let after) where [408, 425, 429].contains(status) || status >= 500:
            .retry("status\(status)", after: after > 0 ? .seconds(min(after, 86_400)) : nil)
        case .status(let status, _): .dead("status\(status)")
        }
    }

    /// Sends an event once.
    func response(to event: StoredEvent) async -> Response {
        let cancelled = Flag()
        return await withTaskCancellationHandler {
            await BlockingWork.run { self.send(event, cancelled) }
        } onCancel: {
            cancelled.set()
        }
    }

    private func send(_ event: StoredEvent, _ cancelled: Flag) -> Response {
        guard let handle = idle.withLock({ $0.popLast() }) ?? Handle() else { return .failed("noMemory") }
        let text = body.text(for: event)
        var lines = ["Content-Type: \(body.mediaType)", "Idempotency-Key: \(event.id)", "User-Agent: \(agent)"]
        if let secret { lines.append("X-Kazasu-Signature: " + Self.signature(text, secret, clock.now().wall)) }
        var headers: UnsafeMutablePointer<curl_slist>?
        for line in lines { unsafe headers = curl_slist_append(headers, line) }
        defer { unsafe curl_slist_free_all(headers) }
        var status = 0
        var after: curl_off_t = 0
        let body = Array(text.utf8)
        let code = unsafe body.withUnsafeBytes { body in
            unsafe kazasu_post(
                handle.curl, url, body.baseAddress?.assumingMemoryBound(to: CChar.self), body.count, headers,
                timeout.count(of: .milliseconds(1)), cancelled.pointer, &status, &after)
        }
        idle.withLock { $0.append(handle) }
        return code == CURLE_OK ? .status(status, after: Int(after)) : .failed(Self.word(code))
    }

    /// The value of `X-Kazasu-Signature`: the time in seconds, and HMAC-SHA256 of `time.body`.
    static func signature(_ body: String, _ secret: [UInt8], _ now: Int) -> String {
        let time = now / 1000
        let code = MessageAuthentication.sha256(key: secret, Array("\(time).\(body)".utf8))
        return "t=\(time),v1=\(Hex.encode(code))"
    }

    private static func word(_ code: CURLcode) -> String {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: "timeout"
        case CURLE_COULDNT_RESOLVE_HOST: "unknownHost"
        case CURLE_COULDNT_CONNECT: "noConnection"
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE:
            "tls"
        case CURLE_ABORTED_BY_CALLBACK: "cancelled"
        default: "curl\(code.rawValue)"
        }
    }

    /// A connection of libcurl.
    @safe
    private final class Handle: @unchecked Sendable {
        let curl: UnsafeMutableRawPointer

        init?() {
            _ = Self.library
            guard let handle = unsafe curl_easy_init() else { return nil }
            unsafe curl = handle
        }

        /// Initialized once, before any thread uses it.
        private static let library: Void = { curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()

        deinit { unsafe curl_easy_cleanup(curl) }
    }

    /// A number that libcurl's thread looks at.
    @safe
    private final class Flag: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<Int32>

        init() {
            unsafe pointer = .allocate(capacity: 1)
            unsafe pointer.initialize(to: 0)
        }

        func set() { unsafe kazasu_cancel(pointer) }

        deinit { unsafe pointer.deallocate() }
    }
}
