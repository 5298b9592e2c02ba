#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of Docs/errors.md and Docs/errors.ja.md, and the list of reasons in Docs/schemas/error.json, from Scripts/reasons.tsv.

--check only reports whether they agree; lint.py calls it.
"""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = "Scripts/reasons.tsv"
ROWS = re.compile(r"(?<=\| --- \| --- \| --- \| --- \|\n)(?:\|.*\n)+")
LIST = re.compile(r'(?<="enum": \[\n)((?: +"\w+",?\n)+)')


def rows():
    """The table, a dictionary a row."""
    with open(os.path.join(TOP, TABLE), encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def faults(table):
    """What is wrong with the table."""
    above = 0
    for row in table:
        first = int(row["status"].split()[0])
        if first < above:
            yield f"{TABLE}: {row['reasons']} ({first}) stands below a row of {above}"
        above = first
        if not all(row.values()):
            yield f"{TABLE}: {row['reasons']}: an empty cell; - stands for nothing"


def page(text, table, suffix):
    """A page with the rows of the table."""
    comma = "、" if suffix else ", "
    made = ""
    for row in table:
        cells = (comma.join(f"`{reason}`" for reason in row["reasons"].split()), comma.join(row["status"].split()), row["what" + suffix],
                 row["do" + suffix])
        made += "|" + "|".join(" " if cell == "-" else f" {cell} " for cell in cells) + "|\n"
    return ROWS.sub(lambda _: made, text, count=1)


def schema(text, table):
    """The schema with the reasons, sorted."""
    reasons = sorted({reason for row in table for reason in row["reasons"].split()})
    indent = re.match(r" +", LIST.search(text)[1])[0]
    return LIST.sub(lambda _: ",\n".join(f'{indent}"{reason}"' for reason in reasons) + "\n", text, count=1)


def main():
    """Writes the files, or compares them."""
    if "--help" in sys.argv:
        return print(__doc__.strip())
    table = rows()
    wrong = list(faults(table))
    for name, make in (("Docs/errors.md", lambda text: page(text, table, "")), ("Docs/errors.ja.md", lambda text: page(text, table, ".ja")),
                       ("Docs/schemas/error.json", lambda text: schema(text, table))):
        path = os.path.join(TOP, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if make(text) != text and "--check" in sys.argv:
            wrong.append(f"{name} differs from {TABLE}: run Scripts/errors.py")
        elif make(text) != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(make(text))
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(bool(wrong))


main()
