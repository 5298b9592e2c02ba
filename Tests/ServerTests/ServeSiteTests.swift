// SPDX-License-Identifier: Apache-2.0

import CardModel
import Kazasu
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import Server
@testable import KazasuTaps

// One at a time: each has a server of its own, and libnfc, which other suites use, cannot work with 1,024 open files.
@Suite("Serve: who may ask, and what is answered", .serialized)
struct ServeSiteTests {
    private static let token = "a token that nobody guesses"

    // MARK: Hosts

    private static let hostNames: [(String, Int)] = [
        ("127.0.0.1:PORT", 200), ("127.0.0.1", 200), ("localhost:PORT", 200), ("LOCALHOST", 200),
        ("kiosk.example", 200), ("Kiosk.Example:443", 200), ("evil.example", 421), ("evil.example:PORT", 421),
        ("127.0.0.1.evil.example", 421), ("localhost.evil.example", 421), ("0.0.0.0:PORT", 421), ("[::1]:PORT", 421),
        ("127.0.0.2:PORT", 421), ("", 421), ("127.0.0.1@evil.example", 421), ("evil.example, localhost", 421),
        ("127.0.0.1:PORT.evil.example", 421), ("localhost:evil.example", 421), ("localhost:1:2", 421),
        ("[127.0.0.1]evil", 421),
    ]

    @Test("A host must be an address that it listens on, or a name that it was given", arguments: hostNames)
    func host(_ host: String, _ status: Int) async throws {
        let stand = try await ServeStand { $0.access = ServeAccess(hosts: ["kiosk.example"]) }
        let host = host.replacing("PORT", with: "\(stand.port)")
        let answer = try await stand.ask("GET", "/kazasu.js", host: host)
        #expect(answer.status == status, "\(host)")
        if status == 421 { #expect(answer.body.contains("\"reason\":\"wrongHost\"")) }
        await stand.stop()
    }

    @Test("The host of an absolute target counts, too")
    func absoluteTarget() async throws {
        let stand = try await ServeStand()
        #expect(try await stand.ask("GET", "http://localhost/kazasu.js").status == 200)
        #expect(try await stand.ask("GET", "http://evil.example/kazasu.js").status == 421)
        #expect(try await stand.ask("GET", "http://127.0.0.1:1@evil.example/kazasu.js").status == 421)
        await stand.stop()
    }

    @Test("Health waits for no work: it is known when its request has arrived", arguments: [HTTPMethod.GET, .HEAD])
    func immediateHealth(method: HTTPMethod) async {
        let (thread, metrics) = (HTTPThread(), Metrics())
        let site = ServeSite(
            ServeSite.Settings(), methods: ScriptedMethods(), hub: TapHub(nil, on: thread), metrics: metrics,
            document: { .null }, connect: { _ in WebSocketSession(receive: { _ in }, close: {}) })
        func admission(_ target: String) -> HTTPAdmission {
            let head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: ["Host": "localhost"])
            return site.admit(HTTPHead(head, from: HTTPPeer(isUnixSocket: false, localAddress: "127.0.0.1")))
        }
        guard case .immediate(let response) = admission("/healthz") else {
            Issue.record("it waits")
            return
        }
        #expect(response().status == .serviceUnavailable)
        metrics.reader("door", isReady: true)
        #expect(response().status == .ok)
        if case .refused = admission("/healthz?a=b") {} else { Issue.record("it is answered") }
        await thread.stop()
    }

    // MARK: Origins

    private static let origins: [(String, Int)] = [
        ("Origin: http://127.0.0.1:PORT", 200), ("Origin: https://127.0.0.1:PORT", 200),
        ("Origin: https://shop.example", 200), ("Origin: HTTPS://Shop.Example", 200),
        ("Origin: http://shop.example", 403), ("Origin: https://shop.example:444", 403),
        ("Origin: https://shop.example.evil.example", 403), ("Origin: null", 403),
        ("Origin: http://localhost:3000", 403),
        ("Origin: http://127.0.0.1", 403), ("Origin: file://", 403), ("Origin: ", 403),
        ("Origin: https://shop.example\r\nOrigin: https://evil.example", 403),
        ("Sec-Fetch-Site: cross-site", 403), ("Sec-Fetch-Site: same-site", 403), ("Sec-Fetch-Site: same-origin", 200),
        ("Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site", 403),
        ("Sec-Fetch-Site: none", 200), ("Sec-Fetch-Site: cross-site\r\nOrigin: https://shop.example", 200),
    ]

    @Test("Pages of another origin can neither read nor act, unless they are allowed", arguments: origins)
    func origin(_ header: String, _ status: Int) async throws {
        let stand = try await ServeStand { $0.access = ServeAccess(origins: ["https://shop.example"]) }
        let header = header.replacing("PORT", with: "\(stand.port)")
        let answer = try await stand.ask("GET", "/v1/balance", [header])
        #expect(answer.status == status, "\(header)")
        let isShared = answer.head.contains("Access-Control-Allow-Origin:")
        #expect(isShared == (status == 200 && header.lowercased().contains("shop.example")), "\(answer.head)")
        #expect(answer.head.contains("Cross-Origin-Resource-Policy: same-origin"))
        await stand.stop()
    }

    @Test("A page may be linked to from anywhere, but not framed; what it runs is in its policy by hash")
    func page() async throws {
        let stand = try await ServeStand()
        let answer = try await stand.ask("GET", "/", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"])
        #expect(answer.status == 200)
        #expect(
            answer.head.contains("Content-Security-Policy: default-src 'none'; connect-src 'self'; script-src 'sha256-")
        )
        #expect(answer.head.contains("frame-ancestors 'none'"))
        #expect(!answer.head.contains("unsafe"))
        let without = try await ServeStand { $0.page = nil }
        #expect(try await without.ask("GET", "/").status == 404)
        await stand.stop()
        await without.stop()
    }

    @Test("The hash of a script is that of the text between its tags")
    func hashes() {
        let page = KioskPage(
            Array("<style>a</style><style media=x>\nb</style><script>c()</script><scripty>d</scripty>".utf8))
        // From `printf a | openssl dgst -sha256 -binary | base64`, and so on.
        #expect(page.policy.contains("script-src 'sha256-\(Self.base64("c()"))';"))
        #expect(page.policy.contains("style-src 'sha256-\(Self.base64("a"))' 'sha256-\(Self.base64("\nb"))';"))
    }

    private static func base64(_ text: String) -> String {
        let known = [
            "a": "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=", "c()": "uv6BXxguRKhBqgeOtcyTvppA2Vttceh37dUo7xwS8Ug=",
            "\nb": "Xnnsn4hC6mnrIBEELTIdgicgZJ7JECYXQJF+uIBRxyY=",
        ]
        return known[text] ?? ""
    }

    @Test("A preflight is answered without a token, private networks included; that of others is refused")
    func preflight() async throws {
        let stand = try await ServeStand {
            $0.access = ServeAccess(origins: ["https://shop.example"], token: Array(Self.token.utf8))
        }
        let asked = ["Access-Control-Request-Method: GET", "Access-Control-Request-Headers: authorization"]
        let allowed = try await stand.ask("OPTIONS", "/v1/balance", asked + ["Origin: https://shop.example"])
        #expect(allowed.status == 204)
        #expect(allowed.head.contains("Access-Control-Allow-Origin: https://shop.example"))
        #expect(allowed.head.contains("Access-Control-Allow-Headers: Authorization"))
        #expect(!allowed.head.contains("Private-Network") && !allowed.head.contains("Allow-Credentials"))
        let network = ["Origin: https://shop.example", "Access-Control-Request-Private-Network: true"]
        let local = try await stand.ask("OPTIONS", "/v1/balance", asked + network)
        #expect(local.head.contains("Access-Control-Allow-Private-Network: true"))
        #expect(try await stand.ask("OPTIONS", "/v1/balance", asked + ["Origin: https://evil.example"]).status == 403)
        await stand.stop()
    }

    // MARK: Tokens

    private static let authorizations: [(String, Int)] = [
        ("Authorization: Bearer \(token)", 200), ("authorization: bearer \(token)", 200),
        ("Authorization: Bearer \(token)x", 401), ("Authorization: Bearer \(token.dropLast())", 401),
        ("Authorization: Bearer ", 401), ("Authorization: Basic \(token)", 401), ("Authorization: \(token)", 401),
        ("X: a", 401), ("Authorization: Bearer \(token)\r\nAuthorization: Bearer x", 401),
        ("Cookie: kazasu_session=\(token)", 401), ("Cookie: kazasu_session=99999999999.00", 401),
    ]

    @Test("With a token, everybody must know it", arguments: authorizations)
    func token(_ header: String, _ status: Int) async throws {
        let stand = try await ServeStand { $0.access = ServeAccess(token: Array(Self.token.utf8)) }
        for path in ["/v1/balance", "/v1/events", "/openapi.json", "/metrics", "/nothing"] {
            let answer = try await stand.ask("GET", path, [header])
            let expected =
                status == 200 && path == "/nothing" ? 404 : status == 200 && path == "/v1/events" ? 500 : status
            #expect(answer.status == expected, "\(path)")
            if status == 401 { #expect(answer.head.contains("WWW-Authenticate: Bearer")) }
        }
        await stand.stop()
    }

    @Test("Health, page and module need no token")
    func open() async throws {
        let stand = try await ServeStand { $0.access = ServeAccess(token: Array(Self.token.utf8)) }
        #expect(try await stand.ask("GET", "/").status == 200)
        #expect(try await stand.ask("GET", "/kazasu.js").status == 200)
        let health = try await stand.ask("GET", "/healthz")
        #expect(health.status == 503 && health.body.contains("\"status\":\"noReader\""))
        stand.metrics.reader("door", isReady: true)
        #expect(try await stand.ask("GET", "/healthz").status == 200)
        await stand.stop()
    }

    @Test("A browser gets a cookie for the token, which outlives a restart but not its time, nor another token")
    func session() async throws {
        let time = Mutex(1_000_000_000_000)
        func stand(_ token: String) async throws -> ServeStand {
            try await ServeStand {
                $0.access = ServeAccess(token: Array(token.utf8)) { time.withLock { $0 } }
            }
        }
        let first = try await stand(Self.token)
        #expect(try await first.ask("POST", "/v1/session").status == 401)
        #expect(try await first.ask("POST", "/v1/session", ["Authorization: Bearer wrong"]).status == 401)
        let answer = try await first.ask("POST", "/v1/session", ["Authorization: Bearer \(Self.token)"])
        #expect(answer.status == 204)
        let cookie = try #require(answer.head.firstMatch(of: /Set-Cookie: ([^;]*);(.*)\r\n/))
        #expect(cookie.2.contains("HttpOnly") && cookie.2.contains("SameSite=Strict") && cookie.2.contains("Path=/"))
        #expect(!answer.head.contains(Self.token))
        #expect(!cookie.2.contains("Secure"))
        let header = ["Cookie: a=b; \(cookie.1); c=d"]
        for spelling in ["+", "0"] {
            let changed = cookie.1.replacing("=", with: "=\(spelling)")
            #expect(try await first.ask("GET", "/v1/balance", ["Cookie: \(changed)"]).status == 401)
        }
        #expect(try await first.ask("GET", "/v1/balance", header).status == 200)
        await first.stop()
        let second = try await stand(Self.token)
        #expect(try await second.ask("GET", "/v1/balance", header).status == 200)
        time.withLock { $0 += 31 * 86_400_000 }
        #expect(try await second.ask("GET", "/v1/balance", header).status == 401)
        await second.stop()
        time.withLock { $0 -= 31 * 86_400_000 }
        let other = try await stand("another token")
        #expect(try await other.ask("GET", "/v1/balance", header).status == 401)
        await other.stop()
    }

    @Test(
        "The cookie of a page that came through a proxy with TLS is never sent in the clear",
        arguments: [
            ("kiosk.example", "https", true), ("kiosk.example", "http", false), ("localhost", "https", false),
        ])
    func secureSession(host: String, proto: String, isSecure: Bool) async throws {
        let stand = try await ServeStand {
            $0.access = ServeAccess(hosts: ["kiosk.example"], token: Array(Self.token.utf8))
        }
        let answer = try await stand.ask(
            "POST", "/v1/session", ["Authorization: Bearer \(Self.token)", "X-Forwarded-Proto: \(proto)"], host: host)
        #expect(answer.status == 204 && answer.head.contains("; Secure") == isSecure, "\(answer.head)")
        await stand.stop()
    }

    @Test("Comparing secrets finds equal ones equal")
    func comparison() {
        for (first, second) in [("", ""), ("a", "a"), ("a", "b"), ("a", ""), ("ab", "a"), ("a", "aa")] {
            #expect(MessageAuthentication.isEqual(Array(first.utf8), Array(second.utf8)) == (first == second))
        }
    }

    // MARK: Methods

    private static let queries: [(String, Int, String)] = [
        ("reader=door", 200, "{\"reader\":\"door\"}\n"), ("reader=a%20b%2Bc+d", 200, "{\"reader\":\"a b+c d\"}\n"),
        ("reader=%E9%A7%85", 200, "{\"reader\":\"駅\"}\n"), ("reader=", 200, "{\"reader\":\"\"}\n"),
        ("timeout=1.5&limit=-3", 200, "{\"timeout\":1.5,\"limit\":-3}\n"), ("timeout=10", 200, "{\"timeout\":10}\n"),
        ("system=0003,FE00", 200, "{\"system\":[\"0003\",\"FE00\"]}\n"), ("all=true", 200, "{\"all\":true}\n"),
        ("all=false", 200, "{\"all\":false}\n"), ("all", 200, "{\"all\":true}\n"), ("", 200, "{}\n"),
        ("&&", 200, "{}\n"), ("all=yes", 400, "all"), ("limit=1.5", 400, "limit"), ("limit=", 400, "limit"),
        ("limit=99999999999999999999", 400, "limit"), ("timeout=nan", 400, "timeout"),
        ("timeout=1e999", 400, "timeout"),
        ("trace=/etc/passwd", 400, "trace"), ("pin1-from=env:A", 400, "pin1-from"),
        ("reader=a&reader=b", 400, "reader"),
        ("reader=%", 400, "query"), ("reader=%4", 400, "query"), ("reader=%zz", 400, "query"),
        ("reader=%ff", 400, "query"), ("%72eader=door", 200, "{\"reader\":\"door\"}\n"), ("=x", 400, "unknown"),
        ("%1b%5b31m=x", 400, "unknown parameter '[31m'"),
    ]

    @Test("The query becomes parameters by their kinds; anything unknown is 400", arguments: queries)
    func query(_ query: String, _ status: Int, _ text: String) async throws {
        let stand = try await ServeStand()
        let answer = try await stand.ask("GET", "/v1/balance?\(query)")
        #expect(answer.status == status)
        if status == 200 { #expect(answer.body == text) } else { #expect(answer.body.contains(text)) }
        await stand.stop()
    }

    private static let statuses = [
        (64, 400), (65, 422), (66, 404), (69, 503), (70, 500), (73, 507), (74, 502), (75, 504), (76, 409), (77, 403),
        (1, 400), (143, 500),
    ]

    @Test("Exit statuses become statuses", arguments: statuses)
    func exits(_ exit: Int, _ status: Int) async throws {
        let stand = try await ServeStand()
        let answer = try await stand.ask("GET", "/v1/read?fail=\(exit)")
        #expect(answer.status == status && answer.body.contains("\"schema\":\"kazasu.error/1\""))
        await stand.stop()
    }

    @Test("Every exit status of a failure has an answer over HTTP and an error of JSON-RPC, with names of their own")
    func failures() {
        let exits: [Kazasu.ExitStatus] = [
            .usage, .badFile, .missingFile, .noReader, .bug, .cannotWrite, .interruptedReading, .noCard, .otherCard,
            .refused,
        ]
        #expect(FailureStatus.all.compactMap(\.exit) == exits)
        for exit in exits { #expect(FailureStatus.rpc(of: exit) == -32_000 - Int(exit.rawValue)) }
        for names in [FailureStatus.answers.map(\.name), FailureStatus.all.compactMap(\.rpc).map(\.name)] {
            #expect(Set(names).count == names.count)
        }
        #expect(Set(FailureStatus.answers.map(\.status.code)).count == FailureStatus.answers.count)
    }

    @Test("POST takes members of an object")
    func post() async throws {
        let stand = try await ServeStand { $0.allowed = [.raw] }
        let body = "{\"commands\":[\"00A40400\"],\"reader\":\"door\"}"
        #expect(try await stand.ask("POST", "/v1/apdu", body: body).body == body + "\n")
        #expect(try await stand.ask("POST", "/v1/apdu").body == "{}\n")
        for body in ["[]", "{", "null", "\u{FF}"] {
            #expect(try await stand.ask("POST", "/v1/apdu", body: body).status == 400, "\(body)")
        }
        #expect(try await stand.ask("POST", "/v1/apdu?reader=door", body: body).status == 400)
        await stand.stop()
    }

    @Test("Refuses methods that are not allowed before the body arrives")
    func permissions() async throws {
        let stand = try await ServeStand()
        for (method, path) in [("POST", "/v1/apdu"), ("GET", "/v1/ledger/records")] {
            let answer = try await stand.ask(method, path, ["Expect: 100-continue"])
            #expect(answer.status == 403 && answer.body.contains("\"reason\":\"notAllowed\""))
            #expect(answer.body.contains("--allow"))
        }
        await stand.stop()
    }

    @Test("A dump is a body, and so is what it is converted to")
    func bodies() async throws {
        let stand = try await ServeStand()
        let text = try await stand.ask("POST", "/v1/convert?to=json", body: "# a dump")
        #expect(text.body == "to json" && text.head.contains("Content-Type: text/plain"))
        let client = try stand.client()
        await client.send(
            Array("POST /v1/convert?to=x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n".utf8) + [0, 0xFF, 1])
        _ = await client.text(to: "Content-Length: 3\r\n\r\n")
        #expect(await client.bytes(3) == [0, 0xFF, 1])
        #expect(try await stand.ask("POST", "/v1/convert?text=a", body: "b").status == 400)
        await stand.stop()
    }

    @Test("Other methods, paths and parameters are refused by name")
    func unknown() async throws {
        let stand = try await ServeStand()
        let method = try await stand.ask("DELETE", "/v1/balance")
        #expect(method.status == 405 && method.head.contains("Allow: GET, HEAD, OPTIONS"))
        #expect(try await stand.ask("GET", "/v1/apdu").status == 405)
        for path in [
            "/v1/balance/", "/v1//balance", "/V1/balance", "/../etc/passwd", "/v1/%62alance", "//", "/v1/taps/x",
        ] {
            #expect(try await stand.ask("GET", path).status == 404, "\(path)")
        }
        for path in ["/healthz?a=b", "/metrics?a", "/openapi.json?x=1", "/v1/taps?after=1", "/v1/events?since=1"] {
            #expect(try await stand.ask("GET", path).status == 400, "\(path)")
        }
        await stand.stop()
    }

    @Test("The document of the methods is made once")
    func openAPI() async throws {
        let made = Mutex(0)
        let stand = try await ServeStand(
            description: Description {
                made.withLock { $0 += 1 }
                return ["openapi": "3.1.0"]
            })
        #expect(made.withLock(\.self) == 0)
        for _ in 0..<3 {
            #expect(try await stand.ask("GET", "/openapi.json").body == "{\"openapi\":\"3.1.0\"}\n")
        }
        #expect(made.withLock(\.self) == 1)
        await stand.stop()
    }

    @Test("The log has neither queries, tokens, nor paths that are none")
    func log() async throws {
        let lines = Mutex<[String]>([])
        let stand = try await ServeStand { settings in
            settings.access = ServeAccess(token: Array(Self.token.utf8))
            settings.log = { line in lines.withLock { $0.append(line) } }
        }
        let header = ["Authorization: Bearer \(Self.token)"]
        _ = try await stand.ask("GET", "/v1/balance?reader=0101031234567890", header)
        _ = try await stand.ask("GET", "/v1/0101031234567890", header)
        _ = try await stand.ask("GET", "/v1/balance?reader=0101031234567890")
        let log = lines.withLock { $0.joined(separator: "\n") }
        #expect(log.contains("GET /v1/balance 200") && log.contains("GET ? 404") && log.contains("GET /v1/balance 401"))
        #expect(!log.contains("0101031234567890") && !log.contains(Self.token))
        await stand.stop()
    }

    @Test("Every error is said in both languages")
    func languages() async throws {
        let stand = try await ServeStand { $0.language = .japanese }
        #expect(try await stand.ask("GET", "/nothing").body.contains("このパスには何もありません"))
        #expect(try await stand.ask("GET", "/", host: "evil.example").body.contains("ホスト名ではありません"))
        await stand.stop()
    }
}
