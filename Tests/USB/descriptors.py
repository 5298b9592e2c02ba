# SPDX-License-Identifier: Apache-2.0
"""USB readers as the kernel shows them: descriptors, and what umockdev makes sysfs from."""

import dataclasses
import struct


@dataclasses.dataclass(frozen=True)
class Interface:
    """One interface with its bulk endpoints and the kernel driver that holds it at first."""
    class_code: int
    bulk_in: int
    bulk_out: int
    driver: str = ""
    # An endpoint of packets of 8 bytes in place of the bulk ones; what is sent goes to the control endpoint.
    interrupt_in: int = 0


@dataclasses.dataclass(frozen=True)
class Device:
    """A USB reader."""
    vendor: int
    product: int
    name: str
    interfaces: tuple
    serial: str = ""
    port: str = "1-1"
    bus: int = 1
    address: int = 2

    @property
    def node(self):
        return f"/dev/bus/usb/{self.bus:03}/{self.address:03}"

    @property
    def sysfs(self):
        return f"/sys/devices/pci0000:00/0000:00:14.0/usb{self.bus}/{self.port}"

    def descriptors(self):
        """The device descriptor and the one configuration, as usbfs and sysfs give them."""
        device = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0200, 0, 0, 0, 64, self.vendor, self.product, 0x0100,
                             1, 2, 3 if self.serial else 0, 1)
        body = b""
        for number, interface in enumerate(self.interfaces):
            count = 1 if interface.interrupt_in else 2
            body += struct.pack("<BBBBBBBBB", 9, 4, number, 0, count, interface.class_code, 0, 0, 0)
            if interface.interrupt_in:
                body += struct.pack("<BBBBHB", 7, 5, interface.interrupt_in, 3, 8, 10)
                continue
            for endpoint in (interface.bulk_in, interface.bulk_out):
                body += struct.pack("<BBBBHB", 7, 5, endpoint, 2, 64, 0)
        return device + struct.pack("<BBHBBBBB", 9, 2, 9 + len(body), len(self.interfaces), 1, 0, 0x80, 50) + body

    def description(self):
        """The device and its interfaces in umockdev's words."""
        top = self.sysfs[4:]
        text = (f"P: {top}\nN: bus/usb/{self.bus:03}/{self.address:03}={self.descriptors().hex().upper()}\n"
                f"E: DEVNAME={self.node}\nE: DEVTYPE=usb_device\nE: SUBSYSTEM=usb\nE: DRIVER=usb\n"
                f"E: BUSNUM={self.bus:03}\nE: DEVNUM={self.address:03}\nE: MAJOR=189\nE: MINOR={self.address - 1}\n"
                f"E: PRODUCT={self.vendor:x}/{self.product:x}/100\nE: TYPE=0/0/0\n"
                f"A: bConfigurationValue=1\\n\nA: bNumConfigurations=1\\n\nA: busnum={self.bus}\\n\n"
                f"A: devnum={self.address}\\n\nA: idVendor={self.vendor:04x}\\n\nA: idProduct={self.product:04x}\\n\n"
                f"A: product={self.name}\\n\nA: speed=12\\n\n")
        if self.serial:
            text += f"A: serial={self.serial}\\n\n"
        text += f"H: descriptors={self.descriptors().hex().upper()}\n\n"
        for number, interface in enumerate(self.interfaces):
            text += (f"P: {top}/{self.port}:1.{number}\nE: DEVTYPE=usb_interface\nE: SUBSYSTEM=usb\n"
                     f"A: bInterfaceNumber={number:02x}\\n\nA: bInterfaceClass={interface.class_code:02x}\\n\n")
            if interface.driver:
                text += f"L: driver=../../../../../../bus/usb/drivers/{interface.driver}\n"
            text += "\n"
        return text


def rc_s380(**changes):
    """A Sony RC-S380/S that the kernel's port100 holds."""
    plain = Device(vendor=0x054C, product=0x06C1, name="RC-S380/S", serial="0123456",
                   interfaces=(Interface(0xFF, 0x81, 0x02, driver="port100"),))
    return dataclasses.replace(plain, **changes)


def rc_s300(**changes):
    """A Sony RC-S300/S: a chip card interface, which pcscd may hold, and the vendor's own."""
    plain = Device(vendor=0x054C, product=0x0DC8, name="RC-S300/S", serial="1234567",
                   interfaces=(Interface(0x0B, 0x81, 0x01), Interface(0xFF, 0x82, 0x02)))
    return dataclasses.replace(plain, **changes)


def rc_s320(**changes):
    """A Sony RC-S320, which no kernel driver takes."""
    plain = Device(vendor=0x054C, product=0x01BB, name="FeliCa Port", interfaces=(Interface(0xFF, 0, 0, interrupt_in=0x81),))
    return dataclasses.replace(plain, **changes)


def acr122u(**changes):
    """An ACS ACR122U: a chip card interface, which the kernel's pn533_usb takes as well."""
    plain = Device(vendor=0x072F, product=0x2200, name="ACR122U PICC Interface",
                   interfaces=(Interface(0x0B, 0x82, 0x02, driver="pn533_usb"),))
    return dataclasses.replace(plain, **changes)


def scl3711(**changes):
    """An SCM SCL3711 that the kernel's pn533_usb holds."""
    plain = Device(vendor=0x04E6, product=0x5591, name="SCL3711-NFC&RW",
                   interfaces=(Interface(0xFF, 0x84, 0x04, driver="pn533_usb"),))
    return dataclasses.replace(plain, **changes)


def rc_s330(**changes):
    """A Sony RC-S330 that the kernel's pn533_usb holds."""
    plain = Device(vendor=0x054C, product=0x02E1, name="RC-S330",
                   interfaces=(Interface(0xFF, 0x84, 0x04, driver="pn533_usb"),))
    return dataclasses.replace(plain, **changes)


def usb_disk(**changes):
    """A disk, which is nobody's reader."""
    plain = Device(vendor=0x0781, product=0x5581, name="Disk", serial="4C53",
                   interfaces=(Interface(0x08, 0x81, 0x02, driver="usb-storage"),))
    return dataclasses.replace(plain, **changes)
