# SPDX-License-Identifier: Apache-2.0
"""The kernel's usbfs for one emulated device: answers the ioctls that libusb sends, with a simulated chip behind."""

import errno
import struct
import time

import gi
gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev

# struct usbdevfs_urb: type, endpoint, status, flags, buffer, buffer_length, actual_length, …
URB_SIZE, URB_STATUS, URB_BUFFER, URB_ACTUAL_LENGTH = 56, 4, 16, 28

NUMBERS = {
    "CONTROL": 0, "BULK": 2, "RESETEP": 3, "SETINTERFACE": 4, "SETCONFIGURATION": 5, "GETDRIVER": 8, "SUBMITURB": 10,
    "DISCARDURB": 11, "REAPURB": 12, "REAPURBNDELAY": 13, "CLAIMINTERFACE": 15, "RELEASEINTERFACE": 16, "CONNECTINFO": 17,
    "IOCTL": 18, "RESET": 20, "CLEAR_HALT": 21, "DISCONNECT": 22, "CONNECT": 23, "GET_CAPABILITIES": 26, "GET_SPEED": 31,
}
NAMES = {number: name for name, number in NUMBERS.items()}
# The kind of a transfer of the control endpoint.
CONTROL = 2
# Zero packets, and no limit of a transfer's length.
CAPABILITIES = 0x01 | 0x04


class Urb:
    """A transfer that the client has submitted."""

    def __init__(self, address, data):
        self.address = address
        self.data = data
        raw = bytes(data.retrieve())
        self.kind, self.endpoint = raw[0], raw[1]
        self.length = struct.unpack_from("<i", raw, 24)[0]


class UsbFs(UMockdev.IoctlBase):
    """One device; what its client did with the interface is in `events`."""

    def __init__(self, device, chip):
        super().__init__()
        self.device = device
        self.chip = chip
        self.drivers = {number: interface.driver for number, interface in enumerate(device.interfaces)}
        self.claimed = set()
        self.events = []
        # Every request that was sent to the device, also those that change nothing.
        self.requests = []
        self.on_unplugged = None
        self.waiting = []
        self.done = []

    # --- what umockdev calls -----------------------------------------------------------------------------------------

    def do_handle_ioctl(self, client):
        request = client.get_request()
        name = NAMES.get(request & 0xFF, "") if request >> 8 & 0xFF == ord("U") else ""
        self.requests.append(name)
        handler = getattr(self, f"on_{name.lower()}", None)
        if handler is None:
            client.complete(-1, errno.ENOTTY)
            return True
        result = handler(client.get_arg())
        if self.chip.is_unplugged and self.on_unplugged:
            self.on_unplugged()
        client.complete(*((0, 0) if result is None else (-1, result) if result > 0 else (-result, 0)))
        return True

    # --- device and interfaces ---------------------------------------------------------------------------------------

    def on_get_capabilities(self, arg):
        arg.resolve(0, 4).update(0, struct.pack("<I", CAPABILITIES))

    def on_get_speed(self, arg):
        return -2

    def on_connectinfo(self, arg):
        """struct usbdevfs_connectinfo: the number on the bus, and whether it is a slow one."""
        arg.resolve(0, 8).update(0, struct.pack("<IB", self.device.address, 0))

    def on_control(self, arg):
        """struct usbdevfs_ctrltransfer; of the standard requests only the one for a string is answered."""
        transfer = arg.resolve(0, 24)
        kind, request, value, _, length = struct.unpack_from("<BBHHH", bytes(transfer.retrieve()))
        if (kind, request, value >> 8) != (0x80, 6, 3):
            return errno.EPIPE
        texts = {1: "Kazasu", 2: self.device.name, 3: self.device.serial}
        text = b"\x09\x04" if value & 0xFF == 0 else texts.get(value & 0xFF, "").encode("utf-16-le")
        answer = (bytes([len(text) + 2, 3]) + text)[:length]
        if not answer:
            return None
        transfer.resolve(16, length).update(0, answer)
        return -len(answer)

    def on_setconfiguration(self, arg):
        # The kernel refuses, and logs it, while a driver has an interface.
        if any(self.drivers.values()):
            self.events.append("setConfiguration refused")
            return errno.EBUSY
        self.chip.configure()
        self.events.append("setConfiguration")

    def on_setinterface(self, arg):
        self.events.append("setInterface")

    def on_reset(self, arg):
        self.chip.reset()
        self.events.append("reset")

    def on_clear_halt(self, arg):
        self.events.append("clearHalt")

    def on_getdriver(self, arg):
        data = arg.resolve(0, 260)
        number = struct.unpack_from("<I", bytes(data.retrieve()))[0]
        driver = "usbfs" if number in self.claimed else self.drivers.get(number)
        if not driver:
            return errno.ENODATA
        data.update(4, driver.encode().ljust(256, b"\0"))

    def on_ioctl(self, arg):
        number, code = struct.unpack_from("<iI", bytes(arg.resolve(0, 16).retrieve()))
        name = NAMES.get(code & 0xFF)
        if self.chip.is_unplugged:
            return errno.ENODEV
        if name == "DISCONNECT":
            if not self.drivers.get(number):
                return errno.ENODATA
            self.drivers[number] = ""
            self.events.append(f"detach {number}")
        elif name == "CONNECT":
            self.drivers[number] = self.device.interfaces[number].driver
            self.events.append(f"attach {number}")
        else:
            return errno.ENOTTY

    def on_claiminterface(self, arg):
        number = struct.unpack("<I", bytes(arg.resolve(0, 4).retrieve()))[0]
        if self.drivers.get(number):
            return errno.EBUSY
        self.claimed.add(number)
        self.events.append(f"claim {number}")

    def on_releaseinterface(self, arg):
        number = struct.unpack("<I", bytes(arg.resolve(0, 4).retrieve()))[0]
        self.claimed.discard(number)
        self.events.append(f"release {number}")

    def suspend(self):
        """What a suspend does to a driver that cannot resume from a reset: it loses the interface to the kernel's own."""
        self.claimed.clear()
        self.drivers = {number: interface.driver for number, interface in enumerate(self.device.interfaces)}

    # --- transfers ---------------------------------------------------------------------------------------------------

    def on_submiturb(self, arg):
        if self.chip.is_unplugged:
            return errno.ENODEV
        # The kernel claims for the client what it has not claimed, where no driver has it.
        if not self.claimed and any(self.drivers.values()):
            return errno.EBUSY
        urb = Urb(int.from_bytes(bytes(arg.retrieve())[:8], "little"), arg.resolve(0, URB_SIZE))
        if urb.endpoint & 0x80:
            self.waiting.append(urb)
            self.fill()
            return None
        data = urb.data.resolve(URB_BUFFER, urb.length)
        sent = bytes(data.retrieve()) if urb.length else b""
        if urb.kind == CONTROL:
            # The setup packet: a vendor's request 0 to the device with this many bytes.
            if sent[:6] != b"\x40\0\0\0\0\0" or struct.unpack_from("<H", sent, 6)[0] != len(sent) - 8:
                self.finish(urb, -errno.EPIPE, 0)
                return None
            sent = sent[8:]
        self.chip.send(sent)
        self.finish(urb, -errno.ESHUTDOWN if self.chip.is_unplugged else 0, len(sent))
        self.fill()
        return None

    def on_discardurb(self, arg):
        address = int.from_bytes(bytes(arg.retrieve())[:8], "little")
        for urb in self.waiting:
            if urb.address == address:
                self.waiting.remove(urb)
                self.finish(urb, -errno.ENOENT, 0)
                return None
        return errno.EINVAL

    def on_reapurbndelay(self, arg):
        if not self.done:
            if self.chip.is_unplugged:
                return errno.ENODEV
            # The node always polls ready, so the client asks again at once.
            time.sleep(0.0005)
            return errno.EAGAIN
        arg.resolve(0, 8).set_ptr(0, self.done.pop(0).data)

    on_reapurb = on_reapurbndelay

    def fill(self):
        """Gives what the chip has to the transfers that wait for it; a chip is asked once for each."""
        while self.waiting:
            data = self.chip.receive()
            if data is None:
                if not self.chip.is_unplugged:
                    return
                for urb in self.waiting:
                    self.finish(urb, -errno.ESHUTDOWN, 0)
                self.waiting.clear()
                return
            urb = self.waiting.pop(0)
            data = data[:urb.length]
            if data:
                urb.data.resolve(URB_BUFFER, urb.length).update(0, data)
            self.finish(urb, 0, len(data))

    def finish(self, urb, status, count):
        urb.data.update(URB_STATUS, struct.pack("<i", status))
        urb.data.update(URB_ACTUAL_LENGTH, struct.pack("<i", count))
        self.done.append(urb)
