#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the lists that follow from other places: the schemas inside the programs (schemas.c) from the methods of the commands, the commands
that a recording may name (RecordingWords.swift) from commands.tsv, the documents in decode.json from the schemas of identity documents, and
the topics of KazasuReading and KazasuCards from those of Kazasu.

--check only reports whether they agree; lint.py calls it.
"""
import os
import re
import sys
import textwrap

import lint

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEMAS = "Sources/C/CSchemas/schemas.c"
WORDS = "Sources/Readers/Recordings/RecordingWords.swift"
PAGE = "Sources/Products/{0}/{0}.docc/{0}.md"
# Schemas of the service itself, and those that others refer to; the rest are named by a method.
OF_SERVICE = {"common", "error", "events", "feedback", "health", "record", "standardKeys", "tap"}

# Members of common.json that decode.json does not have as they are.
OWN_IN_DECODE = {"classic", "record"}


def wrapped(items, indent):
    """Lines of at most 120 columns, with a comma after each item."""
    lines = textwrap.wrap(" ".join(item.replace(" ", "\0") + "," for item in items), 120, initial_indent=indent, subsequent_indent=indent,
                          break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ") + "\n"


def schemas(text, sources):
    """The schemas of the methods and of the service, as files and as a table."""
    named = {name for path, lines in sources.items() if path.startswith("Sources/Programs/")
             for name in re.findall(r'\bschema: "(\w+)"', "\n".join(lines))}
    names = sorted(named | OF_SERVICE)
    start, _, rest = text.partition("static const unsigned char ")
    _, table, end = rest.partition("#define SCHEMA(name)")
    head, _, tail = end.partition("kazasu_schemas[] = {\n")
    files = "".join(f'static const unsigned char {name}[] = {{\n#embed "../../../Docs/schemas/{name}.json"\n}};\n' for name in names)
    return (start + files + "\n" + table + head + "kazasu_schemas[] = {\n" + wrapped([f"SCHEMA({name})" for name in names], "    ")
            + tail[tail.index("};"):])


def words(text):
    """The first words of the commands that have a card."""
    with open(os.path.join(TOP, lint.CALLS), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    names = sorted({row[0].split()[0] for row in rows if len(row) == 5 and row[2] != "-"})
    made = wrapped([f'"{name}"' for name in names] + ["other"], "        ")
    return re.sub(r"(?<=let commands: Set<String> = \[\n)[^\]]*(?=    \])", lambda _: made, text)


DOCUMENT = """          {{
            "type": "object",
            "allOf": [{{"$ref": "common.json#/$defs/{0}Members"}}],
            "properties": {{"kind": {{"const": "{0}"}}}},
            "required": ["kind"],
            "unevaluatedProperties": false
          }},
"""


def documents(text):
    """The documents of decode.json that are a schema's members of common.json and nothing else."""
    with open(os.path.join(TOP, "Docs/schemas/common.json"), encoding="utf-8") as file:
        names = re.findall(r'^    "(\w+)Members": ', file.read(), re.MULTILINE)
    made = "".join(DOCUMENT.format(name) for name in names if name not in OWN_IN_DECODE)
    pattern = re.escape(DOCUMENT.format("NAME")).replace("NAME", r"\w+")
    return re.sub(f"(?:{pattern})+", lambda _: made, text)


def sections(text):
    """The topics of a page: heading and symbols, in order."""
    parts = re.split(r"^### ", text.partition("## Topics\n")[2], flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: re.findall(r"^- (.+)$", part, re.MULTILINE) for part in parts}


def topics(text, all_topics, exports, own):
    """A page whose topics are those of Kazasu as far as the product has them, beside sections of its own."""
    made = {}
    shown = {symbol for heading in own for symbol in sections(text).get(heading, [])}
    for heading, symbols in all_topics.items():
        here = [symbol for symbol in symbols if symbol.strip("`") in exports and symbol not in shown]
        if here and heading not in own:
            made[heading] = here
    order = []
    for heading in sections(text):
        # Sections of its own stay where they are, before or after what is made.
        if heading in own:
            order.append((heading, sections(text)[heading]))
        elif made:
            order += made.items()
            made = {}
    order += made.items()
    body = "\n\n".join(f"### {heading}\n\n" + "\n".join(f"- {symbol}" for symbol in symbols) for heading, symbols in order)
    return text.partition("## Topics\n")[0] + "## Topics\n\n" + body + "\n"


def main():
    """Writes the files, or compares them."""
    if "--help" in sys.argv:
        return print(__doc__.strip())
    sources = {path: lines for path, lines in lint.files() if path.endswith(".swift")}
    tops = lint.top_declarations()
    with open(os.path.join(TOP, PAGE.format("Kazasu")), encoding="utf-8") as file:
        everything = sections(file.read())

    def exported(product):
        return set().union(*(tops.get(module, set()) for module in lint.exported(product, sources)))

    declared = exported("Kazasu")
    unknown = [symbol for symbols in everything.values() for symbol in symbols if symbol[0] == "`" and symbol.strip("`") not in declared]
    if unknown:
        print(f"Docs/api does not have {', '.join(unknown)} of {PAGE.format('Kazasu')}: 'make api' writes it", file=sys.stderr)
        return 1

    def page(product, own):
        exports = exported(product)
        return lambda text: topics(text, everything, exports, own)

    made = {"Docs/schemas/decode.json": documents, SCHEMAS: lambda text: schemas(text, sources), WORDS: words, PAGE.format("KazasuReading"): page("KazasuReading", {}),
            PAGE.format("KazasuCards"): page("KazasuCards", {"Articles", "Dumps", "Decoders", "Reports", "Dates, times and text",
                                                             "Stations and stops", "Codes"})}
    wrong = 0
    for path, make in made.items():
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            old = file.read()
        new = make(old)
        if new == old:
            continue
        if "--check" in sys.argv:
            wrong = 1
            print(f"{path} differs from what Scripts/lists.py writes", file=sys.stderr)
        else:
            with open(os.path.join(TOP, path), "w", encoding="utf-8") as file:
                file.write(new)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
