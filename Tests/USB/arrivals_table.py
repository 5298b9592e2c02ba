#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs commands, and prints a table of the arrivals that they report. `make soak-arrivals` uses it.

    arrivals_table.py -- COMMAND WORD… [-- COMMAND WORD…]…

A row is a driver, a column what came: of phones, how many opened their wallet; of other cards, how long they waited on average; of
cards with two purses, how often the transit purse was chosen. Ends 1 if a command failed.
"""

import subprocess
import sys

OTHERS = ("other", "idle-other")


def commands(words):
    found = []
    for word in words:
        if word == "--":
            found.append([])
        else:
            found[-1].append(word)
    return found


def cell(kind, arrivals, missed, wait):
    if kind == "two-purses":
        return f"{arrivals - missed} of {arrivals}"
    if kind in OTHERS:
        return f"{wait} ms" if not missed else f"{missed} lost"
    return f"{missed} of {arrivals} ({100 * missed / arrivals:.1f} %)"


def main():
    # Several rounds of a driver and a kind are one cell.
    sums, failed = {}, False
    for command in commands(sys.argv[1:]):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                print(line, end="", file=sys.stderr, flush=True)
                parts = line.rstrip("\n").split("arrivals\t", 1)[-1].split("\t")
                if "arrivals\t" in line and len(parts) == 5:
                    driver, kind, arrivals, missed, wait = parts
                    before = sums.get((driver, kind), (0, 0, ""))
                    sums[driver, kind] = (before[0] + int(arrivals), before[1] + int(missed), wait)
        failed |= process.returncode != 0
    drivers, kinds = (list(dict.fromkeys(pair[index] for pair in sums)) for index in (0, 1))
    print("| driver | " + " | ".join(kinds) + " |")
    print("| --- " * (len(kinds) + 1) + "|")
    for driver in sorted(drivers):
        cells = [cell(kind, *sums[driver, kind]) if (driver, kind) in sums else "" for kind in kinds]
        print(f"| {driver} | " + " | ".join(cells) + " |")
    return 1 if failed or not sums else 0


if __name__ == "__main__":
    sys.exit(main())
