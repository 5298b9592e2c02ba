#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cards on four virtual readers of `kazasu watch`, a real broker and a collector, while all but the collector are killed.

    taps.py [--taps 100000] [--kills 100] [--broker-kills 20] [--cuts 20] [--pace 10]   nothing lost, doubled or disordered
    taps.py --latency [--taps 400]                        from the card to a subscriber, in real time
    taps.py --day [--hours 24]                            cards that lie on the readers: memory and descriptors do not grow
    taps.py --idle [--seconds 60] [--driver pn532]        what watching costs while there is no card

Cuts need root: they are in network namespaces that nothing else sees. KAZASUD names the program (`make soak-taps`).
"""

import argparse
import collections
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from brokers import TOP, Collect, Mosquitto, wait_until
from soak import CABLE, cable, peak, stored

KAZASUD = os.environ.get("KAZASUD")
READERS = ["one", "two", "three", "four"]


class Lines:
    """The lines of a process, kept as they come."""

    def __init__(self, stream, keep):
        self.stream = stream
        self.thread = threading.Thread(target=self.run, args=(keep,), daemon=True)
        self.thread.start()

    def run(self, keep):
        for line in self.stream:
            with contextlib.suppress(ValueError):
                keep(json.loads(line))

    def end(self):
        """Waits for the last line."""
        self.thread.join()
        self.stream.close()


class Watcher:
    """`kazasu watch` on four virtual readers; what it prints is remembered across kills."""

    def __init__(self, folder, url, visits, prefix=(), options=(), driver=None):
        self.outbox = folder + "/outbox.sqlite"
        self.seen, self.taps = [], 0
        self.folder = folder
        self.words = [*prefix, KAZASUD, "watch", "-q", "--site", "soak", "--outbox", self.outbox, "--mqtt", url, *options]
        for name in READERS:
            self.words += ["-r", f"{name}=" + (f"{driver}:{folder}/{name}" if driver else f"virtual:{folder}/{name}.json")]
        self.place(visits)
        self.process = None

    def place(self, visits):
        """Makes the cards of the readers come and go from the next start on, or stay away."""
        with open(TOP + "/Fixtures/felica/short-visits.json", encoding="utf-8") as file:
            card = json.load(file)
        for number, name in enumerate(READERS):
            card["idm"] = f"01010312345678{number:02d}"
            if visits:
                card["virtual"]["visits"].update(seed=number + 1, **visits)
            else:
                card["virtual"] = {"faults": [{"fault": "absent", "from": 1}]}
            with open(f"{self.folder}/{name}.json", "w", encoding="utf-8") as file:
                json.dump(card, file)

    def keep(self, event):
        self.seen.append((event["id"], event["reader"], event["seq"]))
        self.taps += event["type"] == "on"

    def start(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.lines = Lines(self.process.stdout, self.keep)

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait()
        self.lines.end()

    def query(self, statement):
        with contextlib.closing(sqlite3.connect(self.outbox, timeout=30)) as database:
            return database.execute(statement).fetchone()[0]


def disturb(watcher, broker, chosen, chance, done):
    """Does one of the evils that are left, in the order that chance gives."""
    left = [name for name in chosen for _ in range(chosen[name] - done[name])]
    if not left:
        return
    name = chance.choice(left)
    if name == "watcher":
        watcher.end(signal.SIGKILL)
        watcher.start()
    elif name == "broker":
        broker.kill()
        broker.start()
    else:
        subprocess.run(["ip", "link", "set", CABLE, "down"], check=True)
        time.sleep(1)
        subprocess.run(["ip", "link", "set", CABLE, "up"], check=True)
    done[name] += 1


def soak(options, host="127.0.0.1", prefix=()):
    """Returns the figures of one run."""
    chance, done = random.Random(1), collections.Counter()
    evils = {"watcher": options.kills, "broker": options.broker_kills, "cut": options.cuts if prefix else 0}
    with tempfile.TemporaryDirectory(prefix="kazasu-taps-") as folder, Mosquitto(shipped=True, host=host) as broker:
        path, wire = folder + "/events.sqlite", collections.Counter()
        collect = Collect(KAZASUD, "--mqtt", broker.url, "--to", "sqlite:" + path, "--name", "soak")
        for stream in (collect.process.stdout, collect.process.stderr):
            threading.Thread(target=stream.read, daemon=True).start()
        wait_until(lambda: os.path.exists(path))
        visits = {"stay": 3, "pace": options.pace}
        watcher = Watcher(folder, broker.url, visits, prefix, ["--confirm", "--keep-size", "1G"])
        with collect:
            listener = subprocess.Popen(
                ["mosquitto_sub", "-h", host, "-p", str(broker.port), "-q", "1", "-c", "-i", "wire", "-t",
                 "kazasu/+/+/event"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            wired = Lines(listener.stdout, lambda event: wire.update([event["id"]]))
            start, step = time.monotonic(), max(1, options.taps // max(1, sum(evils.values())))
            watcher.start()
            next_evil = step
            while watcher.taps < options.taps:
                time.sleep(0.05)
                if watcher.taps >= next_evil:
                    disturb(watcher, broker, evils, chance, done)
                    next_evil += step
            seconds, memory = time.monotonic() - start, peak(watcher.process.pid)
            watcher.end(signal.SIGTERM)
            # A broker that was killed may have lost the last event of a reader, which nobody misses before the next one:
            # what a reader says at the next start shows it. Then everything is confirmed.
            watcher.place(None)
            before = len(watcher.seen)
            watcher.start()
            wait_until(lambda: len(watcher.seen) >= before + len(READERS))
            with contextlib.suppress(TimeoutError):
                wait_until(lambda: not watcher.query("SELECT count(*) FROM events WHERE confirmed = 0"), 300)
            watcher.end(signal.SIGTERM)
            total = watcher.query("SELECT sum(sequence) FROM readers")
            listener.terminate()
            listener.wait()
            wired.end()
        figures = {"taps": watcher.taps, "events": total, "seconds": round(seconds), **dict(done), **stored(path)}
        figures["watcherMegabytes"] = round(memory, 1)
        figures["twiceOnTheWire"] = sum(count - 1 for count in wire.values())
        with contextlib.closing(sqlite3.connect(path)) as database:
            known = {row[0] for row in database.execute("SELECT id FROM events")}
            pairs = database.execute(
                "SELECT sum(type = 'on'), sum(type = 'off') FROM events WHERE type IN ('on', 'off')").fetchone()
        figures["printedButNotStored"] = len({event[0] for event in watcher.seen} - known)
        figures["on"], figures["off"] = pairs
        figures["unconfirmed"] = watcher.query("SELECT count(*) FROM events WHERE confirmed = 0")
    return figures


def faults(figures):
    """What should not be in the figures of a run."""
    wrong = {
        "events were lost": figures["events"] != figures["stored"] or figures["readersWithGaps"],
        "events were doubled": figures["stored"] != figures["distinct"],
        "printed events were not stored": figures["printedButNotStored"],
        "a tap has no end": figures["on"] != figures["off"],
        "events were not confirmed": figures["unconfirmed"],
    }
    return [text for text, is_so in wrong.items() if is_so]


def latency(options):
    """From the moment that events name to a subscriber, in milliseconds of the system's boot clock."""
    late = collections.defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="kazasu-taps-") as folder, Mosquitto() as broker:
        def keep(event):
            late[event["type"]].append(time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000 - event["mono"])
        listener = subprocess.Popen(
            ["mosquitto_sub", "-h", broker.host, "-p", str(broker.port), "-q", "1", "-t", "kazasu/+/+/event"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        Lines(listener.stdout, keep)
        watcher = Watcher(folder, broker.url, {"stay": 3})
        watcher.start()
        wait_until(lambda: len(late["on"]) >= options.taps, 3600)
        watcher.end(signal.SIGTERM)
        listener.terminate()
    return {kind: {"count": len(values), "median": sorted(values)[len(values) // 2],
                   "p99": sorted(values)[len(values) * 99 // 100], "longest": max(values)}
            for kind, values in late.items() if kind != "reader"}


def state(pid):
    """Resident megabytes, open descriptors, and the processor time until now in seconds."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return round(memory, 1), len(os.listdir(f"/proc/{pid}/fd")), sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


# A card that lies on a reader is asked so often, and in these visits so often on average.
CHECKS_A_SECOND, CHECKS_A_VISIT = 1 / 0.150, 600


def day(options):
    """As many presence checks and taps as cards that lie on four readers for hours, one after the other, give."""
    taps = round(options.hours * 3600 * CHECKS_A_SECOND * len(READERS) / CHECKS_A_VISIT)
    with tempfile.TemporaryDirectory(prefix="kazasu-taps-") as folder, Mosquitto() as broker:
        watcher = Watcher(folder, broker.url, {"stay": 2 * CHECKS_A_VISIT, "pace": 1000})
        watcher.start()
        start, states = time.monotonic(), []
        for part in range(1, 25):
            wait_until(lambda part=part: watcher.taps >= taps * part / 24, 3600)
            states.append(state(watcher.process.pid))
        seconds = time.monotonic() - start
        watcher.end(signal.SIGTERM)
    return {"hours": options.hours, "taps": watcher.taps, "presenceChecks": watcher.taps * CHECKS_A_VISIT,
            "seconds": round(seconds), "megabytes": [one[0] for one in states], "descriptors": [one[1] for one in states]}


def idle(options):
    """Four readers without a card, in real time: each is simulated by a process of its own, at the speed of a real one."""
    with contextlib.ExitStack() as ending:
        folder = ending.enter_context(tempfile.TemporaryDirectory(prefix="kazasu-taps-"))
        broker = ending.enter_context(Mosquitto())
        watcher = Watcher(folder, broker.url, None, driver=options.driver)
        for name in READERS:
            chip = subprocess.Popen([KAZASUD, "simulate", f"{folder}/{name}.json", "--timing", "--link", f"{folder}/{name}"],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            ending.callback(chip.wait)
            ending.callback(chip.terminate)
            chip.stdout.readline()
        watcher.start()
        # The search is idle after ten seconds.
        time.sleep(15)
        before = state(watcher.process.pid)
        time.sleep(options.seconds)
        after = state(watcher.process.pid)
        watcher.end(signal.SIGTERM)
    return {"driver": options.driver, "megabytes": after[0], "descriptors": after[1],
            "percentOfACore": round(100 * (after[2] - before[2]) / options.seconds, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--day", action="store_true")
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--idle", action="store_true")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--driver", default="pn532_uart")
    parser.add_argument("--taps", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--broker-kills", type=int, default=20)
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--pace", type=int, default=10)
    options = parser.parse_args()
    if options.latency:
        print("latency", json.dumps(latency(options)), flush=True)
        return
    if options.idle:
        print("idle", json.dumps(idle(options)), flush=True)
        return
    if options.day:
        figures = day(options)
        print("day", json.dumps(figures), flush=True)
        # The first hour fills caches.
        if figures["megabytes"][-1] > figures["megabytes"][1] + 2:
            sys.exit("the memory grows")
        if figures["descriptors"][-1] > figures["descriptors"][1]:
            sys.exit("descriptors are left open")
        return
    if options.cuts and "KAZASU_SPACE" not in os.environ:
        # Nothing of it is seen outside.
        command = ["unshare", "--net", "--mount", sys.executable, __file__, *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=dict(os.environ, KAZASU_SPACE="1"), check=False).returncode)
    if options.cuts:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        with cable() as prefix:
            figures = soak(options, "10.213.7.1", prefix)
    else:
        figures = soak(options)
    print("taps", json.dumps(figures), flush=True)
    if found := faults(figures):
        sys.exit(", ".join(found))


if __name__ == "__main__":
    main()
