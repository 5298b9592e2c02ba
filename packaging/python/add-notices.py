#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""add-notices.py TREE [ROOT]: adds to an unpacked wheel the licences of the libraries that auditwheel has put in, which are
those of the Debian in ROOT, of this one without it, and how to replace them. Packages have the same names in both.
"""

import gzip
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = sys.argv[2].rstrip("/") if len(sys.argv) > 2 else ""
DOCS = pathlib.Path(ROOT + "/usr/share/doc")
COMMON = pathlib.Path(ROOT + "/usr/share/common-licenses")

NOTICE = """\
Libraries of others
===================

kazasu.libs holds the libraries below, unmodified but for their names and for where they look for each other (patchelf). They
come from Debian; DEBIAN-PACKAGE.txt beside this file is the copyright notice of each, and the licences that it names are here
too. The source of each is the Debian source package of that version: `apt-get source PACKAGE=VERSION`, or snapshot.debian.org.
The archive's libexpat.so.1 may be Debian's libexpat.a, linked with getrandom for its random numbers.

libnfc, libusb and several others are under the GNU Lesser General Public License. You may replace each of them: put your own
build in its place, under the same file name. The programs look for them by that name in kazasu.libs (DT_RPATH
$ORIGIN/../../kazasu.libs) and check nothing else. You may reverse engineer the programs to debug such a change.

"""


def packages(libraries):
    """The Debian packages of the libraries, with their versions. auditwheel's own list lacks those below /lib."""
    found = {}
    for library in libraries:
        name = re.sub(r"-[0-9a-f]{8}(?=\.)", "", library)
        owners = [line.split(":")[0] for line in query("--search", f"*/{name}").splitlines()
                  if re.search(r": (/usr)?/lib/[^/]*/[^/]*$", line)]
        if not owners:
            sys.exit(f"{library}: no Debian package is known to have {name}")
        found[owners[0]] = version(owners[0])
    return found


def version(package):
    """The version of a package; a root whose packages were only unpacked has it in the changelog of each."""
    if not ROOT:
        return query("--show", "--showformat=${Version}", package)
    # One that was only compiled again has another changelog, for its architecture.
    for file in sorted((DOCS / package).glob("changelog.Debian*.gz"), key=lambda path: -len(path.name)):
        with gzip.open(file, "rt", encoding="utf-8") as changelog:
            return re.search(r"\((\S+)\)", changelog.readline())[1]
    sys.exit(f"{package}: {ROOT} does not have its changelog")


def query(*words):
    """What the package manager knows."""
    return subprocess.run(["dpkg-query", *words], capture_output=True, text=True, check=True).stdout


def main():
    tree = pathlib.Path(sys.argv[1])
    libraries = sorted(path.name for path in tree.glob("kazasu.libs/*"))
    found = packages(libraries)
    (folder,) = tree.glob("*.dist-info")
    licenses = folder / "licenses"
    wanted, added = set(), []
    for name in sorted(found):
        text = (DOCS / name / "copyright").read_text(encoding="utf-8")
        (licenses / f"{name}.txt").write_text(text, encoding="utf-8")
        added.append(f"{name}.txt")
        wanted |= set(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text))
    for name in sorted(wanted):
        if (COMMON / name).exists():
            shutil.copyfile(COMMON / name, licenses / f"{name}.txt")
            added.append(f"{name}.txt")
    lines = [f"{name} {version}" for name, version in sorted(found.items())]
    # What is linked into the programs themselves.
    shutil.copyfile(pathlib.Path(__file__).parent.parent / "debian" / "copyright", licenses / "PROGRAMS.txt")
    added.append("PROGRAMS.txt")
    text = NOTICE + "Debian packages:\n\n" + "".join(f"    {line}\n" for line in lines)
    text += "\nFiles:\n\n" + "".join(f"    {name}\n" for name in libraries)
    (licenses / "LIBRARIES.txt").write_text(text, encoding="utf-8")
    added.append("LIBRARIES.txt")
    metadata = (folder / "METADATA").read_text(encoding="utf-8")
    entries = "".join(f"License-File: {name}\n" for name in sorted(added))
    (folder / "METADATA").write_text(metadata.replace("License-File: NOTICE\n", f"License-File: NOTICE\n{entries}", 1),
                                     encoding="utf-8")


if __name__ == "__main__":
    main()
