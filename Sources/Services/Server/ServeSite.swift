// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import Kazasu
internal import NIOCore
package import NIOHTTP1
internal import Synchronization
package import KazasuTaps

/// What `serve` offers: the methods, the taps, what is stored, the page.
package final class ServeSite: HTTPSite {
    /// What a server offers, and to whom.
    package struct Settings: Sendable {
        package var access = ServeAccess()
        package var allowed: Set<ServiceMethod.Permission> = []
        /// Makes the page, once somebody asks for it.
        package var page: (@Sendable () -> KioskPage)?
        package var language = Language.english
        /// Masks personal data in documents; `nil` for none.
        package var mask: (@Sendable (JSONValue) -> JSONValue)?
        /// Gets one line for each request, without anything personal.
        package var log: @Sendable (String) -> Void = { _ in }
        /// Runs the methods that compute.
        package var work = WorkExecutor.shared

        package init() {}
    }

    private let settings: Settings
    private let methods: any ServiceMethods
    private let hub: TapHub
    private let metrics: Metrics
    private let connect: WebSocketSession.Connect
    // Made with the first request that needs them.
    private let routes: Lazy<[String: [String: ServeRoute]]>
    private let openAPI: Lazy<HTTPResponse>

    /// - Parameters:
    ///   - methods: what the commands do.
    ///   - document: makes what `/openapi.json` answers.
    ///   - connect: begins to speak RPC with a client.
    package init(
        _ settings: Settings, methods: any ServiceMethods, hub: TapHub, metrics: Metrics,
        document: @escaping @Sendable () -> JSONValue,
        connect: @escaping WebSocketSession.Connect
    ) {
        (self.settings, self.methods, self.hub) = (settings, methods, hub)
        (self.metrics, self.connect) = (metrics, connect)
        let hasPage = settings.page != nil
        routes = Lazy { ServeRoute.table(methods.methods, hasPage: hasPage) }
        openAPI = Lazy { HTTPResponse(json: document()) }
    }

    // MARK: Before the body

    package func admit(_ head: HTTPHead) -> HTTPAdmission {
        let found = routes.value[head.path]
        let open = found?.values.first { $0.isOpen }
        let origin = Result { () throws(ServeError) in
            try settings.access.checkOrigin(head, isPage: open?.isPage ?? false)
        }
        let shared = try? origin.get()
        do throws(ServeError) {
            try settings.access.checkHost(head)
            _ = try origin.get()
            if head.method != .OPTIONS, open == nil { try settings.access.checkToken(head) }
            let route = try route(head, among: found)
            if case .health = route {
                try noParameters(head)
                return .immediate { [self] in finished(health, sharedWith: shared) }
            }
            return .accepted { [self] in await answer($0, route, sharedWith: shared) }
        } catch {
            let response = finished(error.response(in: settings.language), sharedWith: shared)
            return .refused(response, closes: error.isAboutHost)
        }
    }

    private func route(_ head: HTTPHead, among found: [String: ServeRoute]?) throws(ServeError) -> ServeRoute {
        if head.method == .OPTIONS { return .options }
        guard let found else { throw .unknownPath }
        guard let route = found[head.method == .HEAD ? "GET" : head.method.rawValue] else {
            var allowed = found.keys.sorted()
            if allowed.contains("GET") { allowed.append("HEAD") }
            throw .wrongMethod(allowed: allowed + ["OPTIONS"])
        }
        if case .method(let method) = route, let permission = method.permission,
            !settings.allowed.contains(permission)
        {
            throw .notAllowed(permission)
        }
        return route
    }

    package func response(to fault: ServeError) -> HTTPResponse {
        finished(fault.response(in: settings.language))
    }

    package func note(_ head: HTTPHead, status: HTTPResponseStatus, time: Duration) {
        // A path that is not one of ours could be anything, such as the number of a card.
        let path = routes.value[head.path] == nil ? "?" : head.path
        let milliseconds = time.count(of: .milliseconds(1))
        settings.log("\(head.method.rawValue) \(path) \(status.code) \(milliseconds) ms")
    }

    // MARK: Answers

    private func answer(_ request: HTTPRequest, _ route: ServeRoute, sharedWith origin: String?) async -> HTTPAnswer {
        do throws(ServeError) {
            let answer = try await answer(request, route)
            switch answer {
            case .response(let response): return .response(finished(response, sharedWith: origin))
            case .stream(let response, let open): return .stream(finished(response, sharedWith: origin), open)
            case .webSocket: return answer
            }
        } catch {
            return .response(finished(error.response(in: settings.language), sharedWith: origin))
        }
    }

    private func answer(_ request: HTTPRequest, _ route: ServeRoute) async throws(ServeError) -> HTTPAnswer {
        let head = request.head
        switch route {
        case .options: return .response(options(head))
        case .method(let method): return .response(try await call(method, request))
        case .taps: return try taps(head)
        case .events: return .response(try await events(head))
        case .rpc: return try socket(head)
        case .session:
            try noParameters(head)
            let response = HTTPResponse(.noContent)
            guard let cookie = try settings.access.session(for: head) else { return .response(response) }
            return .response(response.with("Set-Cookie", cookie))
        case .openAPI:
            try noParameters(head)
            return .response(openAPI.value)
        case .health: return .response(health)
        case .metrics:
            try noParameters(head)
            return .response(await metrics.response(hub.outbox))
        case .page:
            guard let page = settings.page else { throw .unknownPath }
            return .response(page().response)
        case .script: return .response(KioskPage.script)
        case .icon: return .response(KioskPage.icon)
        }
    }

    /// Whether a reader can be used.
    private var health: HTTPResponse {
        let count = metrics.readersReady
        return HTTPResponse(
            count > 0 ? .ok : .serviceUnavailable,
            json: ["schema": "kazasu.health/1", "status": count > 0 ? "ok" : "noReader", "readers": .int(count)])
    }

    /// Adds what every response has.
    ///
    /// - Parameter origin: the origin of another page that may read it.
    private func finished(_ response: HTTPResponse, sharedWith origin: String? = nil) -> HTTPResponse {
        var response =
            response
            .with("X-Content-Type-Options", "nosniff").with("Cross-Origin-Resource-Policy", "same-origin")
        if !response.headers.contains(name: "Cache-Control") { response = response.with("Cache-Control", "no-store") }
        guard let origin else { return response }
        return response.with("Access-Control-Allow-Origin", origin).with("Vary", "Origin")
    }

    private func options(_ head: HTTPHead) -> HTTPResponse {
        guard head.headers.contains(name: "Access-Control-Request-Method") else {
            return HTTPResponse(.noContent).with("Allow", "GET, HEAD, POST, OPTIONS")
        }
        return settings.access.preflight(head)
    }

    private func noParameters(_ head: HTTPHead) throws(ServeError) {
        _ = try ServeQuery(head.query, [])
    }

    // MARK: Methods

    private func call(_ method: ServiceMethod, _ request: HTTPRequest) async throws(ServeError) -> HTTPResponse {
        guard method.computes else { return try await response(to: request, method) }
        let result = await withTaskExecutorPreference(settings.work) {
            await self.result(of: request, method)
        }
        return try result.get()
    }

    private func result(of request: HTTPRequest, _ method: ServiceMethod) async -> Result<HTTPResponse, ServeError> {
        // The client may have left while others were served.
        if Task.isCancelled { return .failure(.cancelled) }
        do throws(ServeError) {
            return .success(try await response(to: request, method))
        } catch {
            return .failure(error)
        }
    }

    private func response(
        to request: HTTPRequest, _ method: ServiceMethod
    ) async throws(ServeError) -> HTTPResponse {
        let params = try ServeParameters.params(of: method, request)
        do throws(ServiceFailure) {
            let result = try await methods.call(
                method.name, ServiceRequest(params, from: .network(allowed: settings.allowed)))
            return ServeParameters.response(settings.mask?(result) ?? result, to: method)
        } catch {
            switch error {
            case .unknownMethod: throw .unknownPath
            case .badParameters(let document):
                return HTTPResponse(FailureStatus.http(of: .usage), json: .object(document))
            case .notAllowed:
                return HTTPResponse(
                    FailureStatus.http(of: .refused),
                    json: error.document(settings.language).map { .object($0) } ?? .null)
            case .cancelled: throw .cancelled
            case .failed(let status, let document):
                return HTTPResponse(FailureStatus.http(of: status), json: .object(document))
            }
        }
    }

    // MARK: Taps and events

    private func taps(_ head: HTTPHead) throws(ServeError) -> HTTPAnswer {
        try noParameters(head)
        let last = head.headers["Last-Event-ID"]
        guard last.count <= 1 else {
            throw .badRequest(LocalizedText("Last-Event-ID is given twice", "Last-Event-ID が重複しています"))
        }
        let id = last.first.flatMap { $0.isEmpty ? nil : $0 }
        // Proxies keep what they get unless they are told not to.
        let response = HTTPResponse(.ok, "text/event-stream").with("X-Accel-Buffering", "no")
        return .stream(response) { [hub] in TapStream($0, hub, after: id) }
    }

    private func events(_ head: HTTPHead) async throws(ServeError) -> HTTPResponse {
        let query = try ServeQuery(head.query, [("after", .text), ("limit", .integer)])
        var limit = 100
        if case .integer(let number)? = query.params["limit"] {
            guard (1...1000).contains(number) else {
                throw .badParameter("limit", LocalizedText("1 to 1000", "1～1000 で指定してください"))
            }
            limit = Int(number)
        }
        let after: String? = if case .string(let id)? = query.params["after"] { id } else { nil }
        guard let outbox = hub.outbox else { throw .noOutbox }
        let found: [StoredEvent]?
        do throws(OutboxError) {
            found = try await outbox.events(after: after, limit: limit + 1)
        } catch {
            throw .outboxFailed
        }
        guard let found else { throw .unknownEvent }
        let events = found.prefix(limit)
        let next = found.count > limit ? events.last?.id : nil
        if Self.wantsLines(head) {
            var lines = ByteBuffer()
            for event in events { lines.writeString(hub.line(of: event) + "\n") }
            let response = HTTPResponse(.ok, "application/x-ndjson", lines)
            return next.map { response.with("Kazasu-Next", $0) } ?? response
        }
        return HTTPResponse(
            json: [
                "schema": "kazasu.events/1", "events": .array(events.map { hub.document(of: $0.event) }),
                "next": .text(next),
            ])
    }

    private static func wantsLines(_ head: HTTPHead) -> Bool {
        head.headers["Accept"].contains { $0.lowercased().contains("application/x-ndjson") }
    }

    // MARK: RPC

    private func socket(_ head: HTTPHead) throws(ServeError) -> HTTPAnswer {
        try noParameters(head)
        let handshake = try WebSocketHandshake(head)
        return .webSocket(handshake.response) { [connect] channel in
            try WebSocketConnection.add(to: channel, connect)
        }
    }
}

/// A value that is made when it is first needed.
private final class Lazy<Value: Sendable>: Sendable {
    private let make: @Sendable () -> Value
    private let made = Mutex<Value?>(nil)

    init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    var value: Value {
        made.withLock { made in
            let value = made ?? make()
            made = value
            return value
        }
    }
}

/// What is at a path.
enum ServeRoute: Sendable {
    case method(ServiceMethod)
    case taps, events, rpc, session, openAPI, health, metrics, page, script, icon
    /// A request for the methods of a path.
    case options

    /// Whether it needs no token: it holds nothing, or asks for the token itself.
    var isOpen: Bool {
        switch self {
        case .health, .page, .script, .icon, .session: true
        case .method, .taps, .events, .rpc, .openAPI, .metrics, .options: false
        }
    }

    /// Whether pages of others may link to it.
    var isPage: Bool { if case .page = self { true } else { false } }

    /// The routes by their paths.
    static func table(_ methods: [ServiceMethod], hasPage: Bool) -> [String: [String: ServeRoute]] {
        var table: [String: [String: ServeRoute]] = [
            "/v1/taps": ["GET": .taps], "/v1/events": ["GET": .events], "/v1/rpc": ["GET": .rpc],
            "/v1/session": ["POST": .session], "/openapi.json": ["GET": .openAPI], "/healthz": ["GET": .health],
            "/metrics": ["GET": .metrics], "/kazasu.js": ["GET": .script], "/favicon.ico": ["GET": .icon],
        ]
        if hasPage { table["/"] = ["GET": .page] }
        for method in methods {
            guard let route = method.route else { continue }
            table[route.path, default: [:]][route.verb.rawValue] = .method(method)
        }
        return table
    }
}
