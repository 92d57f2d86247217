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
CACHE = os.environ.get("VRAMLAB_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "vramlab")
TARGETS = ("um", "qemu")


class VmError(Exception):
    """The guest cannot be run; the text says why and what to do."""


def default_target():
    """The kind of machine unless --target names one. One that isn't known ends the program: nothing runs on another instead."""
    target = os.environ.get("VRAMLAB_TARGET") or "um"
    if target not in TARGETS:
        print(f"VRAMLAB_TARGET: '{target}', expected one of: {', '.join(TARGETS)}", file=sys.stderr)
        sys.exit(2)
    return target


def kernel_paths(target, debug, upto):
    """Where the kernel is, as a dict; the build must have been made."""
    options = ["--target", target, *(["--debug"] if debug else []), *(["--upto", upto] if upto else [])]
    result = subprocess.run([os.path.join(LIB, "../kernel-tree"), "path", *options], stdout=subprocess.PIPE, text=True,
                            check=False)
    paths = dict(line.split("=", 1) for line in result.stdout.splitlines())
    if result.returncode or not os.path.isdir(paths["output"]):
        raise VmError(f"there is no such kernel yet: run 'scripts/kernel-tree build {' '.join(options)}'")
    return paths


def debug_arguments(args):
    """What the command line of a debugging kernel has more. It is slow, so that a task may have to wait for long; and
    without the series TTM breaks rules of ww_mutex, which said once would turn lockdep off (kernel/patches/lab/0004)."""
    if not args.debug:
        return []
    mainline = args.upto not in (None, "all")
    return ["sysctl.kernel.hung_task_timeout_secs=300", *(["mutex.ww_strict=0"] if mainline else [])]


def guest_root(name):
    """The directory that --root names; "guest" is the one of scripts/guest-root."""
    if name == "guest":
        result = subprocess.run([os.path.join(LIB, "../guest-root"), "path"], stdout=subprocess.PIPE, text=True, check=False)
        name = result.stdout.strip()
        if result.returncode or not os.path.isdir(name):
            raise VmError("there is no guest root yet: run 'scripts/guest-root build'")
    path = os.path.realpath(name)
    # The path becomes an option of an overlay mount.
    if not os.access(os.path.join(path, "bin/sh"), os.X_OK) or set(path) & set(',:\\\n'):
        raise VmError(f"--root {name}: no directory with a system in it (it has no bin/sh), or a name with , : \\")
    return path


def lock_output(directory):
    """Keep kernel and modules from being removed while the guest runs."""
    try:
        lock = open(os.path.join(directory, "lock"), "rb")
    except FileNotFoundError as error:
        raise VmError("the kernel has just been rebuilt: try again") from error
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def lock_root(directory):
    """Likewise for a root, if it is one of scripts/guest-root; others have no lock and need none."""
    try:
        lock = open(os.path.join(directory, "lock"), "rb")
    except OSError:
        return open(os.devnull, "rb")
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


def directory_option(option, directory):
    """The directory that an option names, as an absolute path."""
    path = os.path.realpath(directory)
    if not os.path.isdir(path) or "\n" in path:
        raise VmError(f"{option} {directory}: not a directory")
    return path


def is_below(path, directory):
    """Whether a path is a directory or lies within it."""
    return os.path.commonpath([os.path.realpath(path), directory]) == directory


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

    def prepare(self, args, env, module_root):
        """Write what guest-init reads. With a root of its own, the guest sees little of the host: the checkout and
        what --ro and --rw name; the command starts in the current directory if that is among it, else in /."""
        shared = [directory_option("--rw", directory) for directory in args.rw]
        shown = [directory_option("--ro", directory) for directory in args.ro]
        if args.root != "/":
            shown.append(os.path.realpath(os.path.join(LIB, "../..")))
        cwd = os.getcwd()
        if args.root != "/" and not any(is_below(cwd, directory) for directory in shown + shared):
            cwd = "/"
        lines = [f"export {name}={shlex.quote(value)}" for name, value in env.items()]
        lines.append(f"cd {shlex.quote(cwd)} || exit 125")
        lines.append("exec " + shlex.join(args.command))
        self.write("command", "\n".join(lines) + "\n")
        self.write("modules", "".join(name + "\n" for name in args.module))
        self.write("module-root", module_root + "\n")
        self.write("root", args.root + "\n")
        self.write("ro", "".join(directory + "\n" for directory in shown))
        self.write("rw", "".join(directory + "\n" for directory in shared))
        if args.leaks:
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
