#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The unmodified program before emulated USB readers: `make test-usb` runs it under umockdev-wrapper.

KAZASU and USB_CHIP name the programs.
"""

import json
import os
import signal
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

from chip import Chip
from descriptors import Interface, rc_s300, rc_s380
from emulation import Emulation

KAZASU, USB_CHIP = os.environ["KAZASU"], os.environ["USB_CHIP"]
CARD = os.path.join(TOP, "Fixtures/cards/suica-p1/card.json")
BACK = ["detach 0", "claim 0", "release 0", "attach 0"]


class RCS380(unittest.TestCase):
    """The RC-S380 through the real libusb-1.0."""

    def setUp(self):
        self.emulation = Emulation()
        self.addCleanup(self.emulation.unplug_all)

    def plug_in(self, *options, **changes):
        self.chip = Chip(USB_CHIP, "port100", CARD, *options)
        self.reader = self.emulation.plug_in(rc_s380(**changes), self.chip)
        return self.reader

    def kazasu(self, *arguments, **how):
        return self.emulation.run(KAZASU, *arguments, environment={"LC_ALL": "C", "LIBNFC_LOG_LEVEL": "0"}, **how)

    def succeed(self, *arguments):
        result = self.kazasu(*arguments)
        self.assertEqual(result.status, 0, result.errors)
        return result.output

    def virtual(self, *arguments):
        """What the program says of the same card on its virtual reader, without an emulated machine."""
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        return subprocess.run([KAZASU, *arguments, "--reader", f"virtual:{CARD}"], env={**environment, "LC_ALL": "C"},
                              check=True, capture_output=True, text=True).stdout

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
                result = self.kazasu("scan", "--reader", "rcs380", "--json")
                self.assertEqual(result.status, 74, result.errors)
                self.assertEqual(json.loads(result.errors.splitlines()[-1])["status"], 74)
                self.assertEqual(self.reader.claimed, set())
                self.emulation.unplug_all()

    def is_released_by(self, number):
        self.plug_in("--field", "empty")
        result = self.kazasu(
            "poll", "--timeout", "forever", "--reader", "rcs380", signal_number=number,
            interrupt_when=lambda: self.chip.statistics()["exchanges"] > 4)
        self.assertEqual(result.status, 130, result.errors)
        self.assertEqual(self.reader.events, BACK)
        self.assertFalse(self.chip.statistics()["isFieldOn"])

    def test_ctrl_c_releases_the_reader(self):
        self.is_released_by(signal.SIGINT)

    def test_sigterm_releases_the_reader(self):
        self.is_released_by(signal.SIGTERM)

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


class RCS300(unittest.TestCase):
    """The RC-S300 through the real libusb-1.0, with pcscd or without."""

    BACK = ["claim 1", "release 1"]

    def setUp(self):
        self.emulation = Emulation()
        self.addCleanup(self.emulation.unplug_all)

    def plug_in(self, *options, **changes):
        self.chip = Chip(USB_CHIP, "port400", CARD, *options)
        self.reader = self.emulation.plug_in(rc_s300(**changes), self.chip)
        return self.reader

    def kazasu(self, *arguments, **how):
        return self.emulation.run(KAZASU, *arguments, environment={"LC_ALL": "C", "LIBNFC_LOG_LEVEL": "0"}, **how)

    def succeed(self, *arguments):
        result = self.kazasu(*arguments)
        self.assertEqual(result.status, 0, result.errors)
        return result.output

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
        self.assertEqual([reader["id"] for reader in found["readers"]], ["rcs300:port=1-1"])
        self.assertIn("answers", [check["code"] for check in found["system"]])

    def test_unplugged_in_mid_command(self):
        self.plug_in("--unplug-before", "60")
        result = self.kazasu("scan", "--reader", "rcs300", "--json")
        self.assertIn(result.status, (69, 74), result.errors)

    def test_ctrl_c_releases_the_reader(self):
        self.plug_in()
        result = self.kazasu(
            "poll", "--system", "1234", "--timeout", "forever", "--reader", "rcs300", signal_number=signal.SIGINT,
            interrupt_when=lambda: self.chip.statistics()["exchanges"] > 4)
        self.assertEqual(result.status, 130, result.errors)
        self.assertEqual(self.reader.events, self.BACK)
        self.assertFalse(self.chip.statistics()["isFieldOn"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
