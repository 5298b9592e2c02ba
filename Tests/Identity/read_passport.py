#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a passport with code of its own: BAC, and PACE with generic mapping over a curve.

Curves are in plain Python, pycryptodome has the ciphers; nothing is shared with Kazasu. Commands go to standard output, a line of
hexadecimal digits each, and the answers come from a file. At the end it prints the SHA-256 of each file that it read.

    read_passport.py bac NUMBER,BIRTH,EXPIRY ANSWERS
    read_passport.py pace NUMBER,BIRTH,EXPIRY ANSWERS
    read_passport.py can DIGITS ANSWERS
"""

import hashlib
import secrets
import sys

from Crypto.Cipher import AES, DES, DES3
from Crypto.Hash import CMAC

APPLICATION = bytes.fromhex("A0000002471001")
FILES = {"EF.COM": 0x011E, "DG1": 0x0101, "DG2": 0x0102, "EF.SOD": 0x011D}

# p, a, b, x, y, order: FIPS 186-4 and RFC 5639, by their numbers in Doc 9303-11.
CURVES = {
    12: (
        0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF, -3,
        0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
        0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    ),
    13: (
        0xA9FB57DBA1EEA9BC3E660A909D838D726E3BF623D52620282013481D1F6E5377,
        0x7D5A0975FC2C3057EEF67530417AFFE7FB8055C126DC5C6CE94A4B44F330B5D9,
        0x26DC5C6CE94A4B44F330B5D9BBD77CBF958416295CF7E1CE6BCCDC18FF8C07B6,
        0x8BD2AEB9CB7E57CB2C4B482FFC81B7AFB9DE27E1E3BD23C23A4453BD9ACE3262,
        0x547EF835C3DAC4FD97F8461A14611DC9C27745132DED8E545C1D54C72F046997,
        0xA9FB57DBA1EEA9BC3E660A909D838D718C397AA3B561A6F7901E0E82974856A7,
    ),
}


class Curve:
    def __init__(self, number):
        self.p, self.a, self.b, x, y, self.order = CURVES[number]
        self.generator = (x, y)
        self.width = (self.p.bit_length() + 7) // 8

    def add(self, one, other):
        if one is None or other is None:
            return one or other
        (x, y), (u, v) = one, other
        if x == u:
            if (y + v) % self.p == 0:
                return None
            slope = (3 * x * x + self.a) * pow(2 * y, -1, self.p)
        else:
            slope = (v - y) * pow(u - x, -1, self.p)
        third = (slope * slope - x - u) % self.p
        return third, (slope * (x - third) - y) % self.p

    def times(self, number, point):
        result = None
        while number:
            if number & 1:
                result = self.add(result, point)
            point = self.add(point, point)
            number >>= 1
        return result

    def encode(self, point):
        return b"\4" + b"".join(part.to_bytes(self.width, "big") for part in point)

    def decode(self, data):
        assert data[0] == 4 and len(data) == 1 + 2 * self.width
        x, y = int.from_bytes(data[1 : 1 + self.width], "big"), int.from_bytes(data[1 + self.width :], "big")
        assert (y * y - x**3 - self.a * x - self.b) % self.p == 0, "not on the curve"
        return x, y

    def key(self, generator):
        private = secrets.randbelow(self.order - 1) + 1
        return private, self.times(private, generator)


def check_digit(text):
    values = [0 if c == "<" else int(c) if c.isdigit() else ord(c) - 55 for c in text]
    return str(sum(value * (7, 3, 1)[place % 3] for place, value in enumerate(values)) % 10)


def information(text):
    number, birth, expiry = text.split(",")
    number = number.ljust(9, "<")
    return "".join(part + check_digit(part) for part in (number, birth, expiry)).encode()


def pad(data, block):
    return data + b"\x80" + bytes(-(len(data) + 1) % block)


def unpad(data):
    stripped = data.rstrip(b"\0")
    assert stripped[-1:] == b"\x80"
    return stripped[:-1]


def tlv(tag, value):
    size = len(value)
    length = bytes([size]) if size < 0x80 else bytes([0x81, size]) if size < 0x100 else b"\x82" + size.to_bytes(2, "big")
    return bytes.fromhex(tag) + length + value


def objects(data):
    found, rest = {}, data
    while rest:
        size = 2 if rest[0] & 0x1F == 0x1F else 1
        tag, length, start = rest[:size].hex().upper(), rest[size], size + 1
        if length & 0x80:
            count = length & 0x7F
            length, start = int.from_bytes(rest[start : start + count], "big"), start + count
        found.setdefault(tag, []).append(rest[start : start + length])
        rest = rest[start + length :]
    return found


class TripleDESKeys:
    block = 8

    def __init__(self, encryption, codes, counter):
        self.encryption, self.codes, self.counter = encryption, codes, counter

    def next(self):
        self.counter = (self.counter + 1) % (1 << (8 * self.block))
        return self.counter.to_bytes(self.block, "big")

    def cipher(self, counter):
        return triple_des(self.encryption)

    def code(self, data):
        return retail_mac(self.codes, data)


class AESKeys(TripleDESKeys):
    block = 16

    def cipher(self, counter):
        return AES.new(self.encryption, AES.MODE_CBC, AES.new(self.encryption, AES.MODE_ECB).encrypt(counter))

    def code(self, data):
        return CMAC.new(self.codes, data, ciphermod=AES).digest()[:8]


def triple_des(key):
    return DES3.new(key, DES3.MODE_CBC, bytes(8))


def retail_mac(key, data):
    """Algorithm 3 of ISO/IEC 9797-1 over whole blocks."""
    last = DES.new(key[:8], DES.MODE_CBC, bytes(8)).encrypt(data)[-8:]
    return DES.new(key[:8], DES.MODE_ECB).encrypt(DES.new(key[8:16], DES.MODE_ECB).decrypt(last))


class Chip:
    def __init__(self, answers):
        self.answers = answers
        self.keys = None

    def plain(self, command):
        print(command.hex(), flush=True)
        answer = bytes.fromhex(self.answers.readline().strip())
        return answer[:-2], int.from_bytes(answer[-2:], "big")

    def send(self, cla, ins, p1, p2, data=b"", wanted=None):
        """A command in the session, if there is one."""
        if self.keys is None:
            body = (bytes([len(data)]) + data if data else b"") + (bytes([wanted]) if wanted is not None else b"")
            return self.plain(bytes([cla, ins, p1, p2]) + body)
        keys, header, body = self.keys, bytes([cla | 0x0C, ins, p1, p2]), b""
        counter = keys.next()
        if data:
            body += tlv("87", b"\1" + keys.cipher(counter).encrypt(pad(data, keys.block)))
        if wanted is not None:
            body += tlv("97", bytes([wanted]))
        covered = counter + pad(header, keys.block) + body
        body += tlv("8E", keys.code(pad(covered, keys.block) if body else counter + pad(header, keys.block)))
        answer, status = self.plain(header + bytes([len(body)]) + body + b"\0")
        if not answer:
            return b"", status
        counter, found = keys.next(), objects(answer)
        assert found["8E"][0] == keys.code(pad(counter + answer[:-10], keys.block)), "wrong code"
        assert int.from_bytes(found["99"][0], "big") == status
        if "87" not in found:
            return b"", status
        return unpad(keys.cipher(counter).decrypt(found["87"][0][1:])), status

    def expect(self, *command, **more):
        answer, status = self.send(*command, **more)
        assert status == 0x9000, f"{command[1]:02X}: {status:04X}"
        return answer

    def read(self, identifier):
        self.expect(0, 0xA4, 0x02, 0x0C, identifier.to_bytes(2, "big"))
        head = self.expect(0, 0xB0, 0, 0, wanted=4)
        size = {0x81: 3 + head[2], 0x82: 4 + int.from_bytes(head[2:4], "big")}.get(head[1], 2 + head[1])
        data = head[:size]
        while len(data) < size:
            offset = len(data)
            data += self.expect(0, 0xB0, offset >> 8, offset & 0xFF, wanted=min(160, size - offset))
        return data


def bac(chip, text):
    chip.expect(0, 0xA4, 0x04, 0x0C, APPLICATION)
    challenge = chip.expect(0, 0x84, 0, 0, wanted=8)
    seed = hashlib.sha1(information(text)).digest()[:16]
    encryption, codes = (hashlib.sha1(seed + bytes([0, 0, 0, n])).digest()[:16] for n in (1, 2))
    own, share = secrets.token_bytes(8), secrets.token_bytes(16)
    cryptogram = triple_des(encryption).encrypt(own + challenge + share)
    code = retail_mac(codes, pad(cryptogram, 8))
    answer = chip.expect(0, 0x82, 0, 0, cryptogram + code, wanted=40)
    assert retail_mac(codes, pad(answer[:32], 8)) == answer[32:]
    plain = triple_des(encryption).decrypt(answer[:32])
    assert plain[:8] == challenge and plain[8:16] == own
    seed = bytes(a ^ b for a, b in zip(share, plain[16:]))
    encryption, codes = (hashlib.sha1(seed + bytes([0, 0, 0, n])).digest()[:16] for n in (1, 2))
    chip.keys = TripleDESKeys(encryption, codes, int.from_bytes(challenge[4:] + own[4:], "big"))


def derive(secret, number, cipher):
    digest = hashlib.sha1 if cipher <= 2 else hashlib.sha256
    return digest(secret + bytes([0, 0, 0, number])).digest()[: {1: 16, 2: 16, 3: 24, 4: 32}[cipher]]


def pace(chip, secret, reference):
    access = chip.read(0x011C)
    prefix = bytes.fromhex("04007F000702020402")
    for entry in objects(objects(access)["31"][0])["30"]:
        parts = objects(entry)
        if parts["06"][0][:-1] == prefix and len(parts.get("02", [])) == 2:
            break
    else:
        raise SystemExit("no generic mapping over a curve")
    protocol, number = parts["06"][0], parts["02"][1][0]
    cipher, curve = protocol[-1], Curve(number)
    mse = tlv("80", protocol) + tlv("83", bytes([reference])) + tlv("84", bytes([number]))
    chip.expect(0, 0x22, 0xC1, 0xA4, mse)

    def step(cla, data):
        return objects(objects(chip.expect(cla, 0x86, 0, 0, tlv("7C", data), wanted=0))["7C"][0])

    password = derive(secret, 3, cipher)
    encrypted = step(0x10, b"")["80"][0]
    work = triple_des(password) if cipher == 1 else AES.new(password, AES.MODE_CBC, bytes(16))
    nonce = int.from_bytes(work.decrypt(encrypted), "big")
    private, own = curve.key(curve.generator)
    theirs = curve.decode(step(0x10, tlv("81", curve.encode(own)))["82"][0])
    mapped = curve.add(curve.times(nonce, curve.generator), curve.times(private, theirs))
    private, own = curve.key(mapped)
    theirs = curve.decode(step(0x10, tlv("83", curve.encode(own)))["84"][0])
    agreed = curve.times(private, theirs)[0].to_bytes(curve.width, "big")
    encryption, codes = derive(agreed, 1, cipher), derive(agreed, 2, cipher)
    keys = (TripleDESKeys if cipher == 1 else AESKeys)(encryption, codes, 0)

    def token(point):
        data = tlv("7F49", tlv("06", protocol) + tlv("86", curve.encode(point)))
        return keys.code(pad(data, 8) if cipher == 1 else data)

    assert step(0x00, tlv("85", token(theirs)))["86"][0] == token(own), "wrong token"
    chip.keys = keys
    chip.expect(0, 0xA4, 0x04, 0x0C, APPLICATION)


def main():
    way, text, answers = sys.argv[1:]
    with open(answers) as file:
        chip = Chip(file)
        if way == "bac":
            bac(chip, text)
        elif way == "pace":
            pace(chip, hashlib.sha1(information(text)).digest(), 1)
        else:
            pace(chip, text.encode(), 2)
        digests = [f"{name} {hashlib.sha256(chip.read(number)).hexdigest()}" for name, number in FILES.items()]
        print("end", *digests, sep="\n", flush=True)


main()
