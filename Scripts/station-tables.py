#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the tables of ThirdParty/stations into tables.inc there, or checks (--check) that they agree.

--open leaves out the rows that come from YSRL (*.ysrl.tsv) and writes open.inc, which a build with STATIONS=open contains. Where those files are
missing, tables.inc has no such rows either.

The packed tables are text, so that a change shows in a diff: a line a row, sorted by the key that it begins with, fields separated by
tabs, names of companies and lines once. Kazasu searches them in place.
"""

import os
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FOLDER = os.path.join(TOP, "ThirdParty", "stations")
LICENSE = "LicenseRef-YSRL AND MIT AND CC-BY-4.0 AND Apache-2.0"
OPEN_LICENSE = "MIT AND CC-BY-4.0 AND Apache-2.0"
# A letter each in the packed tables.
DOUBTS = {"": "", "oneSource": "o", "disputed": "d"}
USES = {("renamed", "certain"): "", ("renamed", ""): "", ("reassigned", "certain"): "r", ("reassigned", ""): "r",
        ("reassigned", "inferred"): "i", ("vacated", ""): "v"}


def rows(name):
    """The rows of a table, as dictionaries; none where the file is missing."""
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path) and ".ysrl." in name:
        return []
    with open(path, encoding="utf-8") as file:
        head, *lines = (line.rstrip("\n").split("\t") for line in file)
    return [dict(zip(head, line)) for line in lines]


def station_key(row):
    return "%02X%02X%02X" % (int(row["area"]), int(row["line"]), int(row["station"]))


def table(lines):
    """A C string with one literal a line; trailing empty fields are left out."""
    packed = []
    for fields in sorted(lines):
        text = "\t".join(fields).rstrip("\t")
        assert not set(text) & {'"', "\\", "\n"}, text
        packed.append('    "' + text.replace("\t", "\\t") + '\\n"')
    return "\n".join(packed)


def unless_same(text, other):
    return "" if text == other else text


def everyday(text, company, line):
    """What people call a line, without what the row has already: `=` for the company's short name, `~` for JR, then what is not the line's name."""
    for sign, prefix in (("=", company + " "), ("~", "JR ")):
        if text.startswith(prefix):
            return sign + unless_same(text[len(prefix):], line)
    assert text[:1] not in ("=", "~"), text
    return text


def check_scripts(*tables):
    """No name in Latin script has Japanese letters, and no table has a source's own notes as a company or a line."""
    for row in (row for table in tables for row in table):
        for column, text in row.items():
            is_latin = column.endswith("_en")
            assert not is_latin or not any("\u3000" < letter < "\uff00" for letter in text), text
            assert column not in ("company", "line_name") or text not in ("連絡駅", "共通", "不明", "本局"), text


def numbered(values):
    """Three hexadecimal digits for each of some values, in their order."""
    return {value: "%03X" % number for number, value in enumerate(sorted(set(values)))}


def packed(is_open):
    # A row of YSRL replaces one of another source.
    stations = {station_key(row): row for row in rows("stations.tsv") + ([] if is_open else rows("stations.ysrl.tsv"))}
    former = rows("former.tsv") + ([] if is_open else rows("former.ysrl.tsv"))
    former_lines = {(row["company"], row["line_name"]): row for row in rows("former_lines.tsv")}
    stops = rows("bus_stops.tsv")
    used = {(row["company"], row["line_name"]) for row in stations.values()}
    lines = [row for row in rows("lines.tsv") if (row["company"], row["line_name"]) in used]
    names = ("company", "company_en", "company_short", "company_short_en")
    line_company = {row["company"]: tuple(row[name] for name in names) for row in lines}
    bus_company = {row["company"]: tuple(row[name] for name in names) for row in rows("bus_companies.tsv")}
    assert used == {(row["company"], row["line_name"]) for row in lines}, "lines.tsv"
    check_scripts(lines, stations.values(), former)
    former_company = {row["former_company"]: tuple(row["former_" + name] for name in names) for row in former_lines.values()}
    companies = numbered(
        list(line_company.values()) + list(former_company.values()) + [bus_company[row["company"]] for row in stops])
    line_numbers = numbered(used)
    tables = {
        "companies": [
            [number, name, english, unless_same(short, name), unless_same(short_english, english)]
            for (name, english, short, short_english), number in companies.items()
        ],
        "lines": [
            [
                line_numbers[row["company"], row["line_name"]], companies[line_company[row["company"]]], row["line_name"],
                row["line_name_en"], everyday(row["everyday"], row["company_short"], row["line_name"]),
                everyday(row["everyday_en"], row["company_short_en"], row["line_name_en"]),
            ]
            for row in lines
        ],
        # A row without a line is for all lines of its company; without a former name, the line had the one of today.
        "former_lines": [
            [
                line_numbers[line], row["changed_on"], companies[former_company[row["former_company"]]],
                row["former_line_name"], row["former_line_name_en"], row["former_everyday"], row["former_everyday_en"],
            ]
            for line in used
            for row in [former_lines.get(line) or former_lines.get((line[0], ""))]
            if row and line[1]
        ],
        "stations": [
            [
                key, line_numbers[row["company"], row["line_name"]], row["station_name"], row["station_name_en"],
                DOUBTS[row["doubt"]],
            ]
            for key, row in stations.items()
        ],
        "stops": [
            ["%04X%04X" % (int(row["operator"]), int(row["stop"])), companies[bus_company[row["company"]]], row["stop_name"]]
            for row in stops
        ],
        "former": [
            [
                station_key(row), row["former_name"], row["changed_on"], row["former_name_en"], USES[row["kind"], row["day"]],
                row["known_since"],
            ]
            for row in former
        ],
    }
    ysrl = 0 if is_open else len(rows("stations.ysrl.tsv"))
    text = (
        f"// SPDX-License-Identifier: {LICENSE if ysrl else OPEN_LICENSE}\n"
        "// Generated by Scripts/station-tables.py from the tables beside it. Not covered by the license of Kazasu: see LICENSE here.\n\n"
        f"static const int ysrl_stations = {ysrl};\n")
    for name, packed_rows in tables.items():
        keys = [row[0] for row in packed_rows]
        assert name == "former" or len(keys) == len(set(keys)), name
        text += f"\nstatic const char {name}[] =\n{table(packed_rows)};\n"
    return text


def main():
    is_open = "--open" in sys.argv[1:]
    path = os.path.join(FOLDER, "open.inc" if is_open else "tables.inc")
    text = packed(is_open)
    if "--check" in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                sys.exit("ThirdParty/stations/tables.inc is not what the tables beside it say: run Scripts/station-tables.py")
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
