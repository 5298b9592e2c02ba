# SPDX-License-Identifier: Apache-2.0
"""A Debian in QEMU, and commands run in it by QEMU's guest agent: it has no network and no ssh.

    guest = Guest("folder with vmlinuz, initrd.img, disk.img", ports=4)
    guest.boot()
    print(guest.run("uname -a").out)
    guest.stop()

What changes on its disk is thrown away. `ports` ports of an emulated xHCI controller wait for readers (usbredir.py).
"""

import base64
import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import tempfile
import time

# Ports enough, so that QEMU adds no hub: a device behind it would not wake up again.
CONTROLLER = "qemu-xhci,id=usb,p2=15,p3=15"
KERNEL = ("root=/dev/vda rw console=tty0 console=%s quiet systemd.show_status=0 random.trust_cpu=on "
          "sysrq_always_enabled mitigations=off")


@dataclasses.dataclass(frozen=True)
class Board:
    """What QEMU emulates beside the devices that are the same everywhere."""
    machine: tuple
    console: str
    # A second serial port, and what the guest calls it.
    serial: tuple
    serial_port: str
    can_suspend: bool


PC = Board(("qemu-system-x86_64", "-M", "q35", "-vga", "std"), "ttyS0",
           ("-serial", "chardev:serial"), "/dev/ttyS1", True)
# QEMU's board for arm64 cannot suspend to RAM.
ARM64 = Board(("qemu-system-aarch64", "-M", "virt,gic-version=3"), "ttyAMA0",
              ("-device", "pci-serial,chardev=serial"), "/dev/ttyS0", False)


@dataclasses.dataclass(frozen=True)
class Policy:
    """What may refuse a program more than permissions do; `refusal` is a pattern for lines of the journal, which does not
    match itself: the guest agent writes there what it runs."""
    name: str
    is_enforced: str
    refusal: str


SELINUX = Policy("SELinux", "[ $(getenforce) = Enforcing ]", "[a]vc: +denied")
APPARMOR = Policy("AppArmor", "aa-enabled", '[a]pparmor="DENIED"')


def policy_of(image):
    """The policy of an image by its name (image.py)."""
    if "-selinux-" in image:
        return SELINUX
    return APPARMOR if image.startswith(("noble-", "resolute-")) else None


@dataclasses.dataclass(frozen=True)
class Result:
    """What a command in the guest did."""
    status: int
    out: str
    err: str
    seconds: float


class GuestError(Exception):
    """The machine does not do what it should."""


class Conversation:
    """Questions and answers, a line of JSON each: with QEMU's monitor, or with the guest agent."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.buffer = b""
        # What QEMU told without being asked.
        self.events = []

    def ask(self, command, limit=60, **arguments):
        self.socket.settimeout(limit)
        request = {"execute": command, **({"arguments": arguments} if arguments else {})}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            while b"\n" in self.buffer:
                line, self.buffer = self.buffer.split(b"\n", 1)
                answer = json.loads(line.strip(b"\xff") or b"{}")
                if "error" in answer:
                    raise GuestError(f"{command}: {answer['error']}")
                if "return" in answer:
                    return answer["return"]
                self.events.append(answer.get("event"))
            part = self.socket.recv(65536)
            if not part:
                raise GuestError(f"{command}: the machine is off")
            self.buffer += part

    def close(self):
        self.socket.close()


def kvm_runs(folder):
    """Whether this machine's KVM runs that kernel: some have the device and cannot (error, or a guest that hangs)."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    command = ["qemu-system-x86_64", "-M", "q35", "-accel", "kvm", "-cpu", "host", "-m", "256", "-nodefaults",
               "-no-reboot", "-display", "none", "-serial", "stdio", "-kernel", os.path.join(folder, "vmlinuz"),
               "-append", "console=ttyS0 earlyprintk=ttyS0 panic=-1"]
    try:
        found = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False).stdout
    except subprocess.TimeoutExpired as late:
        found = late.stdout or b""
    return b"Linux version" in found


def accelerator(board, folder):
    """KVM where it works, else QEMU's own translation, which is about ten times slower."""
    if board is ARM64:
        return ("tcg,thread=multi", "cortex-a72")
    wanted = os.environ.get("SYSTEM_ACCELERATOR", "")
    if wanted == "kvm" or (not wanted and kvm_runs(folder)):
        return ("kvm", "host")
    return ("tcg,thread=multi", "max")


class Guest:
    """One machine."""

    def __init__(self, folder, ports=8, memory=1024, processors=2, extra=()):
        self.folder, self.ports, self.memory, self.processors, self.extra = folder, ports, memory, processors, extra
        self.board = ARM64 if "-arm64-" in os.path.basename(folder) else PC
        self.policy = policy_of(os.path.basename(folder))
        # Ubuntu's kernel 7.0 does not wake up here as soon as a USB disk is plugged in, without Kazasu or any reader, too.
        self.can_suspend = self.board.can_suspend and not os.path.basename(folder).startswith("resolute-")
        self.accelerator, self.cpu = accelerator(self.board, folder)
        self.mine = tempfile.mkdtemp(prefix="kazasu-system.")
        self.console = self.path("console.log")
        self.process = self.monitor = self.agent = None
        self.boot_seconds = 0.0

    def path(self, name):
        """A file that lives as long as the machine."""
        return os.path.join(self.mine, name)

    def port(self, number):
        """The socket of a USB port."""
        return self.path(f"usb{number}.sock")

    def disk(self, folder):
        """What else is wanted of QEMU for a read-only disk with the files of a folder; the guest's next /dev/vdX."""
        image = self.path(os.path.basename(folder) + ".img")
        size = sum(file.stat().st_size for file in pathlib.Path(folder).rglob("*") if file.is_file()) // 1024 // 1024 + 32
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", folder, image, f"{size}M"], check=True,
                       stdout=subprocess.DEVNULL)
        return ["-drive", f"file={image},format=raw,if=virtio,cache=unsafe"]

    def command(self):
        """QEMU's command line."""
        sockets = (("agent", self.path("agent.sock")), *((f"usb{n}", self.port(n)) for n in range(self.ports)))
        words = [
            *self.board.machine, "-accel", self.accelerator, "-cpu", self.cpu,
            "-smp", str(self.processors), "-m", str(self.memory),
            "-nodefaults", "-no-reboot", "-snapshot", "-display", "none", "-nic", "none",
            "-kernel", os.path.join(self.folder, "vmlinuz"), "-initrd", os.path.join(self.folder, "initrd.img"),
            "-append", KERNEL % self.board.console + " security=selinux" * (self.policy is SELINUX),
            "-drive", f"file={os.path.join(self.folder, 'disk.img')},format=raw,if=virtio,cache=unsafe",
            "-device", "virtio-rng-pci", "-device", "virtio-serial-pci", "-device", CONTROLLER,
            "-serial", f"file:{self.console}",
            "-qmp", f"unix:{self.path('monitor.sock')},server=on,wait=off"]
        for name, path in sockets:
            words += ["-chardev", f"socket,id={name},path={path},server=on,wait=off"]
        words += ["-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"]
        for number in range(self.ports):
            words += ["-device", f"usb-redir,chardev=usb{number},id=port{number},bus=usb.0,port={number + 1}"]
        return words + list(self.extra)

    def boot(self, limit=600):
        """Starts it, until commands can be run."""
        began = time.monotonic()
        with open(self.path("qemu.log"), "wb") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, "TMPDIR": self.mine})
        while self.monitor is None:
            self._wait(began, limit)
            try:
                self.monitor = Conversation(self.path("monitor.sock"))
            except OSError:
                continue
        self.monitor.ask("qmp_capabilities")
        while self.agent is None:
            self._wait(began, limit)
            agent = Conversation(self.path("agent.sock"))
            try:
                agent.ask("guest-ping", limit=3)
                self.agent = agent
            except TimeoutError:
                agent.close()
        self.boot_seconds = time.monotonic() - began

    def _wait(self, began, limit):
        if self.process.poll() is not None:
            with open(self.path("qemu.log"), encoding="utf-8", errors="replace") as log:
                raise GuestError(f"QEMU ended with status {self.process.returncode}: {log.read()}")
        if time.monotonic() - began > limit:
            with open(self.console, encoding="utf-8", errors="replace") as console:
                raise GuestError(f"no boot in {limit} s: {console.read()[-2000:]}")
        time.sleep(0.1)

    def start(self, script, user=None):
        """Starts a shell script as root, or as that user; what `wait` wants."""
        if user:
            # The agent is a service, its users are people.
            script = f"exec runuser -u {user} -- env -u JOURNAL_STREAM -u INVOCATION_ID sh -c {shlex.quote(script)}"
        answer = self.agent.ask("guest-exec", path="/bin/sh", arg=["-c", script], **{"capture-output": True})
        return answer["pid"], time.monotonic()

    def wait(self, started, limit=120):
        """Waits for its end."""
        identifier, began = started
        pause = 0.01
        while True:
            state = self.agent.ask("guest-exec-status", pid=identifier)
            if state["exited"]:
                out, err = (base64.b64decode(state.get(key, "")).decode("utf-8", "replace") for key in ("out-data", "err-data"))
                return Result(state.get("exitcode", 128 + state.get("signal", 0)), out, err, time.monotonic() - began)
            if time.monotonic() - began > limit:
                raise GuestError(f"process {identifier} does not end in the guest")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.2)

    def run(self, script, user=None, limit=120):
        """Runs it to its end."""
        return self.wait(self.start(script, user), limit)

    def until(self, script, limit=60, user=None):
        """Runs it in the guest again and again, until it succeeds; its last result."""
        return self.run(f"end=$(($(date +%s) + {limit}))\n"
                        f"until {{ {script}\n}}; do [ $(date +%s) -lt $end ] || exit 1; sleep 0.2; done", user, limit + 120)

    def stop(self):
        if self.process and self.process.poll() is None:
            try:
                self.monitor.ask("quit", limit=5)
            except (OSError, GuestError, AttributeError):
                self.process.terminate()
            self.process.wait(20)
        for one in (self.monitor, self.agent):
            if one:
                one.close()
        shutil.rmtree(self.mine, ignore_errors=True)
