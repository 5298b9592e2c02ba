# SPDX-License-Identifier: Apache-2.0
"""Cards that come and go, for a loop."""

from __future__ import annotations

import collections
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Callable, Optional

from ._connection import Connection
from ._documents import TapEvent
from ._error import ProgramError


class Taps:
    """The taps of all readers, one event after the other: ``for tap in taps`` or ``async for tap in taps``.

    Nothing is lost while the loop is busy: events wait for it. The loop ends when this or the client is closed, and raises
    `ProgramError` when the program ends. Several loops may take from the same object; each event goes to one of them.
    """

    def __init__(self, feed: Feed, started: Future[Any]) -> None:
        self._feed = feed
        self._started = started
        self._lock = threading.Lock()
        self._events: collections.deque[Any] = collections.deque()
        self._sleepers: list[Future[None]] = []
        self._closed = False

    def close(self) -> None:
        """Ends the loop. Harmless when repeated."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._wake()
        self._feed.remove(self)

    def _put(self, event: Any) -> None:
        with self._lock:
            self._events.append(event)
        self._wake()

    def _wake(self) -> None:
        """A sleeper is only woken and then looks itself: one that is cancelled just now must not take an event with it."""
        with self._lock:
            sleepers, self._sleepers = self._sleepers, []
        for sleeper in sleepers:
            if sleeper.set_running_or_notify_cancel():
                sleeper.set_result(None)

    def _sleep(self) -> Optional[Future[None]]:
        """What to wait for before looking again; None when there is something to take, or nothing will come."""
        with self._lock:
            if self._events or self._closed or self._feed.failure is not None:
                return None
            sleeper: Future[None] = Future()
            self._sleepers.append(sleeper)
            return sleeper

    def _take(self) -> Optional[TapEvent]:
        """The next event; None when the loop is at its end."""
        with self._lock:
            if self._closed:
                return None
            if self._events:
                return TapEvent.from_json(self._events.popleft())
        failure = self._feed.failure
        if failure is None:
            raise LookupError
        if self._feed.connection.closing:
            return None
        raise failure

    def __iter__(self) -> Taps:
        return self

    def __next__(self) -> TapEvent:
        self._feed.connection.must_not_wait()
        self._started.result()
        while True:
            sleeper = self._sleep()
            if sleeper is not None:
                sleeper.result()
            try:
                event = self._take()
            except LookupError:
                continue
            if event is None:
                raise StopIteration
            return event

    def __aiter__(self) -> Taps:
        return self

    async def __anext__(self) -> TapEvent:
        import asyncio  # It takes a while, and who has no event loop needs none of it.

        await asyncio.wrap_future(self._started)
        while True:
            sleeper = self._sleep()
            if sleeper is not None:
                await asyncio.wrap_future(sleeper)
            try:
                event = self._take()
            except LookupError:
                continue
            if event is None:
                raise StopAsyncIteration
            return event

    def __enter__(self) -> Taps:
        self._feed.connection.must_not_wait()
        self._started.result()
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    async def __aenter__(self) -> Taps:
        import asyncio  # It takes a while, and who has no event loop needs none of it.

        await asyncio.wrap_future(self._started)
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_closed"):
            self.close()


class Feed:
    """Passes the taps of a connection to all who loop over them, and subscribes as long as somebody does."""

    def __init__(self) -> None:
        self.connection: Connection
        self._lock = threading.RLock()
        self._taps: set[weakref.ref[Taps]] = set()
        self._params: Mapping[str, Any] = {}
        self._last: Optional[Future[Any]] = None

    @property
    def failure(self) -> Optional[ProgramError]:
        """Why there will be no more taps."""
        return self.connection.failure

    def taps(self, params: Mapping[str, Any]) -> Taps:
        """Begins to collect taps."""
        with self._lock:
            if not self._taps:
                self._params = params
                self._last = self._after_last("taps.subscribe", params)
            elif params != self._params:
                raise ValueError("the taps of this client are being read with other settings; close those first")
            assert self._last is not None
            taps = Taps(self, self._last)
            self._taps.add(weakref.ref(taps))
            return taps

    def remove(self, taps: Taps) -> None:
        """Ends the subscription with the last of those who loop."""
        with self._lock:
            before = len(self._taps)
            self._taps = {one for one in self._taps if one() is not None and one() is not taps}
            if before and not self._taps and self.failure is None:
                self._last = self._after_last("taps.unsubscribe", {})

    def _after_last(self, method: str, params: Mapping[str, Any]) -> Future[Any]:
        """Asks when the last question is answered: the program answers several at a time, in no order."""
        outcome: Future[Any] = Future()
        outcome.set_running_or_notify_cancel()  # Nobody can cancel it.

        def copy(answer: Future[Any]) -> None:
            error = None if answer.cancelled() else answer.exception()
            if error is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(None if answer.cancelled() else answer.result())

        def ask(_: Any) -> None:
            try:
                answer = self.connection.request(method, params)
            except Exception as error:
                outcome.set_exception(error)
            else:
                answer.add_done_callback(copy)

        if self._last is None:
            ask(None)
        else:
            self._last.add_done_callback(ask)
        return outcome

    def notification(self, method: str, params: Any) -> None:
        """Takes a notification of the connection."""
        if method == "tap":
            self._each(lambda taps: taps._put(params))

    def end(self) -> None:
        """Wakes those who loop, for the connection has ended."""
        self._each(lambda taps: taps._wake())

    def _each(self, act: Callable[[Taps], None]) -> None:
        with self._lock:
            known = [one() for one in self._taps]
        for taps in known:
            if taps is not None:
                act(taps)
