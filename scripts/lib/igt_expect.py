# SPDX-License-Identifier: MIT
"""What IGT tests are expected to do, and whether they do it.

A file of expectations has a line for each subtest: result, name, and behind a
# the reason, which everything but a pass must have. Dynamic subtests are
counted with the subtest they belong to.
"""

import json
import re
from collections import namedtuple

RESULTS = ("pass", "skip", "fail", "crash", "timeout", "incomplete", "abort", "dmesg-warn", "dmesg-fail")
Outcome = namedtuple("Outcome", "result reason")
SILENT = "the test does not say why"

REQUIREMENT = re.compile(r"^Test requirement: (.*)$", re.MULTILINE)
# What a test prints in any case.
NO_REASON = re.compile(r"^(Using IGT_|IGT-Version|Opened device|Starting |Subtest |Dynamic |Last errno|Test requirement"
                       r"|Stack trace| *#\d|$)")
FAILURE = re.compile(r"Failed assertion: (.*)$", re.MULTILINE)


class ExpectError(Exception):
    """Input that makes no sense; the text names file and line."""


def read_list(path, known=None):
    """Names of test programs with their tags, in order: lines "name [tag...]"."""
    tests = {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if not re.fullmatch(r"[a-z0-9_/]+", words[0]):
                raise ExpectError(f"{path}:{number}: '{words[0]}', expected the name of a test program")
            if words[0] in tests:
                raise ExpectError(f"{path}:{number}: '{words[0]}' is there twice, expected once")
            if known is not None and set(words[1:]) - set(known):
                raise ExpectError(f"{path}:{number}: unknown tag, expected of: {' '.join(known)}")
            tests[words[0]] = words[1:]
    return tests


def read_expectations(path):
    """{name: Outcome} of a file; one that does not exist expects nothing."""
    expected = {}
    try:
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
    except FileNotFoundError:
        return expected
    for number, line in enumerate(lines, 1):
        text, _, reason = (part.strip() for part in line.partition("#"))
        if not text:
            continue
        words = text.split()
        if len(words) != 2 or words[0] not in RESULTS or not words[1].startswith("igt@"):
            raise ExpectError(f"{path}:{number}: '{text}', expected 'RESULT igt@PROGRAM@SUBTEST', RESULT of: {' '.join(RESULTS)}")
        if words[1] in expected:
            raise ExpectError(f"{path}:{number}: {words[1]} is there twice, expected once")
        if words[0] != "pass" and not reason:
            raise ExpectError(f"{path}:{number}: {words[0]} without a reason, expected '# why'")
        expected[words[1]] = Outcome(words[0], reason)
    return expected


def reason_of(result, test):
    """What the output of a test says about why it did not pass."""
    text = test.get("out", "") + "\n" + test.get("err", "")
    if result == "skip":
        said = [line.strip() for line in test.get("out", "").splitlines() if not NO_REASON.match(line)]
        required = REQUIREMENT.search(text)
        if said:
            return said[-1]
        return f"requires {required.group(1).strip()}" if required else ""
    failed = FAILURE.search(text)
    return failed.group(1).strip()[:100] if failed else ""


def read_results(path):
    """{name: Outcome} from a results.json of igt_runner."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            tests = json.load(f)["tests"]
    except (OSError, ValueError, KeyError) as error:
        raise ExpectError(f"{path}: {error}, expected the results of igt_runner") from error
    results, last = {}, ("", "")
    for name, test in tests.items():
        if name.count("@") > 2 or test["result"] == "notrun":
            continue
        # igt_runner says "warn" of a pass with words on stderr that it cannot assign: they belong to others.
        result = "pass" if test["result"] == "warn" else test["result"]
        reason = reason_of(result, test)
        program = name.split("@")[1]
        # A fixture that skips says why once, with the first subtest.
        if result == "skip" and not reason and last[0] == program:
            reason = last[1]
        if result == "skip":
            last = (program, reason)
        results[name] = Outcome(result, reason.replace("#", ""))
    return results


def compare(expected, results, program):
    """Lines that tell what is different from what is expected of a program."""
    names = {name for name in expected if name.split("@")[1] == program}
    different = []
    for name in sorted(names | set(results)):
        was = expected[name].result if name in expected else None
        now = results[name].result if name in results else None
        if was == now:
            continue
        reason = f"  # {results[name].reason}" if name in results and results[name].reason else ""
        different += [f"-{was} {name}"] if was else []
        different += [f"+{now} {name}{reason}"] if now else []
    return different


def write_expectations(path, expected, results, program, header):
    """Make what was seen the expectation; reasons that somebody wrote stay while the result does."""
    merged = {name: outcome for name, outcome in expected.items() if name.split("@")[1] != program}
    for name, outcome in results.items():
        old = expected.get(name)
        keep = old and old.result == outcome.result and old.reason not in ("", SILENT)
        reason = old.reason if keep else outcome.reason
        merged[name] = Outcome(outcome.result, reason or ("" if outcome.result == "pass" else SILENT))
    with open(path, "w", encoding="utf-8") as f:
        f.write(header)
        for name in sorted(merged):
            outcome = merged[name]
            f.write(f"{outcome.result} {name}" + (f"  # {outcome.reason}" if outcome.reason else "") + "\n")
