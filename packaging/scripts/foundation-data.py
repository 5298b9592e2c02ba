#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""foundation-data.py SYMBOL [ARCHIVE]: prints ICU's data for Foundation without what other languages need, for an assembler, and
writes the name of its symbol to the file SYMBOL.

Foundation, which GRDB and Yams import, has ICU inside and with it 34 MB of data, two thirds of them texts and rules of 300
locales. The programs speak English and Japanese by themselves; a locale that ICU does not find gets ICU's root. So only
root, English and Japanese stay, with all that is not of a language: time zones, calendars, converters, normalization.

ARCHIVE is lib_FoundationICU.a, by default that of the `swift` in PATH. With the linker's `--wrap=icudt76_dat`, where that is the
name, all of ICU uses `__wrap_icudt76_dat`, which the data gets here, and the archive's own data is left out as unused."""

import json
import os
import re
import struct
import subprocess
import sys

# zh, zh_Hant, zh_Hant_HK, es_419, ca_ES_VALENCIA; tables that no locale has, such as `pool`, are not like that.
LOCALE = re.compile(r"(?:.*/)?([a-z]{2,3})(?:_[A-Z][a-z]{3})?(?:_[A-Z]{2}|_\d{3})?(?:_[A-Z]+)?\.res")
KEPT = {"en", "ja"}
# Where words end in languages that are written without spaces.
DICTIONARY = re.compile(r"brkitr/(?!cj)\w+\.dict")
HEADER = re.compile(rb"(?s)..\xda\x27\x14\0..\0.\x02.CmnD")


def archive_of_toolchain():
    """Where the toolchain has ICU for programs with the runtime inside."""
    paths = json.loads(subprocess.run(["swift", "-print-target-info"], capture_output=True, check=True).stdout)["paths"]
    return os.path.join(paths["runtimeResourcePath"] + "_static", "linux", "lib_FoundationICU.a")


def package(archive):
    """ICU's data package: the contents of the section that has its header."""
    found = HEADER.search(archive)
    if not found:
        sys.exit("foundation-data: the archive has no data of ICU")
    member = archive.rindex(b"\x7fELF\x02\x01", 0, found.start())
    at = found.start() - member
    table, = struct.unpack_from("<Q", archive, member + 0x28)
    size, count = struct.unpack_from("<HH", archive, member + 0x3A)
    for index in range(count):
        start, length = struct.unpack_from("<QQ", archive, member + table + index * size + 0x18)
        if start == at and length:
            return archive[found.start():found.start() + length]
    sys.exit("foundation-data: ICU's data is not a section of its own")


def items(data):
    """The header, and each item's name and bytes, in the order of the names."""
    start, = struct.unpack_from("<H", data)
    count, = struct.unpack_from("<I", data, start)
    entries = [struct.unpack_from("<II", data, start + 4 + 8 * index) for index in range(count)]
    ends = [begin for _, begin in entries[1:]] + [len(data) - start]
    body = memoryview(data)[start:]
    return data[:start], [(data[start + name:data.index(b"\0", start + name)].decode(), bytes(body[begin:end]))
                          for (name, begin), end in zip(entries, ends)]


def is_kept(name):
    """Whether an item is of no language, or of one that the programs speak."""
    _, _, name = name.partition("/")
    locale = LOCALE.fullmatch(name)
    return not DICTIONARY.fullmatch(name) and (not locale or locale.group(1) in KEPT)


def packed(header, kept):
    """A package of some items."""
    names = b"".join(name.encode() + b"\0" for name, _ in kept)
    size = 4 + 8 * len(kept)
    # Items begin at multiples of 16 from the start of the package.
    content_start = size + len(names) + -(len(header) + size + len(names)) % 16
    entries, at, name_at = struct.pack("<I", len(kept)), content_start, size
    for name, content in kept:
        entries += struct.pack("<II", name_at, at)
        name_at += len(name.encode()) + 1
        at += len(content) + -len(content) % 16
    head = header + entries + names
    return head + bytes(len(header) + content_start - len(head)) + b"".join(
        content + bytes(-len(content) % 16) for _, content in kept)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[2] if len(sys.argv) > 2 else archive_of_toolchain(), "rb") as file:
        header, all_items = items(package(file.read()))
    data = packed(header, [item for item in all_items if is_kept(item[0])])
    symbol = all_items[0][0].partition("/")[0][:-1] + "_dat"
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(symbol)
    symbol = "__wrap_" + symbol
    print(f'.section .rodata.{symbol},"a",%progbits\n.balign 16\n.globl {symbol}\n.type {symbol},%object\n'
          f'.size {symbol},{len(data)}\n{symbol}:')
    words = struct.unpack(f"<{len(data) // 8}Q", data)
    for start in range(0, len(words), 16):
        print(".quad", ",".join(map(hex, words[start:start + 16])))
    print('.section .note.GNU-stack,"",%progbits')


if __name__ == "__main__":
    main()
