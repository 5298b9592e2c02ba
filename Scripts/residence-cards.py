#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the virtual residence cards of Fixtures/iso7816/residence: invented people, and an authority whose key is thrown away.

Needs python3-cryptography. Each run makes other keys and signatures, so run it only when the cards must change.
"""
import datetime
import hashlib
import json
import os
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.x509.oid import NameOID

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(TOP, "Fixtures/iso7816/residence")
PHOTO = open(os.path.join(TOP, "Fixtures/iso7816/license/photo.jp2"), "rb").read()
NUMBER = "AA12345678BB"
DF = ["D392F0004F0%d" % n + "00" * 10 for n in range(5)]


def name(common):
    return x509.Name([
        x509.NameAttribute(NameOID.COUNTRY_NAME, "JP"),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Kazasu samples"),
        x509.NameAttribute(NameOID.COMMON_NAME, common),
    ])


def certificate(subject, key, issuer, issuer_key, authority, first=(2020, 1, 1), last=(2120, 1, 1)):
    builder = (
        x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer)).public_key(key.public_key())
        .serial_number(x509.random_serial_number() if not authority else 1)
        .not_valid_before(datetime.datetime(*first)).not_valid_after(datetime.datetime(*last))
        .add_extension(x509.BasicConstraints(authority, 0 if authority else None), True))
    return builder.sign(issuer_key, hashes.SHA256())


def der(certificate):
    return certificate.public_bytes(serialization.Encoding.DER)


def tlv(tag, value, long=False):
    count = len(value)
    if count < 0x80 and not long:
        head = bytes([count])
    elif count < 0x100 and not long:
        head = bytes([0x81, count])
    else:
        head = bytes([0x82, count >> 8, count & 255])
    return bytes.fromhex(tag) + head + value


def padded(value, count):
    assert len(value) <= count, (len(value), count)
    return value + bytes(count - len(value))


def tiff(width, height):
    """A white picture: Group 4 codes an all-white row as one bit."""
    rows = "1" * height + "000000000001" * 2
    rows += "0" * (-len(rows) % 8)
    data = bytes(int(rows[at:at + 8], 2) for at in range(0, len(rows), 8))
    entries = [
        (256, 3, width), (257, 3, height), (258, 3, 1), (259, 3, 4), (262, 3, 0), (273, 4, 8), (277, 3, 1),
        (278, 3, height), (279, 4, len(data)),
    ]
    data += bytes(len(data) % 2)
    directory = len(entries).to_bytes(2, "little")
    for tag, kind, value in entries:
        directory += tag.to_bytes(2, "little") + kind.to_bytes(2, "little") + (1).to_bytes(4, "little")
        directory += value.to_bytes(4, "little")
    return b"II*\0" + (8 + len(data)).to_bytes(4, "little") + data + directory + bytes(4)


def card(comment, cipher, master, directories):
    def files(rows):
        return {
            "%04X" % short: {
                "shortID": short, "data": data.hex(), **({"read": ["number"]} if needs else {}),
                **({"encrypted": True} if encrypted else {}),
            } for short, data, needs, encrypted in rows
        }
    document = {
        "schema": "kazasu.card/1", "comment": comment,
        "typeB": {"pupi": "random", "applicationData": "00000000", "protocolInfo": "008181"},
    }
    if cipher:
        document["residence"] = {"number": NUMBER, "cipher": cipher}
    document["masterFile"] = {"files": files(master)}
    document["applications"] = [{"aid": aid, "files": files(rows)} for aid, rows in directories]
    return document


def write(path, document):
    with open(os.path.join(FOLDER, path), "w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=False, indent=2)
        file.write("\n")


def master(kind):
    return [(0x0B, tlv("C0", b"0150" if len(kind) == 1 else b"0110"), False, False),
            (0x0A, tlv("C1", kind.encode()), False, False)]


def first_generation(kind, keys, comment, photo=True):
    authority, key, own = keys
    front, face = padded(tiff(1000, 640), 7000), padded(PHOTO if photo else b"", 3000)
    signature, signer = bytes(256), bytes(1200)
    if photo:
        signature = key.sign(front + face, padding.PKCS1v15(), hashes.SHA256())
        signer = padded(der(own), 1200)
    address = "東京都新宿区西新宿１丁目１番１号　𠮷野荘１０１".encode()
    second = [(1, tlv("D2", b"20260401") + tlv("D3", b"131041") + tlv("D4", padded(address, 320)), True, False)]
    if kind == "1":
        second += [
            (2, tlv("D5", padded("許可：原則週２８時間以内・風俗営業等の従事を除く".encode(), 120)), True, False),
            (3, tlv("D6", padded(b"", 120)), True, False), (4, tlv("D7", b"0"), True, False),
        ]
    return card(comment, "tripleDES", master(kind), [
        (DF[2], [(5, tlv("D0", front), True, True), (6, tlv("D1", face), True, True)]), (DF[3], second),
        (DF[4], [(2, tlv("DA", signature) + tlv("DB", signer), True, False)]),
    ])


def entries(kind, valid, until):
    period = b"0103" if until.strip(b"\0") else b"0000"
    values = [("C5", valid), ("C6", b"19900405"), ("C7", b"2"), ("C8", b"VNM"), ("C9", b"T410010000"), ("CE", period)]
    if kind == "05":
        values += [("CA", b"01"), ("CB", b"20260614"), ("CC", b"2"), ("CD", until)]
    return values


def second_generation(kind, keys, comment, valid=b"20980614", until=b"20970914"):
    authority, key, own = keys
    rows = entries(kind, valid, until)
    face, written = padded(PHOTO, 3000), padded(tiff(800, 100), 2500)
    message = padded(b"".join(value for _, value in rows), 53) + face + written
    signature = key.sign(message, ec.ECDSA(hashes.SHA256()))
    r, s = utils.decode_dss_signature(signature)
    raw = r.to_bytes(48, "big") + s.to_bytes(48, "big")
    second = [(3, tlv("D9", b"0") + tlv("DE", padded(b"", 200), True), True, False)]
    if kind == "05":
        second = [
            (1, tlv("D5", padded(b"1", 7)) + tlv("D6", b"20270914") + tlv("D7", b"0"), True, False),
            (2, tlv("D8", b"1"), True, False),
        ] + second
    return card(comment, "aes", master(kind), [
        (DF[2], [
            (1, tlv("C2", NUMBER.encode()), True, True), (3, b"".join(tlv(*row) for row in rows), True, True),
            (4, tlv("D0", written) + tlv("D1", face), True, True),
            (6, tlv("DFD1", padded(tiff(800, 200), 2500)), True, True),
        ]),
        (DF[3], second), (DF[4], [(2, tlv("DC", raw) + tlv("DD", padded(der(own), 602)), True, False)]),
    ])


def main():
    if "--help" in sys.argv:
        return print(__doc__.strip())
    os.makedirs(FOLDER, exist_ok=True)
    sets = {}
    for generation, common in ((1, "Sample CA"), (2, "Sample CA2")):
        make = (lambda: rsa.generate_private_key(65537, 2048)) if generation == 1 else (
            lambda: ec.generate_private_key(ec.SECP384R1()))
        root, key = make(), make()
        authority = certificate(common, root, common, root, True)
        with open(os.path.join(FOLDER, "authority-%d.der" % generation), "wb") as file:
            file.write(der(authority))
        subject = "Sample card %d" % generation
        own = certificate(subject, key, common, root, False)
        old = certificate(subject, key, common, root, False, last=(2021, 1, 1))
        edwards = certificate(subject, ed25519.Ed25519PrivateKey.generate(), common, root, False)
        sets[generation] = (authority, key, own), (authority, key, old), (authority, key, edwards)
    with open(os.path.join(FOLDER, "authorities.pem"), "wb") as file:
        for generation in (1, 2):
            file.write(sets[generation][0][0].public_bytes(serialization.Encoding.PEM))
    write("first.json", first_generation("1", sets[1][0], "a residence card of the first generation"))
    write("first-child.json", first_generation("1", sets[1][0], "a child's: no photo, no signature", photo=False))
    write("first-special.json", first_generation("2", sets[1][0], "a special permanent resident certificate, first generation"))
    write("second.json", second_generation("05", sets[2][0], "a residence card of the second generation"))
    write("second-special.json", second_generation("06", sets[2][0], "a special permanent resident certificate, second generation"))
    write("second-expired.json", second_generation("05", sets[2][0], "a card that has expired", valid=b"20260630"))
    write("second-stay-ended.json", second_generation("05", sets[2][0], "the period of stay has ended", until=b"20200101"))
    write("second-stay-unreadable.json", second_generation("05", sets[2][0], "an end that is no date", until=b"00000000"))
    write("second-permanent.json", second_generation("05", sets[2][0], "a permanent resident's", until=bytes(8)))
    write("second-old-signer.json", second_generation("05", sets[2][1], "the signer's certificate has expired"))
    write("second-edwards.json", second_generation("05", sets[2][2], "the signer has an Ed25519 key"))
    specified = {"aid": DF[1], "files": {"%04X" % short: {"shortID": short, "data": data.hex()}
                                        for short, data, _, _ in master("07")}}
    document = card("a residence card inside a My Number card", None, [], [])
    document["applications"] = [specified]
    write("specified.json", document)


main()
