# SPDX-License-Identifier: Apache-2.0
"""`kazasu simulate` as the bench uses it: started, asked for its connection string, stopped, its counters read."""

import json
import os
import select
import signal
import subprocess
import tempfile

START_LIMIT = 15  # seconds until the connection string must be there
STOP_LIMIT = 10


class Simulator:
    """One virtual card on one simulated reader, for as long as the `with` block lasts."""

    def __init__(self, kazasu, card, timing=False, stats=None):
        self.command = [kazasu, "simulate", card]
        if timing:
            self.command.append("--timing")
        if stats:
            self.command += ["--stats", stats]
        self.stats = stats
        self.counters = None
        self.connection = None

    def __enter__(self):
        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.said)
        try:
            ready, _, _ = select.select([self.process.stdout], [], [], START_LIMIT)
            line = self.process.stdout.readline().decode().strip() if ready else ""
            if ":" not in line:
                self.said.seek(0)
                said = self.said.read().decode(errors="replace").strip()
                raise RuntimeError(f"{' '.join(self.command)} gave no connection string: {said or line or 'silence'}")
        except BaseException:
            self._end(signal.SIGKILL)
            raise
        self.connection = line
        return self

    def __exit__(self, *_):
        self._end(signal.SIGINT)
        if self.stats and os.path.exists(self.stats):
            with open(self.stats, encoding="utf-8") as file:
                self.counters = json.load(file)

    @property
    def tty(self):
        """The device behind the connection string, for programs that open it themselves."""
        return self.connection.split(":")[1]

    def _end(self, how):
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(STOP_LIMIT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.said.close()
