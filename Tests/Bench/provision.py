#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the exchanges of `kazasu tag provision` on a virtual NTAG 424 DNA, and models line and air as passport.py does.

`provision.py PROGRAM` (or KAZASU=PROGRAM) sets a tag up with five keys and a URL, with AES and with LRP. It fails if either takes more
than two seconds. The time of the tag's and the computer's ciphers is not in it.
"""
import json
import os
import subprocess
import sys
import tempfile

from passport import model

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Fixtures")
LIMIT = 2.0


def exchanges(program, plan):
    """The exchanges of one setup: command and answer."""
    with tempfile.TemporaryDirectory() as folder:
        path, trace = os.path.join(folder, "plan.json"), os.path.join(folder, "trace")
        with open(path, "w") as file:
            json.dump(plan, file)
        line = [program, "tag", "provision", "--plan", path, "--yes", "-q", "--json", "--permanent", "--trace", trace]
        line += ["--new-keys", os.path.join(FIXTURES, "provision", "ntag424-keys.txt")]
        line += ["--journal", os.path.join(folder, "journal")]
        line += ["-r", "virtual:" + os.path.join(FIXTURES, "virtual", "ntag424-factory.json")]
        subprocess.run(line, check=True, capture_output=True)
        with open(trace) as file:
            entries = [json.loads(entry) for entry in file]
    return [
        (bytes.fromhex(entry["tx"]), bytes.fromhex(entry["rx"])) for entry in entries if entry.get("op") == "transceive"
    ]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("KAZASU", "kazasu")
    with open(os.path.join(FIXTURES, "provision", "ntag424-plan.json")) as file:
        plan = json.load(file)
    is_late = False
    for name, more in (("AES", {}), ("LRP", {"lrp": True})):
        found = exchanges(program, plan | more)
        seconds = model(found)
        print(f"tag provision, {name}: {len(found)} exchanges, {seconds * 1000:.0f} ms")
        is_late |= seconds > LIMIT
    return 1 if is_late else 0


if __name__ == "__main__":
    sys.exit(main())
