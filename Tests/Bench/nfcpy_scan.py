# SPDX-License-Identifier: Apache-2.0
"""nfcpy_scan.py TTY [115200]: the areas and services of a FeliCa card, as nfcpy's calls for them return them, one line each."""

import itertools
import sys

import nfc
from nfc.tag.tt3 import ServiceCode

from nfcpy_reader import open_reader


def main(path, hold):
    with open_reader(path, hold) as frontend:
        request = nfc.clf.RemoteTarget("212F")
        request.sensf_req = bytearray.fromhex("00FFFF0100")
        target = frontend.sense(request)
        if target is None:
            return 75
        tag = nfc.tag.activate(frontend, target)
        for system in tag.request_system_code():
            tag.idm, tag.pmm = tag.polling(system)
            tag.sys = system
            codes = [node[0] for node in iter(map(tag.search_service_code, itertools.count()).__next__, None)]
            for start in range(0, len(codes), 32):
                some = codes[start:start + 32]
                versions = tag.request_service([ServiceCode(code >> 6, code & 0x3F) for code in some])
                for code, version in zip(some, versions):
                    print(f"{system:04X} {code:04X} {version:04X}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "115200" in sys.argv[2:]))
