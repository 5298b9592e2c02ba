# SPDX-License-Identifier: Apache-2.0
"""The simulated chip behind an emulated device: the program usb-chip, spoken to through pipes."""

import json
import struct
import subprocess
import threading


class Chip:
    """A running usb-chip."""

    def __init__(self, program, kind, card, *options):
        self.process = subprocess.Popen([program, kind, card, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.is_unplugged = False
        # umockdev answers ioctls on a thread of its own.
        self.lock = threading.Lock()

    def send(self, transfer):
        """Gives it a transfer from the host."""
        self._ask(b"O" + struct.pack("<H", len(transfer)) + transfer)

    def receive(self):
        """Its next transfer to the host, or None."""
        return self._ask(b"I")

    def configure(self):
        """Tells it that its device was configured."""
        self._tell(b"C")

    def reset(self):
        """Tells it that its device was reset."""
        self._tell(b"R")

    def take_card(self):
        """Takes the card out of its field."""
        self._tell(b"E")

    def put_card(self):
        """Puts it there again."""
        self._tell(b"P")

    def statistics(self):
        """What it has counted."""
        return json.loads(self._ask(b"S"))

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()

    def _tell(self, request):
        with self.lock:
            self.process.stdin.write(request)
            self.process.stdin.flush()

    def _ask(self, request):
        with self.lock:
            self.process.stdin.write(request)
            self.process.stdin.flush()
            length = struct.unpack("<H", self.process.stdout.read(2))[0]
            if length == 0xFFFE:
                self.is_unplugged = True
            return None if length >= 0xFFFE else self.process.stdout.read(length)


class NoChip:
    """What is behind a device that is no reader: nothing answers."""

    is_unplugged = False

    def send(self, transfer):
        pass

    def receive(self):
        return None

    def configure(self):
        pass

    reset = stop = configure
