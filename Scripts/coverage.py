#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage.py FILE: the lines that tests ran, module by module, from the JSON that `swift test` writes.

Ends with status 1 when a module that must be covered is below its floor.
"""

import json
import re
import sys

# The modules on which everything else rests, and the share of their lines that tests must run.
FLOOR = 90.0
MUST = ("ByteCodec", "CardDecoders/License", "CardReading", "FeliCa", "ISO7816", "NFCForumTags", "ReaderCore")
# Parts of modules that are counted by themselves, too.
PARTS = ("CardDecoders/License",)


def main(path):
    with open(path, encoding="utf-8") as file:
        export = json.load(file)
    modules, gaps = {}, {}
    for entry in export["data"][0]["files"]:
        found = re.search(r"/Sources/\w+/([^/]+)/(.+\.swift)$", entry["filename"])
        if not found or "/checkouts/" in entry["filename"]:
            continue
        lines, whole = entry["summary"]["lines"], f"{found.group(1)}/{found.group(2)}"
        for name in (found.group(1), *(part for part in PARTS if whole.startswith(part + "/"))):
            covered, count = modules.get(name, (0, 0))
            modules[name] = (covered + lines["covered"], count + lines["count"])
            missing = lines["count"] - lines["covered"]
            if missing:
                gaps.setdefault(name, []).append((missing, found.group(2)))

    low = False
    print(f"{'module':<20} {'lines':>6} {'run':>6}  {'share':>7}   files with most lines that no test ran")
    for name in sorted(modules):
        covered, count = modules[name]
        share = 100.0 * covered / count if count else 100.0
        below = name in MUST and share < FLOOR
        low = low or below
        worst = ", ".join(f"{file} {missing}" for missing, file in sorted(gaps.get(name, []), reverse=True)[:3])
        print(f"{name:<20} {count:>6} {covered:>6}  {share:>6.1f}%{'!' if below else ' '}  {worst}")
    total = sum(count for _, count in modules.values())
    covered = sum(covered for covered, _ in modules.values())
    print(f"{'all':<14} {total:>6} {covered:>6}  {100.0 * covered / max(total, 1):>6.1f}%")
    if low:
        print(f"! below {FLOOR:.0f} %, the least for {', '.join(MUST)}", file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
