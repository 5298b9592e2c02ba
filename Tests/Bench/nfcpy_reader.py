# SPDX-License-Identifier: Apache-2.0
"""Opens a PN532 on any serial device with nfcpy.

nfcpy's own search finds serial devices only by a name directly in /dev, and a pseudo-terminal is in /dev/pts.
This does what its search does after it has found the name: the same transport, the same driver, nothing replaced.
"""

import nfc
from nfc.clf import pn532, transport


def open_reader(path, hold_115200=False):
    """The frontend of a PN532 at a serial device; nfcpy goes to 921600 baud unless it is held."""
    if hold_115200:
        # nfcpy asks stty which rates the port knows; a port that knows no other stays at 115200.
        pn532.os = _PortOfOneRate
    frontend = nfc.ContactlessFrontend()
    frontend.device = pn532.init(transport.TTY(path))
    return frontend


class _PortOfOneRate:
    """Stands in for `os` in nfcpy's PN532 driver: `stty` refuses every rate but 115200."""

    import os as _os
    strerror = _os.strerror

    @staticmethod
    def system(command):
        return 0 if " 115200 " in command else 1
