#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds up which branches of modelled functions were taken.

coverage.py SIDE SOURCES OBJECTS DATA...: SIDE is kernel or model, SOURCES the tree that was compiled, OBJECTS where its .gcno files
are; each DATA is a directory of .gcda files, at their paths below OBJECTS. gcov reads them. A branch counts once for each function of
the source, however often the compiler copied it. The last line adds up.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import coverage_sources  # noqa: E402


def gcov(objects, name, data):
    """What gcov says of one .gcda file: pairs of a source's path and its lines."""
    with tempfile.TemporaryDirectory() as work:
        os.symlink(os.path.abspath(os.path.join(objects, name + ".gcno")), os.path.join(work, "x.gcno"))
        os.symlink(os.path.abspath(data), os.path.join(work, "x.gcda"))
        result = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", "x.gcda"], cwd=work, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode or not result.stdout.strip():
        raise SystemExit(f"coverage: gcov cannot read {data}: {result.stderr.strip()}")
    for text in result.stdout.splitlines():
        for file in json.loads(text)["files"]:
            yield file["file"], file["lines"], file["functions"]


def real_branches(branches):
    """Counts of branches of the source: what may throw branches too, to where it returns and to where it is caught."""
    counts = []
    for branch in branches:
        if not branch["throw"]:
            counts.append(branch["count"])
        elif counts:
            counts.pop()
    return counts


class Counts:
    """By source and line: how often each of its branches was taken, in all copies of the code and all runs."""

    def __init__(self):
        self.lines = collections.defaultdict(dict)  # path -> {line: [count]}
        self.functions = collections.defaultdict(set)  # path -> {(name, first, last)}

    def add(self, objects, directory, wanted):
        for parent, _, names in os.walk(directory):
            for name in names:
                if not name.endswith(".gcda"):
                    continue
                data = os.path.join(parent, name)
                relative = os.path.relpath(data, directory)[: -len(".gcda")]
                if not os.path.exists(os.path.join(objects, relative + ".gcno")):
                    raise SystemExit(f"coverage: {data}: nothing was compiled to {relative}")
                for path, lines, functions in gcov(objects, relative, data):
                    path = wanted(path)
                    if path:
                        self.add_file(path, lines, functions)

    def add_file(self, path, lines, functions):
        known = self.lines[path]
        here = {}
        for line in lines:
            counts = real_branches(line["branches"])
            if not counts:
                continue
            number = line["line_number"]
            # Copies of a function (templates) have the same branches; two statements of one line don't.
            if number in here and len(here[number]) == len(counts):
                here[number] = [a + b for a, b in zip(here[number], counts)]
            else:
                here[number] = here.get(number, []) + counts
        for number, counts in here.items():
            if number in known and len(known[number]) != len(counts):
                raise SystemExit(f"coverage: {path}:{number}: {len(counts)} branches, expected {len(known[number])}")
            known[number] = [a + b for a, b in zip(known.get(number, [0] * len(counts)), counts)]
        for function in functions:
            self.functions[path].add((base_name(function["demangled_name"]), function["start_line"], function["end_line"]))


def base_name(demangled):
    """class_method of "space::class::method(...)", as the kernel calls it."""
    head = re.sub(r"\(anonymous namespace\)::|vramlab::kmd::", "", demangled)
    head = re.split(r"[(<[]", head)[0].split(" ")[-1]
    return head.replace("::", "_")


def model_functions(counts, path, left_out):
    """Of the model all functions count, but for those that stand for what is left out."""
    return [f for f in sorted(counts.functions[path], key=lambda f: f[1]) if f[0] not in left_out]


class Report:
    def __init__(self, side, exclusions, missing):
        self.side, self.exclusions, self.missing = side, exclusions, missing
        self.taken = self.total = self.excluded = 0

    def counted(self, path, name, text, counts):
        """The branches of a line that count."""
        for exclusion in self.exclusions:
            if exclusion.matches(self.side, path, name, text):
                exclusion.needed |= not all(counts)
                self.excluded += len(counts)
                return []
        return counts

    def file(self, path, source, functions, lines):
        seen = set()
        for name, first, last in functions:
            taken = total = 0
            open_lines = []
            for number in range(first, last + 1):
                if number not in lines or number in seen:
                    continue
                seen.add(number)
                text = source[number - 1]
                counts = self.counted(path, name, text, lines[number])
                total += len(counts)
                taken += sum(1 for c in counts if c)
                if not all(counts):
                    open_lines.append(f"    {path}:{number}: {'/'.join(str(c) for c in counts)}: {text.strip()}")
            self.taken += taken
            self.total += total
            if total:
                print(f"{path} {name}: {taken} of {total}")
                if self.missing and open_lines:
                    print("\n".join(open_lines))


def read_source(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().split("\n")


def report_kernel(counts, files, sources, report):
    for file in files:
        source = read_source(os.path.join(sources, file.path))
        report.file(file.path, source, file.select(coverage_sources.c_functions(source)), counts.lines[file.path])


def report_model(counts, files, sources, report):
    left_out = collections.defaultdict(set)
    for file in files:
        for name in file.model:
            left_out[name] |= set(file.left_out)
    for name, names in left_out.items():
        path = os.path.join(sources, "kmd", name)
        report.file(name, read_source(path), model_functions(counts, name, names), counts.lines[name])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missing", action="store_true", help="also the lines of which a branch was not taken, and how often each was")
    parser.add_argument("side", choices=["kernel", "model"])
    parser.add_argument("sources")
    parser.add_argument("objects")
    parser.add_argument("data", nargs="+")
    return parser.parse_args()


def main():
    args = arguments()
    files = coverage_sources.read_modelled()
    exclusions = [e for e in coverage_sources.read_unreachable() if e.side == args.side]
    names = {f.path for f in files} if args.side == "kernel" else {m for f in files for m in f.model}

    def wanted(path):
        if args.side == "model":
            return os.path.basename(path) if "/kmd/" in path and os.path.basename(path) in names else None
        return next((name for name in names if path.endswith("/" + name)), None)

    counts = Counts()
    for directory in args.data:
        counts.add(args.objects, directory, wanted)
    report = Report(args.side, exclusions, args.missing)
    (report_kernel if args.side == "kernel" else report_model)(counts, files, args.sources, report)
    for exclusion in exclusions:
        if not exclusion.needed:
            print(f"NOTICE: {exclusion.where}: nothing that it excludes was left out")
    percent = 100 * report.taken / report.total if report.total else 0
    print(f"{args.side}: {report.taken} of {report.total} branches taken, {percent:.1f} %; {report.excluded} not counted")
    return 0 if report.total else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except coverage_sources.Mistake as mistake:
        print(f"coverage: {mistake}", file=sys.stderr)
        sys.exit(2)
