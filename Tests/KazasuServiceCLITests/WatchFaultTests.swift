// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// What goes wrong while it watches.
@Suite("kazasu watch, and what goes wrong", .waits)
struct WatchFaultTests {
    /// Checks that the numbers of events have no gap, and returns how many there are.
    @discardableResult
    private static func sequence(_ output: String) throws -> Int {
        let events = try output.split(separator: "\n").map {
            try JSONCursor(JSONValue(parsing: Array($0.utf8))).object()
        }
        #expect(events.map { $0["seq"] } == (1...max(1, events.count)).map { .int($0) })
        return events.count
    }

    @Test(
        "A full disk: said, nothing shown that is not stored, and nothing lost",
        .enabled(if: MountNamespace.obstacle == nil, "\(MountNamespace.obstacle ?? "")"))
    func fullDisk() throws {
        let folder = try TemporaryFolder()
        let child = try MountNamespace.start(
            "mount -t tmpfs -o size=1m kazasu '\(folder.path)' && exec '\(Service.path)' watch"
                + " -r 'virtual:\(Service.visitor)' --outbox '\(folder.path)/o'",
            environment: Service.environment)
        _ = try child.event(of: "on")
        // The mount is seen through the process alone.
        let filler = "/proc/\(child.process)/root\(folder.path)/filler"
        let file = open(filler, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        let zeros = [UInt8](repeating: 0, count: 4096)
        while write(file, zeros, zeros.count) > 0 {}
        close(file)
        #expect(try child.message(containing: "in memory").contains("the disk is full"))
        try #require(unlink(filler) == 0)
        _ = try child.message(containing: "stored again")
        _ = try child.event(of: "on")
        child.send(SIGTERM)
        let result = child.finish()
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(try Self.sequence(result.output) > 4)
    }

    /// Starts a command on a small disk that another program has filled, beside an outbox with one event.
    private static func onFullDisk(_ command: String, in folder: String, then: String = "") throws -> RunningChild {
        try MountNamespace.start(
            """
            mount -t tmpfs -o size=2m kazasu '\(folder)' && cd '\(folder)' || exit 1
            mkfifo lines; '\(Service.path)' watch -q -r 'virtual:\(Service.card)' --exec /bin/false --outbox o > lines &
            exec 9< lines; read -r ready <&9; read -r on <&9; kill $!; wait $!; exec 9<&-; rm lines
            dd if=/dev/zero of=filler bs=1024 2>/dev/null
            \(then)
            exec '\(Service.path)' \(command) --outbox o
            """,
            environment: Service.environment)
    }

    @Test(
        "A disk that is full at the start: an outbox of an earlier run works, and its numbers go on",
        .enabled(if: MountNamespace.obstacle == nil, "\(MountNamespace.obstacle ?? "")"))
    func fullAtStart() throws {
        let folder = try TemporaryFolder()
        let child = try Self.onFullDisk("watch -r 'virtual:\(Service.card)'", in: folder.path)
        let on = try child.event(of: "on")
        guard case .integer(let sequence)? = on["seq"] else {
            Issue.record("no number")
            return
        }
        #expect(sequence > 2)
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test(
        "A disk without any room at the start: it says so, keeps events, and stores them when there is room",
        .enabled(if: MountNamespace.obstacle == nil, "\(MountNamespace.obstacle ?? "")"),
        arguments: ["watch --json", "serve --listen 127.0.0.1:0"])
    func noRoomAtStart(command: String) throws {
        let folder = try TemporaryFolder()
        let child = try Self.onFullDisk(
            "\(command) -r 'virtual:\(Service.visitor)'", in: folder.path,
            then: "rm -f o-reserve; dd if=/dev/zero of=filler2 bs=1024 2>/dev/null")
        #expect(try child.message(containing: "memory").contains("the disk is full"))
        let place = "/proc/\(child.process)/root\(folder.path)"
        try #require(unlink("\(place)/filler") == 0)
        _ = try child.message(containing: "stored again")
        if command.hasPrefix("watch") {
            let events = [try child.event(), try child.event(), try child.event()]
            #expect(events.map { $0["seq"] } == [1, 2, 3])
        }
        child.send(SIGTERM)
        let result = child.finish()
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(!result.errors.contains("SQLite"))
    }

    @Test(
        "On a full disk, the outbox is shown, and what waits can be discarded",
        .enabled(if: MountNamespace.obstacle == nil, "\(MountNamespace.obstacle ?? "")"),
        arguments: [("outbox status", "stored"), ("outbox drop --pending --yes", "discarded")])
    func outboxOnFullDisk(command: String, word: String) throws {
        let folder = try TemporaryFolder()
        // The second time, the reserve must be there again.
        let child = try Self.onFullDisk(
            command, in: folder.path, then: "'\(Service.path)' outbox status --outbox o || exit 9")
        let result = child.finish()
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.errors.contains(word), "\(result.errors)")
    }

    @Test("Settings that are wrong leave no outbox, and a file that is something else nothing beside it")
    func leavesNothing() throws {
        let folder = try TemporaryFolder()
        let (path, foreign) = ("\(folder.path)/o", try folder.write(Array("{}".utf8), as: "foreign.json"))
        #expect(try Service.run("watch", "--exec", "\(folder.path)/none", "--outbox", path).end == .exited(66))
        #expect(try Service.run("watch", "--exec", "/bin/true", "--outbox", foreign).end == .exited(65))
        for left in [path, path + ".lock", path + "-reserve", foreign + ".lock", foreign + "-reserve"] {
            #expect(access(left, F_OK) != 0, "\(left)")
        }
    }

    @Test(
        "A disk that cannot be written at the start is an error, before any card is read",
        .enabled(if: MountNamespace.obstacle == nil, "\(MountNamespace.obstacle ?? "")"))
    func readOnlyDisk() throws {
        let folder = try TemporaryFolder()
        let child = try MountNamespace.start(
            "mount -t tmpfs -o ro kazasu '\(folder.path)' && exec '\(Service.path)' watch --json"
                + " -r 'virtual:\(Service.visitor)' --outbox '\(folder.path)/o'",
            environment: Service.environment)
        let result = child.finish()
        #expect(result.end == .exited(73))
        #expect(result.output.isEmpty)
        #expect(result.errors.contains(#""reason":"cannotWrite""#), "\(result.errors)")
    }

    @Test(
        "It writes nothing to the system log where it may not raise priorities, as an ordinary user",
        .enabled(if: MountNamespace.obstacle == nil && geteuid() == 0, "needs root"))
    func systemLog() throws {
        let folder = try TemporaryFolder()
        let log = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | O_NONBLOCK, 0)
        defer { close(log) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(folder.path)/log".utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(log, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound)
        let child = try MountNamespace.start(
            """
            cd '\(folder.path)' && mkdir dev && mount -t tmpfs kazasu dev && cd dev && mkdir pts
            for name in null zero urandom; do touch $name; mount --bind /dev/$name $name; done
            mount -t devpts -o newinstance,ptmxmode=0666 kazasu pts && ln -s pts/ptmx ptmx
            touch log; mount --bind ../log log; mount --rbind . /dev
            exec setpriv --bounding-set=-sys_nice --inh-caps=-all '\(Service.path)' watch \
                -r 'virtual:\(Service.card)' --exec /bin/true --outbox '\(folder.path)/o'
            """,
            environment: Service.environment)
        _ = try child.event(of: "on")
        child.send(SIGTERM)
        let result = child.finish()
        #expect(result.end == .exited(0), "\(result.errors)")
        var line = [UInt8](repeating: 0, count: 4096)
        let count = recv(log, &line, line.count, 0)
        #expect(count < 0 && errno == EAGAIN, "\(String(decoding: line.prefix(max(0, count)), as: UTF8.self))")
    }

    @Test("A web server that asks for patience gets the same event again; without a certificate it gets nothing")
    func webServers() throws {
        let folder = try TemporaryFolder()
        let page = try folder.write(Array(WebServer.program.utf8), as: "server.py")
        let server = try WebServer(page, answers: "429:1 503 200")
        let secure = try WebServer(page, answers: "", certificate: try Self.certificate(folder))
        let child = try Service.watch(
            "-r", "virtual:\(Service.card)", "--outbox", "\(folder.path)/o", "--webhook",
            "http://127.0.0.1:\(server.port)/", "--webhook", "https://localhost:\(secure.port)/")
        let requests = try (0..<3).map { _ in try #require(try server.request()).split(separator: " ") }
        #expect(Set(requests.map { $0[3] }).count == 1, "\(requests)")
        #expect(requests.map { $0[4] } == ["429", "503", "200"])
        #expect(requests.allSatisfy { $0.last?.hasPrefix("kazasu/") == true }, "\(requests)")
        #expect(try child.message(containing: "localhost").contains("TLS failed"))
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
        let status = try Service.run("outbox", "status", "--json", "--outbox", "\(folder.path)/o")
        let sinks = try JSONCursor(JSONValue(parsing: Array(status.output.utf8))).required("sinks").elements()
        #expect(try sinks.map { try $0.required("error").text() } == ["tls"], "\(status.output)")
    }

    @Test("A program of --exec that ignores SIGTERM is killed before watch ends")
    func stubbornProgram() throws {
        let folder = try TemporaryFolder()
        let pipe = "\(folder.path)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let program = try folder.script("trap '' TERM; echo $$ > '\(pipe)'; exec sleep 600")
        let child = try Service.watch(
            "-r", "virtual:\(Service.card)", "--outbox", "\(folder.path)/o", "--exec", program)
        let number = try #require(pid_t(String(decoding: try TestFiles.read(pipe).dropLast(), as: UTF8.self)))
        child.send(SIGTERM)
        _ = try child.message(containing: "not delivered to")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
        #expect(kill(number, 0) == -1 && errno == ESRCH)
    }

    @Test("A port that is in use is an error at the start, before any card is read")
    func portInUse() throws {
        let folder = try TemporaryFolder()
        let server = try WebServer(try folder.write(Array(WebServer.program.utf8), as: "server.py"), answers: "")
        let result = try Service.run(
            "watch", "--json", "-r", "virtual:\(Service.card)", "--metrics", "127.0.0.1:\(server.port)")
        #expect(result.end == .exited(69))
        #expect(result.output.isEmpty)
        #expect(result.errors.contains(#""reason":"busy""#), "\(result.errors)")
    }

    @Test("serve does not say that it serves before it knows that its reader exists")
    func serveWithoutItsReader() throws {
        let folder = try TemporaryFolder()
        func arguments(_ reader: String) -> [String] {
            ["serve", "-r", reader, "--listen", "127.0.0.1:0", "--page", "none", "--outbox", "\(folder.path)/o"]
        }
        let result = try RunningChild(
            Service.path, arguments("virtual:\(folder.path)/none.json"), environment: Service.environment,
            limit: .seconds(120), hasTerminal: false
        ).finish()
        #expect(result.end == .exited(66), "\(result.errors)")
        #expect(!result.errors.contains("serving at"), "\(result.errors)")
        let child = try RunningChild(
            Service.path, arguments("virtual:\(Service.card)"), environment: Service.environment,
            limit: .seconds(120), hasTerminal: false)
        _ = try child.message(containing: "serving at http://127.0.0.1:")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    /// A certificate that nobody has signed, and its key, in one file.
    private static func certificate(_ folder: TemporaryFolder) throws -> String {
        let file = "\(folder.path)/certificate.pem"
        let made = try ChildProcess.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost", "-keyout", file, "-out", "\(file).crt",
            ])
        try #require(made.end == .exited(0), "\(made.errors)")
        let both = try TestFiles.read(file) + TestFiles.read("\(file).crt")
        return try folder.write(both, as: "both.pem")
    }

    @Test("Prometheus reads what the watcher counts", .needs("/usr/bin/curl"))
    func metrics() throws {
        let folder = try TemporaryFolder()
        let port = try LoopbackPort.free()
        let child = try Service.watch(
            "-r", "door=virtual:\(Service.visitor)", "--outbox", "\(folder.path)/o", "--exec", "/bin/false",
            "--metrics", "127.0.0.1:\(port)")
        _ = try child.event(of: "off")
        let text = try ChildProcess.run("/usr/bin/curl", ["-sS", "http://127.0.0.1:\(port)/metrics"]).output
        var values: [Substring: Int] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            values[parts[0]] = Int(parts.count == 2 ? parts[1] : "")
        }
        let reader = #"reader="door""#
        #expect(values["kazasu_reader_up{\(reader)}"] == 1, "\(text)")
        #expect(values["kazasu_taps_total{\(reader),technology=\"felica\"}", default: 0] >= 1)
        #expect(values["kazasu_presence_misses_total{\(reader)}", default: 0] >= 3)
        #expect(values["kazasu_outbox_pending{sink=\"exec:/bin/false\"}", default: 0] >= 1)
        #expect(values["kazasu_tap_read_seconds_count", default: 0] >= 1)
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }
}

/// A web server of Python that answers with the statuses that it is told, and prints what it got.
final class WebServer {
    let port: String
    private let child: RunningChild

    /// - Parameters:
    ///   - answers: statuses, each perhaps with the seconds of `Retry-After`, as `429:1`; 200 after the last.
    ///   - certificate: a PEM file with a key and its certificate, for HTTPS.
    init(_ script: String, answers: String, certificate: String? = nil) throws {
        child = try RunningChild(
            "/usr/bin/python3", [script, answers] + (certificate.map { [$0] } ?? []), limit: .seconds(120))
        port = try #require(try child.line(of: .output))
    }

    /// The next request: its method, path, whether its signature is right, its id, the status that answers it,
    /// and who sent it.
    func request() throws -> String? { try child.line(of: .output) }

    deinit { child.send(SIGKILL) }

    static let program = """
        import hashlib, hmac, http.server, json, ssl, sys

        answers = sys.argv[1].split()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                signature = self.headers.get("X-Kazasu-Signature", "t=,v1=")
                parts = dict(part.split("=", 1) for part in signature.split(","))
                code = hmac.new(b"secret", parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
                same = json.loads(body)["id"] == self.headers["Idempotency-Key"]
                state = "ok" if code == parts["v1"] and same else "wrong"
                status, _, pause = (answers.pop(0) if answers else "200").partition(":")
                print("POST", self.path, state, self.headers["Idempotency-Key"], status,
                    self.headers["User-Agent"], flush=True)
                self.send_response(int(status))
                if pause:
                    self.send_header("Retry-After", pause)
                self.send_header("Content-Length", "0")
                self.end_headers()
            def log_message(self, *words): pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if len(sys.argv) > 2:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[2])
            server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """
}
