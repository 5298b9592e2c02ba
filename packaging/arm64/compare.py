#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py NATIVE ARM64 ROOT…: runs hundreds of commands with the native program and with the one for arm64 under qemu,
on the libraries below each ROOT, and fails when a status, an output or an error output differs.

NATIVE and ARM64 are folders with kazasu and kazasud. The first root gets all commands, the others every fifth. Then
watch, rpc and serve of each kind have to send the same (services.py)."""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

import services

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FIXTURES = os.path.join(TOP, "Fixtures")
PROCESSOR = "cortex-a72"
# Test data: the keys of the virtual Lite-S cards.
KEYS = {"KEY": "37363534333231306665646362613938", "MASTER": bytes(range(24)).hex()}
PROFILE = """{"schema": "kazasu.liteProfile/1", "keyVersion": "0002", "ndef": false, "blocks": {"0": "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"},
 "readOnly": [0], "macToWrite": [1, 2], "lock": true}"""


def cards():
    """The dumps of the fixtures' cards."""
    folder = os.path.join(FIXTURES, "cards")
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name, "card.json")
        if os.path.exists(path):
            yield path


def files(folder):
    """The files below a folder of the fixtures, without notes."""
    for place, _, names in sorted(os.walk(os.path.join(FIXTURES, folder))):
        yield from (os.path.join(place, name) for name in sorted(names) if not name.endswith(".md"))


def commands():
    """The command lines."""
    for card in cards():
        virtual = ["-r", "virtual:" + card]
        for language in ("en", "ja"):
            yield ["decode", card, "--lang", language]
        yield ["decode", card, "--json"]
        for form in (["--json"], ["--format", "csv"], ["--lang", "ja"]):
            yield ["history", card, *form]
        yield ["balance", card, "--all"]
        yield ["dump", *virtual]
        yield ["scan", *virtual, "--json"]
        yield ["balance", *virtual, "--json"]
    for path in files("virtual"):
        virtual = ["-r", "virtual:" + path, "-t", "0"]
        for command in ("poll", "dump", "tag info", "tag read"):
            yield [*command.split(), *virtual, "--json"]
    for path in files("formats"):
        yield ["decode", path]
        yield ["convert", path, "--to", "hex"]
    for card in ("lite-s", "lite-s-issued"):
        virtual = ["-r", "virtual:" + os.path.join(FIXTURES, "felica", card + ".json")]
        for form in ([], ["--lang", "ja"], ["--json"], ["--redact"]):
            yield ["lite", "info", *virtual, *form]
        for key in (["--key-from", "env:KEY"], ["--master-key-from", "env:MASTER"], ["--key-from", "env:NONE"], []):
            yield ["lite", "verify", *virtual, *key, "--json"]
        yield ["lite", "issue", *virtual, "--profile", "PROFILE", "--key-from", "env:KEY", "--dry-run"]
    yield ["lite", "info", "-r", "virtual:" + next(cards())]
    for wrong in (["--port", "x"], ["--port", "0"], ["--pin", "1234"], ["now"]):
        yield ["bridge", *wrong]
    for wrong in (["--listen", "localhost"], ["--listen", "0.0.0.0:0"], ["--allow", "everything"], ["--token-from", "secret"]):
        yield ["serve", *wrong, "--json"]
    yield ["rpc", "--describe"]
    yield ["rpc", "--speed", "1"]
    for command in ("balance", "history", "watch", "ledger", "ledger export", "dump", "tag write", "collect", "rpc", "serve", "bridge",
                    "lite", "lite info", "lite verify", "lite issue", "lite resume", "outbox"):
        for language in ("en", "ja"):
            yield [*command.split(), "--help", "--lang", language]
    for shell in ("bash", "zsh", "fish"):
        yield ["completion", shell]
    yield ["--version"]
    yield ["balanse"]
    yield ["balance", "--card", "siuca"]
    yield ["balance", "-r", "nothing:"]
    yield ["decode", "/nonexistent"]
    yield ["stations", "lookup", "0-227-59"]
    for what in ("list", "sum", "cards", "gaps"):
        for form in ("text", "json", "csv"):
            yield ["LEDGER", what, "--format", form]
    for form in ("csv", "zaim", "ofx", "qif", "hledger", "beancount"):
        yield ["LEDGER", "export", form]
    yield ["LEDGER", "report", "-o", "-"]


class Program:
    """The programs of one kind, with a ledger of their own."""

    def __init__(self, start, folder, work):
        self.start, self.folder, self.work = start, folder, work
        os.makedirs(work, exist_ok=True)
        self.ledger = os.path.join(work, "ledger.sqlite")
        self.profile = os.path.join(work, "profile.json")
        with open(self.profile, "w", encoding="utf-8") as file:
            file.write(PROFILE)

    def run(self, command):
        """Status, output and error output."""
        if command[0] == "LEDGER":
            command = ["ledger", *command[1:], "--ledger", self.ledger]
        # kazasu replaces itself by kazasud, which the kernel cannot run for another processor.
        second = command[0] in ("ledger", "watch", "collect", "outbox", "rpc", "serve", "bridge")
        program = os.path.join(self.folder, "kazasud" if second else "kazasu")
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.work, "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", **KEYS}
        command = [self.profile if word == "PROFILE" else word for word in command]
        done = subprocess.run([*self.start, program, *command], capture_output=True, env=environment, check=False,
                              stdin=subprocess.DEVNULL, timeout=120, cwd=TOP)
        return done.returncode, self.clean(done.stdout), self.clean(done.stderr)

    def clean(self, output):
        """An output without what differs by its nature: this program's folder, times, and names of pseudo-terminals."""
        text = output.decode(errors="backslashreplace").replace(self.work, "WORK")
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d|Z)", "TIME", text)
        return re.sub(r"/dev/pts/\d+", "PTS", text)

    def keep(self):
        """Fills the ledger."""
        return self.run(["ledger", "import", *cards(), "--ledger", self.ledger])


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    native, other, *roots = sys.argv[1:]
    lines = list(commands())
    failed = False
    with tempfile.TemporaryDirectory() as work:
        reference = Program([], native, os.path.join(work, "native"))
        first = reference.keep()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            expected = list(pool.map(reference.run, lines))
            sent = [(service.__name__, service, service(reference)) for service in (services.watch, services.rpc, services.serve)]
            assert all(len(part) > 2 for part in sent[0][2][1:]), sent[0]
            for index, root in enumerate(roots):
                start = ["qemu-aarch64-static", "-cpu", PROCESSOR, "-L", root]
                program = Program(start, other, os.path.join(work, f"arm64-{index}"))
                wanted = list(zip(lines, expected))[:: 1 if index == 0 else 5]
                differing = [] if program.keep() == first else [(["ledger", "import"], first, program.keep())]
                answers = pool.map(program.run, [line for line, _ in wanted])
                differing += [(line, one, two) for (line, one), two in zip(wanted, answers) if one != two]
                for line, one, two in differing:
                    print("differs:", " ".join(line), one[0], two[0], one[2][:200], two[2][:200], sep="\n    ")
                print(f"{os.path.basename(root)}: {len(wanted) + 1} commands, {len(differing)} differ")
                for name, service, wanted in sent:
                    answer = service(program)
                    same = answer == wanted
                    print(f"{os.path.basename(root)}: {name} {'sent the same' if same else services.difference(wanted, answer)}")
                    failed = failed or not same
                failed = failed or bool(differing)
    sys.exit(failed)


if __name__ == "__main__":
    main()
