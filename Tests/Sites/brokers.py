# SPDX-License-Identifier: Apache-2.0
"""Real brokers and databases for the tests and the soak run, each on free ports and in a folder of its own."""

import contextlib
import json
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def free_port():
    """A port of loopback that nobody uses, and that the system gives to nobody while its server is dead."""
    while True:
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", random.randint(20_000, 30_000)))
            return probe.getsockname()[1]


def wait_until(condition, limit=60.0):
    """Asks again and again until something has come about."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(str(condition))
        time.sleep(0.02)


def accepts(port, host="127.0.0.1"):
    """Whether somebody listens."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), 1):
        return True
    return False


class Server:
    """A server process that is killed by its own number."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="kazasu-sites-")
        self.process = None

    def kill(self):
        """As a power cut."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    stop = kill


class Mosquitto(Server):
    """Debian's mosquitto. `shipped` takes persistence and queues from packaging/mosquitto/kazasu.conf."""

    def __init__(self, settings=(), shipped=False, host="127.0.0.1"):
        super().__init__()
        self.host, self.port = host, free_port()
        lines = [f"listener {self.port} {host}", "user root", "log_type none"]
        if shipped:
            with open(os.path.join(TOP, "packaging/mosquitto/kazasu.conf"), encoding="utf-8") as file:
                keep = ("autosave", "max_", "persist")
                lines += [line for line in file.read().splitlines() if line.startswith(keep)]
            settings = [f"persistence_location {self.folder}/", "allow_anonymous true", *settings]
        lines = [line for line in lines if not (shipped and line.startswith("persistence_location"))]
        self.configuration = os.path.join(self.folder, "mosquitto.conf")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write("\n".join([*lines, *(settings or ["allow_anonymous true"])]) + "\n")

    def start(self):
        self.process = subprocess.Popen(["/usr/sbin/mosquitto", "-c", self.configuration], stderr=subprocess.DEVNULL)
        wait_until(lambda: accepts(self.port, self.host))

    @property
    def url(self):
        return f"mqtt://{self.host}:{self.port}"

    def publish(self, topic, lines, *options):
        """Publishes lines with QoS 1; returns when each is acknowledged."""
        subprocess.run(
            ["mosquitto_pub", "-h", self.host, "-p", str(self.port), "-q", "1", "-t", topic, "-l", *options],
            input="".join(line + "\n" for line in lines), text=True, check=True)


class RabbitMQ(Server):
    """Debian's rabbitmq-server with its MQTT plugin, with a node and an epmd of its own."""

    program = "/usr/lib/rabbitmq/bin/rabbitmq-server"

    def __init__(self):
        super().__init__()
        self.port = free_port()
        names = {"conf": "rabbitmq.conf", "plugins": "enabled_plugins"}
        paths = {key: os.path.join(self.folder, name) for key, name in names.items()}
        with open(paths["conf"], "w", encoding="utf-8") as file:
            file.write(f"listeners.tcp.1 = 127.0.0.1:{free_port()}\nmqtt.listeners.tcp.1 = 127.0.0.1:{self.port}\n"
                       "mqtt.allow_anonymous = true\nlog.console = false\n")
        with open(paths["plugins"], "w", encoding="utf-8") as file:
            file.write("[rabbitmq_mqtt].\n")
        self.environment = dict(
            os.environ, HOME=self.folder, RABBITMQ_NODENAME=f"kazasu{self.port}@localhost",
            RABBITMQ_CONFIG_FILE=paths["conf"], RABBITMQ_ENABLED_PLUGINS_FILE=paths["plugins"],
            RABBITMQ_MNESIA_BASE=self.folder, RABBITMQ_LOG_BASE=self.folder, RABBITMQ_LOGS=self.folder + "/log",
            RABBITMQ_DIST_PORT=str(free_port()), ERL_EPMD_PORT=str(free_port()), ERL_EPMD_ADDRESS="127.0.0.1",
            RABBITMQ_PID_FILE=self.folder + "/pid", RABBITMQ_GENERATED_CONFIG_DIR=self.folder)

    def start(self):
        self.process = subprocess.Popen(
            [self.program], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: accepts(self.port), 240)

    def stop(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        subprocess.run(["epmd", "-port", self.environment["ERL_EPMD_PORT"], "-kill"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    @property
    def url(self):
        return f"mqtt://127.0.0.1:{self.port}"


class PostgreSQL(Server):
    """Debian's PostgreSQL in a folder of its own, as a user who is not root."""

    def __init__(self):
        super().__init__()
        self.port = free_port()
        self.bin = max(
            (os.path.join("/usr/lib/postgresql", version, "bin") for version in os.listdir("/usr/lib/postgresql")),
            key=lambda path: float(path.split("/")[-2]))
        self.data = os.path.join(self.folder, "data")
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "kazasu", "-E", "UTF8", "--no-sync")

    def command(self, program, *arguments):
        words = [os.path.join(self.bin, program), *arguments]
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *words] if os.getuid() == 0 \
            else words

    def run(self, program, *arguments):
        subprocess.run(self.command(program, *arguments), check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def start(self):
        self.process = subprocess.Popen(
            self.command("postgres", "-D", self.data, "-p", str(self.port), "-k", self.folder, "-h", "127.0.0.1"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        wait_until(lambda: subprocess.run(
            [os.path.join(self.bin, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)],
            check=False).returncode == 0)

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()
            self.process = None

    def query(self, statement):
        """The rows of a query, as tuples of texts."""
        result = subprocess.run(
            [os.path.join(self.bin, "psql"), self.url, "-XAtq", "-F", "|", "-c", statement],
            check=True, capture_output=True, text=True)
        return [tuple(line.split("|")) for line in result.stdout.splitlines()]

    @property
    def url(self):
        return f"postgresql://kazasu@127.0.0.1:{self.port}/postgres"


class Collect:
    """`kazasu collect`, with the lines that it prints."""

    def __init__(self, program, *arguments, environment=None):
        self.process = subprocess.Popen(
            [program, "collect", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, LC_ALL="C.UTF-8", **(environment or {})))
        self.started = self.process.stderr.readline()

    def line(self):
        """The next report."""
        return json.loads(self.process.stdout.readline())

    def end(self, number=signal.SIGTERM):
        """Its exit status after this signal."""
        self.process.send_signal(number)
        self.process.communicate()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def event(number, site="tokyo", reader="door", epoch=0):
    """An event as `watch` publishes it; IDs grow with the numbers."""
    return json.dumps({
        "schema": "kazasu.tap/1", "id": f"0193{epoch:04x}-0000-7000-8000-{number:012x}", "seq": number, "type": "on",
        "at": "2026-11-21T20:45:00.123+09:00", "site": site, "reader": reader, "tag": "0114B34DAA012345",
        "identity": "fixed"})
