#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""USB transfers of Kazasu and of nfcpy on the same emulated RC-S380. `make bench` runs it under umockdev-wrapper."""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "Tests/USB"))

from chip import Chip
from descriptors import rc_s380
from emulation import Emulation
import report


def count(arguments, command):
    """Runs a program before a fresh reader; its transfers and exchanges with the card."""
    emulation = Emulation()
    chip = Chip(arguments.chip, "port100", arguments.card)
    # nfcpy takes no reader from a kernel driver.
    emulation.plug_in(rc_s380(interfaces=tuple(
        type(one)(one.class_code, one.bulk_in, one.bulk_out) for one in rc_s380().interfaces)), chip)
    result = emulation.run(*command)
    counted = chip.statistics()
    emulation.unplug_all()
    if result.status:
        sys.exit(f"{command[0]} ended with status {result.status}: {result.errors.strip()}")
    return counted["transfersFromHost"] + counted["transfersToHost"], counted["exchanges"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kazasu", required=True)
    parser.add_argument("--chip", required=True, help="the program usb-chip")
    parser.add_argument("--python", required=True, help="a Python that has nfcpy")
    parser.add_argument("--card", default=os.path.join(TOP, "Fixtures/cards/suica-p1/card.json"))
    arguments = parser.parse_args()
    jobs = [(f"kazasu {job}", [arguments.kazasu, job, "--reader", "rcs380"]) for job in ("balance", "scan", "dump")]
    jobs.append(("nfcpy, tag.dump()", [arguments.python, os.path.join(HERE, "nfcpy_usb_dump.py")]))
    rows, transfers = [], {}
    for name, command in jobs:
        transfers[name], exchanges = count(arguments, command)
        rows.append([name, transfers[name], exchanges, f"{transfers[name] / exchanges:.1f}"])
    print("\n### USB transfers on an emulated RC-S380\n")
    print(report.table(["program", "USB transfers", "exchanges with the card", "transfers an exchange"], rows))
    for job in ("scan", "dump"):
        ratio = transfers[f"kazasu {job}"] / transfers["nfcpy, tag.dump()"]
        print(f"\n{job}, Kazasu's transfers to those of nfcpy's dump: {ratio:.2f} (target: at most 0.33)")


if __name__ == "__main__":
    main()
