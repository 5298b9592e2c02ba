// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import NIOHTTP1
internal import KazasuTaps

/// Who may ask a server: programs with the token, and pages of its own origin or an allowed one.
package struct ServeAccess: Sendable {
    /// Names in lower case that the server has beside its addresses.
    private let hosts: Set<String>
    private let origins: Set<String>
    private let token: [UInt8]?
    /// Milliseconds since 1970.
    private let now: @Sendable () -> Int

    private static let cookie = "kazasu_session"
    /// How long a session lasts; a page that is open longer begins another one.
    private static let sessionDays = 30

    /// - Parameters:
    ///   - hosts: names that the server has beside its addresses.
    ///   - origins: of other pages that may use it, as in `https://shop.example`.
    ///   - token: what everybody must know who does not come through a Unix socket; `nil` for nothing.
    package init(
        hosts: [String] = [], origins: [String] = [], token: [UInt8]? = nil,
        now: @escaping @Sendable () -> Int = { Timestamp.now.milliseconds }
    ) {
        self.hosts = Set(hosts.compactMap { Self.name(inHost: $0) })
        self.origins = Set(origins.map { $0.lowercased() })
        (self.token, self.now) = (token, now)
    }

    // MARK: Host

    /// Checks that the request is for this server: a page whose own name was made to lead here ("DNS rebinding") sends
    /// that name.
    func checkHost(_ head: HTTPHead) throws(ServeError) {
        let values = head.headers["Host"]
        guard values.count <= 1, values.count == 1 || head.version == .http1_0 else { throw .noHost }
        guard !head.peer.isUnixSocket else { return }
        for host in values + [head.authority].compactMap(\.self) where !isOwn(host, head.peer) { throw .wrongHost }
    }

    private func isOwn(_ host: String, _ peer: HTTPPeer) -> Bool {
        guard let name = Self.name(inHost: host) else { return false }
        guard let local = peer.localAddress?.lowercased() else { return hosts.contains(name) }
        // The system's name for it; browsers never ask a name server about it.
        let isLoopback = local == "::1" || local.hasPrefix("127.")
        return name == local || (isLoopback && name == "localhost") || hosts.contains(name)
    }

    /// The name or address without its port, in lower case; `nil` if something else follows it.
    private static func name(inHost host: String) -> String? {
        let host = host.lowercased()
        let isAddress = host.hasPrefix("[")
        let name = isAddress ? host.dropFirst().prefix { $0 != "]" } : host.prefix { $0 != ":" }
        let rest = host[name.endIndex...].dropFirst(isAddress ? 1 : 0)
        guard rest.isEmpty || rest.first == ":" && rest.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return String(name)
    }

    // MARK: Origin

    /// Checks that no page of another origin asks.
    ///
    /// - Parameter isPage: whether other pages may link to what is asked for.
    /// - Returns: the origin of another page that is allowed.
    func checkOrigin(_ head: HTTPHead, isPage: Bool) throws(ServeError) -> String? {
        let values = head.headers["Origin"]
        guard values.count <= 1 else { throw .wrongOrigin }
        if let origin = values.first?.lowercased() {
            if origins.contains(origin) { return values.first }
            // `Host` was checked, so that an equal name cannot be that of another site.
            guard let host = head.only("Host")?.lowercased(), ["http://\(host)", "https://\(host)"].contains(origin)
            else { throw .wrongOrigin }
            return nil
        }
        // A page that embeds something sends no origin, but browsers say where it comes from.
        let sites = head.headers["Sec-Fetch-Site"]
        guard isPage || sites.allSatisfy({ ["same-origin", "none"].contains($0) }) else { throw .wrongOrigin }
        return nil
    }

    /// The response to a browser's preflight request.
    func preflight(_ head: HTTPHead) -> HTTPResponse {
        var response = HTTPResponse(.noContent)
            .with("Access-Control-Allow-Methods", "GET, HEAD, POST")
            .with("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, Accept")
            .with("Access-Control-Max-Age", "600")
        // A page of the internet may ask this computer only if that is answered, too.
        if head.only("Access-Control-Request-Private-Network") == "true" {
            response = response.with("Access-Control-Allow-Private-Network", "true")
        }
        return response
    }

    // MARK: Token

    /// Checks the token, which is in a header or a session's cookie.
    func checkToken(_ head: HTTPHead) throws(ServeError) {
        guard let token, !head.peer.isUnixSocket else { return }
        guard hasBearer(head, token) || hasSession(head, token) else { throw .noToken }
    }

    /// Begins the session of a page that knows the token.
    ///
    /// - Returns: the value of `Set-Cookie`; `nil` if there is no token.
    func session(for head: HTTPHead) throws(ServeError) -> String? {
        guard let token, !head.peer.isUnixSocket else { return nil }
        guard hasBearer(head, token) else { throw .noToken }
        let end = now() / 1000 + Self.sessionDays * 86_400
        return "\(Self.cookie)=\(end).\(Self.code(end, token)); Path=/; HttpOnly; SameSite=Strict"
            + "; Max-Age=\(Self.sessionDays * 86_400)" + (isSecure(head) ? "; Secure" : "")
    }

    /// Whether the client came to a proxy with TLS, by a name that the server has there.
    private func isSecure(_ head: HTTPHead) -> Bool {
        guard head.only("X-Forwarded-Proto")?.lowercased() == "https" else { return false }
        return head.only("Host").flatMap { Self.name(inHost: $0) }.map(hosts.contains) ?? false
    }

    private func hasBearer(_ head: HTTPHead, _ token: [UInt8]) -> Bool {
        guard let value = head.only("Authorization") else { return false }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        return MessageAuthentication.isEqual(Array(parts[1].utf8), token)
    }

    private func hasSession(_ head: HTTPHead, _ token: [UInt8]) -> Bool {
        let cookies = head.headers["Cookie"].flatMap { $0.split(separator: ";") }
        return cookies.contains { cookie in
            let cookie = cookie.drop { $0 == " " }
            guard cookie.hasPrefix(Self.cookie + "=") else { return false }
            let parts = cookie.dropFirst(Self.cookie.count + 1).split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let end = Int(parts[0]), "\(end)" == parts[0], end > now() / 1000
            else { return false }
            return MessageAuthentication.isEqual(Array(parts[1].utf8), Array(Self.code(end, token).utf8))
        }
    }

    /// Sessions are not stored: the cookie carries its end and a code that only who knows the token can make, and so
    /// outlives a restart, as the page does.
    private static func code(_ end: Int, _ token: [UInt8]) -> String {
        Hex.encode(MessageAuthentication.sha256(key: token, Array("kazasu session until \(end)".utf8)))
    }
}

extension MessageAuthentication {
    private static let comparisonKey = (0..<32).map { _ in UInt8.random(in: .min ... .max) }

    /// Whether two secrets are the same; the time says nothing about where they differ, nor how long they are.
    package static func isEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        let codes = zip(sha256(key: comparisonKey, first), sha256(key: comparisonKey, second))
        return codes.reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
