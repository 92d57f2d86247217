# SPDX-License-Identifier: MIT
"""User-mode Linux: the guest is a process group of this machine."""

import os

from vm_guest import VmError, choose_memory_directory, debug_arguments
from vm_machine import Machine


class Guest(Machine):
    """A guest of the target um."""

    def __init__(self, paths, args, env):
        if args.device or args.screens or args.accel != "auto":
            raise VmError("user-mode Linux has neither devices nor a display nor accelerators: use --target qemu")
        self.memory_directory = choose_memory_directory(args.mem)
        super().__init__(paths, args, env)

    def command_line(self):
        directory = self.exchange.path
        return [
            os.path.join(self.paths["output"], "linux"), f"mem={self.args.mem >> 20}M", f"ncpus={self.args.cpus}", "seccomp=on",
            "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"init={directory}/init",
            "con0=null,fd:1", "con=null", f"uml_dir={directory}/uml", "umid=guest",
            "panic=-1", "gpu_sched.sched_policy=1", "loglevel=8", f"VRAMLAB_EXCHANGE={directory}", "VRAMLAB_MOUNT=hostfs",
            *debug_arguments(self.args), f"VRAMLAB_CPUS={self.args.cpus}", *self.args.append,
        ]

    def environment(self):
        return {**super().environment(), "TMPDIR": self.memory_directory}
