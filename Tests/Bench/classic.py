# SPDX-License-Identifier: Apache-2.0
"""A MIFARE Classic 1K, read whole by Kazasu and by a C program on libfreefare (`classic.c`)."""

import json
import os
import re


class Classic:
    """The virtual card, its key, and the programs that read it."""

    KEY = "FFFFFFFFFFFF"

    def __init__(self, work, program):
        self.program = program
        self.card, self.keys = (os.path.join(work, name) for name in ("classic.json", "keys.txt"))
        blocks = {str(block): f"{block:02x}" * 16 for block in range(1, 63) if block % 4 != 3}
        with open(self.card, "w", encoding="utf-8") as file:
            json.dump({"schema": "kazasu.card/1", "classic": {"size": "1K", "uid": "90d307c1", "blocks": blocks}}, file)
        with open(self.keys, "w", encoding="utf-8") as file:
            file.write(self.KEY + "\n")

    def kazasu(self, program, reader):
        return [program, "classic", "dump", "--keys", self.keys, "-r", reader]

    def freefare(self, reader):
        return [self.program, reader, self.KEY]

    @staticmethod
    def blocks(text):
        """The blocks that a program printed, but for trailers: libfreefare shows them with key A as zeros, as the card does."""
        found = re.findall(r"^(\d+) ([0-9A-F]{32})$", text, re.MULTILINE)
        return [pair for pair in found if int(pair[0]) % 4 != 3]
