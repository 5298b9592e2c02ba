#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the size of things beside the goals of Docs/architecture.md. Never fails: a goal is a direction, not a gate."""

import os
import re

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PUBLIC = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*public (?!import)", re.MULTILINE)


def sources():
    """Of every Swift file below Sources: whether it belongs to the fourth product, KazasuService, and its text."""
    for folder, _, names in os.walk(os.path.join(TOP, "Sources")):
        for name in names:
            if name.endswith(".swift"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield "/KazasuService" in folder, file.read()


def program():
    """The lines of the shortest program: import and code, without comments."""
    with open(os.path.join(TOP, "Docs", "examples", "Balance", "main.swift"), encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if line and not line.startswith("//")]


def main():
    both = list(sources())
    texts = [text for _, text in both]
    public = [sum(len(PUBLIC.findall(text)) for service, text in both if service is which) for which in (False, True)]
    lines = sorted(text.count("\n") for text in texts)
    code = program()
    rows = [
        ("source files", len(lines), "at most 500"),
        ("lines of a file, median", lines[len(lines) // 2], "at least 80"),
        ("lines of a file, nine of ten", lines[len(lines) * 9 // 10], "under 350"),
        ("lines of the longest file", lines[-1], "at most 500"),
        ("public lines of three products", public[0], "at most 900"),
        ("public lines of KazasuService", public[1], "-"),
        ("imports of Docs/examples/Balance", sum(line.startswith("import") for line in code), "1"),
        ("its other lines", sum(not line.startswith("import") for line in code), "about 5"),
    ]
    for what, value, goal in rows:
        print(f"{what:34} {value:5}   {goal}")


if __name__ == "__main__":
    main()
