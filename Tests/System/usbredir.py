# SPDX-License-Identifier: Apache-2.0
"""The other end of QEMU's `-device usb-redir`: a device that is plugged in is a connection, and its end is the unplugging.

Source: spice-space.org, "USB network redirection protocol description", version 0.7. The fields are little-endian.
"""

import contextlib
import select
import socket
import struct
import threading

from devices import Stall

# Packets, by what the protocol calls them.
HELLO, CONNECT, RESET, INTERFACES, ENDPOINTS = 0, 1, 3, 4, 5
SET_CONFIGURATION, GET_CONFIGURATION, CONFIGURATION = 6, 7, 8
SET_ALTERNATE, GET_ALTERNATE, ALTERNATE = 9, 10, 11
START_INTERRUPT, STOP_INTERRUPT, INTERRUPT_STATUS, CANCEL = 15, 16, 17, 21
CONTROL, BULK, INTERRUPT = 100, 101, 103
# Device version, sizes of packets, 64-bit identifiers, bulk transfers of 32-bit length.
CAPABILITIES = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6
FULL_SPEED = 1
SUCCESS, CANCELLED, IO_ERROR, STALLED, BABBLE = 0, 1, 3, 4, 6


class Port:
    """A device in a USB port of the guest."""

    def __init__(self, device, path):
        self.device, self.path = device, path
        self.socket = self.thread = None
        self.lock = threading.RLock()
        self.unplugged = threading.Event()
        self.unplugged.set()
        self.waiting = []
        # The interrupt endpoint that the guest listens to, and how many packets it has sent.
        self.listened, self.interrupts = None, 0
        self.has_long_identifiers = False
        self.problem = None

    def plug_in(self):
        """Plugs it in, again if it was before."""
        self.unplugged.clear()
        self.waiting.clear()
        self.listened, self.interrupts = None, 0
        self.device.rest.clear()
        self.has_long_identifiers = False
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(self.path)
        self._write(HELLO, 0, b"simulated reader".ljust(64, b"\0") + struct.pack("<I", CAPABILITIES))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def unplug(self):
        """Pulls it. A controller ends the transfers of a device that is gone with an error; QEMU would leave them open."""
        with self.lock:
            if self.unplugged.is_set():
                return
            self.unplugged.set()
            with contextlib.suppress(OSError):
                for number, stream, endpoint, _ in self.waiting:
                    self._write(BULK, number, struct.pack("<BBHIH", endpoint, IO_ERROR, 0, stream, 0))
                self.socket.shutdown(socket.SHUT_RDWR)
        if threading.current_thread() is not self.thread:
            self.thread.join(10)
        self.socket.close()

    def _serve(self):
        try:
            while True:
                # A chip may have something later: cards come, and chips wait.
                ready = select.select([self.socket], [], [], 0.01 if self.waiting or self.listened else None)[0]
                with self.lock:
                    if ready:
                        self._message()
                    self._deliver()
        except (OSError, EOFError):
            pass
        except Exception as problem:  # noqa: BLE001 - the test reports it
            self.problem = problem
        self.unplug()

    def _deliver(self):
        for one in list(self.waiting):
            number, stream, endpoint, room = one
            found = self.device.receive(endpoint, room)
            if found:
                self.waiting.remove(one)
                data, is_too_long = found
                self._write(BULK, number, struct.pack(
                    "<BBHIH", endpoint, BABBLE if is_too_long else SUCCESS, len(data) & 0xFFFF, stream, len(data) >> 16) + data)

        while self.listened and (found := self.device.receive(self.listened, self.device.model.packet)):
            data = found[0]
            self._write(INTERRUPT, self.interrupts, struct.pack("<BBH", self.listened, SUCCESS, len(data)) + data)
            self.interrupts += 1

    def _read(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def _write(self, kind, number, body):
        layout = "<IIQ" if self.has_long_identifiers else "<III"
        self.socket.sendall(struct.pack(layout, kind, len(body), number) + body)

    def _describe(self):
        """Says what is plugged in."""
        model = self.device.model
        kinds, sizes, owners, intervals = [255] * 32, [0] * 32, [0] * 32, [0] * 32
        kinds[0] = kinds[16] = 0
        sizes[0] = sizes[16] = 64
        for owner, interface in enumerate(model.interfaces):
            for address, kind in interface.ends:
                slot = (address & 0x0F) + (0x10 if address & 0x80 else 0)
                kinds[slot], sizes[slot], owners[slot] = kind, model.packet, owner
                intervals[slot] = 0 if kind == 2 else 16
        count = len(model.interfaces)
        columns = (range(count), *([getattr(one, name) for one in model.interfaces]
                                   for name in ("code", "subclass", "protocol")))
        self._write(INTERFACES, 0, struct.pack("<I", count) + b"".join(bytes(column).ljust(32, b"\0") for column in columns))
        self._write(ENDPOINTS, 0, bytes(kinds) + bytes(intervals) + bytes(owners) + struct.pack("<32H", *sizes))
        self._write(CONNECT, 0, struct.pack("<BBBBHHH", FULL_SPEED, 0, 0, 0, model.vendor, model.product, model.version))

    def _message(self):
        layout = struct.Struct("<IIQ" if self.has_long_identifiers else "<III")
        kind, length, number = layout.unpack(self._read(layout.size))
        body = self._read(length)
        device = self.device
        if kind == HELLO:
            if length < 68 or struct.unpack_from("<I", body, 64)[0] & CAPABILITIES != CAPABILITIES:
                raise ValueError("this QEMU is too old")
            self.has_long_identifiers = True
            self._describe()
        elif kind == RESET:
            self.waiting.clear()
            device.reset()
        elif kind in (SET_CONFIGURATION, GET_CONFIGURATION):
            if kind == SET_CONFIGURATION:
                device.configure()
            self._write(CONFIGURATION, number, bytes([SUCCESS, 1]))
        elif kind in (SET_ALTERNATE, GET_ALTERNATE):
            self._write(ALTERNATE, number, bytes([SUCCESS, body[0], 0]))
        elif kind in (START_INTERRUPT, STOP_INTERRUPT):
            device.counts["interrupt"] += kind == START_INTERRUPT
            # From the others, none ever comes.
            if body[0] in device.model.endpoints:
                self.listened = body[0] if kind == START_INTERRUPT else None
            self._write(INTERRUPT_STATUS, number, bytes([SUCCESS, body[0]]))
        elif kind == CANCEL:
            for one in [one for one in self.waiting if one[0] == number]:
                self.waiting.remove(one)
                self._write(BULK, number, struct.pack("<BBHIH", one[2], CANCELLED, 0, one[1], 0))
        elif kind == CONTROL:
            self._control(number, body)
        elif kind == BULK:
            endpoint, _, low, stream, high = struct.unpack_from("<BBHIH", body)
            if endpoint & 0x80:
                self.waiting.append((number, stream, endpoint, high << 16 | low))
            else:
                device.send(endpoint, body[10:])
                self._write(BULK, number, struct.pack("<BBHIH", endpoint, SUCCESS, low, stream, high))
        elif kind == INTERRUPT:
            device.counts["out"] += 1
            self._write(INTERRUPT, number, struct.pack("<BBH", body[0], SUCCESS, len(body) - 4))

    def _control(self, number, body):
        endpoint, request, kind, _, value, index, length = struct.unpack_from("<BBBBHHH", body)
        try:
            data, status = self.device.control(kind, request, value, index, length, body[10:]), SUCCESS
        except Stall:
            data, status = b"", STALLED
        is_answer = kind & 0x80
        count = 0 if status else len(data) if is_answer else length
        self._write(CONTROL, number, struct.pack("<BBBBHHH", endpoint, request, kind, status, value, index, count)
                    + (data if is_answer else b""))
