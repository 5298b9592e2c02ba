#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vicc_licence.py PORT: a card of vsmartcard's vpicc with files like a driver's license, in a reader of vpcd.

The card's operating system is vsmartcard's own (Debian's vsmartcard-vpicc, GPL-3, run as a program of its own), so
nobody who wrote Kazasu decided how it answers. The files hold made-up bytes.
"""

import sys

sys.path.insert(0, "/usr/lib/python3/site-packages/virtualsmartcard")

from virtualsmartcard.SmartcardFilesystem import DF, TransparentStructureEF  # noqa: E402
from virtualsmartcard.VirtualSmartcard import VirtualICC  # noqa: E402

LICENCE = bytes.fromhex("A0000002310100000000000000000000")

card = VirtualICC(None, "iso7816", "localhost", int(sys.argv[1]))
# What a reader makes of a license: application data, protocol info (vectors, PM2).
card.os.atr = bytes.fromhex("3B888001004B51FF0081D100BC")

tree = card.os.mf
tree.append(TransparentStructureEF(
    parent=tree, fid=0x2F01, shortfid=1, data=bytes.fromhex("450B303038200706012012070146020000")))
application = DF(parent=tree, fid=0x1001, dfname=LICENCE)
application.append(TransparentStructureEF(
    parent=application, fid=0x0001, shortfid=1, data=bytes(number & 0xFF for number in range(880))))
tree.append(application)

# A reader answers pseudo-APDUs (class FF) itself; vicc would take the class for secure messaging and end.
execute = card.os.execute
card.os.execute = lambda apdu: bytes.fromhex("6E00") if apdu[0] == 0xFF else execute(apdu)
card.run()
