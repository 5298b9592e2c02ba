#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""changes.py version|date|epoch|debian: what CHANGELOG.md says about the newest version that has a day, or all of it as
debian/changelog. A section is `## VERSION (YYYY-MM-DD)`; `## Unreleased` belongs to no version yet."""

import calendar
import os
import re
import sys
import textwrap
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
HEADING = re.compile(r"^## (?P<version>\d+\.\d+\.\d+) \((?P<day>\d{4}-\d{2}-\d{2})\)$")


def sections(text):
    """The released sections, newest first: version, day, lines."""
    found = []
    for line in text.splitlines():
        if line.startswith("## "):
            heading = HEADING.match(line)
            found.append((heading["version"], heading["day"], []) if heading else (None, None, []))
        elif found:
            found[-1][2].append(line)
    return [section for section in found if section[0]]


def epoch(day):
    """Midnight of a day in UTC, in seconds."""
    return calendar.timegm(time.strptime(day, "%Y-%m-%d"))


def plain(text):
    """Markdown as a changelog of Debian has it: no links, no emphasis."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\*\*(.*?)\*\*|\*(.*?)\*|`(.*?)`", lambda found: next(filter(None, found.groups())), text)


def items(lines):
    """The items of a section, each one text; a heading names those below it."""
    heading, item = "", []
    for line in [*lines, ""]:
        if line.startswith(("### ", "- ")) or not line.strip():
            if item:
                yield heading, plain(" ".join(item))
            item = []
        if line.startswith("### "):
            heading = line[4:]
        elif line.startswith("- "):
            item = [line[2:]]
        elif line.strip() and item:
            item.append(line.strip())


def debian(text, maintainer):
    """debian/changelog."""
    entries = []
    for version, day, lines in sections(text):
        body, last = [], None
        for heading, item in items(lines):
            if heading != last:
                body.append(f"  [ {heading} ]")
                last = heading
            body.append(textwrap.fill(item, 78, initial_indent="  * ", subsequent_indent="    ",
                                      break_long_words=False, break_on_hyphens=False))
        stamp = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(epoch(day)))
        entries.append(f"kazasu ({version}) unstable; urgency=medium\n\n" + "\n".join(body)
                       + f"\n\n -- {maintainer}  {stamp}\n")
    return "\n".join(entries)


def main():
    with open(os.path.join(TOP, "CHANGELOG.md"), encoding="utf-8") as file:
        text = file.read()
    version, day, _ = sections(text)[0]
    if sys.argv[1:] == ["debian"]:
        with open(os.path.join(TOP, "packaging", "debian", "control"), encoding="utf-8") as file:
            maintainer = re.search(r"^Maintainer: (.*)$", file.read(), re.MULTILINE)[1]
        sys.stdout.write(debian(text, maintainer))
    elif sys.argv[1:] and sys.argv[1] in ("version", "date", "epoch"):
        print({"version": version, "date": day, "epoch": epoch(day)}[sys.argv[1]])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
