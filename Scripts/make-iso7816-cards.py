#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the virtual cards of Fixtures/iso7816: licences and My Number cards of people who do not exist.

The person is the one of libjeid's sample application; layouts follow the public readers that Docs/license.md names.
"""

import hashlib
import json
import os
import subprocess

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Fixtures", "iso7816")

DF1 = "a0000002310100000000000000000000"
DF2 = "a0000002310200000000000000000000"
LICENSE_ON_MY_NUMBER = "a0000002310600000000000000000000"
JPKI = "d392f000260100000001"
CARD_INPUT = "d3921000310001010408"
CARD_SURFACE = "d3921000310001010402"


def jis(text):
    """JIS X 0208, two bytes a character; <1> to <7> are external characters, <?> a missing one."""
    data = b""
    rest = text
    while rest:
        if rest[0] == "<":
            data += b"\xff" + bytes([0xFA if rest[1] == "?" else 0xF0 + int(rest[1])])
            rest = rest[3:]
        else:
            data += bytes(byte & 0x7F for byte in rest[0].encode("euc_jp"))
            rest = rest[1:]
    return data


def wide(digits):
    """Digits of JIS X 0208."""
    return bytes(byte for digit in digits for byte in (0x23, ord(digit)))


def item(tag, value=b""):
    """Tag, length and value by the card's rules."""
    if isinstance(value, str):
        value = value.encode("ascii")
    head = bytes([tag]) if tag < 0x100 else tag.to_bytes(2, "big")
    length = bytes([len(value)]) if len(value) < 0x80 else b"\x82" + len(value).to_bytes(2, "big")
    return head + length + value


def entry(date, text, commission="東京都公安"):
    """A later entry."""
    return b"\x78" + wide(date) + jis(text) + jis(commission)


NAME, KANA, ADDRESS = "日本　花子", "ニホン　ハナコ", "東京都千代田区霞が関２−１−２"
HELD = {0x22: "4200401", 0x23: "4200401", 0x29: "4200401", 0x31: "4200401"}


def matters(name=NAME, address=ADDRESS, alias="", birth="3500601", number="123456789000", last=0x33):
    """DF1/EF01."""
    conditions = ["眼鏡等", "中型車は中型車（８ｔ）に限る", "準中型で運転できる準中型車は準中型車（５ｔ）に限る", ""]
    data = item(0x11, b"\x78") + item(0x12, jis(name)) + item(0x13, jis(KANA)) + item(0x14, jis(alias))
    data += item(0x15, jis(KANA)) + item(0x16, birth) + item(0x17, jis(address)) + item(0x18, "4190601")
    data += item(0x19, "12345") + item(0x1A, jis("優良")) + item(0x1B, "4240701")
    for place, text in enumerate(conditions):
        data += item(0x1C + place, jis(text))
    data += item(0x20, jis("東京都公安")) + item(0x21, number)
    for tag in range(0x22, last + 1):
        data += item(tag, HELD.get(tag, "4000000"))
    return data


def later(entries, flag=b"\x01"):
    """DF1/EF04: later entries by their tags."""
    return item(0x50, flag) + b"".join(item(tag, entries.get(tag, b"")) for tag in range(0x51, 0x98))


def picture(seed):
    """128 bytes in place of an external character's picture."""
    return bytes((seed * 37 + place * 11) & 0xFF for place in range(128))


def signature(first=0xB1):
    """The signature items; the signature is none."""
    values = [
        bytes((place * 7 + 3) & 0xFF for place in range(256)), b"1234567890ABCDEF", bytes(48),
        b"C=JP,O=Kazasu test fixture,CN=No authority".ljust(80), b"C=JP,O=Kazasu test fixture,CN=No signer".ljust(130),
        bytes(range(32)),
    ]
    return b"".join(item(first + place, value) for place, value in enumerate(values))


def photo():
    """The JPEG 2000 file, filled up to the 2000 bytes that a card has for it."""
    with open(os.path.join(TOP, "license", "photo.jp2"), "rb") as file:
        return file.read().ljust(2000, b"\0")


def file(data, read=None, size=None, short=None):
    """A file of a card."""
    result = {}
    if short:
        result["shortID"] = short
    result["data"] = data.hex()
    if size:
        result |= {"size": size, "fill": "ff"}
    if read:
        result["read"] = read
    return result


def pin(number, text, left=3, tries=3, status="6984"):
    """A PIN of the master file."""
    return {"id": f"{number:04X}", "reference": f"{0x80 + number:02X}", "text": text, "tries": tries, "left": left,
            "lockedStatus": status}


def licence(comment, ef01=None, ef04=None, ef03=(b"", b""), ef05=(b"",) * 5, ef06=(b"",) * 5, are_set=True, left=(3, 3),
            edition="008", pins=("1234", "5678"), virtual=None):
    """A driver's licence."""
    one, both = ["pin1"], ["pin1", "pin2"]
    pins = pins if are_set else ("****", "****")
    common = item(0x45, edition.encode() + bytes.fromhex("2007060120120701")) + item(0x46, b"\0\0")
    card = {
        "schema": "kazasu.card/1", "comment": comment,
        "typeB": {"pupi": "random", "applicationData": "00000000", "protocolInfo": "008181"},
        "masterFile": {
            "pins": {"pin1": pin(1, pins[0], left[0]), "pin2": pin(2, pins[1], left[1])},
            "files": {
                "2F01": file(common, short=1),
                "000A": file(item(0x05, bytes([are_set])), short=10),
            },
        },
        "applications": [
            {"aid": DF1, "files": {
                "0001": file(ef01 or matters(), one, 880, 1),
                "0002": file(item(0x41, jis("東京都千代田区霞が関二丁目")), both, 82, 2),
                "0003": file(item(0x48, ef03[0]) + item(0x49, ef03[1]), one, 264, 3),
                "0004": file(later({}) if ef04 is None else ef04, one, 640, 4),
                "0005": file(item(0xA0, b"\x01") + b"".join(item(0xA1 + n, v) for n, v in enumerate(ef05)), one, 663, 5),
                "0006": file(item(0xAA, b"\x01") + b"".join(item(0xAB + n, v) for n, v in enumerate(ef06)), both, 256, 6),
                "0007": file(signature(), one, 578, 7),
            }},
            {"aid": DF2, "files": {"0001": file(b"\x5f\x40" + item(0, photo())[1:], both, None, 1)}},
        ],
    }
    if virtual:
        card["virtual"] = virtual
    return card


def broken():
    """A licence whose files are wrong in every way that leaves something to show."""
    ef01 = matters(birth="3501345", number="12345678\xff000".encode("latin-1"))
    ef01 = ef01.replace(item(0x19, "12345"), item(0x19, "12345") + item(0x0F, b"\1\2") + item(0x19, "54321"))
    ef01 = ef01[: ef01.index(item(0x32, "4000000"))] + b"\x32\x82\x7f\xff\x34\x30"
    ef04 = later({0x70: entry("4300101", "東京都港区"), 0x71: entry("4290101", "東京都北区"), 0x78: b"\x78\x23"})
    return licence("a licence with broken files", ef01=ef01.ljust(880, b"\xff")[:880], ef04=ef04, edition="010")


def license_on_my_number(left=10):
    """The application of the licence on a My Number card."""
    data = item(0xC2) + item(0xC3) + item(0xC4, jis("優　良")) + item(0xC5, "5100701")
    data += b"".join(item(0xC6 + n, jis(text)) for n, text in enumerate(["眼鏡等", "準中型車は準中型車（５ｔ）に限る", "", ""]))
    data += item(0xCA) + item(0xCB) + b"".join(item(tag) for tag in range(0xCC, 0xE7))
    data += item(0xE7, "123456789000") + item(0xE8) + item(0xE9, "4200401") + item(0xEA, "4200401") + item(0xEB, "5000000")
    data += b"".join(item(tag, bytes([tag in (0xF0, 0xF8)])) for tag in range(0xEC, 0xFB))
    data += b"".join(item(tag) for tag in range(0xFB, 0x107)) + item(0x107, photo())
    return {
        "aid": LICENSE_ON_MY_NUMBER,
        "pins": {"license": {"id": "0006", "reference": "86", "text": "2580", "tries": 10, "left": left,
                             "lockedStatus": "6984"}},
        "files": {
            "001A": file(item(0xC1, b"\x01"), short=26),
            "001B": file(data, ["license"], 5845, 27),
            "001C": file(signature(0x108), ["license"], 584, 28),
        },
    }


def ber(tag, value):
    """BER-TLV."""
    length = bytes([len(value)]) if len(value) < 0x80 else (
        b"\x81" + bytes([len(value)]) if len(value) < 0x100 else b"\x82" + len(value).to_bytes(2, "big"))
    return bytes.fromhex(tag) + length + value


# What the test key of the virtual card signs: the card has no key, only this answer.
SIGNED_TEXT = b"Kazasu\n"
SHA256 = bytes.fromhex("3031300d060960864801650304020105000420")


def signature_of(text):
    """COMPUTE DIGITAL SIGNATURE of a text's SHA-256 with the test key, and the answer."""
    digest = hashlib.sha256(text).digest()
    signed = subprocess.run(
        ["openssl", "pkeyutl", "-sign", "-inkey", os.path.join(TOP, "mynumber", "authentication-test-key.pem"),
         "-pkeyopt", "rsa_padding_mode:pkcs1", "-pkeyopt", "digest:sha256"],
        input=digest, capture_output=True, check=True).stdout
    info = SHA256 + digest
    return {f"802A0080{len(info):02X}{info.hex().upper()}00": signed.hex() + "9000"}


def my_number(comment, others=(), input_left=3, token="JPKIAPICCTOKEN2"):
    """A My Number card."""
    def der(name):
        with open(os.path.join(TOP, "mynumber", name), "rb") as file:
            return file.read()

    def secret(number, text, tries, left=None):
        return {"id": number, "text": text, "tries": tries, "left": tries if left is None else left}

    items = ber("df21", bytes.fromhex("0008001a0044004f")) + ber("df22", "日本　花子".encode())
    items += ber("df23", "東京都千代田区霞が関２－１－２".encode()) + ber("df24", b"19750601") + ber("df25", b"2")
    return {
        "schema": "kazasu.card/1", "comment": comment,
        "typeB": {"pupi": "random", "applicationData": "000005e0", "protocolInfo": "b381a1"},
        "applications": [
            {"aid": JPKI,
             "pins": {"authentication": secret("0018", "1111", 3), "signature": secret("001B", "ABC123", 5, 4)},
             "files": {
                 "0001": file(b"", ["signature"]),
                 "0002": file(der("signature-ca.der"), size=2048),
                 "0006": file(token.encode().ljust(32)),
                 "000A": file(der("authentication.der"), size=2048),
                 "000B": file(der("authentication-ca.der"), size=2048),
                 # The key for authentication; PKCS#11 selects it before it signs.
                 "0017": file(b"", ["authentication"]),
             }},
            {"aid": CARD_INPUT,
             "pins": {"cardInput": secret("0011", "2222", 3, input_left), "inputA": secret("0014", "0" * 12, 10),
                      "inputB": secret("0015", "0" * 14, 10)},
             "files": {
                 "0002": file(ber("ff20", items), ["cardInput"], 1024),
                 "0005": file(ber("ff40", ber("df41", b"\1\0"))),
             }},
            {"aid": CARD_SURFACE,
             "pins": {"surfaceBirth": secret("0011", "750601", 10), "surfaceB": secret("0012", "0" * 14, 10),
                      "surfaceA": secret("0013", "0" * 12, 10)},
             "files": {}},
            *others,
        ],
        "virtual": {"answers": signature_of(SIGNED_TEXT)},
    }


def write(path, card):
    """Writes one card."""
    with open(os.path.join(TOP, path), "w", encoding="utf-8") as file:
        json.dump(card, file, ensure_ascii=False, indent=2)
        file.write("\n")


def main():
    moved = {
        0x51: b"\x78" + wide("4300101") + jis("大阪府公安"), 0x70: entry("4300101", "東京都千代田区霞が関２−１−３"),
        0x71: entry("5020301", "大阪市北区中之島１−１", "大阪府公安"), 0x60: entry("5030401", "大阪　<3>子", "大阪府公安"),
        0x68: entry("5030401", "オオサカ　ハナコ", "大阪府公安"), 0x78: entry("5030401", "補聴器", "大阪府公安"),
        0x80: entry("5030402", "眼鏡等", "大阪府公安"), 0x88: entry("5030403", "備考の例", "大阪府公安"),
    }
    write("license/sample.json", licence(
        "the person of libjeid's sample, one later entry", ef04=later({0x70: entry("4300101", "東京都千代田区霞が関２−１−３")})))
    write("license/plain.json", licence("no later entries", ef04=later({}, b"")))
    write("license/gaiji.json", licence(
        "external and missing characters, later entries of every kind", ef01=matters("日<1>　花<2>", "東京都<?>区", "<1>田"),
        ef03=(picture(1), picture(2)), ef04=later(moved), ef05=(picture(3), b"", b"", b"", b""),
        ef06=(entry("5030401", "大阪市北区<?>", "大阪府公安"), b"", b"", b"", b"")))
    write("license/unset.json", licence("the holder has set no PINs", are_set=False))
    write("license/locked.json", licence("PIN 1 is locked", left=(0, 3)))
    write("license/last-try.json", licence("one try left of PIN 1", left=(1, 3)))
    write("license/second-last-try.json", licence("one try left of PIN 2", left=(3, 1)))
    write("license/unknown-tries.json", licence("does not tell the tries left", virtual={"queryStatus": "6300"}))
    write("license/edition-007.json", licence("edition 007 without semi-medium", ef01=matters(last=0x32), edition="007"))
    write("license/broken.json", broken())
    write("license/my-number-licence.json", my_number("a My Number card that is a licence", [license_on_my_number()]))
    write("mynumber/card.json", my_number("a My Number card"))
    write("mynumber/last-try.json", my_number("one try left of the PIN of four digits", input_left=1))


if __name__ == "__main__":
    main()
