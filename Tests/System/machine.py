# SPDX-License-Identifier: Apache-2.0
"""The machine of all tests: a guest, its readers, and two devices of others that nothing may reach.

SYSTEM_IMAGE is the folder of image.py, SYSTEM_PACKAGES the one with Kazasu's packages, USB_CHIP the program usb-chip,
NATIVE_KAZASU the program for this machine where the packages are for another.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path[:0] = [str(HERE), str(TOP / "Tests" / "USB")]

import devices
from chip import Chip, NoChip
from guest import Guest, GuestError
from usbredir import Port

USB_CHIP = os.environ["USB_CHIP"]
CARD = str(TOP / "Fixtures/cards/suica-p1/card.json")
# What `kazasu balance` says of it.
BALANCE = "10\n"
# The program in the folder of packages.
BARE = "bare/usr/bin/kazasu"
# Ports of the controller: a security key is the first device of the first bus, a disk the first of the other one.
KEY_PORT, READER_PORTS = 0, range(1, 7)


class Reader:
    """A reader in a port of the guest."""

    def __init__(self, model, port, chip):
        self.model, self.port, self.chip = model, port, chip

    @property
    def device(self):
        return self.port.device

    def pull(self):
        self.port.unplug()

    def plug_in(self):
        self.port.plug_in()


class Machine:
    """A guest with devices of others; `started` are the figures of its start."""

    def __init__(self):
        self.guest = Guest(os.environ["SYSTEM_IMAGE"], ports=1 + len(READER_PORTS))
        self.is_installed = False
        self.install_seconds = 0.0
        self.disk = self.guest.path("disk.pcap")
        packages = pathlib.Path(self.guest.path("packages"))
        self._unpack(packages)
        program = os.environ.get("NATIVE_KAZASU") or packages / BARE
        self.serial = subprocess.Popen([program, "simulate", CARD], stdout=subprocess.PIPE, text=True)
        line = self.serial.stdout.readline().strip().partition(":")[2]
        self.guest.extra = [
            *self.guest.disk(packages),
            # Its second serial port, with the speed that programs set there.
            "-chardev", f"serial,id=serial,path={line}", *self.guest.board.serial,
            # QEMU writes down everything that goes to the disk or comes from it.
            "-blockdev", "null-co,node-name=others,size=67108864,read-zeroes=on",
            "-device", f"usb-storage,drive=others,bus=usb.0,port=14,pcap={self.disk}"]
        self.key = Port(devices.Device(devices.SECURITY_KEY, NoChip()), self.guest.port(KEY_PORT))
        self.used = {}

    @staticmethod
    def _unpack(folder):
        """Kazasu's packages, and its program alone, without rules and units."""
        folder.mkdir()
        for package in pathlib.Path(os.environ["SYSTEM_PACKAGES"]).glob("*.deb"):
            shutil.copy(package, folder)
            if package.name.startswith("kazasu_"):
                subprocess.run(["dpkg-deb", "-x", package, folder / "bare"], check=True)
        if not (folder / BARE).exists():
            raise FileNotFoundError(f"no packages in {os.environ['SYSTEM_PACKAGES']}: make deb")

    def start(self):
        try:
            self.guest.boot()
            self.key.plug_in()
            self.run("mount -o ro /dev/vdb /mnt; systemctl is-system-running --wait")
            policy = self.guest.policy
            if policy and self.run(policy.is_enforced).status:
                raise GuestError(f"{policy.name} is not enforced")
            # libnfc's package keeps it away; elsewhere it is there.
            self.run("modprobe pn533_usb; modprobe port100; systemctl mask --now --runtime pcscd.socket pcscd.service")
            self.settle()
        except BaseException:
            self.stop()
            raise

    def stop(self):
        for reader in list(self.used.values()):
            self.remove(reader)
        self.key.unplug()
        self.guest.stop()
        self.serial.terminate()
        self.serial.wait()
        self.serial.stdout.close()

    def run(self, script, user=None, limit=180):
        return self.guest.run(script, user, limit)

    def install(self):
        """Installs the packages, once."""
        if self.is_installed:
            return
        found = self.run("dpkg -i /mnt/*.deb", limit=900)
        if found.status:
            raise AssertionError(found)
        self.is_installed = True
        self.install_seconds = found.seconds

    def settle(self):
        self.run("udevadm settle")

    def kazasu(self, words, user="alice", limit=180):
        return self.run("kazasu " + words, user, limit)

    def refused(self):
        """What the system's policy has refused to programs of Kazasu, from the journal."""
        if not self.guest.policy:
            return ""
        return self.run(f"journalctl -q -b -o cat | grep -E '{self.guest.policy.refusal}' | grep kazasu").out

    def touches(self):
        """What has reached the devices of others so far."""
        return sum(self.key.device.counts.values()), os.path.getsize(self.disk)

    def plug_in(self, model, *options, number=None, card=CARD, has_driver=True):
        """Plugs in a reader, until the guest has it, and until the kernel's driver has it where that is loaded."""
        number = number or next(port for port in READER_PORTS if port not in self.used)
        chip = Chip(USB_CHIP, model.chip, card, *options)
        reader = Reader(model, Port(devices.Device(model, chip), self.guest.port(number)), chip)
        self.used[number] = reader
        reader.plug_in()
        self.wait_for(reader, has_driver)
        return reader

    def wait_for(self, reader, has_driver=True):
        """Until the kernel has it, and the driver that wants it has taken it."""
        interface = f"/sys/bus/usb/devices/{self.place(reader)}:1.0"
        driver = f"[ -e {interface}/driver ]" if has_driver and reader.model.driver else "true"
        found = self.guest.until(f"[ -e {interface} ] && {driver}", 60)
        self.settle()
        if found.status:
            raise AssertionError(f"{reader.model.name} is not there: {self.run('dmesg | tail -n 20').out}")

    def place(self, reader):
        """Its place on the bus, such as 1-2: ports of the controller are counted from 1, and so are ours."""
        number = next(port for port, one in self.used.items() if one is reader)
        return f"1-{number + 1}"

    def name(self, reader):
        """What Kazasu calls it."""
        if not reader.model.reader.endswith("_usb"):
            return reader.model.reader
        place = f"/sys/bus/usb/devices/{self.place(reader)}"
        numbers = self.run(f"cat {place}/busnum {place}/devnum").out.split()
        return f"{reader.model.reader}:{int(numbers[0]):03}:{int(numbers[1]):03}"

    def remove(self, reader):
        """Unplugs it for good, until the guest knows."""
        number = next(port for port, one in self.used.items() if one is reader)
        place = self.place(reader)
        reader.pull()
        if self.guest.process.poll() is None:
            self.guest.until(f"[ ! -e /sys/bus/usb/devices/{place} ]", 30)
        del self.used[number]
        reader.chip.stop()
        if reader.port.problem:
            raise reader.port.problem

    def driver(self, reader):
        """The kernel driver that holds it, or an empty text."""
        link = f"/sys/bus/usb/devices/{self.place(reader)}:1.0/driver"
        return os.path.basename(self.run(f"readlink {link}").out.strip())

    def node(self, reader):
        """Owner, mode and access list of its device file."""
        place = f"/sys/bus/usb/devices/{self.place(reader)}"
        return self.run(f". {place}/uevent; stat -c '%U:%G %a' /dev/$DEVNAME; getfacl -pcE /dev/$DEVNAME").out

    def lets_plugdev(self, reader):
        """Whether members of plugdev may open it: as its group or, where pcscd has the chip card readers, by its access list."""
        node = self.node(reader)
        return node.startswith("root:plugdev 660") or node.startswith("root:pcscd 660") and "group:plugdev:rw-" in node


class SystemTest(unittest.TestCase):
    """A test on the one machine; after each, nothing of others was touched."""

    machine: Machine
    # Whether it is about a system with Kazasu's packages.
    has_packages = True

    def setUp(self):
        self.vm = self.machine
        if self.has_packages:
            self.vm.install()
        self.vm.settle()
        self.touched = self.vm.touches()
        self.addCleanup(self.check_others)
        self.addCleanup(self.unplug_all)

    def check_others(self):
        self.vm.settle()
        self.assertEqual(self.vm.refused(), "")
        self.assertEqual(self.vm.touches(), self.touched, "a security key and a disk were touched")

    def unplug_all(self):
        for reader in list(self.vm.used.values()):
            self.vm.remove(reader)

    def plug_in(self, model, *options, **more):
        return self.vm.plug_in(model, *options, **more)

    def reads(self, reader, user="alice", limit=180):
        """It reads the card, and everything is as before."""
        found = self.vm.kazasu(f"balance -t 5 -r {self.vm.name(reader)}", user, limit)
        self.assertEqual((found.status, found.out), (0, BALANCE), found)
        self.assertEqual(reader.chip.statistics()["complaints"], [])

    def pull_at_random(self, reader, moments):
        """Pulls it at one of so many transfers from now; returns when the guest knows."""
        reader.device.unplug_at = reader.device.counts["out"] + random.randint(1, moments)
        self.assertTrue(reader.port.unplugged.wait(60), "nothing more is sent to the reader")
        found = self.vm.guest.until(f"[ ! -e /sys/bus/usb/devices/{self.vm.place(reader)} ]", 30)
        self.assertEqual(found.status, 0, found)

    def ended(self, started):
        """What a service did that was told to end; where it waits, if it does not."""
        try:
            return self.vm.guest.wait(started)
        except GuestError as error:
            threads = self.vm.run('for task in $(printf "/proc/%s/task/* " $(pgrep kazasud)); do\n'
                                  'echo "$task: $(cat $task/comm $task/wchan)"; cat $task/syscall $task/stack; done').out
            raise AssertionError(f"{error}\n{threads}") from None

    def given_back(self, reader, limit=20):
        """The kernel's driver has it again."""
        if reader.model.driver:
            place = f"/sys/bus/usb/devices/{self.vm.place(reader)}:1.0/driver"
            self.vm.guest.until(f"readlink {place} | grep -q {reader.model.driver}", limit)
            self.assertEqual(self.vm.driver(reader), reader.model.driver)


def events(text):
    """The documents of a text with one in each line."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def pause(seconds):
    """Lets time pass in the guest, where nothing tells that it is enough."""
    time.sleep(seconds)
