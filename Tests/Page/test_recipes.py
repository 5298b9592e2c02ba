#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The web recipes of Docs/recipes, as they are written, in both languages (`make test-page`).

nginx, Caddy, Node, Chromium and systemd-analyze are the real programs; the server is the scripted one.
"""

import contextlib
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

from mock import PAGE, TOP, Mock, read
from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
TOKEN = "abc/+= 1"


def blocks(recipe, kind):
    """The blocks of a kind in a recipe."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", read(TOP, "Docs", "recipes", recipe), re.DOTALL | re.MULTILINE)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(*command, **options):
    """A program that is stopped at the end."""
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
    try:
        yield program
    finally:
        program.send_signal(signal.SIGTERM)
        try:
            program.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            program.kill()
            program.communicate()


def certificate(folder):
    """A certificate for the name of the recipes, and its key, as paths."""
    certificate, key = os.path.join(folder, "c.pem"), os.path.join(folder, "c.key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
         "/CN=kiosk.example", "-addext", "subjectAltName=DNS:kiosk.example", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    return certificate, key


def nginx(folder, recipe, server, port):
    """nginx as in a recipe, before a server, on a port of this computer."""
    [text] = blocks(recipe, "nginx")
    pem, key = certificate(folder)
    for original, here in [
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"), ("http://127.0.0.1:7878", server),
        ("/etc/ssl/certs/kiosk.example.pem", pem), ("/etc/ssl/private/kiosk.example.key", key),
    ]:
        if original not in text:
            raise AssertionError(f"{recipe} lacks {original}")
        text = text.replace(original, here)
    folders = "".join(f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    # The workers of root's nginx are another user, who may not enter the folder.
    user = "user root;" if os.geteuid() == 0 else ""
    path = os.path.join(folder, "nginx.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"daemon off; {user} pid {folder}/pid; error_log stderr warn; events {{}} http {{ access_log off; {folders} {text} }}")
    return running("nginx", "-c", path, "-p", folder)


def caddy(folder, recipe, server, port):
    """The same with Caddy."""
    [text] = blocks(recipe, "caddy")
    pem, key = certificate(folder)
    for original, here in [
        ("kiosk.example {", f"kiosk.example:{port} {{\n    bind 127.0.0.1\n    tls {pem} {key}"),
        ("127.0.0.1:7878", server.removeprefix("http://")),
    ]:
        if original not in text:
            raise AssertionError(f"{recipe} lacks {original}")
        text = text.replace(original, here)
    path = os.path.join(folder, "Caddyfile")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n    admin off\n    auto_https disable_redirects\n}\n" + text)
    environment = {**os.environ, "HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
    return running("caddy", "run", "--config", path, "--adapter", "caddyfile", env=environment)


def shop(folder):
    """A web server for the files of a folder."""
    class Files(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


class Proxies(Folder):
    """nginx and Caddy with TLS."""

    def setUp(self):
        super().setUp()
        self.mock = Mock(token=TOKEN)
        self.addCleanup(self.mock.stop)
        self.mock.reader()
        self.port = free_port()

    def connection(self):
        """A connection by TLS to the proxy, by the name of the recipe."""
        context = ssl.create_default_context(cafile=os.path.join(self.folder, "c.pem"))
        port = self.port

        class Connection(http.client.HTTPSConnection):
            def connect(self):
                plain = socket.create_connection(("127.0.0.1", port), timeout=20)
                self.sock = context.wrap_socket(plain, server_hostname="kiosk.example")

        return Connection("kiosk.example", port)

    def wait(self):
        deadline = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), self.connection_closing() as connection:
                connection.request("GET", "/kazasu.js")
                return connection.getresponse().read()
            self.assertLess(time.monotonic(), deadline, "the proxy does not start")

    def connection_closing(self):
        return contextlib.closing(self.connection())

    def check(self):
        self.assertIn(b"class Kazasu", self.wait())
        with self.connection_closing() as connection:
            connection.request("GET", "/")
            page = connection.getresponse()
            self.assertIn("sha256-", page.getheader("Content-Security-Policy"))
            self.assertIn(b"<main", page.read())
            connection.request("GET", "/v1/readers")
            self.assertEqual((connection.getresponse()).read()[:20], b'{"schema": "kazasu.e')
            connection.request("GET", "/v1/readers", headers={"Authorization": "Bearer " + TOKEN})
            self.assertEqual(json.load(connection.getresponse())["readers"][0]["id"], "counter")
            connection.request("POST", "/v1/session", headers={"Authorization": "Bearer " + TOKEN})
            answer = connection.getresponse()
            answer.read()
            cookie = answer.getheader("Set-Cookie").split(";")[0]
        # What the server compares with --host, and with the origin of a page.
        self.assertEqual(self.mock.requests[-1]["host"], f"kiosk.example:{self.port}")
        # A tap is there before anything else is sent.
        with self.connection_closing() as connection:
            connection.request("GET", "/v1/taps", headers={"Cookie": cookie})
            stream = connection.getresponse()
            self.assertEqual(stream.readline(), b"event: state\n")
            for _ in range(3):
                event = self.mock.on("suica-p1")
                while stream.readline() != b"id: " + event["id"].encode() + b"\n":
                    pass
                self.assertEqual(stream.readline(), b"event: on\n")
                data = json.loads(stream.readline().removeprefix(b"data: "))
                self.assertEqual(data["balances"][0]["amount"], 10)
        # A body up to the limit of the server.
        with self.connection_closing() as connection:
            connection.request("POST", "/v1/decode", b"x" * (8 << 20), headers={"Authorization": "Bearer " + TOKEN})
            self.assertEqual(connection.getresponse().status, 200)
        self.check_web_socket()

    def check_web_socket(self):
        """The proxy passes a change to WebSocket on; what the server makes of it is its own affair."""
        with self.connection_closing() as connection:
            connection.request("GET", "/v1/rpc", headers={
                "Authorization": "Bearer " + TOKEN, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="})
            connection.getresponse().read()
        request = self.mock.requests[-1]
        self.assertEqual((request["path"], request["upgrade"]), ("/v1/rpc", "websocket"))

    def test_proxies(self):
        for proxy in (nginx, caddy):
            for recipe in ("tls-proxy.md", "tls-proxy.ja.md"):
                with self.subTest(f"{proxy.__name__} {recipe}"), proxy(self.folder, recipe, self.mock.url, self.port):
                    self.check()


class Node(Folder):
    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(PAGE, "kazasu.js"), self.folder)
        self.write("package.json", '{"type": "module"}')
        self.mock = Mock(token=TOKEN)
        self.addCleanup(self.mock.stop)
        self.mock.reader()
        self.environment = {**os.environ, "KAZASU_URL": self.mock.url, "KAZASU_TOKEN": TOKEN}

    def test_taps(self):
        for recipe, ride in (("node.md", "  2011-03-12 Aoyama-itchome -> Shibuya\n"), ("node.ja.md", "  2011-03-12 青山一丁目 → 渋谷\n")):
            program = self.write("taps.mjs", blocks(recipe, "js")[0])
            child = subprocess.Popen(["node", program], env=self.environment, stdout=subprocess.PIPE, text=True, encoding="utf-8")
            self.addCleanup(child.wait)
            self.addCleanup(child.kill)
            deadline = time.monotonic() + 30
            while not self.mock.streams:
                self.assertLess(time.monotonic(), deadline)
            self.mock.on("suica-p1")
            self.assertEqual(child.stdout.readline(), "counter 0101031234567890 10 JPY\n")
            self.assertEqual(child.stdout.readline(), ride)
            self.mock.off()
            self.mock.unreadable("otherCard")
            self.assertEqual(child.stdout.readline(), "counter 0112031234567890 otherCard\n")
            self.mock.off()
            child.kill()
            child.stdout.close()
            self.mock.close_streams()

    def test_a_read(self):
        for recipe in ("node.md", "node.ja.md"):
            program = self.write("read.mjs", blocks(recipe, "js")[1])
            result = subprocess.run(["node", program], env=self.environment, capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stdout), (0, "10\n"), result.stderr)
            self.assertEqual(self.mock.requests[-1]["query"], {"timeout": "5"})
            self.mock.failures["/v1/balance"] = [1, 504, {
                "schema": "kazasu.error/1", "status": 75, "reason": "noCard", "message": "no card came", "hint": "touch it"}]
            result = subprocess.run(["node", program], env=self.environment, capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (75, "noCard no card came touch it\n"))


class Form(Folder):
    def test_form(self):
        """The page on a web server of its own, whose origin the server allows."""
        shutil.copy(os.path.join(PAGE, "kazasu.js"), self.folder)
        server = shop(self.folder)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
            for recipe, words in (("card-form.md", ["Touch the card", "Card read", "This card has no fixed number", "No reader"]),
                                  ("card-form.ja.md", ["カードをかざしてください", "読み取りました", "番号が毎回変わるカードです", "リーダーがありません"])):
                mock = Mock(origins=[f"http://127.0.0.1:{server.server_port}"])
                mock.reader()
                [html] = blocks(recipe, "html")
                self.assertIn("http://127.0.0.1:7878", html)
                self.write("index.html", html.replace("http://127.0.0.1:7878", mock.url))
                context = browser.new_context()
                page = context.new_page()

                def until(status, number):
                    page.wait_for_function(
                        "([status, number]) => document.querySelector('output').textContent === status && document.querySelector('input').value === number",
                        arg=[status, number], timeout=20000)

                page.goto(f"http://127.0.0.1:{server.server_port}/")
                until(words[0], "")
                mock.on("suica-p1")
                until(words[1], "0101031234567890")
                mock.off()
                mock.send(mock.event("on", technology="typeA", identity="random"))
                until(words[2], "")
                mock.off()
                # Resuming asks with a header, for which a browser asks first.
                mock.close_streams()
                mock.on("edy")
                until(words[1], "01120312abcd0042")
                mock.reader(state="gone")
                until(words[3], "01120312abcd0042")
                self.assertTrue([each for each in mock.requests if each["lastEventID"]])
                context.close()
                mock.stop()
            browser.close()


class Units(Folder):
    def test_units(self):
        for recipe in ("kiosk.md", "kiosk.ja.md"):
            text = read(TOP, "Docs", "recipes", recipe)
            names = [name for name in re.findall(r"`/etc/systemd/system/([a-z-]+\.service)`", text)]
            units = blocks(recipe, "ini")
            self.assertEqual(names, ["kiosk-screen.service"])
            paths = []
            for name, unit in zip(names, units):
                # The programs need not be on this machine.
                paths.append(self.write(name, re.sub(r"(?m)^(Exec\w+)=/usr/bin/(\S+)", r"\1=/bin/true \2", unit)))
            result = subprocess.run(["systemd-analyze", "verify", "--man=no", *paths], capture_output=True, text=True)
            complaints = [line for line in result.stderr.splitlines() if any(name in line for name in names)]
            self.assertEqual((result.returncode, complaints), (0, []), result.stderr)


if __name__ == "__main__":
    unittest.main()
