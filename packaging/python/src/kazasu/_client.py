# SPDX-License-Identifier: Apache-2.0
"""The clients: one process of ``kazasu rpc`` for many calls, from any number of threads or tasks."""

from __future__ import annotations

import datetime
import os
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Literal, Optional, TypeVar, Union

from . import _program
from ._connection import Connection, Progress, environment
from ._error import ProgramError
from ._methods import AsyncMethods, Methods
from ._taps import Feed, Taps

Result = TypeVar("Result")
Reading = Literal["id", "balance", "history"]
"""What to read with a tap."""
Known = Union[Mapping[str, str], str, "os.PathLike[str]"]
"""Names by card, the path of a file with them, or a text such as ``env:NAME`` that says where they are."""


@dataclass(frozen=True)
class Server:
    """What the program says about itself."""

    name: str
    version: str
    protocol: int
    methods: list[str]
    readers: list[Mapping[str, Any]]


class _Base:
    """What both clients have in common."""

    def __init__(
        self,
        *,
        reader: Optional[Union[str, Sequence[str]]] = None,
        lang: Optional[str] = None,
        redact: bool = False,
        call_timeout: Optional[float] = None,
        program: Union[str, os.PathLike[str], None] = None,
        env: Optional[Mapping[str, str]] = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Starts the program.

        Args:
            reader: The reader of every call that names none, an ID of `readers`; or several, of which calls use the first
                and taps all. ``NAME=ID`` gives a reader a name, which calls and taps may use.
            lang: The language of messages, ``en`` or ``ja``; that of the environment if not given.
            redact: Masks card numbers and names in all that is returned, as for a bug report.
            call_timeout: How many seconds a call may take before it is cancelled and raises `TimeoutError`. How long a
                call waits for a card is its own ``timeout``.
            program: The program ``kazasu``, if not the one of this package, on the PATH or in ``KAZASU_PROGRAM``.
            env: Variables for the program beside those of this process, such as one with a PIN for ``env:NAME``. They
                are passed when it starts.
            pass_fds: File descriptors that the program inherits, for ``fd:N``.

        """
        self._call_timeout = call_timeout
        feed = Feed()
        command = [os.fspath(program) if program is not None else _program.find(), "rpc"]
        for one in [reader] if isinstance(reader, str) else reader or []:
            command += ["--reader", one]
        if lang is not None:
            command += ["--lang", lang]
        if redact:
            command += ["--redact"]
        self._connection = Connection(command, environment(env), pass_fds, feed.notification, feed.end)
        feed.connection = self._connection
        self._feed = feed
        # Also at the end of the interpreter, so that the readers are closed.
        self._finalizer = weakref.finalize(self, self._connection.close)

    @property
    def closed(self) -> bool:
        """Whether the client can no longer be used: closed, or without its program."""
        return self._connection.failure is not None

    @property
    def pid(self) -> int:
        """The program's process."""
        return self._connection.pid

    def taps(
        self,
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
        """Cards that come and go, on all readers or on those of the client: for ``for`` and ``async for``.

        The program looks for cards from this call on, until the object is closed or no longer used. Calls such as
        `balance` take their turn on the same readers.

        Args:
            read: What to read of each card: its ``id`` alone, its ``balance``, or its ``history`` and balance.
            reader: The only reader to look at, by name or ID.
            only: Names for cards, which become `TapEvent.name`: by IDm, UID or tag, or the path of a file with a card, a tab
                and a name a line.
            only_known: No taps of cards without a name.
            require_mac: Where the key of FeliCa Lite-S cards is, as ``file:PATH`` or ``env:NAME``: only a card that proves that
                it has the key gets a ``tag``.
            phones: Look for transit cards first and never for any card, which would open a phone's wallet.
            wildcard: With ``phones``: look for any FeliCa card, too.
            debounce: No taps of a card that is back within so many seconds.
            id_key: Where a key is, as ``file:PATH`` or ``env:NAME``: tags are then HMAC-SHA256 of the card's number.

        Raises:
            ValueError: Another loop of this client has taps with other settings.
        """
        settings = {
            "read": read,
            "reader": reader,
            "only": f"file:{os.fspath(only)}" if isinstance(only, os.PathLike) else only,
            "only_known": only_known or None,
            "require_mac": require_mac,
            "phones": phones or None,
            "wildcard": wildcard or None,
            "debounce": debounce,
            "id_key": id_key,
        }
        return Taps(self._feed, _params(settings))

    def _request(self, method: str, params: Mapping[str, Any], progress: Optional[Progress]) -> Future[Any]:
        return self._connection.request(method, _params(params), progress)


class Client(_Base, Methods):
    """Readers and cards through one process of ``kazasu rpc``. It may be used from several threads at once.

    Close it, or use it in a ``with`` statement.

    Example:
        >>> with kazasu.Client(reader="rcs380") as client:  # doctest: +SKIP
        ...     print(client.balance().balances[0].amount)
        1234

    """

    def info(self) -> Server:
        """What the program says about itself."""
        return _server(self._wait(self._connection.hello))

    def call(self, method: str, *, progress: Optional[Progress] = None, **params: Any) -> Any:
        """Calls any method of ``kazasu rpc --describe``, with its parameters as they are there; returns plain JSON."""
        return self._wait(self._connection.request(method, params, progress))

    def close(self) -> None:
        """Cancels what is being done and ends the program. Harmless when repeated."""
        self._finalizer()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _call(
        self,
        method: str,
        read: Callable[[Any], Result],
        params: Mapping[str, Any],
        progress: Optional[Progress],
    ) -> Result:
        return _read(read, self._wait(self._request(method, params, progress)))

    def _wait(self, future: Future[Any]) -> Any:
        self._connection.must_not_wait()
        try:
            return future.result(self._call_timeout)
        except FutureTimeoutError:
            future.cancel()
            raise TimeoutError(f"no answer within {self._call_timeout} s") from None
        except BaseException:
            # As by Ctrl-C: the program stops working on it, too.
            future.cancel()
            raise


class AsyncClient(_Base, AsyncMethods):
    """The same as `Client` for asyncio. Cancelling a task cancels what it asked for."""

    async def info(self) -> Server:
        """What the program says about itself."""
        return _server(await self._wait(self._connection.hello))

    async def call(self, method: str, *, progress: Optional[Progress] = None, **params: Any) -> Any:
        """Calls any method of ``kazasu rpc --describe``, with its parameters as they are there; returns plain JSON."""
        return await self._wait(self._connection.request(method, params, _in_loop(progress)))

    async def aclose(self) -> None:
        """Cancels what is being done and ends the program. Harmless when repeated."""
        import asyncio  # It takes a while, and who has no event loop needs none of it.

        await asyncio.get_running_loop().run_in_executor(None, self._finalizer)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.aclose()

    async def _call(
        self,
        method: str,
        read: Callable[[Any], Result],
        params: Mapping[str, Any],
        progress: Optional[Progress],
    ) -> Result:
        return _read(read, await self._wait(self._request(method, params, _in_loop(progress))))

    async def _wait(self, future: Future[Any]) -> Any:
        import asyncio  # It takes a while, and who has no event loop needs none of it.

        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._call_timeout)
        except asyncio.TimeoutError:
            raise TimeoutError(f"no answer within {self._call_timeout} s") from None


def _in_loop(progress: Optional[Progress]) -> Optional[Progress]:
    """Progress is reported by a thread of the client; it belongs into the loop of the caller."""
    if progress is None:
        return None
    import asyncio

    loop, call = asyncio.get_running_loop(), progress

    def report(done: int, total: Optional[int]) -> None:
        loop.call_soon_threadsafe(call, done, total)

    return report


def _plain(value: Any) -> Any:
    """A parameter as JSON."""
    if isinstance(value, datetime.date):
        return (value.date() if isinstance(value, datetime.datetime) else value).isoformat()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    return value


def _camel(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def _params(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that were given, with the names that they have in JSON."""
    return {_camel(name): _plain(value) for name, value in params.items() if value is not None}


def _server(result: Any) -> Server:
    return _read(
        lambda value: Server(
            value["name"], value["version"], value["protocol"], list(value["methods"]), list(value["readers"])
        ),
        result,
    )


def _read(read: Callable[[Any], Result], value: Any) -> Result:
    try:
        return read(value)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ProgramError(
            f"the program answered with something else than this package expects: {error!r}",
            hint="the program and the package must be of about the same version",
        ) from error
