# SPDX-License-Identifier: Apache-2.0
"""What the tests with the real program need: cards of the fixtures, and a reader on which a card is put and taken away."""

import os
import pathlib
import subprocess
import tempfile
import uuid

TOP = pathlib.Path(__file__).resolve().parents[3]
FIXTURES = TOP / "Fixtures"
SUICA = FIXTURES / "cards" / "suica-p1" / "card.json"
PROGRAM = os.environ["KAZASU_PROGRAM"]


def virtual(path):
    """The ID of a simulated reader with a card that lies there."""
    return f"virtual:{FIXTURES / path}"


class Stand:
    """A simulated PN532 at the speed of a real one."""

    def __init__(self, card=SUICA, link=None):
        self.folder = tempfile.TemporaryDirectory()
        link = link or os.path.join(self.folder.name, f"tty{uuid.uuid4().hex}")
        self.process = subprocess.Popen(
            [os.environ["CARD_STAND"], card, link], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.id = self.process.stdout.readline().strip()

    def put(self, state):
        """Puts the card there (on) or takes it away (off)."""
        self.process.stdin.write(state + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline().strip() != state:
            raise RuntimeError("the stand has ended")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()
