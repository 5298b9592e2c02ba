# SPDX-License-Identifier: Apache-2.0
"""The base of the exceptions."""

from __future__ import annotations

from typing import Any, Optional


class KazasuError(Exception):
    """A command failed. There is a subclass for each ``reason``, such as `NoCardError` for ``noCard``."""

    reason: str = "unknown"
    """Why, as one word that does not change with the language."""
    status: int = 70
    """The exit status that the command would have had, as in sysexits.h."""
    hint: Optional[str] = None
    """What to do about it, if something is known to help."""
    partial: Any = None
    """What was read all the same: the document of the command, marked incomplete."""

    def __init__(
        self,
        message: str = "",
        *,
        reason: Optional[str] = None,
        status: Optional[int] = None,
        hint: Optional[str] = None,
        partial: Any = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        if reason is not None:
            self.reason = reason
        if status is not None:
            self.status = status
        self.hint = hint
        self.partial = partial

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # With keyword arguments, an exception would not survive pickling.
        state: dict[str, Any] = {
            "reason": self.reason,
            "status": self.status,
            "hint": self.hint,
            "partial": self.partial,
        }
        return type(self), (self.message,), state


class ProgramError(KazasuError):
    """The program ``kazasu`` is missing, did not start, ended while it was needed, or said something that is no answer."""

    reason = "program"
