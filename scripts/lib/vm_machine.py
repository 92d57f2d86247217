# SPDX-License-Identifier: MIT
"""A guest, whatever the kind of machine: start it, pass its output on, end it, say how it ended."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Optional

from vm_guest import Exchange, lock_output, lock_root

POLL_S = 0.01

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


class Machine:
    """One guest; a context manager, so that nothing is left running or lying around.

    A kind of machine says how it is started: command_line() and environment().
    """

    # After the guest said that it is done, it powers off within this time or is killed.
    power_off_s = 3.0

    def __init__(self, paths, args, env):
        self.args = args
        self.paths = paths
        self.locks = [lock_output(paths["output"]), lock_root(args.root)]
        self.exchange = Exchange()
        self.process = None
        self.console_offset = 0
        try:
            self.exchange.prepare(args, env, paths["output"])
        except BaseException:
            self.exchange.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.exchange.close()
        for lock in self.locks:
            lock.close()

    def command_line(self):
        """The program that is the machine, and its arguments."""
        raise NotImplementedError

    def environment(self):
        """Its environment."""
        return {"HOME": self.exchange.path, "PATH": "/usr/bin:/bin"}

    def poll(self):
        """Called again and again while the guest runs."""

    def start(self):
        with open(self.exchange.file("kernel.log"), "wb") as log:
            self.process = subprocess.Popen(self.command_line(), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, env=self.environment(), start_new_session=True,
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
            self.poll()
            if self.args.console:
                self.show_console()
            now = time.monotonic()
            if power_off is None and os.path.exists(self.exchange.file("done")):
                power_off = now + self.power_off_s
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

