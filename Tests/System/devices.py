# SPDX-License-Identifier: Apache-2.0
"""USB devices as a real kernel sees them: descriptors, control requests, and transfers to the chip behind."""

import collections
import dataclasses
import struct

BULK, INTERRUPT = 2, 3


def ccid(version, voltages, clock, rate, sizes, features, message):
    """The class descriptor of a chip card interface: libccid reads nothing without one.

    Source: USB's "Specification for Integrated Circuit(s) Cards Interface Devices", revision 1.1, table 5.1-1.
    """
    return (struct.pack("<BBHBBIIIBII", 0x36, 0x21, version, 0, voltages, 2, clock, clock, 0, rate, rate)
            + struct.pack("<BIIII", 0, sizes, 0, 0, features)
            + struct.pack("<IBBHBB", message, 0, 0, 0, 0, 1))


@dataclasses.dataclass(frozen=True)
class Interface:
    """One interface: its class, its class descriptor, and its endpoints as (address, kind)."""
    code: int
    ends: tuple
    extra: bytes = b""
    subclass: int = 0
    protocol: int = 0


@dataclasses.dataclass(frozen=True)
class Model:
    """A USB device. `chip` is what usb-chip calls it, `endpoints` are the chip's; `driver` is the kernel's."""
    vendor: int
    product: int
    maker: str
    name: str
    interfaces: tuple
    serial: str = ""
    version: int = 0x0100
    chip: str = ""
    endpoints: tuple = ()
    driver: str = ""
    reader: str = ""
    # Endpoints of a chip card interface beside the chip's, whose slot is always empty.
    slot: tuple = ()
    # The largest packet of its endpoints.
    packet: int = 64

    @property
    def number(self):
        """As lsusb wants it."""
        return f"{self.vendor:04x}:{self.product:04x}"

    def device_descriptor(self):
        return struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0200, 0, 0, 0, 64, self.vendor, self.product, self.version,
                           1, 2, 3 if self.serial else 0, 1)

    def configuration_descriptor(self):
        body = b""
        for number, interface in enumerate(self.interfaces):
            body += struct.pack("<BBBBBBBBB", 9, 4, number, 0, len(interface.ends), interface.code, interface.subclass,
                                interface.protocol, 0) + interface.extra
            for address, kind in interface.ends:
                body += struct.pack("<BBBBHB", 7, 5, address, kind, self.packet, 0 if kind == BULK else 16)
        return struct.pack("<BBHBBBBB", 9, 2, 9 + len(body), len(self.interfaces), 1, 0, 0x80, 50) + body


def plain(out, back):
    """An interface of the maker's own with two bulk endpoints."""
    return (Interface(0xFF, ((out, BULK), (back, BULK))),)


# Descriptors as in published listings (lsusb -v) of these readers.
RC_S380 = Model(0x054C, 0x06C3, "SONY", "RC-S380/P", plain(0x02, 0x81), "0123456", 0x0111,
                "port100", (0x02, 0x81), "port100", "rcs380")
RC_S300 = Model(0x054C, 0x0DC9, "SONY", "FeliCa Port/PaSoRi 4.0", (
    Interface(0x0B, ((0x01, BULK), (0x81, BULK), (0x83, INTERRUPT)),
              ccid(0x0110, 7, 4000, 115200, 254, 0x4007E, 522)),
    Interface(0xFF, ((0x02, BULK), (0x82, BULK)))), "0123456", 0x0100, "port400", (0x02, 0x82), "", "rcs300", (0x01, 0x81))
RC_S330 = Model(0x054C, 0x02E1, "SONY", "FeliCa RC-S330", plain(0x04, 0x84), "", 0x0100,
                "rcs330", (0x04, 0x84), "pn533_usb", "pn53x_usb")
PN533 = Model(0x04CC, 0x2533, "NXP", "PN533", plain(0x04, 0x84), "", 0x0100,
              "scl3711", (0x04, 0x84), "pn533_usb", "pn53x_usb")
SCL3711 = Model(0x04E6, 0x5591, "SCM Micro", "SCL3711-NFC&RW", plain(0x04, 0x84), "", 0x0207,
                "scl3711", (0x04, 0x84), "pn533_usb", "pn53x_usb")
ACR122U = Model(0x072F, 0x2200, "ACS", "ACR122U PICC Interface", (
    Interface(0x0B, ((0x81, INTERRUPT), (0x02, BULK), (0x82, BULK)),
              ccid(0x0100, 7, 4000, 10752, 256, 0x20040, 271)),), "", 0x0207,
    "acr122", (0x02, 0x82), "pn533_usb", "acr122_usb")
# What is sent to it goes to the control endpoint, in vendor requests.
RC_S320 = Model(0x054C, 0x01BB, "SONY", "RC-S320", (Interface(0xFF, ((0x81, INTERRUPT),)),), "", 0x0100,
                "rcs320", (0x00, 0x81), "", "rcs320", packet=8)

READERS = {"rc-s380": RC_S380, "rc-s300": RC_S300, "rc-s330": RC_S330, "pn533": PN533, "acr122u": ACR122U, "rc-s320": RC_S320}

# What a security key says it is: a FIDO device with one report of 64 bytes each way.
# Source: FIDO Alliance, "Client to Authenticator Protocol", section 11.2.8.
FIDO_REPORT = bytes.fromhex("06D0F1 0901 A101 0920 1500 26FF00 7508 9540 8102 0921 1500 26FF00 7508 9540 9102 C0")
# A security key, nobody's reader: what belongs to others and must not be touched. The number is pid.codes' for tests.
SECURITY_KEY = Model(0x1209, 0x0001, "Somebody", "Security key", (
    Interface(0x03, ((0x01, INTERRUPT), (0x81, INTERRUPT)),
              struct.pack("<BBHBBBH", 9, 0x21, 0x0110, 0, 1, 0x22, len(FIDO_REPORT))),))


# What a GPIO adapter says of its reports: two of those that it has, as the maker's own.
GPIO_REPORT = bytes.fromhex("0600FF 0901 A101 1500 26FF00 7508 8502 9504 0901 B102 8513 9502 0901 8102 C0")
# Silicon Labs' bridge to SMBus and eight GPIO lines, which the kernel's hid_cp2112 makes a GPIO chip of.
# Source: Silicon Labs AN495, "CP2112 interface specification"; the reports are in the kernel's hid-cp2112.c.
CP2112 = Model(0x10C4, 0xEA90, "Silicon Laboratories", "CP2112 HID USB-to-SMBus Bridge", (
    Interface(0x03, ((0x01, INTERRUPT), (0x81, INTERRUPT)),
              struct.pack("<BBHBBBH", 9, 0x21, 0x0101, 0, 1, 0x22, len(GPIO_REPORT))),), driver="hid_cp2112")


class Stall(Exception):
    """The device refuses a control request."""


class EmptySlot:
    """A chip card interface without a card, as pcscd wants it.

    Source: USB's "Specification for Integrated Circuit(s) Cards Interface Devices", revision 1.1, chapter 6.
    """

    def __init__(self):
        self.answers = []

    def send(self, message):
        if len(message) < 10:
            return
        kind, sequence = message[0], message[6]
        if kind in (0x61, 0x6C, 0x6D):      # SetParameters, GetParameters, ResetParameters
            self._answer(0x82, sequence, 0, 0, 1, bytes.fromhex("1110004D002000"))
        elif kind in (0x62, 0x6F):          # IccPowerOn, XfrBlock: ICC_MUTE
            self._answer(0x80, sequence, 0x42, 0xFE)
        elif kind == 0x6B:                  # Escape: not supported
            self._answer(0x83, sequence, 0x42, 0x00)
        else:
            self._answer(0x81, sequence, 0x02, 0x00)

    def _answer(self, kind, sequence, status, error, last=0, data=b""):
        self.answers.append(struct.pack("<BIBBBBB", kind, len(data), 0, sequence, status, error, last) + data)

    def receive(self):
        return self.answers.pop(0) if self.answers else None

    def reset(self):
        self.answers.clear()


class Device:
    """A device: control requests, OUT transfers, IN transfers that wait for data."""

    def __init__(self, model, chip):
        self.model, self.chip = model, chip
        self.slot = EmptySlot()
        self.rest = {}
        # Every request and transfer that reached it, by kind.
        self.counts = collections.Counter()
        # The OUT transfer, counted from 1, before which it is pulled; None for never.
        self.unplug_at = None

    def control(self, kind, request, value, index, length, data=b""):
        """The answer's data, or Stall. Numbers as in chapter 9 of the USB specification; `data` is what is sent."""
        self.counts[f"control {kind:02x} {request:02x}"] += 1
        if (kind, request) == (0x80, 6):
            return self._descriptor(value >> 8, value & 0xFF)[:length]
        if kind == 0x81 and request == 6 and value >> 8 == 0x22 and self.model is SECURITY_KEY:
            return FIDO_REPORT[:length]
        if kind & 0x60 == 0:
            if kind & 0x80:
                return {0: bytes(2), 8: b"\x01", 10: b"\x00"}.get(request, b"")[:length]
            if (kind, request) == (0x02, 1):
                self.rest.pop(index & 0xFF, None)
            return b""
        if kind == 0x21 and self.model is SECURITY_KEY:
            return b""
        if (kind, request) == (0x40, 0) and self.model is RC_S320:
            self.send(0x00, data)
            return b""
        raise Stall

    def _descriptor(self, kind, number):
        if kind == 1:
            return self.model.device_descriptor()
        if kind == 2:
            return self.model.configuration_descriptor()
        texts = (self.model.maker, self.model.name, self.model.serial)
        # No qualifier: a device of full speed.
        if kind != 3 or number > 3 or (number == 3 and not self.model.serial):
            raise Stall
        text = b"\x09\x04" if number == 0 else texts[number - 1].encode("utf-16-le")
        return bytes([2 + len(text), 3]) + text

    def configure(self):
        self.counts["configure"] += 1
        self.chip.configure()

    def reset(self):
        self.counts["reset"] += 1
        self.rest.clear()
        self.slot.reset()
        self.chip.reset()

    def send(self, endpoint, data):
        """Gives it a transfer; BrokenPipeError when it is pulled at this one."""
        self.counts["out"] += 1
        if self.unplug_at and self.counts["out"] >= self.unplug_at:
            self.unplug_at = None
            raise BrokenPipeError
        if data and self.model.endpoints and endpoint == self.model.endpoints[0]:
            self.chip.send(data)
        elif data and endpoint in self.model.slot:
            self.slot.send(data)

    def receive(self, endpoint, room):
        """Its next transfer and whether it was too long, or None."""
        if endpoint in self.model.endpoints:
            source = self.chip
        elif endpoint in self.model.slot:
            source = self.slot
        else:
            return None
        data = self.rest.pop(endpoint, None) or source.receive()
        if not data:
            return None
        self.counts["in"] += 1
        if len(data) <= room:
            return data, False
        if room % 64:
            return data[:room], True
        self.rest[endpoint] = data[room:]
        return data[:room], False


class GPIOAdapter(Device):
    """A CP2112: its lines, and what was done to them."""

    VERSION, SMBUS, CONFIGURATION, READ, WRITE = 5, 6, 2, 3, 4

    def __init__(self, chip):
        super().__init__(CP2112, chip)
        # Bits of the lines that are outputs and that are high; lines that were set, in order, as (line, high).
        self.outputs = self.levels = 0
        self.log = []
        # Called with each line and level before it is set.
        self.before = lambda line, level: None
        self.smbus = bytes.fromhex("06 000186A0 02 00 0000 0000 00 0000")
        self.settings = bytes(4)

    def control(self, kind, request, value, index, length, data=b""):
        report = value & 0xFF
        if kind == 0x81 and request == 6 and value >> 8 == 0x22:
            return GPIO_REPORT[:length]
        if (kind, request, value >> 8) == (0xA1, 1, 3):
            return {self.VERSION: b"\x05\x0C\x02", self.SMBUS: self.smbus,
                    self.CONFIGURATION: bytes([self.CONFIGURATION]) + self.settings,
                    self.READ: bytes([self.READ, self.levels])}.get(report, b"")[:length]
        if (kind, request, value >> 8) == (0x21, 9, 3):
            if report == self.SMBUS:
                self.smbus = data
            elif report == self.CONFIGURATION:
                self.settings, self.outputs = data[1:5], data[1]
            elif report == self.WRITE:
                self._write(data[1], data[2])
            return b""
        # SET_IDLE and SET_PROTOCOL.
        if kind == 0x21 and request in (0x0A, 0x0B):
            return b""
        return super().control(kind, request, value, index, length, data)

    def _write(self, levels, mask):
        for line in range(8):
            if mask >> line & 1:
                self.before(line, bool(levels >> line & 1))
        self.levels = self.levels & ~mask | levels & mask
        self.log += [(line, bool(levels >> line & 1)) for line in range(8) if mask >> line & 1]
