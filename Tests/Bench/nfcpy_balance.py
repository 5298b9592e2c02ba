# SPDX-License-Identifier: Apache-2.0
"""nfcpy_balance.py TTY [115200]: the money on a transit card, as a short nfcpy script prints it."""

import sys

import nfc
from nfc.tag.tt3 import BlockCode, ServiceCode

from nfcpy_reader import open_reader


def main(path, hold):
    with open_reader(path, hold) as frontend:
        request = nfc.clf.RemoteTarget("212F")
        request.sensf_req = bytearray.fromhex("0000030000")
        target = frontend.sense(request)
        if target is None:
            return 75
        tag = nfc.tag.activate(frontend, target)
        tag.idm, tag.pmm = tag.polling(0x0003)
        block = tag.read_without_encryption([ServiceCode(0x008B >> 6, 0x008B & 0x3F)], [BlockCode(0)])
        print(int.from_bytes(block[11:13], "little"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "115200" in sys.argv[2:]))
