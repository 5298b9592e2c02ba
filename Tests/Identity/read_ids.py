#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the cards of the Japanese state with code of its own: nfcpy carries the APDUs, pycryptodome has the ciphers.

`read_ids.py DEVICE residence NUMBER`, `read_ids.py DEVICE passport INFORMATION` or `read_ids.py DEVICE mynumber PIN,NUMBER`
prints one line a file, its name and its bytes in hexadecimal digits. Of a My Number card, the signatures are checked, too.
Nothing here is shared with Kazasu; the rules are those of ICAO Doc 9303-11, of the examples of residence cards, and for My
Number cards those of soltia48/myna-card.
"""
import hashlib
import os
import sys

from Crypto.Cipher import AES, DES, DES3
from Crypto.Hash import CMAC

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Bench"))

import nfc.clf
import nfc.tag.tt4
from nfcpy_reader import open_reader


class Card:
    """APDUs to the card on the reader."""

    def __init__(self, path):
        self.frontend = open_reader(path, hold_115200=True)
        target = self.frontend.sense(nfc.clf.RemoteTarget("106B"))
        if target is None:
            raise OSError("no card")
        self.tag = nfc.tag.tt4.Type4BTag(self.frontend, target)

    def __call__(self, *parts):
        """Sends a command, and returns data and status word."""
        command = b"".join(bytes.fromhex(part) if isinstance(part, str) else part for part in parts)
        answer = bytes(self.tag._dep.exchange(bytearray(command), 5.0))
        return answer[:-2], answer[-2:].hex()

    def data(self, *parts):
        data, status = self(*parts)
        assert status == "9000", status
        return data


def padded(data, block):
    data += b"\x80"
    return data + bytes(-len(data) % block)


def unpadded(data):
    data = data.rstrip(b"\0")
    assert data[-1] == 0x80
    return data[:-1]


def retail_mac(key, data):
    """ISO/IEC 9797-1 algorithm 3 over padded data."""
    chain = DES.new(key[:8], DES.MODE_CBC, bytes(8)).encrypt(padded(data, 8))[-8:]
    middle = DES.new(key[8:16], DES.MODE_ECB).decrypt(chain)
    return DES.new(key[:8], DES.MODE_ECB).encrypt(middle)


class TripleDES:
    block = 8

    def __init__(self, key):
        self.key = key

    def encrypt(self, data):
        return DES3.new(self.key, DES3.MODE_CBC, bytes(8)).encrypt(data)

    def decrypt(self, data):
        return DES3.new(self.key, DES3.MODE_CBC, bytes(8)).decrypt(data)

    def mac(self, data):
        return retail_mac(self.key, data)


class AES128:
    block = 16

    def __init__(self, key):
        self.key = key

    def encrypt(self, data):
        return AES.new(self.key, AES.MODE_CBC, bytes(16)).encrypt(data)

    def decrypt(self, data):
        return AES.new(self.key, AES.MODE_CBC, bytes(16)).decrypt(data)

    def mac(self, data):
        return CMAC.new(self.key, data, ciphermod=AES).digest()[:8]


def derived(seed, counter):
    return hashlib.sha1(seed + counter.to_bytes(4, "big")).digest()[:16]


def authenticate(card, encryption, codes, expected):
    """Mutual authentication; returns the seed of the session and both random numbers."""
    challenge = card.data("0084000008")
    random, share = os.urandom(8), os.urandom(16)
    text = encryption.encrypt(random + challenge + share)
    answer = card.data("0082000028", text, codes.mac(text), bytes([expected & 255]))
    assert codes.mac(answer[:32]) == answer[32:], "code"
    plain = encryption.decrypt(answer[:32])
    assert plain[:8] == challenge and plain[8:16] == random, "random numbers"
    return bytes(a ^ b for a, b in zip(share, plain[16:])), challenge, random


# The files of a residence card: name, DF, short identifier, length, whether it is encrypted.
FILES = {
    "1": [
        ("front", 2, 5, 7004, True), ("photo", 2, 6, 3004, True), ("address", 3, 1, 342, False),
        ("signature", 4, 2, 1464, False),
    ],
    "05": [
        ("number", 2, 1, 14, True), ("entries", 2, 3, 73, True), ("nameAndPhoto", 2, 4, 5508, True),
        ("addressPicture", 2, 6, 2505, True), ("permissions", 3, 1, 22, False), ("signature", 4, 2, 704, False),
    ],
}


def residence(card, number):
    card.data("00A40000")
    kind = card.data("00B08A0000")
    kind = kind[2:2 + kind[1]].decode()
    number = number.encode()
    make = AES128 if len(kind) == 2 else TripleDES
    card.data("00A4040C10D392F0004F02", bytes(10))
    own = make(hashlib.sha1(number).digest()[:16])
    seed, _, _ = authenticate(card, own, own, 0)
    session = make(derived(seed, 1))
    card.data("0820008613861101", session.encrypt(padded(number, 16)))
    for name, folder, short, size, encrypted in FILES[kind]:
        card.data(f"00A4040C10D392F0004F0{folder}", bytes(10))
        data = b""
        while len(data) < size:
            at = len(data)
            place = bytes([0x80 | short, 0] if at == 0 else [at >> 8, at & 255])
            count = min(200, size - at)
            if encrypted:
                answer = card.data("08B0", place, "04", "9602", count.to_bytes(2, "big"), "00")
                assert answer[0] == 0x86
                value = answer[2:] if answer[1] < 0x80 else answer[3:]
                assert value[0] == 1
                data += unpadded(session.decrypt(value[1:]))
            else:
                data += card.data("00B0", place, bytes([count]))
        yield name, data


class PassportSession:
    """Secure messaging after BAC."""

    def __init__(self, card, seed, challenge, random):
        self.card = card
        self.encryption, self.codes = TripleDES(derived(seed, 1)), TripleDES(derived(seed, 2))
        self.counter = int.from_bytes(challenge[4:] + random[4:], "big")

    def count(self):
        self.counter = (self.counter + 1) % 2**64
        return self.counter.to_bytes(8, "big")

    def __call__(self, header, data=b"", expected=None):
        objects = b""
        if data:
            text = b"\x01" + self.encryption.encrypt(padded(data, 8))
            objects += b"\x87" + bytes([len(text)]) + text
        if expected is not None:
            objects += bytes([0x97, 1, expected])
        code = self.codes.mac(self.count() + padded(header, 8) + objects)
        body = objects + b"\x8e\x08" + code
        answer = self.card.data(header, bytes([len(body)]), body, "00")
        assert self.codes.mac(self.count() + answer[:-10]) == answer[-8:], "code"
        assert answer[-10:-8] == b"\x8e\x08" and answer[-14:-10] == b"\x99\x02\x90\x00"
        value = answer[:-14]
        if not value:
            return b""
        assert value[0] == 0x87
        value = value[2:] if value[1] < 0x80 else value[3:]
        assert value[0] == 1
        return unpadded(self.encryption.decrypt(value[1:]))

    def file(self, identifier):
        self(b"\x0c\xa4\x02\x0c", bytes.fromhex(identifier))
        data = self(b"\x0c\xb0\0\0", expected=4)
        size = 2 + data[1] if data[1] < 0x80 else 3 + data[2] if data[1] == 0x81 else 4 + int.from_bytes(data[2:4], "big")
        while len(data) < size:
            data += self(b"\x0c\xb0" + len(data).to_bytes(2, "big"), expected=min(160, size - len(data)))
        return data


def passport(card, information):
    card.data("00A4040C07A0000002471001")
    seed = hashlib.sha1(information.encode()).digest()[:16]
    session = PassportSession(card, *authenticate(card, TripleDES(derived(seed, 1)), TripleDES(derived(seed, 2)), 40))
    for name, identifier in (("index", "011E"), ("machineReadableZone", "0101"), ("face", "0102"), ("security", "011D")):
        yield name, session.file(identifier)


def objects(data):
    """The data objects of a template: tag, whole object, value."""
    found = []
    while data and data[0] not in (0, 0xFF) or data[:2] in (b"\xff\x20", b"\xff\x30"):
        head = 2 if data[0] & 0x1F == 0x1F else 1
        size = data[head]
        start = head + 1
        if size > 0x80:
            start += size - 0x80
            size = int.from_bytes(data[head + 1:start], "big")
        found.append((data[:head].hex(), data[:start + size], data[start:start + size]))
        data = data[start + size:]
    return found


def opened(signature, key):
    """RSA's public operation on a signature; the key is an object 90, the exponent, and an object 91, the modulus."""
    exponent, modulus = (int.from_bytes(value, "big") for _, _, value in objects(key))
    return pow(int.from_bytes(signature, "big"), exponent, modulus).to_bytes(256, "big")


def signed(*parts):
    """The block of PKCS #1 v1.5 for the SHA-256 of each part."""
    digests = b"".join(hashlib.sha256(part).digest() for part in parts)
    count = len(digests)
    information = bytes([0x30, count + 17]) + bytes.fromhex("300d0609608648016503040201050004") + bytes([count]) + digests
    return b"\0\1" + b"\xff" * (253 - len(information)) + b"\0" + information


def my_number(card, secret):
    pin, number = secret.split(",")

    def file(identifier):
        card.data("00A4020C02", identifier)
        data = card.data("00B0000007")
        outer = objects(data + bytes(0x10000))[0][1]
        while len(data) < len(outer):
            data += card.data("00B0", len(data).to_bytes(2, "big"), bytes([min(200, len(outer) - len(data))]))
        return data

    def unlock(identifier, value):
        card.data("00A4020C02", identifier)
        card.data("00200080", bytes([len(value)]), value.encode())

    def key(certificate):
        return objects(objects(certificate)[0][2])[0][2][32:]

    card.data("00A4040C0AD3921000310001010402")
    certificate = file("0004")
    unlock("0012", number)
    face = file("0002")
    parts = {tag: (whole, value) for tag, whole, value in objects(objects(face)[0][2])}
    groups = (["df22", "df23", "df24"], ["df25", "df26"], ["df27"])
    block = signed(*(b"".join(parts[tag][0] for tag in tags) for tags in groups))
    assert opened(parts["df28"][1], key(certificate)) == block, "face"
    yield "faceCertificate", certificate
    yield "face", face
    card.data("00A4040C0AD3921000310001010408")
    certificate = file("0004")
    unlock("0011", pin)
    items, digests = file("0002"), file("0003")
    parts = {tag: (whole, value) for tag, whole, value in objects(objects(digests)[0][2])}
    inner = objects(objects(items)[0][2])
    assert parts["df32"][1] == hashlib.sha256(b"".join(whole for _, whole, _ in inner[1:])).digest(), "digest"
    assert opened(parts["df33"][1], key(certificate)) == signed(parts["df31"][0] + parts["df32"][0]), "items"
    yield "cardInputCertificate", certificate
    yield "items", items


def main():
    device, kind, secret = sys.argv[1:]
    read = {"residence": residence, "passport": passport, "mynumber": my_number}[kind]
    # nfcpy waits a tenth of a second for the reader, which a busy machine may miss; then all is read again.
    for _ in range(10):
        try:
            return print("\n".join(f"{name} {data.hex()}" for name, data in read(Card(device), secret)))
        except (OSError, nfc.clf.CommunicationError) as error:
            failure = error
    raise failure


main()
