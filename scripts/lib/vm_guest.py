# SPDX-License-Identifier: MIT
"""What does not depend on the kind of machine: paths, and the exchange directory.

Host and guest talk through one directory, which the guest sees as
/run/vramlab. The host puts in what to do (see guest-init, which reads it); the
guest writes the command's output and status, each write reaching the host at
once.
"""

import fcntl
import glob
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

LIB = os.path.dirname(os.path.realpath(__file__))
EXCHANGE_IN_GUEST = "/run/vramlab"


class VmError(Exception):
    """The guest cannot be run; the text says why and what to do."""


def kernel_paths(target, debug, upto):
    """Where the kernel is, as a dict; the build must have been made."""
    options = ["--target", target, *(["--debug"] if debug else []), *(["--upto", upto] if upto else [])]
    result = subprocess.run([os.path.join(LIB, "../kernel-tree"), "path", *options], stdout=subprocess.PIPE, text=True,
                            check=False)
    paths = dict(line.split("=", 1) for line in result.stdout.splitlines())
    if result.returncode or not os.path.isdir(paths["output"]):
        raise VmError(f"there is no such kernel yet: run 'scripts/kernel-tree build {' '.join(options)}'")
    return paths


def lock_output(paths):
    """Keep kernel and modules from being removed while the guest runs."""
    try:
        lock = open(os.path.join(paths["output"], "lock"), "rb")
    except FileNotFoundError as error:
        raise VmError("the kernel has just been rebuilt: try again") from error
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def can_map_executable(directory):
    """Whether the file system can hold guest memory (it is executed)."""
    try:
        return not os.statvfs(directory).f_flag & os.ST_NOEXEC
    except OSError:
        return False


def choose_memory_directory(size):
    """A directory for the guest's memory: TMPDIR, else /dev/shm, else /tmp."""
    candidates = [os.environ["TMPDIR"]] if os.environ.get("TMPDIR") else ["/dev/shm", "/tmp", "/var/tmp"]
    found = []
    for directory in candidates:
        if not os.access(directory, os.W_OK) or not can_map_executable(directory):
            found.append(f"{directory}: not writable, or mounted noexec")
            continue
        stat = os.statvfs(directory)
        free = stat.f_bavail * stat.f_frsize
        if free >= size + (64 << 20):
            return directory
        found.append(f"{directory}: {free >> 20} MiB free")
    raise VmError(f"no room for {size >> 20} MiB of guest memory ({'; '.join(found)}): set TMPDIR, or use --mem")


class Exchange:
    """The exchange directory of one run; removed by close()."""

    def __init__(self):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.path = tempfile.mkdtemp(prefix="vramlab.", dir=base)
        self.lock = open(self.file("lock"), "wb")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.remove_stale()
        self.offsets = {"stdout": 0, "stderr": 0}

    def remove_stale(self):
        """Remove what runs that were killed have left: nobody holds its lock."""
        for path in glob.glob(os.path.join(os.path.dirname(self.path), "vramlab.*", "lock")):
            try:
                with open(path, "rb") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)

    def file(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text, mode=0o644):
        with open(self.file(name), "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)
        os.chmod(self.file(name), mode)

    def read(self, name):
        try:
            with open(self.file(name), encoding="utf-8", errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def prepare(self, command, env, modules, rw, module_root, leaks):
        """Write what guest-init reads."""
        lines = [f"export {name}={shlex.quote(value)}" for name, value in env.items()]
        lines.append(f"cd {shlex.quote(os.getcwd())} || exit 125")
        lines.append("exec " + shlex.join(command))
        self.write("command", "\n".join(lines) + "\n")
        self.write("modules", "".join(name + "\n" for name in modules))
        self.write("module-root", module_root + "\n")
        directories = [os.path.realpath(directory) for directory in rw]
        for directory in directories:
            if not os.path.isdir(directory) or "\n" in directory:
                raise VmError(f"--rw {directory}: not a directory")
        self.write("rw", "".join(directory + "\n" for directory in directories))
        if leaks:
            self.write("leaks", "")
        shutil.copy(os.path.join(LIB, "guest-init"), self.file("init"))
        os.chmod(self.file("init"), 0o755)

    def forward(self):
        """Pass on what the command has written since the last call."""
        for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
            try:
                with open(self.file(name), "rb") as f:
                    f.seek(self.offsets[name])
                    while data := f.read(1 << 20):
                        stream.buffer.write(data)
                        self.offsets[name] += len(data)
            except FileNotFoundError:
                continue
            stream.buffer.flush()

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock.close()
