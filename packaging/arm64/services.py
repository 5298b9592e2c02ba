# SPDX-License-Identifier: Apache-2.0
"""What the commands that run for long send: watch to a broker and a web server, rpc and serve to those that ask."""

import http.client
import http.server
import json
import os
import re
import socket
import subprocess
import threading

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CARD = os.path.join(TOP, "Fixtures", "cards", "suica-p1", "card.json")
# Lines for rpc; the answers of what waits for a card may come in any order.
LINES = [json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) for number, (method, params) in enumerate([
    ("initialize", {}), ("card.poll", {}), ("card.scan", {}), ("card.dump", {}), ("card.balance", {"all": True}),
    ("card.history", {"since": "2011-03-11"}), ("card.felica", {"commands": ["0600FFFF0000"]}), ("card.license", {"free": True}),
    ("card.balance", {"reader": "nothing:"}), ("card.poll", {"speed": 1}), ("card.history", {"since": "yesterday"}),
    ("tag.read", {}), ("decode", {"text": "{"}), ("decode", {"base64": "AA=="}), ("ledger.sum", {"ledger": "/nonexistent"}), ("nothing", {}),
])] + ["nonsense", '{"jsonrpc":"2.0"}', "[]"]
# Requests for serve: a method, a path, a body.
REQUESTS = [("GET", path, None) for path in (
    "/v1/readers", "/v1/poll", "/v1/scan", "/v1/dump", "/v1/balance?all=true", "/v1/history", "/v1/license", "/v1/tag/read",
    "/v1/balance?speed=1", "/v1/balance?reader=nothing", "/v1/nothing", "/v1/decode", "/openapi.json", "/healthz", "/", "/kazasu.js")]
REQUESTS += [("POST", "/v1/decode", CARD), ("POST", "/v1/convert?to=hex", CARD), ("POST", "/v1/apdu", None)]


class WebServer(http.server.HTTPServer):
    """Takes events of --webhook; `arrived` is set when a card's is among them."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), WebServer.Handler)
        self.events, self.arrived = [], threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.events.append(body)
            if b'"type":"on"' in body:
                self.server.arrived.set()
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass


def unused_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def essence(event):
    """An event without times and what follows from them."""
    event = json.loads(event)
    return json.dumps({key: value for key, value in event.items() if key not in ("id", "at", "mono", "clock", "on", "dwellMs")})


def watch(program):
    """The events of a virtual card that comes and of a watcher that ends, as a web server and a subscriber got them."""
    port = unused_port()
    settings = os.path.join(program.work, "mosquitto.conf")
    with open(settings, "w", encoding="utf-8") as file:
        file.write(f"listener {port} 127.0.0.1\nallow_anonymous true\nuser root\n")
    broker = subprocess.Popen(["mosquitto", "-c", settings], stderr=subprocess.DEVNULL)
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
    # The last message is the watcher's goodbye.
    topics = subprocess.Popen(["mosquitto_sub", "-p", str(port), "-t", "#", "-F", "%t %p", "-W", "120"],
                              stdout=subprocess.PIPE, text=True)
    server = WebServer()
    watcher = subprocess.Popen(
        [*program.start, os.path.join(program.folder, "kazasud"), "watch", "-q", "-r", "virtual:" + CARD, "--read",
         "balance", "--site", "test", "--mqtt", f"mqtt://127.0.0.1:{port}", "--webhook",
         f"http://127.0.0.1:{server.server_port}/", "--outbox", os.path.join(program.work, "outbox.sqlite")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", "HOME": program.work})
    try:
        server.arrived.wait(120)
        watcher.terminate()
        status = watcher.wait(60)
        messages = []
        for line in topics.stdout:
            topic, _, payload = line.strip().partition(" ")
            if payload.startswith("{") and '"type"' in payload:
                messages.append((topic, essence(payload)))
                if '"type":"off"' in payload:
                    break
        return status, [essence(event) for event in server.events], messages
    finally:
        for process in (watcher, topics, broker):
            process.kill()
            process.wait()
        server.shutdown()


def difference(wanted, answer):
    """The parts that two services did not send alike."""
    parts = [f"\n    {str(one)[:600]}\n    {str(two)[:600]}" for first, second in zip(wanted, answer) if first != second
             for one, two in (zip(first, second) if isinstance(first, list) and len(first) == len(second) else [(first, second)]) if one != two]
    return "sent something else:" + "".join(parts)


def rpc(program):
    """What rpc answers, in the order of the requests, and its status."""
    words = [*program.start, os.path.join(program.folder, "kazasud"), "rpc", "-r", "virtual:" + CARD]
    done = subprocess.run(words, input="\n".join(LINES) + "\n", capture_output=True, text=True, timeout=300, check=False,
                          env={"PATH": "/usr/bin:/bin", "HOME": program.work, "LC_ALL": "C.UTF-8"})
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    # How often progress is reported depends on how long a request takes.
    kept = [program.clean(json.dumps(answer, ensure_ascii=False).encode()) for answer in answers if answer.get("method") != "progress"]
    return done.returncode, sorted(kept), program.clean(done.stderr.encode())


def serve(program):
    """What serve answers, the first events of a client, and how it ends."""
    words = [*program.start, os.path.join(program.folder, "kazasud"), "serve", "--listen", "127.0.0.1:0", "--read", "balance", "--site", "test",
             "--outbox", os.path.join(program.work, "serve.sqlite"), "-r", "door=virtual:" + CARD]
    server = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": program.work, "LC_ALL": "C.UTF-8"})
    try:
        port = next(int(found.group(1)) for line in server.stderr if (found := re.search(r"http://127\.0\.0\.1:(\d+)", line)))
        threading.Thread(target=server.stderr.read, daemon=True).start()
        answers, events = [], []
        stream = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        stream.request("GET", "/v1/taps")
        response = stream.getresponse()
        # First the state of the reader, then what happens; the card may be there at once or come.
        while not events:
            line = response.readline()
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
                event = event.get("on", event)
                if event and event["type"] == "on":
                    events.append(essence(json.dumps(event)))
        stream.close()
        for method, path, body in REQUESTS:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            content = None
            if body:
                with open(body, "rb") as file:
                    content = file.read()
            connection.request(method, path, content)
            response = connection.getresponse()
            text = program.clean(response.read()).replace(str(port), "PORT")
            answers.append((path, response.status, response.getheader("Content-Type"), text))
            connection.close()
        server.terminate()
        return server.wait(60), answers, events
    finally:
        server.kill()
        server.wait()
