#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the exchanges of `kazasu passport`, models line and air, and measures its processor time, by access and by check of the chip.

`passport.py PROGRAM` (or KAZASU=PROGRAM) reads virtual passports with a trace. Modelled is a PN532: 921600 baud, 106 kbit/s on air,
frames of 256 bytes, 0.3 ms around each frame. The time of the card's and the reader's ciphers is not in it.

Processor time is user and system time of the reading program alone: the chip is simulated by another process. It is printed with that of
`poll` in the same run, and with how many times slower a machine may be until a passport takes half a second. Only a release program
tells.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Fixtures", "iso7816", "passport")
ENTRY = "04007f0007020204020202010202010d"


def read(program, text):
    """The exchanges of one reading: command and answer."""
    with tempfile.TemporaryDirectory() as folder:
        card, trace = os.path.join(folder, "card.json"), os.path.join(folder, "trace")
        with open(card, "w") as file:
            file.write(text)
        line = [program, "passport", "-r", "virtual:" + card, "--mrz-from", "env:N", "--json", "--trace", trace]
        subprocess.run(line, env=dict(os.environ, N="SP1234567,800405,360614"), check=True, capture_output=True)
        with open(trace) as file:
            entries = [json.loads(entry) for entry in file]
    return [
        (bytes.fromhex(entry["tx"]), bytes.fromhex(entry["rx"])) for entry in entries if entry.get("op") == "transceive"
    ]


def air(count):
    """Blocks of up to 253 bytes with PCB and CRC, and the R-blocks between them: 10 bits a byte, SOF and EOF 24 bits."""
    seconds = 0
    while True:
        seconds += ((min(count, 253) + 3) * 10 + 24) / 106e3
        count -= 253
        if count <= 0:
            return seconds
        seconds += (3 * 10 + 24) / 106e3


def model(exchanges):
    return sum(
        air(len(command)) + air(len(answer)) + 0.0006 + (len(command) + len(answer) + 25) * 10 / 921600
        for command, answer in exchanges
    )


def tell(name, exchanges):
    print(f"{name}: {len(exchanges)} exchanges, {model(exchanges) * 1000:.0f} ms")


def processor(line):
    """The processor seconds of a program, user and system."""
    child = subprocess.Popen(
        line, env=dict(os.environ, N="SP1234567,800405,360614"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(line)} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def measure(program, name, text, rounds):
    """Reads a passport from another process several times, and polls it between."""
    with tempfile.TemporaryDirectory() as folder:
        card, link = os.path.join(folder, "card.json"), os.path.join(folder, "pn532")
        with open(card, "w") as file:
            file.write(text)
        chip = subprocess.Popen([program, "simulate", "-q", card, "--link", link], stdout=subprocess.PIPE, text=True)
        try:
            chip.stdout.readline()
            reader = ["-r", "pn532:" + link]
            passport, poll = [], []
            for _ in range(rounds):
                passport.append(processor([program, "passport", *reader, "--mrz-from", "env:N", "--json"]))
                poll.append(processor([program, "poll", *reader]))
        finally:
            chip.terminate()
            chip.wait()
    seconds, base = statistics.median(passport), statistics.median(poll)
    print(
        f"{name}: {seconds * 1000:.0f} ms of processor, {seconds / base:.1f} times `poll`; "
        f"0.5 s on a machine {0.5 / seconds:.0f} times slower")


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("KAZASU", "")
    if not program:
        raise SystemExit("usage: passport.py PROGRAM, or KAZASU=PROGRAM passport.py")
    rounds = int(os.environ.get("ROUNDS", "15"))

    def fixture(name):
        with open(os.path.join(FIXTURES, name)) as file:
            return file.read()

    exchanges = read(program, fixture("card.json"))
    tell("BAC, all files", exchanges)
    place = next(index for index, (command, _) in enumerate(exchanges) if command[1] == 0x82)
    tell("  BAC", exchanges[place - 1 : place + 1])
    for name, entry in (("brainpoolP256r1", ENTRY), ("P-256", ENTRY[:-2] + "0c"), ("P-521", ENTRY[:-2] + "12")):
        exchanges = read(program, fixture("chip-pace.json").replace(ENTRY, entry))
        tell(f"PACE {name}, all files, both checks", exchanges)
        steps = [index for index, (c, _) in enumerate(exchanges) if c[0] in (0, 0x10) and c[1] in (0x22, 0x86)]
        tell("  PACE", exchanges[steps[0] : steps[-1] + 1])
        tell("  active authentication", [pair for pair in exchanges if pair[0][:2] == b"\x0c\x88"])
        steps = [index for index, (c, _) in enumerate(exchanges) if c[0] == 0x0C and c[1] in (0x22, 0x86)]
        tell("  chip authentication", exchanges[steps[0] : steps[-1] + 2])
    exchanges = read(program, fixture("chip-mapping.json"))
    tell("PACE with chip-authentication mapping, all files", exchanges)
    steps = [index for index, (c, _) in enumerate(exchanges) if c[0] in (0, 0x10) and c[1] in (0x22, 0x86)]
    tell("  PACE", exchanges[steps[0] : steps[-1] + 1])
    selection = next(index for index, (c, _) in enumerate(exchanges) if c[:3] == b"\x0c\xa4\x04")
    tell("  EF.CardSecurity", exchanges[steps[-1] + 1 : selection])
    measure(program, "BAC, all files", fixture("card.json"), rounds)
    for name, entry in (("brainpoolP256r1", ENTRY), ("P-256", ENTRY[:-2] + "0c"), ("P-521", ENTRY[:-2] + "12")):
        text = fixture("chip-pace.json").replace(ENTRY, entry)
        measure(program, f"PACE {name}, all files, both checks", text, rounds)
    measure(
        program, "PACE with chip-authentication mapping, all files", fixture("chip-mapping.json"), rounds)


if __name__ == "__main__":
    main()
