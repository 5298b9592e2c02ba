#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kazasu collect` with real mosquitto, RabbitMQ, PostgreSQL and SQLite, and what Docs/recipes/postgresql.md shows.

KAZASUD names the program, SITE_PUBLISHER the publisher of many sites (both by `make test-sites`).
"""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import types
import unittest

import taps
from brokers import TOP, Collect, Mosquitto, PostgreSQL, RabbitMQ, event, wait_until

KAZASUD = os.environ["KAZASUD"]
PUBLISHER = os.environ["SITE_PUBLISHER"]
TOPIC = "kazasu/tokyo/door/event"


class SQLiteFile:
    """A file of events."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kazasu-sites-")
        self.path = self.folder.name + "/events.sqlite"

    @property
    def address(self):
        return "sqlite:" + self.path

    def query(self, statement):
        """The rows of a query; none while there is no table."""
        with sqlite3.connect(self.path) as database:
            try:
                return database.execute(statement).fetchall()
            except sqlite3.OperationalError:
                return []

    def numbers(self):
        """The numbers of all events, in order."""
        return [row[0] for row in self.query("SELECT seq FROM events ORDER BY seq")]


class CollectTests(unittest.TestCase):
    def setUp(self):
        self.file = SQLiteFile()
        self.addCleanup(self.file.folder.cleanup)

    def collect(self, broker, *options, to=None, environment=None):
        """A collector that has subscribed; a health message comes back to no one else."""
        collect = Collect(KAZASUD, "--mqtt", broker.url, "--to", to or self.file.address, "--name", "test", *options,
                          environment=environment)
        self.addCleanup(collect.__exit__)
        self.assertIn("connected", collect.process.stderr.readline())
        return collect

    def test_each_once_and_mode_and_end(self):
        with Mosquitto() as broker:
            for number in (signal.SIGTERM, signal.SIGINT):
                collect = self.collect(broker)
                broker.publish(TOPIC, [event(1), event(2), event(2), event(3)])
                wait_until(lambda: self.file.numbers() == [1, 2, 3])
                self.assertEqual(collect.end(number), 0)
            row = self.file.query("SELECT site, reader, type, at, body FROM events WHERE seq = 2")[0]
            self.assertEqual(row, ("tokyo", "door", "on", "2026-11-21T11:45:00.123Z", event(2)))
            self.assertEqual(os.stat(self.file.path).st_mode & 0o777, 0o600)

    def test_acknowledgements(self):
        with Mosquitto() as broker, subprocess.Popen(
                ["mosquitto_sub", "-h", broker.host, "-p", str(broker.port), "-q", "1", "-t", "kazasu/tokyo/ack",
                 "-C", "1"], stdout=subprocess.PIPE, text=True) as consumer:
            self.collect(broker)
            wait_until(lambda: broker.publish(TOPIC, [event(1)]) or consumer.poll() is not None)
            self.assertEqual(consumer.stdout.read(), '{"reader":"door","upTo":1}\n')

    def test_messages_wait_while_nobody_collects(self):
        with Mosquitto(shipped=True) as broker:
            self.assertEqual(self.collect(broker).end(), 0)
            broker.publish(TOPIC, [event(number) for number in range(1, 1501)])
            self.collect(broker)
            wait_until(lambda: len(self.file.numbers()) == 1500)

    def test_malformed_events_block_nothing(self):
        with Mosquitto() as broker:
            collect = self.collect(broker)
            broker.publish(TOPIC, ["nonsense", event(1), event(2, site="osaka"), event(3)])
            self.assertEqual([collect.line()["reason"] for _ in range(2)], ["notJSON", "site"])
            wait_until(lambda: self.file.numbers() == [1, 3])

    def test_gap_and_restart_and_late(self):
        with Mosquitto() as broker:
            collect = self.collect(broker, "--gap-after", "1")
            broker.publish(TOPIC, [event(1), event(4)])
            report = collect.line()
            self.assertEqual((report["event"], report["from"], report["to"]), ("gap", 2, 3))
            self.assertEqual(report["schema"], "kazasu.collect/1")
            broker.publish(TOPIC, [event(3)])
            self.assertEqual(collect.line()["event"], "late")
            broker.publish(TOPIC, [event(1, epoch=1)])
            self.assertEqual(collect.line()["event"], "restart")

    def test_silent_site(self):
        with Mosquitto() as broker:
            collect = self.collect(broker, "--silent-after", "1")
            broker.publish(TOPIC, [event(1)])
            self.assertEqual(collect.line()["event"], "silent")
            broker.publish(TOPIC, [event(2)])
            self.assertEqual(collect.line()["event"], "returned")

    def test_two_collectors_share_the_work(self):
        with Mosquitto() as broker:
            for name in ("one", "two"):
                self.collect(broker, "--shared", "center", "--name", name)
            broker.publish(TOPIC, [event(number) for number in range(1, 501)])
            wait_until(lambda: len(self.file.numbers()) == 500)
            wait_until(lambda: self.file.query("SELECT up_to FROM event_progress") == [(500,)])

    def test_the_broker_dies(self):
        with Mosquitto() as broker:
            self.collect(broker)
            broker.publish(TOPIC, [event(1)])
            wait_until(lambda: self.file.numbers() == [1])
            broker.kill()
            broker.start()
            number = iter(range(2, 1000))
            wait_until(lambda: broker.publish(TOPIC, [event(next(number))]) or len(self.file.numbers()) > 1)

    def test_wrong_command_lines(self):
        for words, text in [
            (["--to", "sqlite:x"], "--mqtt"), (["--mqtt", "mqtt://h", "--to", "mysql:x"], "--to"),
            (["--mqtt", "mqtt://me:pw@h", "--to", "sqlite:x"], "--mqtt-password-from"),
            (["--mqtt", "mqtt://h", "--to", "postgresql://me:pw@h/x"], "PGPASSWORD"),
            (["--mqtt", "mqtt://h", "--to", "sqlite:x", "--shared", "a/b"], "--shared"),
        ]:
            result = subprocess.run([KAZASUD, "collect", *words], capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 64, result.stderr)
            self.assertIn(text, result.stderr)
        result = subprocess.run([KAZASUD, "collect", "--mqtt", "mqtt://h", "--to", "sqlite:/nonexistent/x", "--json"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 73)
        self.assertIn('"reason":"cannotWrite"', result.stderr)

    def test_postgresql(self):
        with Mosquitto() as broker, PostgreSQL() as database:
            collect = self.collect(broker, to=database.url)
            broker.publish(TOPIC, [event(1), event(2), event(2)])
            wait_until(lambda: database.query("SELECT seq FROM events ORDER BY seq") == [("1",), ("2",)])
            # It goes away, and what comes meanwhile waits.
            database.stop()
            broker.publish(TOPIC, [event(3)])
            self.assertIn("for the database", collect.process.stderr.readline())
            database.start()
            wait_until(lambda: database.query("SELECT max(seq) FROM events") == [("3",)])
            self.assertEqual(database.query("SELECT up_to FROM event_progress"), [("3",)])
            self.assertEqual(database.query("""SELECT count(*) FROM events WHERE body @> '{"type": "on"}'"""), [("3",)])
            # The statements of the recipe.
            with open(os.path.join(TOP, "Docs/recipes/postgresql.md"), encoding="utf-8") as file:
                statements = re.findall(r"```sql\n(.*?)```", file.read(), re.S)
            self.assertGreater(len(statements), 1)
            for statement in statements:
                database.query(statement)
            self.assertEqual(collect.end(), 0)

    def test_what_is_not_stored_stays_at_the_broker(self):
        with Mosquitto(shipped=True) as broker, PostgreSQL() as database:
            collect = self.collect(broker, to=database.url)
            broker.publish(TOPIC, [event(1), event(2)])
            wait_until(lambda: database.query("SELECT count(*) FROM events") == [("2",)])
            database.stop()
            # More than what is read at once, and than a broker sends without an acknowledgement.
            broker.publish(TOPIC, [event(number) for number in range(3, 1203)])
            self.assertIn("the broker keeps what is not stored", collect.process.stderr.readline())
            self.assertEqual(collect.end(), 0)
            database.start()
            self.collect(broker, to=database.url)
            wait_until(lambda: database.query("SELECT count(*) FROM events") == [("1202",)])

    def test_a_killed_collector_loses_nothing(self):
        with Mosquitto(shipped=True) as broker:
            numbers = list(range(1, 3001))
            collect = self.collect(broker)
            broker.publish(TOPIC, [event(number) for number in numbers[:2000]])
            collect.process.kill()
            collect.process.communicate()
            broker.publish(TOPIC, [event(number) for number in numbers[2000:]])
            self.collect(broker)
            wait_until(lambda: self.file.numbers() == numbers)

    def test_a_read_only_session_is_left(self):
        with Mosquitto() as broker, PostgreSQL() as database:
            self.collect(broker, to=database.url)
            for number in (1, 2):
                # As after a failover: what was the primary takes no writes for a while.
                database.query("ALTER DATABASE postgres SET default_transaction_read_only = on")
                database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                               "WHERE application_name = 'kazasu'")
                broker.publish(TOPIC, [event(number)])
                database.query("BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT")
                wait_until(lambda count=number: database.query("SELECT max(seq) FROM events") == [(str(count),)])

    def test_rights_to_rows_are_enough(self):
        with Mosquitto() as broker, PostgreSQL() as database:
            # As earlier versions made it: no jsonb, one index.
            database.query(
                "CREATE TABLE events (id UUID PRIMARY KEY, site TEXT NOT NULL, reader TEXT NOT NULL, "
                "seq BIGINT NOT NULL, type TEXT NOT NULL, at TIMESTAMPTZ NOT NULL, received_at TIMESTAMPTZ NOT NULL, "
                "body JSON NOT NULL); CREATE TABLE event_progress (site TEXT NOT NULL, reader TEXT NOT NULL, "
                "topic_site TEXT NOT NULL, topic_reader TEXT NOT NULL, up_to BIGINT NOT NULL, "
                "last_seq BIGINT NOT NULL, since UUID NOT NULL, PRIMARY KEY (site, reader)); "
                "CREATE ROLE ins LOGIN; GRANT SELECT, INSERT, UPDATE ON events, event_progress TO ins")
            kind = "SELECT data_type FROM information_schema.columns WHERE table_name = 'events' AND column_name = 'body'"
            few = Collect(KAZASUD, "--mqtt", broker.url, "--to", database.url.replace("kazasu@", "ins@"),
                          "--name", "test")
            with few:
                lines = [few.process.stderr.readline() for _ in range(5)]
                self.assertEqual([line.count("index of the table") for line in lines].count(1), 3, lines)
                self.assertEqual([line.count("stays json") for line in lines].count(1), 1, lines)
                broker.publish(TOPIC, [event(1)])
                wait_until(lambda: database.query("SELECT seq FROM events") == [("1",)])
                self.assertEqual(few.end(), 0)
            self.assertEqual(database.query(kind), [("json",)])
            # The owner of the tables improves them.
            collect = self.collect(broker, to=database.url)
            broker.publish(TOPIC, [event(2)])
            wait_until(lambda: database.query("SELECT count(*) FROM events") == [("2",)])
            self.assertEqual(database.query(kind), [("jsonb",)])
            self.assertEqual(
                database.query("SELECT indexname FROM pg_indexes WHERE tablename = 'events' ORDER BY 1"),
                [("events_at",), ("events_pkey",), ("events_reader",), ("events_tag",)])
            self.assertEqual(collect.end(), 0)
            # Without the tables, a user who cannot make them is told so.
            database.query("DROP TABLE events")
            result = subprocess.run(
                [KAZASUD, "collect", "--mqtt", broker.url, "--to", database.url.replace("kazasu@", "ins@")],
                capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 73)
            self.assertIn("42501", result.stderr)

    def test_many_sites(self):
        with Mosquitto(shipped=True) as broker:
            self.collect(broker)
            result = subprocess.run([PUBLISHER, broker.host, str(broker.port), "20", "5", "100", "3", "0"],
                                    capture_output=True, text=True, check=True, timeout=300)
            self.assertIn('"events":300', result.stdout)
            rows = self.file.query("SELECT count(*), count(DISTINCT site || reader || seq), max(seq) FROM events")
            self.assertEqual(rows, [(300, 300, 3)])


class TapTests(unittest.TestCase):
    """The soak test in short: four readers of `watch`, which is killed, as the broker is."""

    def test_no_tap_is_lost(self):
        figures = taps.soak(types.SimpleNamespace(taps=300, kills=4, broker_kills=1, cuts=0, pace=50))
        self.assertEqual(taps.faults(figures), [], figures)


class NameTests(unittest.TestCase):
    """Sites and readers whose names are not ASCII."""

    def test_sites_outside_ascii_have_topics_of_their_own(self):
        file = SQLiteFile()
        self.addCleanup(file.folder.cleanup)
        sites = [(site, reader) for site in ("東京", "大阪") for reader in ("入口", "出口")]
        with Mosquitto() as broker, Collect(
                KAZASUD, "--mqtt", broker.url, "--to", file.address, "--name", "test") as collect:
            self.assertIn("connected", collect.process.stderr.readline())
            for site in ("東京", "大阪"):
                readers = []
                for reader in ("入口", "出口"):
                    card = shutil.copy(f"{TOP}/Fixtures/felica/short-visits.json", f"{file.folder.name}/{reader}.json")
                    readers += ["-r", f"{reader}=virtual:{card}"]
                watcher = subprocess.Popen(
                    [KAZASUD, "watch", "-q", "--site", site, "--outbox", f"{file.folder.name}/{site}", "--mqtt",
                     broker.url, *readers], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                self.addCleanup(watcher.wait)
                self.addCleanup(watcher.kill)
                self.addCleanup(watcher.stderr.close)
            wait_until(lambda: sorted(file.query("SELECT DISTINCT site, reader FROM events WHERE type = 'on'"))
                       == sorted(sites))


@unittest.skipUnless(os.environ.get("KAZASU_RABBITMQ"), "make test-rabbitmq starts RabbitMQ")
class RabbitMQTests(unittest.TestCase):
    def test_the_same_events(self):
        file = SQLiteFile()
        self.addCleanup(file.folder.cleanup)
        with RabbitMQ() as broker, Collect(
                KAZASUD, "--mqtt", broker.url, "--to", file.address, "--name", "test", "--mqtt-version",
                "3.1.1") as collect:
            self.assertIn("connected", collect.process.stderr.readline())
            result = subprocess.run(
                [PUBLISHER, "127.0.0.1", str(broker.port), "10", "5", "100", "3", "0", "site", "3.1.1"],
                capture_output=True, text=True, check=True, timeout=300)
            self.assertIn('"events":300', result.stdout)
            self.assertEqual(file.query("SELECT count(*), max(seq) FROM events"), [(300, 6)])
            self.assertEqual(collect.end(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
