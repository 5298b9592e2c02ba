# SPDX-License-Identifier: Apache-2.0
"""What the data classes of the documents have in common.

They are made once by generate.py instead of by each start of Python: 125 classes that `dataclasses` writes itself take
longer to import than a card to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any


class Document:
    """A part of a document: its members cannot be changed, and two with equal members are equal."""

    json: Mapping[str, Any]

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to {name}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete {name}")

    def _members(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "json"}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Document) and self._members() == other._members()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        known = (f"{name}={value!r}" for name, value in self._members().items() if value is not None)
        return f"{type(self).__name__}({', '.join(known)})"
