# SPDX-License-Identifier: Apache-2.0
"""Dumps as parameters and results."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from typing import Any, Union

from ._documents import CardDump

Dump = Union[str, bytes, "os.PathLike[str]", CardDump, Mapping[str, bytes]]
"""A dump in any format that Kazasu reads: its text, its bytes, a `pathlib.Path` (a text is no path), or a result of `dump`.
The files of a passport may be a folder, or their bytes by name."""

LONGEST_FILE = 4 << 20
"""What belongs to a passport is shorter."""


def content(dump: Dump) -> dict[str, str]:
    """A dump as parameters."""
    if isinstance(dump, CardDump):
        return {"text": json.dumps(dump.json, ensure_ascii=False)}
    if isinstance(dump, str):
        return {"text": dump}
    if isinstance(dump, Mapping):
        return {"text": json.dumps({name: member(bytes(data)) for name, data in dump.items()})}
    if not isinstance(dump, (bytes, bytearray, memoryview)) and os.path.isdir(dump):
        return content(folder(dump))
    if not isinstance(dump, (bytes, bytearray, memoryview)):
        with open(dump, "rb") as file:
            dump = file.read()
    return {"base64": base64.b64encode(dump).decode("ascii")}


def member(data: bytes) -> Any:
    """A file as a member of JSON: an object as it is, such as evidence, and everything else in Base64."""
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else base64.b64encode(data).decode("ascii")


def folder(path: os.PathLike[str]) -> dict[str, bytes]:
    """The regular files of a folder, but the long ones; pipes and devices are not opened."""
    files = {}
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_file() and entry.stat().st_size <= LONGEST_FILE:
                with open(entry.path, "rb") as file:
                    files[entry.name] = file.read()
    return files


def converted(result: Any) -> Union[str, bytes]:
    """A converted dump: text, or bytes if the format is none."""
    text = result.get("text")
    return text if isinstance(text, str) else base64.b64decode(result["base64"])
