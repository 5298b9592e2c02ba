#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the virtual passports of Fixtures/iso7816/passport: an invented person, and authorities whose keys are thrown away.

Needs python3-cryptography. Each run makes other keys and signatures, so run it only when the passports must change: those of the
signature without an argument, those with keys on the chip with `chips`.
"""
import datetime
import hashlib
import json
import os
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import NameOID

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(TOP, "Fixtures/iso7816/passport")
with open(os.path.join(TOP, "Fixtures/iso7816/license/photo.jp2"), "rb") as picture:
    PHOTO = picture.read()
LINES = ("P<UTOSPECIMEN<<SAMPLE<TARO".ljust(44, "<"), "")
SHA256 = "0609608648016503040201"


def tlv(tag, value):
    """A data object in DER; the tag in hexadecimal digits."""
    count = len(value)
    size = bytes([count]) if count < 0x80 else bytes([0x81, count & 0xFF])
    if count > 0xFF:
        size = bytes([0x82]) + count.to_bytes(2, "big")
    return bytes.fromhex(tag) + size + value


def digit(text):
    """The check digit of characters of the machine-readable zone."""
    values = [0 if c == "<" else int(c, 36) for c in text]
    return str(sum(value * (7, 3, 1)[at % 3] for at, value in enumerate(values)) % 10)


def second_line(number, birth, expiry):
    fields = number.ljust(9, "<")
    line = fields + digit(fields) + "UTO" + birth + digit(birth) + "M" + expiry + digit(expiry) + "<" * 14 + "<"
    return line + digit(line[0:10] + line[13:20] + line[21:43])


def information(line):
    return line[0:10] + line[13:20] + line[21:28]


def name(common):
    return x509.Name([
        x509.NameAttribute(NameOID.COUNTRY_NAME, "UT"), x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Kazasu samples"),
        x509.NameAttribute(NameOID.COMMON_NAME, common),
    ])


def certificate(subject, key, issuer, issuer_key, serial, authority, last=(2120, 1, 1)):
    builder = (
        x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer)).public_key(key.public_key())
        .serial_number(serial).not_valid_before(datetime.datetime(2020, 1, 1)).not_valid_after(datetime.datetime(*last))
        .add_extension(x509.BasicConstraints(authority, 0 if authority else None), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False))
    return builder.sign(issuer_key, hashes.SHA256())


def der(found):
    return found.public_bytes(serialization.Encoding.DER)


def signed_data(kind, content, key, own, scheme):
    """SignedData with one signer and signed attributes."""
    digest = hashlib.sha256(content).digest()
    algorithm = tlv("30", bytes.fromhex(SHA256))
    attributes = (
        tlv("30", bytes.fromhex("06092A864886F70D010903") + tlv("31", tlv("06", bytes.fromhex(kind)))),
        tlv("30", bytes.fromhex("06092A864886F70D010904") + tlv("31", tlv("04", digest))),
    )
    message = tlv("31", b"".join(attributes))
    if scheme == "ecdsa":
        name_of, signature = tlv("30", bytes.fromhex("06082A8648CE3D040302")), key.sign(message, ec.ECDSA(hashes.SHA256()))
    else:
        pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
        mgf = tlv("30", bytes.fromhex("06092A864886F70D010108") + algorithm)
        parameters = tlv("30", tlv("A0", algorithm) + tlv("A1", mgf) + tlv("A2", bytes.fromhex("020120")))
        name_of = tlv("30", bytes.fromhex("06092A864886F70D01010A") + parameters)
        signature = key.sign(message, pss, hashes.SHA256())
    serial = own.serial_number
    number = tlv("02", serial.to_bytes(serial.bit_length() // 8 + 1, "big"))
    who = tlv("30", own.issuer.public_bytes() + number)
    parts = who + algorithm + tlv("A0", b"".join(attributes)) + name_of + tlv("04", signature)
    signer = tlv("30", bytes.fromhex("020101") + parts)
    inner = tlv("30", tlv("06", bytes.fromhex(kind)) + tlv("A0", tlv("04", content)))
    body = bytes.fromhex("020103") + tlv("31", algorithm) + inner + tlv("A0", der(own)) + tlv("31", signer)
    return tlv("30", bytes.fromhex("06092A864886F70D010702") + tlv("A0", tlv("30", body)))


def face():
    """DG2 with one face as in ISO/IEC 19794-5."""
    image = bytes.fromhex("0101") + (180).to_bytes(2, "big") + (240).to_bytes(2, "big") + bytes(6)
    record = bytes(2) + bytes(14) + image + PHOTO
    record = (len(record) + 4).to_bytes(4, "big") + record
    whole = b"FAC\0" + b"010\0" + (len(record) + 14).to_bytes(4, "big") + b"\0\1" + record
    header = tlv("A1", bytes.fromhex("81010282010087020101") + bytes.fromhex("88020008"))
    return tlv("75", tlv("7F61", bytes.fromhex("020101") + tlv("7F60", header + tlv("5F2E", whole))))


def passport(comment, line, signer, scheme="ecdsa", change=None, keys=None):
    key, own = signer
    keys = keys or {}
    tags = bytes.fromhex("6175") + bytes(0x60 + number for number in keys)
    index = tlv("60", tlv("5F01", b"0107") + tlv("5F36", b"040000") + tlv("5C", tags))
    groups = {1: tlv("61", tlv("5F1F", (LINES[0] + line).encode())), 2: face(), **keys}
    hashes_of = b"".join(
        tlv("30", tlv("02", bytes([number])) + tlv("04", hashlib.sha256(data).digest())) for number, data in groups.items())
    content = tlv("30", bytes.fromhex("020100") + tlv("30", bytes.fromhex(SHA256)) + tlv("30", hashes_of))
    security = tlv("77", signed_data("678108010101", content, key, own, scheme))
    if change:
        groups[1] = groups[1].replace(*change)
    files = {"011E": index, "0101": groups[1], "0102": groups[2], "011D": security}
    files.update({f"01{number:02X}": groups[number] for number in keys})
    return {
        "schema": "kazasu.card/1", "comment": comment,
        "typeB": {"pupi": "random", "applicationData": "00000000", "protocolInfo": "008181"},
        "passport": {"information": information(line)},
        "applications": [{
            "aid": "A0000002471001",
            "files": {
                id: {"shortID": int(id, 16) & 0xFF, "data": data.hex(), "read": ["mrz"], "encrypted": True}
                for id, data in files.items()
            },
        }],
    }


BSI = "04007F00070202"


def spki(key):
    return key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def private(key):
    return format(key.private_numbers().private_value, "064x")


def info(name, *data):
    return tlv("30", tlv("06", bytes.fromhex(name)) + b"".join(data))


def number(value):
    return tlv("02", bytes([value]))


def chip_protocols(key, cipher):
    """DG14: chip authentication over a curve with one key."""
    return tlv("6E", tlv("31", info(BSI + "0102", spki(key)) + info(BSI + f"0302{cipher:02X}", number(1))))


def access(mapping, cipher, parameters):
    return tlv("31", info(BSI + f"04{mapping:02X}{cipher:02X}", number(2), number(parameters)))


def chips():
    """Passports with keys on the chip: what opens them is the data of card.json, or the access number 123456."""
    line = second_line("SP1234567", "800405", "360614")
    root = ec.generate_private_key(ec.SECP384R1())
    country = certificate("Chip CSCA", root, "Chip CSCA", root, 1, True)
    own = ec.generate_private_key(ec.SECP256R1())
    signer = own, certificate("Chip signer", own, "Chip CSCA", root, 1000, False)
    agreement, curve = ec.generate_private_key(ec.BrainpoolP256R1()), ec.generate_private_key(ec.SECP256R1())
    modulus = rsa.generate_private_key(65537, 2048)
    chip_key = {"parameters": 13, "key": private(agreement)}

    pace = passport("PACE only, chip and active authentication", line, signer, keys={
        14: chip_protocols(agreement, 2), 15: tlv("6F", spki(curve))})
    pace["passport"].update(
        can="123456", bac="6985", chipKeys=[chip_key],
        signer={"parameters": 12, "key": private(curve), "digest": "SHA256"})
    pace["masterFile"] = {"files": {"011C": {"data": access(2, 2, 13).hex()}}}
    write("chip-pace.json", pace)

    point = agreement.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    standard = tlv("30", tlv("30", bytes.fromhex("060704007F00070102") + number(13)) + tlv("03", bytes(1) + point))
    content = tlv("31", info(BSI + "0102", standard, number(13)))
    mapping = passport("PACE with chip-authentication mapping", line, signer)
    mapping["passport"].update(can="123456", chipKeys=[{"id": "0d", **chip_key}])
    mapping["masterFile"] = {"files": {
        "011C": {"data": access(6, 4, 13).hex()},
        "011D": {"data": signed_data("04007F0007030201", content, *signer, "ecdsa").hex(), "read": ["mrz"],
                 "encrypted": True},
    }}
    write("chip-mapping.json", mapping)

    active = passport("BAC and active authentication with RSA", line, signer, keys={15: tlv("6F", spki(modulus))})
    numbers = modulus.private_numbers()
    active["passport"]["signer"] = {
        "modulus": format(numbers.public_numbers.n, "0512x"), "key": format(numbers.d, "0512x"), "digest": "SHA256"}
    write("chip-active.json", active)
    with open(os.path.join(FOLDER, "chip-authority.der"), "wb") as file:
        file.write(der(country))


def write(path, document):
    with open(os.path.join(FOLDER, path), "w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=False, indent=2)
        file.write("\n")


def main():
    if "--help" in sys.argv:
        return print(__doc__.strip())
    os.makedirs(FOLDER, exist_ok=True)
    if "chips" in sys.argv:
        return chips()
    line = second_line("SP1234567", "800405", "360614")
    root = rsa.generate_private_key(65537, 2048)
    country = certificate("Sample CSCA", root, "Sample CSCA", root, 1, True)
    other_root = ec.generate_private_key(ec.SECP256R1())
    other = certificate("Other CSCA", other_root, "Other CSCA", other_root, 1, True)
    curve, pss = ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65537, 2048)
    signer = curve, certificate("Sample signer", curve, "Sample CSCA", root, 1000, False)
    old = curve, certificate("Sample signer", curve, "Sample CSCA", root, 1001, False, (2021, 1, 1))
    second = pss, certificate("Sample signer 2", pss, "Sample CSCA", root, 1002, False)
    write("card.json", passport("a passport", line, signer))
    write("pss.json", passport("a passport signed with RSA-PSS", line, second, "pss"))
    write("old-signer.json", passport("the signer's certificate has expired", line, old))
    ended = second_line("SP1234567", "800405", "250614")
    write("expired.json", passport("a passport that has expired", ended, signer))
    write("forged.json", passport("a name that nobody signed", line, signer, change=(b"TARO", b"JIRO")))
    pace = passport("a passport that opens by PACE only", line, signer)
    pace["masterFile"] = {"files": {"011C": {"data": tlv("31", tlv(
        "30", bytes.fromhex("060A04007F00070202040202") + bytes.fromhex("02010202010D"))).hex()}}}
    pace["virtual"] = {"statusWords": {"84": "6985"}}
    write("pace.json", pace)
    with open(os.path.join(FOLDER, "authority.der"), "wb") as file:
        file.write(der(country))
    with open(os.path.join(FOLDER, "other-authority.der"), "wb") as file:
        file.write(der(other))
    listed = tlv("30", bytes.fromhex("020100") + tlv("31", der(country) + der(other)))
    with open(os.path.join(FOLDER, "master-list.ml"), "wb") as file:
        file.write(signed_data("678108010102", listed, *signer, "ecdsa"))


main()
