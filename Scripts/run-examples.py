#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of Docs/examples as Docs/examples/outputs.txt shows them, and compares what they print."""

import difflib
import os
import subprocess
import sys

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = os.path.join(TOP, "Docs", "examples", "outputs.txt")


def run(command, folder):
    """The command line, and what the program printed."""
    environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
    result = subprocess.run(["sh", "-c", command], cwd=TOP, env=environment, capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        sys.exit(f"{command}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return [f"$ {command}"] + result.stdout.splitlines()


def main():
    folder = os.path.abspath(sys.argv[1])
    with open(PAGE, encoding="utf-8") as file:
        expected = file.read().splitlines()
    received = [line for shown in expected if shown.startswith("$ ") for line in run(shown[2:], folder)]
    difference = list(difflib.unified_diff(expected, received, "expected", "printed", lineterm=""))
    if difference or not received:
        sys.exit("\n".join(difference) or f"no commands in {PAGE}")


if __name__ == "__main__":
    main()
