#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py PROGRAM OUT [--terminal]: makes the pictures of the README from the program: what a terminal shows, in its colors, and
the page of `serve`. A command that prints nothing is an error.

Runs in the virtual environment of the page's tests, which has a browser's driver; with --terminal, anywhere."""

import html
import os
import re
import shlex
import subprocess
import sys
import unicodedata

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
CARD = "Fixtures/cards/suica-p1/card.json"
# The commands of each picture; a test runs them as they are shown.
COMMANDS = {
    "en": ["kazasu balance", "kazasu history -n 5", "kazasu scan | grep -E 'System|open' | head -4"],
    "ja": ["kazasu balance", "kazasu history -n 5", "kazasu scan | grep -E 'システム|公開' | head -4"],
}
LOCALES = {"en": "C.UTF-8", "ja": "ja_JP.UTF-8"}
# A cell of the terminal, in pixels.
WIDTH, HEIGHT, PAD = 8.4, 20, 18
COMMAND, PLAIN, DIM = "#7fd6c2", "#e4ecec", "#93a4a8"
# The colors of a terminal, by the numbers of Select Graphic Rendition; bright ones are 60 above.
COLORS = {30: "#5b6a6f", 31: "#f28b82", 32: "#8fd694", 33: "#f2cc60", 34: "#8ab4f8", 35: "#d7aefb", 36: "#7fd6c2", 37: "#e4ecec"}
ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")


def answers(program, environment, language):
    """Every command and what it prints, line by line."""
    for command in COMMANDS[language]:
        yield "$ " + command, True
        full = command.replace("kazasu", shlex.quote(program), 1)
        first, *rest = full.split(" | ")
        # The colors are those that a terminal gets, whatever is behind the pipe.
        full = " | ".join([first + " --color always", *rest])
        output = subprocess.run(["bash", "-o", "pipefail", "-c", full], cwd=TOP, env=environment | {"LC_ALL": LOCALES[language]},
                                stdout=subprocess.PIPE, text=True, check=False).stdout
        if not ESCAPE.sub("", output).strip():
            sys.exit(f"pictures.py: nothing is printed by: {command}")
        for line in output.splitlines():
            yield line, False


def runs(text, color):
    """The words and blanks of a line, each with the color that it begins with."""
    position, word, begun = 0, "", color
    for found in [*ESCAPE.finditer(text), None]:
        for each in re.findall(r"\S+|\s+", text[position:found.start() if found else len(text)]):
            if word and word.isspace() == each.isspace():
                word += each
            else:
                if word:
                    yield word, begun
                word, begun = each, color
        if found:
            for code in map(int, filter(None, found[1].split(";"))):
                color = COLORS.get(code if code < 90 else code - 60, DIM if code == 2 else PLAIN if code in (0, 39) else color)
            if not found[1]:
                color = PLAIN
            position = found.end()
    if word:
        yield word, begun


def cells(text):
    """How many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def terminal(lines):
    """The lines as an SVG, a run of characters of one width at its column."""
    lines = list(lines)
    width = max(cells(ESCAPE.sub("", text)) for text, _ in lines) * WIDTH + 2 * PAD
    height = len(lines) * HEIGHT + 2 * PAD
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
             f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans Mono, Noto Sans Mono CJK JP, monospace" font-size="14">',
             '<rect width="100%" height="100%" rx="8" fill="#12181b"/>']
    for row, (text, is_command) in enumerate(lines):
        column = 0
        for run, color in runs(text, COMMAND if is_command else PLAIN):
            if run.strip():
                parts.append(
                    f'<text x="{PAD + column * WIDTH:.1f}" y="{PAD + row * HEIGHT + 14}" textLength="{cells(run) * WIDTH:.1f}" '
                    f'fill="{color}">{html.escape(run)}</text>')
            column += cells(run)
    return "\n".join(parts + ["</svg>"]) + "\n"


def page(program, environment, path):
    """The page of `serve` with a card on the reader."""
    from playwright.sync_api import sync_playwright

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
    environment = dict(os.environ, KAZASU_READER="virtual:" + CARD)
    environment.pop("NO_COLOR", None)
    os.makedirs(out, exist_ok=True)
    for language, name in (("en", "terminal.svg"), ("ja", "terminal.ja.svg")):
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(terminal(answers(program, environment, language)))
    if "--terminal" not in sys.argv[3:]:
        page(program, environment, os.path.join(out, "kiosk.png"))


if __name__ == "__main__":
    main()
