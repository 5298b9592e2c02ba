# SPDX-License-Identifier: Apache-2.0
"""Tables of the bench."""

import os
import platform
import subprocess


def table(header, rows):
    """A markdown table with aligned columns, readable on a terminal too."""
    lines = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def text(line):
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"

    rule = "| " + " | ".join("-" * width for width in widths) + " |"
    return "\n".join([text(lines[0]), rule] + [text(line) for line in lines[1:]])


def times(series, base):
    """Rows of one job: median, middle half, and the ratio to the program that it is measured against."""
    for name, one in series.items():
        low, high = one.quartiles
        yield [name, f"{one.median:.1f}", f"{low:.1f} to {high:.1f}", f"{one.median / series[base].median:.2f}",
               f"{one.peak_mib:.1f}"]


def machine(python):
    """One sentence on what the numbers were taken on."""
    processor = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    load = os.getloadavg()[0]
    nfcpy = _first_line([python, "-c", "import nfc; print(nfc.__version__)"])
    libnfc = _first_line(["pkg-config", "--modversion", "libnfc"])
    swift = _first_line(["swift", "--version"])
    return (f"{processor}, {os.cpu_count()} processors, {system}, kernel {platform.release()}, "
            f"libnfc {libnfc}, nfcpy {nfcpy}, Python {platform.python_version()}, {swift}; "
            f"load average at the end {load:.1f}.")


def _first_line(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip().splitlines()[0]
