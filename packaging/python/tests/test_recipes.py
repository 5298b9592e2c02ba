# SPDX-License-Identifier: Apache-2.0
"""The programs of Docs/recipes/python.md do what they are there for."""

import importlib.util
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import uuid

import recipe
from stand import SUICA, TOP, Stand, virtual

import kazasu

PAGE = TOP / "Docs" / "recipes" / "python.md"
IDM = "0101031234567890"
LITE_S = "012E34E829CE1E71"
# How long a tap may take on a busy machine, in seconds.
PATIENCE = 60
# nfcpy gives a chip 100 ms to acknowledge a command. A simulated chip on a busy machine may be later.
NFCPY_PATIENCE = """
import nfc, nfc.clf.transport
read = nfc.clf.transport.TTY.read
nfc.clf.transport.TTY.read = lambda line, timeout: read(line, max(timeout, 10_000))
"""


def has(module):
    return importlib.util.find_spec(module) is not None


class RecipeTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in recipe.programs(PAGE).items():
            (self.folder / name).write_text(text, encoding="utf-8")
        shutil.copy(SUICA, self.folder / "card.json")
        sys.path.insert(0, folder.name)
        self.addCleanup(sys.path.remove, folder.name)

    def environment(self, reader):
        return {**os.environ, "KAZASU_READER": reader, "LC_ALL": "C.UTF-8"}

    def run_program(self, name, reader=None):
        ended = subprocess.run(
            [sys.executable, self.folder / name], capture_output=True, text=True, cwd=self.folder,
            env=self.environment(reader or virtual("cards/suica-p1/card.json")))
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def start(self, reader, *command):
        """Starts a program that runs until it is interrupted."""
        child = subprocess.Popen(
            [sys.executable, *command], cwd=self.folder, env=self.environment(reader), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def interrupt(self, child):
        """Ctrl-C."""
        os.killpg(child.pid, signal.SIGINT)
        _, errors = child.communicate()
        self.assertIn(child.returncode, (0, -signal.SIGINT, 128 + signal.SIGINT), errors)
        self.assertNotIn("ignored", errors)

    def test_prints_the_idm(self):
        self.assertEqual(self.run_program("idm.py"), IDM + "\n")

    def test_prints_the_balance(self):
        self.assertEqual(self.run_program("balance.py"), "10 JPY\n")

    def test_prints_journeys_with_names(self):
        lines = self.run_program("journeys.py").splitlines()
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\d \S+ - \S+ -?\d+$")

    def test_prints_the_journeys_of_every_sample(self):
        for card in sorted((TOP / "Fixtures" / "cards").glob("*/card.json")):
            with self.subTest(card=card.parent.name):
                ended = subprocess.run(
                    [sys.executable, self.folder / "journeys.py"], capture_output=True, text=True, cwd=self.folder,
                    env=self.environment(f"virtual:{card}"))
                # A card without journeys is an exception of Kazasu's, and no other.
                self.assertTrue(ended.returncode == 0 or "kazasu._reasons." in ended.stderr, ended.stderr)

    def test_opens_the_door_for_a_genuine_card_alone(self):
        (self.folder / "door.key").write_text("000102030405060708090A0B0C0D0E0F1011121314151617\n", encoding="ascii")
        text = (self.folder / "door.py").read_text(encoding="utf-8")
        (self.folder / "door.py").write_text(text.replace("0101031234567890", LITE_S), encoding="utf-8")
        child = self.start(virtual("felica/lite-s-issued.json"), "-u", self.folder / "door.py")
        self.assertEqual(child.stdout.readline(), "open for Ada\n")
        self.interrupt(child)

    def test_writes_a_tag_and_reads_it(self):
        self.assertEqual(self.run_program("tag.py", virtual("tags/ntag213.json")), "https://kazasu.example\n")

    def test_says_what_is_wrong(self):
        with Stand() as stand:
            self.assertEqual(self.run_program("patient.py", stand.id), "Put a card on the reader.\n")
        self.assertEqual(self.run_program("patient.py"), "10\n")
        self.assertIn("another kind", self.run_program("patient.py", virtual("tags/ntag213.json")))
        self.assertIn("unknownReader", self.run_program("patient.py", "nowhere"))

    def test_decodes_a_dump(self):
        self.assertIn("[10]", self.run_program("offline.py", "nowhere"))

    def clock(self, program, reader, stand):
        # A pipe in place of the file, so that each line is here when it is written.
        path = self.folder / "taps.txt"
        os.mkfifo(path)
        pipe = os.open(path, os.O_RDWR)
        self.addCleanup(os.close, pipe)
        child = self.start(reader, *program)
        for way in ("in", "out", "in"):
            # How soon it notices that the card is gone, nobody can tell; so the card is put back until it does.
            pause = 0.25
            while not self.wait(pipe, pause):
                self.assertIsNone(child.poll())
                self.assertLess(pause, PATIENCE)
                stand.put("off")
                if self.wait(pipe, pause):
                    break  # That was late.
                stand.put("on")
                pause *= 2
            line = os.read(pipe, 1000).decode()
            self.assertRegex(line, rf"^\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\S+ {IDM} {way}\n$")
        self.interrupt(child)

    @staticmethod
    def wait(pipe, seconds):
        """Whether something comes within that time."""
        return bool(select.select([pipe], [], [], seconds)[0])

    def test_the_clock_counts_each_card_in_and_out(self):
        with Stand() as stand:
            self.clock([self.folder / "clock.py"], stand.id, stand)

    def test_asyncio_reads_each_card_that_comes(self):
        with Stand() as stand:
            child = self.start(stand.id, "-u", self.folder / "both.py")
            for _ in range(2):
                stand.put("on")
                self.assertEqual(child.stdout.readline(), f"{IDM} 20 records\n")
                stand.put("off")
                self.assertEqual(child.stdout.readline(), f"{IDM} left\n")
            self.interrupt(child)

    @unittest.skipUnless(has("flask"), "Flask is not installed")
    def test_flask(self):
        import shop_flask

        self.answers(shop_flask.app.test_client(), lambda answer: answer.get_json())

    @unittest.skipUnless(has("fastapi"), "FastAPI is not installed")
    def test_fastapi(self):
        import shop_fastapi
        from fastapi.testclient import TestClient

        for reader in (virtual("cards/suica-p1/card.json"), "nowhere"):
            self.use(reader)
            with TestClient(shop_fastapi.app) as client:
                self.check(client.get("/balance"), reader, lambda answer: answer.json())

    def answers(self, client, json):
        for reader in (virtual("cards/suica-p1/card.json"), "nowhere"):
            self.use(reader)
            self.check(client.get("/balance"), reader, json)

    def use(self, reader):
        """Starts the program of the next calls with that reader."""
        kazasu.close()
        self.addCleanup(kazasu.close)
        patch = unittest.mock.patch.dict(os.environ, KAZASU_READER=reader)
        patch.start()
        self.addCleanup(patch.stop)

    def check(self, answer, reader, json):
        body = json(answer)
        if reader == "nowhere":
            self.assertEqual((answer.status_code, body["reason"]), (503, "unknownReader"))
        else:
            self.assertEqual((answer.status_code, body["balances"][0]["amount"]), (200, 10))

    @unittest.skipUnless(has("nfc") and os.access("/dev", os.W_OK), "nfcpy is not installed, or /dev takes no link")
    def test_the_programs_for_nfcpy_do_the_same(self):
        name = f"ttyKAZASU{uuid.uuid4().hex[:8]}"
        for program in ("nfcpy_idm.py", "nfcpy_balance.py", "nfcpy_clock.py"):
            text = (self.folder / program).read_text(encoding="utf-8").replace('"usb"', f'"tty:{name}:pn532"')
            (self.folder / program).write_text(NFCPY_PATIENCE + text, encoding="utf-8")
        with Stand(link=f"/dev/{name}") as stand:
            stand.put("on")
            self.assertEqual(self.run_program("nfcpy_idm.py"), IDM + "\n")
            self.assertEqual(self.run_program("nfcpy_balance.py"), "10 JPY\n")
            stand.put("off")
            self.clock([self.folder / "nfcpy_clock.py"], "", stand)

    def test_the_japanese_page_has_the_same_programs(self):
        def code(page):
            return {name: re.sub(r'"[^"]*"', '""', text) for name, text in recipe.programs(page).items()}

        japanese = PAGE.with_name("python.ja.md")
        self.assertEqual(code(japanese), code(PAGE))
        self.assertGreater(len(code(PAGE)), 10)


if __name__ == "__main__":
    unittest.main()
