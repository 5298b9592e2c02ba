#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kazasu watch` with a real Home Assistant, mosquitto and a simulated reader (`make test-ha`).

What is older than --ha-max-age when it arrives fires nothing, whatever stalled; what is young fires at once. KAZASUD
and CARD_STAND name the programs. TAPS: of how many taps the latency is printed.
"""

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest

import home_assistant
from brokers import TOP, Collect, Mosquitto, wait_until
from home import Home
from taps import Lines

KAZASUD, STAND = os.environ["KAZASUD"], os.environ["CARD_STAND"]
# The card of the tests, and what is on it.
CARD, TAG, BALANCE = TOP + "/Fixtures/felica/short-visits.json", "0101031234567890", "5000"
# The longest age of a tap, and how long things stall, in seconds.
AGE, STALL = 2, 15
FIRING = ["tag", "presented", "removed", "event"]


class Proxy:
    """A TCP proxy before the broker that can stop to pass anything on, as a network does."""

    def __init__(self, port):
        self.target = port
        self.flows = threading.Event()
        self.flows.set()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.server.accept()[0]
                try:
                    broker = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    client.close()
                    continue
                for pair in ((client, broker), (broker, client)):
                    threading.Thread(target=self.copy, args=pair, daemon=True).start()

    def copy(self, source, target):
        with source, contextlib.suppress(OSError):
            while data := source.recv(65_536):
                self.flows.wait()
                target.sendall(data)
        # The other thread closes it.
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def end(self):
        self.server.close()


class Stand:
    """A reader on which a card is put."""

    def __init__(self, folder):
        with open(CARD, encoding="utf-8") as file:
            card = json.load(file)
        del card["virtual"]
        with open(folder + "/card.json", "w", encoding="utf-8") as file:
            json.dump(card, file)
        self.link = folder + "/reader"
        self.process = subprocess.Popen([STAND, folder + "/card.json", self.link], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def put(self, word):
        """Puts the card down (`on`) or takes it away (`off`); the time when it was done."""
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()
        return time.time()

    def end(self):
        self.process.kill()
        self.process.communicate()


class Watcher:
    """`kazasu watch` with what it prints and logs."""

    def __init__(self, folder, port, *options):
        self.events, self.log = [], []
        self.process = subprocess.Popen(
            [KAZASUD, "watch", "--site", "home", "--outbox", folder + "/outbox.sqlite", "--mqtt",
             f"mqtt://127.0.0.1:{port}", "--home-assistant", "--ha-max-age", str(AGE), "--read", "balance", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, LC_ALL="C.UTF-8"))
        self.lines = Lines(self.process.stdout, self.events.append)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        with self.process.stderr:
            for line in self.process.stderr:
                self.log.append(line)

    def count(self, kind):
        return sum(event["type"] == kind for event in self.events)

    def connections(self):
        return sum("connected to the broker" in line for line in self.log)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(60)
        self.lines.end()
        self.thread.join()


class HomeTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.folder = cls.stack.enter_context(tempfile.TemporaryDirectory(prefix="kazasu-home-"))
        cls.broker = cls.stack.enter_context(Mosquitto())
        cls.proxy = Proxy(cls.broker.port)
        cls.stack.callback(cls.proxy.end)
        cls.stand = Stand(cls.folder)
        cls.stack.callback(cls.stand.end)
        cls.home = cls.stack.enter_context(Home(cls.broker.port))
        cls.start_watcher()
        cls.stack.callback(lambda: cls.watcher.process.poll() is None and cls.watcher.end(signal.SIGKILL))
        wait_until(lambda: cls.reader_state() == "on")
        device = cls.home.device("kazasu-home-entrance")["id"]
        for name, trigger in [
                ("tag", {"platform": "event", "event_type": "tag_scanned"}),
                ("presented", {"platform": "device", "domain": "mqtt", "device_id": device, "type": "presented",
                               "subtype": "card"}),
                ("removed", {"platform": "device", "domain": "mqtt", "device_id": device, "type": "removed",
                             "subtype": "card"}),
                ("event", {"platform": "state", "entity_id": "event.kazasu_entrance_card", "attribute": "event_type",
                           "to": "on"})]:
            cls.home.automate(name, trigger)

    @classmethod
    def start_watcher(cls, *options):
        cls.watcher = Watcher(cls.folder, cls.proxy.port, *(options or ("-r", f"entrance=pn532_uart:{cls.stand.link}")))

    @classmethod
    def reader_state(cls):
        return cls.home.states().get("binary_sensor.kazasu_entrance_reader", {}).get("state")

    def setUp(self):
        """No card lies there, and what was before is over."""
        self.stand.put("off")
        wait_until(lambda: not self.has_card())
        self.settle()

    # --- steps

    def has_card(self):
        return [event["type"] for event in self.watcher.events if event["type"] != "reader"][-1:] == ["on"]

    def settle(self):
        """Waits until Home Assistant has dealt with what the watcher has printed."""
        last = [event for event in self.watcher.events if event["type"] != "reader"][-1:]
        entity = "event.kazasu_entrance_card"
        wait_until(lambda: all(self.home.states()[entity]["attributes"]["at"] == event["at"] for event in last))

    def fired(self, since):
        """How often each automation ran, and tags were scanned, since then."""
        counts = dict.fromkeys([*FIRING, "scanned"], 0)
        for _, event in self.home.events[since:]:
            if event["event_type"] == "tag_scanned":
                counts["scanned"] += 1
            elif event["event_type"] == "automation_triggered":
                counts[event["data"]["name"]] += 1
        return counts

    def tap(self):
        """Puts the card down and takes it away, each until the watcher has noticed."""
        for word in ("on", "off"):
            before = self.watcher.count(word)
            self.stand.put(word)
            wait_until(lambda word=word, before=before: self.watcher.count(word) > before)

    def expect_one_more(self, since, times=1):
        """A live tap fires everything once, and nothing else was fired since then."""
        self.tap()
        wait_until(lambda: self.fired(since)["removed"] >= times, 30)
        self.assertEqual(self.fired(since), dict.fromkeys([*FIRING, "scanned"], times))

    def mark(self):
        return len(self.home.events)

    def ages(self):
        """Waits until what happened until now is too old."""
        time.sleep(AGE + 1)

    def kept(self):
        """What Home Assistant remembers of automations and tags, also of the time when nobody looked."""
        states = self.home.states()
        return ([states[f"automation.{name}"]["attributes"]["last_triggered"] for name in FIRING],
                [tag["last_scanned"] for tag in self.home.call("tag/list")])

    # --- tests, in the order of their names

    def test_00_what_is_announced(self):
        lines = subprocess.run(
            ["mosquitto_sub", "-p", str(self.broker.port), "-v", "-C", "7", "-W", "30", "-t", "homeassistant/+/+/config"],
            check=True, capture_output=True, text=True).stdout
        home_assistant.check(lines.splitlines())

    def test_01_what_the_user_sees(self):
        since = self.mark()
        self.expect_one_more(since)
        scanned = [event["data"] for _, event in self.home.events[since:] if event["event_type"] == "tag_scanned"]
        device = self.home.device("kazasu-home-entrance")
        self.assertEqual([(one["tag_id"], one["device_id"]) for one in scanned], [(TAG, device["id"])])
        self.assertEqual(device["name"], "Kazasu entrance")
        self.assertEqual((device["manufacturer"], device["model"]), ("NXP", "PN532"))
        self.assertEqual(self.home.device("kazasu-home")["manufacturer"], "Kazasu")
        balance = self.home.states()["sensor.kazasu_entrance_balance"]
        self.assertEqual(balance["state"], BALANCE)
        self.assertEqual(balance["attributes"]["unit_of_measurement"], "JPY")
        self.assertEqual(balance["attributes"]["device_class"], "monetary")
        card = self.home.states()["event.kazasu_entrance_card"]["attributes"]
        self.assertEqual((card["event_type"], card["last"], card["tag"]), ("idle", "off", TAG))
        triggers = self.home.call("device_automation/trigger/list", device_id=device["id"])
        self.assertEqual({(one["type"], one["subtype"]) for one in triggers if one["domain"] == "mqtt"},
                         {("presented", "card"), ("removed", "card")})

    def test_02_home_assistant_pauses(self):
        since = self.mark()
        self.home.pause()
        self.tap()
        time.sleep(STALL)
        self.home.resume()
        self.expect_one_more(since)

    def test_03_the_network_stalls(self):
        since = self.mark()
        self.proxy.flows.clear()
        self.tap()
        self.ages()
        self.proxy.flows.set()
        self.expect_one_more(since)

    def test_04_the_broker_dies(self):
        since, connections = self.mark(), self.watcher.connections()
        self.broker.kill()
        self.tap()
        self.ages()
        self.broker.start()
        wait_until(lambda: self.watcher.connections() > connections and self.reader_state() == "on")
        start = time.time()
        self.expect_one_more(since)
        print(f"after an outage, the first live tap was over in {time.time() - start:.1f} s")

    def test_05_the_broker_restarts_with_a_card_on(self):
        self.stand.put("on")
        wait_until(self.has_card)
        self.settle()
        self.ages()
        since, connections = self.mark(), self.watcher.connections()
        self.broker.kill()
        self.broker.start()
        wait_until(lambda: self.watcher.connections() > connections and self.reader_state() == "on")
        # The end of the visit is the first thing that is fired.
        self.stand.put("off")
        wait_until(lambda: self.fired(since)["removed"] == 1)
        self.assertEqual(self.fired(since), dict.fromkeys([*FIRING, "scanned"], 0) | {"removed": 1})

    def test_06_home_assistant_restarts_with_a_card_on(self):
        self.stand.put("on")
        wait_until(self.has_card)
        self.settle()
        self.ages()
        before = self.kept()
        self.home.stop()
        self.home.start()
        wait_until(lambda: self.reader_state() == "on")
        self.assertEqual(self.kept(), before)
        since = self.mark()
        self.stand.put("off")
        wait_until(lambda: self.fired(since)["removed"] == 1)

    def test_07_home_assistant_starts_before_the_broker(self):
        self.stand.put("on")
        wait_until(self.has_card)
        self.settle()
        self.ages()
        before, connections = self.kept(), self.watcher.connections()
        self.home.stop()
        self.broker.kill()
        self.home.start()
        self.broker.start()
        wait_until(lambda: self.watcher.connections() > connections and self.reader_state() == "on", 120)
        self.assertEqual(self.kept(), before)
        self.stand.put("off")
        wait_until(lambda: not self.has_card())
        self.settle()
        self.expect_one_more(self.mark())

    def test_08_a_collector_starts_late(self):
        self.expect_one_more(self.mark())
        since = self.mark()
        path = self.folder + "/events.sqlite"
        with Collect(KAZASUD, "--mqtt", self.broker.url, "--to", "sqlite:" + path, "--name", "test") as collect:
            for stream in (collect.process.stdout, collect.process.stderr):
                threading.Thread(target=stream.read, daemon=True).start()
            # The tap before is still young, too, when the collector asks for what it has missed.
            self.expect_one_more(since)

            def stored():
                with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(
                        sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
                    return database.execute("SELECT count(*) FROM events").fetchone()[0]
                return 0
            wait_until(lambda: stored() >= len(self.watcher.events))
        self.expect_one_more(since, 2)

    def test_10_latency(self):
        late = {"tag scanned": [], "presented": []}
        taps = int(os.environ.get("TAPS", "200"))
        for _ in range(taps):
            since = self.mark()
            moment = self.stand.put("on")
            wait_until(lambda since=since: all(self.fired(since)[name] for name in ("tag", "presented")))
            for at, event in self.home.events[since:]:
                if event["event_type"] == "tag_scanned":
                    late["tag scanned"].append(at - moment)
                elif event["event_type"] == "automation_triggered" and event["data"]["name"] == "presented":
                    late["presented"].append(at - moment)
            self.stand.put("off")
            wait_until(lambda since=since: self.fired(since)["removed"])
        print()
        for name, values in late.items():
            self.assertEqual(len(values), taps)
            values = sorted(round(1000 * value) for value in values)
            print(f"{name}: p50 {values[len(values) // 2]} ms, p90 {values[len(values) * 9 // 10]} ms, "
                  f"p99 {values[len(values) * 99 // 100]} ms, longest {values[-1]} ms")

    def test_11_another_reader_is_watched(self):
        before = self.kept()
        self.watcher.end()
        self.start_watcher("-r", f"gate=pn532_uart:{self.stand.link}")
        wait_until(lambda: self.home.states().get("binary_sensor.kazasu_gate_reader", {}).get("state") == "on")
        self.assertEqual(self.reader_state(), "off")
        self.watcher.end()
        self.assertEqual(self.kept(), before)

    def test_09_the_log_is_clean(self):
        wrong = [line for line in self.home.log().splitlines() if "mqtt" in line.lower() and "ERROR" in line]
        self.assertEqual([line for line in wrong if "onnect" not in line], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
