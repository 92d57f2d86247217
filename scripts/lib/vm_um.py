# SPDX-License-Identifier: MIT
"""User-mode Linux: the guest is a process group of this machine."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Optional

from vm_guest import EXCHANGE_IN_GUEST, Exchange, VmError, choose_memory_directory, lock_output

POLL_S = 0.01
# After the guest said that it is done, it powers off within this time or is killed.
POWER_OFF_S = 3.0


PR_SET_PDEATHSIG = 1


def die_with_parent():
    """In the child: no guest outlives this program, however it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass
class Outcome:
    """How a run ended: the command's status, or an error (and perhaps a status for it)."""

    status: Optional[int] = None
    error: str = ""
    timed_out: bool = False


class Guest:
    """One guest; a context manager, so that nothing is left running or lying around."""

    def __init__(self, paths, args, env):
        self.args = args
        self.image = os.path.join(paths["output"], "linux")
        self.lock = lock_output(paths)
        self.memory_directory = choose_memory_directory(args.mem)
        self.exchange = Exchange()
        self.process = None
        self.console_offset = 0
        try:
            self.exchange.prepare(args.command, env, args.module, args.rw, paths["output"], args.leaks)
        except BaseException:
            self.exchange.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.exchange.close()
        self.lock.close()

    def command_line(self):
        directory = self.exchange.path
        return [
            self.image, f"mem={self.args.mem >> 20}M", f"ncpus={self.args.cpus}", "seccomp=on",
            "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"init={directory}/init",
            "con0=null,fd:1", "con=null", f"uml_dir={directory}/uml", "umid=guest",
            "panic=-1", "gpu_sched.sched_policy=1", "loglevel=8", f"VRAMLAB_EXCHANGE={directory}",
            f"VRAMLAB_CPUS={self.args.cpus}", *self.args.append,
        ]

    def start(self):
        env = {"TMPDIR": self.memory_directory, "HOME": self.exchange.path, "PATH": "/usr/bin:/bin"}
        with open(self.exchange.file("kernel.log"), "wb") as log:
            self.process = subprocess.Popen(self.command_line(), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, env=env, start_new_session=True,
                                            preexec_fn=die_with_parent)

    def kill(self):
        """End the guest. Its children die with it (PDEATHSIG), and by the group."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def show_console(self):
        with open(self.exchange.file("kernel.log"), "rb") as f:
            f.seek(self.console_offset)
            data = f.read()
        self.console_offset += len(data)
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()

    def run(self):
        """Boot, pass output on until the end, and return an Outcome."""
        self.start()
        now = time.monotonic()
        deadline, power_off = now + self.args.timeout, None
        while self.process.poll() is None:
            time.sleep(POLL_S)
            self.exchange.forward()
            if self.args.console:
                self.show_console()
            now = time.monotonic()
            if power_off is None and os.path.exists(self.exchange.file("done")):
                power_off = now + POWER_OFF_S
            if power_off is not None and now >= power_off:
                self.kill()
            elif power_off is None and now >= deadline:
                self.kill()
                self.exchange.forward()
                return Outcome(error=f"time limit of {self.args.timeout:g} s reached, guest killed", timed_out=True)
        self.exchange.forward()
        if self.args.console:
            self.show_console()
        return self.outcome()

    def outcome(self):
        failure = self.exchange.read("failure").strip()
        if failure:
            return Outcome(status=92, error=failure)
        status = self.exchange.read("status").strip()
        if not status or not os.path.exists(self.exchange.file("done")):
            return Outcome(error=f"the guest died (exit status {self.process.returncode})")
        return Outcome(status=int(status))

    def kernel_log(self):
        return self.exchange.read("kernel.log").replace("\r\n", "\n")


__all__ = ["EXCHANGE_IN_GUEST", "Guest", "Outcome", "VmError"]
