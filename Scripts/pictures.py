#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py PROGRAM OUT: makes the pictures of the README from the program: what a terminal shows, and the page of `serve`.

Runs in the virtual environment of the page's tests, which has a browser's driver."""

import html
import os
import re
import shlex
import subprocess
import sys
import unicodedata

from playwright.sync_api import sync_playwright

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
CARD = "Fixtures/cards/suica-p1/card.json"
COMMANDS = ["kazasu balance", "kazasu history -n 5", "kazasu scan | grep -E 'System|open' | head -4"]
# A cell of the terminal, in pixels.
WIDTH, HEIGHT, PAD = 8.4, 20, 18


def answers(program, environment, language):
    """Every command and what it prints, line by line."""
    for command in COMMANDS:
        yield "$ " + command, True
        full = command.replace("kazasu", shlex.quote(program), 1)
        output = subprocess.run(["bash", "-c", full], cwd=TOP, env=environment | {"LC_ALL": {"en": "C.UTF-8", "ja": "ja_JP.UTF-8"}[language]},
                                capture_output=True, text=True, check=True).stdout
        for line in output.splitlines():
            yield line, False


def cells(text):
    """How many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def terminal(lines):
    """The lines as an SVG, a run of characters of one width at its column."""
    lines = list(lines)
    width = max(cells(text) for text, _ in lines) * WIDTH + 2 * PAD
    height = len(lines) * HEIGHT + 2 * PAD
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
             f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans Mono, Noto Sans Mono CJK JP, monospace" font-size="14">',
             '<rect width="100%" height="100%" rx="8" fill="#12181b"/>']
    for row, (text, is_command) in enumerate(lines):
        column = 0
        for run in re.findall(r"\S+|\s+", text):
            if run.strip():
                parts.append(
                    f'<text x="{PAD + column * WIDTH:.1f}" y="{PAD + row * HEIGHT + 14}" textLength="{cells(run) * WIDTH:.1f}" '
                    f'fill="{"#7fd6c2" if is_command else "#e4ecec"}">{html.escape(run)}</text>')
            column += cells(run)
    return "\n".join(parts + ["</svg>"]) + "\n"


def page(program, environment, path):
    """The page of `serve` with a card on the reader."""
    server = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:7897"], cwd=TOP, env=environment,
                              stderr=subprocess.PIPE, text=True)
    try:
        address = next(found[0] for line in server.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            view = browser.new_page(viewport={"width": 1200, "height": 675})
            view.goto(address + "/?lang=en")
            view.wait_for_selector("article[data-state='card'] .amount")
            view.screenshot(path=path)
            browser.close()
    finally:
        server.terminate()
        server.wait()


def main():
    program, out = os.path.abspath(sys.argv[1]), sys.argv[2]
    environment = dict(os.environ, KAZASU_READER="virtual:" + CARD, NO_COLOR="1")
    os.makedirs(out, exist_ok=True)
    for language, name in (("en", "terminal.svg"), ("ja", "terminal.ja.svg")):
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(terminal(answers(program, environment, language)))
    page(program, environment, os.path.join(out, "kiosk.png"))


if __name__ == "__main__":
    main()
