#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A card with two purses comes and goes before each emulated reader: `make soak-arrivals` runs this under umockdev-wrapper.

USB_ARRIVALS and USB_CHIP name the programs, KAZASU_ARRIVALS how often the card comes.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from chip import Chip
from descriptors import acr122u, rc_s300, rc_s330, rc_s380
from emulation import Emulation

CARD = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Fixtures/felica/two-purses.json")
READERS = {
    "port100": (rc_s380, "rcs380"), "port400": (rc_s300, "rcs300"), "acr122": (acr122u, "acr122_usb:001:002"),
    "rcs330": (rc_s330, "pn53x_usb:001:002"),
}


def main():
    failed = False
    for kind, (device, reader) in READERS.items():
        if len(sys.argv) > 1 and kind not in sys.argv[1:]:
            continue
        emulation = Emulation()
        try:
            emulation.plug_in(device(), Chip(os.environ["USB_CHIP"], kind, CARD))
            result = emulation.run(os.environ["USB_ARRIVALS"], reader, limit=7200,
                                   environment={"LIBNFC_LOG_LEVEL": "0"})
        finally:
            emulation.unplug_all()
        print(f"{reader}: {result.output}{result.errors}", end="", flush=True)
        failed = failed or result.status != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
