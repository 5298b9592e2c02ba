# SPDX-License-Identifier: Apache-2.0
"""The methods of the clients, made from the OpenRPC document that `kazasu rpc --describe` prints."""

import keyword
import re
import textwrap

# What the clients have by hand: not one request with one document for an answer.
BY_HAND = {"initialize", "taps.subscribe", "taps.unsubscribe"}
# A dump is one parameter in Python.
DUMP = {"text", "base64"}
DUMP_WORDS = "Its text, its bytes, a `pathlib.Path`, or what `dump` returned."
FILES_WORDS = "One file as for `decode`, a folder of saved files as a `pathlib.Path`, or the bytes of files by name."
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
DATE = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
# More values are names for the same, in any case, such as those of cards.
MOST_VALUES = 8
PATHS = {"ca", "journal", "keys", "ledger", "newKeys", "plan", "seen", "stations"}
PROGRESS = (
    "Called with how much is done, which grows, and how much there is, None if unknown; by a thread of the client, or the "
    "event loop."
)
# What every method has, so that it stands last.
COMMON = ["reader", "timeout"]


def snake(name):
    """The name in Python of a name in JSON."""
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return word + "_" if keyword.iskeyword(word) else word


def function(name):
    """The function of a method: card.balance is balance, tag.info is tag_info, readers.list is readers."""
    return snake(name.removeprefix("card.").removesuffix(".list") if name != "ledger.list" else name).replace(".", "_")


def in_python(words, names):
    """The words of the program, with the names that Python has for methods, parameters and reasons."""
    return re.sub(r"\b[a-z]\w*(?:[.][a-z]\w*)?\b", lambda found: names.get(found[0], found[0]), words)


def kind(schema, is_path=False):
    """The type of a parameter."""
    if "const" in schema:
        return f'Literal["{schema["const"]}"]'
    if len(schema.get("enum", [])) in range(1, MOST_VALUES + 1):
        return "Literal[" + ", ".join(f'"{value}"' for value in schema["enum"]) + "]"
    if "anyOf" in schema:
        return "Union[" + ", ".join(kind(option) for option in schema["anyOf"]) + "]"
    if schema.get("pattern") == DATE:
        return "Union[str, datetime.date]"
    one = "Union[str, os.PathLike[str]]" if is_path else "str"
    if schema.get("type") == "array":
        # A text is split at its commas, as on the command line.
        return f"Union[str, Sequence[{one}]]"
    return one if is_path else PLAIN.get(schema.get("type"), "Any")


def type_of(param):
    """The type of a parameter."""
    return kind(param["schema"], param["name"] in PATHS)


class Method:
    """One method."""

    def __init__(self, described, documents, names):
        self.name = described["name"]
        self.function = function(self.name)
        self.names = names
        self.words = in_python(described["summary"], names)
        params = described.get("params", [])
        self.takes_dump = {param["name"] for param in params} >= DUMP
        if self.takes_dump:
            params = [param for param in params if param["name"] not in DUMP]
        self.required = [param for param in params if param.get("required")]
        optional = [param for param in params if not param.get("required")]
        rank = {name: number for number, name in enumerate(COMMON, 1)}
        self.optional = sorted(optional, key=lambda param: rank.get(param["name"], 0))
        self.has_reader = any(param["name"] == "reader" for param in params)
        schema = described["result"]["schema"]
        #: The classes of an answer that is one of several documents.
        self.results = [documents[schema_of(one)] for one in schema.get("oneOf", []) if schema_of(one) in documents]
        self.result = documents.get(schema_of(schema))
        self.returns = self.result or ("Union[str, bytes]" if self.takes_dump else "Any")
        if self.results:
            self.returns = f"Union[{', '.join(self.results)}]"

    def signature(self, first, progress):
        """The parameters as they are declared."""
        listed = [first] if first else []
        listed += ["dump: Dump"] if self.takes_dump else []
        listed += [f"{snake(param['name'])}: {type_of(param)}" for param in self.required]
        listed += ["*"] if self.optional or progress else []
        listed += [f"{snake(param['name'])}: Optional[{type_of(param)}] = None" for param in self.optional]
        listed += ["progress: Optional[Progress] = None"] if progress else []
        return listed

    @property
    def has_progress(self):
        return self.has_reader

    def docs(self, indent):
        """The docstring."""
        pad = " " * indent
        lines = [f'{pad}"""{self.words}']
        words = FILES_WORDS if self.name.endswith(".files") else DUMP_WORDS
        args = [("dump", words)] if self.takes_dump else []
        args += [(snake(param["name"]), words_of(param, self.names)) for param in self.required + self.optional]
        if self.has_progress:
            args.append(("progress", PROGRESS))
        if args:
            lines += ["", f"{pad}Args:"]
            for name, words in args:
                lines += textwrap.wrap(f"{name}: {words}", 116 - indent, initial_indent=pad + "    ",
                                       subsequent_indent=pad + "        ")
        lines.append(f'{pad}"""' if len(lines) > 1 else "")
        if len(lines) == 2:
            return [lines[0] + '"""']
        return lines

    def write(self, flavor):
        """The method as Python: of the client, of the client for asyncio, or of the module."""
        indent = 0 if flavor == "module" else 4
        pad = " " * indent
        head = "async def" if flavor == "async" else "def"
        listed = self.signature("" if flavor == "module" else "self", self.has_progress)
        lines = [f"{pad}{head} {self.function}(", *(f"{pad}    {one}," for one in listed),
                 f"{pad}) -> {self.returns}:"]
        lines += self.docs(indent + 4)
        names = [param["name"] for param in self.required + self.optional]
        if flavor == "module":
            given = ["dump"] if self.takes_dump else []
            given += [snake(param["name"]) for param in self.required]
            given += [f"{snake(param['name'])}={snake(param['name'])}" for param in self.optional]
            given += ["progress=progress"] if self.has_progress else []
            return [*lines, f"    return shared().{self.function}({', '.join(given)})", ""]
        members = "**content(dump), " if self.takes_dump else ""
        members += ", ".join(f'"{name}": {snake(name)}' for name in names)
        call = "await self._call" if flavor == "async" else "self._call"
        read = f"{self.result}.from_json" if self.result else "converted" if self.takes_dump else "_same"
        if self.results:
            read = "document"
        progress = "progress" if self.has_progress else "None"
        made = f'{call}("{self.name}", {read}, {{{members}}}, {progress})'
        if self.results:
            return [*lines, f"{pad}    answer: {self.returns} = {made}", f"{pad}    return answer", ""]
        return [*lines, f"{pad}    return {made}", ""]


def schema_of(schema):
    """The id of the document that a result is, as in kazasu.balance/1."""
    const = schema.get("properties", {}).get("schema", {}).get("const")
    if const:
        return const
    found = re.search(r"(\w+)(?:\.json)?$", schema.get("$ref", ""))
    return f"kazasu.{found[1]}/1" if found else None


def words_of(param, names):
    """What a parameter means, as a sentence."""
    words = param.get("description") or param.get("summary") or param["schema"].get("description") or ""
    if re.search(r"--[a-z]|'kazasu ", words):
        raise ValueError(f"{param['name']} needs words for programs: {words}")
    words = in_python(" ".join(words.split()), names)
    return words[:1].upper() + words[1:].rstrip(".") + "." if words else "See ``kazasu rpc --describe``."


ABSTRACT = '''
    {keyword} _call(
        self,
        method: str,
        read: Callable[[Any], Result],
        params: Mapping[str, Any],
        progress: Optional[Progress],
    ) -> Result:
        raise NotImplementedError
'''

HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Made by generate.py.
"""{words}"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Literal, Optional, TypeVar, Union

'''


def write(described, documents, errors):
    """The modules _methods and _functions; errors are the names of the exceptions by reason."""
    params = [param["name"] for one in described["methods"] for param in one.get("params", [])]
    # A name of one word could be any word.
    names = {name: f"``{snake(name)}``" for name in params if snake(name) != name}
    names |= {reason: f"`{error}`" for reason, error in errors.items() if not reason.islower()}
    names |= {one["name"]: f"`{function(one['name'])}`" for one in described["methods"] if "." in one["name"]}
    names["null"] = "None"
    found = [Method(one, documents, names) for one in described["methods"]
             if one["name"] not in BY_HAND and not one["name"].startswith("$")]
    classes = {name for method in found for name in [method.result, *method.results] if name}
    imports = "from ._documents import (\n" + "".join(f"    {name},\n" for name in sorted(classes)) + ")\n"
    lines = [HEAD.format(words="What one request to ``kazasu rpc`` answers."),
             "from ._connection import Progress, document", "from ._dump import Dump, content, converted\n", imports,
             '\nResult = TypeVar("Result")\n\n',
             "def _same(value: Any) -> Any:\n    return value\n\n"]
    for flavor, name, word in [("sync", "Methods", "def"), ("async", "AsyncMethods", "async def")]:
        lines.append(f'\nclass {name}:\n    """The methods of a client that are one request each."""')
        lines.append(ABSTRACT.format(keyword=word))
        for method in found:
            lines += method.write(flavor)
    functions = [HEAD.format(words="The methods of the shared client as functions."),
                 "from ._connection import Progress", "from ._dump import Dump\n", imports, "from ._shared import shared\n\n"]
    for method in found:
        functions += ["", *method.write("module")]
    names = sorted(method.function for method in found)
    functions += ["", "__all__ = [" + ", ".join(f'"{name}"' for name in names) + "]"]
    return "\n".join(lines).rstrip() + "\n", "\n".join(functions) + "\n"
