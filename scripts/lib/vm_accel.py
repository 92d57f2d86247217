# SPDX-License-Identifier: MIT
"""Which accelerator QEMU can use here. /dev/kvm can be there and still not work: only a boot tells."""

import hashlib
import os
import subprocess

from vm_guest import CACHE

KVM = "/dev/kvm"
TRIAL_S = 20
# What a kernel says that has come up, and has nothing to run.
CAME_UP = (b"Brought up 1 node, 2 CPUs", b"Requested init /none failed")


def options(accelerator):
    """QEMU's options for it."""
    if accelerator == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi,tb-size=512", "-cpu", "max"]


def boots_with_kvm(qemu, kernel):
    """Whether a kernel with nothing to run comes as far as it should."""
    command = [qemu, "-no-user-config", "-nodefaults", "-no-reboot", "-machine", "q35", *options("kvm"), "-smp", "2", "-m", "256M",
               "-nic", "none", "-display", "none", "-serial", "stdio", "-kernel", kernel,
               "-append", "console=ttyS0 panic=-1 reboot=t root=none rootfstype=tmpfs init=/none"]
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                timeout=TRIAL_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return all(text in result.stdout for text in CAME_UP)


def machine_key(kernel):
    """Names this boot of this machine, the device's permissions and the kernel that was tried."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        boot = f.read().strip()
    stat = os.stat(KVM)
    text = f"{boot} {os.getuid()} {stat.st_mode} {stat.st_rdev} {stat.st_uid} {stat.st_gid} {os.path.realpath(kernel)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def choose(qemu, kernel):
    """"kvm" if a boot shows that it works, else "tcg". What came of the trial is remembered until the next boot."""
    if not os.access(KVM, os.R_OK | os.W_OK):
        return "tcg"
    path = os.path.join(CACHE, "qemu-accel")
    key = machine_key(kernel)
    try:
        with open(path, encoding="ascii") as f:
            known = dict(line.split() for line in f)
    except (OSError, ValueError):
        known = {}
    if key not in known:
        known = {key: "kvm" if boots_with_kvm(qemu, kernel) else "tcg"}
        os.makedirs(CACHE, exist_ok=True)
        with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as f:
            f.write(f"{key} {known[key]}\n")
        os.replace(f"{path}.{os.getpid()}", path)
    return known[key]
