#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A card with two purses comes and goes before each emulated reader: `make soak-arrivals` runs this under umockdev-wrapper.

    arrivals.py [READER]… [KIND]…

USB_ARRIVALS and USB_CHIP name the programs, KAZASU_ARRIVALS how often the card comes. It comes in rounds of 500, each with
random moments of its own, so that a long run shows how far it is.

Then phones, and cards of other systems, come at random moments of the first three seconds of a search, as often as KAZASU_PHONES
says. Host and chip share a simulated time, in which pauses are over at once.

A KIND (a name of `ARRIVING`) limits these to it, and leaves out the card with two purses; without one, and with
`KAZASU_ARRIVING=all`, all of them come.

Readers behind PC/SC are not among these: pcscd looks for cards by itself (`Tests/PCSCReaderTests/ArrivalTests.swift`).
"""

import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from chip import Chip
from descriptors import acr122u, rc_s300, rc_s330, rc_s380
from emulation import Emulation

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Fixtures")
CARD = os.path.join(FIXTURES, "felica/two-purses.json")
PHONE = "felica/express-phone.json"
# What comes in mid-search: its file, and what it changes in the phone; as `ArrivalFigures.Kind`.
ARRIVING = {
    "phone": (PHONE, {}), "phone-type-a": (PHONE, {}), "quick-phone": (PHONE, {"firstAnswer": 2}),
    "slow-phone": (PHONE, {"start": 75}), "late-phone": (PHONE, {}), "other": ("cards/edy/card.json", {}),
    "idle-phone": (PHONE, {}), "idle-quick-phone": (PHONE, {"firstAnswer": 2}), "idle-other": ("cards/edy/card.json", {}),
}
# When it comes, in milliseconds of the search.
LATE = (3000, 9000)
MOMENTS = {"late-phone": LATE, "idle-phone": LATE, "idle-quick-phone": LATE, "idle-other": LATE}
READERS = {
    "port100": (rc_s380, "rcs380"), "port400": (rc_s300, "rcs300"), "acr122": (acr122u, "acr122_usb:port=1-1"),
    "acr122-libusb": (acr122u, "acr122:port=1-1"), "rcs330": (rc_s330, "pn53x_usb:port=1-1"),
}
# The simulated chip, where the name of the reader is another one.
CHIPS = {"acr122-libusb": "acr122"}


ROUND = 500


def card(folder, seed):
    """The card file with other random moments."""
    with open(CARD, encoding="utf-8") as file:
        document = json.load(file)
    document["virtual"]["visits"]["seed"] += seed
    path = os.path.join(folder, f"card-{seed}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


def arriving(folder, what):
    """A card file of what comes in mid-search."""
    name, changes = ARRIVING[what]
    with open(os.path.join(FIXTURES, name), encoding="utf-8") as file:
        document = json.load(file)
    if "phone" in document:
        document["phone"].update(changes)
        if what != "phone-type-a":
            document["cards"] = [card for card in document["cards"] if "typeA" not in card]
    first, last = MOMENTS.get(what, (0, 3000))
    document["virtual"] = {"visits": {"seed": 4, "from": first, "within": last, "startup": 4}}
    path = os.path.join(folder, f"{what}-{len(os.listdir(folder))}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


def arrive(kind, device, reader, path, count, *what):
    """One round before a reader; whether nothing was wrong."""
    emulation = Emulation()
    clock = [path + ".clock"] if what else []
    try:
        emulation.plug_in(device(), Chip(os.environ["USB_CHIP"], CHIPS.get(kind, kind), path, *(["--clock"] + clock if clock else [])))
        result = emulation.run(os.environ["USB_ARRIVALS"], reader, *what, *clock, limit=7200,
                               environment={"LIBNFC_LOG_LEVEL": "0", "KAZASU_ARRIVALS": str(count),
                                            "KAZASU_PHONES": str(count)})
    finally:
        emulation.unplug_all()
    print(f"{result.output}{result.errors}", end="", flush=True)
    return result.status == 0


def main():
    total = int(os.environ.get("KAZASU_ARRIVALS", "300"))
    phones = int(os.environ.get("KAZASU_PHONES", "60"))
    readers = [name for name in sys.argv[1:] if name in READERS] or list(READERS)
    kinds = [name for name in sys.argv[1:] if name in ARRIVING]
    unknown = [name for name in sys.argv[1:] if name not in READERS and name not in ARRIVING]
    if unknown:
        sys.exit(f"neither a reader nor a kind: {', '.join(unknown)}")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in readers:
            device, reader = READERS[kind]
            if not kinds:
                rounds = [min(ROUND, total - start) for start in range(0, total, ROUND)]
                bad = sum(not arrive(kind, device, reader, card(folder, seed), count) for seed, count in enumerate(rounds))
                print(f"{reader}: {total} arrivals in {len(rounds)} rounds, {bad} of them wrong", flush=True)
                wrong += bad
            wrong += sum(not arrive(kind, device, reader, arriving(folder, what), phones, what) for what in kinds or ARRIVING)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
