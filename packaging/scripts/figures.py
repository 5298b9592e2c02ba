#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the size of things beside the goals of Docs/architecture.md. Never fails: a goal is a direction, not a gate.

figures.py [KAZASU [USB_CHIP [BIN…]]]: with a program built for coverage, also counts the files of Sources that `balance`
executes, on a simulated PN532 and on an emulated RC-S380; BIN are folders with programs or packages to weigh; the last one's programs are measured as well.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SOURCES = os.path.join(TOP, "Sources")
CARD = os.path.join(TOP, "Fixtures/cards/suica-p1/card.json")
PUBLIC = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*public (?!import)", re.MULTILINE)
PRODUCTS = ("Kazasu", "KazasuCards", "KazasuTesting", "KazasuService")
PURPOSES = (("simulators", ("VirtualReader",)), ("service", ("KazasuService", "KazasuServiceCLI", "kazasud")),
            ("CLI", ("KazasuCLI", "kazasu")))

# The initialization of a global or static value, the getter of one, and closures in them: what a list of commands or
# decoders executes although nobody uses the command or the decoder.
STATIC = re.compile(r"(?:WZ|vau|v[gsM]Z|vp(?:Z)?fi)(?:(?:y[A-Za-z0-9_]*)?[fF]U[0-9A-Za-z]*_)*$")
DECODER = re.compile(r":[^{\n]*\b\w*Decoder\b[^{\n]*\{")
DRIVER = re.compile(r":[^{\n]*\bReaderDriver\b[^{\n]*\{")
IMPORT = re.compile(r"^(?:@\w+ )?(?:(?:public|package|internal) )?import (\w+)", re.MULTILINE)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sources():
    """The text of every Swift file below Sources, by path."""
    return {os.path.join(folder, name): read(os.path.join(folder, name))
            for folder, _, names in os.walk(SOURCES) for name in names if name.endswith(".swift")}


def module(path):
    return os.path.relpath(path, SOURCES).split(os.sep)[0]


def code_lines(text):
    """The lines that are neither empty nor a comment."""
    return sum(bool(line.strip()) and not line.strip().startswith("//") for line in text.splitlines())


def row(what, value, goal="-"):
    missed = ", missed" if goal.startswith("at most ") and float(value) > float(goal.split()[-1]) else ""
    print(f"{what:54} {value:>9}   {goal}{missed}")


# --- sizes ------------------------------------------------------------------------------------------------------------


def sizes(texts):
    lines = sorted(text.count("\n") for text in texts.values())
    row("source files", len(lines))
    row("lines of Sources", sum(lines), "at most 70000")
    row("lines of a file, median", lines[len(lines) // 2])
    row("lines of a file, nine of ten", lines[len(lines) * 9 // 10])
    row("lines of the longest file", lines[-1])
    counts = dict.fromkeys(["core", "CLI", "service", "simulators"], 0)
    for path, text in texts.items():
        purpose = next((name for name, modules in PURPOSES if module(path) in modules), "core")
        counts[purpose] += code_lines(text)
    for purpose, count in counts.items():
        row(f"lines of code, {purpose}", count)


def surface(texts):
    """What the products promise: Docs/api has a line for each symbol and a file for each module."""
    api = os.path.join(TOP, "Docs", "api")
    modules = {}
    for line in read(os.path.join(api, "products.txt")).splitlines():
        product, _, names = line.partition(":")
        modules[product] = names.split()
    for product in PRODUCTS:
        names = set(modules.get(product, []))
        declared = sum(len(PUBLIC.findall(text)) for path, text in texts.items() if module(path) in names)
        files = [os.path.join(api, f"{name}.txt") for name in names]
        symbols = sum(read(path).count("\n") for path in files if os.path.exists(path))
        row(f"public declarations of {product}", declared)
        row(f"public symbols of {product}", symbols)
    program = [line for line in read(os.path.join(TOP, "Docs/examples/Balance/main.swift")).splitlines()
               if line and not line.startswith("//")]
    row("lines of Docs/examples/Balance", len(program), "about 6")


def weigh(folder):
    """Programs and packages of a folder."""
    for name, goal in (("kazasu", 20), ("kazasud", 70)):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            row(f"MB of {os.path.relpath(path, TOP)}", f"{os.path.getsize(path) / 1e6:.1f}", f"at most {goal}")
    for path in sorted(glob.glob(os.path.join(folder, "*.deb"))):
        goal = 18 if os.path.basename(path).startswith("kazasu-service") else 6
        row(f"MB of {os.path.relpath(path, TOP)}", f"{os.path.getsize(path) / 1e6:.1f}", f"at most {goal}")


def memory(folder):
    """What a command, and a watcher that waits for cards, have in memory at most."""
    program = subprocess.Popen([os.path.join(folder, "kazasu"), "balance", "-r", "virtual:" + CARD],
                               stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(program.pid, 0)
    assert status == 0, status
    row("MiB of memory of balance", f"{used.ru_maxrss / 1024:.1f}", "at most 18")
    with tempfile.TemporaryDirectory() as work:
        watch = subprocess.Popen(
            [os.path.join(folder, "kazasud"), "watch", "-q", "-r", "virtual:" + CARD, "--exec", "/bin/true",
             "--outbox", os.path.join(work, "outbox.sqlite")], stdout=subprocess.PIPE)
        # The card is there, and nothing else comes.
        for _ in range(2):
            watch.stdout.readline()
        time.sleep(5)
        peak = int(re.search(r"VmHWM:\s+(\d+)", read(f"/proc/{watch.pid}/status"))[1])
        watch.terminate()
        watch.communicate()
    row("MiB of memory of watch with one reader", f"{peak / 1024:.1f}", "at most 35")


# --- what is executed -------------------------------------------------------------------------------------------------


def tool(name):
    """A program of the toolchain that built what it reads; another version cannot read its profiles."""
    own = os.path.join(os.path.dirname(os.path.realpath(shutil.which("swift") or "")), name)
    return own if os.path.exists(own) else name


def executed(program, profiles):
    """The executed functions of every file of Sources, from the counters of one or more processes."""
    data = profiles[0] + ".data"
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", *profiles, "-o", data], check=True)
    export = subprocess.run([tool("llvm-cov"), "export", program, f"-instr-profile={data}", "-skip-expansions"],
                            check=True, capture_output=True).stdout
    found = {}
    for function in json.loads(export)["data"][0]["functions"]:
        path = os.path.realpath(function["filenames"][0])
        if function["count"] and path.startswith(SOURCES + os.sep):
            found.setdefault(path, set()).add(function["name"].rpartition(":")[2])
    return found


def environment(profile):
    return {**os.environ, "LC_ALL": "C", "LIBNFC_LOG_LEVEL": "0", "LLVM_PROFILE_FILE": profile}


def balance_on_pn532(program, folder):
    """Reads a balance through libnfc from a simulated PN532."""
    port = os.path.join(folder, "pn532")
    simulator = subprocess.Popen([program, "simulate", CARD, "--link", port], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, env=environment(os.devnull))
    try:
        simulator.stdout.readline()
        profile = os.path.join(folder, "balance.profraw")
        answer = subprocess.run([program, "balance", "-r", f"pn532_uart:{port}"], env=environment(profile),
                                check=True, capture_output=True, text=True).stdout
        assert answer == "10\n", answer
        return profile
    finally:
        simulator.terminate()
        simulator.wait()


def decoders_alone(program, folder):
    """Builds the list of decoders, and stops before a card is read."""
    profile = os.path.join(folder, "decoders.profraw")
    subprocess.run([program, "balance", "--card", "transit", "-r", "replay:/nonexistent"], env=environment(profile),
                   capture_output=True, check=False)
    return profile


def driver_modules(texts, only=None):
    """The modules with drivers, or one of them, and what only drivers share: modules without card protocol and decoder."""
    imports = {}
    for path, text in texts.items():
        imports.setdefault(module(path), set()).update(IMPORT.findall(text))
    drivers = {module(path) for path, text in texts.items() if DRIVER.search(text)} - {"Kazasu", "NFCTransport"}
    readers = imports.get("CardReading", set()) | {"CardReading", "Kazasu"}
    chosen = drivers & {only} if only else drivers
    shared = {name for driver in chosen for name in imports[driver] if name in imports} - readers
    return chosen | shared


def without_lists(found, alone, texts):
    """Leaves out static lists, such as help, and decoders that are only listed."""
    def matters(path, functions):
        if all(STATIC.search(name) for name in functions):
            return False
        return not (DECODER.search(texts[path]) and functions <= alone.get(path, set()))

    return sorted(path for path, functions in found.items() if path in texts and matters(path, functions))


def balance_on_rcs380(program, chip, folder):
    """Reads a balance from an emulated RC-S380, in a process of its own under umockdev."""
    profile = os.path.join(folder, "rcs380.profraw")
    subprocess.run(["umockdev-wrapper", "/usr/bin/python3", __file__, "--rcs380", program, chip, profile], check=True)
    return profile


def emulate_rcs380(program, chip, profile):
    sys.path.insert(0, os.path.join(TOP, "Tests", "USB"))
    from chip import Chip
    from descriptors import rc_s380
    from emulation import Emulation

    emulation = Emulation()
    simulated = Chip(chip, "port100", CARD)
    emulation.plug_in(rc_s380(), simulated)
    result = emulation.run(program, "balance", "--reader", "rcs380", environment=environment(profile))
    simulated.stop()
    assert result.output == "10\n", result.errors


def way_of_balance(program, chip, texts):
    with tempfile.TemporaryDirectory() as folder:
        found = executed(program, [balance_on_pn532(program, folder)])
        alone = executed(program, [decoders_alone(program, folder)])
        executes = without_lists(found, alone, texts)
        drivers = driver_modules(texts)
        on_way = [path for path in executes if module(path) not in drivers]
        row("files that balance executes on a PN532, without lists", len(executes), "at most 85")
        row("files to understand it, without the driver", len(on_way), "at most 50")
        if os.environ.get("FIGURES_FILES"):
            for path in executes:
                print("   ", "*" if path in on_way else " ", os.path.relpath(path, SOURCES))
        if not chip or not shutil.which("umockdev-wrapper"):
            return
        drivers = driver_modules(texts, "PaSoRiReader")
        used = executed(program, [balance_on_rcs380(program, chip, folder)])
        files = [path for path in used if module(path) in drivers
                 and not all(STATIC.search(name) for name in used[path])]
        row("files of the RC-S380 driver that balance executes", len(files), "at most 10")
        if os.environ.get("FIGURES_FILES"):
            for path in sorted(files):
                print("     ", os.path.relpath(path, SOURCES))


def main(arguments):
    if arguments[:1] == ["--rcs380"]:
        return emulate_rcs380(*arguments[1:])
    # First, while this process is small: what it starts is charged at least this process's own memory.
    if len(arguments) > 2:
        memory(arguments[-1])
    texts = sources()
    sizes(texts)
    surface(texts)
    if arguments:
        way_of_balance(arguments[0], arguments[1] if len(arguments) > 1 else None, texts)
    for folder in arguments[2:]:
        weigh(folder)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
