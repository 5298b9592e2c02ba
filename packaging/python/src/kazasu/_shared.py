# SPDX-License-Identifier: Apache-2.0
"""The client of the functions of the module: one for the process, made when it is first needed."""

from __future__ import annotations

import os
import threading
from typing import Optional

from ._client import Client, Known, Reading
from ._taps import Taps

_lock = threading.Lock()
_client: Optional[Client] = None


def shared() -> Client:
    """The client that the functions of this module use. A new one takes its place when it has been closed or has failed."""
    global _client
    with _lock:
        if _client is None or _client.closed:
            _client = Client()
        return _client


def close() -> None:
    """Ends the program that the functions of this module use, and so frees the readers; the next call starts it again."""
    global _client
    with _lock:
        client, _client = _client, None
    if client is not None:
        client.close()


def _after_fork() -> None:
    """A child has its own client, and a lock that nobody holds."""
    global _client, _lock
    _lock = threading.Lock()
    _client = None


os.register_at_fork(after_in_child=_after_fork)


def taps(
    *,
    read: Optional[Reading] = None,
    reader: Optional[str] = None,
    only: Optional[Known] = None,
    only_known: bool = False,
    require_mac: Optional[str] = None,
    phones: bool = False,
    wildcard: bool = False,
    debounce: Optional[float] = None,
    id_key: Optional[str] = None,
) -> Taps:
    """Cards that come and go: ``for tap in kazasu.taps():``, or ``async for``. See `Client.taps` for the settings."""
    return shared().taps(
        read=read,
        reader=reader,
        only=only,
        only_known=only_known,
        require_mac=require_mac,
        phones=phones,
        wildcard=wildcard,
        debounce=debounce,
        id_key=id_key,
    )
