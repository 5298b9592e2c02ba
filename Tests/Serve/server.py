# SPDX-License-Identifier: Apache-2.0
"""`kazasu serve` for tests and benches: the program, plain clients, a reader on which cards are put."""

import base64
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KAZASUD = os.environ.get("KAZASUD", TOP + "/.build/debug/kazasud")
CARD_STAND = os.environ.get("CARD_STAND", TOP + "/.build/debug/card-stand")
SUICA = TOP + "/Fixtures/cards/suica-p1/card.json"
# A file of a passport: its machine-readable zone.
PASSPORT = TOP + "/Fixtures/ids/passports/dg1.bin"


def environment(**changes):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("KAZASU_", "LISTEN_"))}
    return {**kept, "LC_ALL": "C.UTF-8", **changes}


class Server:
    """A running server with an outbox of its own in a folder."""

    def __init__(self, folder, *options, listen="127.0.0.1:0", reader=f"door=virtual:{SUICA}", **variables):
        self.folder, self.outbox = folder, folder + "/outbox.sqlite"
        self.words = [KAZASUD, "serve", "--outbox", self.outbox, "--listen", listen]
        self.words += ["-r", reader] if reader else []
        self.words += options
        self.variables = variables
        self.log = []
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment(**self.variables), start_new_session=True)
        self.wait_for(r"serving at|待ち受けています")
        found = [re.search(r"http://(?:127\.0\.0\.1|\[::1\]|0\.0\.0\.0):(\d+)", line) for line in self.log]
        ports = [int(match.group(1)) for match in found if match]
        self.port = ports[-1] if ports else None
        if self.port:
            place = self.words.index("--listen") + 1
            self.words[place] = re.sub(r":0$", f":{self.port}", self.words[place])
        self.reader = threading.Thread(target=self.keep, daemon=True)
        self.reader.start()

    def wait_for(self, pattern):
        """Reads the log until a line has the pattern."""
        for line in self.process.stderr:
            self.log.append(line)
            if re.search(pattern, line):
                return line
        raise AssertionError("the server ended: " + "".join(self.log))

    def keep(self):
        for line in self.process.stderr:
            self.log.append(line)

    def ready(self):
        """Waits until the reader is ready."""
        while self.get("/healthz").status != 200:
            pass
        return self

    def stop(self, number=signal.SIGTERM, limit=60):
        """Returns the status and what was on standard output."""
        self.process.send_signal(number)
        status = self.process.wait(timeout=limit)
        self.reader.join(timeout=10)
        output = self.process.stdout.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return status, output

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    def ask(self, method, path, body=None, **headers):
        """Returns the response, with `data`, and `json` if it is JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        with contextlib.closing(connection):
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, names)
            response = connection.getresponse()
            response.data = response.read()
            response.json = None
            if response.getheader("Content-Type") == "application/json" and response.data:
                response.json = json.loads(response.data)
            return response

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def raw(self, text, end=True):
        """Sends bytes and returns everything until the server closes."""
        with self.connect() as client:
            client.sendall(text if isinstance(text, bytes) else text.encode())
            answer = b""
            while end and (part := client.recv(65536)):
                answer += part
            return answer.decode(errors="replace")

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=120)


class Stream:
    """A client of `/v1/taps`."""

    def __init__(self, server, after=None, token=None):
        self.socket = server.connect()
        lines = ["GET /v1/taps HTTP/1.0", f"Host: 127.0.0.1:{server.port}"]
        lines += [f"Last-Event-ID: {after}"] if after else []
        lines += [f"Authorization: Bearer {token}"] if token else []
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass

    def __iter__(self):
        """Pairs of fields and data, until the connection ends; comments are left out."""
        fields = {}
        with contextlib.suppress(ConnectionError):
            for line in self.file:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name and not name.startswith(":"):
                    fields[name] = value
                elif not name and "data" in fields:
                    yield fields, json.loads(fields.pop("data"))
                    fields = {}

    def next(self, event=None):
        """The next event, or the next of a type."""
        return next(found for found in self if event in (None, found[0]["event"]))

    def card(self):
        """The event of the card that lies there, or of the next one."""
        return next(on for fields, data in self if (on := data["on"] if fields["event"] == "state" else data) and on["type"] == "on")

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.file.close()
        self.socket.close()


class WebSocket:
    """A client of `/v1/rpc`."""

    def __init__(self, server, **headers):
        self.socket = server.connect()
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            "GET /v1/rpc HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass
        self.number = 0

    def frame(self, opcode, payload):
        mask = os.urandom(4)
        length = len(payload)
        head = bytes([0x80 | opcode]) + (
            bytes([0x80 | length]) if length < 126 else bytes([0xFE]) + struct.pack(">H", length) if length < 65536
            else bytes([0xFF]) + struct.pack(">Q", length))
        self.socket.sendall(head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload)))

    def receive(self):
        """The next frame: its opcode and payload; `None` at the end."""
        head = self.file.read(2)
        if len(head) < 2:
            return None
        length = head[1]
        if length == 126:
            length = struct.unpack(">H", self.file.read(2))[0]
        elif length == 127:
            length = struct.unpack(">Q", self.file.read(8))[0]
        return head[0] & 15, self.file.read(length)

    def message(self):
        while frame := self.receive():
            if frame[0] == 1:
                return json.loads(frame[1])
        return None

    def call(self, method, **params):
        """The response to a request; notifications before it are dropped."""
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.frame(1, json.dumps(request).encode())
        while message := self.message():
            if message.get("id") == self.number:
                return message
        return None

    def close(self):
        self.file.close()
        self.socket.close()


class Stand:
    """A simulated PN532 on which a card is put and taken off."""

    def __init__(self, folder, card=SUICA):
        self.process = subprocess.Popen(
            [CARD_STAND, card, folder + "/stand"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reader = self.process.stdout.readline().strip()

    def put(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline().strip() == word

    def unplug(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.unplug()
