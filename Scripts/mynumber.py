#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the signed My Number cards of Fixtures/iso7816/mynumber: an invented person, and authorities whose keys are thrown away.

Needs python3-cryptography. Each run makes other keys and signatures, so run it only when the cards must change.
"""
import hashlib
import importlib.util
import json
import os
import struct
import sys
import zlib

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(TOP, "Fixtures/iso7816/mynumber")
# The card without signatures, of the same person.
loader = importlib.util.spec_from_file_location("cards", os.path.join(TOP, "Scripts/make-iso7816-cards.py"))
cards = importlib.util.module_from_spec(loader)
loader.loader.exec_module(cards)
ber, file = cards.ber, cards.file

with open(os.path.join(TOP, "Fixtures/iso7816/license/photo.jp2"), "rb") as picture:
    PHOTO = picture.read()
NAME, ADDRESS, BIRTH, SEX = "日本　花子", "東京都千代田区霞が関２－１－２", b"19750601", b"2"
EXPIRY, CODE = b"20310601", "1234"
# 照合番号B: the birth date in the Japanese era, the year of expiry, the security code.
NUMBER = "500601" + "2031" + CODE
# No number of anybody: its check digit is wrong.
PERSONAL = b"000000000001"


def new_key():
    return rsa.generate_private_key(65537, 2048)


def key_objects(key):
    """90 exponent, 91 modulus."""
    return ber("90", b"\1\0\1") + ber("91", key.public_key().public_numbers().n.to_bytes(256, "big"))


def identifier(digits, number):
    return digits.encode() + b"\x08\x05" + number.encode() + bytes(4)


def sign(key, message):
    return key.sign(message, padding.PKCS1v15(), hashes.SHA256())


def raw(key, block):
    """RSA without padding of its own."""
    numbers = key.private_numbers()
    return pow(int.from_bytes(block, "big"), numbers.d, numbers.public_numbers.n).to_bytes(256, "big")


def certificate(authority, authority_id, key, own_id):
    body = authority_id + own_id + key_objects(key)
    return ber("7f21", ber("5f4e", body) + ber("5f37", sign(authority, body)))


def png(width, height, seed):
    """A picture of one bit a point."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + bytes((seed * 5 + y * 3 + x * 7) & 0xFF for x in range(width // 8)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def with_table(tag, objects):
    """A template whose first object lists the offsets of the others."""
    table = 3 + 2 * len(objects)
    length = table + sum(map(len, objects))
    offset = (3 if length < 0x80 else 4 if length < 0x100 else 5) + table
    offsets = b""
    for one in objects:
        offsets += offset.to_bytes(2, "big")
        offset += len(one)
    return ber(tag, ber("df21", offsets) + b"".join(objects))


def face(key, card_key):
    """券面 0002."""
    person = ber("df22", BIRTH) + ber("df23", SEX) + ber("df24", key_objects(card_key))
    prints = ber("df25", png(120, 16, 1)) + ber("df26", png(160, 32, 2))
    photo = ber("df27", PHOTO)
    digests = b"".join(hashlib.sha256(part).digest() for part in (person, prints, photo))
    information = bytes.fromhex("3071300d060960864801650304020105000460") + digests
    block = b"\0\1" + b"\xff" * (253 - len(information)) + b"\0" + information
    objects = [
        ber("df22", BIRTH), ber("df23", SEX), ber("df24", key_objects(card_key)), ber("df25", png(120, 16, 1)),
        ber("df26", png(160, 32, 2)), photo, ber("df28", raw(key, block)), ber("df29", EXPIRY), ber("df2a", png(24, 16, 3)),
    ]
    return with_table("ff20", objects)


def items(name=NAME):
    """券面事項入力補助 0002, and what of it is signed."""
    objects = [ber("df22", name.encode()), ber("df23", ADDRESS.encode()), ber("df24", BIRTH), ber("df25", SEX)]
    return with_table("ff20", objects), b"".join(objects)


def digests(key, signed):
    """券面事項入力補助 0003."""
    number = (bytes.fromhex("ff100c") + PERSONAL).ljust(17, b"\xff")
    parts = ber("df31", hashlib.sha256(number).digest()) + ber("df32", hashlib.sha256(signed).digest())
    return ber("ff30", parts + ber("df33", sign(key, parts)))


def card(comment, authority, other=False):
    """A whole card; every card has keys of its own."""
    surface, text = new_key(), new_key()
    result = cards.my_number(comment)
    _, card_input, card_surface = result["applications"]
    number = "131104" + ("2" if other else "1")
    content, signed = items()
    card_input["files"] |= {
        "0002": file(content, ["cardInput"], 1024),
        "0003": file(digests(text, signed), ["cardInput"], 512),
        "0004": file(certificate(authority, identifier("9900033", "001"), text, identifier(number, "001"))),
    }
    card_surface["pins"]["surfaceB"]["text"] = NUMBER
    card_surface["pins"]["surfaceBirth"]["text"] = NUMBER[:6]
    card_surface["files"] |= {
        "0002": file(face(surface, new_key()), ["surfaceB"], 4096),
        "0004": file(certificate(authority, identifier("9900023", "001"), surface, identifier(number, "002"))),
    }
    return result


def write(name, data):
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(data)


def main():
    if "--help" in sys.argv:
        return print(__doc__.strip())
    authority, other = new_key(), new_key()
    for name, document in {
        "face": card("a My Number card with its face, signed by an authority of this project", authority),
        "other-face": card("another card of the same person, with keys of its own", authority, other=True),
    }.items():
        write(name + ".json", (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode())
    write("authority.bin", key_objects(authority))
    write("other-authority.bin", key_objects(other))


if __name__ == "__main__":
    main()
