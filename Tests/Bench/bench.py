#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kazasu beside C programs on libnfc and libfreefare and beside nfcpy, on the same virtual cards. `make bench` runs it.

`--only side` prints how long Kazasu takes for each job compared with the others, on a chip that takes the time of a real one.
Those are ratios: what a single run takes says more about the machine than about the programs.
"""

import argparse
import json
import os
import subprocess
import sys

import classic
import many
import report
from runs import Runner
from simulator import Simulator

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

KAZASU, LIBNFC, NFCPY, FREEFARE = "kazasu", "C on libnfc", "nfcpy", "C on libfreefare"
KAZASU_SERIAL = "kazasu on pn532:"
# The jobs that a program of others does too, and those programs.
SIDE_BY_SIDE = {"balance": [LIBNFC, NFCPY], "scan": [NFCPY], "dump": [NFCPY], "classic dump": [FREEFARE]}
KAZASU_SLOW, NFCPY_SLOW = "kazasu held at 115200", "nfcpy held at 115200"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kazasu", required=True, help="the program, a release build")
    parser.add_argument("--python", required=True, help="a Python that has nfcpy")
    parser.add_argument("--work", required=True, help="a folder for what the bench makes")
    parser.add_argument("--card", default=os.path.join(TOP, "Fixtures/cards/suica-p1/card.json"))
    parser.add_argument("--runs", type=int, default=21, help="measured runs of each program (default 21)")
    parser.add_argument("--dumps", type=int, default=50_000, help="dumps of 20 history blocks to decode (default 50000)")
    parser.add_argument("--only", choices=["side", "reader", "decode"],
                        help="only the comparison of times, what needs a reader, or decoding")
    return parser.parse_args()


def compile_c(work, name, *flags):
    """Builds one of the C programs of the bench."""
    output = os.path.join(work, name)
    source = os.path.join(HERE, f"{name}.c")
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-std=c11", "-D_GNU_SOURCE", "-o", output, source,
                    *flags], check=True)
    return output


# Host commands that a dump sends once and a balance does not: the chip's time-out, and the line raised, proved, lowered.
ONCE = {KAZASU: 4, NFCPY: 0}


class Bench:
    """The programs, the card, and what was found out."""

    def __init__(self, options):
        os.makedirs(options.work, exist_ok=True)
        self.options = options
        self.kazasu = os.path.abspath(options.kazasu)
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libnfc"], check=True, capture_output=True,
                               text=True).stdout.split()
        self.balance_c = compile_c(options.work, "balance", *flags)
        freefare = os.environ.get("FREEFARE_FLAGS", "").split()
        self.classic = classic.Classic(options.work, compile_c(options.work, "classic", *freefare, "-lfreefare", *flags))
        self.runner = Runner(compile_c(options.work, "measure"), options.work)
        self.targets = []

    def commands(self, job, reader):
        """The programs that do a job, by name, each pointed at the same simulated reader."""
        if job == "classic dump":
            return {KAZASU: self.classic.kazasu(self.kazasu, reader.connection),
                    KAZASU_SERIAL: self.classic.kazasu(self.kazasu, f"pn532:{reader.tty}"),
                    FREEFARE: self.classic.freefare(reader.connection)}
        script = [self.options.python, os.path.join(HERE, f"nfcpy_{job}.py"), reader.tty]
        words = [job, "--json"] if job == "scan" else [job]
        mine = {KAZASU: [self.kazasu, *words, "--reader", reader.connection]}
        if job == "balance":
            beside = {KAZASU_SERIAL: [self.kazasu, job, "--reader", f"pn532:{reader.tty}"],
                      LIBNFC: [self.balance_c, reader.connection]}
        else:
            # A speed in the connection string is obeyed; only long jobs would raise it.
            beside = {KAZASU_SLOW: [self.kazasu, job, "--reader", f"{reader.connection}:115200"]}
        return {**mine, **beside, NFCPY: script, NFCPY_SLOW: script + ["115200"]}

    def say(self, text):
        print(text, flush=True)

    def count(self):
        """What each program asks of the chip and of the card; one run each, since these numbers do not vary."""
        rows, found = [], {}
        stats = os.path.join(self.options.work, "stats.json")
        for job in ("balance", "dump"):
            for name in (KAZASU, KAZASU_SERIAL, LIBNFC, NFCPY):
                reader = Simulator(self.kazasu, self.options.card, stats=stats)
                with reader:
                    command = self.commands(job, reader).get(name)
                    if command:
                        self.runner.run(command)
                if command:
                    counted = [reader.counters[key] for key in ("hostCommands", "cardExchanges", "readCommands")]
                    found[job, name] = counted
                    rows.append([job, name, *counted])
        self.say("### Commands\n")
        self.say(report.table(["job", "program", "host commands", "exchanges with the card", "read commands"], rows))
        mine, other = found["dump", KAZASU], found["dump", NFCPY]
        steady = {}
        for name in (KAZASU, NFCPY):
            (host, card, _), (few_host, few_card, _) = found["dump", name], found["balance", name]
            steady[name] = (host - few_host - ONCE[name]) / max(card - few_card, 1)
        self.target("balance, exchanges with the card", found["balance", KAZASU][1], 2, "{:.0f}")
        self.target("dump, exchanges, Kazasu to nfcpy", mine[1] / other[1], 0.5, "{:.2f}")
        self.target(f"dump, read commands (nfcpy: {other[2]})", mine[2], 40, "{:.0f}")
        self.target(f"host commands per exchange in steady state (nfcpy: {steady[NFCPY]:.1f}), without the "
                    f"{ONCE[KAZASU]} that a dump sends once", steady[KAZASU], 1, "{:.2f}")

    def lists(self):
        """The list of nodes of a real Suica of three systems: what it costs to prove it, and to walk it."""
        card = os.path.join(self.options.work, "listed.json")
        listed_card("ft-02", self.options.card, card)
        stats = os.path.join(self.options.work, "stats.json")
        rows, found = [], {}
        for job in (["scan"], ["scan", "--walk"], ["dump"]):
            with Simulator(self.kazasu, card, stats=stats) as reader:
                self.runner.run([self.kazasu, *job, "--reader", reader.connection])
            found[" ".join(job)] = reader.counters["cardExchanges"]
            rows.append([" ".join(job), *(reader.counters[key] for key in ("hostCommands", "cardExchanges", "readCommands"))])
        self.say("\n### A Suica of three systems with the areas and services of a real one\n")
        self.say(report.table(["job", "host commands", "exchanges with the card", "read commands"], rows))
        self.target("scan of a real list of three systems, exchanges", found["scan"], 34, "{:.0f}")

    def side_by_side(self):
        """Each job of `SIDE_BY_SIDE` by all programs in turn, on a chip that takes the time of a real one."""
        rows = []
        for job, others in SIDE_BY_SIDE.items():
            ours = [KAZASU, KAZASU_SERIAL]
            card = self.classic.card if job == "classic dump" else self.options.card
            with Simulator(self.kazasu, card, timing=True) as reader:
                # Each at the speed that it chooses by itself.
                offered = {**self.commands(job, reader), KAZASU_SERIAL: self.on_serial(job, reader)}
                series = self.runner.interleaved({name: offered[name] for name in ours + others}, self.options.runs)
            self.agree(job, {name: one.runs[-1].output.decode() for name, one in series.items()})
            for other in others:
                rows.append([job, other, *(f"{series[name].ratio(series[other]):.2f}" for name in ours)])
        self.say("### Side by side, time model on: Kazasu's time to the other program's, start to exit\n")
        self.say(report.table(["job", "beside", "through libnfc", "as pn532:"], rows))
        self.say(f"\nMedians of the ratios of {self.options.runs} rounds, in each of which every program ran once.")

    def on_serial(self, job, reader):
        """Kazasu's own driver for the job."""
        if job == "classic dump":
            return self.classic.kazasu(self.kazasu, f"pn532:{reader.tty}")
        words = [job, "--json"] if job == "scan" else [job]
        return [self.kazasu, *words, "--reader", f"pn532:{reader.tty}"]

    def agree(self, job, answers):
        """Ends the bench unless all programs found the same: the time of another answer would mean nothing."""
        read = {"balance": str.strip, "scan": lambda text: sorted(codes(text)),
                "dump": lambda text: None, "classic dump": self.classic.blocks}[job]
        found = {name: read(text) for name, text in answers.items()}
        if any(one != found[KAZASU] for one in found.values()):
            raise RuntimeError(f"the programs do not agree on {job}: {found}")

    def time(self, job, timing):
        """One job, all programs in turn on one simulated reader."""
        with Simulator(self.kazasu, self.options.card, timing=timing) as reader:
            series = self.runner.interleaved(self.commands(job, reader), self.options.runs)
        if job == "balance":
            answers = {run.output.strip() for one in series.values() for run in one.runs}
            if len(answers) != 1:
                raise RuntimeError(f"the programs do not agree on the balance: {answers}")
        mode = "time model on: card, air and serial line" if timing else "time model off: what the programs cost"
        self.say(f"\n### {job}, {mode}\n")
        base = LIBNFC if LIBNFC in series else NFCPY
        header = ["program", "median ms", "middle half ms", f"ratio to {base}", "peak MiB"]
        self.say(report.table(header, report.times(series, base)))
        mine = series[KAZASU].median
        label = "time model on" if timing else "time model off"
        if job == "balance":
            self.target(f"balance, Kazasu to C on libnfc, {label}", mine / series[LIBNFC].median, 1.15, "{:.2f}")
            self.target(f"balance, Kazasu on pn532: to C on libnfc, {label}",
                        series[KAZASU_SERIAL].median / series[LIBNFC].median, 0.4, "{:.2f}")
            self.target(f"balance, Kazasu to nfcpy, {label}", mine / series[NFCPY].median, 0.7, "{:.2f}")
        elif timing:
            self.target("dump, Kazasu to nfcpy as it comes (921600 baud), time model on",
                        mine / series[NFCPY].median, 0.45, "{:.2f}")
            self.target("dump, Kazasu to nfcpy, both held at 115200 baud, time model on",
                        series[KAZASU_SLOW].median / series[NFCPY_SLOW].median, 0.45, "{:.2f}")

    def start_and_memory(self):
        """The start of the program, and the most memory that each command held."""
        version = {"kazasu --version": [self.kazasu, "--version"]}
        start = self.runner.interleaved(version, max(50, self.options.runs))["kazasu --version"]
        rows = [["--version", f"{start.median:.1f}", f"{start.peak_mib:.1f}"]]
        dump = os.path.join(self.options.work, "dump.json")
        with Simulator(self.kazasu, self.options.card) as reader:
            at = ["--reader", reader.connection]
            for command in (["readers"], ["poll", *at], ["scan", *at], ["dump", "-o", dump, *at], ["balance", *at],
                            ["history", *at], ["decode", dump]):
                series = self.runner.interleaved({"": [self.kazasu, *command]}, 3)[""]
                rows.append([command[0], f"{series.median:.1f}", f"{series.peak_mib:.1f}"])
        self.say("\n### Each command, time model off\n")
        self.say(report.table(["kazasu", "median ms", "peak MiB"], rows))
        self.target("kazasu --version, ms", start.median, 5, "{:.1f}")
        self.target("peak memory of any command, MiB", max(float(row[2]) for row in rows), 20, "{:.1f}")

    def decode_many(self):
        """Very many dumps: how fast, how much memory; and what a table of stations costs to get ready."""
        at = {name: os.path.join(self.options.work, name) for name in ("stations.tsv", "dumps.ndjson", "100", "2000")}
        many.station_table(at["stations.tsv"])
        many.one_file(at["dumps.ndjson"], self.options.dumps)
        for count in ("100", "2000"):
            many.folder(at[count], int(count))
        # Half a gigabyte of answer is not kept.
        quiet = ["sh", "-c", 'exec "$@" > /dev/null', "sh", self.kazasu, "decode", "--format", "ndjson",
                 "--stations", at["stations.tsv"]]
        work = {f"one file of {self.options.dumps} dumps": ("dumps.ndjson", self.options.dumps),
                "100 files": ("100", 100), "2,000 files": ("2000", 2000)}
        series = self.runner.interleaved({name: [*quiet, at[what]] for name, (what, _) in work.items()}, 5)
        rows = []
        for name, (_, dumps) in work.items():
            blocks = dumps * many.BLOCKS
            rate = blocks / series[name].median * 1000
            rows.append([name, f"{blocks:,}", f"{series[name].median:.1f}", f"{rate:,.0f}", f"{series[name].peak_mib:.1f}"])
        self.say("\n### decode of many dumps, with names of stations\n")
        self.say(report.table(["kazasu decode", "history blocks", "median ms", "blocks a second", "peak MiB"], rows))
        whole = next(iter(work))
        self.target("decode, µs a history block (2 is 500,000 a second)",
                    series[whole].median * 1000 / (self.options.dumps * many.BLOCKS), 2, "{:.2f}")
        self.target("decode, peak memory of 2,000 files to that of 100", series["2,000 files"].peak_kib
                    / series["100 files"].peak_kib, 1.05, "{:.2f}")
        self.target(f"decode, peak memory of {self.options.dumps} dumps in a file to that of 100 files",
                    series[whole].peak_kib / series["100 files"].peak_kib, 1.05, "{:.2f}")
        card = [self.kazasu, "decode", os.path.join(at["100"], "00000.json")]
        tables = self.runner.interleaved({"with": [*card, "--stations", at["stations.tsv"]], "without": card}, 40)
        cost = tables["with"].median - tables["without"].median
        self.say(f"\nA table of {many.LINES * many.STATIONS:,} stations is ready in {cost:.1f} ms: "
                 f"`decode` of one dump takes {tables['with'].median:.1f} ms with it and "
                 f"{tables['without'].median:.1f} ms without, medians of 40 interleaved runs.")
        self.target("a table of 8,000 stations, ms", cost, 5, "{:.1f}")

    def target(self, what, measured, limit, form):
        met = "yes" if measured <= limit else "no"
        self.targets.append([what, form.format(measured), f"at most {limit}", met])


def codes(text):
    """The nodes of a scan: of nfcpy_scan.py's lines, or of Kazasu's document."""
    if not text.lstrip().startswith("{"):
        return {tuple(line.split()) for line in text.splitlines()}
    return {(system["systemCode"], node["code"], node["keyVersion"]) for system in json.loads(text)["systems"]
            for node in system["nodes"]}


def listed_card(name, filled, path):
    """Writes a card with the nodes of a list of ThirdParty/felica-tool; as many blocks as another card has, else one a service."""
    with open(filled, encoding="utf-8") as file:
        systems = json.load(file)["felica"]["systems"]
    blocks = {service["code"]: len(service["blocks"]) for system in systems for service in system["services"]}
    made = []
    with open(os.path.join(TOP, "ThirdParty/felica-tool/filesystems.tsv"), encoding="utf-8") as file:
        for line in file:
            row = line.rstrip("\n").split("\t")
            if row[0] == name:
                nodes = row[-1].split(" ")
                is_open = [node for node in nodes if "-" not in node and int(node, 16) & 1]
                made.append({"code": row[3], "keyVersion": "0001", "nodes": nodes,
                             "blocks": {node: blocks.get(node) or 1 for node in is_open}})
    card = {"schema": "kazasu.card/1", "idm": "0101031234567890", "pmm": "0120220427674eff", "systems": made}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(card, file)


def main():
    options = arguments()
    bench = Bench(options)
    if options.only in (None, "side"):
        bench.side_by_side()
    if options.only == "side":
        return bench.say(f"\nTaken on: {report.machine(options.python)}")
    if options.only != "decode":
        bench.count()
        bench.lists()
        for job in ("balance", "dump"):
            for timing in (False, True):
                bench.time(job, timing)
        bench.start_and_memory()
    if options.only != "reader":
        bench.decode_many()
    bench.say("\n### Targets\n")
    bench.say(report.table(["what", "measured", "target", "met"], bench.targets))
    bench.say(f"\nMedians of {options.runs} interleaved runs. Taken on: {report.machine(options.python)}")


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, KeyError, subprocess.SubprocessError, OSError) as error:
        sys.exit(f"bench: {type(error).__name__}: {error}")
