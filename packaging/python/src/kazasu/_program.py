# SPDX-License-Identifier: Apache-2.0
"""Where the program is."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Optional

from ._error import ProgramError

#: The wheel has the programs here.
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")


def inside(name: str) -> Optional[str]:
    """A program of this package, or None if it has been installed without programs."""
    path = os.path.join(FOLDER, name)
    return path if os.access(path, os.X_OK) else None


def find() -> str:
    """The program to use: the one that ``KAZASU_PROGRAM`` names, else the one of this package, else the one on the PATH."""
    path = os.environ.get("KAZASU_PROGRAM") or inside("kazasu") or shutil.which("kazasu")
    if path is None:
        raise ProgramError(
            "the program kazasu is not installed",
            status=66,
            hint="install a wheel with the programs inside, or Kazasu itself, or set KAZASU_PROGRAM",
        )
    return path


def _run(name: str) -> int:
    path = inside(name)
    if path is None:
        # Not from the PATH: that would be this script.
        print(f"{name}: this installation of the Python package has no programs inside", file=sys.stderr)
        return 66
    os.execv(path, [name, *sys.argv[1:]])
    return None


def kazasu() -> int:
    """Becomes the program ``kazasu``."""
    return _run("kazasu")


def kazasud() -> int:
    """Becomes the program ``kazasud``."""
    return _run("kazasud")
