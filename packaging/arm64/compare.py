#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py NATIVE ARM64 ROOT…: runs hundreds of commands with the native program and with the one for arm64 under qemu,
on the libraries below each ROOT, and fails when a status, an output or an error output differs.

NATIVE and ARM64 are folders with kazasu and kazasud. The first root gets all commands, the others every fifth. Then a
watcher of each kind sends the events of a card to a broker and a web server on this machine, which have to be the same."""

import concurrent.futures
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FIXTURES = os.path.join(TOP, "Fixtures")
PROCESSOR = "cortex-a72"


def cards():
    """The dumps of the fixtures' cards."""
    folder = os.path.join(FIXTURES, "cards")
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name, "card.json")
        if os.path.exists(path):
            yield path


def files(folder):
    """The files below a folder of the fixtures, without notes."""
    for place, _, names in sorted(os.walk(os.path.join(FIXTURES, folder))):
        yield from (os.path.join(place, name) for name in sorted(names) if not name.endswith(".md"))


def commands():
    """The command lines."""
    for card in cards():
        virtual = ["-r", "virtual:" + card]
        for language in ("en", "ja"):
            yield ["decode", card, "--lang", language]
        yield ["decode", card, "--json"]
        for form in (["--json"], ["--format", "csv"], ["--lang", "ja"]):
            yield ["history", card, *form]
        yield ["balance", card, "--all"]
        yield ["dump", *virtual]
        yield ["scan", *virtual, "--json"]
        yield ["balance", *virtual, "--json"]
    for path in files("virtual"):
        virtual = ["-r", "virtual:" + path, "-t", "0"]
        for command in ("poll", "dump", "tag info", "tag read"):
            yield [*command.split(), *virtual, "--json"]
    for path in files("formats"):
        yield ["decode", path]
        yield ["convert", path, "--to", "hex"]
    for command in ("balance", "history", "watch", "ledger", "ledger export", "dump", "tag write", "collect"):
        for language in ("en", "ja"):
            yield [*command.split(), "--help", "--lang", language]
    for shell in ("bash", "zsh", "fish"):
        yield ["--generate-completion-script", shell]
    yield ["--version"]
    yield ["balanse"]
    yield ["balance", "--card", "siuca"]
    yield ["balance", "-r", "nothing:"]
    yield ["decode", "/nonexistent"]
    yield ["stations", "lookup", "0-227-59"]
    for what in ("list", "sum", "cards", "gaps"):
        for form in ("text", "json", "csv"):
            yield ["LEDGER", what, "--format", form]
    for form in ("csv", "zaim", "ofx", "qif", "hledger", "beancount"):
        yield ["LEDGER", "export", form]
    yield ["LEDGER", "report", "-o", "-"]


class Program:
    """The programs of one kind, with a ledger of their own."""

    def __init__(self, start, folder, work):
        self.start, self.folder, self.work = start, folder, work
        os.makedirs(work, exist_ok=True)
        self.ledger = os.path.join(work, "ledger.sqlite")

    def run(self, command):
        """Status, output and error output."""
        if command[0] == "LEDGER":
            command = ["ledger", *command[1:], "--ledger", self.ledger]
        # kazasu replaces itself by kazasud, which the kernel cannot run for another processor.
        second = command[0] in ("ledger", "watch", "collect", "outbox")
        program = os.path.join(self.folder, "kazasud" if second else "kazasu")
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.work, "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}
        done = subprocess.run([*self.start, program, *command], capture_output=True, env=environment, check=False,
                              stdin=subprocess.DEVNULL, timeout=300, cwd=TOP)
        return done.returncode, self.clean(done.stdout), self.clean(done.stderr)

    def clean(self, output):
        """An output without what differs by its nature: this program's folder, times, and names of pseudo-terminals."""
        text = output.decode(errors="backslashreplace").replace(self.work, "WORK")
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d|Z)", "TIME", text)
        return re.sub(r"/dev/pts/\d+", "PTS", text)

    def keep(self):
        """Fills the ledger."""
        return self.run(["ledger", "import", *cards(), "--ledger", self.ledger])


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
    card = os.path.join(FIXTURES, "cards", "suica-p1", "card.json")
    watcher = subprocess.Popen(
        [*program.start, os.path.join(program.folder, "kazasud"), "watch", "-q", "-r", "virtual:" + card, "--read",
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


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    native, other, *roots = sys.argv[1:]
    lines = list(commands())
    failed = False
    with tempfile.TemporaryDirectory() as work:
        reference = Program([], native, os.path.join(work, "native"))
        first = reference.keep()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            expected = list(pool.map(reference.run, lines))
            events = watch(reference)
            assert len(events[1]) > 2 and len(events[2]) > 2, events
            for index, root in enumerate(roots):
                start = ["qemu-aarch64-static", "-cpu", PROCESSOR, "-L", root]
                program = Program(start, other, os.path.join(work, f"arm64-{index}"))
                wanted = list(zip(lines, expected))[:: 1 if index == 0 else 5]
                differing = [] if program.keep() == first else [(["ledger", "import"], first, program.keep())]
                answers = pool.map(program.run, [line for line, _ in wanted])
                differing += [(line, one, two) for (line, one), two in zip(wanted, answers) if one != two]
                for line, one, two in differing:
                    print("differs:", " ".join(line), one[0], two[0], one[2][:200], two[2][:200], sep="\n    ")
                print(f"{os.path.basename(root)}: {len(wanted) + 1} commands, {len(differing)} differ")
                answer = watch(program)
                same = answer == events
                print(f"{os.path.basename(root)}: watch {'sent the same events' if same else f'sent {answer}'}")
                failed = failed or not same
                failed = failed or bool(differing)
    sys.exit(failed)


if __name__ == "__main__":
    main()
