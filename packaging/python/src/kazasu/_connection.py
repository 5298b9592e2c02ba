# SPDX-License-Identifier: Apache-2.0
"""JSON-RPC 2.0 with a process of ``kazasu rpc``: one message a line on its standard input and output."""

from __future__ import annotations

import collections
import contextlib
import itertools
import json
import logging
import os
import queue
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, BinaryIO, Callable, Optional

from ._error import KazasuError, ProgramError
from ._reasons import REASONS

PROTOCOL = 1
Progress = Callable[[int, Optional[int]], None]
"""Called with how much is done, and how much there is in all, 0 if nobody knows."""

_log = logging.getLogger("kazasu")
# The program takes lines of up to 8 MiB. It never writes as much as the other limit.
_LONGEST_REQUEST = 8 * 1024 * 1024
_LONGEST_MESSAGE = 256 * 1024 * 1024
# How long a program that was asked to end may take, in seconds.
_PATIENCE = 3.0
_HELLO = 1
_CANCELLED = -32800
_COMMAND_FAILED = -32000


class Connection:
    """A process, and who waits for which of its answers. Every method may be called from any thread.

    Three threads of its own read, write and log, so that no caller waits for a pipe: an event loop could not.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        pass_fds: Sequence[int],
        on_notification: Callable[[str, Any], None],
        on_end: Callable[[], None],
    ) -> None:
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                pass_fds=tuple(pass_fds),
                # Ctrl-C is for the program that called: it cancels what it waits for, and may go on.
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramError(f"{command[0]} does not start: {error.strerror}", status=66) from error
        self._owner = os.getpid()
        self._on_notification = on_notification
        self._on_end = on_end
        # A lock of the garbage collector's, too: it may end an iteration, which asks, wherever memory is taken.
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._pending: dict[int, Future[Any]] = {}
        self._progress: dict[int, Progress] = {}
        self._failure: Optional[ProgramError] = None
        self._closing = False
        self._outgoing: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._notes: collections.deque[str] = collections.deque(maxlen=20)
        self._threads = [
            threading.Thread(target=target, args=(pipe,), name=f"kazasu-{name}", daemon=True)
            for name, target, pipe in (
                ("write", self._write, self._process.stdin),
                ("log", self._keep_notes, self._process.stderr),
                ("read", self._read, self._process.stdout),
            )
        ]
        for thread in self._threads:
            thread.start()
        #: What the program says about itself. A program of another protocol ends the connection.
        self.hello = self.request("initialize", {})

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def closing(self) -> bool:
        """Whether `close` was called."""
        return self._closing

    @property
    def failure(self) -> Optional[ProgramError]:
        """Why there will be no more answers; None as long as there may be."""
        if os.getpid() != self._owner:
            return ProgramError("a client belongs to the process that made it: make one after a fork")
        return ProgramError("the client is closed") if self._closing else self._failure

    def must_not_wait(self) -> None:
        """Raises where waiting for an answer would be waiting forever."""
        if threading.current_thread() is self._threads[2]:
            raise RuntimeError("a callback of a client must not wait for that client, which reads on after the callback")

    # --- requests ---------------------------------------------------------------------------------------------------

    def request(self, method: str, params: Mapping[str, Any], progress: Optional[Progress] = None) -> Future[Any]:
        """Sends a request. Cancelling the future of its result cancels the request, also what it does on the reader."""
        number = next(self._numbers)
        line = self._encoded({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        future: Future[Any] = Future()
        with self._lock:
            failure = self.failure
            if failure is not None:
                raise failure
            self._pending[number] = future
            if progress is not None:
                self._progress[number] = progress
            self._outgoing.put(line)
        future.add_done_callback(lambda done: self._forget(number, done))
        return future

    @staticmethod
    def _encoded(message: Mapping[str, Any]) -> bytes:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        line = text.encode("utf-8") + b"\n"
        if len(line) > _LONGEST_REQUEST:
            raise ValueError(f"a request of {len(line)} bytes is longer than the program takes")
        return line

    def _forget(self, number: int, future: Future[Any]) -> None:
        with self._lock:
            self._progress.pop(number, None)
            asked = self._pending.pop(number, None) is not None
            if asked and future.cancelled() and self._failure is None:
                self._outgoing.put(self._cancellation(number))

    def _cancellation(self, number: int) -> bytes:
        return self._encoded({"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": number}})

    def _write(self, pipe: BinaryIO) -> None:
        # A broken pipe is the end of the program, which the reading thread reports.
        with contextlib.suppress(OSError, ValueError):
            while True:
                line = self._outgoing.get()
                if line is None:
                    break
                pipe.write(line)
                if self._outgoing.empty():
                    pipe.flush()
        with contextlib.suppress(OSError, ValueError):
            pipe.close()

    # --- answers ----------------------------------------------------------------------------------------------------

    def _read(self, pipe: BinaryIO) -> None:
        problem = None
        try:
            while True:
                line = pipe.readline(_LONGEST_MESSAGE)
                if not line:
                    break
                self._take(line)
        except ProgramError as error:
            problem = error
        except Exception as error:  # Whatever it is: those who wait must not wait forever.
            problem = ProgramError(f"the program's answers cannot be read: {error}")
        self._end(problem)

    def _take(self, line: bytes) -> None:
        """Handles one message."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise ProgramError("the program said something that is no message: is it kazasu rpc?")
        number, method = message.get("id"), message.get("method")
        if isinstance(method, str):
            self._notice(method, message.get("params"))
        elif isinstance(number, int) and not isinstance(number, bool):
            with self._lock:
                future = self._pending.pop(number, None)
            # A request that was cancelled here is answered, too.
            if future is not None and future.set_running_or_notify_cancel():
                if "error" in message:
                    future.set_exception(failure_of(message["error"]))
                else:
                    future.set_result(message.get("result"))
            if number == _HELLO:
                self._check(message)
        elif "error" in message:
            # Without an id nobody knows which request was not understood.
            raise ProgramError(f"the program did not understand a request: {failure_of(message['error'])}")

    @staticmethod
    def _check(hello: Mapping[str, Any]) -> None:
        result = hello.get("result")
        protocol = result.get("protocol") if isinstance(result, dict) else None
        if protocol != PROTOCOL:
            raise ProgramError(
                f"the program speaks version {protocol} of the protocol, this package version {PROTOCOL}",
                hint="update the older one of the two",
            )

    def _notice(self, method: str, params: Any) -> None:
        try:
            if method != "progress":
                self._on_notification(method, params)
            elif isinstance(params, dict):
                with self._lock:
                    progress = self._progress.get(params.get("id", 0))
                if progress is not None:
                    progress(params["done"], params["total"])
        except Exception:
            # A callback of the caller must not stop the answers of others.
            _log.exception("a notification was not handled")

    # --- the end ----------------------------------------------------------------------------------------------------

    def _keep_notes(self, pipe: BinaryIO) -> None:
        for line in pipe:
            text = line.decode("utf-8", "replace").rstrip()
            self._notes.append(text)
            _log.info("%s", text)

    def _end(self, problem: Optional[ProgramError]) -> None:
        """Nothing more will be answered."""
        status = self._stop(at_once=problem is not None)
        self._threads[1].join(_PATIENCE)
        if problem is None:
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
            # Standard error says why, as that of a version that has no rpc.
            said = "".join(f"; {note}" for note in self._notes) if status else ""
            problem = ProgramError(f"the program {how}{said}", status=status if status > 0 else 70)
        with self._lock:
            self._failure = problem
            pending = list(self._pending.values())
            self._pending.clear()
            self._progress.clear()
        self._outgoing.put(None)
        self._give_up(pending, problem)
        self._on_end()

    @staticmethod
    def _give_up(pending: Iterable[Future[Any]], problem: ProgramError) -> None:
        for future in pending:
            if future.set_running_or_notify_cancel():
                future.set_exception(problem)

    def _stop(self, at_once: bool) -> int:
        """Waits for the process, which has closed its output; ends it if it does not end."""
        if not at_once:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(_PATIENCE)
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(_PATIENCE)
        self._process.kill()
        return self._process.wait()

    def close(self) -> None:
        """Cancels what was asked for and ends the process; done when this returns. Harmless when repeated."""
        if os.getpid() != self._owner:
            return
        with self._lock:
            self._closing = True
            pending = dict(self._pending)
            self._pending.clear()
            for number in pending:
                self._outgoing.put(self._cancellation(number))
            self._outgoing.put(None)
        self._give_up(pending.values(), ProgramError("the client is closed"))
        if threading.current_thread() is self._threads[2]:
            return
        self._threads[2].join(_PATIENCE)
        if self._threads[2].is_alive():
            self._process.terminate()
            self._threads[2].join(_PATIENCE)
        if self._threads[2].is_alive():
            self._process.kill()
            self._threads[2].join()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


def failure_of(error: Any) -> KazasuError:
    """The exception of an error of JSON-RPC."""
    error = error if isinstance(error, dict) else {}
    data = error.get("data")
    data = data if isinstance(data, dict) else {}
    code = error.get("code")
    status = data.get("status")
    if not isinstance(status, int):
        status = _COMMAND_FAILED - code if isinstance(code, int) and -32256 <= code < -32000 else 70
    reason = data.get("reason")
    if not isinstance(reason, str):
        reason = "interrupted" if code == _CANCELLED else "usage" if code == -32602 else "unknown"
    message = data.get("message") or error.get("message")
    hint = data.get("hint")
    kind = REASONS.get(reason, KazasuError)
    return kind(
        message if isinstance(message, str) else reason,
        reason=reason,
        status=status,
        hint=hint if isinstance(hint, str) else None,
        partial=document(data.get("partial")),
    )


def document(value: Any) -> Any:
    """A document as the object of its class; anything else as it is."""
    from ._documents import DOCUMENTS

    kind = DOCUMENTS.get(value.get("schema", "")) if isinstance(value, dict) else None
    if kind is None:
        return value
    try:
        return kind.from_json(value)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        _log.warning("a document of schema %s has not the form of this version: %r", value.get("schema"), error)
        return value


def environment(extra: Optional[Mapping[str, str]]) -> dict[str, str]:
    """The variables of the process: those of this one, with some more."""
    variables: dict[str, str] = {**os.environ, **(extra or {})}
    # It says which program to start and means nothing to the program itself.
    variables.pop("KAZASU_PROGRAM", None)
    # Its messages then name functions and parameters as they are in Python.
    variables["KAZASU_CALLER"] = "python"
    return variables


__all__: list[str] = ["PROTOCOL", "Connection", "Progress", "document", "environment", "failure_of"]
