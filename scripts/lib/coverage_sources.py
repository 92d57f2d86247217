# SPDX-License-Identifier: MIT
"""What coverage is measured of: scripts/coverage/modelled, scripts/coverage/unreachable, and functions in sources."""

import fnmatch
import os
import re

HERE = os.path.dirname(os.path.realpath(__file__))
MODELLED = os.path.join(HERE, "../coverage/modelled")
UNREACHABLE = os.path.join(HERE, "../coverage/unreachable")


class Mistake(Exception):
    """In one of the lists."""


def lines_of(path):
    """Numbered lines without comments and blank ones."""
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                yield number, line


class KernelFile:
    """A file of the kernel: names of functions that are modelled and that are not, and the files of the model."""

    def __init__(self, path):
        self.path, self.modelled, self.left_out, self.model = path, [], [], []

    def select(self, functions):
        """Those of functions, as c_functions() finds them, that are modelled. Each must be in the list once."""
        names = {name for name, _, _ in functions}
        rest = "*" in self.left_out
        for name in self.modelled + [n for n in self.left_out if n != "*"]:
            if name not in names:
                raise Mistake(f"{self.path} has no function {name}")
        for name in names:
            times = (self.modelled + self.left_out).count(name)
            if times > 1 or (times == 0 and not rest):
                raise Mistake(f"{self.path}: {name} is named {times} times, expected once")
        return [f for f in functions if f[0] in self.modelled]


def read_modelled(path=MODELLED):
    files = []
    for number, line in lines_of(path):
        word, _, rest = line.partition(" ")
        if word == "kernel":
            files.append(KernelFile(rest.strip()))
        elif not files or word not in ("model", "+", "-"):
            raise Mistake(f"{path}:{number}: '{line}', expected kernel, model, + or -")
        elif word == "model":
            files[-1].model += rest.split()
        elif word == "+":
            files[-1].modelled += rest.split()
        else:
            names, colon, cause = rest.partition(":")
            if not colon or not cause.strip():
                raise Mistake(f"{path}:{number}: '{line}', expected names, a colon and a cause")
            files[-1].left_out += names.split()
    return files


class Exclusion:
    """Lines of which no branch counts: SIDE FILES FUNCTIONS / EXPRESSION / CAUSE."""

    def __init__(self, where, side, files, functions, expression):
        self.where, self.side, self.files, self.functions = where, side, files, functions
        self.expression = re.compile(expression)
        self.needed = False

    def matches(self, side, file, function, text):
        return (side == self.side and fnmatch.fnmatch(os.path.basename(file), self.files) and
                fnmatch.fnmatch(function, self.functions) and self.expression.search(text))


def read_unreachable(path=UNREACHABLE):
    exclusions = []
    for number, line in lines_of(path):
        where = f"{path}:{number}"
        parts = line.split(" / ")
        head = parts[0].split()
        if len(parts) != 3 or len(head) != 3 or head[0] not in ("kernel", "model") or not parts[2].strip():
            raise Mistake(f"{where}: '{line}', expected 'kernel|model FILES FUNCTIONS / EXPRESSION / CAUSE'")
        exclusions.append(Exclusion(where, *head, parts[1].strip()))
    return exclusions


def c_functions(lines):
    """(name, first line, last line) of the functions in kernel sources: a body is between braces in the first column."""
    found = []
    for i, line in enumerate(lines):
        if line != "{":
            continue
        first = i
        while first > 0 and lines[first - 1] and not lines[first - 1].startswith(("}", "#")) and \
                not lines[first - 1].endswith((";", "*/")):
            first -= 1
        name = re.search(r"(\w+)\s*\(", " ".join(lines[first:i]))
        last = i
        while last + 1 < len(lines) and not lines[last].startswith("}"):
            last += 1
        if name and lines[last] == "}":
            found.append((name.group(1), first + 1, last + 1))
    return found
