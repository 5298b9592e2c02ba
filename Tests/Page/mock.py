#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server with the routes of `kazasu serve` that page and module use, and no reader: a test decides what happens when.

The documents are those of Fixtures/cards. A test in Python calls the methods of `Mock`, one in JavaScript posts to /mock/….
`mock.py --port 7878 --demo` puts a card on a reader every few seconds.
"""

import argparse
import base64
import hashlib
import http.cookies
import http.server
import json
import os
import queue
import re
import sys
import threading
import time
import urllib.parse
from email.utils import formatdate

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(TOP, "Sources", "Services", "Server", "Page")
# How long a stream is silent before a comment keeps it open.
KEEP_ALIVE = 15


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def fixture(name, what):
    """A document of Fixtures/cards, or None."""
    try:
        return json.loads(read(TOP, "Fixtures", "cards", name, what + ".json"))
    except FileNotFoundError:
        return None


def policy(page):
    """The Content-Security-Policy of a page, with the hashes of its script and style."""
    def sources(tag):
        return " ".join(
            "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
            for text in re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL))
    return (f"default-src 'none'; connect-src 'self'; script-src {sources('script')}; style-src {sources('style')}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")


class Mock:
    """The state of the server: its readers, the events so far, the streams that are open."""

    def __init__(self, token=None, port=0, origins=()):
        self.token, self.origins = token, origins
        self.lock = threading.RLock()
        self.events, self.streams, self.readers, self.requests = [], [], {}, []
        # What the next requests for a path are answered with, as (status, document).
        self.failures = {}
        self.kept = 0
        self.number, self.sequence = 0, {}
        mock = self

        class Handler(Requests):
            server_mock = mock

        self.handler = Handler
        self.listen(port)

    def listen(self, port):
        self.server = Server(("127.0.0.1", port), self.handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def stop(self):
        """Stops listening and closes every stream, as a server that ends does."""
        self.server.shutdown()
        self.server.server_close()
        self.close_streams()

    def start(self):
        """Listens on the same port again."""
        self.listen(self.port)

    def close_streams(self, last=None):
        """Cuts every stream, or ends it properly after something that is sent last."""
        with self.lock:
            for stream in self.streams:
                if last:
                    stream.put(last)
                stream.put(b"" if last else None)
            self.streams = []

    # --- events --------------------------------------------------------------------------------------------------------

    def event(self, type, reader="counter", **members):
        """Makes an event and stores it."""
        with self.lock:
            self.number += 1
            self.sequence[reader] = self.sequence.get(reader, 0) + 1
            now = time.time()
            moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}+00:00"
            event = {
                "schema": "kazasu.tap/1", "id": f"01a20c5b-{self.number:08x}"[:13] + f"-7{self.number % 4096:03x}-8000-{self.number:012x}",
                "seq": self.sequence[reader], "type": type, "at": moment, "mono": int(now * 1000) % 10**10,
                "clock": "synchronised", "site": "shop", "reader": reader, **members}
            state = self.readers.setdefault(reader, {"state": "ready", "on": None})
            if type == "on":
                state["on"] = event
            elif type == "off":
                state["on"] = None
            elif type == "reader":
                state["state"], state["on"] = members["state"], None
            self.events.append(event)
            return event

    def send(self, event):
        self.push(frame(event["type"], event, event["id"]))
        return event

    def push(self, data):
        """Sends bytes to every stream as they are."""
        with self.lock:
            for stream in self.streams:
                stream.put(data if isinstance(data, bytes) else data.encode())

    def reader(self, name="counter", state="ready"):
        return self.send(self.event("reader", name, state=state))

    def card(self, what, **members):
        """The members of an `on` with a card of Fixtures/cards, as `watch --read history` writes them."""
        balance, history = fixture(what, "balance"), fixture(what, "history")
        card = balance["card"]
        event = {"technology": card["technology"], "system": "0003", "tag": card["idm"], "identity": "fixed", "card": card,
                 "balances": balance["balances"], "records": history["records"] if history else []}
        return {**event, **members}

    def on(self, what="suica-p1", reader="counter", **members):
        return self.send(self.event("on", reader, **self.card(what, **members)))

    def unreadable(self, reason, reader="counter"):
        return self.send(self.event("on", reader, technology="felica", identity="fixed", tag="0112031234567890", readError=reason))

    def off(self, reader="counter", send=True):
        on = self.readers[reader]["on"]
        event = self.event("off", reader, technology="felica", identity="fixed", on=on["id"] if on else "", dwellMs=800)
        return self.send(event) if send else event

    # --- what a client gets --------------------------------------------------------------------------------------------

    def subscribe(self, last):
        """A queue of what a stream sends; None ends it."""
        stream = queue.Queue()
        with self.lock:
            ids = [event["id"] for event in self.events[self.kept:]]
            if not last:
                for name, state in self.readers.items():
                    stream.put(frame("state", {"reader": name, **state}))
            else:
                after = ids.index(last) + 1 if last in ids else 0
                if last not in ids:
                    stream.put(frame("gap", {"after": last}))
                for event in self.events[self.kept:][after:]:
                    stream.put(frame(event["type"], event, event["id"]))
            self.streams.append(stream)
        return stream


def frame(type, document, id=None):
    return (f"id: {id}\n" if id else "").encode() + f"event: {type}\ndata: {json.dumps(document, ensure_ascii=False)}\n\n".encode()


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A client that goes away is nothing to report."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Requests(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_mock: Mock

    def log_message(self, *arguments):
        pass

    def answer(self, status, document=None, type="application/json", **headers):
        if document is None:
            body = b""
        else:
            body = document.encode() if isinstance(document, str) else json.dumps(document, ensure_ascii=False).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def error(self, status, exit_status, reason, message, **members):
        self.answer(status, {"schema": "kazasu.error/1", "status": exit_status, "reason": reason, "message": message, "hint": None, **members})

    def is_allowed(self):
        token = self.server_mock.token
        if not token:
            return True
        cookies = http.cookies.SimpleCookie(self.headers.get("Cookie", ""))
        return self.headers.get("Authorization") == "Bearer " + token or \
            ("kazasu" in cookies and cookies["kazasu"].value == hashlib.sha256(token.encode()).hexdigest())

    def end_headers(self):
        origin = self.headers.get("Origin")
        if origin in self.server_mock.origins:
            self.send_header("Access-Control-Allow-Origin", origin)
        super().end_headers()

    def do_OPTIONS(self):
        self.answer(204, Access_Control_Allow_Methods="GET, HEAD, POST",
                    Access_Control_Allow_Headers="Authorization, Content-Type, Last-Event-ID, Accept")

    def do_GET(self):
        self.handle_request(b"")

    def do_POST(self):
        self.handle_request(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def handle_request(self, body):
        mock, url = self.server_mock, urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path.startswith("/mock/"):
            return self.steer(url.path.removeprefix("/mock/"), body)
        with mock.lock:
            mock.requests.append({"method": self.command, "path": url.path, "query": query, "body": body[:10000].decode(errors="replace"),
                                  "lastEventID": self.headers.get("Last-Event-ID"), "type": self.headers.get("Content-Type"),
                                  "host": self.headers.get("Host"), "upgrade": self.headers.get("Upgrade")})
            failure = mock.failures.get(url.path)
            if failure and failure[0] > 0:
                failure[0] -= 1
                return self.answer(failure[1], failure[2])
        if url.path == "/":
            page = read(PAGE, "kiosk.html")
            return self.answer(200, page, "text/html; charset=utf-8", Content_Security_Policy=policy(page), Cache_Control="no-cache",
                               X_Content_Type_Options="nosniff", Referrer_Policy="no-referrer")
        if url.path == "/favicon.ico":
            return self.answer(204)
        if url.path == "/kazasu.js":
            return self.answer(200, read(PAGE, "kazasu.js"), "text/javascript; charset=utf-8")
        if not self.is_allowed():
            return self.error(401, 77, "refused", "a token is needed")
        if url.path == "/v1/session" and self.command == "POST":
            value = hashlib.sha256((mock.token or "").encode()).hexdigest()
            return self.answer(204, Set_Cookie=f"kazasu={value}; HttpOnly; SameSite=Strict; Path=/")
        if url.path == "/v1/taps":
            return self.stream()
        if url.path == "/v1/readers":
            return self.answer(200, {"schema": "kazasu.readers/1", "readers": [
                {"id": name, "name": None, "state": "ready"} for name in mock.readers], "pcsc": {"state": "ready"}})
        if url.path in ("/v1/balance", "/v1/history"):
            document = fixture("suica-p1", url.path.removeprefix("/v1/"))
            return self.answer(200, document)
        if url.path == "/v1/events":
            events = mock.events
            if "after" in query:
                ids = [event["id"] for event in events]
                if query["after"] not in ids:
                    return self.error(404, 66, "notFound", "no such event")
                events = events[ids.index(query["after"]) + 1:]
            page = events[:int(query.get("limit", 100))]
            return self.answer(200, {"schema": "kazasu.events/1", "events": page, "next": page[-1]["id"] if len(page) < len(events) else None})
        # The rest answers with what it was asked, which is what a client's test wants to see.
        if url.path.startswith("/v1/"):
            return self.answer(200, {"schema": "mock", "path": url.path, "query": query, "body": body[:10000].decode(errors="replace")})
        self.error(404, 64, "usage", "no such path")

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        stream = self.server_mock.subscribe(self.headers.get("Last-Event-ID"))
        try:
            while True:
                try:
                    data = stream.get(timeout=KEEP_ALIVE)
                except queue.Empty:
                    data = b":\n\n"
                if data is None:
                    break
                if not data:
                    self.wfile.write(b"0\r\n\r\n")
                    break
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
        except OSError:
            pass
        finally:
            self.close_connection = True
            with self.server_mock.lock:
                if stream in self.server_mock.streams:
                    self.server_mock.streams.remove(stream)

    def steer(self, action, body):
        """Calls a method of the mock: the body has its arguments."""
        mock = self.server_mock
        arguments = json.loads(body or b"{}")
        if action == "requests":
            return self.answer(200, mock.requests)
        if action == "fail":
            mock.failures[arguments["path"]] = [arguments.get("times", 1), arguments["status"], arguments.get("document")]
        elif action == "forget":
            mock.kept = len(mock.events)
        elif action == "push":
            mock.push(arguments["data"])
        elif action == "overflow":
            mock.close_streams(frame("overflow", {"after": arguments["after"]}))
        elif action == "close":
            mock.close_streams()
        elif action == "streams":
            return self.answer(200, len(mock.streams))
        elif action in ("on", "off", "reader"):
            return self.answer(200, getattr(mock, action)(**arguments))
        self.answer(200, {})


def demo(mock):
    """Cards come and go until the program is stopped."""
    for name in ["suica-p1", "edy", "nanaco", "iruca", "octopus", "waon"] * 10000:
        time.sleep(4)
        mock.on(name)
        time.sleep(3)
        mock.off()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token")
    parser.add_argument("--demo", action="store_true")
    arguments = parser.parse_args()
    mock = Mock(arguments.token, arguments.port)
    mock.reader()
    print(mock.url, flush=True)
    if arguments.demo:
        demo(mock)
    threading.Event().wait()


if __name__ == "__main__":
    main()
