#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recipe.py PAGE FOLDER: writes the programs of a page, each a block that begins with its name, into a folder."""

import pathlib
import re
import sys


def programs(page):
    """The programs of a page by their names."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    return dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


if __name__ == "__main__":
    for name, text in programs(sys.argv[1]).items():
        (pathlib.Path(sys.argv[2]) / name).write_text(text, encoding="utf-8")
