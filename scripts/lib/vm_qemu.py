# SPDX-License-Identifier: MIT
"""QEMU: the guest is a PC, with the directories of this machine over 9p.

Each directory is an export of its own, so that what is not meant to be written
cannot be: QEMU opens it read-only.
"""

import os
import shutil

import vm_accel
from vm_guest import VmError, debug_arguments, directory_option
from vm_machine import Machine
from vm_qmp import Monitor, QmpError

QEMU = "qemu-system-x86_64"
PACKAGE = "qemu-system-x86"
# Under TCG a guest that powers off may take its time.
POWER_OFF_S = 20.0
# The root does not change while the guest runs.
ROOT_FLAGS = "trans=virtio,version=9p2000.L,msize=262144,cache=loose"
SCREEN_REQUEST = "screen"
SCREEN_REPLY = "screen.done"


def find_qemu():
    """The path of QEMU, or an error that says what to install."""
    path = shutil.which(QEMU)
    if not path:
        raise VmError(f"{QEMU} is not installed: run 'scripts/setup qemu' (Debian package {PACKAGE})")
    return path


def check_memory(size):
    """QEMU takes memory as the guest touches it: there must be room for all."""
    with open("/proc/meminfo", encoding="ascii") as f:
        available = next(int(line.split()[1]) << 10 for line in f if line.startswith("MemAvailable:"))
    if available < size:
        raise VmError(f"no room for {size >> 20} MiB of guest memory ({available >> 20} MiB available): use --mem")


def export(tag, directory, read_only):
    """QEMU's options for a directory that the guest sees; commas in paths are doubled."""
    path = directory.replace(",", ",,")
    access = ",readonly=on" if read_only else ""
    return ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap{access}",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


class Guest(Machine):
    """A guest of the target qemu."""

    power_off_s = POWER_OFF_S

    def __init__(self, paths, args, env):
        self.qemu = find_qemu()
        check_memory(args.mem)
        self.screens = directory_option("--screens", args.screens) if args.screens else None
        self.kernel = os.path.join(paths["output"], "linux")
        self.accelerator = args.accel if args.accel != "auto" else vm_accel.choose(self.qemu, self.kernel)
        self.monitor = None
        super().__init__(paths, args, env)

    def command_line(self):
        directory = self.exchange.path
        exports = export("root", "/", True) + export("exchange", directory, False)
        for i, path in enumerate(self.args.rw):
            exports += export(f"rw{i}", directory_option("--rw", path), False)
        append = [
            "root=root", "rootfstype=9p", f"rootflags={ROOT_FLAGS}", "ro", f"init={directory}/init", "console=ttyS0",
            "panic=-1", "reboot=t", "gpu_sched.sched_policy=1", "loglevel=8", f"VRAMLAB_EXCHANGE={directory}", "VRAMLAB_MOUNT=9p",
            *debug_arguments(self.args), f"VRAMLAB_CPUS={self.args.cpus}", *self.args.append,
        ]
        return [
            self.qemu, "-no-user-config", "-nodefaults", "-no-reboot", "-machine", "q35",
            *vm_accel.options(self.accelerator), "-smp", str(self.args.cpus), "-m", f"{self.args.mem >> 20}M", "-nic", "none",
            "-vga", "none", "-display", "none", "-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
            "-qmp", f"unix:{directory}/qmp,server=on,wait=off", "-kernel", self.kernel, "-append", " ".join(append), *exports,
            *[word for device in self.args.device for word in ("-device", device)],
        ]

    def environment(self):
        return {**super().environment(), "TMPDIR": os.environ.get("TMPDIR", "/tmp")}

    def poll(self):
        """Take a picture of the guest's display if the guest asks for one: it writes a name to the file "screen"
        of the exchange directory, and goes on when the file "screen.done" has that name."""
        name = self.exchange.read(SCREEN_REQUEST)
        if not name.endswith("\n"):
            return
        os.unlink(self.exchange.file(SCREEN_REQUEST))
        name = name.strip()
        answer = name if self.take_picture(name) else f"no picture {name}"
        self.exchange.write(SCREEN_REPLY + ".new", answer + "\n")
        os.rename(self.exchange.file(SCREEN_REPLY + ".new"), self.exchange.file(SCREEN_REPLY))

    def take_picture(self, name):
        """Write NAME.ppm and NAME.png to the directory of --screens; whether that worked."""
        if not self.screens or not name.replace("-", "").isalnum():
            return False
        try:
            if not self.monitor:
                self.monitor = Monitor(self.exchange.file("qmp"))
            for kind in ("ppm", "png"):
                file = os.path.join(self.screens, f"{name}.{kind}")
                self.monitor.execute("screendump", filename=file, format=kind)
        except (QmpError, OSError) as error:
            self.exchange.write("failure", f"cannot take a picture of the display: {error}\n")
            return False
        return True
