# SPDX-License-Identifier: Apache-2.0
"""A pcscd of one's own, and `kazasu bridge` that puts cards into its readers, for tests and benches."""

import os
import signal
import socket
import subprocess
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KAZASUD = os.environ.get("KAZASUD", TOP + "/.build/debug/kazasud")


def eventually(what, condition, seconds=30):
    """Waits for something that another process does; the time is only a limit."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"not seen: {what}")


def free_ports():
    """Two ports in a row, which vpcd takes."""
    while True:
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                with socket.socket() as second:
                    second.bind(("127.0.0.1", port + 1))
                    return port
            except OSError:
                continue


class PCSCD:
    """A pcscd of its own with vpcd's two readers, whose socket is in a folder of its own."""

    def __init__(self, folder, port, device=None):
        self.folder, self.port = folder, port
        self.run = f"{folder}/run"
        os.makedirs(self.run, exist_ok=True)
        self.configuration = f"{folder}/reader.conf"
        with open(self.configuration, "w") as file:
            file.write(
                f'FRIENDLYNAME "Virtual PCD"\nDEVICENAME {device or f"/dev/null:{port}"}\n'
                f"LIBPATH /usr/lib/pcsc/drivers/serial/libifdvpcd.so\nCHANNELID {port}\n")
        self.start()

    def start(self):
        unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        script = (
            f"mkdir -p /run/pcscd && mount --bind '{self.run}' /run/pcscd && "
            f"exec /usr/sbin/pcscd --foreground --error --config '{self.configuration}'")
        self.process = subprocess.Popen(unshare + ["sh", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually("pcscd", lambda: os.path.exists(f"{self.run}/pcscd.comm"))

    def stop(self):
        self.resume()
        self.process.terminate()
        self.process.wait(30)
        if os.path.exists(f"{self.run}/pcscd.comm"):
            os.unlink(f"{self.run}/pcscd.comm")

    def pause(self):
        """Stops the process: what it was asked does not come back."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    @property
    def environment(self):
        return {**os.environ, **self.variables, "LC_ALL": "C.UTF-8"}

    @property
    def variables(self):
        return {"PCSCLITE_CSOCK_NAME": f"{self.run}/pcscd.comm"}


class Bridge:
    """The program, with a log that is read while it runs."""

    def __init__(self, *arguments, environment=None, command="bridge"):
        self.process = subprocess.Popen(
            [KAZASUD, command, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment or os.environ)
        self.lines = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append((time.monotonic(), line.decode()))

    def count(self, text):
        return sum(text in line for _, line in self.lines)

    def wait_for(self, text, count=1):
        try:
            eventually(f"{text} ×{count}", lambda: self.count(text) >= count)
        except AssertionError as error:
            raise AssertionError(f"{error} in {self.lines[-5:]}") from None
        return next(line for _, line in self.lines if text in line)

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        output = self.process.stdout.read()
        status = self.process.wait(30)
        self.thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return status, output
