#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The udev rules before emulated readers, as the real udevadm evaluates them: a part of `make test-usb`.

udevadm reads rules and groups of the system only, so each run has mounts of its own: needs root, udevadm and umockdev.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
UDEVADM = os.environ.get("UDEVADM") or shutil.which("udevadm")
LIBNFC, LIBCCID = "/usr/lib/udev/rules.d/93-pn53x.rules", "/usr/lib/udev/rules.d/92-libccid.rules"
NEWER = os.path.join(HERE, "rules-libccid-1.7")
# What systemd's own rules do before and after.
SYSTEM = ('SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", IMPORT{builtin}="usb_id", MODE="0664"\n',
          'TAG=="uaccess", ENV{MAJOR}!="", RUN{builtin}+="uaccess"\n')
PCSCD = "990"


def evaluate():
    """Prints what udevadm says of each reader; runs inside the mounts."""
    import gi
    gi.require_version("UMockdev", "1.0")
    from gi.repository import UMockdev
    from descriptors import acr122u, rc_s300, rc_s380
    testbed = UMockdev.Testbed.new()
    for device in (rc_s300(), acr122u(port="1-2", address=3), rc_s380(port="1-3", address=4)):
        testbed.add_from_string(device.description())
        result = subprocess.run([UDEVADM, "test", "--action=add", device.sysfs], check=False, capture_output=True,
                                text=True, env={**os.environ, "UMOCKDEV_DIR": testbed.get_root_dir()})
        print(f"== {device.name}\n{result.stdout}{result.stderr}")


def outcome(text):
    """The last group and mode, and the programs that are run."""
    group = mode = None
    programs = []
    for line in text.splitlines():
        words = line.split(".rules:", 1)[-1].split()
        if words[1:2] == ["GROUP"]:
            group = words[2]
        elif words[1:2] == ["MODE"]:
            mode = words[2]
        elif line.startswith("run: "):
            programs.append(line[5:].strip("'"))
    return group, mode, programs


@unittest.skipUnless(UDEVADM, "no udevadm: the package udev is not installed")
@unittest.skipUnless(os.geteuid() == 0, "only root can give udevadm other rules")
class Rules(unittest.TestCase):
    def readers(self, *others, has_group, has_acl=True):
        """What the rules of Kazasu and others do, by reader."""
        with tempfile.TemporaryDirectory() as folder:
            rules, programs, group = (os.path.join(folder, name) for name in ("rules", "bin", "group"))
            os.mkdir(rules)
            os.mkdir(programs)
            for file in (f"{TOP}/packaging/udev/70-kazasu.rules", f"{TOP}/packaging/udev/93-kazasu.rules", *others):
                name = os.path.basename(file)
                shutil.copy(file, os.path.join(rules, name if name.endswith(".rules") else "92-libccid.rules"))
            for name, text in zip(("50-usb.rules", "73-seat.rules"), SYSTEM):
                with open(os.path.join(rules, name), "w", encoding="utf-8") as file:
                    file.write(text)
            # It is looked for, and not run by udevadm test. A device 0:0 hides what is below it in an overlay.
            os.mknod(os.path.join(programs, "setfacl"), *([0o755 | stat.S_IFREG] if has_acl else [stat.S_IFCHR, 0]))
            with open("/etc/group", encoding="utf-8") as system, open(group, "w", encoding="utf-8") as file:
                lines = [line for line in system if not line.startswith(("pcscd:", "plugdev:"))]
                file.writelines([*lines, "plugdev:x:46:\n", *([f"pcscd:x:{PCSCD}:\n"] if has_group else [])])
            # The programs that the rules name, beside those of the system.
            mounts = [f"mount --bind {rules} /usr/lib/udev/rules.d", f"mount --bind {group} /etc/group",
                      "mkdir -p /run/udev", "mount -t tmpfs none /run/udev",
                      f"mount -t overlay overlay -o lowerdir={programs}:/usr/bin /usr/bin"]
            script = " && ".join([*mounts, 'exec umockdev-wrapper /usr/bin/python3 "$0" --inside'])
            text = subprocess.run(
                ["unshare", "-m", "sh", "-c", script, os.path.abspath(__file__)], check=True, capture_output=True,
                text=True, env={**os.environ, "UDEVADM": UDEVADM}).stdout
        # udevadm itself has lines with === where the system has a database of hardware.
        parts = [part.partition("\n") for part in re.split("^== ", text, flags=re.MULTILINE)[1:]]
        return {name: outcome(rest) for name, _, rest in parts}

    def test_a_pcscd_that_is_root(self):
        """Debian 12 and 13: their own rules of libccid and libnfc."""
        others = [file for file in (LIBCCID, LIBNFC) if os.path.exists(file)]
        for name, found in self.readers(*others, has_group=False).items():
            self.assertEqual(found, ("plugdev(46)", "0660", ["uaccess"]), name)

    def test_a_pcscd_of_its_own_group(self):
        others = [NEWER, *([LIBNFC] if os.path.exists(LIBNFC) else [])]
        readers = self.readers(*others, has_group=True)
        self.assertEqual(len(readers), 3)
        self.assertEqual(readers.pop("RC-S380/S"), ("plugdev(46)", "0660", ["uaccess"]))
        for number, (name, found) in enumerate(readers.items(), 2):
            both = ["uaccess", f"/usr/bin/setfacl -m g:plugdev:rw /dev/bus/usb/001/{number:03}"]
            self.assertEqual(found, (f"pcscd({PCSCD})", "0660", both), name)

    def test_without_access_lists(self):
        found = self.readers(NEWER, has_group=True, has_acl=False)
        self.assertEqual(found["RC-S300/S"], (f"pcscd({PCSCD})", "0660", ["uaccess"]))


if __name__ == "__main__":
    if sys.argv[1:] == ["--inside"]:
        evaluate()
    else:
        unittest.main(verbosity=2)
