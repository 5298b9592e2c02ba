#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-pins.py REQUIREMENTS: fails when a pinned package needs a newer Python than Debian 12 has.

Run by the Python of a virtual environment that has these packages: what each of them requires is read there.
"""

import re
import sys
from importlib import metadata

from pip._vendor.packaging.specifiers import SpecifierSet

OLDEST = "3.11.2"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        pins = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", file.read(), re.MULTILINE)
    wrong = []
    for name, version in pins:
        needed = metadata.metadata(name).get("Requires-Python")
        if needed and not SpecifierSet(needed).contains(OLDEST):
            wrong.append(f"{sys.argv[1]}: {name}=={version} needs Python {needed}, Debian 12 has {OLDEST}")
    if wrong or not pins:
        sys.exit("\n".join(wrong or [f"{sys.argv[1]}: no pins"]))


if __name__ == "__main__":
    main()
