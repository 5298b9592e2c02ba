# SPDX-License-Identifier: Apache-2.0
"""Programs on a machine with emulated USB readers: umockdev stands in for the kernel, a simulated chip for the reader."""

import os
import signal
import subprocess
import tempfile

import gi
gi.require_version("UMockdev", "1.0")
from gi.repository import GLib, UMockdev

from usbfs import UsbFs


class Result:
    """What a program did."""

    def __init__(self, status, output, errors):
        self.status, self.output, self.errors = status, output, errors


class Emulation:
    """Emulated readers, each with its chip; programs are run before them."""

    def __init__(self):
        self.testbed = UMockdev.Testbed.new()
        self.readers = []

    def plug_in(self, device, chip):
        """Adds a reader, and tells of it as udev does.

        Returns what its client does with it.
        """
        self.testbed.add_from_string(device.description())
        reader = UsbFs(device, chip)
        reader.on_unplugged = lambda: self.hide(device)
        self.testbed.attach_ioctl(device.node, reader)
        self.readers.append((device, reader, chip))
        self.testbed.uevent(device.sysfs, "add")
        return reader

    def hide(self, device):
        """Takes a device that stopped answering out of sysfs, as the kernel does."""
        link = f"{self.testbed.get_root_dir()}/sys/bus/usb/devices/{device.port}"
        if os.path.lexists(link):
            os.unlink(link)

    def load(self, driver):
        """Loads a kernel driver, which takes nothing yet."""
        folder = f"{self.testbed.get_root_dir()}/sys/bus/usb/drivers/{driver}"
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/bind", "w", encoding="utf-8"):
            pass

    def unplug(self, reader):
        """Takes a reader away, and tells of it."""
        found = next(one for one in self.readers if one[1] is reader)
        self.readers.remove(found)
        device, _, chip = found
        if device.port in os.listdir(f"{self.testbed.get_root_dir()}/sys/bus/usb/devices"):
            self.testbed.uevent(device.sysfs, "remove")
        self.testbed.detach_ioctl(device.node)
        for number in range(len(device.interfaces)):
            self.testbed.remove_device(f"{device.sysfs}/{device.port}:1.{number}")
        self.testbed.remove_device(device.sysfs)
        chip.stop()

    def unplug_all(self):
        for _, reader, _ in list(self.readers):
            self.unplug(reader)

    def run(self, *command, environment=None, interrupt_when=None, signal_numbers=(signal.SIGTERM,), steps=(), limit=60):
        """Runs a program to its end.

        interrupt_when: asked every few milliseconds; when it says so, the program gets the signals, once.
        steps: pairs of a text and what is done once it stands in the output; then the next one's turn comes.
        """
        # No layouts of cards and no keys that an earlier run saw, and nothing of emulated cards for the user's own.
        variables = {**os.environ, "XDG_CACHE_HOME": "/dev/null/kazasu", "XDG_STATE_HOME": "/dev/null/kazasu",
                     **(environment or {}),
                     "UMOCKDEV_DIR": self.testbed.get_root_dir()}
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
            loop = GLib.MainLoop()
            state = {"left": limit * 200, "sent": False}
            waiting = list(steps)

            def look():
                state["left"] -= 1
                if waiting and waiting[0][0].encode() in os.pread(output.fileno(), 1 << 20, 0):
                    waiting.pop(0)[1](child)
                if interrupt_when and not state["sent"] and interrupt_when():
                    state["sent"] = True
                    for number in signal_numbers:
                        child.send_signal(number)
                if state["left"] == 0:
                    child.kill()
                if child.poll() is None:
                    return True
                loop.quit()
                return False

            GLib.timeout_add(5, look)
            loop.run()
            output.seek(0)
            errors.seek(0)
            return Result(child.returncode, output.read().decode(), errors.read().decode())
