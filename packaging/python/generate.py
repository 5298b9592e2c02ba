#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate.py PROGRAM [FOLDER]: writes the modules of src/kazasu that change with every version, and so are not kept: a data
class for every document of Docs/schemas, an exception for every reason of Docs/errors.md, a method for every one that
`PROGRAM rpc --describe` lists, and the version."""

import builtins
import json
import keyword
import os
import re
import subprocess
import sys

import methods

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(HERE, "..", "..", "Docs")
HEAD = '# SPDX-License-Identifier: Apache-2.0\n# Made by generate.py.\n'
TYPES = {"bool", "dict", "float", "int", "list", "str"}
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def snake(key):
    """The attribute of a JSON key, such as read_at for readAt."""
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
    # A member named as a type would hide it from the members after it.
    return word + "_" if keyword.iskeyword(word) or word in TYPES else word


def title(key):
    """A class name."""
    return key[:1].upper() + key[1:]


def singular(name):
    """The class name of an element."""
    return name[:-3] + "y" if name.endswith("ies") else name[:-1] if name.endswith("s") else name + "Item"


class Types:
    """The data classes, in the order in which they were met."""

    def __init__(self):
        self.schemas = {}
        for name in sorted(os.listdir(os.path.join(DOCS, "schemas"))):
            if name.endswith(".json"):
                with open(os.path.join(DOCS, "schemas", name), encoding="utf-8") as file:
                    self.schemas[name] = json.load(file)
        self.classes, self.names, self.documents = {}, {}, {}

    def resolve(self, schema, file):
        """What a reference means: the schema, its file, and a name for its class."""
        path, _, pointer = schema["$ref"].partition("#")
        file = path or file
        found, name = self.schemas[file], self.schemas[file].get("title", "")
        for part in filter(None, pointer.split("/")):
            found, name = found[part], part
        # What a name stands for may be said beside it, as for parts whose own name means more elsewhere.
        return found, file, found.get("title", name)

    def members(self, schema, file):
        """The properties of an object with those that it takes from others, and the keys that are always there."""
        properties, required = {}, None
        parts = [*schema.get("allOf", []), {key: value for key, value in schema.items() if key != "allOf"}]
        for part in parts:
            where = file
            if "$ref" in part:
                target, where, _ = self.resolve(part, file)
                inner, always = self.members(target, where)
            elif "allOf" in part:
                inner, always = self.members(part, where)
            else:
                inner = {key: (value, where) for key, value in part.get("properties", {}).items()}
                always = set(part.get("required", []))
                for key in ("oneOf", "anyOf"):
                    options = [self.members(option, where) for option in part.get(key, [])
                               if "properties" in option or "$ref" in option]
                    for option, _ in options:
                        for name, value in option.items():
                            inner[name] = self.combined(inner[name], value) if name in inner else value
                    if options and key == "oneOf":
                        always |= set.intersection(*(needed for _, needed in options))
            properties.update(inner)
            required = always if required is None else required | always
        return properties, required or set()

    def combined(self, first, second):
        """One member of two kinds of document: what both can be read as."""
        if first == second:
            return first
        (one, file), (other, where) = self.plain(*first), self.plain(*second)
        if file == where and "properties" in other and ("properties" in one or one.get("combined")):
            kinds = one["oneOf"] if one.get("combined") else [one]
            return {"type": "object", "combined": True, "oneOf": [*kinds, other]}, file
        if file == where and one.get("type") == other.get("type") == "array":
            items, _ = self.combined((one.get("items", {}), file), (other.get("items", {}), file))
            return {"type": "array", "items": items}, file
        return (True, file) if self.has_object(one, file) or self.has_object(other, where) else first

    def plain(self, schema, file):
        """A schema without a reference."""
        if isinstance(schema, dict) and "$ref" in schema:
            schema, file, _ = self.resolve(schema, file)
        return schema if isinstance(schema, dict) else {}, file

    def has_object(self, schema, file):
        """Whether a value may be an object with members of its own."""
        options = [self.plain(option, file)[0] for option in schema.get("oneOf", []) + schema.get("anyOf", [])]
        return any("properties" in option for option in [schema, *options])

    def of(self, schema, file, name):
        """The type of a value, and the expression that reads it from JSON as a function of its text, or None for itself."""
        if schema is True or not schema:
            return "Any", None
        if "$ref" in schema and len(schema.keys() - {"description"}) == 1:
            target, where, own = self.resolve(schema, file)
            return self.of(target, where, title(own))
        options = schema.get("anyOf") or schema.get("oneOf") or []
        null = {"type": "null"}
        if null in options:
            rest = [option for option in options if option != null]
            kind, read = self.of(rest[0] if len(rest) == 1 else {"oneOf": rest}, file, name)
            return self.optional(kind, read)
        types = schema.get("type")
        if isinstance(types, list):
            rest = [one for one in types if one != "null"]
            if len(rest) == 1 and len(types) == 2:
                return self.optional(*self.of({**schema, "type": rest[0]}, file, name))
            return "Any", None
        if types == "array":
            kind, read = self.of(schema.get("items", True), file, singular(name))
            return f"list[{kind}]", read and (lambda text: f"[{read('item')} for item in {text}]")
        properties, _ = self.members(schema, file)
        if properties:
            return self.record(schema, file, name)
        if types == "object" or "patternProperties" in schema:
            inner = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties", True))
            kind, read = self.of(inner, file, singular(name)) if isinstance(inner, dict) else ("Any", None)
            return f"dict[str, {kind}]", read and (
                lambda text: f"{{key: {read('item')} for key, item in {text}.items()}}")
        if "const" in schema:
            return type(schema["const"]).__name__, None
        if "enum" in schema:
            values = ("None" if value is None else json.dumps(value) for value in schema["enum"])
            return f"Literal[{', '.join(values)}]", None
        return PLAIN.get(types, "Any"), None

    @staticmethod
    def optional(kind, read):
        """The same, or null."""
        if kind == "Any" or kind.startswith("Optional["):
            return kind, read
        return f"Optional[{kind}]", read and (lambda text: f"None if {text} is None else {read(text)}")

    def record(self, schema, file, name):
        """A data class."""
        key = json.dumps([schema, file], sort_keys=True)
        if key not in self.names:
            count, own = 2, name
            while own in self.classes:
                own, count = f"{name}{count}", count + 1
            self.names[key] = own
            self.classes[own] = None
            properties, required = self.members(schema, file)
            fields = []
            for member, (value, where) in properties.items():
                kind, read = self.of(value, where, own + title(member))
                text = value.get("description", "") if isinstance(value, dict) else ""
                if isinstance(value, dict) and "$ref" in value and not text:
                    text = self.resolve(value, where)[0].get("description", "")
                fields.append((member, kind, read, member in required, text))
            self.classes[own] = (schema.get("description", ""), fields)
        own = self.names[key]
        return own, lambda text: f"{own}.from_json({text})"

    def write(self):
        """The module."""
        for file, schema in self.schemas.items():
            if file == "common.json":
                continue
            own, _ = self.of(schema, file, schema["title"])
            properties, _ = self.members(schema, file)
            name = properties.get("schema", ({}, ""))[0].get("const")
            if name and own in self.classes:
                self.documents[name] = own
        lines = [HEAD + '"""The documents of Kazasu as data classes; one has the members of its JSON Schema."""\n',
                 "from __future__ import annotations\n",
                 "from collections.abc import Mapping", "from dataclasses import dataclass, field",
                 "from types import MappingProxyType", "from typing import Any, Literal, Optional\n",
                 "from ._document import Document\n", ""]
        for name, (text, fields) in self.classes.items():
            lines += self.text(name, text, fields)
        lines += ["#: The class of each document, by its schema.", "DOCUMENTS: dict[str, type[Any]] = {"]
        lines += [f'    "{schema}": {own},' for schema, own in self.documents.items()] + ["}\n"]
        names = ", ".join(f'"{name}"' for name in sorted(self.classes))
        lines += [f"__all__ = [{names}]"]
        return "\n".join(lines) + "\n"

    @staticmethod
    def text(name, text, fields):
        """A class as Python."""
        ordered = sorted(fields, key=lambda field: not field[3])
        lines = ["@dataclass(init=False, repr=False, eq=False)", f"class {name}(Document):",
                 f'    """{text or "A part of a document."}"""\n']
        declared, reads = [], []
        for member, kind, read, needed, about in ordered:
            own = snake(member)
            if not needed and not kind.startswith(("Optional[", "Any")):
                kind = f"Optional[{kind}]"
            declared.append(f"        {own}: {kind}" + ("," if needed else " = None,"))
            lines.append(f"    {own}: {kind}" + ("" if needed else " = None"))
            if about:
                lines.append(f'    """{about}"""')
            if needed:
                value = f'value["{member}"]'
                reads.append(f"            {own}={read(value) if read else value},")
            elif read:
                inner = read(f'value["{member}"]').removeprefix(f'None if value["{member}"] is None else ')
                reads.append(f'            {own}=None if value.get("{member}") is None else {inner},')
            else:
                reads.append(f'            {own}=value.get("{member}"),')
        names = [snake(member) for member, *_ in ordered]
        lines += ["    json: Mapping[str, Any] = field(default_factory=dict)",
                  '    """The object as it came, with members that this version does not know."""\n',
                  "    def __init__(", "        self,", "        *,", *declared,
                  "        json: Mapping[str, Any] = MappingProxyType({}),", "    ) -> None:",
                  "        vars(self).update(", *(f"            {own}={own}," for own in [*names, "json"]), "        )\n",
                  "    @classmethod", f"    def from_json(cls, value: Mapping[str, Any]) -> {name}:",
                  '        """Reads an object of JSON."""', "        return cls(", *reads, "            json=value,",
                  "        )\n", ""]
        return lines


def sentence(cell):
    """A cell of a table as a sentence, without links; empty for a dash."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell.replace("`", "")).strip(" –")
    return text and f"{text[:1].upper()}{text[1:]}."


def reasons():
    """The reasons of errors, with their status and what Docs/errors.md says."""
    known = {}
    with open(os.path.join(DOCS, "errors.md"), encoding="utf-8") as file:
        for line in file:
            row = re.match(r"\| ((?:`\w+`(?:, )?)+) \| ([\d, ]+) \| (.*?) \| ?(.*?) \|$", line)
            if row:
                for reason in re.findall(r"`(\w+)`", row[1]):
                    status, texts = known.get(reason, (int(row[2].split(",")[0]), []))
                    known[reason] = status, [*texts, sentence(row[3]), sentence(row[4])]
    return known


def exception(reason):
    """The name of a reason's exception."""
    return title(reason) if reason.endswith("Error") else title(reason) + "Error"


def exceptions():
    """The exceptions."""
    lines = [HEAD + '"""An exception for every reason for which Kazasu fails."""\n', "from __future__ import annotations\n",
             "import builtins\n", "from ._error import KazasuError\n", ""]
    known = reasons()
    for reason, (status, texts) in known.items():
        name = exception(reason)
        docs = "\n\n    ".join(filter(None, texts))
        # Who expects the exception of Python's own of that name catches this one, too.
        bases = f"KazasuError, builtins.{name}" if hasattr(builtins, name) else "KazasuError"
        lines += [f"class {name}({bases}):", f'    """{docs}"""\n', f'    reason = "{reason}"',
                  f"    status = {status}\n\n"]
    lines += ["#: The exception of each reason.", "REASONS: dict[str, type[KazasuError]] = {"]
    classes = {reason: exception(reason) for reason in known}
    lines += [f'    "{reason}": {name},' for reason, name in classes.items()] + ["}\n"]
    lines += ["__all__ = [" + ", ".join(f'"{name}"' for name in sorted(classes.values())) + "]"]
    return "\n".join(lines) + "\n"


def version():
    """The version of the program, from the one place where it is written."""
    path = os.path.join(HERE, "..", "..", "Sources", "Programs", "KazasuCLI", "RootCommand.swift")
    with open(path, encoding="utf-8") as file:
        return re.search(r'static let version = "([^"]+)"', file.read())[1]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, "src", "kazasu")
    described = subprocess.run([sys.argv[1], "rpc", "--describe", "--lang", "en"], stdout=subprocess.PIPE, check=True)
    types = Types()
    documents = types.write()
    clients, functions = methods.write(
        json.loads(described.stdout), types.documents, {reason: exception(reason) for reason in reasons()})
    for name, text in [
        ("_documents.py", documents), ("_reasons.py", exceptions()), ("_methods.py", clients), ("_functions.py", functions),
        ("_version.py", f'{HEAD}"""The version of the program and of this package."""\n\n__version__ = "{version()}"\n'),
    ]:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
