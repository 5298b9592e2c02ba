#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the double-byte characters of code page 932 for Sources/Cards/CardDecoders, or checks (--check) what is there.

They are those of Python's codec cp932, which is Microsoft's table (unicode.org, CP932.TXT)."""

import os
import sys

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Sources", "Cards", "CardDecoders", "Data", "cp932.bin")


def table():
    """Rows 1 to 94 and 115 to 120, 94 cells each, two bytes a cell."""
    cells = bytearray()
    for lead in [*range(0x81, 0xA0), *range(0xE0, 0xF0), *range(0xFA, 0xFD)]:
        for trail in [*range(0x40, 0x7F), *range(0x80, 0xFD)]:
            try:
                code = ord(bytes([lead, trail]).decode("cp932"))
            except UnicodeDecodeError:
                code = 0
            cells += code.to_bytes(2, "little")
    return bytes(cells)


if sys.argv[1:] == ["--check"]:
    with open(PATH, "rb") as file:
        if file.read() != table():
            sys.exit("cp932.bin is not what Scripts/character-tables.py writes")
else:
    with open(PATH, "wb") as file:
        file.write(table())
