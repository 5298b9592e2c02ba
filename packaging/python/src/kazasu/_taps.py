# SPDX-License-Identifier: Apache-2.0
"""Cards that come and go, for a loop."""

from __future__ import annotations

import collections
import contextlib
import threading
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Callable, Optional

from ._connection import Connection
from ._documents import TapEvent
from ._error import ProgramError


class _Queue:
    """The events that wait for a loop.

    It is apart from `Taps`, so that the thread that fills it never keeps alive what the loop has left.
    """

    def __init__(self) -> None:
        # A lock of the garbage collector's, too: it may end an iteration wherever memory is taken.
        self._lock = threading.RLock()
        self._events: collections.deque[Any] = collections.deque()
        self._sleepers: list[Future[None]] = []

    def put(self, event: Any) -> None:
        with self._lock:
            self._events.append(event)
        self.wake()

    def take(self) -> Any:
        """The next event, or None."""
        with self._lock:
            return self._events.popleft() if self._events else None

    def wake(self) -> None:
        """A sleeper is only woken and then looks itself: one that is cancelled just now must not take an event with it."""
        with self._lock:
            sleepers, self._sleepers = self._sleepers, []
        for sleeper in sleepers:
            if sleeper.set_running_or_notify_cancel():
                sleeper.set_result(None)

    def sleeper(self, is_over: Callable[[], bool]) -> Optional[Future[None]]:
        """What to wait for before looking again; None when there is something to take, or nothing will come."""
        with self._lock:
            if self._events or is_over():
                return None
            sleeper: Future[None] = Future()
            self._sleepers.append(sleeper)
            return sleeper

    @property
    def has_waiters(self) -> bool:
        with self._lock:
            return any(not sleeper.cancelled() for sleeper in self._sleepers)


class Taps:
    """The taps of all readers, one event after the other: ``for tap in taps`` or ``async for tap in taps``.

    Nothing is lost while the loop is busy: events wait for it in memory, without a limit. The loop ends when this or the
    client is closed, and raises `ProgramError` when the program ends. Several loops may take from the same object; each
    event goes to one of them.

    A loop that an exception ends while it waits, such as Ctrl-C or a cancelled task, also ends looking for cards, until
    the next loop over the same object. In a ``with`` block that goes on, whatever happens, until the block ends.
    """

    def __init__(self, feed: Feed, params: Mapping[str, Any]) -> None:
        self._feed = feed
        self._params = params
        self._queue = _Queue()
        self._blocks = 0
        self._closed = False
        self._started: Optional[Future[Any]] = feed.add(self._queue, params)

    def close(self) -> None:
        """Ends the loop. Harmless when repeated."""
        if not self._closed:
            self._closed = True
            self._queue.wake()
            self._feed.remove(self._queue)

    def _start(self) -> Future[Any]:
        """Looks for cards again if a loop was interrupted. The answer tells whether that is possible."""
        started = self._started
        if started is None:
            started = self._started = self._feed.add(self._queue, self._params)
        return started

    def _interrupted(self) -> None:
        """An exception has ended a loop: nobody may be there to close this, yet a traceback or a task keeps it alive."""
        if not (self._closed or self._blocks or self._queue.has_waiters):
            self._started = None
            self._feed.remove(self._queue)

    def _is_over(self) -> bool:
        return self._closed or self._feed.failure is not None

    def _take(self) -> Optional[TapEvent]:
        """The next event; None when the loop is at its end."""
        if self._closed:
            return None
        event = self._queue.take()
        if event is not None:
            return TapEvent.from_json(event)
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
        try:
            event = self._wait()
        except BaseException:
            self._interrupted()
            raise
        if event is None:
            raise StopIteration
        return event

    def _wait(self) -> Optional[TapEvent]:
        if self._closed:
            return None
        self._start().result()
        while True:
            sleeper = self._queue.sleeper(self._is_over)
            if sleeper is not None:
                try:
                    sleeper.result()
                except BaseException:
                    sleeper.cancel()
                    raise
            with contextlib.suppress(LookupError):
                return self._take()

    def __aiter__(self) -> AsyncIterator[TapEvent]:
        return _AsyncLoop(self)

    async def __anext__(self) -> TapEvent:
        import asyncio  # It takes a while, and who has no event loop needs none of it.

        if self._closed:
            raise StopAsyncIteration
        await asyncio.wrap_future(self._start())
        while True:
            sleeper = self._queue.sleeper(self._is_over)
            if sleeper is not None:
                try:
                    await asyncio.wrap_future(sleeper)
                except BaseException:
                    sleeper.cancel()
                    raise
            try:
                event = self._take()
            except LookupError:
                continue
            if event is None:
                raise StopAsyncIteration
            return event

    def __enter__(self) -> Taps:
        self._feed.connection.must_not_wait()
        if not self._closed:
            self._start().result()
        self._blocks += 1
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._blocks -= 1
        self.close()

    async def __aenter__(self) -> Taps:
        import asyncio  # It takes a while, and who has no event loop needs none of it.

        if not self._closed:
            await asyncio.wrap_future(self._start())
        self._blocks += 1
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._blocks -= 1
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_started"):
            self.close()


class _AsyncLoop:
    """One ``async for``. A wait for a single tap, as in ``asyncio.wait_for(taps.__anext__(), 5)``, is no loop: the next one
    follows, and the cards that come in between are meant for it.
    """

    def __init__(self, taps: Taps) -> None:
        self._taps = taps

    def __aiter__(self) -> _AsyncLoop:
        return self

    async def __anext__(self) -> TapEvent:
        try:
            return await self._taps.__anext__()
        except StopAsyncIteration:
            raise
        except BaseException:
            self._taps._interrupted()
            raise


class Feed:
    """Passes the taps of a connection to all who loop over them, and subscribes as long as somebody does."""

    def __init__(self) -> None:
        self.connection: Connection
        self._lock = threading.RLock()
        self._queues: set[_Queue] = set()
        self._params: Mapping[str, Any] = {}
        self._last: Optional[Future[Any]] = None
        # Subscriptions are numbered: what one still sends after its end is for nobody, least of all for the next one.
        self._subscription = 0
        self._answered = 0

    @property
    def failure(self) -> Optional[ProgramError]:
        """Why there will be no more taps."""
        return self.connection.failure

    def add(self, queue: _Queue, params: Mapping[str, Any]) -> Future[Any]:
        """Begins to collect taps. The answer tells whether the readers can be watched."""
        with self._lock:
            if self._queues and params != self._params:
                raise ValueError("the taps of this client are being read with other settings; close those first")
            is_first = not self._queues
            self._queues.add(queue)
            if is_first:
                self._params = params
                self._subscription += 1
                self._last = self._after_last("taps.subscribe", params, self._subscription)
            assert self._last is not None
            return self._last

    def remove(self, queue: _Queue) -> None:
        """Ends the subscription with the last of those who loop."""
        with self._lock:
            if queue not in self._queues:
                return
            self._queues.remove(queue)
            if not self._queues:
                self._answered = 0
                if self.failure is None:
                    self._last = self._after_last("taps.unsubscribe", {})

    def _after_last(self, method: str, params: Mapping[str, Any], subscription: int = 0) -> Future[Any]:
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
            with self._lock:
                # The end of the one before is answered, so that what comes from here on is of this one.
                if subscription == self._subscription and self._queues:
                    self._answered = subscription
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
        if method != "tap":
            return
        with self._lock:
            queues = list(self._queues) if self._answered else []
        for queue in queues:
            queue.put(params)

    def end(self) -> None:
        """Wakes those who loop, for the connection has ended."""
        with self._lock:
            queues = list(self._queues)
        for queue in queues:
            queue.wake()
