#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kiosk page and kazasu.js before the real `kazasu serve` with virtual readers (`make test-page`). KAZASUD names the program."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

from mock import PAGE, TOP
from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
KAZASUD = os.environ["KAZASUD"]
SUICA = "Fixtures/cards/suica-p1/card.json"
# A card that comes and goes, and stays long enough to be read.
VISITS = {
    "schema": "kazasu.card/1", "idm": "0101031234567890", "pmm": "0120220427674eff",
    "systems": [{"code": "0003", "blocks": {"008B": ["00000000000000002000008813000001"]}}],
    "virtual": {"visits": {"seed": 1, "frames": 8, "stay": 40}}}
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
            [KAZASUD, "serve", "--listen", f"127.0.0.1:{self.port}", "--outbox", self.folder + "/outbox.sqlite", *self.options],
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
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])

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
        context = self.browser.new_context(viewport={"width": 800, "height": 480}, locale="en-US")
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
        for _ in range(2):
            self.state(page, "card")
            self.assertEqual(page.locator(".amount").text_content(), "¥5,000")
            page.evaluate("document.querySelector('.amount').replaceChildren()")
            # The next visit is another event, which fills the amount in again.
            deadline = time.monotonic() + 40
            while not page.locator(".amount").text_content():
                self.assertLess(time.monotonic(), deadline)
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
