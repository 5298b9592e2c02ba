# SPDX-License-Identifier: Apache-2.0
"""Dumps as parameters and results."""

from __future__ import annotations

import base64
import json
import os
from typing import Any, Union

from ._documents import CardDump

Dump = Union[str, bytes, "os.PathLike[str]", CardDump]
"""A dump in any format that Kazasu reads: its text, its bytes, a `pathlib.Path` (a text is no path), or a result of `dump`."""


def content(dump: Dump) -> dict[str, str]:
    """A dump as parameters."""
    if isinstance(dump, CardDump):
        return {"text": json.dumps(dump.json, ensure_ascii=False)}
    if isinstance(dump, str):
        return {"text": dump}
    if not isinstance(dump, (bytes, bytearray, memoryview)):
        with open(dump, "rb") as file:
            dump = file.read()
    return {"base64": base64.b64encode(dump).decode("ascii")}


def converted(result: Any) -> Union[str, bytes]:
    """A converted dump: text, or bytes if the format is none."""
    text = result.get("text")
    return text if isinstance(text, str) else base64.b64decode(result["base64"])
