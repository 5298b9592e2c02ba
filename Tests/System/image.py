#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""image.py SYSTEM FOLDER: a whole Debian or Ubuntu for the tests of this folder, with its own kernel.

SYSTEM is the name of a release, Debian's also with -arm64 or -selinux, such as bookworm-arm64.

Prints the folder with vmlinuz, initrd.img and disk.img. It is below FOLDER, named by a digest of what goes into it, so
it is made once. Kazasu's packages are not in it: they are installed in the guest. Needs root, mmdebstrap and e2fsprogs,
and to be run by Scripts/with-arm64 for another architecture.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
HOOKS = (HERE / "prepare-root", HERE / "finish-root")

PACKAGES = (
    # A machine.
    "initramfs-tools", "zstd", "systemd-sysv", "udev", "dbus", "libpam-systemd", "kmod", "polkitd",
    "acl", "libseccomp2",
    # What the tests look with.
    "qemu-guest-agent", "usbutils", "procps", "strace", "python3",
    # What other programs read cards with.
    "pcscd", "libccid", "pcsc-tools", "vsmartcard-vpcd", "libnfc6", "libnfc-bin",
    # What Kazasu's packages depend on.
    "libusb-1.0-0", "libexpat1", "libmosquitto1", "libpq5", "libsqlite3-0", "libyaml-0-2")
# Names that changed when times got 64 bits everywhere.
OLD, NEW = ("libcurl4", "libssl3"), ("libcurl4t64", "libssl3t64")
DEBIAN, UBUNTU = "linux-image-amd64", "linux-image-virtual"
# What makes a system enforce a policy: Ubuntu has AppArmor by itself, SELinux must be asked for.
APPARMOR, SELINUX = ("apparmor",), ("selinux-basics", "selinux-policy-default")
RELEASES = {
    # 12, 13 and what becomes 14, whose pcsc-lite is newer than 2.4.
    "bookworm": (DEBIAN, *OLD), "trixie": (DEBIAN, *NEW), "forky": (DEBIAN, *NEW),
    # 24.04 and 26.04.
    "noble": (UBUNTU, *NEW, *APPARMOR), "resolute": (UBUNTU, *NEW, *APPARMOR)}


def mirror():
    """Where this machine gets Debian's packages."""
    try:
        listed = pathlib.Path("/etc/apt/sources.list.d/debian.sources").read_text(encoding="utf-8")
    except OSError:
        listed = ""
    found = re.search(r"^URIs: *(\S+)", listed, re.MULTILINE)
    return found[1].rstrip("/") if found else "http://deb.debian.org/debian"


def sources(release, folder):
    """The release as people have it, with its corrections."""
    if UBUNTU in RELEASES[release]:
        return [f"deb [signed-by={ubuntu_keys(folder)}] http://archive.ubuntu.com/ubuntu {release}{part} main universe"
                for part in ("", "-updates", "-security")]
    base = mirror()
    return [f"deb {base} {release} main", f"deb {base} {release}-updates main",
            f"deb {base}-security {release}-security main"]


# Debian 12 has no package with Ubuntu's keys; this is the one of Debian 13.
UBUNTU_KEYS = ("pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1-0.2_all.deb",
               "b2e7ed48431bf9e7978ae810bbdaf253093570d6e3f864e575b7c13554b81174")


def ubuntu_keys(folder):
    """The keys that sign Ubuntu's packages."""
    path, digest = UBUNTU_KEYS
    with urllib.request.urlopen(f"{mirror()}/{path}", timeout=60) as answer:
        package = answer.read()
    if hashlib.sha256(package).hexdigest() != digest:
        sys.exit(f"{path} is not what it was")
    file = folder / "ubuntu-keys.deb"
    file.write_bytes(package)
    subprocess.run(["dpkg-deb", "-x", file, folder / "ubuntu-keys"], check=True)
    return folder / "ubuntu-keys/usr/share/keyrings/ubuntu-archive-keyring.gpg"


def network():
    """This machine's settings of apt for the network, which the new root's apt needs, too."""
    found = subprocess.run(["apt-config", "dump", "Acquire"], check=True, capture_output=True, text=True).stdout
    return "".join(line + "\n" for line in found.splitlines() if re.match(r"Acquire::(https?::|Check-)", line))


def enforce(root):
    """Labels all files, by which SELinux knows them; the kernel's command line turns it on (guest.py)."""
    settings = root / "etc/selinux/config"
    settings.write_text(settings.read_text(encoding="utf-8").replace("SELINUX=permissive", "SELINUX=enforcing"), encoding="utf-8")
    # Debian's policy keeps pcscd from the readers, and vpcd from its port: that is not about Kazasu.
    (root / "etc/selinux/kazasu-tests.cil").write_text("(typepermissive pcscd_t)\n", encoding="utf-8")
    # setfiles asks /proc who it is; mmdebstrap's own is gone by now, and so is the label of what that writes last.
    subprocess.run(["unshare", "--mount", "sh", "-ec", 'mount -t proc proc "$1/proc"\n'
                    'chroot "$1" semodule -n -i /etc/selinux/kazasu-tests.cil\n'
                    'exec chroot "$1" setfiles -F /etc/selinux/default/contexts/files/file_contexts /', "-", root],
                   check=True, stdout=sys.stderr)


def image(system, folder):
    """The folder with the image; makes it where there is none."""
    release, _, variant = system.partition("-")
    architecture = variant if variant == "arm64" else "amd64"
    packages = ",".join(PACKAGES + RELEASES[release] + (SELINUX if variant == "selinux" else ()))
    packages = packages.replace("linux-image-amd64", f"linux-image-{architecture}")
    parts = [system, packages, *(file.read_text(encoding="utf-8") for file in (HERE / "image.py", *HOOKS))]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
    folder = pathlib.Path(folder).resolve()
    final = folder / f"{system}-{digest}"
    if (final / "disk.img").exists():
        return final
    if os.geteuid() != 0:
        sys.exit("Making an image needs root, for a root file system: sudo make test-system")
    work = folder / f"{system}.new"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    root = work / "root"
    with tempfile.NamedTemporaryFile("w", suffix=".conf", encoding="utf-8") as settings:
        settings.write(network())
        settings.flush()
        subprocess.run(
            ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", f"--architectures={architecture}", f"--include={packages}",
             f"--aptopt={settings.name}", "--dpkgopt=path-exclude=/usr/share/doc/*",
             "--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
             f"--setup-hook={HOOKS[0]}", f"--customize-hook={HOOKS[1]}", release, root, *sources(release, work)],
            check=True, stdout=sys.stderr, env={**os.environ, "TMPDIR": str(work)})
    if variant == "selinux":
        enforce(root)
    shutil.copy(next(root.glob("boot/vmlinuz-*")), work / "vmlinuz")
    shutil.copy(next(root.glob("boot/initrd.img-*")), work / "initrd.img")
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", root, "-E", "lazy_itable_init=1,lazy_journal_init=1",
                    work / "disk.img", "3G"], check=True, stdout=sys.stderr)
    shutil.rmtree(root)
    for old in folder.glob(f"{system}-{'[0-9a-f]' * 12}"):
        shutil.rmtree(old)
    work.rename(final)
    return final


if __name__ == "__main__":
    print(image(sys.argv[1], sys.argv[2]))
