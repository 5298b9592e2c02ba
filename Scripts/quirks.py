#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Docs/quirks.md from Fixtures/quirks/field.tsv, Docs/libnfc-traps.md from Fixtures/quirks/libnfc.tsv and Docs/passport-quirks.md from
Fixtures/ids/passports/quirks.tsv, each with its Japanese page.

--check only reports whether they agree; lint.py calls it.
"""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PASSPORTS = "Fixtures/ids/passports/quirks.tsv"
FIELD = "Fixtures/quirks/field.tsv"
LIBNFC = "Fixtures/quirks/libnfc.tsv"
NOTE = "<!-- Made by Scripts/quirks.py: change its table, not this page. -->\n"

PASSPORTS_ENGLISH = """# Passports that deviate

日本語: [passport-quirks.ja.md](passport-quirks.ja.md)

Real passports deviate from ICAO Doc 9303, or use forms of it that readers rarely meet. This table lists the reported deviations and how
[`kazasu passport`](passport.md) handles each. Every row is tested with a virtual chip or a generated file, not with the document itself.
Anything else unknown is `unsupported`, never `malformed` or `wrong`.

| Deviation | Reported for | Kazasu | Source |
| --- | --- | --- | --- |
"""
PASSPORTS_JAPANESE = """# 仕様と異なるパスポート

English: [passport-quirks.md](passport-quirks.md)

実際の旅券には、ICAO Doc 9303 と異なるものや、仕様の範囲でもまれな形式のものがあります。報告されている違いと、
[`kazasu passport`](passport.ja.md) の対応をまとめます。どの行も、実物ではなく仮想 IC または生成したファイルで試しています。
これ以外の未知のものは `unsupported` とし、`malformed` や `wrong` とはしません。

| 違い | 報告のある発行国など | Kazasu の対応 | 出典 |
| --- | --- | --- | --- |
"""


FIELD_ENGLISH = """# Oddities of real readers and cards

日本語: [quirks.ja.md](quirks.ja.md)

What strangers have published about their readers, cards, phones and drivers, and how Kazasu handles it. Nothing here was seen on real hardware by Kazasu's authors.
A [recording](contribute.md) of yours decides what is still open.

*Tested by* names a test, with the [switch](virtual-cards.md#quirks) that imitates the oddity, or says why no test covers it. Two further parts have their own pages:
[traps of libnfc](libnfc-traps.md) and [passports that deviate](passport-quirks.md).
"""
FIELD_JAPANESE = """# 実際のリーダーとカードの癖

English: [quirks.md](quirks.md)

リーダー、カード、スマートフォン、ドライバーについて公開されている報告と、Kazasu の対応をまとめます。Kazasu の作者が実機で確かめたものはありません。
未解決のものは、お使いのリーダーの[記録](contribute.ja.md)があれば確かめられます。

「試験」の列には、テストと、癖を再現する[スイッチ](virtual-cards.md#quirks)、またはテストがない理由を示します。ほかに、
[libnfc の落とし穴](libnfc-traps.ja.md)と[仕様と異なるパスポート](passport-quirks.ja.md)のページがあります。
"""
LIBNFC_ENGLISH = """# libnfc's traps

日本語: [libnfc-traps.ja.md](libnfc-traps.ja.md)

Debian's libnfc 1.8.0 can hang, give a wrong answer or end the process. This page lists the traps and the answers of the module `PN53xReader`.
`pn532:/dev/ttyUSB0` works without libnfc and has none of these traps. [quirks.md](quirks.md) has those of readers and cards.

An exchange is InCommunicateThru (`42`) through `pn53x_transceive`, which libnfc exports but does not declare. Cards are searched for with a raw
InListPassiveTarget (`4A`). EASY_FRAMING and other NP_ properties, `transceive_bytes_timed`, target emulation and the pcsc driver are not used.
"""
LIBNFC_JAPANESE = """# libnfc の落とし穴

English: [libnfc-traps.md](libnfc-traps.md)

Debian の libnfc 1.8.0 では、処理が止まる、誤った応答を返す、プロセスが終わるといったことが起きます。その一覧と、モジュール `PN53xReader` の対策をまとめます。
`pn532:/dev/ttyUSB0` は libnfc を使わないため、どれも起きません。リーダーとカードの癖は [quirks.ja.md](quirks.ja.md) にあります。

カードとのやりとりには、libnfc が公開していて宣言していない `pn53x_transceive` で InCommunicateThru（`42`）を使い、検出には InListPassiveTarget（`4A`）を直接使います。
EASY_FRAMING などの NP_ プロパティ、`transceive_bytes_timed`、ターゲットモード、pcsc ドライバーは使いません。
"""
# The parts of the page about libnfc by the first letter of their rows, in its order.
LIBNFC_PARTS = [
    ("D", "The process dies or hangs", "プロセスが終わる・止まる"),
    ("W", "A wrong answer is taken for the right one", "誤った応答を正しいものとして扱う"),
    ("E", "An error says the wrong thing", "エラーの内容が正しくない"),
    ("T", "Time is lost", "時間がかかる"),
    ("C", "Cards of type A and B", "Type A・B のカード"),
]
# The parts by the first letter of their rows, in the order of the page.
PARTS = [
    ("P", "PN532", "PN532"), ("N", "PN531 and PN533", "PN531・PN533"), ("A", "ACR122U and its copies", "ACR122U と互換品"),
    ("S", "Sony", "ソニー"), ("R", "PC/SC readers", "PC/SC のリーダー"), ("L", "libnfc", "libnfc"),
    ("K", "The kernel", "カーネル"), ("D", "pcscd", "pcscd"), ("U", "USB and boards", "USB とボード"), ("F", "FeliCa", "FeliCa"),
    ("I", "ISO-DEP", "ISO-DEP"), ("B", "Type B", "Type B"), ("C", "Type A and MIFARE Classic", "Type A と MIFARE Classic"),
    ("G", "Type 2 Tags", "Type 2 のタグ"), ("T", "Type 4 Tags", "Type 4 のタグ"), ("H", "Phones", "スマートフォン"),
]
# Why no test covers a row, and what would.
REASONS = {
    "bus": ("no simulated I2C or SPI bus: a recording from such a board", "I2C・SPI は再現していない（実機の記録が必要）"),
    "unit": ("of single units: a recording from one", "特定の個体の現象（実機の記録が必要）"),
    "card": ("no simulated card of this kind: a recording with one", "このカードは再現していない（実物の記録が必要）"),
    "ccid": ("needs a CCID reader on the USB below pcscd", "pcscd の下に USB の CCID リーダーが必要"),
    "libnfc": ("inside libnfc's USB drivers", "libnfc の USB ドライバー内部の動作"),
    "libusb": ("inside libusb: a recording from the reader", "libusb 内部の動作（実機の記録が必要）"),
    "radio": ("only a real field shows it", "実際の電波でのみ"), "power": ("power is not simulated", "電源は再現していない"),
    "phone": ("needs a real phone", "実物が必要"), "system": ("of another program or system", "ほかのプログラムやシステム"),
    "scope": ("not used by Kazasu", "対象外"),
}
LIBNFC_HEADS = {"": "| | Trap | Kazasu | Tested by |", ".ja": "| | 落とし穴 | Kazasu の対策 | 試験 |"}
HEADS = {"": "| | Where | What it does | Kazasu | Tested by | Source |", ".ja": "| | 対象 | 癖 | Kazasu の対応 | 試験 | 出典 |"}


def rows(table):
    """A table, a dictionary a row."""
    with open(os.path.join(TOP, table), encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def source(text):
    """Issues of projects as links; other sources as they are."""
    parts, found, words = text.split(" "), [], []
    are_projects = all(re.fullmatch(r"[\w.-]+/[\w.-]+(?:#\d+)?", part) for part in parts)
    for part in parts:
        project, _, number = part.partition("#")
        if not are_projects and not re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", part):
            words.append(part)
            continue
        name = project.partition("/")[2] + (f"#{number}" if number else "")
        found.append(f"[{name}](https://github.com/{project}{'/issues/' + number if number else ''})")
    return ", ".join(found + ([" ".join(words)] if words else []))


def noted(head):
    """The beginning of a page, with the note about its table."""
    title, rest = head.split("\n", 1)
    return title + "\n\n" + NOTE + rest


def passports(head, suffix):
    """The page about passports."""
    table = ""
    for row in rows(PASSPORTS):
        does = row["does" + suffix]
        if row["kind"] == "access" and row["example"] == "-":
            does += "（仮想 IC では未確認）" if suffix else " (no virtual chip imitates it)"
        table += f"| {row['what' + suffix]} | {row['who' + suffix]} | {does} | {source(row['sources'])} |\n"
    return noted(head) + table


def tested(row, suffix):
    """The test of a row, or why it has none."""
    if row["test"] in REASONS:
        return REASONS[row["test"]][bool(suffix)]
    path, _, function = row["test"].partition("#")
    name = function or os.path.basename(path).rpartition(".")[0]
    return (f"`{row['switch']}`, " if row.get("switch", "-") != "-" else "") + f"[{name}](../{path})"


def named(row):
    """Whether its test exists, and has the function that the row names, the row's ID or its switch."""
    path, _, function = row["test"].partition("#")
    if not os.path.exists(os.path.join(TOP, path)):
        return False
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        text = file.read()
    words = [rf"\b(?:func|def|class) {function}\b"] if function else [rf"\b{row['id']}\b", re.escape(row.get("switch", "-")) + '"']
    return any(re.search(word, text) for word in words)


def field(head, suffix):
    """The page about readers and cards."""
    page, table = noted(head), rows(FIELD)
    for letter, *names in PARTS:
        page += f"\n## {names[bool(suffix)]}\n\n{HEADS[suffix]}\n| --- | --- | --- | --- | --- | --- |\n"
        for row in table:
            if row["id"][0] == letter:
                made = "作成例" if suffix else "made up"
                where = made if row["source"] == "made" else source(row["source"].replace(" made", ""))
                page += f"| {row['id']} | {row['where' + suffix]} | {row['what' + suffix]} | {row['does' + suffix]} | {tested(row, suffix)} | {where} |\n"
    return page


def libnfc(head, suffix):
    """The page about libnfc."""
    page, table = noted(head), rows(LIBNFC)
    for letter, *names in LIBNFC_PARTS:
        page += f"\n## {names[bool(suffix)]}\n\n{LIBNFC_HEADS[suffix]}\n| --- | --- | --- | --- |\n"
        for row in table:
            if row["id"][0] == letter:
                page += f"| {row['id']} | {row['what' + suffix]} | {row['does' + suffix]} | {tested(row, suffix)} |\n"
    return page


def faults():
    """What is wrong with the tables."""
    for table, parts in (FIELD, PARTS), (LIBNFC, LIBNFC_PARTS):
        seen = set()
        for row in rows(table):
            if row["id"] in seen or not any(row["id"][0] == part[0] for part in parts):
                yield f"{table}: {row['id']}: twice, or of no part"
            seen.add(row["id"])
            if row["test"] not in REASONS and not named(row):
                yield f"{table}: {row['id']}: not in {row['test']}"
            if any(not value for value in row.values()):
                yield f"{table}: {row['id']}: an empty cell"


PAGES = [
    ("quirks.md", field, FIELD_ENGLISH, ""), ("quirks.ja.md", field, FIELD_JAPANESE, ".ja"),
    ("libnfc-traps.md", libnfc, LIBNFC_ENGLISH, ""), ("libnfc-traps.ja.md", libnfc, LIBNFC_JAPANESE, ".ja"),
    ("passport-quirks.md", passports, PASSPORTS_ENGLISH, ""), ("passport-quirks.ja.md", passports, PASSPORTS_JAPANESE, ".ja"),
]


def main():
    """Writes the pages, or compares them."""
    if "--help" in sys.argv:
        return print(__doc__.strip())
    wrong = list(faults())
    for name, make, head, suffix in PAGES:
        path, text = os.path.join(TOP, "Docs", name), make(head, suffix)
        if "--check" in sys.argv:
            if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
                wrong.append(f"Docs/{name} differs from its table: run Scripts/quirks.py")
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(bool(wrong))


main()
