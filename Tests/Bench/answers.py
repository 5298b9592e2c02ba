#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a card to its answer: `watch --ask` on six simulated readers, on which a card comes and goes. The asker takes 50 ms; for
one of the readers it hangs.

What is measured is the time from the moment when the card was found to that when its answer was there and was given to the light,
by the events' own clock (`mono`). KAZASUD names the program.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ASKER = """#!/bin/sh
if [ "$KAZASU_EVENT_READER" = hanging ]; then exec sleep 60; fi
sleep 0.05
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kazasud", default=os.environ.get("KAZASUD", "kazasud"))
    parser.add_argument("--card", default=os.path.join(TOP, "Fixtures/felica/short-visits.json"))
    parser.add_argument("--answers", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asker = os.path.join(folder, "asker")
        with open(asker, "w", encoding="utf-8") as file:
            file.write(ASKER)
        os.chmod(asker, 0o755)
        names = ["hanging", "a", "b", "c", "d", "e"]
        readers = []
        for name in names:
            # Two readers cannot have one ID.
            shutil.copy(arguments.card, f"{folder}/{name}.json")
            readers += ["-r", f"{name}=virtual:{folder}/{name}.json"]
        command = [arguments.kazasud, "watch", *readers, "--ask", asker, "--answer", "none", "--json", "-q"]
        came, times, faults = {}, [], 0
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            for line in child.stdout:
                event = json.loads(line)
                if event["type"] == "on":
                    came[event["id"]] = event["mono"]
                elif event["type"] == "answer" and event["reader"] == "hanging":
                    faults += event["answer"] == "fault"
                elif event["type"] == "answer":
                    times.append(event["mono"] - came[event["on"]])
                    if len(times) == arguments.answers:
                        child.send_signal(signal.SIGINT)
                        break
            child.stdout.read()
    if not times:
        raise SystemExit("no answer was measured")
    times.sort()
    print(f"{len(times)} answers on five readers, {faults} faults on the one whose asker hangs: "
          f"median {times[len(times) // 2]} ms, p99 {times[int(len(times) * 0.99) - 1]} ms, most {times[-1]} ms")


main()
