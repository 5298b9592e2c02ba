#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readme-commands.py README LOCALE: runs every command of a README's blocks with the installed kazasu and a virtual card,
compares the outputs that it shows, and fails at a status that it does not explain."""

import os
import re
import subprocess
import sys
import tempfile

CARD = "/usr/share/doc/kazasu/examples/transit-card.json"
# What a line that has one of these words may end with: there is no reader, udev, terminal or desktop.
STATUSES = [("doctor --fix", {0, 73}), ("contribute --yes", {0, 69}), ("doctor", {0, 69}), ("| head", {0, 141}), ("notify-send", {0, 1, 127}), ("grep", {0, 1})]
# What runs until it is stopped, or sets a machine up.
OTHERS = re.compile(r"^(?:sudo )?(?:make|apt|apt-get|git|cd|swift|pip|pipx|npm)\b|\bkazasu (?:watch|collect|serve|rpc|bridge)\b")


def blocks(text):
    """The commands of each block, with what is shown below them or None."""
    for kind, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        lines = block.replace("\\\n", "").split("\n")[:-1]
        commands = []
        if kind == "sh":
            commands = [(line, None) for line in lines if line and not line.startswith("#")]
        elif kind == "console":
            for line in lines:
                if line.startswith("$ "):
                    commands.append((line[2:], ""))
                else:
                    commands[-1] = (commands[-1][0], commands[-1][1] + line + "\n")
        yield [command for command in commands if not OTHERS.search(command[0])]


def main():
    document, locale = sys.argv[1:]
    with open(document, encoding="utf-8") as file:
        text = file.read()
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "KAZASU_READER": "virtual:" + CARD, "LC_ALL": locale,
                       "KAZASU_LEDGER": os.path.join(folder, "ledger.sqlite")}
        for name in ("card", "before", "after"):
            with open(CARD, "rb") as source, open(os.path.join(folder, name + ".json"), "wb") as target:
                target.write(source.read())
        for command, shown in (command for block in blocks(text) for command in block):
            count += 1
            line = re.sub(r"\bsudo ", "", command)
            done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=120, check=False)
            allowed = next((statuses for word, statuses in STATUSES if word in line), {0})
            if done.returncode not in allowed or (shown is not None and done.stdout != shown):
                wrong.append(f"{line}\n    status {done.returncode}\n{done.stdout}{done.stderr}")
    print("\n".join(wrong + [f"{document}: {count} commands, {len(wrong)} wrong"]))
    sys.exit(bool(wrong) or count < 10)


if __name__ == "__main__":
    main()
