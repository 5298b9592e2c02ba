# SPDX-License-Identifier: Apache-2.0
"""Runs of programs and what was measured about them."""

import os
import statistics
import subprocess
from dataclasses import dataclass, field

RUN_LIMIT = 120  # seconds; no program of the bench needs a tenth of it


@dataclass
class Run:
    """One run of one program."""

    milliseconds: float
    peak_kib: int
    status: int
    output: bytes


@dataclass
class Series:
    """All measured runs of one program."""

    runs: list = field(default_factory=list)

    @property
    def median(self):
        """Milliseconds."""
        return statistics.median(run.milliseconds for run in self.runs)

    def ratio(self, other):
        """The median of its times to those of another program in the same round, which a busy moment hits as well."""
        return statistics.median(mine.milliseconds / its.milliseconds for mine, its in zip(self.runs, other.runs))

    @property
    def quartiles(self):
        """The middle half of the runs, in milliseconds."""
        times = sorted(run.milliseconds for run in self.runs)
        if len(times) < 4:
            return times[0], times[-1]
        low, _, high = statistics.quantiles(times, n=4)
        return low, high

    @property
    def peak_kib(self):
        """The most memory that any run held, in KiB."""
        return max(run.peak_kib for run in self.runs)

    @property
    def peak_mib(self):
        """The same in MiB."""
        return self.peak_kib / 1024


class Runner:
    """Starts programs through the small C program that measures them."""

    def __init__(self, measure, work):
        self.measure = measure
        self.result = os.path.join(work, "run.txt")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LIBNFC_", "KAZASU_"))}
        # No layouts of cards that an earlier run saw.
        self.environment = {**kept, "LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": "/dev/null/kazasu"}

    def run(self, command):
        """Runs a program once; a program that fails ends the bench, since its time would mean nothing."""
        done = subprocess.run(
            [self.measure, self.result, *command], env=self.environment, timeout=RUN_LIMIT,
            stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode:
            raise RuntimeError(f"{command[0]} could not be started: {done.stderr.decode().strip()}")
        with open(self.result, encoding="ascii") as file:
            nanoseconds, peak, status = map(int, file.read().split())
        if status:
            raise RuntimeError(f"{' '.join(command)} ended with status {status}: {done.stderr.decode().strip()}")
        return Run(nanoseconds / 1e6, peak, status, done.stdout)

    def interleaved(self, commands, times):
        """Runs every program once to warm up, then all in turn, so that a busy moment hits all alike."""
        series = {name: Series() for name in commands}
        for name, command in commands.items():
            self.run(command)
        for _ in range(times):
            for name, command in commands.items():
                series[name].runs.append(self.run(command))
        return series
