#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kazasu on a whole Debian: its kernel, drivers, udev, logind, systemd and pcscd are real, the readers are simulated chips.

`make test-system` runs it. Names of tests on the command line choose some.
"""

import os
import random
import sys
import threading
import time
import unittest

import machine
from chip import NoChip
from devices import ACR122U, RC_S300, RC_S320, RC_S330, RC_S380, READERS, GPIOAdapter
from machine import BALANCE, READER_PORTS, SystemTest, events, pause
from usbredir import Port

# The programs alone, without rules and units.
BARE = "/mnt/bare/usr/bin/kazasu"


class A1BeforeThePackages(SystemTest):
    """What a system without Kazasu's rules lets people do."""

    has_packages = False

    def test_1_kernel_drivers_take_their_readers(self):
        for name, model in READERS.items():
            with self.subTest(name):
                self.assertEqual(self.vm.driver(self.plug_in(model)), model.driver)
        self.assertEqual(self.vm.run("ls -d /sys/class/nfc/nfc*").out.split(), [f"/sys/class/nfc/nfc{n}" for n in range(4)])

    def test_2_nobody_but_whom_the_system_lets(self):
        for name, model in READERS.items():
            reader = self.plug_in(model)
            balance = f"{BARE} balance -t 5 -r {self.vm.name(reader)}"
            # systemd lets who sits at the machine open chip card readers.
            is_for_seat = model in (RC_S300, ACR122U)
            for user, want in ((None, 0), ("alice", 0 if is_for_seat else 69), ("bob", 69)):
                with self.subTest(name, user=user):
                    found = self.vm.run(balance, user)
                    self.assertEqual(found.status, want, found)
                    if want:
                        self.assertIn("no permission to use the reader", found.err)

    def test_3_the_doctor_says_what_is_wrong(self):
        self.plug_in(RC_S380)
        found = self.vm.run(f"{BARE} doctor", "alice")
        self.assertEqual(found.status, 69, found)
        self.assertRegex(found.out, r"permission +FAULT +you do not have permission to open /dev/bus/usb/")
        self.assertRegex(found.out, r"kernel driver +ok +the kernel driver port100 is attached")

    def test_4_the_doctor_installs_rules_for_readers_that_are_there(self):
        readers = [self.plug_in(model) for model in (RC_S380, RC_S300, ACR122U)]
        rules = "/etc/udev/rules.d/70-kazasu.rules /etc/udev/rules.d/93-kazasu.rules"
        found = self.vm.run(f"{BARE} doctor --fix --yes")
        self.addCleanup(self.vm.run, f"rm -f {rules}; udevadm control --reload")
        self.assertEqual(found.status, 0, found)
        self.assertIn("applied them to connected readers", found.err)
        self.vm.settle()
        for reader in readers:
            self.assertTrue(self.vm.lets_plugdev(reader), self.vm.node(reader))
        self.assertEqual(self.vm.run(f"{BARE} balance -t 5 -r rcs380", "alice").out, BALANCE)
        self.assertEqual(self.vm.run(f"ls {rules}").status, 0)

    def test_5_dpkg_with_readers_plugged_in(self):
        readers = [self.plug_in(model) for model in READERS.values()]
        for reader in readers:
            self.assertFalse(self.vm.lets_plugdev(reader))
        self.vm.install()
        self.vm.settle()
        for reader in readers:
            with self.subTest(reader.model.name):
                node = self.vm.node(reader)
                self.assertTrue(self.vm.lets_plugdev(reader), node)
                self.assertIn("user:alice:rw-", node)
                self.reads(reader)


class B1Readers(SystemTest):
    """Each reader is read by whom the rules let, and belongs to the kernel's driver before and after."""

    def test_permissions(self):
        for name, model in READERS.items():
            reader = self.plug_in(model)
            for user in (None, "alice", "carol"):
                with self.subTest(name, user=user):
                    self.reads(reader, user)
                    self.given_back(reader)
            with self.subTest(name, user="bob"):
                found = self.vm.kazasu(f"balance -t 5 -r {self.vm.name(reader)}", "bob")
                self.assertEqual((found.status, found.out), (69, ""), found)
                self.assertIn("only members of the group plugdev may open", found.err)
                self.assertIn("sudo usermod -aG plugdev $USER", found.err)
            with self.subTest(name, doctor=True):
                self.assertEqual(self.vm.kazasu(f"doctor -r {self.vm.name(reader)}").status, 0)
                self.given_back(reader)

    def test_all_at_once(self):
        readers = [self.plug_in(model) for model in READERS.values()]
        listed = {one["id"]: one["state"] for one in events_of(self.vm.kazasu("readers --json").out)}
        self.assertEqual(set(listed.values()), {"ready"}, listed)
        self.assertEqual(len(listed), len(readers), listed)
        for reader in readers:
            self.reads(reader)
            self.given_back(reader)

    def test_contributions(self):
        """What a stranger would send of each reader: masked, whole, with the frames below, and played."""
        for name, model in READERS.items():
            reader = self.plug_in(model)
            with self.subTest(name):
                folder = self.vm.run("mktemp -d", "alice").out.strip()
                made = self.vm.kazasu(f"contribute --yes -o {folder} -r {self.vm.name(reader)}", "alice")
                self.assertEqual(made.status, 0, made)
                self.given_back(reader)
                path = made.out.strip()
                self.assertTrue(path.startswith(f"{folder}/") and path.endswith(".jsonl"), made)
                text = self.vm.run(f"cat {path}", "alice").out
                for secret in "031234567890", "alice", folder:
                    self.assertNotIn(secret, text)
                lines = [machine.json.loads(line) for line in text.splitlines()]
                self.assertTrue(lines[-1]["complete"], lines[-1])
                self.assertGreater(sum(line.get("op") == "link" for line in lines), 80)
                self.assertEqual(self.vm.kazasu(f"contribute --check {path}").out, "")
                played = self.vm.kazasu(f"contribute --yes -o {folder} -r replay:{path}", "alice")
                self.assertEqual(played.status, 0, played)

    def test_two_alike(self):
        edy = str(machine.TOP / "Fixtures/cards/edy/card.json")
        first, second = self.plug_in(RC_S380), self.plug_in(RC_S380, card=edy)
        listed = [one["id"] for one in events_of(self.vm.kazasu("readers --json").out)]
        self.assertEqual(listed, [f"rcs380:port={self.vm.place(one)}" for one in (first, second)])
        found = [self.vm.kazasu(f"balance -t 5 -r {name}") for name in listed]
        self.assertEqual([one.status for one in found], [0, 0], found)
        self.assertEqual(found[0].out, BALANCE)
        self.assertNotEqual(found[1].out, BALANCE)

    def test_names_without_numbers(self):
        """V1, V10: libnfc alone would reset the first device of the first bus."""
        for model in (ACR122U, RC_S330):
            with self.subTest(model.name):
                reader = self.plug_in(model)
                touched = self.vm.touches()
                found = self.vm.kazasu(f"balance -t 5 -r {model.reader}", None)
                self.assertEqual((found.status, found.out), (0, BALANCE), found)
                self.vm.remove(reader)
                found = self.vm.kazasu(f"balance -t 1 -r {model.reader}", None)
                self.assertEqual(found.status, 69, found)
                self.assertEqual(self.vm.touches(), touched)

    def test_an_acr122u_without_libnfc(self):
        """Kazasu's own driver takes it from pn533_usb, and gives it back."""
        reader = self.plug_in(ACR122U)
        for name in ("acr122", f"acr122:port={self.vm.place(reader)}"):
            for user in (None, "alice", "carol"):
                with self.subTest(name, user=user):
                    found = self.vm.kazasu(f"balance -t 5 -r {name}", user)
                    self.assertEqual((found.status, found.out), (0, BALANCE), found)
                    self.assertEqual(reader.chip.statistics()["complaints"], [])
                    self.given_back(reader)
        found = self.vm.kazasu("balance -t 1 -r acr122", "bob")
        self.assertEqual(found.status, 69, found)

    def test_nothing_is_sent_to_list_readers(self):
        """V8."""
        readers = [self.plug_in(model) for model in (RC_S380, RC_S330, ACR122U)]
        before = [dict(reader.device.counts) for reader in readers]
        mark = self.vm.run("dmesg | wc -l").out.strip()
        for words in ("readers", "doctor", "readers --json"):
            self.assertEqual(self.vm.kazasu(words, None).status, 0)
        self.assertEqual([dict(reader.device.counts) for reader in readers], before)
        self.assertEqual(self.vm.run(f"dmesg | tail -n +$(({mark} + 1))").out, "")

    def test_asleep(self):
        """A reader that the kernel put to sleep, as libccid's rule lets it, wakes up for a command."""
        self.vm.run("modprobe -r pn533_usb")
        self.addCleanup(self.vm.run, "modprobe pn533_usb")
        reader = self.plug_in(ACR122U, has_driver=False)
        status = f"/sys/bus/usb/devices/{self.vm.place(reader)}/power/runtime_status"
        for _ in range(2):
            found = self.vm.guest.until(f"grep -q suspended {status}", 30)
            self.assertEqual(found.status, 0, self.vm.run(f"cat {status}").out)
            self.reads(reader)


class B2TwoPrograms(SystemTest):
    """Programs that want one reader, and programs that die."""

    def test_a_second_program(self):
        for model in (RC_S380, RC_S330, ACR122U):
            with self.subTest(model.name):
                reader = self.plug_in(model, "--field", "empty")
                name = self.vm.name(reader)
                first = self.vm.guest.start(f"kazasu poll -t 30 -r {name}", "alice")
                self.wait_for_claim(reader)
                second = self.vm.kazasu(f"balance -t 1 -r {name}")
                self.assertEqual(second.status, 69, second)
                self.assertRegex(second.err, "in use|another program|other program")
                reader.chip.put_card()
                self.assertEqual(self.vm.guest.wait(first).status, 0)
                self.given_back(reader)
                self.reads(reader)
                self.vm.remove(reader)

    def wait_for_claim(self, reader):
        """Until a program has taken the reader from the kernel's driver."""
        place = f"/sys/bus/usb/devices/{self.vm.place(reader)}:1.0/driver"
        found = self.vm.guest.until(f"readlink {place} | grep -q usbfs", 30)
        self.assertEqual(found.status, 0, "no program takes the reader")

    def test_kill(self):
        """V9: what a killed program took, the next one gives back."""
        for model in (RC_S380, RC_S330, ACR122U, RC_S300):
            with self.subTest(model.name):
                reader = self.plug_in(model, "--field", "empty")
                name = self.vm.name(reader)
                self.vm.guest.start(f"exec kazasu watch -r {name}", "alice")
                if model.driver:
                    self.wait_for_claim(reader)
                else:
                    self.vm.guest.until("grep -q usb /proc/$(pgrep -x kazasud)/maps || pgrep -x kazasud", 30)
                self.vm.run("pkill -9 -x kazasud; while pgrep -x kazasud; do sleep 0.1; done")
                reader.chip.put_card()
                self.reads(reader)
                self.given_back(reader)
                self.vm.remove(reader)


# How often a reader is pulled at a random moment, of each program; 25 make the 100 of a long run.
UNPLUGS = int(os.environ.get("SYSTEM_UNPLUGS", "4"))


class B3Unplugged(SystemTest):
    """Readers that are pulled while a program uses them."""

    # Asks a server that listens there.
    GET = ("import sys,urllib.request,urllib.error\n"
           "try: print(urllib.request.urlopen(\"http://127.0.0.1:7979\" + sys.argv[1], timeout=20).read().decode())\n"
           "except urllib.error.HTTPError as error: print(error.code, error.read().decode())\n")

    def test_in_a_dump_at_random_moments(self):
        for model in (RC_S380, RC_S330, RC_S320):
            reader = self.plug_in(model)
            before = reader.device.counts["out"]
            whole = self.vm.kazasu(f"dump --format json -t 5 -r {self.vm.name(reader)}")
            transfers = reader.device.counts["out"] - before
            self.assertEqual(whole.status, 0, whole)
            for count in range(UNPLUGS):
                with self.subTest(model.name, count=count):
                    self.given_back(reader)
                    started = self.vm.guest.start(f"exec kazasu dump --format json -t 5 -r {self.vm.name(reader)}", "alice")
                    # The next one may need fewer: the first one after the plug finds the kernel's leftovers.
                    self.pull_at_random(reader, transfers * 3 // 4)
                    reader.plug_in()
                    self.vm.wait_for(reader)
                    found = self.vm.guest.wait(started)
                    # Before it is open, while it reads, or when everything was read.
                    self.assertIn(found.status, (69, 74), found)
                    self.assertIn("the reader was unplugged", found.err, found)
                    if found.out:
                        self.assertFalse(machine.json.loads(found.out)["complete"])
                    self.reads(reader)
            self.given_back(reader)
            self.vm.remove(reader)

    def test_in_serve_at_random_moments(self):
        reader = self.plug_in(RC_S380)
        server = self.vm.guest.start("exec kazasu serve -r rcs380 --listen 127.0.0.1:7979 --page none", "alice")
        answers = f"python3 -c '{self.GET}' /v1/balance | grep -q '\"amount\"'"
        self.assertEqual(self.vm.guest.until(answers, 40).status, 0)
        for _ in range(UNPLUGS):
            self.pull_at_random(reader, 60)
            reader.plug_in()
            self.vm.wait_for(reader)
            self.assertEqual(self.vm.guest.until(answers, 40).status, 0, self.vm.run(f"python3 -c '{self.GET}' /v1/readers").out)
        self.vm.run("pkill -TERM -x kazasud")
        self.assertIn(self.ended(server).status, (0, 130, 143))
        self.given_back(reader)

    def test_in_a_dump(self):
        for name, model in READERS.items():
            with self.subTest(name):
                reader = self.plug_in(model)
                # Twice as many transfers as it takes to open any of them.
                reader.device.unplug_at = reader.device.counts["out"] + 40
                found = self.vm.kazasu(f"dump --format json -t 5 -r {self.vm.name(reader)}")
                self.assertEqual(found.status, 74, found)
                self.assertIn("the reader was unplugged", found.err)
                self.assertTrue(reader.port.unplugged.is_set())
                reader.plug_in()
                self.vm.wait_for(reader)
                self.reads(reader)
                self.given_back(reader)
                self.vm.remove(reader)

    def test_in_serve(self):
        reader = self.plug_in(RC_S380)
        server = self.vm.guest.start("exec kazasu serve -r rcs380 --listen 127.0.0.1:7979 --page none", "alice")
        ask = f"python3 -c '{self.GET}'"
        self.assertEqual(self.vm.guest.until(f"{ask} /v1/balance | grep -q 10", 40, "alice").status, 0)
        for _ in range(3):
            reader.pull()
            found = self.vm.guest.until(f"{ask} /v1/balance | grep -Eq '^(404|503|504|502|409)'", 40)
            self.assertEqual(found.status, 0, self.vm.run(f"{ask} /v1/balance").out)
            reader.plug_in()
            self.vm.wait_for(reader)
            found = self.vm.guest.until(f"{ask} /v1/balance | grep -q '\"amount\"'", 40)
            self.assertEqual(found.status, 0, self.vm.run(f"{ask} /v1/balance").out)
        self.vm.run("pkill -TERM -x kazasud")
        self.assertIn(self.vm.guest.wait(server).status, (0, 130, 143))
        self.given_back(reader)


class C1Units(SystemTest):
    """The packaged units."""

    def start(self, settings="", name="kazasu-watch"):
        """Starts watching; what happens is written to a file."""
        self.vm.run("printf '#!/bin/sh\\ncat >> /var/lib/kazasu/events; echo >> /var/lib/kazasu/events\\n' "
                    "> /usr/local/bin/note; chmod 755 /usr/local/bin/note; rm -rf /var/lib/private/kazasu")
        self.vm.run(f"printf 'debounce: 0\\nexec-all: /usr/local/bin/note\\n{settings}' > /etc/kazasu/watch.yaml")
        self.cursor = self.vm.run("journalctl -n 0 --show-cursor -q | sed 's/^-- cursor: //'").out.strip()
        found = self.vm.run(f"systemctl start {name}")
        self.assertEqual(found.status, 0, self.vm.run(f"journalctl -u {name} -n 20").out)
        self.addCleanup(self.vm.run, f"systemctl stop {name}; rm -f /etc/kazasu/watch.yaml; systemctl reset-failed")

    def events(self):
        return events(self.vm.run("cat /var/lib/private/kazasu/events").out)

    def until_event(self, count, condition, limit=60):
        """Waits for so many lines with that text."""
        found = self.vm.guest.until(
            f"[ $(grep -c '{condition}' /var/lib/private/kazasu/events) -ge {count} ]", limit)
        self.assertEqual(found.status, 0,
                         self.vm.run("cat /var/lib/private/kazasu/events; journalctl -n 30 -u kazasu-watch").out)

    def journal(self, unit):
        return self.vm.run(f"journalctl -q -o cat -u {unit} --after-cursor='{self.cursor}'").out

    def test_plugs(self):
        cycles = int(os.environ.get("SYSTEM_CYCLES", "5"))
        reader = self.plug_in(RC_S380)
        self.start("reader: [rcs380]\\n")
        self.until_event(1, '"type":"on"')
        for count in range(1, cycles + 1):
            reader.pull()
            self.until_event(count, '"state":"gone"')
            reader.plug_in()
            self.until_event(count + 1, '"state":"ready"')
        self.until_event(cycles + 1, '"type":"on"')
        self.assertIn("NRestarts=0", self.vm.run("systemctl show kazasu-watch -p NRestarts").out)
        self.vm.run("systemctl stop kazasu-watch")
        self.given_back(reader)
        states = [one["state"] for one in self.events() if one["type"] == "reader"]
        self.assertEqual((states.count("ready"), states.count("gone")), (cycles + 1, cycles), states)
        self.assertEqual(self.vm.run("dmesg | grep -c 'blocked for more'").out.strip(), "0")
        # V3, V4.
        text = self.journal("kazasu-watch")
        self.assertNotIn("thread priority", text)
        self.assertLess(len(text.splitlines()), 6 + 4 * cycles, text)

    def test_unplugged_at_random_moments(self):
        """A watcher that reads each card goes on, whatever it was doing."""
        reader = self.plug_in(RC_S380)
        self.start("reader: [rcs380]\\nread: balance\\n")
        self.until_event(1, '"type":"on"')
        for _ in range(UNPLUGS):
            self.pull_at_random(reader, 60)
            ready = sum(one.get("state") == "ready" for one in self.events())
            reader.plug_in()
            self.until_event(ready + 1, '"state":"ready"')
        self.assertIn("NRestarts=0", self.vm.run("systemctl show kazasu-watch -p NRestarts").out)
        # What it reads is right, at the end, too.
        taps = sum(one["type"] == "on" for one in self.events())
        reader.chip.take_card()
        self.until_event(1, '"type":"off"')
        reader.chip.put_card()
        self.until_event(taps + 1, '"type":"on"')
        self.vm.run("systemctl stop kazasu-watch")
        self.given_back(reader)

    def test_a_storm_of_plugs(self):
        """Four readers pulled and plugged in at random, on a machine that is slow: in the end each is ready, and given back."""
        readers = [self.plug_in(model) for model in (RC_S380, RC_S300, RC_S330, ACR122U)]
        self.start()
        self.until_event(len(readers), '"state":"ready"', 120)
        out = set()
        for _ in range(12 * UNPLUGS):
            reader = random.choice(readers)
            if reader in out:
                reader.plug_in()
            else:
                reader.pull()
            out ^= {reader}
            # Long enough for a driver to be in the midst of something; shorter than its limits.
            pause(random.random())
        for reader in out:
            reader.plug_in()
        for reader in readers:
            self.vm.wait_for(reader)
        # The last state of each.
        last = ("import json\nstates = {}\nfor line in open(\"/var/lib/private/kazasu/events\"):\n"
                "  one = json.loads(line) if line.startswith(\"{\") else {}\n"
                "  if one.get(\"type\") == \"reader\": states[one[\"reader\"]] = one[\"state\"]\n"
                "print(states)\n"
                f"raise SystemExit(list(states.values()) != [\"ready\"] * {len(readers)})")
        found = self.vm.guest.until(f"python3 -c '{last}'", 60)
        text = self.journal("kazasu-watch")
        self.assertEqual(found.status, 0, found.out + text)
        # A reader that went had been there, and nobody is told to end a program that does not exist.
        states = {}
        for one in self.events():
            if one["type"] == "reader":
                self.assertFalse(one["state"] == "gone" and states.get(one["reader"]) in (None, "gone"), one)
                states[one["reader"]] = one["state"]
        self.assertNotIn("quit the other program", text)
        self.assertIn("NRestarts=0", self.vm.run("systemctl show kazasu-watch -p NRestarts").out)
        self.vm.run("systemctl stop kazasu-watch")
        for reader in readers:
            self.given_back(reader)

    def test_another_program_resets_the_reader(self):
        """USBDEVFS_RESET, as some programs send to each reader at their start."""
        reader = self.plug_in(RC_S380)
        self.start("reader: [rcs380]\\n")
        self.until_event(1, '"type":"on"')
        for count in range(1, 4):
            resets = reader.device.counts["reset"]
            found = self.vm.run(f". /sys/bus/usb/devices/{self.vm.place(reader)}/uevent; python3 -c 'import fcntl,sys\n"
                                "fcntl.ioctl(open(\"/dev/\" + sys.argv[1], \"wb\"), 0x5514)' $DEVNAME")
            self.assertEqual(found.status, 0, found)
            self.assertGreater(reader.device.counts["reset"], resets)
            taps = sum(one["type"] == "on" for one in self.events())
            reader.chip.take_card()
            self.until_event(count, '"type":"off"')
            reader.chip.put_card()
            self.until_event(taps + 1, '"type":"on"')
        self.assertIn("NRestarts=0", self.vm.run("systemctl show kazasu-watch -p NRestarts").out)

    def test_the_hub_goes_and_comes_back(self):
        """All readers of a controller at once, as when the cable of a hub is loose."""
        driver = "/sys/bus/pci/drivers/xhci_hcd"
        controller = self.vm.run(f"cd {driver}; ls -d 0000:*").out.split()[0]
        readers = [self.plug_in(model) for model in (RC_S380, RC_S300)]
        self.start("reader: [rcs380, rcs300]\\n")
        self.until_event(2, '"type":"on"')
        for count in range(1, 3):
            self.vm.run(f"echo {controller} > {driver}/unbind")
            self.until_event(2 * count, '"state":"gone"')
            self.vm.run(f"echo {controller} > {driver}/bind")
            for reader in readers:
                self.vm.wait_for(reader)
            self.until_event(2 * count + 2, '"state":"ready"')
            self.until_event(2 * count + 2, '"type":"on"')
        self.vm.run("systemctl stop kazasu-watch")
        for reader in readers:
            self.given_back(reader)
        # The kernel itself asked every device for its descriptors.
        self.vm.settle()
        self.touched = self.vm.touches()

    def test_serve(self):
        """The packaged unit answers on its socket, for its own user, and gives the reader back."""
        reader = self.plug_in(RC_S380)
        self.vm.run("printf 'listen: [unix:/run/kazasu/serve.sock]\\nreader: [rcs380]\\n' > /etc/kazasu/serve.yaml\n"
                    "systemctl start kazasu-serve")
        self.addCleanup(self.vm.run, "systemctl stop kazasu-serve; rm -f /etc/kazasu/serve.yaml; systemctl reset-failed")
        get = ("python3 -c 'import socket\n"
               "s = socket.socket(socket.AF_UNIX); s.connect(\"/run/kazasu/serve.sock\")\n"
               "s.sendall(b\"GET /v1/balance HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n\")\n"
               "while (part := s.recv(65536)): print(part.decode(), end=\"\")'")
        found = self.vm.guest.until(f"{get} | grep -q '\"amount\":10'", 40)
        self.assertEqual(found.status, 0, self.vm.run(f"{get}; journalctl -n 20 -u kazasu-serve").out)
        self.assertNotEqual(self.vm.run("ps -o user= -C kazasud").out.strip(), "root")
        self.assertNotEqual(self.vm.run(get, "alice").status, 0)
        self.vm.run("systemctl kill -s HUP kazasu-serve")
        self.assertEqual(self.vm.guest.until(f"{get} | grep -q '\"amount\":10'", 40).status, 0)
        self.assertIn("NRestarts=0", self.vm.run("systemctl show kazasu-serve -p NRestarts").out)
        self.vm.run("systemctl stop kazasu-serve")
        self.given_back(reader)

    def test_cards_come_and_go(self):
        reader = self.plug_in(RC_S380)
        self.start()
        for count in range(1, 4):
            self.until_event(count, '"type":"on"')
            reader.chip.take_card()
            self.until_event(count, '"type":"off"')
            reader.chip.put_card()

    def gpio_adapter(self):
        """Plugs in an adapter with eight lines, which the unit may use, and installs a program that lets everybody in.

        A rule of udev opens it to the unit, and names it: Linux 6.1 gives one that was pulled out and comes back another number.

        :return: the adapter, its port and the name of its chip in /dev.
        """
        adapter = GPIOAdapter(NoChip())
        port = Port(adapter, self.vm.guest.port(READER_PORTS[-1]))
        rule = "/etc/udev/rules.d/99-gpio.rules"
        chip = "door-lights"
        self.vm.run(f"""echo 'SUBSYSTEM=="gpio", KERNEL=="gpiochip*", ATTRS{{idVendor}}=="10c4", GROUP="plugdev", MODE="0660",' \\
                'SYMLINK+="{chip}"' > {rule}; udevadm control --reload
            printf '#!/bin/sh\\nexit 0\\n' > /usr/local/bin/may-enter; chmod 755 /usr/local/bin/may-enter""")
        self.addCleanup(self.vm.run, f"rm -f {rule} /usr/local/bin/may-enter; udevadm control --reload")
        port.plug_in()
        self.addCleanup(port.unplug)
        found = self.vm.guest.until(f"stat -L -c %G /dev/{chip} | grep -q plugdev", 60)
        self.assertEqual(found.status, 0, self.vm.run("ls -l /dev/gpiochip*; dmesg | tail -n 20").out)
        return adapter, port, chip

    def test_lights_at_a_gpio_chip(self):
        """The kernel's own GPIO interface, and its driver for an adapter with eight lines."""
        adapter, port, chip = self.gpio_adapter()
        reader = self.plug_in(RC_S380)
        self.start(f"ask: /usr/local/bin/may-enter\\nanswer: gpio:{chip}:2,5\\n")
        self.until_event(1, '"answer":"yes"')
        self.assertEqual(adapter.outputs, 1 << 2 | 1 << 5)
        # Off when they were requested; then red off, green on; off again after a second.
        for _ in range(100):
            if adapter.log[-2:] == [(2, False), (5, False)] and (2, True) in adapter.log:
                break
            pause(0.1)
        self.assertEqual(adapter.log, [(2, False), (5, False), (5, False), (2, True), (2, False), (5, False)])
        busy = self.vm.run(f"kazasu watch -r rcs380 --ask /usr/local/bin/may-enter --answer gpio:{chip}:5,6")
        self.assertEqual(busy.status, 69, busy)
        self.assertIn(f"line 5 of /dev/{chip} cannot be used", busy.err)
        missing = self.vm.run(f"kazasu watch -r rcs380 --ask /usr/local/bin/may-enter --answer gpio:{chip}:6,8")
        self.assertEqual(missing.status, 66, missing)
        # A chip that is gone is said, and taps go on.
        port.unplug()
        self.vm.guest.until(f"[ ! -e /dev/{chip} ]", 30)
        for count in (1, 2):
            reader.chip.take_card()
            self.until_event(count, '"type":"off"')
            reader.chip.put_card()
            self.until_event(count + 1, '"answer":"yes"')
        self.assertIn(f"line 5 of /dev/{chip} cannot be set", self.journal("kazasu-watch"))
        # It is used again once it is back.
        port.plug_in()
        back = self.vm.guest.until(f"stat -L -c %G /dev/{chip} | grep -q plugdev", 60)
        self.assertEqual(back.status, 0, self.vm.run("ls -l /dev/gpiochip*; dmesg | tail -n 20").out)
        adapter.log.clear()
        reader.chip.take_card()
        self.until_event(3, '"type":"off"')
        reader.chip.put_card()
        self.until_event(4, '"answer":"yes"')
        self.vm.run("systemctl stop kazasu-watch")
        self.assertIn((2, True), adapter.log, self.journal("kazasu-watch"))
        self.assertEqual(adapter.levels & (1 << 2 | 1 << 5), 0)

    def test_lights_after_a_kill(self):
        """The unit is killed at the moment that the green light goes on, and nothing starts it again: the light goes off."""
        settings = "/run/systemd/system/kazasu-watch.service.d"
        self.vm.run(f"mkdir -p {settings}; printf '[Service]\\nRestart=no\\n' > {settings}/once.conf; systemctl daemon-reload")
        self.addCleanup(self.vm.run, f"rm -f {settings}/once.conf; systemctl daemon-reload; systemctl reset-failed")
        adapter, _, chip = self.gpio_adapter()
        self.plug_in(RC_S380)
        lit, killed = threading.Event(), threading.Event()

        def at(line, level):
            if (line, level) == (2, True):
                lit.set()
                killed.wait(4)

        adapter.before = at
        self.start(f"ask: /usr/local/bin/may-enter\\nanswer: gpio:{chip}:2,5\\n")
        self.assertTrue(lit.wait(60), self.journal("kazasu-watch"))
        # The driver still waits for the adapter, so that the program ends as soon as the light is on.
        self.vm.run("systemctl kill -s KILL --kill-whom=main kazasu-watch")
        killed.set()
        for _ in range(100):
            if adapter.log[-1:] != [(2, True)] and (2, True) in adapter.log:
                break
            pause(0.1)
        self.assertEqual(adapter.log[:4], [(2, False), (5, False), (5, False), (2, True)])
        self.assertEqual(adapter.levels & (1 << 2 | 1 << 5), 0, adapter.log)
        self.assertIn("Result=signal", self.vm.run("systemctl show kazasu-watch -p Result").out)
        self.assertIn("NRestarts=0", self.vm.run("systemctl show kazasu-watch -p NRestarts").out)

    def test_udev_starts_anew(self):
        reader = self.plug_in(RC_S380)
        self.start()
        self.until_event(1, '"type":"on"')
        self.vm.run("systemctl restart systemd-udevd; udevadm trigger --subsystem-match=usb; udevadm settle")
        reader.pull()
        self.until_event(1, '"state":"gone"')
        reader.plug_in()
        self.until_event(2, '"type":"on"')

    def test_the_watchdog(self):
        """A watcher that hangs is ended and started anew, and the reader is free for it."""
        unit = "/run/systemd/system/kazasu-watch.service.d"
        self.vm.run(f"mkdir -p {unit}; printf '[Service]\\nWatchdogSec=10\\nTimeoutAbortSec=1\\n' > {unit}/short.conf\n"
                    "systemctl daemon-reload")
        self.addCleanup(self.vm.run, f"rm -r {unit}; systemctl daemon-reload")
        reader = self.plug_in(RC_S380)
        self.start("reader: [rcs380]\\n")
        self.until_event(1, '"type":"on"')
        self.vm.run("systemctl kill -s STOP kazasu-watch")
        found = self.vm.guest.until("systemctl show kazasu-watch -p NRestarts | grep -q =1", 60)
        self.assertEqual(found.status, 0, self.vm.run("systemctl status kazasu-watch").out)
        self.until_event(2, '"type":"on"')
        self.vm.run("systemctl stop kazasu-watch")
        self.given_back(reader)

    def test_the_clock_jumps(self):
        """As on a machine without a clock, which learns the time from the network: events go on, nothing is started anew."""
        reader = self.plug_in(RC_S380)
        self.start()
        self.until_event(1, '"type":"on"')
        for number, jump in enumerate(("+", "-"), 1):
            self.vm.run(f"date -s @$(($(date +%s) {jump} 86400))")
            reader.chip.take_card()
            self.until_event(number, '"type":"off"')
            reader.chip.put_card()
            self.until_event(number + 1, '"type":"on"')
        self.assertIn("NRestarts=0", self.vm.run("systemctl show kazasu-watch -p NRestarts").out)

    def test_suspend(self):
        """V7: a machine that sleeps, and its readers with it."""
        if not self.vm.guest.can_suspend:
            self.skipTest("this machine does not wake up, whatever is plugged in")
        reader = self.plug_in(RC_S380)
        self.start()
        self.until_event(1, '"type":"on"')
        monitor = self.vm.guest.monitor
        before = monitor.events.count("SUSPEND")
        self.vm.guest.start("sleep 1; echo mem > /sys/power/state")
        for _ in range(300):
            status = monitor.ask("query-status")["status"]
            # Some machines wake up at once by themselves.
            if monitor.events.count("SUSPEND") > before:
                break
            time.sleep(0.2)
        else:
            self.fail("the machine does not suspend")
        if status == "suspended":
            monitor.ask("system_wakeup")
        # The kernel wakes every device, those of others, too.
        found = self.vm.guest.until("dmesg | grep -q 'PM: suspend exit'", 60)
        self.assertEqual(found.status, 0)
        self.until_event(2, '"state":"ready"', 90)
        self.vm.settle()
        self.touched = self.vm.touches()
        self.until_event(2, '"type":"on"', 90)
        self.assertIn("NRestarts=0", self.vm.run("systemctl show kazasu-watch -p NRestarts").out)
        reasons = [one for one in self.events() if one["type"] == "reader" and one["state"] == "error"]
        self.assertNotIn("libusb error -1", str(reasons))
        self.vm.run("systemctl stop kazasu-watch")
        self.given_back(reader)

    def test_a_full_disk(self):
        """What cannot be stored is said, and nothing ends; with room, it goes on."""
        reader = self.plug_in(RC_S380, "--field", "empty")
        self.start()
        self.until_event(1, '"state":"ready"')
        self.vm.run("systemctl stop kazasu-watch; rm -rf /var/lib/private/kazasu; mkdir -p -m 700 /var/lib/private/kazasu; "
                    "mount -t tmpfs -o size=256k,mode=755 none /var/lib/private/kazasu")
        self.addCleanup(self.vm.run, "systemctl stop kazasu-watch; umount /var/lib/private/kazasu")
        self.vm.run("systemctl start kazasu-watch; sleep 2; dd if=/dev/zero of=/var/lib/private/kazasu/filler bs=1k count=400")
        reader.chip.put_card()
        pause(3)
        self.assertEqual(self.vm.run("systemctl is-active kazasu-watch").out, "active\n",
                         self.vm.run("journalctl -n 30 -u kazasu-watch").out)
        self.vm.run("rm /var/lib/private/kazasu/filler")
        reader.chip.take_card()
        pause(2)
        reader.chip.put_card()
        self.until_event(1, '"type":"on"')


class C2PCSC(SystemTest):
    """pcscd beside Kazasu, and Kazasu behind pcscd."""

    def setUp(self):
        super().setUp()
        # As Debian's libnfc has it: where the kernel's driver has an ACR122U, pcscd gets none.
        self.vm.run("modprobe -r pn533_usb; systemctl unmask --runtime pcscd.socket pcscd.service\n"
                    "systemctl start pcscd.socket")
        self.addCleanup(self.vm.run, "systemctl mask --now --runtime pcscd.socket pcscd.service; modprobe pn533_usb")

    def test_an_rc_s300_that_pcscd_holds(self):
        reader = self.plug_in(RC_S300)
        self.assertIn("RC-S300", self.vm.run("timeout 10 pcsc_scan -r").out)
        self.reads(reader)
        self.assertIn("RC-S300", self.vm.run("timeout 10 pcsc_scan -r").out)

    def test_an_acr122u_for_both(self):
        reader = self.plug_in(ACR122U, has_driver=False)
        self.assertIn("ACR122U", self.vm.run("timeout 20 pcsc_scan -r").out)
        found = self.vm.kazasu(f"balance -t 1 -r {self.vm.name(reader)}")
        self.assertEqual(found.status, 69, found)
        self.assertIn("pcscd", found.err)
        # polkit lets root, and people with a session on the machine.
        self.assertIn("pcsc:ACS ACR122U", self.vm.kazasu("readers", None).out)
        self.vm.run("systemctl stop pcscd.socket pcscd.service")
        self.reads(reader)

    def make_a_pcscd_of_its_own(self):
        """What newer packages bring, until the end of the test."""
        rules = (machine.TOP / "Tests/USB/rules-libccid-1.7").read_text(encoding="utf-8")
        unit, rule = "/run/systemd/system/pcscd.service.d", "/run/udev/rules.d/92-pcscd_ccid.rules"
        self.vm.run(f"systemctl stop pcscd.socket pcscd.service; useradd --system pcscd; mkdir -p {unit} /run/udev/rules.d\n"
                    # A newer polkit lets only root ask it about others, unless the actions are the asker's own.
                    "args=$(pcscd --help 2>&1 | grep -o -e --disable-polkit)\n"
                    "printf '[Service]\\nUser=pcscd\\nExecStart=\\nExecStart=/usr/sbin/pcscd --foreground --auto-exit %s\\n' "
                    f"\"$args\" > {unit}/user.conf; systemctl daemon-reload\n"
                    f"cat > {rule} << 'END'\n{rules}\nEND\nmkdir -p /run/pcscd; chown pcscd /run/pcscd\n"
                    "udevadm control --reload")
        self.addCleanup(self.vm.run, f"systemctl stop pcscd.service; userdel pcscd; rm -rf {rule} {unit}\n"
                        "systemctl daemon-reload; udevadm control --reload")

    def test_a_pcscd_of_its_own(self):
        """V2: since 2.4, pcsc-lite runs as the user pcscd, and libccid 1.7 gives it the readers; where they are older, so here."""
        if self.vm.run("getent passwd pcscd").status:
            self.make_a_pcscd_of_its_own()
        readers = [self.plug_in(model, has_driver=False) for model in (RC_S300, ACR122U)]
        for reader in readers:
            node = self.vm.node(reader)
            self.assertTrue(node.startswith("root:pcscd 660"), node)
            self.assertIn("group:plugdev:rw-", node)
        self.vm.run("systemctl start pcscd.socket")
        found = self.vm.guest.until("timeout 10 pcsc_scan -r | grep -q ACR122U", 20)
        self.assertEqual(found.status, 0, self.vm.run("timeout 10 pcsc_scan -r; journalctl -n 20 -u pcscd").out)
        self.assertIn("pcscd", self.vm.run("ps -o user= -C pcscd").out)
        for user in ("alice", "carol"):
            self.reads(readers[0], user)

    def test_the_bridge(self):
        reader = self.plug_in(RC_S380)
        self.vm.run("systemctl start kazasu-bridge")
        self.addCleanup(self.vm.run, "systemctl stop kazasu-bridge")
        found = self.vm.guest.until("timeout 5 pcsc_scan -c 2>&1 | grep -q 'ATR: 3B'", 40)
        self.assertEqual(found.status, 0, self.vm.run("timeout 5 pcsc_scan -c; journalctl -n 20 -u kazasu-bridge").out)
        for _ in range(UNPLUGS):
            self.pull_at_random(reader, 60)
            gone = self.vm.guest.until("! timeout 5 pcsc_scan -c 2>&1 | grep -q 'ATR: 3B'", 40)
            self.assertEqual(gone.status, 0)
            reader.plug_in()
            self.vm.wait_for(reader)
            found = self.vm.guest.until("timeout 5 pcsc_scan -c 2>&1 | grep -q 'ATR: 3B'", 60)
            self.assertEqual(found.status, 0, self.vm.run("journalctl -n 20 -u kazasu-bridge").out)
        self.assertIn("NRestarts=0", self.vm.run("systemctl show kazasu-bridge -p NRestarts").out)
        self.vm.run("systemctl stop kazasu-bridge")
        self.given_back(reader)


class C3NoGroup(SystemTest):
    """Fedora and Arch have no group plugdev, and systemd-sysusers makes it."""

    def setUp(self):
        super().setUp()
        # Its member carol keeps a group that means nothing.
        self.vm.run("groupmod -n nothing plugdev; udevadm control --reload")
        self.addCleanup(self.vm.run, "groupdel plugdev; groupmod -n plugdev nothing; udevadm control --reload")

    def test_who_may_open_a_reader(self):
        for name, model in READERS.items():
            reader = self.plug_in(model)
            self.assertNotRegex(self.vm.node(reader), "group:[a-z]")
            self.reads(reader)
            balance = f"balance -t 5 -r {self.vm.name(reader)}"
            for user in ("bob", "carol"):
                with self.subTest(name, user=user):
                    found = self.vm.kazasu(balance, user)
                    self.assertEqual((found.status, found.out), (69, ""), found)
                    self.assertIn("no permission to use the reader", found.err)
                    self.assertNotIn("only members of", found.err)
                    found = self.vm.kazasu(f"doctor -r {self.vm.name(reader)}", user)
                    self.assertEqual(found.status, 69, found)
                    self.assertIn("since there is no group plugdev", found.out)
                    self.assertIn("sudo groupadd --system plugdev", found.out)

    def test_units_have_it_from_sysusers(self):
        reader = self.plug_in(RC_S380)
        self.vm.run("echo 'reader: [rcs380]' > /etc/kazasu/watch.yaml")
        self.addCleanup(self.vm.run, "systemctl stop kazasu-watch; rm -f /etc/kazasu/watch.yaml; systemctl reset-failed")
        self.vm.run("systemctl start kazasu-watch")
        self.assertIn("216", self.vm.run("systemctl show kazasu-watch -p ExecMainStatus").out)
        conf = (machine.TOP / "packaging/sysusers/kazasu.conf").read_text(encoding="utf-8")
        self.assertEqual(self.vm.run(f"systemd-sysusers - << 'END'\n{conf}\nEND\nudevadm control --reload").status, 0)
        reader.pull()
        reader.plug_in()
        self.vm.wait_for(reader)
        self.assertTrue(self.vm.lets_plugdev(reader), self.vm.node(reader))
        self.vm.run("systemctl reset-failed; systemctl start kazasu-watch")
        found = self.vm.guest.until("journalctl -q -o cat -u kazasu-watch | grep watching", 30)
        self.assertEqual(found.status, 0, self.vm.run("journalctl -q -n 20 -u kazasu-watch").out)
        self.assertEqual(self.vm.run("systemctl is-active kazasu-watch").out, "active\n")


class D1Journal(SystemTest):
    """What programs of people leave in the journal."""

    def test_no_noise(self):
        """V3 and V4: a watch of an ordinary user, whose environment names a journal that is not its own."""
        self.plug_in(RC_S380)
        found = self.vm.run("JOURNAL_STREAM=8:12345 timeout -s INT 6 "
                            "kazasu watch -r rcs380 > /tmp/watch.out 2> /tmp/watch.err", "alice")
        self.assertIn(found.status, (0, 124, 130), found)
        err = self.vm.run("cat /tmp/watch.err").out
        self.assertIn("watching", err)
        self.assertNotIn("<6>", err)
        self.assertNotIn("thread priority", self.vm.run("journalctl -q _UID=1000 -o cat").out)


class E1Serial(SystemTest):
    """A PN532 on the guest's second serial port."""

    def test_balance(self):
        port = self.vm.guest.board.serial_port
        self.vm.run("usermod -aG dialout carol")
        for driver in ("pn532", "pn532_uart"):
            with self.subTest(driver):
                found = self.vm.kazasu(f"balance -t 5 -r {driver}:{port}", "carol")
                self.assertEqual((found.status, found.out), (0, BALANCE), found)
        found = self.vm.kazasu(f"balance -t 5 -r pn532:{port}", "bob")
        self.assertEqual(found.status, 69, found)


def events_of(text):
    """The readers of a document."""
    return machine.json.loads(text)["readers"]


def setUpModule():
    SystemTest.machine = machine.Machine()
    SystemTest.machine.start()


def tearDownModule():
    vm = SystemTest.machine
    print(f"boot {vm.guest.boot_seconds:.0f} s ({vm.guest.accelerator}), install {vm.install_seconds:.0f} s", file=sys.stderr)
    vm.stop()


if __name__ == "__main__":
    unittest.main(verbosity=2)
