# SPDX-License-Identifier: Apache-2.0
"""nfcpy_usb_dump.py: everything on a FeliCa card on an RC-S380, as nfcpy's own tag.dump() reads and prints it."""

import sys

import nfc


def main():
    with nfc.ContactlessFrontend("usb:054c:06c1") as frontend:
        request = nfc.clf.RemoteTarget("212F")
        request.sensf_req = bytearray.fromhex("00FFFF0100")
        target = frontend.sense(request)
        if target is None:
            return 75
        print("\n".join(nfc.tag.activate(frontend, target).dump()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
