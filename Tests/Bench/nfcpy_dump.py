# SPDX-License-Identifier: Apache-2.0
"""nfcpy_dump.py TTY [115200]: everything on a FeliCa card, as nfcpy's own tag.dump() reads and prints it."""

import sys

import nfc

from nfcpy_reader import open_reader


def main(path, hold):
    with open_reader(path, hold) as frontend:
        request = nfc.clf.RemoteTarget("212F")
        request.sensf_req = bytearray.fromhex("00FFFF0100")
        target = frontend.sense(request)
        if target is None:
            return 75
        print("\n".join(nfc.tag.activate(frontend, target).dump()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "115200" in sys.argv[2:]))
