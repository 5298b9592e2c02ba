#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make-man.py PROGRAM DIST: the man pages, one a command, in English and Japanese, and the shell completions of a kazasu
program, below DIST. Everything in them comes from the program's own help, so that both say the same."""

import json
import os
import re
import shutil
import subprocess
import sys

# The newest version and its day, for the head of the pages: they are the same whenever they are built.
VERSION, DAY = (subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "changes.py"), word],
                               capture_output=True, check=True, text=True).stdout.strip() for word in ("version", "date"))

# The headings of a page; the program's own sections are those of the root help.
WORDS = {
    "en": {
        "name": "NAME", "synopsis": "SYNOPSIS", "description": "DESCRIPTION", "commands": "COMMANDS",
        "arguments": "ARGUMENTS", "options": "OPTIONS", "examples": "EXAMPLES", "also": "SEE ALSO",
        "Exit status": "EXIT STATUS", "Environment": "ENVIRONMENT", "Files": "FILES",
        "manual": "User Commands", "default": "Default: {}.", "values": "Values: {}.",
        "command": "COMMAND", "option": "OPTION", "shared": ["Reader", "Common options"], "others": "Other options",
    },
    "ja": {
        "name": "名前", "synopsis": "書式", "description": "説明", "commands": "コマンド",
        "arguments": "引数", "options": "オプション", "examples": "例", "also": "関連項目",
        "終了ステータス": "終了ステータス", "環境変数": "環境変数", "ファイル": "ファイル",
        "manual": "ユーザーコマンド", "default": "省略時: {}。", "values": "値: {}。",
        "command": "コマンド", "option": "オプション", "shared": ["リーダー", "共通のオプション"], "others": "そのほかのオプション",
    },
}
EXAMPLES = ("Examples", "例")
ALSO = ["nfc-list(1)", "pcscd(8)", "udev(7)"]

# What pages have from documents as well: the document, and the headings of the sections, in each language.
DOCUMENTS = {
    "kazasu-watch": {
        "en": [("watch.md", "Names for cards"), ("watch.md", "Events"), ("many-sites.md", "Topics"),
               ("watch.md", "Settings")],
        "ja": [("watch.ja.md", "カードに名前を付ける"), ("watch.ja.md", "イベント"), ("many-sites.ja.md", "トピック"),
               ("watch.ja.md", "設定")],
    },
    "kazasu-serve": {
        "en": [("serve.md", "What can be asked"), ("serve.md", "Errors"), ("serve.md", "Taps"), ("serve.md", "Who may ask"),
               ("serve.md", "As a service")],
        "ja": [("serve.ja.md", "使えるもの"), ("serve.ja.md", "エラー"), ("serve.ja.md", "タップ"), ("serve.ja.md", "使える人"),
               ("serve.ja.md", "サービスとして動かす")],
    },
    "kazasu-rpc": {
        "en": [("rpc.md", heading) for heading in (
            "Readers", "Taps", "Cancelling and progress", "Clients that do not read", "Errors", "Secrets", "The end", "Methods")],
        "ja": [("rpc.ja.md", heading) for heading in (
            "リーダー", "タップ", "取り消しと進み具合", "読まないクライアント", "エラー", "暗証番号と鍵", "終了", "メソッド")],
    },
}
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Docs")

# Which variables and files a command reads, by an option that it has; the others are for every command.
VARIABLES = [
    (r"KAZASU_STATIONS", ["stations"]),
    (r"XDG_DATA_HOME|~/.local/share", ["stations", "ledger"]),
    (r"XDG_CACHE_HOME|~/.cache", ["no-cache"]),
    (r"KAZASU_LEDGER", ["ledger"]),
    (r"KAZASU_OUTBOX|XDG_STATE_HOME|~/.local/state", ["outbox"]),
    (r"KAZASU_CONFIG", ["config"]),
    (r"KAZASU_|LIBNFC_|PCSCLITE_|/etc/nfc", ["reader"]),
]


def run(program, *arguments, language="en"):
    """What the program prints."""
    environment = dict(os.environ, LC_ALL="ja_JP.UTF-8" if language == "ja" else "C.UTF-8")
    return subprocess.run([program, *arguments], capture_output=True, check=True, env=environment).stdout.decode()


# Letters between which a line may end, and those that must not begin one.
WIDE, NO_START = "\u3041-\u30fe\u4e00-\u9fff", "ぁぃぅぇぉっゃゅょァィゥェォッャュョー・"


def verbatim(text):
    """A text that is shown and copied letter for letter."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    for letter, escape in [("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")]:
        text = text.replace(letter, escape)
    return "\\&" + text if text.startswith(".") else text


def prose(text):
    """Running text: options keep their hyphens, a line does not begin with a control character."""
    text = text.replace("\\", "\\e").replace("~", "\\(ti").replace("'", "\\(aq")
    text = re.sub(r"(?<![\w-])--?(?=\w)", lambda found: "\\-" * len(found[0]), text)
    # Only groff's Japanese macros, which not every man loads, break lines between Japanese letters.
    text = re.sub(rf"(?<=[{WIDE}、。）」])(?=[{WIDE}（「])(?![{NO_START}])|(?<=[、。])(?=[A-Za-z0-9])", r"\\:", text)
    return "\\&" + text if text.startswith(".") else text


def joined(lines):
    """Lines of a paragraph as one; no blank stands between Japanese letters."""
    text = ""
    for line in lines:
        text += ("" if not text or ord(text[-1]) > 0x2E80 else " ") + line.strip()
    return text


def sections(discussion):
    """The paragraphs of a discussion, and its sections by heading, each a list of lines."""
    paragraphs, found, heading = [], {}, None
    for block in re.split(r"\n\s*\n", discussion or ""):
        lines = block.split("\n")
        if re.fullmatch(r"\S.*:", lines[0]) and all(line.startswith("  ") for line in lines[1:]) and lines[1:]:
            heading = lines[0][:-1]
            found[heading] = [line[2:] for line in lines[1:]]
        elif block.strip():
            paragraphs.append(joined(lines))
    return paragraphs, found


def plain(text):
    """A text of Markdown without its marks."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return prose(re.sub(r"\*\*|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)", "", text).replace("\\|", "|"))


def document(name, heading):
    """A section of a document as lines of a page: paragraphs, lists, tables and examples."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", file.read(), re.M | re.S)
    if not found:
        sys.exit(f"make-man.py: {name} has no section '{heading}'")
    lines = []
    # An example may have empty lines.
    for block in re.findall(r"^```.*?^```$|^(?!```)[^\n]*\S[^\n]*(?:\n(?![ \t]*(?:\n|$)|```)[^\n]+)*", found[1], re.M | re.S):
        rows = block.split("\n")
        if rows[0].startswith("```"):
            lines += [".PP", ".EX"] + [verbatim(row) or "." for row in rows[1:-1]] + [".EE"]
        elif rows[0].startswith("|"):
            for row in rows[2:]:
                cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
                lines += [".TP", ".B " + plain(cells[0]), plain("; ".join(cell for cell in cells[1:] if cell))]
        elif re.match(r"[*-] ", rows[0]):
            for item in re.split(r"^[*-] ", block, flags=re.M)[1:]:
                lines += [".IP \\(bu 2", plain(joined(item.strip().split("\n")))]
        else:
            lines += [".PP", plain(joined(rows))]
    # No paragraph begins right behind the heading.
    return lines[1:] if lines[:1] == [".PP"] else lines


class Page:
    """One page."""

    def __init__(self, command, path, root, language, version):
        self.command, self.path, self.root, self.language = command, path, root, language
        self.words = WORDS[language]
        self.name = "-".join(path)
        self.lines = [
            '\'\\" -*- coding: UTF-8 -*-',
            '.\\" Generated from the help of kazasu.',
            # groff 1.23 adjusts lines again at each heading unless it finds this.
            ".ds AD l",
            f'.TH "{self.name.upper()}" 1 "{DAY}" "Kazasu {version}" "{self.words["manual"]}"',
            # Lines of Japanese cannot be adjusted, and examples in the text are easier to read so.
            ".ad l",
        ]
        self.fill()

    def fill(self):
        paragraphs, own = sections(self.command.get("discussion"))
        shared = sections(self.root.get("discussion"))[1]
        # What apropos searches has no marks for line breaks.
        name = prose(self.command["abstract"].rstrip(".。")).replace("\\:", "")
        self.section("name", [f"{verbatim(self.name)} \\- {name}"])
        self.section("synopsis", self.synopsis())
        self.section("description", [prose(self.command["abstract"])] + sum((
            [".PP", prose(text)] for text in paragraphs), []))
        below = self.command["subcommands"]
        self.section("commands", sum((self.entry(
            f".BR {verbatim('-'.join(self.path + [one['commandName']]))} (1)", one["abstract"]) for one in below), []))
        arguments = self.command["arguments"]
        self.section("arguments", sum((self.argument(one) for one in arguments if one["kind"] == "positional"), []))
        self.section("options", self.options([one for one in arguments if one["kind"] != "positional"]))
        for name, heading in DOCUMENTS.get(self.name, {}).get(self.language, []):
            self.words = {**self.words, heading: heading.upper()}
            self.section(heading, document(name, heading))
        for heading, entries in shared.items():
            if heading in self.words:
                self.section(heading, sum((self.entry(".B " + verbatim(key), text) for key, text in map(
                    self.pair, entries) if self.concerns(key)), []))
        for heading in EXAMPLES:
            if heading in own:
                self.section("examples", [".EX"] + [verbatim(line) or "." for line in own[heading]] + [".EE"])
        self.section("also", [self.also(below)])

    def section(self, word, lines):
        """Adds a section, unless nothing is in it."""
        if lines:
            self.lines += [f".SH {self.words[word]}" if " " not in self.words[word] else f'.SH "{self.words[word]}"']
            self.lines += lines

    @staticmethod
    def pair(line):
        """An entry of a table of the help: the key, two blanks or more, the text."""
        key, text = re.split(r"\s{2,}", line, maxsplit=1)
        return key, text

    @staticmethod
    def entry(tag, text):
        return [".TP", tag, prose(text)]

    def concerns(self, key):
        """Whether an environment variable or a file matters to this command."""
        if len(self.path) == 1:
            return True
        options = {name.lstrip("-") for one in self.command["arguments"] for name in one["names"]}
        if self.path[1] == "stations":
            options.add("stations")
        if self.path[1] in ("readers", "doctor"):
            options.add("reader")
        for pattern, needed in VARIABLES:
            if re.match(pattern, key):
                return not options.isdisjoint(needed)
        return not key.startswith("/etc/udev") or self.path[1] == "doctor"

    @staticmethod
    def value(argument):
        return "\\fI" + verbatim(argument["valueName"]) + "\\fR"

    def synopsis(self):
        arguments = self.command["arguments"]
        parts = ["\\fB" + verbatim(" ".join(self.path)) + "\\fR"]
        if self.command["subcommands"]:
            # A command with options of its own also runs without one of those below it.
            name = f"\\fI{self.words['command']}\\fR"
            parts.append(f"[{name}]" if self.command["runs"] else name)
        parts.append(f"[\\fI{self.words['option']}\\fR .\\|.\\|.]")
        for one in arguments:
            if one["kind"] == "option" and not one["isOptional"]:
                parts.append(f"\\fB\\-\\-{verbatim(one['name'])}\\fR {self.value(one)}")
        for one in arguments:
            if one["kind"] == "positional":
                text = self.value(one) + (" .\\|.\\|." if one["isRepeating"] else "")
                parts.append(f"[{text}]" if one["isOptional"] else text)
        return [" ".join(parts)]

    def options(self, options):
        """Options below the headings of their groups; as in the help, the command's own come before those of many
        commands, and the parser's are the last."""
        shared = self.words["shared"]
        groups = {}
        for one in options:
            groups.setdefault(one.get("section", ""), []).append(one)
        lines = []
        for title in sorted(groups, key=lambda title: (title in shared, title == "", title == shared[-1])):
            if title:
                lines.append(f'.SS "{title}"')
            elif lines:
                lines.append(f'.SS "{self.words["others"]}"')
            lines += sum((self.argument(one) for one in groups[title]), [])
        # A page of one group has no heading of its own.
        return lines[1:] if len(groups) == 1 and lines[0].startswith(".SS") else lines

    def argument(self, one):
        """An option or a positional argument."""
        tag = ", ".join(
            "\\fB" + verbatim(name) + "\\fR" for name in one["names"])
        if one["kind"] != "flag":
            tag = (tag + " " if tag else "") + self.value(one)
        text = one["abstract"]
        if one["values"]:
            text += " " + self.words["values"].format(", ".join(one["values"]))
        if one.get("defaultValue"):
            text += " " + self.words["default"].format(one["defaultValue"])
        return [".TP", tag, prose(text.strip())]

    def also(self, below):
        names = [f"{'-'.join(self.path[:-1])}(1)"] if len(self.path) > 1 else []
        names += [f"{self.name}-{one['commandName']}(1)" for one in below] + (ALSO if len(self.path) == 1 else [])
        return ",\n".join(f".BR {verbatim(name[:-3])} {name[-3:]}" for name in names).replace(",\n", " ,\n")

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


def pages(command, path, root, language, version):
    """The pages of a command and of those below it."""
    yield Page(command, path, root, language, version)
    for one in command["subcommands"]:
        yield from pages(one, path + [one["commandName"]], root, language, version)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    program, dist = sys.argv[1:]
    version = run(program, "--version").strip()
    if version != VERSION:
        sys.exit(f"make-man.py: the program is of version {version}, CHANGELOG.md of {VERSION}")
    for folder in ["man", "completions"]:
        shutil.rmtree(f"{dist}/{folder}", ignore_errors=True)
    for language, folder in [("en", "man/man1"), ("ja", "man/ja/man1")]:
        root = json.loads(run(program, "---describe", language=language))["command"]
        for page in pages(root, ["kazasu"], root, language, version):
            write(f"{dist}/{folder}/{page.name}.1", page.text)
    for shell in ["bash", "zsh", "fish"]:
        write(f"{dist}/completions/kazasu.{shell}", run(program, "completion", shell))
    print(f"man pages in {dist}/man, completions in {dist}/completions")


if __name__ == "__main__":
    main()
