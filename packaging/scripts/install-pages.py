#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""install-pages.py ROOT PREFIX, or --check: puts the documents for users and the samples below ROOT, which will be PREFIX.

Links and paths lead to what is installed: a sample of Fixtures becomes its absolute path, a link to what only the source has
becomes its words. Fails when a page names what is not there. --check does that in a temporary folder, and looks at the pages
that the program names as Docs/NAME.
"""

import glob
import os
import re
import shutil
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
HOME = "share/doc/kazasu"
EXAMPLES = HOME + "/examples"
# What the pages try, and where it is installed.
SAMPLES = {
    "Fixtures/cards/suica-p1/card.json": EXAMPLES + "/transit-card.json",
    "Fixtures/iso7816/license/sample.json": EXAMPLES + "/license.json",
    "Fixtures/iso7816/license/last-try.json": EXAMPLES + "/license-last-try.json",
    "Fixtures/iso7816/mynumber/card.json": EXAMPLES + "/my-number.json",
    "Fixtures/iso7816/mynumber/face.json": EXAMPLES + "/my-number-face.json",
    "Fixtures/iso7816/mynumber/authority.bin": EXAMPLES + "/my-number-authority.bin",
    "Fixtures/iso7816/residence/second.json": EXAMPLES + "/residence-card.json",
    "Fixtures/iso7816/residence/authorities.pem": EXAMPLES + "/residence-authorities.pem",
    "Fixtures/iso7816/passport/card.json": EXAMPLES + "/passport.json",
    "Fixtures/iso7816/passport/authority.der": EXAMPLES + "/passport-authority.der",
    "Fixtures/iso7816/passport/chip-pace.json": EXAMPLES + "/passport-chip.json",
    "Fixtures/iso7816/passport/chip-authority.der": EXAMPLES + "/passport-chip-authority.der",
    "Fixtures/felica/express-phone.json": EXAMPLES + "/express-phone.json",
    "Fixtures/felica/lite-s.json": EXAMPLES + "/lite-s.json",
    "Fixtures/felica/standard-keys.json": EXAMPLES + "/felica-standard.json",
    "Fixtures/felica/standard-keys.txt": EXAMPLES + "/felica-standard-keys.txt",
    "Fixtures/felica/standard-blank.json": EXAMPLES + "/felica-blank.json",
    "Fixtures/provision/standard-profile.json": EXAMPLES + "/felica-profile.json",
    "Fixtures/provision/standard-seller-keys.txt": EXAMPLES + "/felica-seller-keys.txt",
    "Fixtures/provision/standard-issued-keys.txt": EXAMPLES + "/felica-issued-keys.txt",
    "Fixtures/tags/ntag213.json": EXAMPLES + "/tag.json",
    "Fixtures/virtual/ntag213-signed.json": EXAMPLES + "/tag-signed.json",
    "Fixtures/virtual/ntag424-factory.json": EXAMPLES + "/ntag424.json",
    "Fixtures/provision/desfire-plan.json": EXAMPLES + "/desfire-plan.json",
    "Fixtures/provision/desfire-keys.txt": EXAMPLES + "/desfire-keys.txt",
    "Fixtures/virtual/desfire-factory.json": EXAMPLES + "/desfire-factory.json",
    "Fixtures/provision/ntag424-plan.json": EXAMPLES + "/ntag424-plan.json",
    "Fixtures/provision/ntag424-keys.txt": EXAMPLES + "/ntag424-keys.txt",
    "Fixtures/virtual/classic-1k.json": EXAMPLES + "/classic.json",
    "Fixtures/virtual/desfire.json": EXAMPLES + "/desfire.json",
    "packaging/watch.yaml.example": EXAMPLES + "/watch.yaml",
    "packaging/serve.yaml.example": EXAMPLES + "/serve.yaml",
    "packaging/mosquitto/kazasu.conf": EXAMPLES + "/mosquitto/kazasu.conf",
    "packaging/mosquitto/kazasu.acl": EXAMPLES + "/mosquitto/kazasu.acl",
}
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()#\s]*)(#[^()\s]*)?\)")
# A file of the source's folders that are not installed as they are.
FILE = re.compile(r"(?<![\w/.])(?:Fixtures|packaging)/[\w./-]*\.[a-z]+\b")


def places():
    """The source of each file, and its place below the root; the same for their folders."""
    patterns = ["README*.md", "CHANGELOG.md", "NOTICE", "Docs/*.md", "Docs/recipes/*.md", "Docs/schemas/*.json",
                "Docs/examples/Package.swift", "Docs/examples/*/*.swift"]
    names = [name for pattern in patterns for name in glob.glob(pattern, root_dir=TOP)]
    files = {name: f"{HOME}/{name}" for name in sorted(names)} | SAMPLES
    for unit in glob.glob("packaging/systemd/*.service", root_dir=TOP):
        files[unit] = "lib/systemd/system/" + os.path.basename(unit)
    folders = {}
    for source, place in files.items():
        source, place = os.path.dirname(source), os.path.dirname(place)
        while source and os.path.basename(source) == os.path.basename(place):
            folders[source] = place
            source, place = os.path.dirname(source), os.path.dirname(place)
    return files, folders


def page(text, source, files, folders, prefix):
    """The text of one page as it is installed."""
    here = os.path.dirname(files[source])

    def link(found):
        words, target, anchor = found[1], found[2], found[3] or ""
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        wanted = os.path.normpath(os.path.join(os.path.dirname(source), target))
        place = files.get(wanted) or folders.get(wanted)
        if place:
            return f"[{words}]({os.path.relpath(place, here)}{anchor})"
        return words if os.path.basename(wanted) in words else f"{words} (`{wanted}`)"

    text = LINK.sub(link, text)
    return FILE.sub(lambda found: f"{prefix}/{files[found[0]]}" if found[0] in files else found[0], text)


def wrong(root, prefix, pages):
    """What the installed pages name and is not there."""
    for name in pages:
        with open(os.path.join(root, name), encoding="utf-8") as file:
            text = file.read()
        for _, target, _ in LINK.findall(text):
            if target and not re.match(r"[a-z]+:", target):
                path = os.path.normpath(os.path.join(root, os.path.dirname(name), target))
                if not os.path.exists(path):
                    yield f"{name}: link to {target}"
        for path in re.findall(rf"(?<![\w.]){re.escape(prefix)}/((?:share/doc|lib/systemd/system)/[\w./-]*\w)", text):
            if not os.path.exists(os.path.join(root, path)):
                yield f"{name}: {prefix}/{path}"
        # What only the source has may be named as a folder, and never as what a command reads.
        for path in re.findall(r"(?:virtual:|[<= ])Fixtures/\S*", text):
            yield f"{name}: {path}"


def named_by_the_program(files):
    """The pages that messages and help name."""
    for path in glob.glob("Sources/**/*.swift", root_dir=TOP, recursive=True):
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                code = line.partition("//")[0]
                found = re.findall(r"\bDocs/[\w/-]+(?:\.ja)?\.md", code)
                found += ["Docs/" + name for name in re.findall(r'\bDocuments\.path\("([^"]*)"\)', code)]
                for name in found:
                    if name not in files:
                        yield f"{path}:{number}: {name}"


def install(root, prefix):
    """Installs everything and returns what is wrong."""
    files, folders = places()
    pages = []
    for source, place in files.items():
        if place.startswith("lib/"):
            continue
        target = os.path.join(root, place)
        os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
        if source.endswith(".md"):
            with open(os.path.join(TOP, source), encoding="utf-8") as file:
                text = page(file.read(), source, files, folders, prefix)
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
            pages.append(place)
        else:
            shutil.copyfile(os.path.join(TOP, source), target)
        os.chmod(target, 0o644)
    return list(wrong(root, prefix, pages)) + list(named_by_the_program(files))


def main():
    if sys.argv[1:] == ["--check"]:
        with tempfile.TemporaryDirectory() as root:
            for unit in glob.glob(os.path.join(TOP, "packaging/systemd/*.service")):
                os.makedirs(os.path.join(root, "lib/systemd/system"), exist_ok=True)
                shutil.copy(unit, os.path.join(root, "lib/systemd/system"))
            breaches = install(root, "/usr")
    else:
        breaches = install(*sys.argv[1:])
    if breaches:
        sys.exit("\n".join("not there after an install: " + breach for breach in breaches))


if __name__ == "__main__":
    main()
