#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kiosk page and kazasu.js before the real `kazasu serve` with virtual readers (`make test-page`). KAZASUD names the program."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from mock import PAGE, TOP
from test_recipes import blocks, caddy, free_port, nginx, shop
from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
KAZASUD = os.environ["KAZASUD"]
SUICA = "Fixtures/cards/suica-p1/card.json"
# A card that comes and goes, and stays long enough to be read.
VISITS = {
    "schema": "kazasu.card/1", "idm": "0101031234567890", "pmm": "0120220427674eff",
    "systems": [{"code": "0003", "blocks": {"008B": ["00000000000000002000008813000001"]}}],
    "virtual": {"visits": {"seed": 1, "frames": 8, "stay": 20}}}
# What Chromium itself says of a request that failed; a page cannot prevent it.
NETWORK = re.compile(r"^Failed to load resource: ")


class Server:
    """A server with an outbox of its own."""

    def __init__(self, folder, *options, port=0):
        self.folder, self.options, self.port = folder, options, port
        self.start()

    def start(self):
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "TOKEN": "s3cret/+ 1"}
        self.program = subprocess.Popen(
            [KAZASUD, "serve", "--listen", f"127.0.0.1:{self.port}",
             *([] if "--config" in self.options else ["--outbox", self.folder + "/outbox.sqlite"]), *self.options],
            cwd=TOP, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)", line := self.program.stderr.readline())):
            if not line:
                raise AssertionError("the server does not start")
        self.port = int(found.group(1))
        self.url = found.group(0)

    def stop(self, signal=signal.SIGTERM):
        self.program.send_signal(signal)
        output, _ = self.program.communicate(timeout=30)
        return self.program.returncode, output


class ServerCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.playwright = sync_playwright().start()
        # Names of tests lead to this computer, as a name server under an attacker's control would have it.
        arguments = ["--host-resolver-rules=MAP *.example 127.0.0.1"] + (["--no-sandbox"] if os.geteuid() == 0 else [])
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.said = []

    def serve(self, *options):
        server = Server(self.folder, *options)
        self.addCleanup(lambda: server.program.poll() is None and server.stop(signal.SIGKILL))
        return server

    def open(self, address):
        context = self.browser.new_context(viewport={"width": 800, "height": 480}, locale="en-US", ignore_https_errors=True)
        self.addCleanup(context.close)
        page = context.new_page()
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.goto(address)
        return page

    def state(self, page, state):
        deadline = time.monotonic() + 40
        while not page.evaluate("state => document.querySelector(`article[data-state='${state}']`) !== null", state):
            self.assertLess(time.monotonic(), deadline, f"{state}: {page.evaluate('document.body.innerText')}")

    def test_a_card_that_lies_there(self):
        server = self.serve("-r", "counter=virtual:" + SUICA)
        page = self.open(server.url + "/?lang=ja")
        self.state(page, "card")
        self.assertEqual(page.locator(".amount").text_content(), "10円")
        self.assertEqual(page.locator(".brand").text_content(), "Suica")
        self.assertEqual(page.locator("li .to").first.text_content(), "渋谷")
        page.click("#language")
        self.assertEqual(page.locator("li .to").first.text_content(), "Shibuya")
        self.assertEqual(self.said, [])
        # The server dies and comes back: the page says so, and shows the card again.
        server.stop(signal.SIGKILL)
        self.state(page, "lost")
        server.start()
        self.state(page, "card")
        self.assertEqual(page.locator("article").count(), 1)
        self.assertEqual([text for text in self.said if not NETWORK.match(text)], [])
        self.assertEqual(server.stop()[0], 0)
        self.state(page, "lost")

    def test_cards_that_come_and_go(self):
        visits = os.path.join(self.folder, "visits.json")
        with open(visits, "w", encoding="utf-8") as file:
            json.dump(VISITS, file)
        server = self.serve("-r", "door=virtual:" + visits, "-r", "counter=virtual:" + SUICA)
        page = self.open(server.url + "/?lang=en&reader=door")
        # Each visit is another event, which fills the amount in again.
        for _ in range(3):
            deadline = time.monotonic() + 40
            while page.evaluate("document.querySelector('.amount').textContent") != "¥5,000":
                self.assertLess(time.monotonic(), deadline)
            page.evaluate("document.querySelector('.amount').replaceChildren()")
        self.assertEqual(page.locator("article").count(), 1)
        self.assertEqual(self.said, [])
        server.stop()

    def test_token(self):
        server = self.serve("-r", "counter=virtual:" + SUICA, "--token-from", "env:TOKEN")
        page = self.open(server.url + "/?lang=en#token=s3cret/+%201")
        self.state(page, "card")
        self.assertEqual(page.url, server.url + "/?lang=en")
        self.assertEqual(self.said, [])
        # The cookie outlives both.
        server.stop()
        server.start()
        page.reload()
        self.state(page, "card")
        stranger = self.open(server.url + "/?lang=en")
        self.state(stranger, "reader")
        self.assertEqual(stranger.locator(".title").text_content(), "This page needs its key")
        stranger.evaluate("location.hash = '#token=s3cret/+%201'")
        self.state(stranger, "card")
        server.stop()

    def test_no_reader(self):
        """As the recipe starts it, on a computer without a reader."""
        [settings] = blocks("kiosk.md", "yaml")
        self.assertEqual([settings], blocks("kiosk.ja.md", "yaml"))
        path = os.path.join(self.folder, "serve.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(settings.replace("/run/kazasu", self.folder))
        # The port of the recipe may be in use here.
        server = self.serve("--config", path)
        page = self.open(server.url + "/?lang=en")
        self.state(page, "reader")
        self.assertEqual(page.locator(".title").text_content(), "No card reader")
        self.assertEqual(self.said, [])
        server.stop()

    def test_behind_proxies(self):
        for proxy in (nginx, caddy):
            with self.subTest(proxy.__name__):
                [settings] = blocks("tls-proxy.md", "yaml")
                for name, text in (("token", "s3cret/+ 1\n"), ("serve.yaml", settings.replace("/run/credentials/kazasu-serve.service", self.folder))):
                    with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                        file.write(text)
                server = self.serve("-r", "counter=virtual:" + SUICA, "--config", self.folder + "/serve.yaml", "--outbox", self.folder + "/o")
                port = free_port()
                with proxy(self.folder, "tls-proxy.md", server.url, port):
                    deadline = time.monotonic() + 30
                    while True:
                        try:
                            page = self.open(f"https://kiosk.example:{port}/?lang=en#token=s3cret/+%201")
                            break
                        except Exception as error:
                            self.assertLess(time.monotonic(), deadline, error)
                    self.state(page, "card")
                    # The server's own remark on a socket that was opened says that the proxy passes it on.
                    self.assertEqual(page.evaluate("""() => new Promise((resolve) => {
                        const socket = new WebSocket(`wss://${location.host}/v1/rpc`);
                        socket.onopen = () => socket.send('{"jsonrpc":"2.0","id":1,"method":"readers.list"}');
                        socket.onmessage = ({ data }) => resolve(JSON.parse(data).result.schema);
                        socket.onerror = () => resolve("error");
                    })"""), "kazasu.readers/1")
                    page.context.close()
                server.stop()

    def test_pages_of_others(self):
        """Neither a page of another origin nor a name that was made to lead here gets anything."""
        server = self.serve("-r", "counter=virtual:" + SUICA)
        stranger = shop(self.folder)
        self.addCleanup(stranger.server_close)
        self.addCleanup(stranger.shutdown)
        with open(os.path.join(self.folder, "index.html"), "w", encoding="utf-8") as file:
            file.write("<!doctype html><title>elsewhere</title>")
        for address in (f"http://evil.example:{stranger.server_port}/", f"http://127.0.0.1:{stranger.server_port}/"):
            page = self.open(address)
            found = page.evaluate("""async (url) => {
                const found = [];
                const note = async (name, work) => found.push(`${name}: ${await Promise.race([work().catch((error) => "refused"), new Promise((end) => setTimeout(end, 15000, "nothing"))])}`);
                await note("read", async () => (await fetch(`${url}/v1/readers`)).text());
                await note("token", async () => (await fetch(`${url}/v1/readers`, { headers: { Authorization: "Bearer x" } })).text());
                await note("write", async () => (await fetch(`${url}/v1/tag/write`, { method: "POST", body: "{}" })).text());
                await note("taps", () => new Promise((resolve, reject) => { const s = new EventSource(`${url}/v1/taps`); s.onerror = reject; s.addEventListener("state", () => resolve("open")); }));
                await note("socket", () => new Promise((resolve, reject) => { const s = new WebSocket(`${url.replace("http", "ws")}/v1/rpc`); s.onerror = reject; s.onopen = () => resolve("open"); }));
                await note("script", () => new Promise((resolve, reject) => { const s = document.createElement("script"); s.type = "module"; s.src = `${url}/kazasu.js`; s.onerror = reject; s.onload = () => resolve("loaded"); document.head.append(s); }));
                return found;
            }""", server.url)
            self.assertEqual(found, [f"{name}: refused" for name in ("read", "token", "write", "taps", "socket", "script")])
            # Nor can it be framed.
            page.evaluate("(url) => { const frame = document.createElement('iframe'); frame.src = url; document.body.append(frame); }", server.url)
            deadline = time.monotonic() + 20
            while not any("frame-ancestors" in text or "ERR_BLOCKED" in text or "Refused" in text or "framing" in text.lower() for text in self.said):
                self.assertLess(time.monotonic(), deadline, self.said)
                page.evaluate("1")
            self.said.clear()
        rebound = self.browser.new_page()
        self.assertEqual(rebound.goto(server.url.replace("127.0.0.1", "evil.example")).status, 421)
        rebound.close()
        server.stop()

    def test_form(self):
        """The page of the recipe, whose origin is allowed."""
        shutil.copy(os.path.join(PAGE, "kazasu.js"), self.folder)
        files = shop(self.folder)
        self.addCleanup(files.server_close)
        self.addCleanup(files.shutdown)
        [line] = re.findall(r"kazasu serve (.*) --allow-origin https://shop.example", blocks("card-form.md", "text")[0])
        origin = f"http://shop.example:{files.server_port}"
        server = self.serve("-r", "counter=virtual:" + SUICA, *line.split(), "--allow-origin", origin)
        with open(os.path.join(self.folder, "index.html"), "w", encoding="utf-8") as file:
            file.write(blocks("card-form.md", "html")[0].replace("http://127.0.0.1:7878", server.url))
        page = self.open(origin)
        deadline = time.monotonic() + 20
        while page.input_value("input") != "0101031234567890":
            self.assertLess(time.monotonic(), deadline, page.locator("output").text_content() + str(self.said))
        self.assertEqual(page.goto(server.url + "/").status, 404)
        server.stop()

    def test_module(self):
        server = self.serve("-r", "counter=virtual:" + SUICA, "--token-from", "env:TOKEN")
        program = os.path.join(self.folder, "try.mjs")
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"""
                import {{ Kazasu, KazasuError }} from {json.dumps("file://" + os.path.abspath(os.path.join(PAGE, "kazasu.js")))};
                const kazasu = new Kazasu({json.dumps(server.url)}, {{ token: "s3cret/+ 1" }});
                const found = [];
                for await (const tap of kazasu.taps()) {{
                  const card = tap.type === "state" ? tap.on : tap;
                  if (!card?.tag) continue;
                  found.push(tap.type, card.tag, card.records.length);
                  break;
                }}
                const readers = await kazasu.readers().catch((error) => error);
                found.push(readers.schema ?? readers.reason, (await kazasu.events({{ limit: 1 }})).events.length);
                found.push(await new Kazasu({json.dumps(server.url)}).balance().catch((error) => error instanceof KazasuError && error.http));
                console.log(JSON.stringify(found));
            """)
        result = subprocess.run(["node", program], capture_output=True, text=True, timeout=60)
        found = json.loads(result.stdout or "null")
        self.assertIsNotNone(found, result.stderr)
        self.assertIn(found[0], ("state", "on"))
        self.assertEqual(found[1:3], ["0101031234567890", 20])
        self.assertEqual(found[3:], ["kazasu.readers/1", 1, 401])
        server.stop()


if __name__ == "__main__":
    unittest.main()
