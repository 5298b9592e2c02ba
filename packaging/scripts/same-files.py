#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same-files.py INSTALLED PACKAGED: fails unless both folders have the same files with the same bytes and rights, but for
what Debian has its own place or form for."""

import gzip
import os
import sys

# Debian's place for a file of `make install`.
PLACES = {
    "share/zsh/site-functions/_kazasu": "share/zsh/vendor-completions/_kazasu",
}
# Debian's changelog is made from the one; its base-passwd has the groups of the other.
NOT_PACKAGED = {"share/doc/kazasu/CHANGELOG.md", "lib/sysusers.d/kazasu.conf"}
# What only packages have.
OWN = ("/copyright", "/changelog", "share/lintian/overrides/", "share/doc/kazasu-service")


def files(root):
    """The files below a folder: rights and bytes, without compression."""
    found = {}
    for place, _, names in os.walk(root):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                data = file.read()
            relative = os.path.relpath(path, root)
            if relative.endswith(".gz"):
                relative, data = relative[:-3], gzip.decompress(data)
            found[relative] = (os.stat(path).st_mode & 0o777, data)
    return found


def main():
    installed = {PLACES.get(path, path): what for path, what in files(sys.argv[1]).items() if path not in NOT_PACKAGED}
    packaged = files(sys.argv[2])
    wrong = [f"only installed: {path}" for path in installed.keys() - packaged.keys()]
    wrong += [f"only packaged: {path}" for path in packaged.keys() - installed.keys()
              if not any(part in path for part in OWN)]
    wrong += [f"differs: {path}" for path in installed.keys() & packaged.keys() if installed[path] != packaged[path]]
    print("\n".join(sorted(wrong)) or f"{len(installed)} files are the same, installed or packaged")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
