#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of many sites (Docs/many-sites.md): rate, backlog, kills and cuts, and what a broker keeps.

    soak.py rate [--seconds 60] [--rate 500]     1,000 readers on 200 sites, one mosquitto, one collector
    soak.py backlog [--events 14000]             a site that was offline for a week
    soak.py kills [--kills 20] [--seconds 60]    SIGKILL of the broker and of the collector meanwhile
    soak.py cuts [--kills 20]                    network cuts, in network namespaces of their own (root)
    soak.py durability                           what a SIGKILL leaves of 1,500 acknowledged messages
"""

import argparse
import contextlib
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from brokers import Collect, Mosquitto, event, wait_until

KAZASUD, PUBLISHER = os.environ.get("KAZASUD"), os.environ.get("SITE_PUBLISHER")


def stored(path):
    """Events, different ones, wrong orders and readers that lack one, as the table has them."""
    with sqlite3.connect(path) as database:
        total, unique = database.execute(
            "SELECT count(*), count(DISTINCT site || '/' || reader || '/' || seq) FROM events").fetchone()
        incomplete = database.execute("SELECT count(*) FROM event_progress WHERE up_to <> last_seq").fetchone()[0]
        # rowid is the order of storing.
        disorder = database.execute(
            "SELECT count(*) FROM (SELECT seq - lag(seq) OVER (PARTITION BY site, reader ORDER BY rowid) AS step"
            " FROM events) WHERE step <> 1").fetchone()[0]
    return {"stored": total, "distinct": unique, "readersWithGaps": incomplete, "outOfOrder": disorder}


def cpu(pid):
    """Seconds of processor time of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak(pid):
    """The highest resident size in megabytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


class Run:
    """A broker, a collector, and a publisher, with a killer beside them."""

    def __init__(self, sites, readers, rate, seconds, backlog=0, killer=None, prefix=()):
        self.folder = tempfile.TemporaryDirectory(prefix="kazasu-soak-")
        self.path = self.folder.name + "/events.sqlite"
        self.words = [str(word) for word in (sites, readers, rate, seconds, backlog)]
        self.killer, self.prefix = killer, list(prefix)

    def collector(self, broker):
        collect = Collect(KAZASUD, "--mqtt", broker.url, "--to", "sqlite:" + self.path, "--name", "soak")
        for stream in (collect.process.stdout, collect.process.stderr):
            threading.Thread(target=stream.read, daemon=True).start()
        return collect

    def run(self, host="127.0.0.1"):
        figures = {}
        with self.folder, Mosquitto(shipped=True, host=host) as broker, contextlib.ExitStack() as stack:
            self.broker, self.collect = broker, self.collector(broker)
            stack.callback(lambda: self.collect.__exit__())
            publisher = subprocess.Popen(
                [*self.prefix, PUBLISHER, host, str(broker.port), *self.words], stdout=subprocess.PIPE, text=True)
            stack.callback(publisher.kill)
            if self.killer:
                figures["kills"] = self.killer(self, publisher)
            figures.update(json.loads(publisher.communicate()[0]))
            if not self.killer:
                figures["collectorSeconds"] = round(cpu(self.collect.process.pid), 1)
                figures["collectorMegabytes"] = round(peak(self.collect.process.pid), 1)
                figures["brokerSeconds"] = round(cpu(broker.process.pid), 1)
            figures.update(stored(self.path))
        return figures


def report(name, figures):
    """Prints figures; everything must be there once, in order."""
    print(name, json.dumps(figures), flush=True)
    if not figures["events"] == figures["stored"] == figures["distinct"] or figures["readersWithGaps"]:
        sys.exit("events were lost or doubled")
    # What a broker has lost is stored when it is sent again; `seq` has the order.
    if figures["outOfOrder"] and "kills" not in figures:
        sys.exit("events were stored out of order")


def kills(count):
    """Kills broker and collector in turn, as long as there is something to publish."""
    def killer(run, publisher):
        done = {"broker": 0, "collector": 0}
        for number in range(2 * count):
            with contextlib.suppress(subprocess.TimeoutExpired):
                publisher.wait(1.0)
                break
            if number % 2:
                run.collect.process.kill()
                run.collect.process.wait()
                run.collect = run.collector(run.broker)
                done["collector"] += 1
            else:
                run.broker.kill()
                run.broker.start()
                done["broker"] += 1
        return done
    return killer


def cuts(count):
    """Takes the cable between the sites and the center out, and puts it back."""
    def killer(run, publisher):
        done = 0
        for _ in range(count):
            with contextlib.suppress(subprocess.TimeoutExpired):
                publisher.wait(2.0)
                break
            subprocess.run(["ip", "link", "set", CABLE, "down"], check=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                publisher.wait(1.0)
            subprocess.run(["ip", "link", "set", CABLE, "up"], check=True)
            done += 1
        return {"cuts": done}
    return killer


CABLE, SPACE = "kzs0", "kazasu-sites"


@contextlib.contextmanager
def cable():
    """A network namespace for the sites, and a cable from there to here."""
    def ip(*words, check=True):
        subprocess.run(["ip", *words], check=check, stderr=None if check else subprocess.DEVNULL)
    ip("netns", "add", SPACE)
    try:
        ip("link", "add", CABLE, "type", "veth", "peer", "name", "kzs1", "netns", SPACE)
        ip("addr", "add", "10.213.7.1/30", "dev", CABLE)
        ip("link", "set", CABLE, "up")
        ip("-n", SPACE, "addr", "add", "10.213.7.2/30", "dev", "kzs1")
        ip("-n", SPACE, "link", "set", "kzs1", "up")
        yield ["ip", "netns", "exec", SPACE]
    finally:
        ip("link", "del", CABLE, check=False)
        ip("netns", "del", SPACE, check=False)


def durability():
    """Publishes 1,500 messages for a subscriber who is away, kills the broker, counts what the subscriber gets."""
    place = "persistence_location FOLDER/"
    variants = [
        ("defaults", ["persistence true"]),
        ("kazasu.conf", None),
        ("autosave_on_changes", ["persistence true", "autosave_interval 1", "autosave_on_changes true",
                                 "max_queued_messages 0"]),
    ]
    for name, settings in variants:
        for is_killed in (True, False):
            lines = [] if settings is None else [*settings, "allow_anonymous true"]
            with Mosquitto(lines, shipped=settings is None) as broker:
                if settings is not None:
                    with open(broker.configuration, "a", encoding="utf-8") as file:
                        file.write(place.replace("FOLDER", broker.folder) + "\n")
                    broker.kill()
                    broker.start()
                session = ["mosquitto_sub", "-h", broker.host, "-p", str(broker.port), "-c", "-i", "away", "-q", "1",
                           "-t", "kazasu/+/+/event"]
                subprocess.run([*session, "-E"], check=True)
                start = time.monotonic()
                broker.publish("kazasu/tokyo/door/event", [event(number) for number in range(1500)])
                seconds = time.monotonic() - start
                if is_killed:
                    # The interval of kazasu.conf.
                    time.sleep(2 if settings is None else 0)
                    broker.kill()
                    broker.start()
                got = subprocess.run([*session, "-W", "3"], capture_output=True, text=True, check=False).stdout
                print("durability", json.dumps({
                    "settings": name, "killed": is_killed, "published": 1500, "seconds": round(seconds, 2),
                    "received": len(set(got.splitlines()))}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["rate", "backlog", "kills", "cuts", "durability", "all"])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--sites", type=int, default=200)
    parser.add_argument("--events", type=int, default=14000)
    parser.add_argument("--kills", type=int, default=20)
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    what = [chosen.what] if chosen.what != "all" else ["durability", "rate", "backlog", "kills", "cuts"]
    if "durability" in what:
        durability()
    if "rate" in what:
        report("rate", Run(chosen.sites, 5, chosen.rate, chosen.seconds).run())
    if "backlog" in what:
        report("backlog", Run(1, 1, 0, 0, chosen.events).run())
    if "kills" in what:
        report("kills", Run(4, 1, 200, chosen.seconds, killer=kills(chosen.kills)).run())
    if "cuts" in what and "KAZASU_SPACE" not in os.environ:
        # Nothing of it is seen outside.
        words = [sys.executable, __file__, "cuts", "--seconds", str(chosen.seconds), "--kills", str(chosen.kills)]
        subprocess.run(["unshare", "--net", "--mount", *words], check=True, env=dict(os.environ, KAZASU_SPACE="1"))
    elif "cuts" in what:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        with cable() as prefix:
            report("cuts", Run(4, 1, 200, chosen.seconds, killer=cuts(chosen.kills), prefix=prefix).run("10.213.7.1"))


if __name__ == "__main__":
    main()
