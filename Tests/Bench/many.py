# SPDX-License-Identifier: Apache-2.0
"""Makes many dumps of transit cards and a table of stations for the bench; the same ones every time."""

import json
import os
import random

BLOCKS = 20  # of history on each card
LINES, STATIONS = 100, 80  # 8,000 rows


def station_table(path):
    """Writes a table of 8,000 stations in Kazasu's own layout, as long as the names of real ones."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("area\tline\tstation\tcompany\tline_name\tstation_name\n")
        for line in range(1, LINES + 1):
            for station in range(1, STATIONS + 1):
                file.write(f"0\t{line}\t{station}\t東日本旅客鉄道\t第{line}本線\t駅{line}の{station}番\n")


def _history(chance, serial):
    """Twenty records, newest first: rides, now and then a purchase or a charge; serials and balances fit together."""
    records, balance = [], 20_000
    for _ in range(BLOCKS):
        what = chance.random()
        day = (chance.randrange(10, 26) << 9 | chance.randrange(1, 13) << 5 | chance.randrange(1, 29)).to_bytes(2, "big")
        place = bytes(chance.randrange(1, limit + 1) for limit in (LINES, STATIONS, LINES, STATIONS))
        if what < 0.7:
            head, middle, change = b"\x16\x01\x00\x02", place, -chance.randrange(140, 900, 10)
        elif what < 0.9:
            time = (chance.randrange(24) << 11 | chance.randrange(60) << 5).to_bytes(2, "big")
            head, middle, change = b"\xc7\x46\x00\x00", time + chance.randbytes(2), -chance.randrange(100, 1500)
        else:
            head, middle, change = b"\x08\x02\x00\x00", place[:2] + b"\0\0", 3000
        balance = min(max(balance + change, 0), 0xFFFF)
        serial += 2 if head[0] == 0x16 else 1
        records.append(head + day + middle + balance.to_bytes(2, "little") + serial.to_bytes(3, "big") + b"\0")
    return records[::-1]


def _service(code, blocks):
    return {"code": code, "keyVersion": "0001", "state": "read",
            "blocks": {f"{number:04x}": block.hex() for number, block in enumerate(blocks)}}


def dump(number):
    """A dump with the four services of transit cards that need no key: 26 blocks, 20 of them history."""
    chance = random.Random(number)
    idm = f"0101{chance.randrange(1 << 48):012x}"
    history = _history(chance, chance.randrange(1, 10_000))
    newest = history[0]
    attributes = bytes(8) + b"\x20\0\0" + newest[10:12] + b"\0" + newest[13:15]
    gates = [bytes([kind, 0]) + record[8:10] + b"\x12\x34" + record[4:6] + b"\x10\x25" + bytes(6)
             for kind, record in zip((0x20, 0xA0, 0x20), history)]
    entry = [history[0][6:8] + bytes(14), bytes(16)]
    card = {"idm": idm, "pmm": "0120220427674eff"}
    services = [_service("008B", [attributes]), _service("090F", history), _service("108F", gates),
                _service("10CB", entry)]
    return {
        "schema": "kazasu.dump/1", "tool": "bench", "readAt": "2026-11-21T12:00:00+09:00", "complete": True,
        "missing": [], "card": {"technology": "felica", **card, "bitRate": 212},
        "felica": {"systems": [{
            "systemCode": "0003", **card, "areas": [{"start": "0000", "end": "FFFE", "keyVersion": "0001"}],
            "services": services}]}}


def _line(number):
    return json.dumps(dump(number), separators=(",", ":")) + "\n"


def one_file(path, count):
    """`count` dumps, one a line."""
    with open(path, "w", encoding="ascii") as file:
        for number in range(count):
            file.write(_line(number))


def folder(path, count):
    """`count` files of one dump each."""
    os.makedirs(path, exist_ok=True)
    for number in range(count):
        with open(os.path.join(path, f"{number:05}.json"), "w", encoding="ascii") as file:
            file.write(_line(number))
