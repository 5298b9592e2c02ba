// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// Webhooks whose receivers demand a form of their own.
@Suite("kazasu watch --webhook-body", .waits)
struct WebhookTests {
    /// Answers 400 to a body that the service of the path would not accept.
    private static let receiver = """
        import http.server, json, sys

        def text(value): return isinstance(value, str) and 0 < len(value) <= 2000
        def cards(body): return [part["content"] for part in body["attachments"]]
        FORMS = {
            "discord": lambda body: set(body) == {"content", "allowed_mentions"} and text(body["content"]),
            "slack": lambda body: set(body) == {"text"} and text(body["text"]),
            "teams": lambda body: body["type"] == "message" and all(
                card["type"] == "AdaptiveCard" and text(card["body"][0]["text"]) for card in cards(body)),
            "ifttt": lambda body: set(body) == {"value1", "value2", "value3"},
            "grafana": lambda body: isinstance(body["time"], int) and text(body["text"]),
            "any": lambda body: True,
            "own": lambda body: body["who"] is None and isinstance(body["yen"], (int, type(None))) and body["kind"] == "on",
        }

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                name, kind = self.path.split("/")[1], self.headers["Content-Type"]
                try:
                    if name == "ntfy":
                        good = kind.startswith("text/plain") and not body.startswith("{")
                    else:
                        good = kind == "application/json" and FORMS[name](json.loads(body))
                except Exception:
                    good = False
                self.send_response(204 if good else 400)
                self.end_headers()
                # At once: two requests may be answered side by side.
                line = " ".join([self.path, "good" if good else "bad", body.replace("\\n", " ")])
                print(line + "\\n", end="", flush=True)
            def log_message(self, *words): pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    private let folder: TemporaryFolder
    private let server: RunningChild
    private let port: String

    init() throws {
        folder = try TemporaryFolder()
        let script = try folder.write(Array(Self.receiver.utf8), as: "receiver.py")
        server = try RunningChild("/usr/bin/python3", [script], limit: .seconds(300))
        port = try #require(try server.line(of: .output))
    }

    private func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// The services, and a template of our own.
    static let bodies = ["discord", "slack", "teams", "ntfy", "ifttt", "grafana", "own"]

    private func body(_ name: String) throws -> String {
        guard name == "own" else { return name }
        let template = #"{"who": {name}, "yen": {amount}, "kind": "{type}", "at": "{reader}: {balance}"}"#
        return try folder.write(Array(template.utf8), as: "own.json")
    }

    /// Watches a card that comes and goes, and returns what was posted until this many requests came.
    private func posted(_ arguments: [String], _ count: Int) throws -> [String] {
        let child = try Service.watch(
            [
                "-r", "door=virtual:\(Service.visitor)", "--read", "balance", "--outbox",
                "\(folder.path)/\(arguments.count)-\(count)",
            ] + arguments)
        var lines: [String] = []
        while lines.count < count { lines.append(try #require(try server.line(of: .output))) }
        child.send(SIGTERM)
        let result = child.finish()
        #expect(result.end == .exited(0))
        #expect(!result.errors.contains("was not delivered"), "\(result.errors)")
        server.send(SIGTERM)
        return lines
    }

    @Test("A body for a service is what the service demands, from the command line", arguments: bodies)
    func commandLine(name: String) throws {
        let lines = try posted(["--webhook", url(name), "--webhook-types=on", "--webhook-body", body(name)], 2)
        for line in lines { #expect(line.hasPrefix("/\(name) good "), "\(line)") }
    }

    @Test("The same from a file of settings, where the names are short", arguments: bodies)
    func settings(name: String) throws {
        let settings = """
            webhook:
              - url: \(url(name))
                types: [on]
                body: \(try body(name))
            """
        let file = try folder.write(Array(settings.utf8), as: "watch.yaml")
        let lines = try posted(["--config", file], 2)
        for line in lines { #expect(line.hasPrefix("/\(name) good "), "\(line)") }
    }

    @Test("Each webhook has its own events", arguments: ["on,off", "reader"])
    func types(types: String) throws {
        let lines = try posted(
            ["--webhook", url("any"), "--webhook-types", types, "--webhook", url("slack"), "--webhook-body", "slack"], 6
        )
        let kinds = lines.filter { $0.hasPrefix("/any ") }.compactMap { line in
            types.split(separator: ",").first { line.contains("\"type\":\"\($0)\"") }
        }
        #expect(kinds.count == lines.count { $0.hasPrefix("/any ") } && !kinds.isEmpty)
        #expect(lines.contains { $0.hasPrefix("/slack good ") })
    }

    static let mistakes: [([String], Int32, String)] = [
        (["--webhook-body", "slack"], 64, "after its --webhook"),
        (["--webhook", "http://x/", "--webhook-body", "slack", "--webhook-body", "slack"], 64, "once"),
        (["--webhook", "http://x/", "--webhook-body", "slcak"], 66, "did you mean 'slack'?"),
        (["--webhook", "http://x/", "--webhook-body", "nowhere"], 66, "discord"),
        (["--webhook", "http://x/", "--webhook-types", "on,of"], 64, "did you mean 'on,off'?"),
        (["--webhook", "http://x/", "--webhook-body", "FOLDER/unknown"], 65, "did you mean '{name}'?"),
        (["--webhook", "http://x/", "--webhook-body", "FOLDER/broken"], 65, "not JSON"),
    ]

    @Test("A mistake is said at the start, with what was meant", arguments: mistakes)
    func wrong(arguments: [String], status: Int32, words: String) throws {
        server.send(SIGTERM)
        _ = try folder.write(Array("hello {nmae}".utf8), as: "unknown")
        _ = try folder.write(Array(#"{"a": "{name}"#.utf8), as: "broken")
        let child = try Service.watch(
            arguments.map { $0.replacing("FOLDER", with: folder.path) } + ["--outbox", "\(folder.path)/o"])
        let result = child.finish()
        #expect(result.end == .exited(status), "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
    }
}
