#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kazasu bridge` before a real pcscd: OpenSC, PKCS#11 and pyscard read virtual cards, and get the bytes of the direct way.

KAZASUD and CARD_STAND name the programs. BRIDGE_LONG=1 runs 10,000 APDUs, 100 insertions, 10 restarts and 20 unplugged
readers instead of a few. Needs a mount namespace of its own for pcscd, so it needs root or user namespaces."""

import hashlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

from pcscd import KAZASUD, PCSCD, Bridge, eventually, free_ports

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
STAND = os.environ["CARD_STAND"]
LONG = os.environ.get("BRIDGE_LONG") == "1"
MY_NUMBER = f"{ROOT}/Fixtures/iso7816/mynumber/card.json"
LICENSE = f"{ROOT}/Fixtures/iso7816/license/sample.json"
SUICA = f"{ROOT}/Fixtures/cards/suica-p1/card.json"
NTAG = f"{ROOT}/Fixtures/virtual/ntag213.json"
JPKI = "D392F000260100000001"

sys.path.insert(0, f"{ROOT}/Tests/Serve")
from server import Server  # noqa: E402


def times(list):
    return f"median {statistics.median(list):.2f} s, longest {max(list):.2f} s"


class Stand:
    """A simulated PN532 on which a card is put and taken away."""

    def __init__(self, card, link, *other):
        self.process = subprocess.Popen([STAND, card, link, *other], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reader = self.process.stdout.readline().strip()

    def __call__(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline().strip() == word

    def stop(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


# What a PC/SC program does, in a process of its own: libpcsclite connects once a process.
PYSCARD = r"""
import json, sys, time
from smartcard.System import readers
from smartcard.Exceptions import CardConnectionException
words = json.loads(sys.stdin.readline())
reader = next(r for r in readers() if str(r).endswith("00 00"))
end = time.monotonic() + 20
while True:
    try:
        connection = reader.createConnection()
        connection.connect()
        break
    except Exception:
        if time.monotonic() > end:
            raise
        time.sleep(0.05)
print(json.dumps({"atr": bytes(connection.getATR()).hex().upper()}), flush=True)
for word in words:
    start = time.monotonic()
    try:
        data, sw1, sw2 = connection.transmit(list(bytes.fromhex(word)))
        print(json.dumps({"answer": (bytes(data) + bytes([sw1, sw2])).hex().upper(), "time": time.monotonic() - start}))
    except Exception as error:
        print(json.dumps({"error": str(error)}))
    sys.stdout.flush()
"""


class BridgeTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.port = free_ports()
        self.pcscd = PCSCD(self.folder.name, self.port)
        self.addCleanup(lambda: self.pcscd.stop())

    def bridge(self, card, *arguments):
        bridge = Bridge("-r", card if ":" in card else f"virtual:{card}", "--port", str(self.port), "-v", *arguments)
        self.addCleanup(lambda: bridge.process.poll() is None and bridge.stop())
        return bridge

    def run_tool(self, *words, status=0):
        result = subprocess.run(words, env=self.pcscd.environment, capture_output=True, timeout=120)
        if status is not None:
            self.assertEqual(result.returncode, status, result.stderr.decode())
        return result.stdout

    def pyscard(self, *apdus):
        result = subprocess.run(
            ["/usr/bin/python3", "-c", PYSCARD], input=json.dumps(apdus), env=self.pcscd.environment,
            capture_output=True, text=True, timeout=600)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def direct(self, card, *apdus):
        """The answers of the same commands without PC/SC."""
        result = subprocess.run(
            [KAZASUD, "apdu", "-r", f"virtual:{card}", *apdus], capture_output=True, text=True, timeout=60)
        return [line.replace(" ", "") for line in result.stdout.splitlines()]

    def card_is_there(self, bridge, count=1):
        bridge.wait_for("is there", count)

    def pcscd_has_the_card(self):
        """pcscd looks every 400 ms, and programs that do not wait for a card would find none."""
        eventually("the card in pcscd", lambda: b"Yes" in self.run_tool("opensc-tool", "--list-readers"))

    # MARK: OpenSC

    def test_opensc_reads_the_certificates_of_a_my_number_card(self):
        bridge = self.bridge(MY_NUMBER)
        self.card_is_there(bridge)
        self.pcscd_has_the_card()
        self.assertIn("JPKI", self.run_tool("pkcs15-tool", "--dump").decode())
        for number, file in (("01", "authentication"), ("03", "authentication-ca"), ("04", "signature-ca")):
            pem = self.run_tool("pkcs15-tool", "--read-certificate", number)
            der = subprocess.run(["openssl", "x509", "-outform", "DER"], input=pem, capture_output=True, check=True).stdout
            with open(f"{ROOT}/Fixtures/iso7816/mynumber/{file}.der", "rb") as expected:
                self.assertEqual(der, expected.read(), file)
        objects = self.run_tool("pkcs11-tool", "-O").decode()
        self.assertIn("User Authentication Certificate", objects)
        self.assertIn("3B888001", self.run_tool("opensc-tool", "--atr").decode().replace(":", "").upper())
        answer = self.run_tool("opensc-tool", "-s", f"00A4040C0A{JPKI}").decode()
        self.assertIn("SW1=0x90", answer)
        self.assertEqual(bridge.stop(), (0, b""))

    def test_pkcs11_signs_with_the_test_key_of_the_virtual_card(self):
        self.card_is_there(self.bridge(MY_NUMBER))
        self.pcscd_has_the_card()
        text, signature = f"{self.folder.name}/text", f"{self.folder.name}/signature"
        with open(text, "wb") as file:
            file.write(b"Kazasu\n")
        self.run_tool(
            "pkcs11-tool", "--login", "--pin", "1111", "--sign", "--mechanism", "SHA256-RSA-PKCS", "--id", "01",
            "--input-file", text, "--output-file", signature)
        with open(signature, "rb") as file:
            self.is_signed(b"Kazasu\n", file.read())

    def is_signed(self, text, signature):
        """OpenSSL finds that the key of the authentication certificate made the signature."""
        paths = [f"{self.folder.name}/{name}" for name in ("signed", "signed.signature", "signed.pem")]
        certificate = f"{ROOT}/Fixtures/iso7816/mynumber/authentication.der"
        key = subprocess.run(["openssl", "x509", "-inform", "DER", "-in", certificate, "-noout", "-pubkey"],
                             capture_output=True, check=True).stdout
        for path, content in zip(paths, (text, signature, key)):
            with open(path, "wb") as file:
                file.write(content)
        verified = subprocess.run(["openssl", "dgst", "-sha256", "-verify", paths[2], "-signature", paths[1], paths[0]],
                                  capture_output=True, text=True)
        self.assertEqual(verified.stdout, "Verified OK\n", verified.stderr)

    def test_what_mpa_for_linux_sends_to_log_in(self):
        """The APDUs of jpki/myna 0.7.1 for Mynaportal and e-Tax: the token, a signature over a digest, the certificate."""
        self.card_is_there(self.bridge(MY_NUMBER))
        digest_info = bytes.fromhex("3031300D060960864801650304020105000420") + hashlib.sha256(b"Kazasu\n").digest()
        token = [f"00A4040C0A{JPKI}", "00A4020C020006", "00B0000020"]
        sign = ["00A4020C020018", "0020008004" + "1111".encode().hex(), "00A4020C020017",
                f"802A0080{len(digest_info):02X}{digest_info.hex()}00"]
        head, *answers = self.pyscard(*token, *sign, *token, "00A4020C02000A", "00B0000007")
        # It takes no other card.
        self.assertTrue(head["atr"].startswith("3B888001"), head)
        answers = [bytes.fromhex(one["answer"]) for one in answers]
        self.assertEqual({one[-2:].hex() for one in answers}, {"9000"}, answers)
        self.is_signed(b"Kazasu\n", answers[6][:-2])
        # Anything but a token of phones, which want a PIN for the certificate, too.
        self.assertEqual(answers[2], answers[9])
        self.assertNotIn(b"JPKIAPGPSETOKEN", answers[2])
        # It reads on from the eighth byte, as many bytes as a short APDU has until the last ones.
        certificate = answers[-1][:-2]
        length = 4 + int.from_bytes(certificate[2:4])
        reads = [f"00B0{offset:04X}{min(256, length - offset) % 256:02X}" for offset in range(7, length, 256)]
        answers = self.pyscard(*token, "00A4020C02000A", *reads)[5:]
        certificate += b"".join(bytes.fromhex(one["answer"])[:-2] for one in answers)
        with open(f"{ROOT}/Fixtures/iso7816/mynumber/authentication.der", "rb") as expected:
            self.assertEqual(certificate, expected.read())

    def test_pins_pass_and_stand_in_no_log(self):
        bridge = self.bridge(MY_NUMBER)
        self.card_is_there(bridge)
        select = [f"00A4040C0A{JPKI}", "00A4020C020018"]
        right, wrong = self.pyscard(*select, "0020008004" + "1111".encode().hex())[-1], self.pyscard(
            *select, "0020008004" + "9876".encode().hex())[-1]
        self.assertEqual((right["answer"], wrong["answer"][:3]), ("9000", "63C"))
        bridge.stop()
        log = "".join(line for _, line in bridge.lines)
        self.assertIn("00200080", log)
        for pin in ("1111", "31313131", "9876", "39383736"):
            self.assertNotIn(pin, log)

    def test_guard(self):
        bridge = self.bridge(f"{ROOT}/Fixtures/iso7816/mynumber/last-try.json", "--guard")
        self.card_is_there(bridge)
        verify = "0020008004" + "1111".encode().hex()
        answers = [entry["answer"] for entry in self.pyscard(
            f"00A4040C0AD3921000310001010408", "00A4020C020011", "00200080", verify, "00200080")[1:]]
        self.assertEqual(answers[2:], ["63C1", "6985", "63C1"])
        bridge.stop()

    # MARK: pyscard

    def compare(self, card, *apdus):
        bridge = self.bridge(card)
        self.card_is_there(bridge)
        answers = [entry.get("answer") for entry in self.pyscard(*apdus)[1:]]
        bridge.stop()
        self.assertEqual(answers, self.direct(card, *apdus))
        self.assertEqual(len(answers), len(apdus))

    def test_the_same_bytes_as_the_direct_way_my_number(self):
        self.compare(
            MY_NUMBER, f"00A4040C0A{JPKI}", "00A4020C02000A", "00B0000000", "00B0010000", "00B0020000", "00B0038B00",
            "00A4020C020018", "00200080", "00B07FFF00", "80FF0000")

    def test_the_same_bytes_as_the_direct_way_license(self):
        self.compare(
            LICENSE, "00A4040C10A0000002310100000000000000000000", "00A4020C022F01", "00B0000000", "00B0810000",
            "00A4040C10A0000002310200000000000000000000", "00B0820000")

    def test_felica_by_the_commands_of_pcsc_and_sony(self):
        bridge = self.bridge(SUICA)
        self.card_is_there(bridge)
        entries = self.pyscard(
            "FFCA000000", "FFCA010000", "FFA40001020F09", "FFB0000000", "FFB0001300", "FFB0001400", "00A40400",
            "FF00000006" + "060000030000")
        self.assertEqual(entries[0]["atr"], "3B8F8001804F0CA00000030611003B0000000042")
        answers = [entry["answer"] for entry in entries[1:]]
        with open(SUICA) as file:
            card = json.load(file)
        self.assertEqual(answers[0], card["card"]["idm"].upper() + "9000")
        self.assertEqual(answers[1], card["card"]["pmm"].upper() + "9000")
        blocks = next(
            service["blocks"] for system in card["felica"]["systems"] for service in system["services"]
            if service["code"] == "090F")
        self.assertEqual(answers[2:5], ["9000", blocks["0000"].upper() + "9000", blocks["0013"].upper() + "9000"])
        self.assertEqual(answers[5:7], ["6A82", "6E00"])
        bridge.stop()

    def test_a_type_2_tag(self):
        bridge = self.bridge(NTAG)
        self.card_is_there(bridge)
        entries = self.pyscard("FFCA000000", "FFB0000010", "FFB0000404", "FFD600040411223344", "FFB0000404", "FFB000FF10")
        self.assertEqual(entries[0]["atr"][:32], "3B8F8001804F0CA00000030603000300")
        answers = [entry["answer"] for entry in entries[1:]]
        self.assertEqual(answers[4], "112233449000")
        self.assertEqual([answer[-4:] for answer in answers[:4]], ["9000"] * 4)
        bridge.stop()

    def test_apdus_of_any_length(self):
        bridge = self.bridge(MY_NUMBER)
        self.card_is_there(bridge)
        long = "00D6000000FFF8" + "00" * 0xFFF8
        entries = self.pyscard(f"00A4040C0A{JPKI}", long, "00A4020C02000A", "00B0000000FFFF", "00B0000000")
        answers = [entry.get("answer", "") for entry in entries[1:]]
        self.assertEqual(answers[0], "9000")
        self.assertEqual(len(answers[1]), 4, "refused by the card or the bridge")
        self.assertNotEqual(answers[1], "9000")
        self.assertEqual(answers[4], self.direct(MY_NUMBER, f"00A4040C0A{JPKI}", "00A4020C02000A", "00B0000000")[-1])
        bridge.stop()

    # MARK: Changes

    def stand(self, card, *other):
        stand = Stand(card, f"{self.folder.name}/reader", *other)
        self.addCleanup(lambda: stand.process.poll() is None and stand.stop())
        return stand

    def card_state(self):
        """Waits for PC/SC to say that a card is in or out; returns the moment."""
        watcher = subprocess.Popen(
            ["/usr/bin/python3", "-u", "-c", r"""
import time
from smartcard.scard import *
_, context = SCardEstablishContext(SCARD_SCOPE_USER)
state = SCARD_STATE_UNAWARE
while True:
    code, states = SCardGetStatusChange(context, 60000, [("Virtual PCD 00 00", state)])
    if code != 0:
        time.sleep(0.1)
        continue
    state = states[0][1]
    print(time.monotonic(), "in" if state & SCARD_STATE_PRESENT else "out", flush=True)
"""], env=self.pcscd.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(watcher.stdout.close)
        self.addCleanup(watcher.wait)
        self.addCleanup(watcher.kill)

        def state(wanted):
            for line in watcher.stdout:
                moment, word = line.split()
                if word == wanted:
                    return float(moment)
            raise AssertionError("no state")

        return state

    def test_insertions_and_removals(self):
        stand = self.stand(MY_NUMBER)
        bridge = self.bridge(stand.reader)
        removals = []
        state = self.card_state()
        state("out")
        arrivals = []
        for _ in range(100 if LONG else 5):
            stand("on")
            start = time.monotonic()
            arrivals.append(state("in") - start)
            stand("off")
            start = time.monotonic()
            removals.append(state("out") - start)
        print(f"\ninserted: {times(arrivals)}; removed: {times(removals)}")
        self.assertEqual(bridge.stop()[0], 0)

    def test_a_card_that_leaves_and_comes_back(self):
        stand = self.stand(MY_NUMBER)
        bridge = self.bridge(stand.reader)
        for visit in range(1, 4):
            stand("on")
            self.card_is_there(bridge, visit)
            self.assertEqual(self.pyscard(f"00A4040C0A{JPKI}")[1]["answer"], "9000")
            stand("off")
            bridge.wait_for("is gone", visit)
        bridge.stop()

    def test_pcscd_restarts(self):
        bridge = self.bridge(MY_NUMBER)
        for count in range(1, 12 if LONG else 4):
            self.card_is_there(bridge, count)
            self.assertEqual(self.pyscard(f"00A4040C0A{JPKI}")[1]["answer"], "9000")
            self.pcscd.stop()
            bridge.wait_for("pcscd has ended", count)
            self.pcscd.start()
        self.assertEqual(bridge.stop()[0], 0)

    def test_unplugged_readers(self):
        stand = self.stand(MY_NUMBER)
        bridge = self.bridge(stand.reader)
        for count in range(1, 21 if LONG else 4):
            stand("on")
            self.card_is_there(bridge, count)
            self.assertEqual(self.pyscard(f"00A4040C0A{JPKI}")[1]["answer"], "9000")
            stand.stop()
            bridge.wait_for("retrying", count)
            stand = self.stand(MY_NUMBER)
        self.assertEqual(bridge.stop()[0], 0)

    def test_many_apdus(self):
        bridge = self.bridge(MY_NUMBER)
        self.card_is_there(bridge)
        count = 10_000 if LONG else 300
        entries = self.pyscard(f"00A4040C0A{JPKI}", "00A4020C02000A", *(["00B0000010"] * count))
        answers = {entry["answer"] for entry in entries[3:]}
        self.assertEqual(len(answers), 1, answers)
        times = [entry["time"] * 1000 for entry in entries[3:]]
        bridge.stop()
        own = [int(match.group(1)) for _, line in bridge.lines if (match := re.search(r"\((\d+) ms\)", line))]
        print(f"\n{count} APDUs: median {statistics.median(times):.2f} ms through pcscd, {statistics.median(own)} ms of it on the reader")

    def test_a_program_that_disappears(self):
        bridge = self.bridge(MY_NUMBER)
        self.card_is_there(bridge)
        for _ in range(3):
            program = subprocess.Popen(
                ["/usr/bin/python3", "-c", PYSCARD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env=self.pcscd.environment)
            program.stdin.write(json.dumps([f"00A4040C0A{JPKI}"] + ["00B0000000"] * 100_000))
            program.stdin.close()
            for _ in range(20):
                program.stdout.readline()
            program.kill()
            program.wait()
            program.stdout.close()
            self.assertEqual(self.pyscard(f"00A4040C0A{JPKI}")[1]["answer"], "9000")
        bridge.stop()

    def test_a_card_that_leaves_while_a_program_has_it(self):
        stand = self.stand(MY_NUMBER)
        bridge = self.bridge(stand.reader)
        state = self.card_state()
        removals = []
        for visit in range(1, 41 if LONG else 4):
            stand("on")
            self.card_is_there(bridge, visit)
            state("in")
            program = subprocess.Popen(
                ["/usr/bin/python3", "-c", PYSCARD + "\nsys.stdin.readline()"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True, env=self.pcscd.environment)
            self.addCleanup(program.stdout.close)
            program.stdin.write(json.dumps([f"00A4040C0A{JPKI}"]) + "\n")
            program.stdin.flush()
            answers = [json.loads(program.stdout.readline()) for _ in range(2)]
            self.assertEqual(answers[1]["answer"], "9000")
            stand("off")
            start = time.monotonic()
            bridge.wait_for("is gone", visit)
            removals.append(state("out") - start)
            program.stdin.close()
            program.wait()
        print(f"\nremoved while a program has the card: {times(removals)}")
        bridge.stop()

    def test_a_card_changed_between_two_apdus(self):
        stand = self.stand(MY_NUMBER, LICENSE)
        bridge = self.bridge(stand.reader)
        stand("on")
        self.card_is_there(bridge)
        program = subprocess.Popen(
            ["/usr/bin/python3", "-c", PYSCARD.replace("start = ", "sys.stdin.readline()\n    start = ", 1)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.pcscd.environment)
        self.addCleanup(program.stdout.close)
        program.stdin.write(json.dumps([f"00A4040C0A{JPKI}", "00A4020C02000A"]) + "\n\n")
        program.stdin.flush()
        answers = [json.loads(program.stdout.readline()) for _ in range(2)]
        self.assertEqual(answers[1]["answer"], "9000")
        stand("other")
        program.stdin.write("\n")
        program.stdin.close()
        self.assertIn("error", json.loads(program.stdout.readline()), "no answer of the other card")
        program.wait()
        self.card_is_there(bridge, 2)
        self.assertEqual(self.pyscard("00A4040C10A0000002310100000000000000000000")[1]["answer"], "9000")
        bridge.stop()

    def test_the_reader_is_shared_with_serve(self):
        stand = self.stand(MY_NUMBER)
        serve = Bridge(
            "-r", f"desk={stand.reader}", "--read", "id", "--page", "none", "--listen", "127.0.0.1:0",
            "--outbox", f"{self.folder.name}/outbox.sqlite", "--bridge", str(self.port), command="serve")
        self.addCleanup(lambda: serve.process.poll() is None and serve.stop())
        address = serve.wait_for("serving at").split()[-1] + "/v1"

        def events():
            with urllib.request.urlopen(f"{address}/events") as answer:
                return [event["type"] for event in json.load(answer)["events"]]

        stand("on")
        self.card_is_there(serve)
        eventually("on", lambda: events() == ["reader", "on"])
        script = PYSCARD + "\nsys.stdin.readline()\nfor word in words:\n    print(connection.transmit(list(bytes.fromhex(word)))[1:], flush=True)\n"
        program = subprocess.Popen(
            ["/usr/bin/python3", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=self.pcscd.environment)
        self.addCleanup(program.stdout.close)
        words = [f"00A4040C0A{JPKI}", "00A4020C02000A"]
        program.stdin.write(json.dumps(words) + "\n")
        program.stdin.flush()
        answers = [json.loads(program.stdout.readline()) for _ in range(3)]
        self.assertEqual([answer["answer"] for answer in answers[1:]], ["9000", "9000"])
        # A request waits until the program lets go of the card, and then gets it.
        results = []

        def poll():
            with urllib.request.urlopen(f"{address}/poll?timeout=60") as answer:
                results.append(json.load(answer)["card"]["technology"])

        request = threading.Thread(target=poll)
        request.start()
        program.stdin.write("\n")
        program.stdin.close()
        self.assertEqual(program.stdout.read().count("(144, 0)"), 2)
        program.wait()
        request.join(60)
        self.assertEqual(results, ["typeB"])
        self.assertEqual(events(), ["reader", "on"], "nothing of this is a tap")
        self.assertEqual(self.pyscard(*words)[1]["answer"], "9000")
        stand("off")
        eventually("off", lambda: events() == ["reader", "on", "off"])
        self.assertEqual(serve.stop()[0], 0)

    # MARK: Wrong surroundings

    def test_without_pcscd_it_waits(self):
        self.pcscd.stop()
        bridge = self.bridge(MY_NUMBER)
        bridge.wait_for("nothing listens at the port of vpcd")
        self.pcscd.start()
        self.card_is_there(bridge)
        self.assertEqual(self.pyscard(f"00A4040C0A{JPKI}")[1]["answer"], "9000")
        bridge.stop()

    def test_a_port_that_is_taken(self):
        first = self.bridge(MY_NUMBER)
        self.card_is_there(first)
        second = self.bridge(SUICA)
        second.wait_for("another program has its port")
        self.assertEqual(self.pyscard(f"00A4040C0A{JPKI}")[1]["answer"], "9000")
        first.stop()
        self.assertEqual(second.stop()[0], 0)

    def test_two_bridges_on_one_reader(self):
        stand = self.stand(MY_NUMBER)
        stand("on")
        first = self.bridge(stand.reader)
        self.card_is_there(first)
        second = Bridge("-r", stand.reader, "--port", str(self.port + 1))
        second.wait_for("retrying")
        self.assertEqual(self.pyscard(f"00A4040C0A{JPKI}")[1]["answer"], "9000")
        self.assertEqual(second.stop()[0], 0)
        first.stop()

    def test_no_slot_of_vpcd_is_chosen_by_itself(self):
        """A bridge without a name would wait for the card that it is to put there; a watch would report each card twice."""
        own = Bridge("--port", str(self.port + 1), environment=self.pcscd.environment)
        self.addCleanup(own.stop)
        watch = Bridge("--json", environment=self.pcscd.environment, command="watch")
        self.addCleanup(lambda: watch.process.poll() is None and watch.stop())
        own.wait_for("no reader is connected")
        watch.wait_for("no reader")
        self.card_is_there(self.bridge(MY_NUMBER))
        self.pcscd_has_the_card()
        listed = subprocess.run(
            [KAZASUD, "readers"], env=self.pcscd.environment, capture_output=True, text=True, timeout=30).stdout
        self.assertRegex(listed, r"pcsc:Virtual PCD 00 00 .*only if it is named")
        poll = [KAZASUD, "poll", "-t", "20"]
        found = subprocess.run(poll, env=self.pcscd.environment, capture_output=True, text=True, timeout=30)
        self.assertEqual((found.returncode, found.stdout), (69, ""), found.stderr)
        named = subprocess.run(
            [*poll, "-r", "pcsc:Virtual PCD 00 00"], env=self.pcscd.environment, capture_output=True, text=True, timeout=30)
        self.assertEqual(named.returncode, 0, named.stderr)
        self.assertEqual(watch.stop(), (0, b""))

    def test_wrong_command_lines(self):
        for words, text in (
            (["--port", "65535", "-r", "a", "-r", "b"], "port"), (["-r", "a", "-r", "a"], "twice"),
            (["--port", "x"], "x"), (["--port", "0"], "1 to 65535"), (["-r", "nothing:x"], "unknown reader ID 'nothing:x'"),
            (["-r", f"virtual:{MY_NUMBER}", "-r", "nothing:x"], "unknown reader ID 'nothing:x'"),
        ):
            result = subprocess.run([KAZASUD, "bridge", *words], capture_output=True, text=True, timeout=30)
            self.assertEqual((result.returncode, result.stdout), (64, ""), result.stderr)
            self.assertIn(text, result.stderr)

    def test_messages_in_japanese(self):
        bridge = self.bridge(MY_NUMBER, "--lang", "ja")
        bridge.wait_for("カード（ISO 14443 B）が置かれました")
        bridge.stop()


class StoppedTests(unittest.TestCase):
    """pcscd is stopped while programs use a reader of it: no call of theirs comes back."""

    READER = "pcsc:Virtual PCD 00 00"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        port = free_ports()
        self.pcscd = PCSCD(self.folder.name, port)
        self.addCleanup(lambda: self.pcscd.stop())
        card = Bridge("-r", f"virtual:{MY_NUMBER}", "--port", str(port))
        self.addCleanup(card.stop)
        card.wait_for("is there")

    def test_serve_names_the_driver_answers_in_time_and_ends(self):
        with Server(self.folder.name, "--page", "none", reader=f"desk={self.READER}", **self.pcscd.variables) as server:
            eventually("the card", lambda: "on" in [event["type"] for event in server.get("/v1/events").json["events"]])
            self.assertEqual(server.get("/v1/readers").json["pcsc"]["state"], "ready")
            self.pcscd.pause()
            # From now on, one call of libpcsclite waits for a connection, and every other call for that one.
            service = server.get("/v1/readers").json["pcsc"]
            self.assertEqual((service["state"], service["detail"]), ("unavailable", "pcscd does not answer"))
            for _ in range(2):
                answer = server.get("/v1/poll?timeout=1")
                self.assertIn(answer.json["status"], (69, 75), answer.data)
            self.assertEqual(server.stop(limit=20)[0], 0)

    def test_watch_ends(self):
        watch = Bridge("-r", self.READER, "--json", environment=self.pcscd.environment, command="watch")
        self.assertIn(b'"reader"', watch.process.stdout.readline())
        self.assertIn(b'"on"', watch.process.stdout.readline())
        self.pcscd.pause()
        status, output = watch.stop(signal.SIGTERM)
        self.assertEqual((status, [json.loads(line)["type"] for line in output.splitlines()]), (0, ["off"]))

    def test_requests_of_rpc_end_in_time_and_it_ends_with_its_input(self):
        with subprocess.Popen(
                [KAZASUD, "rpc", "-r", self.READER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env=self.pcscd.environment) as program:

            def ask(number):
                request = {"jsonrpc": "2.0", "id": number, "method": "card.poll", "params": {"timeout": 1}}
                program.stdin.write(json.dumps(request) + "\n")
                program.stdin.flush()

            ask(1)
            self.assertIn("result", json.loads(program.stdout.readline()))
            self.pcscd.pause()
            for number in range(2, 4):
                ask(number)
                self.assertIn(json.loads(program.stdout.readline())["error"]["data"]["status"], (69, 75))
            ask(4)
            program.stdin.close()
            self.assertEqual(program.wait(60), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
