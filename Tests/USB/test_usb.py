#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The unmodified program before emulated USB readers: `make test-usb` runs it under umockdev-wrapper.

KAZASU and USB_CHIP name the programs. With `--jobs N`, the tests run in N processes, as most of their time is waiting.
"""

import contextlib
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

from chip import Chip, NoChip
from descriptors import Interface, acr122u, rc_s300, rc_s320, rc_s330, rc_s380, scl3711, usb_disk
from emulation import Emulation

KAZASU, USB_CHIP = os.environ["KAZASU"], os.environ["USB_CHIP"]
CARD = os.path.join(TOP, "Fixtures/cards/suica-p1/card.json")
EDY = os.path.join(TOP, "Fixtures/cards/edy/card.json")
TYPE_4A, TYPE_4B, TYPE_2, LICENSE, PHONE, SLOW = (
    os.path.join(TOP, "Fixtures", path)
    for path in ("virtual/type4.json", "virtual/type4-b.json", "virtual/ntag213.json", "iso7816/license/sample.json",
                 "felica/express-phone.json", "felica/slow-card.json"))
BACK = ["detach 0", "claim 0", "release 0", "attach 0"]


def outside(*arguments):
    """What the program says of a card on its virtual reader, without an emulated machine."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run([KAZASU, *arguments], env={**environment, "LC_ALL": "C", "LIBNFC_LOG_LEVEL": "0"},
                          check=True, capture_output=True, text=True).stdout


class ISO14443:
    """Cards of type A and B; a class gives CHIP, DEVICE and READER, and what ends with the test."""

    @staticmethod
    def expected(text):
        """What the reader makes of the virtual reader's answer."""
        return text

    def says_the_same(self, card, *arguments):
        """Compares with the virtual reader, which is libnfc's pn532_uart."""
        chip = Chip(USB_CHIP, self.CHIP, card)
        reader = self.emulation.plug_in(self.DEVICE(), chip)
        result = self.emulation.run(KAZASU, *arguments, "--reader", self.READER,
                                    environment={"LC_ALL": "C", "LIBNFC_LOG_LEVEL": "0"})
        self.assertEqual(result.status, 0, result.errors)
        self.assertEqual(result.output, self.expected(outside(*arguments, "--reader", f"virtual:{card}")))
        self.assertEqual(chip.statistics()["complaints"], [])
        self.assertFalse(chip.statistics()["isFieldOn"])
        self.emulation.unplug(reader)
        return result.output

    def test_a_card_of_type_a(self):
        self.assertIn("Type A", self.says_the_same(TYPE_4A, "poll"))
        self.says_the_same(TYPE_4A, "tag", "info")
        self.says_the_same(TYPE_4A, "tag", "read")

    def test_a_card_of_type_b(self):
        self.assertIn("Type B", self.says_the_same(TYPE_4B, "poll"))
        self.says_the_same(TYPE_4B, "tag", "info")

    def test_a_license(self):
        self.assertIn("2007-06-01", self.says_the_same(LICENSE, "license", "--free"))

    def test_a_type_2_tag(self):
        self.says_the_same(TYPE_2, "tag", "info")
        self.says_the_same(TYPE_2, "dump")


    def test_a_phone(self):
        """Its Express card is read; once its wallet is open, this one gives nothing."""
        self.assertEqual(self.says_the_same(PHONE, "balance", "--timeout", "0"), "5000\n")
        self.says_the_same(PHONE, "history")
        self.says_the_same(PHONE, "scan", "--redact")

    def test_a_card_that_needs_time_after_the_field_came_on(self):
        self.assertEqual(self.says_the_same(SLOW, "balance", "--timeout", "0"), "5000\n")
        self.assertIn("FE00 1317", self.says_the_same(SLOW, "read", "1317", "--system", "FE00", "--timeout", "0"))


class Reports:
    """`contribute` on an emulated reader; a class gives what it gives ISO14443."""

    def test_a_contribution_is_played(self):
        """Masked, complete, and the same course again when it is played."""
        chip = Chip(USB_CHIP, self.CHIP, EDY)
        reader = self.emulation.plug_in(self.DEVICE(), chip)
        with tempfile.TemporaryDirectory() as folder:
            result = self.emulation.run(KAZASU, "contribute", "--yes", "-o", folder, "--reader", self.READER, environment={"LC_ALL": "C"})
            self.assertEqual(result.status, 0, result.errors)
            self.assertEqual(chip.statistics()["complaints"], [])
            self.emulation.unplug(reader)
            path = result.output.rstrip("\n")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for number in ("0312abcd0042", "0123456", "1234567"):
                self.assertNotIn(number, text)
            lines = [json.loads(line) for line in text.splitlines()]
            self.assertTrue(lines[0]["reader"]["simulated"])
            self.assertTrue(lines[-1]["complete"])
            self.assertGreater(sum(line.get("op") == "link" for line in lines), 80)
            self.assertEqual(outside("contribute", "--check", path), "")
            played = outside("contribute", "--yes", "-o", folder, "--reader", f"replay:{path}").rstrip("\n")
            with open(played, encoding="utf-8") as file:
                again = [json.loads(line) for line in file]
            self.assertEqual([line for line in again if line.get("op") == "outcome" and "findings" not in line],
                             [line for line in lines if line.get("op") == "outcome" and "findings" not in line])


# What a command needs to get as far as its reader.
ARGUMENTS = {}
with open(os.path.join(TOP, "Scripts", "commands.tsv"), encoding="utf-8") as table:
    for row in (line.rstrip("\n").split("\t") for line in table if not line.startswith("#")):
        if len(row) == 5 and row[3] != "-":
            ARGUMENTS[row[0]] = [os.path.join(TOP, word) if word.startswith("Fixtures/") else word for word in row[3].split()]
# The journal of an issuance comes first, and a person is asked; `contribute` records what went wrong.
OTHERS = {"lite issue", "lite resume", "standard resume", "tag resume", "contribute", "doctor"}


def commands():
    """The commands that take a reader, by their words."""
    def below(command, words):
        names = [name for argument in command.get("arguments", ()) for name in argument.get("names", ())]
        if "--reader" in names:
            yield " ".join(words)
        for inner in command.get("subcommands", ()):
            yield from below(inner, [*words, inner["commandName"]])

    return [name for name in below(json.loads(outside("---describe"))["command"], []) if name not in OTHERS]


def stable(answer):
    """Without what another run or reader has otherwise."""
    return {key: value for key, value in answer.items() if key not in ("tool", "readAt", "reader")}


class Misfortune:
    """Readers that misbehave, through the real libusb-1.0; a class gives what it gives ISO14443, and BACK."""

    KINDS = ("nothing", "dead", "late", "twice", "garbage", "truncated", "wrong-code")

    def outcome(self, *options):
        """The status and the output of `balance`; whatever happened, nothing is held afterwards."""
        chip = Chip(USB_CHIP, self.CHIP, CARD, *options)
        reader = self.emulation.plug_in(self.DEVICE(), chip)
        result = self.emulation.run(KAZASU, "balance", "--reader", self.READER, "--json", "--timeout", "1",
                                    environment={"LC_ALL": "C", "LIBNFC_LOG_LEVEL": "0"})
        self.assertEqual(reader.claimed, set())
        if not chip.is_unplugged:
            self.assertEqual(reader.events, self.BACK)
        self.assertEqual(chip.statistics()["complaints"], [])
        self.emulation.unplug(reader)
        if result.status:
            self.assertEqual(json.loads(result.errors.splitlines()[-1])["status"], result.status)
        else:
            self.assertEqual(json.loads(result.output)["balances"][0]["amount"], 10)
        return result.status

    def test_unplugged_at_every_transfer(self):
        statuses = []
        while 0 not in statuses:
            with self.subTest(transfer=len(statuses) + 1):
                statuses.append(self.outcome("--unplug-before", str(len(statuses) + 1)))
        # While it is opened there is no reader; after that the card is lost; when all is said, nothing is.
        self.assertEqual(statuses, sorted(statuses, key=(69, 74, 0).index))
        self.assertGreater(statuses.count(69), 5)
        self.assertGreater(statuses.count(74), 5)

    def test_silence_from_any_command_on(self):
        """Before the reader is open, in mid-exchange and while it is closed: `balance` ends by itself, and by a signal."""
        whole = Chip(USB_CHIP, self.CHIP, CARD)
        reader = self.emulation.plug_in(self.DEVICE(), whole)
        self.kazasu("balance", "--reader", self.READER)
        count = whole.statistics()["hostCommands"]
        self.emulation.unplug(reader)
        # When all is said, a reader that is silent while it is closed harms nobody.
        late = (0, 69, 74, 75)
        for command, expected in ((1, (69,)), (self.EARLY, (69,)), (self.LATE, late), (count // 2, late), (count, (0,))):
            with self.subTest(command=command):
                self.assertIn(self.outcome("--fault", f"{command}:dead"), expected)
            with self.subTest("a signal", command=command):
                chip = Chip(USB_CHIP, self.CHIP, CARD, "--fault", f"{command}:dead")
                reader = self.emulation.plug_in(self.DEVICE(), chip)
                result = self.kazasu("balance", "--reader", self.READER, signal_numbers=(signal.SIGINT,),
                                     interrupt_when=lambda: chip.statistics()["hostCommands"] >= command)
                # The kernel takes back what a program that ends has claimed.
                self.assertIn(result.status, (130,) if command < count else (0, 130), result.errors)
                self.emulation.unplug(reader)

    def test_the_speed(self):
        self.emulation.plug_in(self.DEVICE(), Chip(USB_CHIP, self.CHIP, CARD))
        result = self.emulation.run(KAZASU, "dump", "--format", "json", "--reader", self.READER)
        self.assertEqual(json.loads(result.output)["card"]["bitRate"], self.SPEED, result.errors)

    def test_one_bad_answer(self):
        for command in self.EARLY, self.LATE:
            for kind in (*self.KINDS, *self.OWN_KINDS):
                with self.subTest(kind, command=command):
                    expected = (0, 69) if command == self.EARLY else (0, 74, 75)
                    self.assertIn(self.outcome("--fault", f"{command}:{kind}"), expected)


class ThroughLibUSB(ISO14443, Reports, Misfortune):
    """A PaSoRi through the real libusb-1.0; what kind it is, CHIP, DEVICE and READER say."""

    def setUp(self):
        self.emulation = Emulation()
        self.addCleanup(self.emulation.unplug_all)

    def plug_in(self, *options, **changes):
        self.chip = Chip(USB_CHIP, self.CHIP, CARD, *options)
        self.reader = self.emulation.plug_in(self.DEVICE(**changes), self.chip)
        return self.reader

    def kazasu(self, *arguments, **how):
        return self.emulation.run(KAZASU, *arguments, environment={"LC_ALL": "C", "LIBNFC_LOG_LEVEL": "0"}, **how)

    def succeed(self, *arguments):
        result = self.kazasu(*arguments)
        self.assertEqual(result.status, 0, result.errors)
        return result.output


class RCS380(ThroughLibUSB, unittest.TestCase):
    """The RC-S380 through the real libusb-1.0."""

    BACK = BACK
    # Commands: SetCommandType, GetFirmwareVersion, SwitchRF; InSetRF, InSetProtocol, Polling, Read.
    EARLY, LATE = 2, 7
    OWN_KINDS = ("error-frame", "wrong-checksum", "wrong-length")

    CHIP, DEVICE, READER = "port100", staticmethod(rc_s380), "rcs380"
    SPEED = 424

    def virtual(self, *arguments):
        return outside(*arguments, "--reader", f"virtual:{CARD}")

    def test_balance(self):
        self.plug_in()
        self.assertEqual(self.succeed("balance", "--reader", "rcs380"), self.virtual("balance"))
        self.assertEqual(self.reader.events, BACK)
        self.assertFalse(self.chip.statistics()["isFieldOn"])

    def test_scan_and_dump_are_as_with_libnfc(self):
        self.plug_in()
        self.assertEqual(self.succeed("scan", "--reader", "rcs380"), self.virtual("scan"))
        self.assertEqual(self.succeed("dump", "--reader", "rcs380"), self.virtual("dump"))
        self.assertEqual(self.chip.statistics()["complaints"], [])
        self.assertEqual(self.reader.events, BACK * 2)

    def test_every_command_has_a_test_with_a_silent_reader(self):
        self.assertGreater(len([name for name in dir(self) if name.endswith("_before_a_silent_reader")]), 20)

    def before_a_silent_reader(self, name):
        """A command ends although the reader falls silent while it is opened, and in mid-exchange."""
        secrets = {"KEY": "00112233445566778899AABBCCDDEEFF", "KEY6": "FFFFFFFFFFFF",
                   "MRZ": "SP1234567,800405,360614"}
        for command, expected in ((1, (69,)), (self.LATE, (0, 69, 74, 75, 76))):
            self.plug_in("--fault", f"{command}:dead")
            result = self.emulation.run(
                KAZASU, *name.split(), *ARGUMENTS.get(name, ()), "--reader", "rcs380", "--timeout", "1",
                environment={"LC_ALL": "C", **secrets})
            held = self.reader.claimed
            self.emulation.unplug_all()
            with self.subTest(command=command):
                self.assertIn(result.status, expected, result.errors)
                self.assertTrue(result.status == 0 or result.errors)
                self.assertEqual(held, set())

    def test_it_is_taken_when_no_reader_is_named(self):
        self.plug_in()
        self.assertEqual(self.succeed("balance"), self.succeed("balance", "--reader", "rcs380:serial=0123456"))

    def test_stable_names(self):
        self.plug_in()
        listed = json.loads(self.succeed("readers", "--json"))["readers"]
        self.assertEqual([(reader["id"], reader["state"]) for reader in listed], [("rcs380:serial=0123456", "ready")])
        for name in ("rcs380", "rcs380:serial=0123456", "rcs380:port=1-1"):
            self.succeed("poll", "--reader", name)
        self.assertEqual(self.kazasu("poll", "--reader", "rcs380:serial=9").status, 69)
        self.assertEqual(self.kazasu("poll", "--reader", "rcs380:port=1-2").status, 69)

    def test_two_of_them(self):
        self.plug_in()
        self.plug_in(serial="7", port="1-2", address=3)
        self.succeed("poll", "--reader", "rcs380:serial=7")
        self.assertEqual(self.reader.events, BACK)

    def test_no_kernel_driver_is_made_up(self):
        self.plug_in(interfaces=(Interface(0xFF, 0x81, 0x02),))
        self.succeed("poll", "--reader", "rcs380")
        self.assertEqual(self.reader.events, ["claim 0", "release 0"])

    def test_a_driver_that_lost_its_reader_gets_it_back(self):
        self.plug_in(interfaces=(Interface(0xFF, 0x81, 0x02),))
        self.emulation.load("port100")
        self.succeed("poll", "--reader", "rcs380")
        self.assertEqual(self.reader.events, ["claim 0", "release 0", "attach 0"])

    def test_left_mid_answer(self):
        self.plug_in("--leftover", "stale", "--leftover", "more")
        self.succeed("poll", "--reader", "rcs380")

    def test_unplugged_while_it_is_opened(self):
        self.plug_in("--unplug-before", "5")
        self.assertEqual(self.kazasu("scan", "--reader", "rcs380").status, 69)

    def test_unplugged_in_mid_command(self):
        for transfer in ("14", "25", "60", "200"):
            with self.subTest(transfer):
                self.plug_in("--unplug-before", transfer)
                result = self.kazasu("scan", "--walk", "--reader", "rcs380", "--json")
                self.assertEqual(result.status, 74, result.errors)
                self.assertEqual(json.loads(result.errors.splitlines()[-1])["status"], 74)
                self.assertEqual(self.reader.claimed, set())
                self.emulation.unplug_all()

    def is_released_by(self, *numbers, statuses):
        self.plug_in("--field", "empty")
        result = self.kazasu(
            "poll", "--timeout", "forever", "--reader", "rcs380", signal_numbers=numbers,
            interrupt_when=lambda: self.chip.statistics()["exchanges"] > 4)
        self.assertIn(result.status, statuses, result.errors)
        self.assertEqual(self.reader.events, BACK)
        self.assertFalse(self.chip.statistics()["isFieldOn"])

    def test_ctrl_c_releases_the_reader(self):
        self.is_released_by(signal.SIGINT, statuses=(130,))

    def test_a_suspend(self):
        """The kernel's driver has the reader again; the reader is gone, and not broken."""
        self.plug_in("--field", "empty")

        def suspend():
            if self.chip.statistics()["exchanges"] > 4 and self.reader.claimed:
                self.reader.suspend()
            return False

        result = self.kazasu("poll", "--timeout", "forever", "--reader", "rcs380", interrupt_when=suspend)
        self.assertEqual(result.status, 74, result.errors)
        self.assertIn("the system has reset the reader, as after a suspend", result.errors)
        self.assertEqual(self.reader.drivers, {0: "port100"})

    def test_sigterm_releases_the_reader(self):
        self.is_released_by(signal.SIGTERM, statuses=(143,))

    def test_a_terminal_that_is_closed_releases_the_reader(self):
        self.is_released_by(signal.SIGHUP, statuses=(130,))

    def test_two_signals_at_once_do_not_cut_the_release_short(self):
        for _ in range(20):
            self.is_released_by(signal.SIGTERM, signal.SIGINT, statuses=(130, 143))
            self.emulation.unplug_all()

    def test_the_right_number_but_no_pasori(self):
        self.plug_in(interfaces=(Interface(0x0B, 0x81, 0x02),))
        result = self.kazasu("poll", "--reader", "rcs380")
        self.assertEqual(result.status, 69, result.errors)
        self.assertEqual(self.reader.events, [])

    def test_held_by_another_program(self):
        self.plug_in().drivers[0] = "usbfs"
        result = self.kazasu("poll", "--reader", "rcs380")
        self.assertEqual(result.status, 69, result.errors)
        self.assertEqual(self.reader.claimed, set())


for each in commands():
    setattr(RCS380, f"test_{each.replace(' ', '_')}_before_a_silent_reader",
            lambda self, name=each: self.before_a_silent_reader(name))


class RCS300(ThroughLibUSB, unittest.TestCase):
    """The RC-S300 through the real libusb-1.0, with pcscd or without."""

    CHIP, DEVICE, READER = "port400", staticmethod(rc_s300), "rcs300"

    BACK = ["claim 1", "release 1"]
    SPEED = 212
    # Commands: the version twice, the session ended and begun, the field off and on; the protocol, Polling, Read.
    EARLY, LATE = 2, 9
    OWN_KINDS = ("error-frame", "wrong-number")

    @staticmethod
    def expected(text):
        """The reader selects cards of type A itself and tells no ATQA."""
        text = re.sub("^ATQA .*\n", "", text.replace(" ATQA 0044 ", " "), flags=re.M)
        return re.sub("^ATQA, SAK( +)[0-9A-F]{4}, ", r"SAK      \1", text, flags=re.M)

    def test_balance_scan_and_dump(self):
        self.plug_in()
        self.assertEqual(self.succeed("balance", "--reader", "rcs300"), "10\n")
        self.assertIn("090F", self.succeed("scan", "--reader", "rcs300:serial=1234567"))
        self.assertIn("0003 090F 0000 16010002166CE33BE6210A000001E300",
                      self.succeed("dump", "--reader", "rcs300:port=1-1"))
        self.assertEqual(self.chip.statistics()["complaints"], [])
        self.assertFalse(self.chip.statistics()["isFieldOn"])
        self.assertEqual(self.reader.events, self.BACK * 3)

    def test_beside_pcscd(self):
        self.plug_in().drivers[0] = "usbfs"
        self.succeed("balance", "--reader", "rcs300")
        self.assertEqual(self.reader.events, self.BACK)

    def test_the_doctor_finds_it_ready(self):
        self.plug_in()
        found = json.loads(self.succeed("doctor", "--reader", "rcs300", "--json"))
        self.assertTrue(found["ready"])
        self.assertEqual([reader["id"] for reader in found["readers"]], ["rcs300:serial=1234567"])
        self.assertIn("answers", [check["code"] for check in found["checks"]])

    def test_unplugged_in_mid_command(self):
        self.plug_in("--unplug-before", "60")
        result = self.kazasu("scan", "--reader", "rcs300", "--json")
        self.assertIn(result.status, (69, 74), result.errors)

    def test_ctrl_c_releases_the_reader(self):
        self.plug_in()
        result = self.kazasu(
            "poll", "--system", "1234", "--timeout", "forever", "--reader", "rcs300", signal_numbers=(signal.SIGINT,),
            interrupt_when=lambda: self.chip.statistics()["exchanges"] > 4)
        self.assertEqual(result.status, 130, result.errors)
        self.assertEqual(self.reader.events, self.BACK)
        self.assertFalse(self.chip.statistics()["isFieldOn"])


class RCS320(unittest.TestCase):
    """The RC-S320 through the real libusb-1.0: control transfers, and interrupt packets of 8 bytes."""

    def setUp(self):
        self.emulation = Emulation()
        self.addCleanup(self.emulation.unplug_all)

    def plug_in(self, kind, *options, **changes):
        self.chip = Chip(USB_CHIP, kind, CARD, *options)
        self.reader = self.emulation.plug_in(rc_s320(**changes), self.chip)

    def kazasu(self, *arguments, **how):
        return self.emulation.run(KAZASU, *arguments, environment={"LC_ALL": "C"}, **how)

    def test_every_command(self):
        self.plug_in("rcs320")
        for command in "poll", "balance", "history", "scan", "dump":
            result = self.kazasu(command, "--reader", "rcs320")
            self.assertEqual(result.output, outside(command, "--reader", f"virtual:{CARD}"), result.errors)
        self.assertEqual(self.chip.statistics()["complaints"], [])
        self.assertFalse(self.chip.statistics()["isFieldOn"])
        self.assertEqual(self.reader.events, ["claim 0", "release 0"] * 5)

    def test_an_rcs310(self):
        self.plug_in("rcs310", product=0x006C)
        self.assertEqual(self.kazasu("balance").output, "10\n")
        self.assertEqual(self.chip.statistics()["complaints"], [])

    def test_watching(self):
        self.plug_in("rcs320")
        result = self.kazasu("watch", "-r", "rcs320", steps=[('"type":"on"', lambda child: child.send_signal(signal.SIGINT))])
        self.assertEqual(result.status, 0, result.errors)
        self.assertEqual([json.loads(line)["type"] for line in result.output.splitlines()], ["reader", "on", "off"])

    def test_it_is_listed_and_examined(self):
        self.plug_in("rcs320")
        self.assertIn("rcs320:port=1-1", self.kazasu("readers").output)
        self.assertTrue(json.loads(self.kazasu("doctor", "--json").output)["ready"])

    def test_unplugged_in_mid_command(self):
        for transfer in 1, 12, 40:
            self.plug_in("rcs320", "--unplug-before", str(transfer))
            result = self.kazasu("balance", "--reader", "rcs320", "--timeout", "1")
            self.assertIn(result.status, (69, 74), result.errors)
            self.assertEqual(self.reader.claimed, set())
            self.emulation.unplug(self.reader)

    def test_other_cards_are_out_of_reach(self):
        self.plug_in("rcs320")
        self.assertNotEqual(self.kazasu("tag", "info", "--reader", "rcs320", "--timeout", "0").status, 0)


def schema_problem(output):
    """What is wrong with these JSON documents by Docs/schemas; empty when nothing is."""
    run = json.dumps({"arguments": ["--json"], "output": output, "errors": ""})
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    check = subprocess.run([os.environ["KAZASU_PYTHON"], f"{TOP}/Tests/Schemas/check.py", f"{TOP}/Docs/schemas"],
                           input=run + "\n", env=environment, check=True, capture_output=True, text=True)
    return "" if check.stdout == "ready\nok\n" else check.stdout


class Watching(unittest.TestCase):
    """`readers --watch`, told by udev through libusb's hot-plug events."""

    def setUp(self):
        self.emulation = Emulation()
        self.addCleanup(self.emulation.unplug_all)
        self.emulation.plug_in(rc_s300(), Chip(USB_CHIP, "port400", CARD))

    def plug_in(self):
        self.reader = self.emulation.plug_in(rc_s380(port="1-2", address=3), Chip(USB_CHIP, "port100", CARD))

    def watch(self, steps, *options):
        return self.emulation.run(KAZASU, "readers", "--watch", *options, steps=steps,
                                  environment={"LC_ALL": "C", "LIBNFC_LOG_LEVEL": "0"})

    def test_a_reader_comes_and_goes(self):
        result = self.watch([
            ("present", lambda child: self.plug_in()),
            ("arrived", lambda child: self.emulation.unplug(self.reader)),
            ("left", lambda child: child.send_signal(signal.SIGINT))])
        self.assertEqual(result.output.splitlines(), [
            "present  rcs300:serial=1234567  ready  Sony RC-S300/S",
            "arrived  rcs380:serial=0123456  ready  Sony RC-S380/S",
            "left  rcs380:serial=0123456  Sony RC-S380/S"])
        self.assertEqual(result.status, 0, result.errors)

    def test_documents_for_scripts(self):
        result = self.watch([
            ("present", lambda child: self.plug_in()), ("arrived", lambda child: self.emulation.unplug(self.reader)),
            ("left", lambda child: child.send_signal(signal.SIGTERM))], "--json")
        self.assertEqual(result.status, 0, result.errors)
        events = [json.loads(line) for line in result.output.splitlines()]
        self.assertEqual([(event["event"], event["id"]) for event in events], [
            ("present", "rcs300:serial=1234567"), ("arrived", "rcs380:serial=0123456"),
            ("left", "rcs380:serial=0123456")])
        self.assertEqual(list(events[1].items()), [
            ("schema", "kazasu.readerEvent/1"), ("event", "arrived"), ("id", "rcs380:serial=0123456"),
            ("name", "Sony RC-S380/S"), ("state", "ready")])
        self.assertEqual(list(events[2]), ["schema", "event", "id", "name"])
        self.assertEqual(schema_problem(result.output), "")
        self.assertIn("event", schema_problem(result.output.replace('"arrived"', '"came"')))

    def test_a_reader_that_is_taken_and_given_back(self):
        device = rc_s380(port="1-2", address=3, interfaces=(Interface(0xFF, 0x81, 0x02),))
        interface = f"{device.sysfs}/1-2:1.0"
        self.emulation.plug_in(device, Chip(USB_CHIP, "port100", CARD))
        testbed = self.emulation.testbed
        output = self.watch([
            ("rcs380", lambda child: testbed.set_attribute_link(interface, "driver", "../../drivers/usbfs")),
            ("changed", lambda child: child.send_signal(signal.SIGINT))], "--json").output
        self.assertEqual(schema_problem(output), "")
        held = json.loads(output.splitlines()[-1])
        self.assertEqual((held["event"], held["state"], held["reason"]), ("changed", "unavailable", "busy"))

    def test_nobody_reads_it(self):
        environment = {**os.environ, "UMOCKDEV_DIR": self.emulation.testbed.get_root_dir(), "LC_ALL": "C"}
        with subprocess.Popen([KAZASU, "readers", "--watch", "--quiet"], env=environment,
                              stdout=subprocess.PIPE) as child:
            self.assertIn(b"rcs300", child.stdout.readline())
            child.stdout.close()
            self.assertNotEqual(child.wait(30), 0)


class ThroughLibNFC(ISO14443, Reports):
    """A reader that Debian's libnfc drives, over libusb-0.1."""

    HELD = BACK

    def setUp(self):
        self.emulation = Emulation()
        self.addCleanup(self.emulation.unplug_all)

    def plug_in(self, *options, **changes):
        self.chip = Chip(USB_CHIP, self.CHIP, CARD, *options)
        self.reader = self.emulation.plug_in(self.DEVICE(**changes), self.chip)
        return self.reader

    def kazasu(self, *arguments, **how):
        return self.emulation.run(KAZASU, *arguments, "--reader", self.READER,
                                  environment={"LC_ALL": "C", "LIBNFC_LOG_LEVEL": "0"}, **how)

    def same_as_on_the_pseudo_terminal(self, *arguments):
        """The program's output, after a comparison with what it says over libnfc's pn532_uart."""
        result = self.kazasu(*arguments)
        self.assertEqual(result.status, 0, result.errors)
        self.assertEqual(result.output, self.serial(*arguments))
        return result.output

    def serial(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        environment.update(LC_ALL="C", LIBNFC_LOG_LEVEL="0")
        with subprocess.Popen([KAZASU, "simulate", CARD], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as chip:
            try:
                reader = chip.stdout.readline().strip()
                return subprocess.run([KAZASU, *arguments, "--reader", reader], env=environment, check=True,
                                      capture_output=True, text=True).stdout
            finally:
                chip.terminate()

    def test_scan_dump_and_balance(self):
        self.plug_in()
        self.assertEqual(self.same_as_on_the_pseudo_terminal("balance"), "10\n")
        self.assertIn("090F", self.same_as_on_the_pseudo_terminal("scan"))
        self.assertIn("16010002166CE33BE6210A000001E300", self.same_as_on_the_pseudo_terminal("dump"))
        self.assertEqual(self.chip.statistics()["complaints"], [])
        self.assertFalse(self.chip.statistics()["isFieldOn"])

    def test_the_kernel_driver_is_given_back(self):
        self.plug_in()
        self.assertEqual(self.kazasu("balance").status, 0)
        held = [event for event in self.reader.events if event.split()[0] in ("detach", "claim", "release", "attach")]
        self.assertEqual(held, self.HELD)
        self.assertEqual(self.reader.drivers, {0: "pn533_usb"})

    def test_no_card(self):
        self.plug_in("--field", "empty")
        self.assertEqual(self.kazasu("poll", "--timeout", "0").status, 75)

    def test_held_by_another_program(self):
        device = self.DEVICE()
        self.plug_in(interfaces=tuple(dataclasses.replace(one, driver="usbfs") for one in device.interfaces))
        self.assertEqual(self.kazasu("poll").status, 69)
        self.assertEqual(self.reader.claimed, set())

    def test_unplugged_in_mid_command(self):
        self.plug_in("--unplug-before", "80")
        result = self.kazasu("scan", limit=30)
        self.assertEqual(result.status, 74, result.errors)
        self.assertIn("the reader was unplugged", result.errors)

    def plug_in_disks(self):
        """Disks before and after the reader on its bus, and on other buses."""
        return [self.emulation.plug_in(usb_disk(port=port, bus=bus, address=address), NoChip())
                for port, bus, address in (("1-4", 1, 1), ("1-5", 1, 9), ("2-1", 2, 2), ("9-1", 9, 2))]

    def test_a_name_without_numbers_touches_no_other_device(self):
        self.plug_in()
        disks = self.plug_in_disks()
        for name in self.READER.split(":")[0], "usb":
            with self.subTest(name):
                result = self.emulation.run(KAZASU, "balance", "--reader", name, environment={"LC_ALL": "C"})
                self.assertEqual((result.status, result.output), (0, "10\n"), result.errors)
                self.assertEqual([disk.events for disk in disks], [[]] * 4)
        self.assertEqual(self.reader.drivers, {0: "pn533_usb"})

    def test_a_name_without_numbers_and_no_reader(self):
        disks = self.plug_in_disks()
        for name in self.READER.split(":")[0], "usb", self.READER.replace("port=1-1", "001:002"), self.READER:
            with self.subTest(name):
                result = self.emulation.run(KAZASU, "balance", "--reader", name, environment={"LC_ALL": "C"})
                self.assertEqual(result.status, 69, result.errors)
                self.assertIn(f"libnfc finds no reader at {name}", result.errors)
                self.assertEqual([disk.requests for disk in disks], [[]] * 4)

    def test_nothing_is_sent_to_list_readers(self):
        self.plug_in()
        for command in ("readers",), ("doctor", "--json"):
            result = self.emulation.run(KAZASU, *command, environment={"LC_ALL": "C"})
            self.assertIn(self.READER, result.output)
            self.assertEqual(self.reader.events, [])

    def test_a_driver_that_lost_its_reader_gets_it_back(self):
        self.plug_in(interfaces=tuple(dataclasses.replace(one, driver="") for one in self.DEVICE().interfaces))
        self.assertEqual(self.kazasu("balance").status, 0)
        self.assertEqual([event for event in self.reader.events if event.startswith("attach")], [])
        self.emulation.load("pn533_usb")
        self.assertEqual(self.kazasu("balance").status, 0)
        self.assertEqual([event for event in self.reader.events if event.startswith("attach")], ["attach 0"])


class ACR122U(ThroughLibNFC, unittest.TestCase):
    """libnfc's acr122_usb."""

    CHIP, DEVICE, READER = "acr122", staticmethod(acr122u), "acr122_usb:port=1-1"


class ACR122UWithoutLibNFC(ThroughLibUSB, unittest.TestCase):
    """The ACR122U through the real libusb-1.0."""

    CHIP, DEVICE, READER = "acr122", staticmethod(acr122u), "acr122"
    BACK = BACK
    SPEED = 212
    # Commands: power on, no polling, firmware, the chip's version; its settings, Polling, Read.
    EARLY, LATE = 2, 10
    OWN_KINDS = ("wrong-number",)

    def test_balance_scan_and_dump(self):
        self.plug_in()
        virtual = f"virtual:{CARD}"
        for command in "balance", "scan", "dump":
            self.assertEqual(self.succeed(command, "--reader", "acr122"), outside(command, "--reader", virtual))
        self.assertEqual(self.chip.statistics()["complaints"], [])
        self.assertEqual(self.reader.events, BACK * 3)

    def test_names(self):
        self.plug_in()
        for name in "acr122", "acr122:", "acr122:port=1-1":
            self.succeed("poll", "--reader", name)
        self.assertEqual(self.kazasu("poll", "--reader", "acr122:port=1-2").status, 69)

    def test_pcscd_has_it(self):
        self.plug_in().drivers[0] = "usbfs"
        self.assertEqual(self.kazasu("poll", "--reader", "acr122").status, 69)


class ACR122UCopy(ThroughLibNFC, unittest.TestCase):
    """A copy whose answers have the error byte FE beside their data."""

    CHIP, DEVICE, READER = "acr122-copy", staticmethod(acr122u), "acr122_usb:port=1-1"


class SCL3711(ThroughLibNFC, unittest.TestCase):
    """libnfc's pn53x_usb with a PN533."""

    CHIP, DEVICE, READER = "scl3711", staticmethod(scl3711), "pn53x_usb:port=1-1"


class RCS330(ThroughLibNFC, unittest.TestCase):
    """libnfc's pn53x_usb."""

    CHIP, DEVICE, READER = "rcs330", staticmethod(rc_s330), "pn53x_usb:port=1-1"
    # Kazasu itself resets the chip before and after libnfc's work.
    HELD = [BACK[0], *BACK[1:3] * 3, BACK[3]]

    def test_other_programs_find_it_well_and_it_finds_them_out(self):
        """Debian's nfc-list, which resets nothing, and Kazasu, each after a FeliCa card was found."""
        # nfc-list does not take a reader from a kernel driver.
        self.plug_in(interfaces=(Interface(0xFF, 0x84, 0x04),))
        for _ in range(2):
            self.assertEqual(self.kazasu("balance").output, "10\n")
            listed = self.emulation.run("/usr/bin/nfc-list", environment={"LIBNFC_LOG_LEVEL": "0"})
            self.assertIn("01  01  03  12  34  56  78  90", listed.output)
        self.assertEqual(self.kazasu("balance").output, "10\n")
        self.assertNotIn("reset", self.reader.events)
        self.assertEqual(self.chip.statistics()["complaints"], [])

    def test_a_reader_that_is_stuck_is_reset(self):
        self.plug_in("--stuck", "reset")
        self.assertEqual(self.kazasu("balance").output, "10\n")
        self.assertEqual(self.reader.events.count("reset"), 1)
        self.assertEqual(self.reader.drivers, {0: "pn533_usb"})

    def test_a_reader_that_must_be_replugged(self):
        self.plug_in("--stuck", "replug")
        result = self.kazasu("balance")
        self.assertEqual(result.status, 69)
        self.assertIn("unplug it and plug it back in", result.errors)
        japanese = self.emulation.run(KAZASU, "balance", "--reader", self.READER, environment={"LC_ALL": "ja_JP.UTF-8"})
        self.assertIn("いったん抜いて差し直してください", japanese.errors)
        self.assertEqual(self.reader.drivers, {0: "pn533_usb"})


def names(suite):
    """The tests of a suite, as in RCS380.test_two_of_them."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from names(test)
        else:
            yield test.id().removeprefix(f"{__name__}.")


def side_by_side(jobs):
    """Runs all tests in so many processes; returns the status of the worst."""
    listed = list(names(unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])))
    with contextlib.ExitStack() as stack:
        outputs = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(jobs)]
        processes = [subprocess.Popen([sys.executable, __file__, *listed[job::jobs]], stdout=output, stderr=output)
                     for job, output in enumerate(outputs)]
        status = 0
        for process, output in zip(processes, outputs):
            status = max(status, abs(process.wait()))
            output.seek(0)
            print(output.read().decode(errors="replace"), flush=True)
    return status


if __name__ == "__main__":
    if sys.argv[1:2] == ["--jobs"]:
        sys.exit(side_by_side(int(sys.argv[2])))
    unittest.main(verbosity=2)
