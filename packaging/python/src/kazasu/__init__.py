# SPDX-License-Identifier: Apache-2.0
"""Contactless cards on Linux: balance, history, dumps, tags and taps, through the program ``kazasu``.

The functions of this module share one client, which starts the program with the first call::

    import kazasu

    print(kazasu.balance().balances[0].amount)
    for tap in kazasu.taps():
        print(tap.type, tap.tag)

`Client` is for settings of your own, `AsyncClient` for asyncio. What a card says is a data class, named as in the JSON
documents but in ``snake_case``; its member ``json`` is the object as it came. What fails raises a `KazasuError`, with a
subclass for each reason.
"""

from __future__ import annotations

import builtins

from . import _functions, _reasons
from ._client import AsyncClient, Client, Known, Reading, Server
from ._connection import Progress
from ._documents import *
from ._documents import DOCUMENTS
from ._dump import Dump
from ._error import KazasuError, ProgramError
from ._functions import *
from ._reasons import *
from ._reasons import REASONS
from ._shared import close, shared, taps
from ._taps import Taps
from ._version import __version__

__all__ = [
    "DOCUMENTS",
    "REASONS",
    "AsyncClient",
    "Client",
    "Dump",
    "KazasuError",
    "Known",
    "ProgramError",
    "Progress",
    "Reading",
    "Server",
    "Taps",
    "__version__",
    "close",
    "shared",
    "taps",
]
# What `import *` brings hides nothing of Python's own, and what `help` shows can be read: the data classes of the documents are
# here as well, as kazasu.HistoryReport and so on.
__all__ += sorted({*_functions.__all__, *_reasons.__all__} - {*dir(builtins), "license"})
