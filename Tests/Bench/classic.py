#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A MIFARE Classic 1K, read whole by Kazasu and by a C program on libfreefare, turn by turn: the same virtual card on the same
simulated PN532, which takes the time of a real one in the air and on the line (`make bench-classic`).

    classic.py --kazasu PROGRAM --work FOLDER [--runs 15]

Needs libfreefare-dev. The blocks that both print are compared.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import time

from simulator import Simulator

HERE = os.path.dirname(os.path.abspath(__file__))
KEY = "FFFFFFFFFFFF"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kazasu", required=True, help="the program, a release build")
    parser.add_argument("--work", required=True, help="a folder for what the bench makes")
    parser.add_argument("--runs", type=int, default=15, help="measured runs of each program (default 15)")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    card, keys, program = (os.path.join(options.work, name) for name in ("classic.json", "keys.txt", "classic"))
    blocks = {str(block): f"{block:02x}" * 16 for block in range(1, 63) if block % 4 != 3}
    with open(card, "w", encoding="utf-8") as file:
        json.dump({"schema": "kazasu.card/1", "classic": {"size": "1K", "uid": "90d307c1", "blocks": blocks}}, file)
    with open(keys, "w", encoding="utf-8") as file:
        file.write(KEY + "\n")
    subprocess.run(
        ["cc", "-O2", "-Wall", "-Wextra", "-Werror", *os.environ.get("FREEFARE_FLAGS", "").split(), "-o", program,
         os.path.join(HERE, "classic.c"), "-lfreefare", "-lnfc"], check=True)
    programs = {
        "kazasu": lambda reader: [options.kazasu, "classic", "dump", "--keys", keys, "-r", reader],
        "kazasu on pn532:": lambda reader: [options.kazasu, "classic", "dump", "--keys", keys, "-r", "pn532:" + reader.split(":")[1]],
        "C on libfreefare": lambda reader: [program, reader, KEY],
    }
    times, commands, texts = {name: [] for name in programs}, {}, {}
    for run in range(options.runs + 1):
        for name, words in programs.items():
            with Simulator(options.kazasu, card, timing=True, stats=os.path.join(options.work, "stats.json")) as reader:
                start = time.perf_counter()
                done = subprocess.run(
                    words(reader.connection), check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C", "KAZASU_READER": ""})
                if run:
                    times[name].append(time.perf_counter() - start)
            commands[name] = reader.counters
            texts[name] = re.findall(r"^(\d+) ([0-9A-F]{32})$", done.stdout, re.MULTILINE)
    # libfreefare shows trailers as the card gives them, with key A as zeros.
    data = {name: [pair for pair in text if int(pair[0]) % 4 != 3] for name, text in texts.items()}
    assert len(data["kazasu"]) == 48 and all(text == data["kazasu"] for text in data.values()), data
    for name, values in times.items():
        print(f"{name:<20} median {statistics.median(values) * 1000:.0f} ms, least {min(values) * 1000:.0f} ms, {json.dumps(commands[name])}")


main()
